//! Days, months and years: whose they are, of a birthday or of a card.

use alloc::vec::Vec;

use super::{
    Draft, Lexicon, Text, autocomplete,
    options::{self, Part},
    votes::{Votes, read_of},
    words,
};
use crate::form::{kind::Kind, sight::Sighting};

/// What a date is the date of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Of {
    Birth,
    Card,
}

/// Holds the phrases that tell the parts of dates.
#[derive(Debug)]
pub(super) struct Dates {
    parts: Lexicon<Part>,
    birth: Lexicon<()>,
    card: Lexicon<()>,
}

impl Dates {
    pub(super) fn new() -> Self {
        let parts = [("day", Part::Day), ("month", Part::Month), ("year", Part::Year)];
        let parts = parts.into_iter().map(|(word, part)| (part, words::LISTS.under(word)));
        let parts = parts.flat_map(|(part, list)| list.map(move |(_, says)| (part, says)));
        let card = [((), words::of(Kind::CcExp)), ((), "cc, card, credit, exp")];
        Self {
            parts: Lexicon::new(parts),
            birth: Lexicon::new(core::iter::once(((), words::of(Kind::Bday)))),
            card: Lexicon::new(card.into_iter()),
        }
    }
}

/// Types the parts of dates.
pub(super) fn settle(
    dates: &Dates,
    sighting: &Sighting,
    drafts: &[Draft<'_>],
    votes: &mut [Votes],
    kinds: &mut [Kind],
) {
    let named: Vec<Named> = drafts.iter().map(|draft| named(&dates.parts, draft)).collect();
    let found: Vec<Option<Part>> = named.iter().map(|named| named.part()).collect();
    let judge = Whose { sighting, drafts, birth: &dates.birth, card: &dates.card };
    for at in 0..drafts.len() {
        let (Some(named), Some(kind)) = (named.get(at), kinds.get(at).copied()) else {
            continue;
        };
        let told = votes.get(at).and_then(|votes| votes.told);
        if told == Some(kind) {
            continue;
        }
        let part = match (named, kind) {
            (Named::One(part), _) => part,
            (Named::Several, Kind::CcExpMonth | Kind::CcExpYear) => {
                put(kinds, at, Kind::CcExp);
                continue;
            }
            (Named::Several | Named::Nothing, _) => continue,
        };
        if judge.asks_otherwise(at, kind) {
            put(kinds, at, Kind::None);
            if let Some(votes) = votes.get_mut(at) {
                votes.told = Some(Kind::None);
            }
            continue;
        }
        let open = matches!(
            kind,
            Kind::None
                | Kind::Bday
                | Kind::CcExp
                | Kind::Tel
                | Kind::CcNumber
                | Kind::CcCsc
                | Kind::BdayDay
        );
        if !open {
            continue;
        }
        let settled = match (judge.of(at, &found, kinds), part) {
            (Some(Of::Birth), Part::Day) => Kind::BdayDay,
            (Some(Of::Birth), Part::Month) => Kind::BdayMonth,
            (Some(Of::Birth), Part::Year | Part::YearToCome) => Kind::BdayYear,
            (Some(Of::Card), Part::Month) => Kind::CcExpMonth,
            (Some(Of::Card), Part::Year | Part::YearToCome) => Kind::CcExpYear,
            // Its keyboard serves for any digits; a word for a telephone is meant.
            (None, _) if kind == Kind::Tel && !speaks(votes.get(at), kind) => Kind::None,
            (Some(Of::Card), Part::Day) | (None, _) => kind,
        };
        put(kinds, at, settled);
    }
}

fn put(kinds: &mut [Kind], at: usize, kind: Kind) {
    if let Some(place) = kinds.get_mut(at) {
        *place = kind;
    }
}

/// Returns whether words speak for a kind.
fn speaks(votes: Option<&Votes>, kind: Kind) -> bool {
    votes.is_some_and(|votes| votes.heard.iter().any(|heard| heard.kind == kind))
}

/// Which parts of a date a field names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Named {
    Nothing,
    One(Part),
    /// Several, such as `MM/YY`: it asks for the whole.
    Several,
}

impl Named {
    const fn part(self) -> Option<Part> {
        match self {
            Self::One(part) => Some(part),
            Self::Nothing | Self::Several => None,
        }
    }
}

/// Returns the part of a date that a field asks for: by its list, else by its own words.
fn named(parts: &Lexicon<Part>, draft: &Draft<'_>) -> Named {
    if let Some(part) = options::part(&draft.options) {
        return Named::One(part);
    }
    let seen = draft.seen;
    let names = &seen.names;
    let own = [
        names.associated.as_str(),
        names.wrapping.as_str(),
        names.aria.as_str(),
        names.placeholder.as_str(),
        seen.attribute("name"),
        seen.attribute("id"),
    ];
    let mut found: Option<Part> = None;
    for raw in own {
        let text = Text::new(raw);
        if text.words() > 6 {
            continue;
        }
        for hit in parts.find(&text) {
            match found {
                Some(part) if part != hit.meaning => return Named::Several,
                _ => found = Some(hit.meaning),
            }
        }
    }
    found.map_or(Named::Nothing, Named::One)
}

struct Whose<'a, 'b> {
    sighting: &'a Sighting,
    drafts: &'a [Draft<'b>],
    birth: &'a Lexicon<()>,
    card: &'a Lexicon<()>,
}

impl Whose<'_, '_> {
    /// Returns what a part of a date belongs to: by its own words, by the words of its
    /// group, by the fields beside it, by the form.
    fn of(&self, at: usize, parts: &[Option<Part>], kinds: &[Kind]) -> Option<Of> {
        let draft = self.drafts.get(at)?;
        let own = read_of(draft.seen).into_iter().map(alloc::string::String::as_str);
        let names = ["name", "id", "class"].into_iter().map(|name| draft.seen.attribute(name));
        let first = draft.options.first().map_or("", |(label, _)| label.as_str());
        let mut said = own.chain(names).chain([first, draft.context.as_str()]);
        let spoken = said.find_map(|text| self.says(text));
        let kind = kinds.get(at).copied().unwrap_or_default();
        if kind == Kind::Bday || spoken == Some(Of::Birth) {
            return Some(Of::Birth);
        }
        if kind == Kind::CcExp || spoken == Some(Of::Card) {
            return Some(Of::Card);
        }
        self.by_neighbours(at, parts, kinds).or_else(|| self.by_form(at, parts, kinds))
    }

    /// Returns whether people are asked for another date than the identifiers say: what
    /// is read counts, and a group that has a question asks just that.
    fn asks_otherwise(&self, at: usize, kind: Kind) -> bool {
        let birth = matches!(kind, Kind::Bday | Kind::BdayDay | Kind::BdayMonth | Kind::BdayYear);
        let Some(draft) = self.drafts.get(at).filter(|draft| birth && !draft.context.is_empty())
        else {
            return false;
        };
        let told = autocomplete::kind(draft.seen.attribute("autocomplete")).is_some();
        let first = draft.options.first().map_or("", |(label, _)| label.as_str());
        let read = read_of(draft.seen).into_iter().map(alloc::string::String::as_str);
        let mut read = read.chain([draft.context.as_str(), first]);
        !told && !read.any(|text| self.birth.is_in(text))
    }

    fn says(&self, text: &str) -> Option<Of> {
        if self.birth.is_in(text) {
            return Some(Of::Birth);
        }
        self.card.is_in(text).then_some(Of::Card)
    }

    fn by_neighbours(&self, at: usize, parts: &[Option<Part>], kinds: &[Kind]) -> Option<Of> {
        let near = at.saturating_sub(2)..=at.saturating_add(2);
        let form = self.drafts.get(at)?.form;
        for other in near.filter(|other| *other != at) {
            if self.drafts.get(other).is_none_or(|draft| draft.form != form) {
                continue;
            }
            let is_part = parts.get(other).is_some_and(Option::is_some);
            match kinds.get(other) {
                Some(Kind::Bday | Kind::BdayDay | Kind::BdayMonth | Kind::BdayYear) => {
                    return Some(Of::Birth);
                }
                Some(
                    Kind::CcExp | Kind::CcExpMonth | Kind::CcExpYear | Kind::CcNumber | Kind::CcCsc,
                ) => return Some(Of::Card),
                _ if is_part => {
                    let draft = self.drafts.get(other)?;
                    let texts = read_of(draft.seen);
                    if let Some(of) = texts.into_iter().find_map(|text| self.says(text)) {
                        return Some(of);
                    }
                }
                _ => {}
            }
        }
        // Three parts in a row, under a heading that speaks of birth.
        let draft = self.drafts.get(at)?;
        let before = self.sighting.said.iter().filter(|said| said.order < draft.seen.order);
        let heading = before.max_by_key(|said| said.order)?;
        self.birth.is_in(&heading.text).then_some(Of::Birth)
    }

    /// In a form that takes a card, a month and a year without a day are the card's.
    fn by_form(&self, at: usize, parts: &[Option<Part>], kinds: &[Kind]) -> Option<Of> {
        let form = self.drafts.get(at)?.form;
        let mine = |other: &usize| self.drafts.get(*other).is_some_and(|draft| draft.form == form);
        let has_card = (0..kinds.len())
            .filter(mine)
            .any(|other| matches!(kinds.get(other), Some(Kind::CcNumber | Kind::CcCsc)));
        let has_day =
            (0..parts.len()).filter(mine).any(|other| parts.get(other) == Some(&Some(Part::Day)));
        (has_card && !has_day).then_some(Of::Card)
    }
}
