//! Text fields: what a field takes, and a text that it is likely to accept.

use alloc::string::String;

use super::{screen::Field, tree::Element};

/// Words that tell a kind of field, the more telling first.
const WORDS: &[(Field, &[&str])] = &[
    (Field::Password, &["password", "passwd", "passcode", "pin"]),
    (Field::Email, &["email", "e-mail", "mail"]),
    (Field::Phone, &["phone", "mobile", "tel"]),
    (Field::Url, &["url", "website", "link", "http"]),
    (Field::Date, &["date", "birthday", "dob"]),
    (Field::Search, &["search", "query", "find", "filter"]),
    (
        Field::Number,
        &["amount", "number", "age", "price", "count", "quantity", "zip", "postcode", "code"],
    ),
    (Field::Name, &["name", "user", "login", "account"]),
];

/// Returns what a field takes, by what the platform and the words around it say.
pub(super) fn kind(element: &Element, label: &str) -> Field {
    if element.password {
        return Field::Password;
    }
    let text = alloc::format!("{} {} {label}", element.resource, element.hint).to_lowercase();
    let parts = || text.split(|it: char| !it.is_alphanumeric() && it != '-');
    let says = |word: &str| {
        // A short word must stand alone: "pin" is no part of "shopping".
        if word.len() < 5 { parts().any(|part| part == word) } else { text.contains(word) }
    };
    let known = WORDS.iter().find(|(_, words)| words.iter().any(|word| says(word)));
    known.map_or(Field::Text, |(field, _)| *field)
}

/// Returns a text that a field of this kind is likely to accept.
pub fn sample(field: Field) -> &'static str {
    match field {
        Field::Text => "Hello World",
        Field::Password => "Passw0rd!",
        Field::Email => "test@example.com",
        Field::Phone => "+15550100",
        Field::Number => "42",
        Field::Url => "https://example.com",
        Field::Date => "2001-02-03",
        Field::Search => "test",
        Field::Name => "Test User",
    }
}

/// Returns what to type: what a person gave for the field, else a sample.
pub(super) fn text(
    inputs: &alloc::collections::BTreeMap<String, String>,
    names: &[&str],
    field: Option<Field>,
) -> String {
    let given = names.iter().find_map(|name| inputs.get(*name));
    given.cloned().unwrap_or_else(|| sample(field.unwrap_or(Field::Text)).into())
}
