//! Profiles: derived values, and likely mistakes.

use alloc::{string::String, vec::Vec};

use super::super::{FieldKind, Profile, SensitiveKind};

fn profile(values: &[(FieldKind, &str)]) -> Profile {
    let values = values.iter().map(|(kind, value)| (*kind, String::from(*value))).collect();
    Profile { values, ..Profile::default() }
}

#[track_caller]
fn derives(given: &[(FieldKind, &str)], kind: FieldKind, expected: Option<&str>) {
    let profile = profile(given);
    let found = profile.value(kind.token()).map(|(_, value)| value);
    assert_eq!(found.as_deref(), expected, "{kind}");
    assert_eq!(profile.derives(kind), expected.is_some());
}

#[test]
fn names_follow_from_their_parts_and_parts_from_two_words() {
    let parts = [(FieldKind::GivenName, "Ada"), (FieldKind::FamilyName, "Byron")];
    derives(&parts, FieldKind::Name, Some("Ada Byron"));
    derives(&parts, FieldKind::CcName, Some("Ada Byron"));
    let middle = [&parts[..], &[(FieldKind::AdditionalName, "Augusta")]].concat();
    derives(&middle, FieldKind::Name, Some("Ada Augusta Byron"));
    derives(&[(FieldKind::Name, "Ada Byron")], FieldKind::GivenName, Some("Ada"));
    derives(&[(FieldKind::Name, "Ada Byron")], FieldKind::FamilyName, Some("Byron"));
    // How three words divide is a guess.
    derives(&[(FieldKind::Name, "Ada King Noel")], FieldKind::FamilyName, None);
    derives(&[(FieldKind::GivenName, "Ada")], FieldKind::Name, None);
}

#[test]
fn days_cards_addresses_and_countries_follow_from_each_other() {
    let born = [(FieldKind::Bday, "1984-03-09")];
    derives(&born, FieldKind::BdayDay, Some("9"));
    derives(&born, FieldKind::BdayMonth, Some("3"));
    derives(&born, FieldKind::BdayYear, Some("1984"));
    let parts =
        [(FieldKind::BdayDay, "9"), (FieldKind::BdayMonth, "March"), (FieldKind::BdayYear, "1984")];
    derives(&parts, FieldKind::Bday, Some("1984-03-09"));
    derives(&[(FieldKind::CcExp, "05/27")], FieldKind::CcExpYear, Some("2027"));
    derives(&[(FieldKind::CcExp, "2027-05")], FieldKind::CcExpMonth, Some("05"));
    let card = [(FieldKind::CcExpMonth, "5"), (FieldKind::CcExpYear, "27")];
    derives(&card, FieldKind::CcExp, Some("2027-05"));
    derives(&[(FieldKind::CcNumber, "4242 4242 4242 4242")], FieldKind::CcType, Some("Visa"));
    let street = [(FieldKind::StreetAddress, "12 Dorset Street\nFlat 3")];
    derives(&street, FieldKind::AddressLine1, Some("12 Dorset Street"));
    derives(&street, FieldKind::AddressLine2, Some("Flat 3"));
    derives(&street, FieldKind::AddressLine3, None);
    let lines =
        [(FieldKind::AddressLine1, "12 Dorset Street"), (FieldKind::AddressLine2, "Flat 3")];
    derives(&lines, FieldKind::StreetAddress, Some("12 Dorset Street\nFlat 3"));
    derives(&[(FieldKind::Country, "GB")], FieldKind::CountryName, Some("United Kingdom"));
    derives(&[(FieldKind::CountryName, "Deutschland")], FieldKind::Country, Some("DE"));
}

#[test]
fn telephone_numbers_are_taken_apart_and_put_together() {
    let uk = [(FieldKind::Tel, "+44 20 7946 0123")];
    derives(&uk, FieldKind::TelCountryCode, Some("+44"));
    derives(&uk, FieldKind::TelNational, Some("020 7946 0123"));
    derives(&uk, FieldKind::TelAreaCode, Some("020"));
    derives(&uk, FieldKind::TelLocal, Some("79460123"));
    let us = [(FieldKind::Tel, "+16172535702")];
    derives(&us, FieldKind::TelNational, Some("6172535702"));
    derives(&us, FieldKind::TelAreaCode, Some("617"));
    let parts = [(FieldKind::TelCountryCode, "+49"), (FieldKind::TelNational, "030 123456")];
    derives(&parts, FieldKind::Tel, Some("+49 30123456"));
}

#[test]
fn agent_knows_names_but_no_values() {
    let mut profile = profile(&[(FieldKind::GivenName, "Ada"), (FieldKind::FamilyName, "Byron")]);
    profile.answers.insert("Why us".into(), "the secret reason".into());
    profile.facts.insert("work".into(), "the secret work".into());
    let told = serde_json::to_string(&profile.holds("/p.toml")).expect("value serialises to JSON");
    assert!(told.contains("Why us") && told.contains("\"name\""), "{told}");
    for secret in ["Ada", "Byron", "secret"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert_eq!(
        profile.value("answers.Why us"),
        Some((FieldKind::None, "the secret reason".into()))
    );
    assert_eq!(profile.value("answers.Why them"), None);
    assert_eq!(profile.value("no-such-kind"), None);
    assert_eq!(profile.told(&["Your work".into()]), "- work: the secret work");
    assert_eq!(profile.told(&["Your town".into()]), "");
}

#[test]
fn likely_mistakes_are_reported_without_values() {
    let mut profile = profile(&[
        (FieldKind::Email, "ada@example"),
        (FieldKind::Tel, "12"),
        (FieldKind::Bday, "9.3.1984"),
        (FieldKind::Country, "Germany"),
        (FieldKind::CcNumber, "4242 4242 4242 4241"),
        (FieldKind::GivenName, " "),
        (FieldKind::FamilyName, "Byron"),
    ]);
    profile.allow.insert(SensitiveKind::Password);
    profile.allow.insert(SensitiveKind::Card);
    let doubts = profile.doubts();
    let keys: Vec<&str> = doubts.iter().map(|(key, _)| key.as_str()).collect();
    let expected = ["given-name", "country", "cc-number", "bday", "tel", "email", "allow"];
    assert_eq!(keys, expected, "{doubts:?}");
    assert!(doubts.iter().all(|(_, why)| !why.contains("4242") && !why.contains("ada@")));
    let closed = Profile {
        values: [(FieldKind::NewPassword, String::from("x"))].into(),
        ..Profile::default()
    };
    assert!(closed.doubts()[0].1.contains("never filled unless"), "{:?}", closed.doubts());
}

#[test]
fn tokens_and_kinds_are_the_same() {
    for kind in FieldKind::all() {
        assert_eq!(FieldKind::from_token(kind.token()), Some(kind));
        let json = serde_json::to_value(kind).expect("value serialises to JSON");
        assert_eq!(json.as_str(), Some(kind.token()));
    }
    for class in SensitiveKind::ALL {
        assert_eq!(SensitiveKind::from_token(class.token()), Some(class));
        assert_eq!(
            serde_json::to_value(class).expect("value serialises to JSON").as_str(),
            Some(class.token())
        );
    }
    assert_eq!(FieldKind::all().count(), 52);
}
