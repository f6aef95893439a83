//! Values into fields, by example.

use alloc::{format, string::String, vec::Vec};

use proptest::prelude::*;

use super::{fit, kept, pattern};
use crate::form::{Choice, Field, FieldKind, FieldLimits, FieldShape};

fn line(kind: FieldKind) -> Field {
    Field { shape: FieldShape::Text, kind, ..Field::default() }
}

fn shaped(shape: FieldShape) -> Field {
    Field { shape, ..Field::default() }
}

fn hinted(kind: FieldKind, placeholder: &str) -> Field {
    Field { placeholder: placeholder.into(), ..line(kind) }
}

fn matching(kind: FieldKind, pattern: &str) -> Field {
    Field {
        limits: FieldLimits { pattern: Some(pattern.into()), ..FieldLimits::default() },
        ..line(kind)
    }
}

fn short(kind: FieldKind, chars: u32) -> Field {
    Field { limits: FieldLimits { chars: Some(chars), ..FieldLimits::default() }, ..line(kind) }
}

fn list(kind: FieldKind, options: &[(&str, &str)]) -> Field {
    let options = options.iter().map(|(value, label)| Choice {
        value: (*value).into(),
        label: (*label).into(),
        ..Choice::default()
    });
    Field { options: options.collect(), kind, ..shaped(FieldShape::Select) }
}

fn labels(kind: FieldKind, labels: &[&str]) -> Field {
    list(kind, &labels.iter().map(|label| (*label, *label)).collect::<Vec<_>>())
}

#[track_caller]
fn check(field: &Field, raw: &str, kind: FieldKind, expected: &str) {
    assert_eq!(fit(field, raw, kind).as_deref(), Ok(expected), "{raw} as {kind}");
    assert!(kept(field, expected, expected), "what is there was kept");
}

#[track_caller]
fn refuse(field: &Field, raw: &str, kind: FieldKind, why: &str) {
    let unfit = fit(field, raw, kind).expect_err(raw);
    assert!(unfit.0.contains(why), "{}", unfit.0);
}

#[test]
fn days_are_written_as_the_field_wants_them() {
    let day = "1984-03-09";
    for (hint, expected) in [
        ("", "1984-03-09"),
        ("DD/MM/YYYY", "09/03/1984"),
        ("mm/dd/yyyy", "03/09/1984"),
        ("d/m/yyyy", "9/3/1984"),
        ("TT.MM.JJJJ", "09.03.1984"),
        ("JJ/MM/AAAA", "09/03/1984"),
        ("gg/mm/aaaa", "09/03/1984"),
        ("ДД.ММ.ГГГГ", "09.03.1984"),
        ("yyyy-mm-dd", "1984-03-09"),
        ("MM/DD/YY", "03/09/84"),
        ("DD MMM YYYY", "09 March 1984"),
        ("31/12/1990", "09/03/1984"),
        ("e.g. 12/31/1990", "03/09/1984"),
        ("Date of birth", "1984-03-09"),
    ] {
        check(&hinted(FieldKind::Bday, hint), day, FieldKind::Bday, expected);
    }
    let labelled = Field { label: "Date of birth (DD-MM-YYYY)".into(), ..line(FieldKind::Bday) };
    check(&labelled, day, FieldKind::Bday, "09-03-1984");
    check(&matching(FieldKind::Bday, r"\d{2}/\d{2}/\d{4}"), day, FieldKind::Bday, "09/03/1984");
    check(&matching(FieldKind::Bday, r"\d{8}"), day, FieldKind::Bday, "09031984");
    // What a person answers is typed as it is, unless the field says how.
    check(&line(FieldKind::None), "02/05/2018", FieldKind::None, "02/05/2018");
    check(&hinted(FieldKind::None, "DD/MM/YYYY"), "2018-05-02", FieldKind::None, "02/05/2018");
}

#[test]
fn native_fields_accept_html_values() {
    let native = |shape, raw, expected| check(&shaped(shape), raw, FieldKind::None, expected);
    native(FieldShape::Date, "1984-03-09", "1984-03-09");
    native(FieldShape::Date, "9.3.1984", "1984-03-09");
    native(FieldShape::Date, "31/12/1984", "1984-12-31");
    native(FieldShape::Date, "12/31/1984", "1984-12-31");
    native(FieldShape::Date, "9 March 1984", "1984-03-09");
    native(FieldShape::Date, "March 9th, 1984", "1984-03-09");
    native(FieldShape::Date, "9. März 1984", "1984-03-09");
    refuse(&shaped(FieldShape::Date), "03/04/1984", FieldKind::None, "YYYY-MM-DD");
    refuse(&shaped(FieldShape::Date), "1984-02-30", FieldKind::None, "YYYY-MM-DD");
    native(FieldShape::Time, "14:05", "14:05");
    native(FieldShape::Time, "2:05 pm", "14:05");
    native(FieldShape::Time, "12am", "00:00");
    native(FieldShape::Time, "14.05", "14:05");
    refuse(&shaped(FieldShape::Time), "25:00", FieldKind::None, "HH:MM");
    native(FieldShape::DatetimeLocal, "1984-03-09 14:05", "1984-03-09T14:05");
    native(FieldShape::DatetimeLocal, "1984-03-09T14:05", "1984-03-09T14:05");
    native(FieldShape::Month, "2027-05", "2027-05");
    native(FieldShape::Month, "05/27", "2027-05");
    native(FieldShape::Month, "May 2027", "2027-05");
    native(FieldShape::Week, "2021-01-03", "2020-W53");
    native(FieldShape::Week, "2024-12-30", "2025-W01");
    native(FieldShape::Week, "2024-W7", "2024-W07");
    native(FieldShape::Color, "#FFF", "#ffffff");
    native(FieldShape::Color, "red", "#ff0000");
    refuse(&shaped(FieldShape::Color), "reddish", FieldKind::None, "#rrggbb");
    let limits = FieldLimits { min: Some("2020-01-01".into()), ..FieldLimits::default() };
    let late = Field { limits, ..shaped(FieldShape::Date) };
    refuse(&late, "2019-12-31", FieldKind::None, "before 2020-01-01");
}

#[test]
fn numbers_are_read_as_people_write_them_and_kept_within_limits() {
    let any = |min: &str, max: &str, step: &str| Field {
        limits: FieldLimits {
            min: Some(min.into()),
            max: Some(max.into()),
            step: Some(step.into()),
            ..FieldLimits::default()
        },
        ..shaped(FieldShape::Number)
    };
    check(&any("0", "9999", "0.01"), "1,234.50", FieldKind::None, "1234.5");
    check(&any("0", "9999", "0.01"), "1.234,50", FieldKind::None, "1234.5");
    check(&any("0", "9999", "any"), "€ 12,5", FieldKind::None, "12.5");
    check(&any("0", "9999", "1"), "1,234", FieldKind::None, "1234");
    check(&shaped(FieldShape::Number), "-3", FieldKind::None, "-3");
    refuse(&any("0", "10", "1"), "11", FieldKind::None, "above 10");
    refuse(&any("0", "10", "1"), "-1", FieldKind::None, "below 0");
    refuse(&any("0", "10", "1"), "1.5", FieldKind::None, "steps of 1");
    refuse(&any("0", "10", "1"), "many", FieldKind::None, "a number");
    check(&any("5", "50", "5"), "35", FieldKind::None, "35");
    refuse(&any("5", "50", "5"), "36", FieldKind::None, "steps of 5");
}

#[test]
fn telephone_numbers_are_written_as_the_field_wants_them() {
    let uk = "+44 20 7946 0123";
    check(&line(FieldKind::Tel), uk, FieldKind::Tel, uk);
    check(&matching(FieldKind::Tel, r"\+?[0-9]+"), uk, FieldKind::Tel, "+442079460123");
    check(&matching(FieldKind::Tel, r"0\d{10}"), uk, FieldKind::Tel, "02079460123");
    check(&matching(FieldKind::Tel, r"\d+"), uk, FieldKind::Tel, "00442079460123");
    check(&short(FieldKind::Tel, 11), uk, FieldKind::Tel, "02079460123");
    check(&hinted(FieldKind::Tel, "020 7946 0000"), uk, FieldKind::Tel, "020 7946 0123");
    let us = "+1 617 253 5702";
    check(&hinted(FieldKind::Tel, "(555) 555-5555"), us, FieldKind::Tel, "(617) 253-5702");
    check(&hinted(FieldKind::Tel, "XXX-XXX-XXXX"), us, FieldKind::Tel, "617-253-5702");
    check(
        &matching(FieldKind::Tel, r"[0-9]{3}-[0-9]{3}-[0-9]{4}"),
        us,
        FieldKind::Tel,
        "617-253-5702",
    );
    check(&short(FieldKind::Tel, 10), us, FieldKind::Tel, "6172535702");
    check(&line(FieldKind::TelNational), "020 7946 0123", FieldKind::TelNational, "020 7946 0123");
    check(&line(FieldKind::TelCountryCode), "+44", FieldKind::TelCountryCode, "+44");
    check(&matching(FieldKind::TelCountryCode, r"\d+"), "+44", FieldKind::TelCountryCode, "44");
    refuse(&short(FieldKind::Tel, 5), us, FieldKind::Tel, "at most 5 characters");
    let codes = labels(FieldKind::TelCountryCode, &["France (+33)", "UK (+44)", "Armenia (+374)"]);
    check(&codes, "+44", FieldKind::TelCountryCode, "UK (+44)");
    let codes = list(FieldKind::TelCountryCode, &[("FR", "+33"), ("GB", "+44")]);
    check(&codes, "+44", FieldKind::TelCountryCode, "GB");
}

#[test]
fn countries_and_states_are_found_by_any_of_their_names() {
    let codes =
        list(FieldKind::Country, &[("", "Choose"), ("DE", "Germany"), ("GB", "United Kingdom")]);
    for raw in ["DE", "DEU", "Germany", "Deutschland", "allemagne"] {
        check(&codes, raw, FieldKind::Country, "DE");
    }
    check(&codes, "UK", FieldKind::CountryName, "GB");
    let german =
        labels(FieldKind::Country, &["Deutschland", "Österreich", "Vereinigtes Königreich"]);
    check(&german, "GB", FieldKind::Country, "Vereinigtes Königreich");
    let long = labels(FieldKind::Country, &["Korea, Republic of", "United States of America"]);
    check(&long, "US", FieldKind::Country, "United States of America");
    check(&long, "KR", FieldKind::Country, "Korea, Republic of");
    refuse(&codes, "FR", FieldKind::Country, "none of the 3 choices");
    check(&line(FieldKind::CountryName), "DE", FieldKind::Country, "Germany");
    check(&short(FieldKind::Country, 2), "Germany", FieldKind::CountryName, "DE");
    let mut asks = line(FieldKind::Country);
    asks.attributes.insert("autocomplete".into(), "billing country".into());
    check(&asks, "Germany", FieldKind::CountryName, "DE");
    let states = list(FieldKind::AddressLevel1, &[("CA", "California"), ("NY", "New York")]);
    check(&states, "CA", FieldKind::AddressLevel1, "CA");
    check(&states, "new york", FieldKind::AddressLevel1, "NY");
    check(
        &labels(FieldKind::AddressLevel1, &["Bayern", "Berlin"]),
        "BY",
        FieldKind::AddressLevel1,
        "Bayern",
    );
    check(&short(FieldKind::AddressLevel1, 2), "California", FieldKind::AddressLevel1, "CA");
}

#[test]
fn lists_are_chosen_from_by_meaning() {
    let months = list(FieldKind::BdayMonth, &[("0", "Jan"), ("1", "Feb"), ("2", "Mar")]);
    check(&months, "3", FieldKind::BdayMonth, "2");
    let numbered = labels(FieldKind::BdayMonth, &["01 - January", "02 - February", "03 - March"]);
    check(&numbered, "3", FieldKind::BdayMonth, "03 - March");
    check(&labels(FieldKind::BdayDay, &["08", "09", "10"]), "9", FieldKind::BdayDay, "09");
    check(&labels(FieldKind::CcExpYear, &["26", "27"]), "2027", FieldKind::CcExpYear, "27");
    check(
        &labels(FieldKind::HonorificPrefix, &["Herr", "Frau"]),
        "Mrs",
        FieldKind::HonorificPrefix,
        "Frau",
    );
    check(
        &labels(FieldKind::HonorificPrefix, &["Mr.", "Ms."]),
        "mr",
        FieldKind::HonorificPrefix,
        "Mr.",
    );
    check(&list(FieldKind::Sex, &[("M", "Man"), ("F", "Woman")]), "female", FieldKind::Sex, "F");
    check(
        &labels(FieldKind::Language, &["Deutsch", "English"]),
        "en",
        FieldKind::Language,
        "English",
    );
    check(
        &labels(FieldKind::CcType, &["Visa", "MasterCard"]),
        "mastercard",
        FieldKind::CcType,
        "MasterCard",
    );
    let none = |options: &[&str], raw, expected| {
        check(&labels(FieldKind::None, options), raw, FieldKind::None, expected);
    };
    none(&["Yes, please", "No"], "yes please!", "Yes, please");
    none(&["Ja", "Nein"], "yes", "Ja");
    none(&["18-24", "25–34", "65+"], "27", "25–34");
    none(&["under 18", "18 to 64", "65 or over"], "70", "65 or over");
    none(&["Bachelor's degree", "Master's degree"], "Master", "Master's degree");
    refuse(
        &labels(FieldKind::None, &["Red", "Blue"]),
        "green",
        FieldKind::None,
        "none of the 2 choices",
    );
    let radios = list(FieldKind::None, &[("on", "First"), ("on", "Second")]);
    check(&radios, "second", FieldKind::None, "Second");
    let mut gone = labels(FieldKind::None, &["Red", "Blue"]);
    gone.options[0].disabled = true;
    refuse(&gone, "Red", FieldKind::None, "the only choice does not match");
    gone.options[1].disabled = true;
    refuse(&gone, "Red", FieldKind::None, "there is no choice");
    let mut many = list(FieldKind::None, &[("r", "Red"), ("g", "Green"), ("b", "Blue")]);
    many.limits.multiple = true;
    check(&many, "red\nBlue", FieldKind::None, "r\nb");
    check(&many, "Green, Blue", FieldKind::None, "g\nb");
    assert_eq!(many.choices("r\nb").len(), 2);
    assert!(kept(&many, "r\nb", "Blue\nRed") && !kept(&many, "r\nb", "Red"));
}

#[test]
fn cards_and_parts_of_days_are_written_as_the_field_wants_them() {
    check(&hinted(FieldKind::CcExp, "MM/YY"), "2027-05", FieldKind::CcExp, "05/27");
    check(&hinted(FieldKind::CcExp, "MM / YY"), "2027-05", FieldKind::CcExp, "05 / 27");
    check(&hinted(FieldKind::CcExp, "MM/YYYY"), "05/27", FieldKind::CcExp, "05/2027");
    check(&short(FieldKind::CcExp, 4), "2027-05", FieldKind::CcExp, "0527");
    let number = "4242 4242 4242 4242";
    check(&line(FieldKind::CcNumber), number, FieldKind::CcNumber, "4242424242424242");
    check(&hinted(FieldKind::CcNumber, "1234 1234 1234 1234"), number, FieldKind::CcNumber, number);
    check(&line(FieldKind::BdayDay), "09", FieldKind::BdayDay, "9");
    check(&hinted(FieldKind::BdayDay, "DD"), "9", FieldKind::BdayDay, "09");
    check(&line(FieldKind::BdayMonth), "March", FieldKind::BdayMonth, "3");
    check(&short(FieldKind::CcExpYear, 2), "2027", FieldKind::CcExpYear, "27");
    check(&hinted(FieldKind::BdayYear, "YY"), "1984", FieldKind::BdayYear, "84");
}

#[test]
fn text_yields_to_the_field_and_values_do_not() {
    // To a driver these are keys: a text of them alone is none.
    check(&shaped(FieldShape::Text), "a\u{e007}b", FieldKind::None, "ab");
    assert!(fit(&shaped(FieldShape::Text), "\u{e007}\u{e003}", FieldKind::None).is_err());
    let words = |most| Field {
        limits: FieldLimits { words: Some(most), ..FieldLimits::default() },
        ..shaped(FieldShape::Textarea)
    };
    check(&words(2), " one two three ", FieldKind::None, "one two");
    check(&words(9), "One. Two three.\n\nFour", FieldKind::None, "One. Two three.\n\nFour");
    check(&short(FieldKind::None, 3), "漢字漢字", FieldKind::None, "漢字漢");
    check(&short(FieldKind::None, 12), "Hello there world", FieldKind::None, "Hello there");
    check(
        &short(FieldKind::None, 24),
        "It is so. It was so. It will be so.",
        FieldKind::None,
        "It is so. It was so.",
    );
    check(&line(FieldKind::None), "one\ntwo\0\u{202e}", FieldKind::None, "one two");
    refuse(
        &short(FieldKind::Email, 5),
        "ada@example.org",
        FieldKind::Email,
        "at most 5 characters",
    );
    refuse(&line(FieldKind::None), "\0\u{feff} ", FieldKind::None, "the value is empty");
    check(&short(FieldKind::AdditionalName, 1), "Augusta", FieldKind::AdditionalName, "A");
    check(
        &matching(FieldKind::PostalCode, "[A-Z0-9]+"),
        "sw1a 1aa",
        FieldKind::PostalCode,
        "SW1A1AA",
    );
    check(&short(FieldKind::PostalCode, 5), "02139-4307", FieldKind::PostalCode, "02139");
    check(&matching(FieldKind::None, "[A-Z]{3}"), "abc", FieldKind::None, "ABC");
    check(&line(FieldKind::Url), "example.org", FieldKind::Url, "https://example.org");
    let address = "12 Dorset Street\nFlat 3";
    check(
        &line(FieldKind::StreetAddress),
        address,
        FieldKind::StreetAddress,
        "12 Dorset Street, Flat 3",
    );
    let lines = Field { kind: FieldKind::StreetAddress, ..shaped(FieldShape::Textarea) };
    check(&lines, address, FieldKind::StreetAddress, address);
    let least = FieldLimits { min_chars: Some(20), ..FieldLimits::default() };
    let least = Field { limits: least, ..shaped(FieldShape::Textarea) };
    refuse(&least, "too short", FieldKind::None, "at least 20 characters");
}

#[test]
fn other_shapes_accept_their_own_values() {
    check(&shaped(FieldShape::Checkbox), "YES", FieldKind::None, "true");
    check(&shaped(FieldShape::Checkbox), "off", FieldKind::None, "false");
    refuse(&shaped(FieldShape::Checkbox), "perhaps", FieldKind::None, "yes or no");
    let boxes = Field {
        limits: FieldLimits { chars: Some(6), ..FieldLimits::default() },
        ..shaped(FieldShape::Codes)
    };
    check(&boxes, "123 456", FieldKind::OneTimeCode, "123456");
    refuse(&boxes, "12345", FieldKind::OneTimeCode, "6 characters");
    check(&shaped(FieldShape::Password), " p w ", FieldKind::NewPassword, " p w ");
    check(&shaped(FieldShape::File), "/home/ada/cv.pdf", FieldKind::None, "/home/ada/cv.pdf");
    refuse(&shaped(FieldShape::File), "cv.pdf", FieldKind::None, "absolute path");
    refuse(&shaped(FieldShape::Captcha), "x", FieldKind::None, "only a person");
    refuse(&shaped(FieldShape::Unsupported), "x", FieldKind::None, "cannot be filled");
}

#[test]
fn masked_and_localised_values_count_as_kept() {
    let same = |field: &Field, wanted: &str, found: &str| {
        assert!(kept(field, wanted, found), "{wanted} / {found}");
    };
    let differ = |field: &Field, wanted: &str, found: &str| {
        assert!(!kept(field, wanted, found), "{wanted} / {found}");
    };
    same(&line(FieldKind::Tel), "6172535702", "(617) 253-5702");
    same(&line(FieldKind::Tel), "+1 617 253 5702", "617-253-5702");
    differ(&line(FieldKind::Tel), "6172535702", "(617) 253-570");
    same(&line(FieldKind::CcNumber), "4242424242424242", "4242 4242 4242 4242");
    differ(&line(FieldKind::CcNumber), "4242424242424242", "4242 4242 4242");
    same(&line(FieldKind::Bday), "09/03/1984", "1984-03-09");
    differ(&line(FieldKind::Bday), "09/03/1984", "1984-03-10");
    differ(&line(FieldKind::Bday), "09/03/1984", "03/09/1984");
    same(&line(FieldKind::None), "ab 12", "AB-12");
    differ(&line(FieldKind::None), "1.5", "15");
    same(&line(FieldKind::None), "1234.50", "1,234.50");
    differ(&line(FieldKind::Email), "a.b@c.org", "ab@c.org");
    same(&line(FieldKind::Email), "Ada@C.org", "ada@c.org");
    differ(&line(FieldKind::None), "something", "");
    same(&shaped(FieldShape::Richtext), "One\n\nTwo", "One\n\nTwo\n");
    same(&shaped(FieldShape::Textarea), "One\nTwo", "One\r\nTwo");
    same(&shaped(FieldShape::Date), "1984-03-09", "1984-03-09");
    same(&shaped(FieldShape::Time), "14:05", "14:05:00");
    same(&shaped(FieldShape::DatetimeLocal), "1984-03-09T14:05", "1984-03-09 14:05");
    differ(&shaped(FieldShape::DatetimeLocal), "1984-03-09T14:05", "1984-03-09 14:06");
    same(&shaped(FieldShape::Number), "12.50", "12.5");
    same(&shaped(FieldShape::File), "/home/ada/cv.pdf", "C:\\fakepath\\cv.pdf");
    same(&shaped(FieldShape::Checkbox), "true", "on");
    differ(&shaped(FieldShape::Checkbox), "true", "false");
    let list = list(FieldKind::Country, &[("DE", "Germany"), ("FR", "France")]);
    same(&list, "DE", "Germany");
    same(&list, "DE", "DE");
    differ(&list, "DE", "France");
}

#[test]
fn patterns_are_matched_whole() {
    for (written, text, expected) in [
        (r"[0-9]{5}(-[0-9]{4})?", "02139", Some(true)),
        (r"[0-9]{5}(-[0-9]{4})?", "02139-4307", Some(true)),
        (r"[0-9]{5}(-[0-9]{4})?", "0213", Some(false)),
        (r"^\d{3}$", "123", Some(true)),
        (r"\d{3}", "1234", Some(false)),
        (r"(?:a|b)+c?", "ababc", Some(true)),
        (r"[^@\s]+@[^@\s]+\.[a-z]{2,}", "ada@example.org", Some(true)),
        (r"[^@\s]+@[^@\s]+\.[a-z]{2,}", "ada.example.org", Some(false)),
        (r"[\w.\-]+", "a_b.c-d", Some(true)),
        (r"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac", None),
        (r"(?=.*\d).+", "a1", None),
        (r"[a-", "a", None),
        (r"a{2", "aa", None),
        (r"(", "", None),
        (r"\p{L}+", "ä", None),
    ] {
        assert_eq!(pattern::matches(written, text), expected, "{written} / {text}");
    }
}

proptest! {
    #[test]
    fn no_value_and_no_field_is_too_much(
        raw in "\\PC{0,60}",
        label in "\\PC{0,20}",
        pattern in proptest::option::of("\\PC{0,20}"),
        chars in proptest::option::of(0_u32..40),
        shape in 0_usize..21,
        kind in 0_usize..53,
    ) {
        let shapes: Vec<FieldShape> = (0..21).filter_map(|at| {
            let all = "text textarea select radio checkbox richtext number range date time \
                datetime-local month week color combobox listbox codes password file captcha unsupported";
            serde_json::from_str(&format!("\"{}\"", all.split_whitespace().nth(at)?)).ok()
        }).collect();
        let kind = FieldKind::all().nth(kind).unwrap_or_default();
        let option = Choice { value: label.clone(), label: raw.clone(), ..Choice::default() };
        let field = Field {
            shape: shapes[shape],
            kind,
            placeholder: label,
            options: Vec::from([option]),
            limits: FieldLimits { chars, pattern, ..FieldLimits::default() },
            ..Field::default()
        };
        let fitted: Result<String, _> = fit(&field, &raw, kind);
        if let Ok(value) = fitted {
            prop_assert!(kept(&field, &value, &value), "{value:?} was not kept");
            if let (FieldShape::Text, Some(chars)) = (field.shape, chars) {
                prop_assert!(value.encode_utf16().count() <= chars as usize);
            }
        }
    }
}
