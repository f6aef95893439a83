//! What is written on controls, in many languages: data, read from left to right.

use alloc::{string::String, vec::Vec};

use super::Class;

/// Words that say that a control only leads on.
#[rustfmt::skip]
const ONWARD: &[&str] = &[
    "next", "continue", "forward", "proceed", "onward", "weiter", "fortfahren", "nächste",
    "nächster", "naechste", "suivant", "suivante", "continuer", "poursuivre", "siguiente",
    "continuar", "adelante", "avanti", "continua", "prosegui", "successivo", "successiva",
    "seguinte", "próximo", "próxima", "proximo", "avançar", "prosseguir", "volgende", "verder",
    "doorgaan", "nästa", "fortsätt", "vidare", "næste", "fortsæt", "neste", "fortsett", "seuraava",
    "jatka", "dalej", "następny", "następna", "kontynuuj", "další", "pokračovat", "dále", "далее",
    "продолжить", "дальше", "следующий", "следующая", "вперед", "вперёд", "далі", "продовжити",
    "наступний", "наступна", "επόμενο", "επόμενη", "συνέχεια", "συνεχίστε", "ileri", "sonraki",
    "devam", "التالي", "متابعة", "استمرار", "次へ", "次に進む", "続ける", "進む", "다음", "계속", "下一步", "下一页",
    "继续", "下一頁", "繼續",
];

/// Words that say that the form is sent.
#[rustfmt::skip]
const SEND: &[&str] = &[
    "submit", "send", "apply", "register", "enrol", "enroll", "finish", "complete", "done",
    "confirm", "login", "logon", "log in", "log on", "sign in", "sign on", "sign up", "signin",
    "signup", "join", "search", "create", "update", "request", "subscribe", "publish", "post",
    "start", "get started", "verify", "validate", "book", "reserve", "find", "upload", "absenden",
    "senden", "abschicken", "einreichen", "registrieren", "anmelden", "einloggen", "bestätigen",
    "suchen", "fertig", "abschließen", "beantragen", "erstellen", "übermitteln", "envoyer",
    "soumettre", "valider", "inscription", "inscrire", "connexion", "connecter", "confirmer",
    "rechercher", "terminer", "créer", "transmettre", "enviar", "registrarse", "registrar",
    "confirmar", "buscar", "iniciar sesión", "entrar", "acceder", "finalizar", "terminar", "crear",
    "solicitar", "invia", "inviare", "registrati", "accedi", "conferma", "cerca", "iscriviti",
    "crea", "fine", "submeter", "cadastrar", "registar", "concluir", "pesquisar", "criar",
    "verzenden", "versturen", "indienen", "aanmelden", "inloggen", "registreren", "bevestigen",
    "zoeken", "aanmaken", "voltooien", "skicka", "registrera", "bekräfta", "sök", "logga in",
    "slutför", "skapa", "indsend", "tilmeld", "bekræft", "søg", "log ind", "opret", "afslut",
    "bekreft", "søk", "logg inn", "opprett", "fullfør", "registrer", "lähetä", "rekisteröidy",
    "vahvista", "hae", "kirjaudu", "valmis", "luo", "wyślij", "zarejestruj", "zaloguj", "potwierdź",
    "szukaj", "zakończ", "utwórz", "złóż", "odeslat", "odešli", "registrovat", "přihlásit",
    "potvrdit", "hledat", "dokončit", "vytvořit", "отправить", "зарегистрироваться", "регистрация",
    "войти", "подтвердить", "найти", "готово", "завершить", "создать", "подать", "надіслати",
    "відправити", "зареєструватися", "увійти", "підтвердити", "знайти", "створити", "υποβολή",
    "αποστολή", "εγγραφή", "σύνδεση", "επιβεβαίωση", "αναζήτηση", "gönder", "kaydol", "giriş",
    "onayla", "ara", "tamamla", "oluştur", "kayıt", "إرسال", "تسجيل", "دخول", "تأكيد", "بحث",
    "إنشاء", "送信", "登録", "ログイン", "確認", "検索", "完了", "申し込む", "申込", "作成", "제출",
    "보내기", "가입", "로그인", "확인", "검색", "완료", "등록", "신청", "提交", "发送", "發送",
    "注册", "註冊", "登录", "登入", "确认", "搜索", "完成", "申请", "申請",
];

/// Words that send the form where they stand alone; beside a word that leads on, what they
/// say is kept for the next page: `save and continue`.
#[rustfmt::skip]
const SAVE: &[&str] = &[
    "save", "ok", "okay", "go", "speichern", "enregistrer", "guardar", "salva", "salvar", "gravar",
    "opslaan", "spara", "gem", "lagre", "tallenna", "zapisz", "uložit", "сохранить", "зберегти",
    "αποθήκευση", "kaydet", "حفظ", "保存", "저장", "确定",
];

/// Words that say that something is paid or ordered.
#[rustfmt::skip]
const PAY: &[&str] = &[
    "pay", "payment", "buy", "purchase", "order", "checkout", "check out", "donate", "transfer",
    "place order", "bezahlen", "zahlen", "zahlung", "kaufen", "bestellen", "spenden", "überweisen",
    "kasse", "zahlungspflichtig", "payer", "paiement", "acheter", "commander", "commande", "don",
    "virement", "pagar", "pago", "comprar", "pedido", "donar", "transferir", "pagamento",
    "encomendar", "doar", "paga", "pagare", "acquista", "compra", "ordina", "ordine", "dona",
    "betalen", "betaling", "kopen", "bestelling", "doneren", "afrekenen", "betala", "köp", "köpa",
    "beställ", "beställning", "kassan", "donera", "betal", "køb", "bestil", "ordre", "kjøp",
    "bestill", "doner", "maksa", "osta", "tilaa", "lahjoita", "zapłać", "płatność", "kup", "zamów",
    "zamawiam", "kupuję", "zaplatit", "platba", "koupit", "objednat", "оплатить", "оплата",
    "купить", "заказать", "заказ", "оплатити", "купити", "замовити", "πληρωμή", "αγορά",
    "παραγγελία", "öde", "ödeme", "satın", "sipariş", "دفع", "شراء", "طلب", "支払", "購入", "注文", "결제",
    "구매", "주문", "支付", "付款", "购买", "購買", "下单",
];

/// Words that say that something is signed or agreed to.
#[rustfmt::skip]
const SIGN: &[&str] = &[
    "sign", "signature", "accept", "agree", "consent", "authorise", "authorize", "certify",
    "declare", "unterschreiben", "unterzeichnen", "akzeptieren", "zustimmen", "einwilligen",
    "signer", "accepter", "accepte", "firmar", "aceptar", "acepto", "firma", "accetta", "accetto",
    "assinar", "aceitar", "aceito", "ondertekenen", "accepteren", "akkoord", "signera",
    "underteckna", "acceptera", "godkänn", "underskriv", "accepter", "godkend", "signer", "godta",
    "allekirjoita", "hyväksy", "podpisz", "akceptuję", "zgadzam", "podepsat", "souhlasím",
    "přijmout", "подписать", "принять", "согласен", "підписати", "прийняти", "υπογραφή", "αποδοχή",
    "imzala", "kabul", "توقيع", "موافق", "قبول", "署名", "同意", "承諾", "서명", "동의", "签署", "簽署", "接受",
];

/// Words that say that something is lost.
#[rustfmt::skip]
const DELETE: &[&str] = &[
    "delete", "remove", "cancel", "discard", "reset", "clear", "erase", "withdraw", "unsubscribe",
    "decline", "reject", "close", "löschen", "entfernen", "abbrechen", "zurücksetzen", "verwerfen",
    "ablehnen", "schließen", "supprimer", "annuler", "effacer", "réinitialiser", "refuser",
    "fermer", "eliminar", "borrar", "cancelar", "rechazar", "cerrar", "elimina", "annulla",
    "cancella", "rifiuta", "chiudi", "apagar", "excluir", "limpar", "recusar", "fechar",
    "verwijderen", "annuleren", "wissen", "sluiten", "ta bort", "radera", "avbryt", "rensa",
    "stäng", "slet", "slett", "annuller", "fortryd", "ryd", "luk", "lukk", "poista", "peruuta",
    "tyhjennä", "sulje", "usuń", "anuluj", "wyczyść", "zamknij", "smazat", "zrušit", "zavřít",
    "удалить", "отменить", "отмена", "очистить", "закрыть", "видалити", "скасувати", "закрити",
    "διαγραφή", "ακύρωση", "sil", "iptal", "temizle", "kapat", "حذف", "إلغاء", "削除", "キャンセル", "取消",
    "삭제", "취소", "删除", "刪除", "重置", "关闭",
];

/// Words that say that a control is beside the form.
#[rustfmt::skip]
const ASIDE: &[&str] = &[
    "back", "previous", "return", "help", "draft", "preview", "add", "edit", "change", "browse",
    "print", "show", "hide", "later", "skip", "forgot", "forgotten", "upload file", "choose file",
    "menu", "zurück", "vorherige", "hilfe", "entwurf", "vorschau", "hinzufügen", "bearbeiten",
    "später", "retour", "précédent", "aide", "brouillon", "ajouter", "modifier", "atrás",
    "anterior", "volver", "ayuda", "borrador", "añadir", "indietro", "precedente", "aiuto", "bozza",
    "aggiungi", "voltar", "ajuda", "rascunho", "adicionar", "terug", "vorige", "concept",
    "toevoegen", "tillbaka", "föregående", "utkast", "hjälp", "tilbage", "forrige", "kladde",
    "tilbake", "utkast", "takaisin", "edellinen", "wstecz", "poprzedni", "zpět", "předchozí",
    "назад", "черновик", "помощь", "πίσω", "προηγούμενο", "geri", "önceki", "taslak", "السابق",
    "رجوع", "戻る", "前へ", "下書き", "이전", "뒤로", "返回", "上一步", "草稿", "帮助",
];

/// Words by which a label or a choice agrees to something.
#[rustfmt::skip]
const AGREES: &[&str] = &[
    "agree", "accept", "consent", "authorise", "authorize", "certify", "declare", "acknowledge",
    "zustimmen", "stimme", "akzeptiere", "einwilligen", "einverstanden", "bestätige", "accepte",
    "consens", "acepto", "consiento", "accetto", "acconsento", "aceito", "concordo", "akkoord",
    "godkänner", "accepterer", "godtar", "hyväksyn", "akceptuję", "zgadzam", "zgoda", "wyrażam",
    "souhlasím", "согласен", "согласие", "принимаю", "погоджуюся", "συμφωνώ", "αποδέχομαι", "kabul",
    "onaylıyorum", "أوافق", "同意", "동의",
];

/// What is agreed to: in the label of a field these say that it agrees, in a choice they do
/// not, because one may also have heard of something by a newsletter.
#[rustfmt::skip]
const AGREED: &[&str] = &[
    "terms", "conditions", "privacy", "policy", "newsletter", "marketing", "subscribe", "gdpr",
    "opt in", "updates from", "offers", "e mails", "emails from", "agb", "datenschutz",
    "geschäftsbedingungen", "confidentialité", "términos", "condiciones", "privacidad", "termini",
    "condizioni", "termos", "privacidade", "voorwaarden", "privacybeleid", "nieuwsbrief", "villkor",
    "integritet", "nyhetsbrev", "vilkår", "betingelser", "personvern", "nyhedsbrev", "ehdot",
    "tietosuoja", "uutiskirje", "regulamin", "prywatności", "podmínky", "podmínkami", "условия",
    "умови", "όρους", "şartlar", "الشروط", "規約", "プライバシー", "약관", "条款", "隐私",
    "confirm", "permission",
];

/// What is written, and nothing else, on a control that closes a box.
#[rustfmt::skip]
const CLOSES: &[&str] = &[
    "cancel", "close", "dismiss", "no", "no thanks", "no thank you", "not now", "later",
    "maybe later", "abbrechen", "schließen", "nein", "nein danke", "jetzt nicht", "nicht jetzt",
    "später", "annuler", "fermer", "non", "non merci", "pas maintenant", "plus tard", "cancelar",
    "cerrar", "no gracias", "ahora no", "más tarde", "annulla", "chiudi", "no grazie", "non ora",
    "più tardi", "fechar", "não", "não obrigado", "agora não", "mais tarde", "annuleren", "sluiten",
    "nee", "nee bedankt", "niet nu", "avbryt", "stäng", "nej", "nej tack", "inte nu", "senare",
    "annuller", "fortryd", "luk", "nej tak", "ikke nu", "senere", "lukk", "nei", "nei takk",
    "peruuta", "sulje", "ei", "ei kiitos", "ei nyt", "myöhemmin", "anuluj", "zamknij", "nie",
    "nie teraz", "później", "zrušit", "zavřít", "ne", "teď ne", "později", "отмена", "отменить",
    "закрыть", "нет", "не сейчас", "позже", "скасувати", "закрити", "ні", "не зараз", "пізніше",
    "ακύρωση", "κλείσιμο", "όχι", "όχι τώρα", "αργότερα", "iptal", "kapat", "hayır", "şimdi değil",
    "إلغاء", "إغلاق", "لا", "ليس الآن", "لاحقا", "キャンセル", "閉じる", "いいえ", "後で", "취소", "닫기",
    "아니요", "나중에", "取消", "关闭", "關閉", "不", "以后再说",
];

/// Signs that close a box.
const CROSSES: &[&str] = &["×", "✕", "✖", "✗", "✘", "⨯", "❌", "x"];

/// Returns whether a label says that its control closes something, and says no more:
/// `cancel my order` does.
pub(super) fn closes(label: &str) -> bool {
    let words = Words::of(label);
    let plain = label.trim().to_lowercase();
    CLOSES.contains(&words.0.trim()) || CROSSES.contains(&plain.as_str())
}

/// Returns what a control does, by what is written on it: what is lost, paid or signed
/// counts before what is sent, and all of them before what leads on.
pub(super) fn class(label: &str) -> Class {
    let label = Words::of(label);
    // `Sign in` and `sign up` sign nothing.
    let enters = label.has(&["sign in", "sign up", "sign on"]);
    let order =
        [(Class::Delete, DELETE), (Class::Pay, PAY), (Class::Sign, SIGN), (Class::Send, SEND)];
    // `Continue to payment` and `submit and continue` are no mere ways on.
    for (class, words) in order {
        let only_enters = class == Class::Sign && enters;
        if !only_enters && label.has(words) {
            return class;
        }
    }
    match (label.has(ASIDE), label.has(ONWARD), label.has(SAVE)) {
        (true, ..) => Class::Aside,
        (false, true, _) => Class::Onward,
        (false, false, true) => Class::Send,
        (false, false, false) => Class::Unknown,
    }
}

/// Returns whether a field of this label agrees to something.
pub(super) fn agrees(label: &str) -> bool {
    let label = Words::of(label);
    label.has(AGREES) || label.has(AGREED)
}

/// Returns whether a choice of this label does.
pub(super) fn choice_agrees(label: &str) -> bool {
    Words::of(label).has(AGREES)
}

/// A label taken apart: its words in lower case, with one space around each.
struct Words(String);

impl Words {
    fn of(label: &str) -> Self {
        let words: Vec<String> = label
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let mut text = String::from(" ");
        for word in words {
            text.push_str(&word);
            text.push(' ');
        }
        Self(text)
    }

    /// Returns whether one of the words or phrases is in it. Chinese, Japanese and Korean
    /// do not part their words, so theirs are looked for anywhere.
    fn has(&self, known: &[&str]) -> bool {
        known.iter().any(|word| {
            self.0.match_indices(word).any(|(at, found)| {
                let end = at.saturating_add(found.len());
                let before = self.0.get(..at).is_some_and(|head| head.ends_with(' '));
                let after = self.0.get(end..).is_some_and(|tail| tail.starts_with(' '));
                (before && after) || word.chars().all(unparted)
            })
        })
    }
}

fn unparted(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}
