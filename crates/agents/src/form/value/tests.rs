//! Values into fields, by example.

use alloc::{format, string::String, vec::Vec};

use proptest::prelude::*;

use super::{fit, kept, pattern};
use crate::form::{Choice, Field, Kind, Limits, Shape};

fn line(kind: Kind) -> Field {
    Field { shape: Shape::Text, kind, ..Field::default() }
}

fn shaped(shape: Shape) -> Field {
    Field { shape, ..Field::default() }
}

fn hinted(kind: Kind, placeholder: &str) -> Field {
    Field { placeholder: placeholder.into(), ..line(kind) }
}

fn matching(kind: Kind, pattern: &str) -> Field {
    Field { limits: Limits { pattern: Some(pattern.into()), ..Limits::default() }, ..line(kind) }
}

fn short(kind: Kind, chars: u32) -> Field {
    Field { limits: Limits { chars: Some(chars), ..Limits::default() }, ..line(kind) }
}

fn list(kind: Kind, options: &[(&str, &str)]) -> Field {
    let options = options.iter().map(|(value, label)| Choice {
        value: (*value).into(),
        label: (*label).into(),
        ..Choice::default()
    });
    Field { options: options.collect(), kind, ..shaped(Shape::Select) }
}

fn labels(kind: Kind, labels: &[&str]) -> Field {
    list(kind, &labels.iter().map(|label| (*label, *label)).collect::<Vec<_>>())
}

#[track_caller]
fn check(field: &Field, raw: &str, kind: Kind, expected: &str) {
    assert_eq!(fit(field, raw, kind).as_deref(), Ok(expected), "{raw} as {kind}");
    assert!(kept(field, expected, expected), "what is there was kept");
}

#[track_caller]
fn refuse(field: &Field, raw: &str, kind: Kind, why: &str) {
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
        check(&hinted(Kind::Bday, hint), day, Kind::Bday, expected);
    }
    let labelled = Field { label: "Date of birth (DD-MM-YYYY)".into(), ..line(Kind::Bday) };
    check(&labelled, day, Kind::Bday, "09-03-1984");
    check(&matching(Kind::Bday, r"\d{2}/\d{2}/\d{4}"), day, Kind::Bday, "09/03/1984");
    check(&matching(Kind::Bday, r"\d{8}"), day, Kind::Bday, "09031984");
    // What a person answers is typed as it is, unless the field says how.
    check(&line(Kind::None), "02/05/2018", Kind::None, "02/05/2018");
    check(&hinted(Kind::None, "DD/MM/YYYY"), "2018-05-02", Kind::None, "02/05/2018");
}

#[test]
fn native_fields_take_what_html_takes() {
    let native = |shape, raw, expected| check(&shaped(shape), raw, Kind::None, expected);
    native(Shape::Date, "1984-03-09", "1984-03-09");
    native(Shape::Date, "9.3.1984", "1984-03-09");
    native(Shape::Date, "31/12/1984", "1984-12-31");
    native(Shape::Date, "12/31/1984", "1984-12-31");
    native(Shape::Date, "9 March 1984", "1984-03-09");
    native(Shape::Date, "March 9th, 1984", "1984-03-09");
    native(Shape::Date, "9. März 1984", "1984-03-09");
    refuse(&shaped(Shape::Date), "03/04/1984", Kind::None, "YYYY-MM-DD");
    refuse(&shaped(Shape::Date), "1984-02-30", Kind::None, "YYYY-MM-DD");
    native(Shape::Time, "14:05", "14:05");
    native(Shape::Time, "2:05 pm", "14:05");
    native(Shape::Time, "12am", "00:00");
    native(Shape::Time, "14.05", "14:05");
    refuse(&shaped(Shape::Time), "25:00", Kind::None, "HH:MM");
    native(Shape::DatetimeLocal, "1984-03-09 14:05", "1984-03-09T14:05");
    native(Shape::DatetimeLocal, "1984-03-09T14:05", "1984-03-09T14:05");
    native(Shape::Month, "2027-05", "2027-05");
    native(Shape::Month, "05/27", "2027-05");
    native(Shape::Month, "May 2027", "2027-05");
    native(Shape::Week, "2021-01-03", "2020-W53");
    native(Shape::Week, "2024-12-30", "2025-W01");
    native(Shape::Week, "2024-W7", "2024-W07");
    native(Shape::Color, "#FFF", "#ffffff");
    native(Shape::Color, "red", "#ff0000");
    refuse(&shaped(Shape::Color), "reddish", Kind::None, "#rrggbb");
    let limits = Limits { min: Some("2020-01-01".into()), ..Limits::default() };
    let late = Field { limits, ..shaped(Shape::Date) };
    refuse(&late, "2019-12-31", Kind::None, "before 2020-01-01");
}

#[test]
fn numbers_are_read_as_people_write_them_and_kept_within_limits() {
    let any = |min: &str, max: &str, step: &str| Field {
        limits: Limits {
            min: Some(min.into()),
            max: Some(max.into()),
            step: Some(step.into()),
            ..Limits::default()
        },
        ..shaped(Shape::Number)
    };
    check(&any("0", "9999", "0.01"), "1,234.50", Kind::None, "1234.5");
    check(&any("0", "9999", "0.01"), "1.234,50", Kind::None, "1234.5");
    check(&any("0", "9999", "any"), "€ 12,5", Kind::None, "12.5");
    check(&any("0", "9999", "1"), "1,234", Kind::None, "1234");
    check(&shaped(Shape::Number), "-3", Kind::None, "-3");
    refuse(&any("0", "10", "1"), "11", Kind::None, "above 10");
    refuse(&any("0", "10", "1"), "-1", Kind::None, "below 0");
    refuse(&any("0", "10", "1"), "1.5", Kind::None, "steps of 1");
    refuse(&any("0", "10", "1"), "many", Kind::None, "a number");
    check(&any("5", "50", "5"), "35", Kind::None, "35");
    refuse(&any("5", "50", "5"), "36", Kind::None, "steps of 5");
}

#[test]
fn telephone_numbers_are_written_as_the_field_wants_them() {
    let uk = "+44 20 7946 0123";
    check(&line(Kind::Tel), uk, Kind::Tel, uk);
    check(&matching(Kind::Tel, r"\+?[0-9]+"), uk, Kind::Tel, "+442079460123");
    check(&matching(Kind::Tel, r"0\d{10}"), uk, Kind::Tel, "02079460123");
    check(&matching(Kind::Tel, r"\d+"), uk, Kind::Tel, "00442079460123");
    check(&short(Kind::Tel, 11), uk, Kind::Tel, "02079460123");
    check(&hinted(Kind::Tel, "020 7946 0000"), uk, Kind::Tel, "020 7946 0123");
    let us = "+1 617 253 5702";
    check(&hinted(Kind::Tel, "(555) 555-5555"), us, Kind::Tel, "(617) 253-5702");
    check(&hinted(Kind::Tel, "XXX-XXX-XXXX"), us, Kind::Tel, "617-253-5702");
    check(&matching(Kind::Tel, r"[0-9]{3}-[0-9]{3}-[0-9]{4}"), us, Kind::Tel, "617-253-5702");
    check(&short(Kind::Tel, 10), us, Kind::Tel, "6172535702");
    check(&line(Kind::TelNational), "020 7946 0123", Kind::TelNational, "020 7946 0123");
    check(&line(Kind::TelCountryCode), "+44", Kind::TelCountryCode, "+44");
    check(&matching(Kind::TelCountryCode, r"\d+"), "+44", Kind::TelCountryCode, "44");
    refuse(&short(Kind::Tel, 5), us, Kind::Tel, "5 characters at most");
    let codes = labels(Kind::TelCountryCode, &["France (+33)", "UK (+44)", "Armenia (+374)"]);
    check(&codes, "+44", Kind::TelCountryCode, "UK (+44)");
    let codes = list(Kind::TelCountryCode, &[("FR", "+33"), ("GB", "+44")]);
    check(&codes, "+44", Kind::TelCountryCode, "GB");
}

#[test]
fn countries_and_states_are_found_by_any_of_their_names() {
    let codes = list(Kind::Country, &[("", "Choose"), ("DE", "Germany"), ("GB", "United Kingdom")]);
    for raw in ["DE", "DEU", "Germany", "Deutschland", "allemagne"] {
        check(&codes, raw, Kind::Country, "DE");
    }
    check(&codes, "UK", Kind::CountryName, "GB");
    let german = labels(Kind::Country, &["Deutschland", "Österreich", "Vereinigtes Königreich"]);
    check(&german, "GB", Kind::Country, "Vereinigtes Königreich");
    let long = labels(Kind::Country, &["Korea, Republic of", "United States of America"]);
    check(&long, "US", Kind::Country, "United States of America");
    check(&long, "KR", Kind::Country, "Korea, Republic of");
    refuse(&codes, "FR", Kind::Country, "none of the 3 choices");
    check(&line(Kind::CountryName), "DE", Kind::Country, "Germany");
    check(&short(Kind::Country, 2), "Germany", Kind::CountryName, "DE");
    let mut asks = line(Kind::Country);
    asks.attributes.insert("autocomplete".into(), "billing country".into());
    check(&asks, "Germany", Kind::CountryName, "DE");
    let states = list(Kind::AddressLevel1, &[("CA", "California"), ("NY", "New York")]);
    check(&states, "CA", Kind::AddressLevel1, "CA");
    check(&states, "new york", Kind::AddressLevel1, "NY");
    check(&labels(Kind::AddressLevel1, &["Bayern", "Berlin"]), "BY", Kind::AddressLevel1, "Bayern");
    check(&short(Kind::AddressLevel1, 2), "California", Kind::AddressLevel1, "CA");
}

#[test]
fn lists_are_chosen_from_by_meaning() {
    let months = list(Kind::BdayMonth, &[("0", "Jan"), ("1", "Feb"), ("2", "Mar")]);
    check(&months, "3", Kind::BdayMonth, "2");
    let numbered = labels(Kind::BdayMonth, &["01 - January", "02 - February", "03 - March"]);
    check(&numbered, "3", Kind::BdayMonth, "03 - March");
    check(&labels(Kind::BdayDay, &["08", "09", "10"]), "9", Kind::BdayDay, "09");
    check(&labels(Kind::CcExpYear, &["26", "27"]), "2027", Kind::CcExpYear, "27");
    check(&labels(Kind::HonorificPrefix, &["Herr", "Frau"]), "Mrs", Kind::HonorificPrefix, "Frau");
    check(&labels(Kind::HonorificPrefix, &["Mr.", "Ms."]), "mr", Kind::HonorificPrefix, "Mr.");
    check(&list(Kind::Sex, &[("M", "Man"), ("F", "Woman")]), "female", Kind::Sex, "F");
    check(&labels(Kind::Language, &["Deutsch", "English"]), "en", Kind::Language, "English");
    check(&labels(Kind::CcType, &["Visa", "MasterCard"]), "mastercard", Kind::CcType, "MasterCard");
    let none = |options: &[&str], raw, expected| {
        check(&labels(Kind::None, options), raw, Kind::None, expected);
    };
    none(&["Yes, please", "No"], "yes please!", "Yes, please");
    none(&["Ja", "Nein"], "yes", "Ja");
    none(&["18-24", "25–34", "65+"], "27", "25–34");
    none(&["under 18", "18 to 64", "65 or over"], "70", "65 or over");
    none(&["Bachelor's degree", "Master's degree"], "Master", "Master's degree");
    refuse(&labels(Kind::None, &["Red", "Blue"]), "green", Kind::None, "none of the 2 choices");
    let radios = list(Kind::None, &[("on", "First"), ("on", "Second")]);
    check(&radios, "second", Kind::None, "Second");
    let mut gone = labels(Kind::None, &["Red", "Blue"]);
    gone.options[0].disabled = true;
    refuse(&gone, "Red", Kind::None, "none of the 1 choices");
    let mut many = list(Kind::None, &[("r", "Red"), ("g", "Green"), ("b", "Blue")]);
    many.limits.multiple = true;
    check(&many, "red\nBlue", Kind::None, "r\nb");
    check(&many, "Green, Blue", Kind::None, "g\nb");
    assert_eq!(many.choices("r\nb").len(), 2);
    assert!(kept(&many, "r\nb", "Blue\nRed") && !kept(&many, "r\nb", "Red"));
}

#[test]
fn cards_and_parts_of_days_are_written_as_the_field_wants_them() {
    check(&hinted(Kind::CcExp, "MM/YY"), "2027-05", Kind::CcExp, "05/27");
    check(&hinted(Kind::CcExp, "MM / YY"), "2027-05", Kind::CcExp, "05 / 27");
    check(&hinted(Kind::CcExp, "MM/YYYY"), "05/27", Kind::CcExp, "05/2027");
    check(&short(Kind::CcExp, 4), "2027-05", Kind::CcExp, "0527");
    let number = "4242 4242 4242 4242";
    check(&line(Kind::CcNumber), number, Kind::CcNumber, "4242424242424242");
    check(&hinted(Kind::CcNumber, "1234 1234 1234 1234"), number, Kind::CcNumber, number);
    check(&line(Kind::BdayDay), "09", Kind::BdayDay, "9");
    check(&hinted(Kind::BdayDay, "DD"), "9", Kind::BdayDay, "09");
    check(&line(Kind::BdayMonth), "March", Kind::BdayMonth, "3");
    check(&short(Kind::CcExpYear, 2), "2027", Kind::CcExpYear, "27");
    check(&hinted(Kind::BdayYear, "YY"), "1984", Kind::BdayYear, "84");
}

#[test]
fn text_yields_to_the_field_and_values_do_not() {
    // To a driver these are keys: a text of them alone is none.
    check(&shaped(Shape::Text), "a\u{e007}b", Kind::None, "ab");
    assert!(fit(&shaped(Shape::Text), "\u{e007}\u{e003}", Kind::None).is_err());
    let words = |most| Field {
        limits: Limits { words: Some(most), ..Limits::default() },
        ..shaped(Shape::Textarea)
    };
    check(&words(2), " one two three ", Kind::None, "one two");
    check(&words(9), "One. Two three.\n\nFour", Kind::None, "One. Two three.\n\nFour");
    check(&short(Kind::None, 3), "漢字漢字", Kind::None, "漢字漢");
    check(&short(Kind::None, 12), "Hello there world", Kind::None, "Hello there");
    check(
        &short(Kind::None, 24),
        "It is so. It was so. It will be so.",
        Kind::None,
        "It is so. It was so.",
    );
    check(&line(Kind::None), "one\ntwo\0\u{202e}", Kind::None, "one two");
    refuse(&short(Kind::Email, 5), "ada@example.org", Kind::Email, "5 characters at most");
    refuse(&line(Kind::None), "\0\u{feff} ", Kind::None, "nothing to put in");
    check(&short(Kind::AdditionalName, 1), "Augusta", Kind::AdditionalName, "A");
    check(&matching(Kind::PostalCode, "[A-Z0-9]+"), "sw1a 1aa", Kind::PostalCode, "SW1A1AA");
    check(&short(Kind::PostalCode, 5), "02139-4307", Kind::PostalCode, "02139");
    check(&matching(Kind::None, "[A-Z]{3}"), "abc", Kind::None, "ABC");
    check(&line(Kind::Url), "example.org", Kind::Url, "https://example.org");
    let address = "12 Dorset Street\nFlat 3";
    check(&line(Kind::StreetAddress), address, Kind::StreetAddress, "12 Dorset Street, Flat 3");
    let lines = Field { kind: Kind::StreetAddress, ..shaped(Shape::Textarea) };
    check(&lines, address, Kind::StreetAddress, address);
    let least = Limits { min_chars: Some(20), ..Limits::default() };
    let least = Field { limits: least, ..shaped(Shape::Textarea) };
    refuse(&least, "too short", Kind::None, "20 characters at least");
}

#[test]
fn other_shapes_take_what_they_are_made_for() {
    check(&shaped(Shape::Checkbox), "YES", Kind::None, "true");
    check(&shaped(Shape::Checkbox), "off", Kind::None, "false");
    refuse(&shaped(Shape::Checkbox), "perhaps", Kind::None, "yes or no");
    let boxes =
        Field { limits: Limits { chars: Some(6), ..Limits::default() }, ..shaped(Shape::Codes) };
    check(&boxes, "123 456", Kind::OneTimeCode, "123456");
    refuse(&boxes, "12345", Kind::OneTimeCode, "6 characters");
    check(&shaped(Shape::Password), " p w ", Kind::NewPassword, " p w ");
    check(&shaped(Shape::File), "/home/ada/cv.pdf", Kind::None, "/home/ada/cv.pdf");
    refuse(&shaped(Shape::File), "cv.pdf", Kind::None, "absolute path");
    refuse(&shaped(Shape::Captcha), "x", Kind::None, "only a person");
    refuse(&shaped(Shape::Unsupported), "x", Kind::None, "no field");
}

#[test]
fn what_a_mask_or_a_locale_makes_of_a_value_was_kept() {
    let same = |field: &Field, wanted: &str, found: &str| {
        assert!(kept(field, wanted, found), "{wanted} / {found}");
    };
    let differ = |field: &Field, wanted: &str, found: &str| {
        assert!(!kept(field, wanted, found), "{wanted} / {found}");
    };
    same(&line(Kind::Tel), "6172535702", "(617) 253-5702");
    same(&line(Kind::Tel), "+1 617 253 5702", "617-253-5702");
    differ(&line(Kind::Tel), "6172535702", "(617) 253-570");
    same(&line(Kind::CcNumber), "4242424242424242", "4242 4242 4242 4242");
    differ(&line(Kind::CcNumber), "4242424242424242", "4242 4242 4242");
    same(&line(Kind::Bday), "09/03/1984", "1984-03-09");
    differ(&line(Kind::Bday), "09/03/1984", "1984-03-10");
    differ(&line(Kind::Bday), "09/03/1984", "03/09/1984");
    same(&line(Kind::None), "ab 12", "AB-12");
    differ(&line(Kind::None), "1.5", "15");
    same(&line(Kind::None), "1234.50", "1,234.50");
    differ(&line(Kind::Email), "a.b@c.org", "ab@c.org");
    same(&line(Kind::Email), "Ada@C.org", "ada@c.org");
    differ(&line(Kind::None), "something", "");
    same(&shaped(Shape::Richtext), "One\n\nTwo", "One\n\nTwo\n");
    same(&shaped(Shape::Textarea), "One\nTwo", "One\r\nTwo");
    same(&shaped(Shape::Date), "1984-03-09", "1984-03-09");
    same(&shaped(Shape::Time), "14:05", "14:05:00");
    same(&shaped(Shape::DatetimeLocal), "1984-03-09T14:05", "1984-03-09 14:05");
    differ(&shaped(Shape::DatetimeLocal), "1984-03-09T14:05", "1984-03-09 14:06");
    same(&shaped(Shape::Number), "12.50", "12.5");
    same(&shaped(Shape::File), "/home/ada/cv.pdf", "C:\\fakepath\\cv.pdf");
    same(&shaped(Shape::Checkbox), "true", "on");
    differ(&shaped(Shape::Checkbox), "true", "false");
    let list = list(Kind::Country, &[("DE", "Germany"), ("FR", "France")]);
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
        let shapes: Vec<Shape> = (0..21).filter_map(|at| {
            let all = "text textarea select radio checkbox richtext number range date time \
                datetime-local month week color combobox listbox codes password file captcha unsupported";
            serde_json::from_str(&format!("\"{}\"", all.split_whitespace().nth(at)?)).ok()
        }).collect();
        let kind = Kind::all().nth(kind).unwrap_or_default();
        let option = Choice { value: label.clone(), label: raw.clone(), ..Choice::default() };
        let field = Field {
            shape: shapes[shape],
            kind,
            placeholder: label,
            options: Vec::from([option]),
            limits: Limits { chars, pattern, ..Limits::default() },
            ..Field::default()
        };
        let fitted: Result<String, _> = fit(&field, &raw, kind);
        if let Ok(value) = fitted {
            prop_assert!(kept(&field, &value, &value), "{value:?} was not kept");
            if let (Shape::Text, Some(chars)) = (field.shape, chars) {
                prop_assert!(value.encode_utf16().count() <= chars as usize);
            }
        }
    }
}
