//! Profiles: what follows from what is given, and what looks wrong.

use alloc::{string::String, vec::Vec};

use super::super::{Class, Kind, Profile};

fn profile(values: &[(Kind, &str)]) -> Profile {
    let values = values.iter().map(|(kind, value)| (*kind, String::from(*value))).collect();
    Profile { values, ..Profile::default() }
}

#[track_caller]
fn derives(given: &[(Kind, &str)], kind: Kind, expected: Option<&str>) {
    let profile = profile(given);
    let found = profile.value(kind.token()).map(|(_, value)| value);
    assert_eq!(found.as_deref(), expected, "{kind}");
    assert_eq!(profile.derives(kind), expected.is_some());
}

#[test]
fn names_follow_from_their_parts_and_parts_from_two_words() {
    let parts = [(Kind::GivenName, "Ada"), (Kind::FamilyName, "Byron")];
    derives(&parts, Kind::Name, Some("Ada Byron"));
    derives(&parts, Kind::CcName, Some("Ada Byron"));
    let middle = [&parts[..], &[(Kind::AdditionalName, "Augusta")]].concat();
    derives(&middle, Kind::Name, Some("Ada Augusta Byron"));
    derives(&[(Kind::Name, "Ada Byron")], Kind::GivenName, Some("Ada"));
    derives(&[(Kind::Name, "Ada Byron")], Kind::FamilyName, Some("Byron"));
    // Where three words part is anybody's guess.
    derives(&[(Kind::Name, "Ada King Noel")], Kind::FamilyName, None);
    derives(&[(Kind::GivenName, "Ada")], Kind::Name, None);
}

#[test]
fn days_cards_addresses_and_countries_follow_from_each_other() {
    let born = [(Kind::Bday, "1984-03-09")];
    derives(&born, Kind::BdayDay, Some("9"));
    derives(&born, Kind::BdayMonth, Some("3"));
    derives(&born, Kind::BdayYear, Some("1984"));
    let parts = [(Kind::BdayDay, "9"), (Kind::BdayMonth, "March"), (Kind::BdayYear, "1984")];
    derives(&parts, Kind::Bday, Some("1984-03-09"));
    derives(&[(Kind::CcExp, "05/27")], Kind::CcExpYear, Some("2027"));
    derives(&[(Kind::CcExp, "2027-05")], Kind::CcExpMonth, Some("05"));
    let card = [(Kind::CcExpMonth, "5"), (Kind::CcExpYear, "27")];
    derives(&card, Kind::CcExp, Some("2027-05"));
    derives(&[(Kind::CcNumber, "4242 4242 4242 4242")], Kind::CcType, Some("Visa"));
    let street = [(Kind::StreetAddress, "12 Dorset Street\nFlat 3")];
    derives(&street, Kind::AddressLine1, Some("12 Dorset Street"));
    derives(&street, Kind::AddressLine2, Some("Flat 3"));
    derives(&street, Kind::AddressLine3, None);
    let lines = [(Kind::AddressLine1, "12 Dorset Street"), (Kind::AddressLine2, "Flat 3")];
    derives(&lines, Kind::StreetAddress, Some("12 Dorset Street\nFlat 3"));
    derives(&[(Kind::Country, "GB")], Kind::CountryName, Some("United Kingdom"));
    derives(&[(Kind::CountryName, "Deutschland")], Kind::Country, Some("DE"));
}

#[test]
fn telephone_numbers_are_taken_apart_and_put_together() {
    let uk = [(Kind::Tel, "+44 20 7946 0123")];
    derives(&uk, Kind::TelCountryCode, Some("+44"));
    derives(&uk, Kind::TelNational, Some("020 7946 0123"));
    derives(&uk, Kind::TelAreaCode, Some("020"));
    derives(&uk, Kind::TelLocal, Some("79460123"));
    let us = [(Kind::Tel, "+16172535702")];
    derives(&us, Kind::TelNational, Some("6172535702"));
    derives(&us, Kind::TelAreaCode, Some("617"));
    let parts = [(Kind::TelCountryCode, "+49"), (Kind::TelNational, "030 123456")];
    derives(&parts, Kind::Tel, Some("+49 30123456"));
}

#[test]
fn an_agent_is_told_names_and_no_value() {
    let mut profile = profile(&[(Kind::GivenName, "Ada"), (Kind::FamilyName, "Byron")]);
    profile.answers.insert("Why us".into(), "the secret reason".into());
    profile.facts.insert("work".into(), "the secret work".into());
    let told = serde_json::to_string(&profile.holds("/p.toml")).expect("plain data");
    assert!(told.contains("Why us") && told.contains("\"name\""), "{told}");
    for secret in ["Ada", "Byron", "secret"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert_eq!(profile.value("answers.Why us"), Some((Kind::None, "the secret reason".into())));
    assert_eq!(profile.value("answers.Why them"), None);
    assert_eq!(profile.value("no-such-kind"), None);
    assert_eq!(profile.told(&["Your work".into()]), "- work: the secret work");
    assert_eq!(profile.told(&["Your town".into()]), "");
}

#[test]
fn what_looks_wrong_is_told_without_the_value() {
    let mut profile = profile(&[
        (Kind::Email, "ada@example"),
        (Kind::Tel, "12"),
        (Kind::Bday, "9.3.1984"),
        (Kind::Country, "Germany"),
        (Kind::CcNumber, "4242 4242 4242 4241"),
        (Kind::GivenName, " "),
        (Kind::FamilyName, "Byron"),
    ]);
    profile.allow.insert(Class::Password);
    profile.allow.insert(Class::Card);
    let doubts = profile.doubts();
    let keys: Vec<&str> = doubts.iter().map(|(key, _)| key.as_str()).collect();
    let expected = ["given-name", "country", "cc-number", "bday", "tel", "email", "allow"];
    assert_eq!(keys, expected, "{doubts:?}");
    assert!(doubts.iter().all(|(_, why)| !why.contains("4242") && !why.contains("ada@")));
    let closed =
        Profile { values: [(Kind::NewPassword, String::from("x"))].into(), ..Profile::default() };
    assert!(closed.doubts()[0].1.contains("never filled unless"), "{:?}", closed.doubts());
}

#[test]
fn tokens_and_kinds_are_the_same() {
    for kind in Kind::all() {
        assert_eq!(Kind::from_token(kind.token()), Some(kind));
        let json = serde_json::to_value(kind).expect("plain data");
        assert_eq!(json.as_str(), Some(kind.token()));
    }
    for class in Class::ALL {
        assert_eq!(Class::from_token(class.token()), Some(class));
        assert_eq!(serde_json::to_value(class).expect("plain data").as_str(), Some(class.token()));
    }
    assert_eq!(Kind::all().count(), 52);
}
