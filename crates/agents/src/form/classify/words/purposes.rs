//! What forms are for, and which buttons send them.

/// What a form is for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::form) enum Aim {
    /// Signing in to an account.
    LogIn,
    /// Making an account.
    SignUp,
    /// Changing a password.
    Change,
    /// Getting back into an account.
    Recover,
    /// Buying or booking.
    Checkout,
    /// Having news sent.
    Newsletter,
    /// Writing to somebody.
    Contact,
    /// Finding something.
    Search,
    /// Proving by a code who one is.
    Code,
}

/// Phrases that tell what a form is for.
pub(in crate::form) const PURPOSES: &[(Aim, &str)] = &[
    (
        Aim::LogIn,
        "log in, login, *login, logon, log on, sign in, signin, *signin, sign on, signon, \
         member login, authenticate, log in to, sso, anmelden, einloggen, anmeldung, \
         connexion, se connecter, connectez vous, identifiez vous, iniciar sesion, \
         inicia sesion, acceder, entrar, acceso, ingresar, accedi, accesso, entra, \
         iniciar sessao, fazer login, inloggen, aanmelden, log ind, logga in, logg inn, \
         kirjaudu, kirjaudu sisaan, zaloguj, zaloguj sie, logowanie, prihlasit, prihlaseni, \
         prihlasit se, bejelentkezes, autentificare, prijava, prisijungti, войти, вход, \
         авторизация, увійти, вхід, авторизація, συνδεση, εισοδοσ, giris, giris yap, \
         oturum ac, daxil ol, ログイン, サインイン, 로그인, 登录, 登入, 登錄, تسجيل الدخول, دخول, enter, \
         unlock, valider",
    ),
    (
        Aim::SignUp,
        "sign up, signup, *signup, register, *register, registration, *registration, \
         create account, *createaccount, create an account, create your account, \
         create my account, new account, *newaccount, join, join now, enroll, get started, \
         open an account, become a member, new user, new customer, sign me up, \
         create a free account, registrieren, registrierung, konto erstellen, konto anlegen, \
         neu hier, inscription, s inscrire, inscrivez vous, creer un compte, \
         creer mon compte, registro, registrarse, registrate, crear cuenta, \
         crear una cuenta, alta, registrati, iscriviti, crea account, crea un account, \
         registrazione, cadastro, cadastrar, cadastre se, criar conta, criar uma conta, \
         registar, registreren, account aanmaken, maak een account, opret konto, \
         tilmeld dig, skapa konto, registrera, registrera dig, opprett konto, registrer deg, \
         rekisteroidy, luo tili, zarejestruj, rejestracja, zaloz konto, utworz konto, \
         registrovat, registrace, zaregistrovat, vytvorit ucet, regisztracio, inregistrare, \
         creeaza cont, регистрация, зарегистрироваться, создать аккаунт, реєстрація, \
         зареєструватися, εγγραφη, δημιουργια λογαριασμου, kaydol, kayit ol, uye ol, \
         hesap olustur, qeydiyyat, 新規登録, 会員登録, アカウント作成, 登録する, 회원가입, 가입하기, 계정 만들기, 注册, 註冊, \
         创建帐户, 建立帳戶, انشاء حساب, تسجيل حساب جديد, انشاء حساب",
    ),
    (
        Aim::Change,
        "change password, *changepassword, change your password, update password, \
         *updatepassword, password change, edit password, new password, passwort andern, \
         kennwort andern, changer le mot de passe, modifier le mot de passe, \
         cambiar contrasena, cambia password, modifica password, cambio password, \
         alterar senha, mudar senha, wachtwoord wijzigen, skift adgangskode, byt losenord, \
         andra losenord, endre passord, vaihda salasana, zmien haslo, zmiana hasla, \
         zmenit heslo, zmena hesla, изменить пароль, сменить пароль, смена пароля, \
         змінити пароль, αλλαγη κωδικου, sifre degistir, parola degistir, パスワード変更, 비밀번호 변경, \
         修改密码, 更改密码, 變更密碼, تغيير كلمة المرور",
    ),
    (
        Aim::Recover,
        "password recovery, reset password, *resetpassword, reset your password, \
         forgot password, recover password, recover account, password reset, \
         passwort zurucksetzen, passwort vergessen, mot de passe oublie, \
         reinitialiser le mot de passe, recuperar contrasena, olvide mi contrasena, \
         recupera password, reimposta password, recuperar senha, redefinir senha, \
         wachtwoord vergeten, wachtwoord herstellen, nulstil adgangskode, \
         aterstall losenord, glemt passord, unohtuiko salasana, odzyskaj haslo, \
         resetuj haslo, obnovit heslo, zapomenute heslo, восстановить пароль, \
         восстановление пароля, відновити пароль, sifremi unuttum, パスワード再設定, 비밀번호 찾기, 找回密码, \
         重置密码, استعادة كلمة المرور",
    ),
    (
        Aim::Checkout,
        "checkout, *checkout, check out, payment, *payment, place order, place your order, \
         buy now, pay now, billing, shipping, delivery, order summary, credit card, \
         add card, save card, purchase, booking, reservation, kasse, bestellen, zahlung, \
         kaufen, jetzt kaufen, lieferadresse, rechnungsadresse, paiement, commander, \
         livraison, facturation, pago, pagar, comprar, envio, pagamento, acquista, ordina, \
         spedizione, finalizar compra, entrega, afrekenen, betalen, bestelling, betaling, \
         betal, kob, betala, kop, kassa, maksa, tilaa, zamow, platnosc, zaplac, dostawa, \
         objednat, platba, doprava, оплата, оплатить, заказ, оформить заказ, доставка, \
         оплатити, замовлення, πληρωμη, παραγγελια, odeme, siparis, satin al, 購入, お支払い, 注文, \
         결제, 주문, 구매, 支付, 付款, 结算, 订单, 購買, دفع, شراء",
    ),
    (
        Aim::Newsletter,
        "newsletter, *newsletter, subscribe, *subscribe, mailing list, email updates, \
         get updates, stay informed, keep me updated, abonnieren, abonner, s abonner, \
         boletin, suscribirse, suscribete, iscriviti alla newsletter, inscreva se, \
         nieuwsbrief, nyhedsbrev, nyhetsbrev, uutiskirje, tilaa uutiskirje, subskrybuj, \
         odebirat novinky, подписаться, подписка, рассылка, підписатися, ενημερωτικο δελτιο, \
         abone ol, bulten, メルマガ, 購読, 뉴스레터, 구독, 订阅, 訂閱, اشترك, النشرة البريدية",
    ),
    (
        Aim::Contact,
        "contact, contact us, *contactform, send message, get in touch, feedback, enquiry, \
         inquiry, submit comment, leave a comment, kontakt, kontaktformular, \
         nachricht senden, contactez nous, nous contacter, contacto, contactanos, contatti, \
         contattaci, contato, fale conosco, neem contact op, ota yhteytta, skontaktuj sie, \
         kontaktujte nas, связаться, обратная связь, напишите нам, зв'язатися, επικοινωνια, \
         iletisim, お問い合わせ, 문의, 联系我们, 聯絡我們, اتصل بنا",
    ),
    (
        Aim::Search,
        "search, *search, suche, recherche, buscar, cerca, pesquisar, zoeken, sog, sok, \
         haku, szukaj, hledat, поиск, пошук, αναζητηση, ara, 検索, 검색, 搜索, 搜尋, بحث, query, find",
    ),
    (
        Aim::Code,
        "two factor, 2fa, *twofactor, *2fa, mfa, *mfa, otp, *otp, one time code, \
         verification code, verify your identity, two step verification, authenticator, \
         enter the code, enter your code, bestatigungscode, code de verification, \
         codigo de verificacion, codice di verifica, verificatiecode, kod weryfikacyjny, \
         код подтверждения, dogrulama kodu, 認証コード, 인증번호, 验证码, رمز التحقق",
    ),
];

/// What is said beside a form for signing in.
pub(in crate::form) const LOG_IN_HINTS: &str = "forgot password, forgot your password, forgotten password, forgot, \
     forgotten your password, lost password, lost your password, reset password, \
     remember me, keep me signed in, keep me logged in, stay signed in, remember my, \
     don t have an account, not a member, new here, no account yet, need an account, \
     forgot username, trouble signing in, can t sign in, need help signing in, \
     passwort vergessen, kennwort vergessen, angemeldet bleiben, mot de passe oublie, \
     se souvenir de moi, rester connecte, olvide mi contrasena, olvidaste tu contrasena, \
     has olvidado, recordarme, password dimenticata, ricordami, esqueceu a senha, \
     esqueci, lembrar me, wachtwoord vergeten, onthoud mij, glemt adgangskode, \
     glemt passord, husk mig, husk meg, glomt losenord, kom ihag mig, \
     unohditko salasanan, zapomnialem hasla, nie pamietasz hasla, zapamietaj mnie, \
     zapomenute heslo, zapomneli jste heslo, забыли пароль, запомнить меня, запомнить, \
     восстановить пароль, забули пароль, запам'ятати, ξεχασατε, sifremi unuttum, \
     beni hatirla, パスワードを忘れ, ログイン状態を保持, 비밀번호 찾기, 로그인 상태 유지, 忘记密码, 忘記密碼, 记住我, 記住我, \
     نسيت كلمة المرور, تذكرني";

/// What is said beside a form for making an account.
pub(in crate::form) const SIGN_UP_HINTS: &str = "already have an account, already a member, already registered, have an account, \
     terms of service, terms and conditions, terms of use, privacy policy, i agree, \
     by signing up, by creating, by registering, at least 8 characters, password must, \
     password strength, bereits registriert, schon ein konto, nutzungsbedingungen, agb, \
     deja un compte, deja inscrit, conditions generales, ya tienes cuenta, \
     ya tienes una cuenta, terminos y condiciones, hai gia un account, ja tem uma conta, \
     ja tem conta, heb je al een account, har du allerede, har du redan, masz juz konto, \
     regulamin, mate jiz ucet, уже есть аккаунт, уже зарегистрированы, \
     пользовательское соглашение, вже є акаунт, zaten uye, hesabin var mi, すでにアカウント, \
     利用規約, 이미 계정, 이용약관, 已有账号, 已有帳號, 服务条款, لديك حساب";

/// What is written on controls that send a form or lead on.
pub(in crate::form) const SENDS: &str = "submit, *submit, send, next, continue, save, save changes, confirm, apply, go, ok, \
     done, finish, proceed, update, request, subscribe, place order, place your order, \
     buy now, pay, pay now, order, order now, book, book now, donate, verify, enter, \
     let s go, see rates, absenden, senden, weiter, speichern, bestatigen, fertig, \
     anwenden, envoyer, valider, suivant, continuer, enregistrer, confirmer, terminer, \
     enviar, siguiente, continuar, guardar, confirmar, aceptar, invia, avanti, continua, \
     conferma, salva, prosegui, proximo, avancar, salvar, enviar mensagem, verzenden, \
     versturen, volgende, doorgaan, opslaan, bevestigen, videre, naeste, gem, bekraeft, \
     fortsatt, nasta, spara, skicka, neste, lagre, seuraava, jatka, tallenna, laheta, \
     wyslij, dalej, zapisz, potwierdz, kontynuuj, odeslat, pokracovat, dalsi, ulozit, \
     potvrdit, kuldes, tovabb, trimite, отправить, далее, продолжить, сохранить, \
     подтвердить, готово, надіслати, далі, продовжити, зберегти, αποστολη, συνεχεια, \
     υποβολη, αποθηκευση, gonder, devam, ileri, kaydet, onayla, tamam, 送信, 次へ, 続ける, 保存, \
     確認, 다음, 계속, 확인, 제출, 저장, 보내기, 提交, 下一步, 继续, 繼續, 确定, 確定, 发送, ارسال, ارسال, التالي, \
     متابعة, حفظ, تاكيد";

/// What is written on controls that do something else.
pub(in crate::form) const UNSENT: &str = "cancel, back, previous, close, reset, clear, show, hide, show password, \
     hide password, forgot, forgot password, help, edit, remove, delete, add, upload, \
     browse, choose file, menu, toggle, dismiss, skip, resend, resend code, send code, \
     get code, play, listen, refresh, reload, accept cookies, cookie, accept all, \
     reject all, with google, with facebook, with apple, with twitter, with microsoft, \
     with linkedin, with github, google, facebook, apple, twitter, linkedin, github, \
     microsoft, passkey, qr, via google, mit google, mit facebook, avec google, \
     avec facebook, con google, con facebook, sign in with, log in with, \
     login with google, continue with, sign up with, sso, search, suche, recherche, \
     buscar, cerca, zoeken, поиск, 検索, 검색, 搜索, abbrechen, zuruck, schliessen, anzeigen, \
     annuler, retour, fermer, afficher, cancelar, volver, cerrar, mostrar, annulla, \
     indietro, chiudi, mostra, voltar, fechar, annuleren, terug, sluiten, tonen, \
     annuller, tilbage, luk, avbryt, tillbaka, tilbake, lukk, peruuta, takaisin, sulje, \
     anuluj, wstecz, zamknij, pokaz, zrusit, zpet, zavrit, отмена, назад, закрыть, \
     показать, скасувати, закрити, ακυρωση, πισω, iptal, geri, kapat, goster, キャンセル, 戻る, \
     閉じる, 表示, 취소, 이전, 닫기, 보기, 取消, 返回, 关闭, 關閉, 显示, الغاء, رجوع, اغلاق, apply coupon, \
     apply promo, apply code, apply discount, gift card, check availability, \
     email me a link, use a different, switch, learn more, read more, privacy policy, \
     terms";

/// Regions of a page that are not its form, by id, class or role.
pub(in crate::form) const ASIDES: &str = "header, nav, navbar, navigation, footer, aside, sidebar, search, *searchbar, \
     *searchform, cookie, *cookie, consent, *consent, gdpr, *onetrust, banner, \
     newsletter, *newsletter, topbar, site search, language selector, *langswitch";
