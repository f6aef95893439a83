//! What is written on controls, in many languages: data, read from left to right.

mod money;

use alloc::{string::String, vec::Vec};

use super::Class;
use crate::form::{
    classify::{Text, fold},
    text::is_unseen,
};

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
    let words = Text::new(label).spaced();
    let plain = label.trim().to_lowercase();
    let same = |known: &&str| Text::new(known).spaced() == words;
    CLOSES.iter().any(same) || CROSSES.contains(&plain.as_str())
}

/// Returns what a control does, by what is written on it: what is lost, paid or signed
/// counts before what is sent, and all of them before what leads on.
pub(super) fn class(written: &str) -> Class {
    let label = Words::of(written);
    if label.has(DELETE) {
        return Class::Delete;
    }
    // `Continue to payment` and `submit and continue` are no mere ways on.
    let subscribes = label.has(money::SUBSCRIBE) && !label.has(money::NEWS);
    if label.has_any(money::PAY) || subscribes || has_price(written) {
        return Class::Pay;
    }
    // `Sign in` and `sign up` sign nothing.
    let enters = label.has(&["sign in", "sign up", "sign on"]);
    if label.has(SIGN) && !enters {
        return Class::Sign;
    }
    if label.has(SEND) {
        return Class::Send;
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

/// Returns whether words beside a control say that pressing it costs something.
pub(super) fn costs(near: &str) -> bool {
    !near.is_empty() && (has_price(near) || Words::of(near).has_any(money::COSTS))
}

/// Returns whether the words of a whole form do: they cover other things too, so a price alone
/// says little, and so does a word.
pub(super) fn form_costs(text: &str) -> bool {
    has_price(text) && {
        let words = Words::of(text);
        words.has_any(money::COSTS) || words.has(money::TOTAL)
    }
}

/// Returns whether a text names a price that is not nothing.
fn has_price(text: &str) -> bool {
    let mut before: Option<Piece> = None;
    for piece in pieces(text) {
        if matches!(
            (&before, &piece),
            (Some(Piece::Coin), Piece::Sum) | (Some(Piece::Sum), Piece::Coin)
        ) {
            return true;
        }
        before = Some(piece);
    }
    false
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    /// A number that is more than nothing.
    Sum,
    /// A currency.
    Coin,
    /// Anything else.
    Other,
}

/// Takes a text apart into numbers, currencies and the rest.
fn pieces(text: &str) -> Vec<Piece> {
    #[derive(Clone, Copy, Eq, PartialEq)]
    enum Sort {
        Digit,
        Sign,
        Letter,
        Gap,
    }
    let sort = |c: char| {
        if money::SIGNS.contains(&c) {
            Sort::Sign
        } else if c.is_numeric() {
            Sort::Digit
        } else if c.is_alphabetic() {
            Sort::Letter
        } else {
            Sort::Gap
        }
    };
    let coin = |word: &str| {
        let lower = word.to_lowercase();
        money::CODES.contains(&word) || money::COINS.contains(&lower.as_str())
    };
    let mut found = Vec::new();
    let mut word = String::new();
    let mut at = Sort::Gap;
    // A gap at the end closes the last word.
    for c in text.chars().filter(|c| !is_unseen(*c)).chain([' ']) {
        let now = sort(c);
        if now != at {
            match at {
                Sort::Letter => found.push(if coin(&word) { Piece::Coin } else { Piece::Other }),
                Sort::Digit => {
                    let more = word.chars().any(|c| c.to_digit(10) != Some(0));
                    found.push(if more { Piece::Sum } else { Piece::Other });
                }
                Sort::Sign | Sort::Gap => {}
            }
            word.clear();
        }
        match now {
            Sort::Sign => found.push(Piece::Coin),
            // `Room 5, EUR` and `0.00` part here as well, which does no harm.
            Sort::Gap if matches!(c, '.' | ',' | ';' | '!' | '?' | '·' | '|') => {
                if !matches!(c, '.' | ',') {
                    found.push(Piece::Other);
                }
            }
            Sort::Gap => {}
            Sort::Digit | Sort::Letter => word.push(c),
        }
        at = now;
    }
    found
}

/// A label taken apart: its words in lower case, with one space around each.
struct Words(String);

impl Words {
    fn of(label: &str) -> Self {
        let mut words = Text::new(label).spaced();
        let mut more = String::new();
        let mut letters = String::new();
        for word in words.split(' ').chain([""]) {
            // Letters that stand apart are read as one word.
            if word.chars().count() == 1 && word.chars().all(char::is_alphabetic) {
                letters.push_str(word);
                continue;
            }
            if letters.chars().count() > 2 {
                more.push_str(&letters);
                more.push(' ');
            }
            letters.clear();
            // So are words with letters of another script that look the same.
            if word.chars().any(|c| looks_like(c).is_some()) {
                more.extend(word.chars().map(|c| looks_like(c).unwrap_or(c)));
                more.push(' ');
            }
        }
        words.push_str(&more);
        Self(words)
    }

    /// Returns whether one of the words or phrases is in it. Chinese, Japanese, Korean and
    /// Thai do not part their words, so theirs are looked for anywhere.
    fn has(&self, known: &[&str]) -> bool {
        let mut folded = String::new();
        known.iter().any(|phrase| self.holds(phrase, &mut folded))
    }

    /// Returns whether one of the phrases of any language is in it.
    fn has_any(&self, tables: &[(&str, &str)]) -> bool {
        let mut folded = String::new();
        let phrases = || tables.iter().flat_map(|(_, says)| says.split(','));
        phrases().any(|phrase| self.holds(phrase.trim(), &mut folded))
    }

    fn holds(&self, phrase: &str, folded: &mut String) -> bool {
        folded.clear();
        let mut signs = phrase.chars().filter(|c| *c == ' ' || c.is_alphanumeric());
        // Most phrases begin with a letter that is not even there.
        if let Some(first) = signs.next() {
            fold(first, folded);
        }
        if folded.is_empty() || !self.0.contains(folded.as_str()) {
            return false;
        }
        for sign in signs {
            if sign == ' ' { folded.push(' ') } else { fold(sign, folded) }
        }
        let unparted = phrase.chars().all(|c| unparted(c) || c == ' ');
        self.0.match_indices(folded.as_str()).any(|(at, found)| {
            let end = at.saturating_add(found.len());
            let before = self.0.get(..at).is_some_and(|head| head.ends_with(' '));
            let after = self.0.get(end..).is_some_and(|tail| tail.starts_with(' '));
            (before && after) || unparted
        })
    }
}

fn unparted(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
    )
}

/// Returns the Latin letter that a Cyrillic or Greek one looks like.
const fn looks_like(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'є' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'η' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}
