//! Text fields: what a field takes, and a text that it is likely to accept.

use alloc::string::String;

use super::{screen::TextFieldKind, tree::Element};

/// Words that tell a kind of field, the more telling first.
const WORDS: &[(TextFieldKind, &[&str])] = &[
    (TextFieldKind::Password, &["password", "passwd", "passcode", "pin"]),
    (TextFieldKind::Email, &["email", "e-mail", "mail"]),
    (TextFieldKind::Phone, &["phone", "mobile", "tel"]),
    (TextFieldKind::Url, &["url", "website", "link", "http"]),
    (TextFieldKind::Date, &["date", "birthday", "dob"]),
    (TextFieldKind::Search, &["search", "query", "find", "filter"]),
    (
        TextFieldKind::Number,
        &["amount", "number", "age", "price", "count", "quantity", "zip", "postcode", "code"],
    ),
    (TextFieldKind::Name, &["name", "user", "login", "account"]),
];

/// Returns what a field takes, by what the platform and the words around it say.
pub(super) fn kind(element: &Element, label: &str) -> TextFieldKind {
    if element.password {
        return TextFieldKind::Password;
    }
    let text = alloc::format!("{} {} {label}", element.resource, element.hint).to_lowercase();
    let parts = || text.split(|it: char| !it.is_alphanumeric() && it != '-');
    let says = |word: &str| {
        // A short word must match a whole word: "pin" is not part of "shopping".
        if word.len() < 5 { parts().any(|part| part == word) } else { text.contains(word) }
    };
    let known = WORDS.iter().find(|(_, words)| words.iter().any(|word| says(word)));
    known.map_or(TextFieldKind::Text, |(field, _)| *field)
}

/// Returns a text that a field of this kind is likely to accept.
pub fn sample(field: TextFieldKind) -> &'static str {
    match field {
        TextFieldKind::Text => "Hello World",
        TextFieldKind::Password => "Passw0rd!",
        TextFieldKind::Email => "test@example.com",
        TextFieldKind::Phone => "+15550100",
        TextFieldKind::Number => "42",
        TextFieldKind::Url => "https://example.com",
        TextFieldKind::Date => "2001-02-03",
        TextFieldKind::Search => "test",
        TextFieldKind::Name => "Test User",
    }
}

/// Returns what to type: what a person gave for the field, else a sample.
pub(super) fn text(
    inputs: &alloc::collections::BTreeMap<String, String>,
    names: &[&str],
    field: Option<TextFieldKind>,
) -> String {
    let given = names.iter().find_map(|name| inputs.get(*name));
    given.cloned().unwrap_or_else(|| sample(field.unwrap_or(TextFieldKind::Text)).into())
}
