//! One word for a secret wins over every harmless one.

use alloc::{string::String, vec::Vec};

use crate::form::{
    Field, FieldKind, ProfileKeys, SensitiveKind,
    config::FormConfig,
    kind::SecretKind,
    plan::{self, SkipReason},
    read::tests::page::Page,
    snapshot::Control,
};

fn read(label: &str, attributes: &str, change: impl FnOnce(&mut Control)) -> Field {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, attributes, |seen| {
        seen.names.associated = label.into();
        change(seen);
    });
    page.read().fields.remove(0)
}

fn config(answers: &[&str], allow: &[SensitiveKind]) -> FormConfig {
    let kinds = FieldKind::all().filter(|kind| kind.class().is_none()).collect();
    let answers = answers.iter().map(|it| String::from(*it)).collect();
    let allow = allow.iter().copied().collect();
    let profile = ProfileKeys { kinds, answers, allow, facts: true, ..ProfileKeys::default() };
    FormConfig { profile, writes: true, ..FormConfig::default() }
}

#[test]
fn a_field_that_lies_about_a_secret_is_left() {
    for (label, attributes, why) in [
        ("Nickname", "autocomplete=cc-number", SkipReason::NeverFilled),
        ("Comment", "name=ssn", SkipReason::Private),
        ("City", "autocomplete=cc-number", SkipReason::NeverFilled),
        ("City", "autocomplete=current-password", SkipReason::NeverFilled),
        ("City", "name=cvv", SkipReason::NeverFilled),
        ("City", "name=password", SkipReason::NeverFilled),
        ("Email", "autocomplete=one-time-code", SkipReason::NeverFilled),
        ("Card number", "autocomplete=email", SkipReason::NeverFilled),
        ("Card number", "name=email", SkipReason::NeverFilled),
        ("Password", "autocomplete=email", SkipReason::NeverFilled),
        ("Password", "type=password autocomplete=email", SkipReason::NeverFilled),
        ("Verification code", "autocomplete=given-name", SkipReason::NeverFilled),
        ("CVC", "autocomplete=address-level2", SkipReason::NeverFilled),
        ("IBAN", "autocomplete=email", SkipReason::Private),
        ("Social security number", "autocomplete=email", SkipReason::Private),
        ("PIN", "autocomplete=tel", SkipReason::NeverFilled),
        ("City", "type=password", SkipReason::NeverFilled),
        ("Hobby", "name=cardnumber", SkipReason::NeverFilled),
        ("Mother maiden name", "", SkipReason::Private),
        ("Security answer", "autocomplete=family-name", SkipReason::Private),
        ("Passwort", "", SkipReason::NeverFilled),
        ("Mot de passe", "", SkipReason::NeverFilled),
        ("暗証番号", "", SkipReason::NeverFilled),
        ("P\u{200b}assword", "autocomplete=email", SkipReason::NeverFilled),
    ] {
        let field = read(label, attributes, |_| {});
        let left = plan::kept_out(&field, &config(&[], &[]));
        assert_eq!(left, Some(why), "{label} {attributes}: {field:?}");
    }
    let masked = read("City", "", |seen| seen.masked = true);
    assert_eq!(plan::kept_out(&masked, &config(&[], &[])), Some(SkipReason::NeverFilled));
}

#[test]
fn personal_numbers_and_security_answers_are_private() {
    let all = |secret: SecretKind, labels: &str| {
        let wrong: Vec<&str> =
            labels.split(", ").filter(|it| read(it, "", |_| {}).secret != Some(secret)).collect();
        assert!(wrong.is_empty(), "not {secret:?}: {wrong:#?}");
    };
    all(
        SecretKind::NationalId,
        "SSN, National Insurance number, Passport number, Sozialversicherungsnummer, Steuer-ID, \
         Numéro de sécurité sociale, Número de DNI, CPF, Codice fiscale, BSN, Personnummer, \
         CPR-nummer, Fødselsnummer, Henkilötunnus, PESEL, Rodné číslo, Személyi szám, CNP, ЕГН, OIB, \
         ЈМБГ, EMŠO, Isikukood, Personas kods, Asmens kodas, ΑΜΚΑ, T.C. Kimlik No, СНИЛС, ИПН, \
         رقم الهوية, תעודת זהות, کد ملی, マイナンバー, 주민등록번호, 身份证号, Nomor KTP, เลขประจำตัวประชาชน",
    );
    all(
        SecretKind::BankAccount,
        "IBAN, BIC, Bank account number, Sort code, Routing number, Kontonummer, Numéro de compte, \
         Número de cuenta, Numero di conto, Número de conta, Rekeningnummer, Bankkonto, Tilinumero, \
         Numer konta, Číslo účtu, Bankszámlaszám, Номер счета, Номер рахунку, Αριθμός λογαριασμού, \
         Hesap numarası, رقم الحساب, 口座番号, 계좌번호, 银行账号, Số tài khoản, Nomor rekening",
    );
    all(
        SecretKind::SecurityAnswer,
        "Security answer, Mother's maiden name, Name of your first pet, Your first car, \
         Geheime Antwort, Mädchenname der Mutter, Réponse secrète, Respuesta secreta, \
         Risposta segreta, Resposta secreta, Geheim antwoord, Mors flicknamn, Nazwisko panieńskie matki, \
         Bezpečnostní otázka, Девичья фамилия матери, Дівоче прізвище матері, Gizli cevap, \
         السؤال السري, שאלת אבטחה, 秘密の質問の答え, 보안 질문, 安全问题",
    );
}

#[test]
fn private_field_is_filled_only_from_an_answer() {
    let iban = read("IBAN", "autocomplete=email", |_| {});
    let key = |answers: &[&str]| plan::key(&iban, &config(answers, &[]).profile);
    assert_eq!(key(&[]), None, "a mail address is not what it asks for");
    assert_eq!(key(&["IBAN"]).as_deref(), Some("answers.IBAN"));
    assert_eq!(plan::kept_out(&iban, &config(&["IBAN"], &[])), None);
    assert_eq!(plan::kept_out(&iban, &config(&["City"], &[])), Some(SkipReason::Private));
    let said = alloc::string::ToString::to_string(&SkipReason::Private);
    assert_eq!(said, "private: filled only from an answer under its label");
}

#[test]
fn an_allowed_class_takes_no_value_of_another_kind() {
    let lying = read("Password", "autocomplete=email", |_| {});
    assert_eq!((lying.kind, lying.class()), (FieldKind::Email, Some(SensitiveKind::Password)));
    assert_eq!(
        plan::kept_out(&lying, &config(&[], &[SensitiveKind::Password])),
        Some(SkipReason::NeverFilled)
    );
    assert_eq!(plan::kept_out(&lying, &config(&["Password"], &[SensitiveKind::Password])), None);
    assert_eq!(plan::kept_out(&lying, &config(&["Password"], &[])), Some(SkipReason::NeverFilled));
}

#[test]
fn harmless_fields_are_not_taken_for_secrets() {
    for (label, attributes) in [
        ("City", ""),
        ("City", "autocomplete=new-password"),
        ("E-mail address (never your password)", ""),
        ("Postal code", "name=pin_code"),
        ("Promo code", ""),
        ("Customer ID", "name=cid"),
        ("Years of Swift", ""),
        ("Liczba dni", ""),
        ("Coupon", "name=code"),
        ("Name of the school", ""),
        ("Message", ""),
        ("Nie mam samochodu, bo", ""),
    ] {
        let field = read(label, attributes, |_| {});
        assert_eq!((field.class(), field.secret), (None, None), "{label} {attributes}");
    }
    // A long question may mention such things.
    let area = |label: &str| read(label, "", |seen| seen.tag = "textarea".into());
    assert_eq!(area("Why do you want to open a bank account with us?").secret, None);
    assert_eq!(area("Bank account").secret, Some(SecretKind::BankAccount));
    // A choice from a list holds no secret.
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.list(form, "name=security_question", &["First pet?", "First car?"]);
    assert_eq!(page.read().fields[0].secret, None);
}

#[test]
fn class_implied_by_the_kind_is_not_serialised() {
    let plain = read("Card number", "autocomplete=cc-number", |_| {});
    assert_eq!((plain.kind, plain.secret), (FieldKind::CcNumber, None));
    let written = serde_json::to_string(&plain).expect("value serialises to JSON");
    assert!(!written.contains("secret"), "{written}");
}
