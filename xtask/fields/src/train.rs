//! A multinomial logistic regression over the traits of fields, made into integers.
//!
//! The same pages and the same seed give the same bytes on every machine: nothing here
//! depends on time, on the order of a hash table, on threads, or on a system's mathematics.

use std::collections::{BTreeMap, BTreeSet};

use pointsman_agents::form::{
    FieldKind, PageReader,
    learnt::{Example, FieldModel, MOST_KINDS, SHARES, TraitOrigin, canonical},
};

use crate::{
    data::{Label, Page},
    math::{draw, exp, ln},
};

/// What training depends on, beside the data.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Passes over the data.
    pub epochs: usize,
    /// How far a step goes.
    pub rate: f64,
    /// How strongly weights are held near 0.
    pub decay: f64,
    /// How often, in hundredths, a field is learnt without what the rules say of it.
    pub dropout: u64,
    /// How often, in hundredths, any one trait of a field is left out.
    pub forget: u64,
    /// A trait must occur on so many sites to count.
    pub sites: usize,
    /// Traits at most.
    pub traits: usize,
    /// How much the kind of the field before counts, in hundredths.
    pub follow: u32,
    /// By how much the scores are divided before they are made into shares, in hundredths.
    pub heat: u32,
    /// What the draws begin with.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            epochs: 14,
            rate: 0.1,
            decay: 0.0003,
            dropout: 30,
            forget: 50,
            sites: 2,
            traits: 17_000,
            follow: 100,
            heat: 250,
            seed: 19,
        }
    }
}

/// Units of a score for one natural logarithm.
const UNITS: f64 = 20.0;
/// A kind with fewer labelled fields is not learnt, but left to the rules.
const FEWEST: usize = 12;

/// A page with its fields as they are learnt from.
#[derive(Debug)]
pub struct TrainingPage<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its fields, labelled or not.
    pub fields: Vec<Example>,
}

/// Prepares pages once for any number of trainings.
pub fn lessons(pages: &[Page]) -> Vec<TrainingPage<'_>> {
    let reader = PageReader::default();
    pages
        .iter()
        .map(|page| TrainingPage { page, fields: reader.examples(&page.sighting) })
        .collect()
}

impl TrainingPage<'_> {
    /// Returns the label of one of its fields.
    pub(crate) fn label(&self, field: &Example) -> Option<&Label> {
        self.page.labels.iter().find(|label| label.mark == field.mark)
    }
}

/// Returns the kinds that a field is to be learnt as. Where the label leaves a choice and the
/// rules have chosen among it, theirs counts.
fn wanted(label: &Label, field: &Example) -> Vec<FieldKind> {
    let mut kinds: Vec<FieldKind> = label.kinds.iter().map(|kind| canonical(*kind)).collect();
    kinds.sort();
    kinds.dedup();
    let rule = canonical(field.rule);
    if kinds.contains(&rule) { vec![rule] } else { kinds }
}

/// A labelled field, by places in the tables.
struct Row {
    traits: Vec<(usize, bool)>,
    wanted: Vec<usize>,
}

/// The current weights.
#[derive(Debug)]
pub struct TrainedModel {
    kinds: Vec<FieldKind>,
    numbers: Vec<u32>,
    weights: Vec<f64>,
    follows: Vec<f64>,
}

/// Learns from pages.
pub fn learn(lessons: &[&TrainingPage<'_>], settings: &Settings) -> TrainedModel {
    let kinds = kinds(lessons);
    let numbers = numbers(lessons, settings);
    let rows = rows(lessons, &kinds, &numbers);
    let weights = regress(&rows, kinds.len(), numbers.len(), settings);
    let follows = follows(lessons, &kinds);
    TrainedModel { kinds, numbers, weights, follows }
}

fn kinds(lessons: &[&TrainingPage<'_>]) -> Vec<FieldKind> {
    let mut counts: BTreeMap<FieldKind, usize> = BTreeMap::new();
    for lesson in lessons {
        for field in &lesson.fields {
            for kind in lesson.label(field).into_iter().flat_map(|label| wanted(label, field)) {
                *counts.entry(kind).or_default() += 1;
            }
        }
    }
    let enough = |(_, count): &(FieldKind, usize)| *count >= FEWEST;
    counts.into_iter().filter(enough).map(|(kind, _)| kind).take(MOST_KINDS).collect()
}

/// Returns the numbers of the traits that count, sorted: those on most sites.
fn numbers(lessons: &[&TrainingPage<'_>], settings: &Settings) -> Vec<u32> {
    let mut sites: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for lesson in lessons {
        for field in lesson.fields.iter().filter(|field| lesson.label(field).is_some()) {
            for (number, _) in &field.traits {
                sites.entry(*number).or_default().insert(lesson.page.site);
            }
        }
    }
    let mut known: Vec<(usize, u32)> =
        sites.into_iter().map(|(number, sites)| (sites.len(), number)).collect();
    known.retain(|(count, _)| *count >= settings.sites);
    known.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    known.truncate(settings.traits);
    let mut numbers: Vec<u32> = known.into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    numbers
}

fn rows(lessons: &[&TrainingPage<'_>], kinds: &[FieldKind], numbers: &[u32]) -> Vec<Row> {
    let mut rows = Vec::new();
    for lesson in lessons {
        for field in &lesson.fields {
            let Some(label) = lesson.label(field) else { continue };
            let place = |kind: FieldKind| kinds.iter().position(|it| *it == kind);
            let wanted: Vec<usize> = wanted(label, field).into_iter().filter_map(place).collect();
            let traits = field.traits.iter().filter_map(|(number, origin)| {
                let at = numbers.binary_search(number).ok()?;
                Some((at, *origin == TraitOrigin::Rule))
            });
            if !wanted.is_empty() {
                rows.push(Row { traits: traits.collect(), wanted });
            }
        }
    }
    rows
}

/// Descends the gradient; returns the mean of the weights over the second half of the passes.
fn regress(rows: &[Row], kinds: usize, traits: usize, settings: &Settings) -> Vec<f64> {
    let mut weights = vec![0.0_f64; traits * kinds];
    let mut squares = vec![1e-3_f64; traits * kinds];
    let mut mean = vec![0.0_f64; traits * kinds];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut shares = vec![0.0_f64; kinds];
    let half = settings.epochs / 2;
    for epoch in 0..settings.epochs {
        order.sort_by_key(|at| (draw(settings.seed, epoch, *at), *at));
        for at in &order {
            let row = &rows[*at];
            let dropped = draw(!settings.seed, epoch, *at) % 100 < settings.dropout;
            let drawn = draw(settings.seed, epoch, *at);
            let kept: Vec<usize> = row
                .traits
                .iter()
                .filter(|(_, rule)| !(dropped && *rule))
                .map(|(place, _)| *place)
                .filter(|place| draw(drawn, *place, 1) % 100 >= settings.forget)
                .collect();
            shares.fill(0.0);
            for place in &kept {
                let own = &weights[place * kinds..(place + 1) * kinds];
                for (share, weight) in shares.iter_mut().zip(own) {
                    *share += weight;
                }
            }
            gradient(&mut shares, &row.wanted);
            for place in &kept {
                let range = place * kinds..(place + 1) * kinds;
                let (own, squares) = (&mut weights[range.clone()], &mut squares[range]);
                for ((weight, square), share) in own.iter_mut().zip(squares).zip(&shares) {
                    let slope = share + settings.decay * *weight;
                    *square += slope * slope;
                    *weight -= settings.rate * slope / square.sqrt();
                }
            }
        }
        if epoch >= half {
            for (mean, weight) in mean.iter_mut().zip(&weights) {
                *mean += weight;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few passes")]
    let passes = (settings.epochs - half) as f64;
    for mean in &mut mean {
        *mean /= passes;
    }
    mean
}

/// Turns scores into the gradient of the loss: actual minus expected.
fn gradient(scores: &mut [f64], wanted: &[usize]) {
    softmax(scores);
    let right: f64 = wanted.iter().map(|at| scores[*at]).sum::<f64>().max(1e-12);
    for at in wanted {
        scores[*at] -= scores[*at] / right;
    }
}

fn softmax(scores: &mut [f64]) {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = exp(*score - most);
        sum += *score;
    }
    for score in scores {
        *score /= sum;
    }
}

/// Returns how much likelier each kind is after each other than by itself, as a logarithm.
fn follows(lessons: &[&TrainingPage<'_>], kinds: &[FieldKind]) -> Vec<f64> {
    const DOUBT: f64 = 10.0;
    let count = kinds.len();
    let mut pairs = vec![0.0_f64; (count + 1) * count];
    let mut single = vec![1.0_f64; count];
    for lesson in lessons {
        let mut before: BTreeMap<Option<usize>, Option<usize>> = BTreeMap::new();
        for field in lesson.fields.iter().filter(|field| field.visible) {
            let label = lesson.label(field).map(|label| wanted(label, field));
            let kind = label.and_then(|kinds| kinds.first().copied());
            let kind = kind.or_else(|| field.settled.then_some(canonical(field.rule)));
            let at = kind.and_then(|kind| kinds.iter().position(|it| *it == kind));
            let row = before.insert(field.form, at);
            let Some(at) = at else { continue };
            single[at] += 1.0;
            // The first of a form follows nothing; what follows an unknown one is not counted.
            match row {
                None => pairs[count * count + at] += 1.0,
                Some(Some(row)) => pairs[row * count + at] += 1.0,
                Some(None) => {}
            }
        }
    }
    let all: f64 = single.iter().sum();
    for row in pairs.chunks_exact_mut(count.max(1)) {
        let sum: f64 = row.iter().sum();
        for (pair, single) in row.iter_mut().zip(&single) {
            let alone = single / all;
            *pair = ln((*pair + DOUBT * alone) / (sum + DOUBT) / alone);
        }
    }
    pairs
}

impl TrainedModel {
    /// Returns the bytes of the model, with the confidence below which a field is `none`.
    pub fn bytes(&self, settings: &Settings, margin: u8) -> Vec<u8> {
        let count = self.kinds.len();
        let follow = f64::from(settings.follow) / 100.0;
        let follows: Vec<i8> = self.follows.iter().map(|it| rounded(*it * follow)).collect();
        let heat = f64::from(settings.heat) / 100.0;
        let shares: Vec<u16> = (0..SHARES)
            .map(|behind| {
                #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
                let behind = behind as f64;
                whole(65_535.0 * exp(-behind / UNITS / heat))
            })
            .collect();
        let mut traits = Vec::new();
        for (number, weights) in self.numbers.iter().zip(self.weights.chunks_exact(count.max(1))) {
            let weights: Vec<i8> = weights.iter().map(|weight| rounded(*weight)).collect();
            if weights.iter().any(|weight| *weight != 0) {
                traits.push((*number, weights));
            }
        }
        FieldModel::bytes(&self.kinds, margin, &follows, &shares, &traits)
    }

    /// Returns how unlikely the label of a field is to the model, as a logarithm; nothing if
    /// it knows none of the label's kinds.
    pub(crate) fn surprise(&self, label: &Label, field: &Example) -> Option<(f64, FieldKind)> {
        let count = self.kinds.len();
        let mut scores = vec![0.0; count];
        for (number, _) in &field.traits {
            let Ok(at) = self.numbers.binary_search(number) else { continue };
            let own = &self.weights[at * count..(at + 1) * count];
            for (score, weight) in scores.iter_mut().zip(own) {
                *score += weight;
            }
        }
        softmax(&mut scores);
        let mut best = 0;
        for at in 0..count {
            if scores[at] > scores[best] {
                best = at;
            }
        }
        let permitted: Vec<FieldKind> = label.kinds.iter().map(|kind| canonical(*kind)).collect();
        let known = self.kinds.iter().zip(&scores).filter(|(kind, _)| permitted.contains(kind));
        let shares: Vec<f64> = known.map(|(_, share)| *share).collect();
        let share: f64 = shares.iter().sum();
        (!shares.is_empty()).then(|| (-ln(share.max(1e-12)), self.kinds[best]))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
fn rounded(logarithm: f64) -> i8 {
    let units = logarithm * UNITS;
    let nearest = if units < 0.0 { (units - 0.5).ceil() } else { (units + 0.5).floor() };
    nearest.clamp(-127.0, 127.0) as i8
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and 65,535"
)]
fn whole(share: f64) -> u16 {
    (share + 0.5).floor().clamp(0.0, 65_535.0) as u16
}
