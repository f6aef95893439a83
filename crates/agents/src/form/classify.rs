//! What each field asks for, from all that its page says of it.
//!
//! Every text around a field votes for kinds, by the phrases of `words` that it holds and
//! by how close the text is to the field. What the field is built like, the lists it
//! offers and the fields beside it settle the rest. Nothing here knows a site.

mod autocomplete;
mod context;
mod options;
mod parts;
mod phrase;
mod purpose;
mod secrets;
#[cfg(test)]
mod tests;
mod votes;
pub(in crate::form) mod words;

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
    vec::Vec,
};

pub(super) use phrase::{Lexicon, Text, fold};
pub(super) use purpose::Purpose;
pub(super) use secrets::secrets;
pub(super) use words::Aim;

use super::{
    field::Shape,
    kind::Kind,
    sight::{Seen, Sighting},
};
pub(super) use votes::Judge;
use votes::Votes;

/// A field before it has a kind: one control, or several that are one.
#[derive(Clone, Debug)]
pub(super) struct Draft<'a> {
    /// The control that stands for the field.
    pub(super) seen: &'a Seen,
    /// What it looks like.
    pub(super) shape: Shape,
    /// What it is called.
    pub(super) label: String,
    /// Legends and labels of the groups around it.
    pub(super) context: String,
    /// What may be chosen: labels and values.
    pub(super) options: Vec<(String, String)>,
    /// The form, or the part of the page that does a form's work.
    pub(super) form: Option<usize>,
    /// Whether a person can see it.
    pub(super) seen_by_people: bool,
}

/// Types every field, in the order in which they came.
pub(super) fn kinds(
    judge: &Judge,
    sighting: &Sighting,
    drafts: &[Draft<'_>],
) -> (Vec<Kind>, Vec<Purpose>) {
    let votes: Vec<Votes> = drafts.iter().map(|draft| judge.votes(sighting, draft)).collect();
    let mut kinds: Vec<Kind> =
        drafts.iter().zip(&votes).map(|(draft, votes)| votes.pick(draft)).collect();
    let purposes = purpose::all(sighting, drafts, &votes, &kinds);
    parts::settle(sighting, drafts, &mut kinds);
    let aims: BTreeMap<Option<usize>, Option<Aim>> =
        purposes.iter().map(|purpose| (purpose.form, purpose.aim)).collect();
    context::settle(drafts, &votes, &aims, &mut kinds);
    (kinds, purposes)
}

/// Returns the purpose of the form that matters, as a word.
pub(super) fn word(aim: Option<Aim>) -> String {
    let word = match aim {
        None => "other",
        Some(Aim::LogIn) => "log-in",
        Some(Aim::SignUp) => "sign-up",
        Some(Aim::Change) => "change-password",
        Some(Aim::Recover) => "recover",
        Some(Aim::Checkout) => "checkout",
        Some(Aim::Newsletter) => "newsletter",
        Some(Aim::Contact) => "contact",
        Some(Aim::Search) => "search",
        Some(Aim::Code) => "code",
    };
    word.to_string()
}
