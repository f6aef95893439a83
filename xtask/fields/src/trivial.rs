//! What a classifier of twenty lines says, to compare with.

use pointsman_agents::form::{Control, FieldKind};

/// Words and the kind that the first of them stands for.
const WORDS: [(&str, FieldKind); 22] = [
    ("email", FieldKind::Email),
    ("e-mail", FieldKind::Email),
    ("cvv", FieldKind::CcCsc),
    ("cardnumber", FieldKind::CcNumber),
    ("card number", FieldKind::CcNumber),
    ("first", FieldKind::GivenName),
    ("vorname", FieldKind::GivenName),
    ("last", FieldKind::FamilyName),
    ("surname", FieldKind::FamilyName),
    ("nachname", FieldKind::FamilyName),
    ("phone", FieldKind::Tel),
    ("tel", FieldKind::Tel),
    ("mobile", FieldKind::Tel),
    ("zip", FieldKind::PostalCode),
    ("post", FieldKind::PostalCode),
    ("city", FieldKind::AddressLevel2),
    ("state", FieldKind::AddressLevel1),
    ("country", FieldKind::Country),
    ("company", FieldKind::Organization),
    ("user", FieldKind::Username),
    ("address", FieldKind::StreetAddress),
    ("name", FieldKind::Name),
];

/// Returns the kind that the attribute, the type or the first word found stands for.
pub(crate) fn kind(seen: &Control) -> FieldKind {
    let attribute = seen.attribute("autocomplete").rsplit(' ').next().unwrap_or_default();
    if let Some(kind) = FieldKind::from_token(attribute) {
        return kind;
    }
    match seen.type_.as_str() {
        "password" => return FieldKind::CurrentPassword,
        "email" => return FieldKind::Email,
        "tel" => return FieldKind::Tel,
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
    WORDS.iter().find(|(word, _)| text.contains(word)).map_or(FieldKind::None, |(_, kind)| *kind)
}
