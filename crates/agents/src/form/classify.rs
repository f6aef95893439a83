//! What each field asks for, from all that its page says about it.
//!
//! Every text around a field votes for kinds, by the phrases of `words` that it holds and
//! by how close the text is to the field. What the field is built like, the lists it
//! offers and the fields beside it settle the rest. Nothing here knows a site.

mod autocomplete;
mod context;
pub mod learnt;
mod options;
mod parts;
mod phrase;
mod purpose;
mod secrets;
#[cfg(test)]
mod tests;
mod votes;
pub(in crate::form) mod words;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

pub(super) use phrase::{FoldedText, Lexicon, fold};
pub(super) use purpose::{Aim, Purpose};
pub(super) use secrets::secrets;

use super::{
    field::FieldShape,
    kind::FieldKind,
    snapshot::{Control, PageSnapshot},
};
use learnt::{Example, FieldModel, FormContext, KindDecision};
pub(super) use votes::Judge;
use votes::Votes;

/// A field before it has a kind: one control, or several that are one.
#[derive(Clone, Debug)]
pub(super) struct FieldDraft<'a> {
    /// The control that stands for the field.
    pub(super) seen: &'a Control,
    /// Its shape.
    pub(super) shape: FieldShape,
    /// Its name.
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

/// What was found out about the fields of a page.
pub(super) struct Classification {
    /// What each field asks for and why, in the order in which they came.
    pub(super) typings: Vec<KindDecision>,
    /// What each form is for.
    pub(super) purposes: Vec<Purpose>,
}

/// What the rules find out of the fields of a page.
struct RuleResult {
    votes: Vec<Votes>,
    kinds: Vec<FieldKind>,
    purposes: Vec<Purpose>,
    aims: BTreeMap<Option<usize>, Option<Aim>>,
}

/// Types every field, with a model or by the rules alone.
pub(super) fn kinds(
    judge: &Judge,
    sighting: &PageSnapshot,
    drafts: &[FieldDraft<'_>],
    model: Option<&FieldModel<'_>>,
) -> Classification {
    let ruled = rule(judge, sighting, drafts);
    let typings = match model {
        Some(model) => learnt::settle(&scene(sighting, drafts, &ruled), model),
        None => ruled.kinds.iter().map(|kind| KindDecision::by_rule(*kind)).collect(),
    };
    Classification { typings, purposes: ruled.purposes }
}

/// Returns every field as a model is trained on it.
pub(super) fn examples(
    judge: &Judge,
    sighting: &PageSnapshot,
    drafts: &[FieldDraft<'_>],
) -> Vec<Example> {
    let ruled = rule(judge, sighting, drafts);
    learnt::examples(&scene(sighting, drafts, &ruled))
}

fn scene<'a, 'b>(
    sighting: &'a PageSnapshot,
    drafts: &'a [FieldDraft<'b>],
    ruled: &'a RuleResult,
) -> FormContext<'a, 'b> {
    FormContext { sighting, drafts, votes: &ruled.votes, kinds: &ruled.kinds, aims: &ruled.aims }
}

/// Types every field by the rules.
fn rule(judge: &Judge, sighting: &PageSnapshot, drafts: &[FieldDraft<'_>]) -> RuleResult {
    let mut votes: Vec<Votes> = drafts.iter().map(|draft| judge.votes(sighting, draft)).collect();
    let mut kinds: Vec<FieldKind> =
        drafts.iter().zip(&votes).map(|(draft, votes)| votes.pick(draft)).collect();
    let purposes = purpose::all(&judge.aims, sighting, drafts, &votes, &kinds);
    parts::settle(&judge.dates, sighting, drafts, &mut votes, &mut kinds);
    let aims: BTreeMap<Option<usize>, Option<Aim>> =
        purposes.iter().map(|purpose| (purpose.form, purpose.aim)).collect();
    context::settle(drafts, &votes, &aims, &mut kinds);
    RuleResult { votes, kinds, purposes, aims }
}
