//! The word tables by example, and what make, neighbours and purpose decide.

mod forms;
mod secrets;

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::{autocomplete, phrase::FoldedText, words};
use crate::form::{FieldKind, PageReader, read::tests::page::Page};

/// Reads one line with a label by the rules alone, in a form that says nothing.
fn labelled(label: &str) -> FieldKind {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.labelled(form, label, "");
    PageReader::default().read_with(&page.sighting, None).fields[0].kind
}

/// Reads one line that only has a name.
fn named(name: &str) -> FieldKind {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "", |seen| {
        seen.attributes.insert("name".into(), name.into());
    });
    PageReader::default().read_with(&page.sighting, None).fields[0].kind
}

fn all(kind: FieldKind, labels: &str) {
    let wrong: Vec<String> = labels
        .split(", ")
        .filter_map(|label| Some((label, labelled(label))).filter(|(_, got)| *got != kind))
        .map(|(label, got)| format!("{label}: {got}"))
        .collect();
    assert!(wrong.is_empty(), "not {kind}: {wrong:#?}");
}

#[test]
fn names_in_many_languages() {
    all(
        FieldKind::GivenName,
        "First name, Vorname, Prénom, Primer nombre, Primeiro nome, Voornaam, Förnamn, \
         Fornavn, Etunimi, Imię, Křestní jméno, Имя, Adınız, 名, 이름, الاسم الأول",
    );
    all(
        FieldKind::FamilyName,
        "Last name, Surname, Nachname, Nom de famille, Apellidos, Cognome, Sobrenome, \
         Achternaam, Efternamn, Etternavn, Sukunimi, Nazwisko, Příjmení, Фамилия, \
         Прізвище, Επώνυμο, Soyadı, 姓, 姓氏, اسم العائلة",
    );
    all(
        FieldKind::Name,
        "Full name, Your name, Vollständiger Name, Nom complet, Nombre completo, \
         Nome e cognome, Nome completo, Volledige naam, Fulde navn, Koko nimi, \
         Imię i nazwisko, Celé jméno, ФИО, Ονοματεπώνυμο, Ad Soyad, 氏名, 성명, 姓名",
    );
    all(
        FieldKind::AdditionalName,
        "Middle name, Zweiter Vorname, Отчество, Segundo nombre, Mellannamn",
    );
    all(FieldKind::HonorificPrefix, "Salutation, Anrede, Civilité, Tratamiento, Aanhef, 敬称");
}

#[test]
fn ways_to_reach_people_in_many_languages() {
    all(
        FieldKind::Email,
        "Email, E-mail address, E-Mail-Adresse, Adresse e-mail, Courriel, \
         Correo electrónico, Indirizzo email, Endereço de e-mail, E-mailadres, \
         E-postadress, E-post, Sähköposti, Adres e-mail, E-mailová adresa, \
         Электронная почта, Електронна пошта, Ηλεκτρονικό ταχυδρομείο, E-posta, メールアドレス, \
         이메일 주소, 电子邮箱, 電子郵件, البريد الإلكتروني",
    );
    all(
        FieldKind::Tel,
        "Phone number, Mobile, Telefonnummer, Numéro de téléphone, Teléfono, Telefono, \
         Telemóvel, Telefoonnummer, Mobilnummer, Puhelinnumero, Numer telefonu, \
         Telefonní číslo, Номер телефона, Телефон, Τηλέφωνο, Telefon numarası, 電話番号, \
         전화번호, 手机号码, رقم الهاتف",
    );
    all(
        FieldKind::TelCountryCode,
        "Country calling code, Phone country code, Landesvorwahl, 国番号",
    );
    all(FieldKind::TelExtension, "Extension, Phone ext., Durchwahl");
    all(FieldKind::Url, "Website, Homepage URL, Site web, Sitio web");
}

#[test]
fn addresses_in_many_languages() {
    all(
        FieldKind::PostalCode,
        "ZIP code, Postcode, Postleitzahl, PLZ, Code postal, Código postal, CAP, CEP, \
         Postnummer, Postinumero, Kod pocztowy, PSČ, Почтовый индекс, \
         Ταχυδρομικός κώδικας, Posta kodu, 郵便番号, 우편번호, 邮政编码, الرمز البريدي",
    );
    all(
        FieldKind::AddressLevel2,
        "City, Town, Ort, Stadt, Ville, Ciudad, Città, Cidade, Plaats, Kaupunki, Miasto, \
         Město, Город, Місто, Πόλη, Şehir, 市区町村, 도시, 城市, المدينة",
    );
    all(
        FieldKind::AddressLevel1,
        "State, Province, State/Province, Bundesland, Provincia, Estado, Województwo, \
         Область, 都道府県, 省份",
    );
    all(
        FieldKind::Country,
        "Country, Country/Region, Land, Pays, País, Paese, Maa, Země, Страна, Країна, \
         Χώρα, Ülke, 国, 국가, 国家, البلد",
    );
    all(
        FieldKind::StreetAddress,
        "Street address, Address, Straße, Rue, Calle, Indirizzo, Endereço, Adres, \
         Gatuadress, Katuosoite, Ulica, Адрес, Διεύθυνση, 住所, 주소, 地址, العنوان",
    );
    all(FieldKind::AddressLine1, "Address line 1, Straße und Hausnummer, Calle y número");
    all(
        FieldKind::AddressLine2,
        "Address line 2, Apt suite unit, Adresszusatz, Complément d'adresse",
    );
    all(
        FieldKind::Organization,
        "Company name, Organisation, Firma, Entreprise, Empresa, Azienda, Bedrijfsnaam, \
         Компания, 会社名, 公司名称",
    );
    all(FieldKind::OrganizationTitle, "Job title, Position, Berufsbezeichnung, Должность");
}

#[test]
fn cards_in_many_languages() {
    all(
        FieldKind::CcNumber,
        "Card number, Credit card number, Kartennummer, Numéro de carte, \
         Número de tarjeta, Numero della carta, Número do cartão, Kaartnummer, \
         Kortnummer, Numer karty, Číslo karty, Номер карты, Kart numarası, カード番号, 카드번호, \
         信用卡号",
    );
    all(
        FieldKind::CcName,
        "Name on card, Cardholder name, Karteninhaber, Titulaire de la carte, \
         Titular de la tarjeta, Имя на карте, カード名義",
    );
    all(
        FieldKind::CcCsc,
        "CVV, CVC, Security code, Kartenprüfnummer, Cryptogramme, Código de seguridad, \
         セキュリティコード",
    );
    all(
        FieldKind::CcExp,
        "Expiration date, Expiry (MM/YY), Gültig bis, Date d'expiration, \
         Fecha de caducidad, Scadenza, 有効期限",
    );
    all(FieldKind::CcExpMonth, "Expiration month, Exp. month, Ablaufmonat");
    all(FieldKind::CcExpYear, "Expiration year, Exp. year, Ablaufjahr");
    all(FieldKind::CcType, "Card type, Kartentyp, Type de carte");
}

#[test]
fn persons_in_many_languages() {
    all(
        FieldKind::Bday,
        "Date of birth, Birthday, Geburtsdatum, Date de naissance, Fecha de nacimiento, \
         Data di nascita, Geboortedatum, Data urodzenia, Дата рождения, Doğum tarihi, \
         生年月日, 생년월일, 出生日期, تاريخ الميلاد",
    );
    all(FieldKind::Sex, "Gender, Geschlecht, Sexe, Sexo, Пол, Cinsiyet, 性別");
    all(
        FieldKind::OneTimeCode,
        "One-time code, Verification code, Einmalcode, Code de vérification, \
         Код подтверждения, 認証コード, 验证码",
    );
    all(
        FieldKind::Username,
        "Username, User ID, Benutzername, Nom d'utilisateur, Nombre de usuario, \
         Nome utente, Gebruikersnaam, Användarnamn, Käyttäjätunnus, Nazwa użytkownika, \
         Uživatelské jméno, Имя пользователя, Логин, Όνομα χρήστη, Kullanıcı adı, ユーザー名, \
         아이디, 用户名, اسم المستخدم",
    );
    all(FieldKind::Nickname, "Nickname, Spitzname, ニックネーム");
    all(FieldKind::Language, "Preferred language, Sprache, Langue");
}

#[test]
fn words_of_a_kind_in_other_company_say_nothing() {
    all(
        FieldKind::None,
        "Search for emails, Email subject, Your message, Brand name, Name of item, \
         Coupon code, Gift card number, Security question, Mother's maiden name, \
         Quantity, VAT number, Check-in, How did you hear about us?, What moves you?, \
         Passport number, IBAN",
    );
}

#[test]
fn identifiers_are_read_in_every_writing() {
    for name in [
        "firstName",
        "first_name",
        "first-name",
        "FirstName",
        "user[first_name]",
        "FIRSTNAME",
        "fname",
        "ctl00$txtFirstName",
        "billing.firstName",
    ] {
        assert_eq!(named(name), FieldKind::GivenName, "{name}");
    }
    for name in ["emailAddress", "user_email", "custEmail", "txtEmail", "e-mail", "login_mail"] {
        assert_eq!(named(name), FieldKind::Email, "{name}");
    }
    for name in ["shipZip", "postalCode", "zip_code", "PostCode", "address.zip"] {
        assert_eq!(named(name), FieldKind::PostalCode, "{name}");
    }
    for name in ["field_17", "q3", "x", "textinput-158868"] {
        assert_eq!(named(name), FieldKind::None, "{name}");
    }
}

#[test]
fn autocomplete_is_read_as_in_the_standard() {
    assert_eq!(autocomplete::kind("email"), Some(FieldKind::Email));
    assert_eq!(autocomplete::kind("  EMAIL "), Some(FieldKind::Email));
    assert_eq!(
        autocomplete::kind("section-a shipping street-address"),
        Some(FieldKind::StreetAddress)
    );
    assert_eq!(autocomplete::kind("section-a billing home tel"), Some(FieldKind::Tel));
    assert_eq!(autocomplete::kind("work email"), Some(FieldKind::Email));
    assert_eq!(autocomplete::kind("username webauthn"), Some(FieldKind::Username));
    for wrong in [
        "",
        "on",
        "off",
        "nope",
        "home street-address",
        "shipping section-a email",
        "email tel",
        "é",
    ] {
        assert_eq!(autocomplete::kind(wrong), None, "{wrong}");
    }
}

#[test]
fn phrases_are_written_as_texts_are_folded() {
    for (_, says) in words::kinds() {
        for phrase in says.split(',').map(|phrase| phrase.trim().trim_start_matches('*')) {
            let letters: String =
                phrase.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'')).collect();
            assert_eq!(FoldedText::new(phrase).solid(), letters, "{phrase}");
        }
    }
    assert_eq!(FoldedText::new("Straße Øre İl Ἀ ＡＢＣ").solid(), "strasseoreilἀabc");
}

#[test]
fn no_phrase_is_listed_twice_for_different_kinds() {
    let mut seen: BTreeMap<String, FieldKind> = BTreeMap::new();
    for ((kind, _), says) in words::kinds() {
        for phrase in says.split(',') {
            let folded = FoldedText::new(phrase).solid().to_string();
            let other = seen.insert(folded, kind).filter(|it| *it != kind);
            assert!(other.is_none(), "{phrase}: {kind} and {other:?}");
        }
    }
}
