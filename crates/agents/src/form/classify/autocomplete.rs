//! The `autocomplete` attribute, read as the HTML standard says.

use crate::form::kind::Kind;

/// Returns the kind that the attribute names. Before it may stand a section, shipping or
/// billing, and for ways to reach people home, work, mobile, fax or pager; after it
/// `webauthn`. Anything else makes the attribute say nothing, as do `on` and `off`.
pub(super) fn kind(attribute: &str) -> Option<Kind> {
    let mut words = attribute.split_ascii_whitespace().rev().peekable();
    let is = |word: Option<&&str>, all: &[&str]| {
        word.is_some_and(|word| all.iter().any(|one| one.eq_ignore_ascii_case(word)))
    };
    if is(words.peek(), &["webauthn"]) {
        words.next();
    }
    let field = words.next()?.to_ascii_lowercase();
    let kind = Kind::from_token(&field)?;
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

fn reaches(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Tel
            | Kind::TelCountryCode
            | Kind::TelNational
            | Kind::TelAreaCode
            | Kind::TelLocal
            | Kind::TelExtension
            | Kind::Email
            | Kind::Impp
    )
}
