//! A question gets the facts that its field needs, and no other.

use alloc::{string::String, vec, vec::Vec};

use super::{
    super::{Fact, Field, FieldShape, Profile},
    at_fill, field,
};

fn profile() -> Profile {
    let marked = |value: &str, fields: &[&str]| Fact {
        value: value.into(),
        fields: fields.iter().map(|it| String::from(*it)).collect(),
    };
    let mut profile = Profile::default();
    profile.facts.insert("experience".into(), "Eight years with engines".into());
    profile.facts.insert("iban".into(), marked("DE89 3704 0044 0532 0130 00", &["bank"]));
    profile.facts.insert("languages".into(), marked("English, French", &["language", "langue"]));
    profile.facts.insert("health".into(), "Allergic to peanuts".into());
    profile.facts.insert("号".into(), marked("社員", &["志望動機"]));
    profile
}

fn told(label: &str) -> String {
    profile().told(&[label.into()])
}

#[test]
fn a_fact_goes_to_the_field_that_asks_for_it() {
    assert_eq!(told("Describe your experience"), "- experience: Eight years with engines");
    assert_eq!(told("Relevant EXPERIENCES"), "- experience: Eight years with engines");
    assert_eq!(told("Quelle langue parlez-vous ?"), "- languages: English, French");
    assert_eq!(told("志望動機をお書きください"), "- 号: 社員");
    // By its identifiers too, however they are written.
    let field = Field { label: "Tell us".into(), ..field("x", FieldShape::Textarea) };
    let mut field = Field { placeholder: "…".into(), ..field };
    field.attributes.insert("name".into(), "workExperience".into());
    assert_eq!(profile().told(&field.called()), "- experience: Eight years with engines");
}

#[test]
fn a_fact_goes_to_no_other_field() {
    for label in ["Comment", "Why do you want to come?", "Health", "IBAN", "Message", ""] {
        let told = told(label);
        assert!(!told.contains("DE89") && !told.contains("engines"), "{label}: {told}");
        assert_eq!(told.contains("peanuts"), label == "Health", "{label}: {told}");
    }
}

#[test]
fn prompt_names_the_field() {
    let mut why = Field { label: "Why here?".into(), ..field("q1", FieldShape::Textarea) };
    why.attributes.insert("name".into(), "reason".into());
    let driver = at_fill(vec![why]);
    let private = driver.prompt().private.expect("prompt has a private part");
    assert_eq!(private.about, ["Why here?", "reason"]);
}

#[test]
fn a_text_that_repeats_another_fact_is_known() {
    let profile = profile();
    let repeated = |label: &str, text: &str, known: &str| {
        let called: Vec<String> = vec![label.into()];
        profile.repeated(text, &called, known).map(String::from)
    };
    let iban = Some(String::from("iban"));
    assert_eq!(repeated("Comment", "it is DE89 3704 0044 0532 0130 00", ""), iban);
    assert_eq!(repeated("Comment", "de89370400440532013000", ""), iban);
    assert_eq!(repeated("Comment", "D\u{200b}E89 3704.0044.0532.0130.00", ""), iban);
    assert_eq!(repeated("Comment", "I am allergic to PEANUTS!", ""), Some("health".into()));
    // A fact for the field, one that the question itself names, and another one.
    assert_eq!(repeated("Your health", "I am allergic to peanuts", ""), None);
    assert_eq!(repeated("Comment", "Allergic to peanuts", "Are you allergic to peanuts?"), None);
    assert_eq!(repeated("Comment", "I like peanuts.", ""), None);
}
