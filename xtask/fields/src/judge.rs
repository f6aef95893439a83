//! How many fields get a kind that their label permits, and how many would be filled with
//! the wrong thing: by the model, by the rules alone, and by a trivial classifier.

use std::sync::LazyLock;

use pointsman_agents::form::{Field, FieldKind, Fill, PageReader, PageReading, learnt::FieldModel};

use crate::{
    data::{Label, Page},
    train::{Settings, TrainingPage, learn},
    trivial,
};

/// Margins on either side that count as near.
const NEAR: usize = 10;
/// Made once for all pages.
static READER: LazyLock<PageReader> = LazyLock::new(PageReader::default);

/// What one classifier made of a field.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// The kind that it gave; nothing if the field was not found.
    pub kind: Option<FieldKind>,
    /// Whether the label permits that.
    pub right: bool,
    /// Whether the field would be filled with the wrong thing.
    pub wrongly_filled: bool,
}

/// What became of a labelled field.
#[derive(Clone, Debug)]
pub struct Verdict<'a> {
    /// Its page.
    pub page: &'a Page,
    /// Its label.
    pub label: &'a Label,
    /// By the model and the rules.
    pub model: Outcome,
    /// By the rules alone.
    pub rules: Outcome,
    /// By a classifier of twenty lines.
    pub trivial: Outcome,
    /// How sure the model is, in hundredths.
    pub confidence: u8,
}

/// What became of many pages.
#[derive(Debug, Default)]
pub struct Judgement<'a> {
    /// Their visible fields.
    pub fields: Vec<Verdict<'a>>,
    /// The pages that have a control which sends, and whether it was found.
    pub submits: Vec<(&'a Page, bool)>,
}

/// Returns the fold that a page is in; pages of one site are in the same.
pub fn fold(page: &Page, folds: usize) -> usize {
    let mixed = page.site.wrapping_mul(2_654_435_761) >> 9;
    mixed % folds.max(1)
}

/// Judges every page with a model that was trained and calibrated without its site.
pub fn by_folds<'a>(
    lessons: &[&TrainingPage<'a>],
    folds: usize,
    settings: &Settings,
) -> Judgement<'a> {
    each_fold(lessons, folds, |seen| {
        learn(seen, settings).bytes(settings, calibrate(seen, folds, settings))
    })
}

/// Returns the margin that is worth most on pages that were judged by models without their
/// sites: a field that is wrongly filled costs as much as a right one gains, and one that is
/// left to the person costs nothing. A few fields decide between neighbours, so each margin is
/// taken with those near it.
pub fn calibrate(lessons: &[&TrainingPage<'_>], folds: usize, settings: &Settings) -> u8 {
    let judged = each_fold(lessons, folds, |seen| learn(seen, settings).bytes(settings, 0));
    let worth = |margin: u8| -> i64 {
        let at = judged.fields.iter().map(|verdict| verdict.at(margin));
        at.map(|(right, wrong)| i64::from(right) - i64::from(wrong)).sum()
    };
    let worths: Vec<i64> = (0..=100).map(worth).collect();
    let smooth = worths.windows(2 * NEAR + 1).map(|near| near.iter().sum::<i64>());
    let best = smooth.enumerate().max_by_key(|(_, sum)| *sum).map_or(0, |(from, _)| from);
    u8::try_from(best + NEAR).unwrap_or(100)
}

/// Judges each fold with the model that is made of the other folds.
fn each_fold<'a>(
    lessons: &[&TrainingPage<'a>],
    folds: usize,
    model: impl Fn(&[&TrainingPage<'a>]) -> Vec<u8>,
) -> Judgement<'a> {
    let mut judged = Judgement::default();
    for nth in 0..folds {
        let (held, seen): (Vec<_>, Vec<_>) =
            lessons.iter().copied().partition(|lesson| fold(lesson.page, folds) == nth);
        if held.is_empty() {
            continue;
        }
        let bytes = model(&seen);
        let model = FieldModel::new(&bytes);
        for lesson in held {
            judged.page(lesson.page, model.as_ref());
        }
    }
    judged
}

impl Verdict<'_> {
    /// Returns whether the field would be right, and whether it would be wrongly filled, if
    /// less confidence than this made it `none`.
    fn at(&self, margin: u8) -> (bool, bool) {
        let filled = self.model.kind.is_some_and(|kind| kind != FieldKind::None);
        if filled && self.confidence < margin {
            (self.label.kinds.contains(&FieldKind::None), false)
        } else {
            (self.model.right, self.model.wrongly_filled)
        }
    }
}

impl<'a> Judgement<'a> {
    /// Judges the visible fields of a page.
    pub fn page(&mut self, page: &'a Page, model: Option<&FieldModel<'_>>) {
        let learnt = READER.read_with(&page.sighting, model);
        let by_rules = READER.read_with(&page.sighting, None);
        for label in page.labels.iter().filter(|label| label.visible) {
            let field = find(&learnt, label);
            let typing = field.and_then(|field| learnt.typings.get(&field.id));
            let rules = find(&by_rules, label);
            let mut controls = page.sighting.controls.iter();
            let control = controls.find(|it| it.attribute("data-fid") == label.mark);
            let kind = control.map(trivial::kind);
            let right = kind.is_some_and(|kind| permits(label, kind));
            let filled = kind.is_some_and(|kind| kind != FieldKind::None && kind.class().is_none());
            self.fields.push(Verdict {
                page,
                label,
                model: outcome(label, field),
                rules: outcome(label, rules),
                trivial: Outcome { kind, right, wrongly_filled: filled && !right },
                confidence: typing.map_or(100, |typing| typing.confidence),
            });
        }
        if !page.submits.is_empty() {
            let sent = learnt.submit.as_ref().and_then(|it| it.attributes.get("data-fid"));
            let found = sent.is_some_and(|mark| page.submits.contains(mark));
            self.submits.push((page, found));
        }
    }
}

fn find<'r>(reading: &'r PageReading, label: &Label) -> Option<&'r Field> {
    reading.all().find(|field| field.attributes.get("data-fid") == Some(&label.mark))
}

fn outcome(label: &Label, field: Option<&Field>) -> Outcome {
    let Some(field) = field else { return Outcome::default() };
    // What must not be filled may also be of a kind that never is.
    let right = label.kinds.contains(&field.kind)
        || (label.kinds.contains(&FieldKind::None) && field.fill != Fill::Yes);
    let filled = field.kind != FieldKind::None && field.fill == Fill::Yes;
    Outcome { kind: Some(field.kind), right, wrongly_filled: filled && !right }
}

fn permits(label: &Label, kind: FieldKind) -> bool {
    let none = label.kinds.contains(&FieldKind::None) && kind.class().is_some();
    label.kinds.contains(&kind) || none
}
