//! The `autocomplete` attribute, read as the HTML standard says.

use crate::form::kind::FieldKind;

/// Returns the kind that the attribute names. Before it may stand a section, shipping or
/// billing, and for ways to reach people home, work, mobile, fax or pager; after it
/// `webauthn`. Anything else makes the attribute say nothing, as do `on` and `off`.
pub(super) fn kind(attribute: &str) -> Option<FieldKind> {
    let mut words = attribute.split_ascii_whitespace().rev().peekable();
    let is = |word: Option<&&str>, all: &[&str]| {
        word.is_some_and(|word| all.iter().any(|one| one.eq_ignore_ascii_case(word)))
    };
    if is(words.peek(), &["webauthn"]) {
        words.next();
    }
    let field = words.next()?.to_ascii_lowercase();
    let kind = FieldKind::from_token(&field)?;
    if is(words.peek(), &["home", "work", "mobile", "fax", "pager"]) && reaches(kind) {
        words.next();
    }
    if is(words.peek(), &["shipping", "billing"]) {
        words.next();
    }
    if words
        .peek()
        .is_some_and(|word| word.get(..8).is_some_and(|it| it.eq_ignore_ascii_case("section-")))
    {
        words.next();
    }
    words.next().is_none().then_some(kind)
}

fn reaches(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Tel
            | FieldKind::TelCountryCode
            | FieldKind::TelNational
            | FieldKind::TelAreaCode
            | FieldKind::TelLocal
            | FieldKind::TelExtension
            | FieldKind::Email
            | FieldKind::Impp
    )
}
