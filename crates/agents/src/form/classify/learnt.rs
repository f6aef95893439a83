//! The learnt layer: what the rules leave in doubt is scored by a small linear model, and
//! the best sequence over the form's fields is taken.
//!
//! Certain results of the rules stay: see `is_settled`. Scores are sums of small integers, so
//! every machine gets the same result. `xtask/fields` trains the model.

mod model;
mod traits;

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
    vec::Vec,
};
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{
    Aim, options,
    votes::{TextVotes, WordSource, can_be},
};
use crate::form::{
    field::FieldShape,
    kind::{FieldKind, SensitiveKind},
};
use model::Scores;
pub use model::{FieldModel, MOST_KINDS, SHARES};
pub(super) use traits::FormContext;
use traits::Sink;
pub use traits::TraitOrigin;

/// The model that ships.
pub const WEIGHTS: &[u8] = include_bytes!("learnt/weights.bin");

/// Kinds that are listed as the best.
const LISTED: usize = 3;
/// Words that are listed for a kind.
const EVIDENCE: usize = 5;
/// A phrase of this strength leaves little doubt.
const PLAIN: i32 = 8;
/// What a kind scores that a field of its shape cannot ask for.
const NEVER: i32 = -1_000_000;

/// How a field came to its kind.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct KindDecision {
    /// The field's kind.
    pub kind: FieldKind,
    /// How sure that is, in hundredths.
    pub confidence: u8,
    /// Whether a rule settled it; else the model did.
    pub by_rule: bool,
    /// The kind that the rules alone give.
    pub rule: FieldKind,
    /// The kinds that fit best, the best first.
    pub best: Vec<KindCandidate>,
}

impl KindDecision {
    /// Returns what the rules alone say.
    pub const fn by_rule(kind: FieldKind) -> Self {
        Self { kind, confidence: 100, by_rule: true, rule: kind, best: Vec::new() }
    }
}

/// A kind that a field may have.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct KindCandidate {
    /// The kind.
    pub kind: FieldKind,
    /// How much speaks for it, in hundredths.
    pub confidence: u8,
    /// The words that speak for it most.
    pub words: Vec<String>,
}

/// A field, as a model is trained on it.
#[derive(Clone, Debug, Default)]
pub struct Example {
    /// The field's `data-fid`.
    pub mark: String,
    /// Its traits.
    pub traits: Vec<(u32, TraitOrigin)>,
    /// The kind that the rules give.
    pub rule: FieldKind,
    /// Whether the rules have the last word.
    pub settled: bool,
    /// Whether people see it.
    pub visible: bool,
    /// Fields of one form have the same.
    pub form: Option<usize>,
}

/// Returns the kind that stands for kinds which differ in their writing alone.
#[expect(clippy::wildcard_enum_match_arm, reason = "most kinds stand for themselves")]
pub const fn canonical(kind: FieldKind) -> FieldKind {
    match kind {
        FieldKind::TelNational => FieldKind::Tel,
        FieldKind::AddressLine1 => FieldKind::StreetAddress,
        FieldKind::CountryName => FieldKind::Country,
        other => other,
    }
}

/// Returns whether the rules have the last word on a field: it is not one that words decide,
/// it is a one-time code, the name of an account, a part of a date or of a telephone number,
/// or its attribute, its list or a plain label says what it asks for.
fn is_settled(scene: &FormContext<'_, '_>, at: usize) -> bool {
    let (Some(draft), Some(votes)) = (scene.drafts.get(at), scene.votes.get(at)) else {
        return true;
    };
    let kind = scene.kinds.get(at).copied().unwrap_or_default();
    let typed = matches!(
        draft.shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Number
            | FieldShape::Combobox
            | FieldShape::Select
            | FieldShape::Listbox
            | FieldShape::Password
    );
    let aim = scene.aims.get(&draft.form).copied().flatten();
    let account = kind == FieldKind::Username && aim == Some(Aim::LogIn);
    let bare = draft.shape == FieldShape::Password && kind == FieldKind::None;
    // A label that is a phrase for one kind and nothing more, where nothing says otherwise. An
    // identifier is none where there is something to read that says nothing of the kind.
    let plain = |heard: &TextVotes| {
        heard.whole && heard.strength >= PLAIN && (heard.voice == WordSource::Prose || !votes.read)
    };
    let plain = kind != FieldKind::None
        && votes.heard.iter().any(plain)
        && votes.heard.iter().all(|heard| heard.kind == kind);
    !draft.seen_by_people
        || plain
        || !typed
        || bare
        || account
        || draft.seen.masked
        || kind.class() == Some(SensitiveKind::OneTimeCode)
        || matches!(
            kind,
            FieldKind::TelAreaCode
                | FieldKind::TelLocal
                | FieldKind::Bday
                | FieldKind::BdayDay
                | FieldKind::BdayMonth
                | FieldKind::BdayYear
                | FieldKind::CcExpMonth
                | FieldKind::CcExpYear
        )
        || votes.told == Some(kind)
        || options::kind(&draft.options) == Some(kind)
        || (options::part(&draft.options).is_some() && kind != FieldKind::None)
}

struct Numbers(Vec<(u32, TraitOrigin)>);

impl Sink for Numbers {
    fn take(&mut self, number: u32, origin: TraitOrigin, _: &str, _: &str) {
        self.0.push((number, origin));
    }
}

struct ScoreSum<'a, 'm> {
    model: &'a FieldModel<'m>,
    scores: Scores,
}

impl Sink for ScoreSum<'_, '_> {
    fn take(&mut self, number: u32, _: TraitOrigin, _: &str, _: &str) {
        self.model.add(&mut self.scores, number);
    }
}

/// Collects the words that speak for each of a few kinds.
struct Evidence<'a, 'm> {
    model: &'a FieldModel<'m>,
    places: Vec<usize>,
    words: Vec<Vec<(i32, String)>>,
}

impl Sink for Evidence<'_, '_> {
    fn take(&mut self, number: u32, origin: TraitOrigin, space: &str, text: &str) {
        let pieces = space.ends_with("piece") || text.is_empty();
        if matches!(origin, TraitOrigin::Make) || pieces {
            return;
        }
        let Some(weights) = self.model.weights(number) else { return };
        for (place, words) in self.places.iter().zip(&mut self.words) {
            let weight = weights.get(*place).map_or(0, |it| i32::from(it.cast_signed()));
            if weight <= 0 {
                continue;
            }
            let word = match origin {
                TraitOrigin::Word => text.to_string(),
                TraitOrigin::Beside | TraitOrigin::Make | TraitOrigin::Rule => {
                    alloc::format!("{space}: {text}")
                }
            };
            match words.iter_mut().find(|(_, other)| *other == word) {
                Some((sum, _)) => *sum = sum.saturating_add(weight),
                None => words.push((weight, word)),
            }
        }
    }
}

/// Returns every field as a model is trained on it.
pub(super) fn examples(scene: &FormContext<'_, '_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for (at, draft) in scene.drafts.iter().enumerate() {
        let mut numbers = Numbers(Vec::new());
        scene.traits(at, &mut numbers);
        numbers.0.sort_by_key(|(number, _)| *number);
        numbers.0.dedup_by_key(|(number, _)| *number);
        let rule = scene.kinds.get(at).copied().unwrap_or_default();
        examples.push(Example {
            mark: draft.seen.attribute("data-fid").to_string(),
            traits: numbers.0,
            rule,
            settled: is_settled(scene, at),
            visible: draft.seen_by_people,
            form: draft.form,
        });
    }
    examples
}

/// Types the fields that the rules leave in doubt, and says of each how it came to its kind.
pub(super) fn settle(scene: &FormContext<'_, '_>, model: &FieldModel<'_>) -> Vec<KindDecision> {
    let mut typings: Vec<KindDecision> =
        (0..scene.kinds.len()).map(|at| KindDecision::by_rule(rule_kind(scene, at))).collect();
    let mut forms: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, draft) in scene.drafts.iter().enumerate() {
        if draft.seen_by_people {
            forms.entry(draft.form).or_default().push(at);
        }
    }
    for fields in forms.values() {
        let scores: Vec<Scores> = fields.iter().map(|at| field_scores(scene, model, *at)).collect();
        let path = best_path(model, &scores);
        for (nth, at) in fields.iter().enumerate() {
            if keeps_rule(scene, model, *at) {
                continue;
            }
            let typing = typing(scene, model, *at, nth, &scores, &path);
            if let Some(place) = typings.get_mut(*at) {
                *place = typing;
            }
        }
    }
    typings
}

/// Returns the kind that the rules give. An unnamed date has no kind, whatever its
/// identifiers say: there the model only guesses, at a card's expiry, which has no day, or a birthday.
fn rule_kind(scene: &FormContext<'_, '_>, at: usize) -> FieldKind {
    let nobodys = scene.votes.get(at).is_some_and(|votes| votes.nobodys_date);
    scene.kinds.get(at).copied().filter(|_| !nobodys).unwrap_or_default()
}

/// Returns whether a field keeps the kind that the rules give: they have the last word, or the
/// model has seen too little of that kind to know it.
fn keeps_rule(scene: &FormContext<'_, '_>, model: &FieldModel<'_>, at: usize) -> bool {
    is_settled(scene, at)
        || model.place(canonical(rule_kind(scene, at))).is_none()
        || scene.votes.get(at).is_some_and(|votes| votes.nobodys_date)
}

/// Returns how much speaks for each kind of a field by itself.
fn field_scores(scene: &FormContext<'_, '_>, model: &FieldModel<'_>, at: usize) -> Scores {
    let mut scores: Scores = [NEVER; MOST_KINDS];
    let Some(draft) = scene.drafts.get(at) else { return scores };
    let rule = rule_kind(scene, at);
    if keeps_rule(scene, model, at) {
        let place = model.place(canonical(rule)).or_else(|| model.place(FieldKind::None));
        if let Some(score) = place.and_then(|place| scores.get_mut(place)) {
            *score = 0;
        }
        return scores;
    }
    let mut summed = ScoreSum { model, scores: [0; MOST_KINDS] };
    scene.traits(at, &mut summed);
    for (place, score) in scores.iter_mut().enumerate().take(model.count()) {
        let kind = model.kind(place);
        // What the rules take for a secret may be another of its class, and nothing else.
        let safe = rule.class().is_none() || kind.class() == rule.class();
        if safe && can_be(draft, kind) {
            *score = summed.scores.get(place).copied().unwrap_or_default();
        }
    }
    scores
}

/// Returns the best sequence of kinds over the fields of a form.
fn best_path(model: &FieldModel<'_>, scores: &[Scores]) -> Vec<usize> {
    let count = model.count();
    let mut back: Vec<[u8; MOST_KINDS]> = Vec::new();
    let mut best: Option<Scores> = None;
    for own in scores {
        let mut next: Scores = [NEVER; MOST_KINDS];
        let mut from = [0_u8; MOST_KINDS];
        for (at, score) in own.iter().enumerate().take(count) {
            if *score <= NEVER {
                continue;
            }
            let (before, gain) = match &best {
                None => (0, model.follow(None, at)),
                Some(best) => {
                    let ways = best.iter().take(count).enumerate().filter(|(_, it)| **it > NEVER);
                    let ways =
                        ways.map(|(it, sum)| (it, sum.saturating_add(model.follow(Some(it), at))));
                    // Of equals the first counts.
                    ways.min_by_key(|(_, sum)| Reverse(*sum)).unwrap_or((0, NEVER))
                }
            };
            if let (Some(next), Some(from)) = (next.get_mut(at), from.get_mut(at)) {
                *next = gain.saturating_add(*score);
                *from = u8::try_from(before).unwrap_or_default();
            }
        }
        back.push(from);
        best = Some(next);
    }
    let Some(last) = best else { return Vec::new() };
    let ends = last.iter().take(count).enumerate();
    let mut at = ends.min_by_key(|(_, sum)| Reverse(**sum)).map_or(0, |(at, _)| at);
    let mut path = Vec::with_capacity(scores.len());
    for from in back.iter().rev() {
        path.push(at);
        at = from.get(at).copied().map_or(0, usize::from);
    }
    path.reverse();
    path
}

/// Explains how a field in doubt gets its kind, with the fields beside it as they are on the
/// best path.
fn typing(
    scene: &FormContext<'_, '_>,
    model: &FieldModel<'_>,
    at: usize,
    nth: usize,
    scores: &[Scores],
    path: &[usize],
) -> KindDecision {
    let mut all: Scores = scores.get(nth).copied().unwrap_or([NEVER; MOST_KINDS]);
    let before = nth.checked_sub(1).and_then(|before| path.get(before)).copied();
    let after = path.get(nth.saturating_add(1)).copied();
    for (place, score) in all.iter_mut().enumerate().take(model.count()) {
        if *score > NEVER {
            let then = after.map_or(0, |after| model.follow(Some(place), after));
            *score = score.saturating_add(model.follow(before, place)).saturating_add(then);
        }
    }
    let shares = model.shares(&all);
    let mut order: Vec<usize> = (0..model.count()).collect();
    order.sort_by_key(|place| Reverse(shares.get(*place).copied().unwrap_or_default()));
    order.truncate(LISTED);
    let share = |place: usize| {
        let share = shares.get(place).copied().unwrap_or_default();
        u8::try_from(share.saturating_add(50).saturating_div(100)).unwrap_or(100)
    };
    let words = order.iter().map(|_| Vec::new()).collect();
    let mut evidence = Evidence { model, places: order.clone(), words };
    scene.traits(at, &mut evidence);
    let best: Vec<KindCandidate> = order
        .iter()
        .zip(evidence.words)
        .map(|(place, mut words)| {
            words.sort_by_key(|(weight, _)| Reverse(*weight));
            let words = words.into_iter().take(EVIDENCE).map(|(_, word)| word).collect();
            KindCandidate { kind: model.kind(*place), confidence: share(*place), words }
        })
        .collect();
    let rule = scene.kinds.get(at).copied().unwrap_or_default();
    let first = best.first().cloned().unwrap_or_default();
    let agreed = canonical(rule) == first.kind;
    let sure = first.kind == FieldKind::None || first.confidence >= model.margin;
    // Of kinds that differ in their writing alone, the rules know which it is.
    let meant = if agreed { rule } else { first.kind };
    let kind = if sure { meant } else { FieldKind::None };
    KindDecision { kind, confidence: first.confidence, by_rule: false, rule, best }
}
