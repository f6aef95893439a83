//! Which part of a page is the form.

use alloc::{collections::BTreeSet, vec::Vec};
use core::cmp::Ordering;

use super::{Lexicons, draft::LogicalField, shape, visible};
use crate::form::snapshot::{Control, ControlKind, EnclosingElement, PageSnapshot, PressEffect};

/// How many elements up from a field its form may be.
const LEVELS: usize = 8;
/// A part of a page with this many fields is a form, whatever it is made of.
const FIELDS: usize = 3;

/// The part of a page that is the form; `None` is the page.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Container {
    pub(super) place: Option<usize>,
}

impl Container {
    /// Returns whether something at this place is part of the form.
    pub(super) fn holds(self, sighting: &PageSnapshot, place: Option<usize>) -> bool {
        self.place.is_none_or(|outer| sighting.is_within(place, outer))
    }

    /// Returns the place that stands for the form.
    pub(super) fn form(self, sighting: &PageSnapshot) -> Option<usize> {
        let form = sighting.around(self.place).find(|(_, place)| place.is_form());
        form.map(|(at, _)| at).or(self.place)
    }
}

/// What containers are ranked by, the first difference deciding.
#[derive(Clone, Copy, Debug)]
struct Rank {
    place: usize,
    aside: bool,
    fields: usize,
    text_like: usize,
    submits: bool,
    form: bool,
    area: f64,
    order: u32,
}

impl Rank {
    fn order(&self, other: &Self) -> Ordering {
        let by = (other.aside.cmp(&self.aside))
            .then(self.fields.cmp(&other.fields))
            .then(self.text_like.cmp(&other.text_like))
            .then(self.submits.cmp(&other.submits))
            .then(self.form.cmp(&other.form));
        by.then(self.area.total_cmp(&other.area))
            .then(other.order.cmp(&self.order))
            .then(other.place.cmp(&self.place))
    }
}

/// Chooses the form of a page.
pub(super) fn choose(
    sighting: &PageSnapshot,
    logicals: &[LogicalField<'_>],
    lexicons: &Lexicons,
) -> Container {
    let seen: Vec<&LogicalField<'_>> =
        logicals.iter().filter(|it| it.is_seen && !it.is_trap).collect();
    let mut candidates: BTreeSet<usize> = BTreeSet::new();
    for logical in &seen {
        let around = sighting.around(logical.place()).take(LEVELS);
        candidates.extend(around.map(|(at, _)| at));
        candidates.extend(sighting.form_of(logical.seen));
    }
    let ranks: Vec<Rank> =
        candidates.into_iter().filter_map(|place| rank(sighting, &seen, place, lexicons)).collect();
    let whole = |rank: &&Rank| sighting.places.get(rank.place).is_some_and(is_page);
    let best = |ranks: &mut dyn Iterator<Item = &Rank>| {
        ranks.max_by(|one, other| one.order(other)).map(|rank| rank.place)
    };
    // The page itself is a form only where no part of it is.
    let part = best(&mut ranks.iter().filter(|rank| !whole(rank)));
    Container { place: part.or_else(|| best(&mut ranks.iter())) }
}

fn is_page(place: &EnclosingElement) -> bool {
    matches!(place.tag.as_str(), "html" | "body")
}

fn rank(
    sighting: &PageSnapshot,
    seen: &[&LogicalField<'_>],
    place: usize,
    lexicons: &Lexicons,
) -> Option<Rank> {
    let outer = sighting.places.get(place)?;
    let mine: Vec<&&LogicalField<'_>> =
        seen.iter().filter(|it| sighting.is_within(it.place(), place)).collect();
    let forms: BTreeSet<usize> = mine.iter().filter_map(|it| sighting.form_of(it.seen)).collect();
    let aside = is_aside(sighting, place, lexicons);
    // Two forms are not one, and what lies beside the form within it does not count.
    if forms.iter().filter(|form| **form != place).count() > 1 {
        return None;
    }
    let counted =
        mine.iter().filter(|it| aside || !has_aside_between(sighting, it.seen, place, lexicons));
    let counted: Vec<_> = counted.collect();
    let text_like = counted.iter().filter(|it| shape::is_text_like(it.shape)).count();
    let submits = sighting.controls.iter().any(|it| sends_from(sighting, it, place));
    let form = outer.is_form();
    let enough = counted.len() >= FIELDS;
    let relaxed = text_like >= 1 && (form || submits || text_like >= 2);
    (enough || relaxed).then_some(Rank {
        place,
        aside,
        fields: counted.len(),
        text_like,
        submits,
        form,
        area: outer.area.width * outer.area.height,
        order: outer.order,
    })
}

fn sends_from(sighting: &PageSnapshot, seen: &Control, place: usize) -> bool {
    let sends = seen.what == ControlKind::Pressed
        && seen.does == PressEffect::Submit
        && visible::is_seen(seen);
    sends && (sighting.is_within(seen.place, place) || seen.form == Some(place))
}

/// Returns whether a place is, or lies in, a region that is not the page's form: its
/// head, foot or navigation, its search, its question about cookies.
fn is_aside(sighting: &PageSnapshot, place: usize, lexicons: &Lexicons) -> bool {
    sighting.around(Some(place)).any(|(_, place)| marks_aside(place, lexicons))
}

fn has_aside_between(
    sighting: &PageSnapshot,
    seen: &Control,
    outer: usize,
    lexicons: &Lexicons,
) -> bool {
    let inner = sighting.around(seen.place).take_while(|(at, _)| *at != outer);
    inner.into_iter().any(|(_, place)| marks_aside(place, lexicons))
}

fn marks_aside(place: &EnclosingElement, lexicons: &Lexicons) -> bool {
    let by_tag = matches!(place.tag.as_str(), "header" | "nav" | "footer" | "aside" | "search");
    let by_role = matches!(
        place.role.as_str(),
        "banner" | "navigation" | "contentinfo" | "complementary" | "search"
    );
    let named = [place.attribute("id"), place.attribute("class")];
    let by_name = !is_page(place) && named.into_iter().any(|name| lexicons.asides.is_in(name));
    by_tag || by_role || by_name
}

/// Returns for each field the form that it works in: its own, else the nearest part of
/// the page in which something is pressed to send it.
pub(super) fn work_places(
    sighting: &PageSnapshot,
    logicals: &[LogicalField<'_>],
    lexicons: &Lexicons,
) -> Vec<Option<usize>> {
    let sends: Vec<&Control> = sighting
        .controls
        .iter()
        .filter(|it| it.what == ControlKind::Pressed && it.does != PressEffect::Link)
        .filter(|it| lexicons.sends.is_in(&it.label) && !lexicons.unsent.is_in(&it.label))
        .collect();
    let near = |seen: &Control| {
        let mut around = sighting.around(seen.place);
        let found = around.find(|(at, place)| {
            !is_page(place) && sends.iter().any(|it| sighting.is_within(it.place, *at))
        });
        found.map(|(at, _)| at)
    };
    logicals.iter().map(|it| sighting.form_of(it.seen).or_else(|| near(it.seen))).collect()
}
