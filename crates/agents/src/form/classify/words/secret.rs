//! Passwords and codes.

use super::{Row, row};
use crate::form::kind::Kind;

/// Passwords that are being made.
pub(super) const NEW: &[Row] = &[row(
    Kind::NewPassword,
    11,
    "new password, *newpassword, *newpass, *newpwd, create password, create a password, \
         choose password, choose a password, set password, confirm password, \
         *confirmpassword, *passwordconfirm, password confirmation, password confirm, \
         confirm new password, re enter password, reenter password, re type password, \
         retype password, retype your password, *retypepassword, *passwordretype, \
         repeat password, *repeatpassword, *passwordrepeat, password again, *passwordagain, \
         verify password, *verifypassword, *passwordverify, password 2, password2, pass 2, \
         pwd 2, passwd 2, *password2, re enter your password, *reenterpassword, \
         add a password, make a password, password create, signup password, \
         register password, *regpassword, *registerpassword, password new, set a password, \
         type your password again, input your password again, *passwordcheck, \
         password check, neues passwort, neues kennwort, passwort wiederholen, \
         passwort bestatigen, kennwort wiederholen, kennwort bestatigen, passwort erneut, \
         passwort wahlen, passwort festlegen, nouveau mot de passe, \
         confirmer le mot de passe, confirmez le mot de passe, confirmation du mot de passe, \
         confirmer mot de passe, creer un mot de passe, choisir un mot de passe, \
         repeter le mot de passe, nueva contrasena, confirmar contrasena, \
         confirma tu contrasena, confirme contrasena, repetir contrasena, \
         repita la contrasena, repite la contrasena, crear contrasena, nuova password, \
         conferma password, ripeti password, ripeti la password, crea password, \
         crea una password, conferma nuova password, scegli una password, nova senha, \
         confirmar senha, confirme a senha, repetir senha, criar senha, nova palavra passe, \
         confirmar palavra passe, nieuw wachtwoord, wachtwoord bevestigen, \
         bevestig wachtwoord, herhaal wachtwoord, wachtwoord herhalen, kies een wachtwoord, \
         ny adgangskode, gentag adgangskode, bekraeft adgangskode, nytt losenord, \
         bekrafta losenord, upprepa losenord, valj losenord, nytt passord, bekreft passord, \
         gjenta passord, velg passord, uusi salasana, vahvista salasana, toista salasana, \
         nowe haslo, powtorz haslo, potwierdz haslo, nove heslo, potvrzeni hesla, \
         heslo znovu, zopakujte heslo, uj jelszo, jelszo megerositese, parola noua, \
         confirma parola, новый пароль, повторите пароль, подтвердите пароль, \
         подтверждение пароля, пароль еще раз, придумайте пароль, повтор пароля, \
         новий пароль, повторіть пароль, підтвердіть пароль, підтвердження пароля, \
         νεοσ κωδικοσ, επιβεβαιωση κωδικου, yeni sifre, yeni parola, sifre tekrar, \
         parola tekrar, sifreyi onayla, sifre onay, 新しいパスワード, パスワード 確認, パスワード確認, 確認用パスワード, \
         パスワード再入力, 새 비밀번호, 비밀번호 확인, 新密码, 确认密码, 确认新密码, 重复密码, 再次输入密码, 新密碼, 確認密碼, 设置密码, \
         كلمة مرور جديدة, كلمة المرور الجديدة, تاكيد كلمة المرور, تاكيد كلمة المرور",
)];

/// Passwords that exist.
pub(super) const OLD: &[Row] = &[
    row(
        Kind::CurrentPassword,
        11,
        "current password, *currentpassword, *currentpass, *currentpwd, old password, \
         *oldpassword, *oldpass, existing password, login password, \
         *loginpassword, password current, password old, previous password, \
         aktuelles passwort, altes passwort, \
         derzeitiges passwort, aktuelles kennwort, altes kennwort, mot de passe actuel, \
         ancien mot de passe, contrasena actual, contrasena anterior, vecchia password, \
         password attuale, password corrente, senha atual, senha antiga, \
         palavra passe atual, huidig wachtwoord, oud wachtwoord, nuvaerende adgangskode, \
         gammel adgangskode, nuvarande losenord, gammalt losenord, navaerende passord, \
         gammelt passord, nykyinen salasana, vanha salasana, obecne haslo, stare haslo, \
         aktualne haslo, soucasne heslo, stavajici heslo, stare heslo, текущий пароль, \
         старый пароль, поточний пароль, старий пароль, τρεχων κωδικοσ, mevcut sifre, \
         eski sifre, gecerli sifre, 現在のパスワード, 현재 비밀번호, 当前密码, 原密码, 旧密码, 目前密碼, 舊密碼, \
         كلمة المرور الحالية",
    ),
    row(
        Kind::CurrentPassword,
        6,
        "password, passwd, pwd, pass, passcode, passphrase, *password, *passwd, pin, \
         pin number, passwort, kennwort, *passwort, *kennwort, mot de passe, code secret, \
         contrasena, clave, clave de acceso, contrasenya, parola d ordine, codice segreto, \
         senha, palavra passe, wachtwoord, adgangskode, kodeord, losenord, passord, \
         salasana, haslo, heslo, jelszo, parola, lozinka, zaporka, slaptazodis, parole, \
         parool, *пароль, *пароля, κωδικοσ, κωδικοσ προσβασησ, συνθηματικο, sifre, sifreniz, \
         sifrə, パスワード, 暗証番号, 비밀번호, 密码, 密碼, 口令, كلمة المرور, كلمة السر, رمز الدخول, mat khau, \
         kata sandi, סיסמה",
    ),
];

/// Codes that are good once.
pub(super) const CODES: &[Row] = &[
    row(
        Kind::OneTimeCode,
        11,
        "one time code, one time password, one time passcode, otp, otp code, *otpcode, totp, \
         2fa, 2fa code, two factor code, two factor, *twofactor, two step verification, mfa, \
         mfa code, *mfacode, authentication code, authenticator code, auth code, sms code, \
         *smscode, *onetimecode, *verificationcode, verification code, confirmation code, \
         verify code, passcode sms, email code, security token, login code, \
         activation code, 6 digit code, digit code, code from sms, code from app, two fa, \
         tfa code, token code, identification code, *identificationcode, einmalcode, \
         einmalpasswort, bestatigungscode, verifizierungscode, sicherheitscode sms, \
         code de verification, code de confirmation, code a usage unique, code sms, \
         codigo de verificacion, codigo de confirmacion, codigo de un solo uso, codigo sms, \
         codice di verifica, codice di conferma, codice otp, codice monouso, \
         codigo de verificacao, codigo de confirmacao, verificatiecode, bevestigingscode, \
         eenmalige code, engangskode, bekraeftelseskode, verifieringskod, engangskod, \
         bekreftelseskode, vahvistuskoodi, kertakayttokoodi, kod weryfikacyjny, \
         kod jednorazowy, kod sms, overovaci kod, kod z sms, код подтверждения, код из смс, \
         код из sms, одноразовый код, код підтвердження, κωδικοσ επαληθευσησ, \
         dogrulama kodu, onay kodu, tek kullanimlik sifre, 認証コード, 確認コード, ワンタイムパスワード, 인증번호, \
         인증 코드, 验证码, 短信验证码, 驗證碼, 动态码, رمز التحقق, كود التحقق",
    ),
    row(Kind::OneTimeCode, 4, "code, token, kod"),
];
