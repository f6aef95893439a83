//! What a classifier of twenty lines says, to compare with.

use pointsman_agents::form::{Kind, Seen};

/// Words and the kind that the first of them stands for.
const WORDS: [(&str, Kind); 22] = [
    ("email", Kind::Email),
    ("e-mail", Kind::Email),
    ("cvv", Kind::CcCsc),
    ("cardnumber", Kind::CcNumber),
    ("card number", Kind::CcNumber),
    ("first", Kind::GivenName),
    ("vorname", Kind::GivenName),
    ("last", Kind::FamilyName),
    ("surname", Kind::FamilyName),
    ("nachname", Kind::FamilyName),
    ("phone", Kind::Tel),
    ("tel", Kind::Tel),
    ("mobile", Kind::Tel),
    ("zip", Kind::PostalCode),
    ("post", Kind::PostalCode),
    ("city", Kind::AddressLevel2),
    ("state", Kind::AddressLevel1),
    ("country", Kind::Country),
    ("company", Kind::Organization),
    ("user", Kind::Username),
    ("address", Kind::StreetAddress),
    ("name", Kind::Name),
];

/// Returns the kind that the attribute, the type or the first word found stands for.
pub(crate) fn kind(seen: &Seen) -> Kind {
    let attribute = seen.attribute("autocomplete").rsplit(' ').next().unwrap_or_default();
    if let Some(kind) = Kind::from_token(attribute) {
        return kind;
    }
    match seen.type_.as_str() {
        "password" => return Kind::CurrentPassword,
        "email" => return Kind::Email,
        "tel" => return Kind::Tel,
        _ => {}
    }
    let names = &seen.names;
    let texts = [
        names.associated.as_str(),
        names.wrapping.as_str(),
        names.placeholder.as_str(),
        seen.attribute("name"),
        seen.attribute("id"),
    ];
    let text = texts.join(" ").to_lowercase();
    WORDS.iter().find(|(word, _)| text.contains(word)).map_or(Kind::None, |(_, kind)| *kind)
}
