//! What a field asks for that only the person may give. One word for it is enough: a page
//! that calls a field harmless elsewhere does not make it so.

use alloc::vec::Vec;

use super::{
    FieldDraft, autocomplete,
    phrase::FoldedText,
    votes::{FAR, Judge, LONG, MARKS, WordSource},
};
use crate::form::{
    field::FieldShape,
    kind::{FieldKind, SecretKind},
};

/// Weaker words, such as `code`, do not say by themselves that something is secret.
const SURE: i32 = 6;
/// A field of several lines is named by no more words than this; more are a question.
const NAME: usize = 4;
/// Names that mean something harmless as often: an id of a customer, a pan.
const VAGUE: [&str; 3] = ["cid", "pan", "csc"];

/// Returns for each field what it asks for that only the person may give.
pub(in crate::form) fn secrets(
    judge: &Judge,
    drafts: &[FieldDraft<'_>],
) -> Vec<Option<SecretKind>> {
    drafts.iter().map(|draft| secret(draft, judge)).collect()
}

fn secret(draft: &FieldDraft<'_>, judge: &Judge) -> Option<SecretKind> {
    if !is_typed(draft.shape) {
        return None;
    }
    let seen = draft.seen;
    let told = autocomplete::kind(seen.attribute("autocomplete"));
    // On a line of text `new-password` is written to keep browsers from filling it.
    let told =
        told.filter(|kind| *kind != FieldKind::NewPassword || draft.shape == FieldShape::Password);
    let made = told.and_then(of_kind).or_else(|| seen.masked.then_some(SecretKind::Password));
    let texts = texts(draft);
    let by_kind = |(text, voice): &(FoldedText, WordSource)| {
        let (kind, strength) = judge.best(text, *voice)?;
        let vague = *voice == WordSource::Identifier && VAGUE.contains(&text.solid());
        of_kind(kind).filter(|_| strength >= SURE && !vague)
    };
    let by_name = |(text, voice): &(FoldedText, WordSource)| {
        let long = *voice == WordSource::Prose && text.solid().len() > LONG;
        let mut found = judge.private.find(text).into_iter();
        found.find(|it| !long || it.start <= FAR).map(|it| it.meaning)
    };
    made.or_else(|| texts.iter().find_map(by_kind)).or_else(|| texts.iter().find_map(by_name))
}

/// Returns what names a field: what people read at it, and its identifiers.
fn texts(draft: &FieldDraft<'_>) -> Vec<(FoldedText, WordSource)> {
    let (seen, names) = (draft.seen, &draft.seen.names);
    let own = [&names.associated, &names.wrapping, &names.labelled_by];
    let unnamed = own.iter().all(|text| text.is_empty());
    let beside = if unnamed { names.before.as_str() } else { "" };
    let prose = own.map(alloc::string::String::as_str).into_iter();
    let prose = prose.chain([names.aria.as_str(), &names.placeholder, &names.title, beside]);
    let lines = matches!(draft.shape, FieldShape::Textarea | FieldShape::Richtext);
    let prose = prose.map(|text| (FoldedText::new(text), WordSource::Prose));
    let prose = prose.filter(|(text, _)| !lines || text.words() <= NAME);
    let marks = ["name", "id"].into_iter().chain(MARKS).map(|name| seen.attribute(name));
    prose.chain(marks.map(|mark| (FoldedText::new(mark), WordSource::Identifier))).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most kinds are no secret")]
const fn of_kind(kind: FieldKind) -> Option<SecretKind> {
    match kind {
        FieldKind::NewPassword | FieldKind::CurrentPassword => Some(SecretKind::Password),
        FieldKind::OneTimeCode => Some(SecretKind::OneTimeCode),
        FieldKind::CcNumber | FieldKind::CcCsc => Some(SecretKind::Card),
        _ => None,
    }
}

/// Returns whether something is typed into a field of this shape.
const fn is_typed(shape: FieldShape) -> bool {
    matches!(
        shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Richtext
            | FieldShape::Number
            | FieldShape::Combobox
            | FieldShape::Password
    )
}
