//! Days, months and years: whose they are, of a birthday or of a card.

use alloc::vec::Vec;

use super::{
    FieldDraft, FoldedText, Lexicon, autocomplete,
    options::{self, DatePart},
    votes::{Votes, read_of},
    words,
};
use crate::form::{kind::FieldKind, snapshot::PageSnapshot};

/// What a date is the date of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DateOf {
    Birth,
    Card,
}

/// Holds the phrases that tell the parts of dates.
#[derive(Debug)]
pub(super) struct DatePhrases {
    parts: Lexicon<DatePart>,
    birth: Lexicon<()>,
    card: Lexicon<()>,
}

impl DatePhrases {
    pub(super) fn new() -> Self {
        let parts = [("day", DatePart::Day), ("month", DatePart::Month), ("year", DatePart::Year)];
        let parts = parts.into_iter().map(|(word, part)| (part, words::LISTS.under(word)));
        let parts = parts.flat_map(|(part, list)| list.map(move |(_, says)| (part, says)));
        let card = [((), words::of(FieldKind::CcExp)), ((), "cc, card, credit, exp")];
        Self {
            parts: Lexicon::new(parts),
            birth: Lexicon::new(core::iter::once(((), words::of(FieldKind::Bday)))),
            card: Lexicon::new(card.into_iter()),
        }
    }
}

/// Types the parts of dates.
pub(super) fn settle(
    dates: &DatePhrases,
    sighting: &PageSnapshot,
    drafts: &[FieldDraft<'_>],
    votes: &mut [Votes],
    kinds: &mut [FieldKind],
) {
    let named: Vec<NamedParts> = drafts.iter().map(|draft| named(&dates.parts, draft)).collect();
    let found: Vec<Option<DatePart>> = named.iter().map(|named| named.part()).collect();
    let judge = DateOwner { sighting, drafts, birth: &dates.birth, card: &dates.card };
    for at in 0..drafts.len() {
        let (Some(named), Some(kind)) = (named.get(at), kinds.get(at).copied()) else {
            continue;
        };
        let told = votes.get(at).and_then(|votes| votes.told);
        if told == Some(kind) {
            continue;
        }
        let part = match (named, kind) {
            (NamedParts::One(part), _) => part,
            (NamedParts::Several, FieldKind::CcExpMonth | FieldKind::CcExpYear) => {
                put(kinds, at, FieldKind::CcExp);
                continue;
            }
            (NamedParts::Several | NamedParts::Nothing, _) => continue,
        };
        if judge.asks_otherwise(at, kind) {
            put(kinds, at, FieldKind::None);
            if let Some(votes) = votes.get_mut(at) {
                votes.told = Some(FieldKind::None);
            }
            continue;
        }
        let of = judge.of(at, &found, kinds);
        // What the rules take for a secret stays one.
        let is_known = kind.class().is_some()
            || matches!(
                kind,
                FieldKind::Bday | FieldKind::BdayDay | FieldKind::BdayMonth | FieldKind::BdayYear
            );
        if let Some(votes) = votes.get_mut(at) {
            let in_a_date =
                || (at.saturating_sub(2)..=at).any(|first| is_date(drafts, &found, first));
            votes.nobodys_date = of.is_none() && !is_known && in_a_date();
        }
        let open = matches!(
            kind,
            FieldKind::None
                | FieldKind::Bday
                | FieldKind::CcExp
                | FieldKind::Tel
                | FieldKind::CcNumber
                | FieldKind::CcCsc
                | FieldKind::BdayDay
        );
        if !open {
            continue;
        }
        let settled = match (of, part) {
            (Some(DateOf::Birth), DatePart::Day) => FieldKind::BdayDay,
            (Some(DateOf::Birth), DatePart::Month) => FieldKind::BdayMonth,
            (Some(DateOf::Birth), DatePart::Year | DatePart::YearToCome) => FieldKind::BdayYear,
            (Some(DateOf::Card), DatePart::Month) => FieldKind::CcExpMonth,
            (Some(DateOf::Card), DatePart::Year | DatePart::YearToCome) => FieldKind::CcExpYear,
            // Its keyboard serves for any digits; a word for a telephone is meant.
            (None, _) if kind == FieldKind::Tel && !speaks(votes.get(at), kind) => FieldKind::None,
            (Some(DateOf::Card), DatePart::Day) | (None, _) => kind,
        };
        put(kinds, at, settled);
    }
}

/// Returns whether a field and the two after it are a day, a month and a year.
fn is_date(drafts: &[FieldDraft<'_>], parts: &[Option<DatePart>], first: usize) -> bool {
    let all = first..first.saturating_add(3);
    let (Some(drafts), Some([Some(one), Some(two), Some(three)])) =
        (drafts.get(all.clone()), parts.get(all))
    else {
        return false;
    };
    let form = drafts.first().and_then(|draft| draft.form);
    let is = |part: &DatePart| [one, two, three].contains(&part);
    drafts.iter().all(|draft| draft.form == form)
        && is(&DatePart::Day)
        && is(&DatePart::Month)
        && (is(&DatePart::Year) || is(&DatePart::YearToCome))
}

fn put(kinds: &mut [FieldKind], at: usize, kind: FieldKind) {
    if let Some(place) = kinds.get_mut(at) {
        *place = kind;
    }
}

/// Returns whether words speak for a kind.
fn speaks(votes: Option<&Votes>, kind: FieldKind) -> bool {
    votes.is_some_and(|votes| votes.heard.iter().any(|heard| heard.kind == kind))
}

/// Which parts of a date a field names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NamedParts {
    Nothing,
    One(DatePart),
    /// Several, such as `MM/YY`: it asks for the whole.
    Several,
}

impl NamedParts {
    const fn part(self) -> Option<DatePart> {
        match self {
            Self::One(part) => Some(part),
            Self::Nothing | Self::Several => None,
        }
    }
}

/// Returns the part of a date that a field asks for: by its list, else by its own words.
fn named(parts: &Lexicon<DatePart>, draft: &FieldDraft<'_>) -> NamedParts {
    if let Some(part) = options::part(&draft.options) {
        return NamedParts::One(part);
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
    let mut found: Option<DatePart> = None;
    for raw in own {
        let text = FoldedText::new(raw);
        if text.words() > 6 {
            continue;
        }
        for hit in parts.find(&text) {
            match found {
                Some(part) if part != hit.meaning => return NamedParts::Several,
                _ => found = Some(hit.meaning),
            }
        }
    }
    found.map_or(NamedParts::Nothing, NamedParts::One)
}

struct DateOwner<'a, 'b> {
    sighting: &'a PageSnapshot,
    drafts: &'a [FieldDraft<'b>],
    birth: &'a Lexicon<()>,
    card: &'a Lexicon<()>,
}

impl DateOwner<'_, '_> {
    /// Returns what a part of a date belongs to: by its own words, by the words of its
    /// group, by the fields beside it, by the form.
    fn of(&self, at: usize, parts: &[Option<DatePart>], kinds: &[FieldKind]) -> Option<DateOf> {
        let draft = self.drafts.get(at)?;
        let own = read_of(draft.seen).into_iter().map(alloc::string::String::as_str);
        let names = ["name", "id", "class"].into_iter().map(|name| draft.seen.attribute(name));
        let first = draft.options.first().map_or("", |(label, _)| label.as_str());
        let mut said = own.chain(names).chain([first, draft.context.as_str()]);
        let spoken = said.find_map(|text| self.says(text));
        let kind = kinds.get(at).copied().unwrap_or_default();
        if kind == FieldKind::Bday || spoken == Some(DateOf::Birth) {
            return Some(DateOf::Birth);
        }
        if kind == FieldKind::CcExp || spoken == Some(DateOf::Card) {
            return Some(DateOf::Card);
        }
        self.by_neighbours(at, parts, kinds).or_else(|| self.by_form(at, parts, kinds))
    }

    /// Returns whether the visible text asks for another date than the identifiers: the text
    /// counts, and a group with a question asks just that.
    fn asks_otherwise(&self, at: usize, kind: FieldKind) -> bool {
        let birth = matches!(
            kind,
            FieldKind::Bday | FieldKind::BdayDay | FieldKind::BdayMonth | FieldKind::BdayYear
        );
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

    fn says(&self, text: &str) -> Option<DateOf> {
        if self.birth.is_in(text) {
            return Some(DateOf::Birth);
        }
        self.card.is_in(text).then_some(DateOf::Card)
    }

    fn by_neighbours(
        &self,
        at: usize,
        parts: &[Option<DatePart>],
        kinds: &[FieldKind],
    ) -> Option<DateOf> {
        let near = at.saturating_sub(2)..=at.saturating_add(2);
        let form = self.drafts.get(at)?.form;
        for other in near.filter(|other| *other != at) {
            if self.drafts.get(other).is_none_or(|draft| draft.form != form) {
                continue;
            }
            let is_part = parts.get(other).is_some_and(Option::is_some);
            match kinds.get(other) {
                Some(
                    FieldKind::Bday
                    | FieldKind::BdayDay
                    | FieldKind::BdayMonth
                    | FieldKind::BdayYear,
                ) => {
                    return Some(DateOf::Birth);
                }
                Some(
                    FieldKind::CcExp
                    | FieldKind::CcExpMonth
                    | FieldKind::CcExpYear
                    | FieldKind::CcNumber
                    | FieldKind::CcCsc,
                ) => return Some(DateOf::Card),
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
        // Three parts in a row, under a heading about birth.
        let draft = self.drafts.get(at)?;
        let before = self.sighting.said.iter().filter(|said| said.order < draft.seen.order);
        let heading = before.max_by_key(|said| said.order)?;
        self.birth.is_in(&heading.text).then_some(DateOf::Birth)
    }

    /// In a form that takes a card, a month and a year without a day are the card's.
    fn by_form(
        &self,
        at: usize,
        parts: &[Option<DatePart>],
        kinds: &[FieldKind],
    ) -> Option<DateOf> {
        let form = self.drafts.get(at)?.form;
        let mine = |other: &usize| self.drafts.get(*other).is_some_and(|draft| draft.form == form);
        let has_card = (0..kinds.len())
            .filter(mine)
            .any(|other| matches!(kinds.get(other), Some(FieldKind::CcNumber | FieldKind::CcCsc)));
        let has_day = (0..parts.len())
            .filter(mine)
            .any(|other| parts.get(other) == Some(&Some(DatePart::Day)));
        (has_card && !has_day).then_some(DateOf::Card)
    }
}
