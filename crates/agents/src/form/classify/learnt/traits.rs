//! What the model looks at: everything that a page says about a field, as numbers of words,
//! pieces of words and facts.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::super::{
    Aim, FieldDraft, FoldedText, options,
    votes::{Votes, can_be},
};
use crate::form::{kind::FieldKind, snapshot::PageSnapshot};

/// Words of a text that count; the rest explains.
const WORDS: usize = 12;
/// Bytes of a text from which pieces of words are taken.
const PIECES: usize = 48;

/// Where a trait comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TraitOrigin {
    /// Words at the field: labels, names, hints.
    Word,
    /// Words at the fields beside it, or around it.
    Beside,
    /// How the field is made.
    Make,
    /// What the rules say about it.
    Rule,
}

/// Takes the traits of a field: each has a number, an origin and what it was read from.
pub(super) trait Sink {
    fn take(&mut self, number: u32, origin: TraitOrigin, space: &str, text: &str);
}

/// Everything known about the fields of a page before the model is asked.
pub(in super::super) struct FormContext<'a, 'b> {
    pub(in super::super) sighting: &'a PageSnapshot,
    pub(in super::super) drafts: &'a [FieldDraft<'b>],
    pub(in super::super) votes: &'a [Votes],
    pub(in super::super) kinds: &'a [FieldKind],
    pub(in super::super) aims: &'a BTreeMap<Option<usize>, Option<Aim>>,
}

/// FNV-1a over a space and a text, folded to 32 bits.
pub(super) fn number(space: &str, text: &str) -> u32 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = space.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = text.bytes().fold(step(hash, 0), step);
    u32::try_from((hash ^ (hash >> 32)) & 0xffff_ffff).unwrap_or_default()
}

struct Emitter<'s, S> {
    sink: &'s mut S,
    origin: TraitOrigin,
    scratch: String,
}

impl<S: Sink> Emitter<'_, S> {
    fn one(&mut self, space: &str, text: &str) {
        self.sink.take(number(space, text), self.origin, space, text);
    }

    fn pair(&mut self, space: &str, one: &str, other: &str) {
        self.scratch.clear();
        self.scratch.push_str(one);
        self.scratch.push(' ');
        self.scratch.push_str(other);
        self.sink.take(number(space, &self.scratch), self.origin, space, &self.scratch);
    }

    /// Single words, and two in a row.
    fn words(&mut self, single: &str, double: &str, text: &FoldedText) {
        let mut before: Option<&str> = None;
        for word in text.each().take(WORDS) {
            self.one(single, word);
            if let Some(before) = before.filter(|_| !double.is_empty()) {
                self.pair(double, before, word);
            }
            before = Some(word);
        }
    }

    /// Parts of words: four letters, or two characters of a script without spaces.
    fn pieces(&mut self, space: &str, text: &FoldedText) {
        let solid = text.solid();
        let starts = || solid.char_indices().map(|(at, _)| at).take_while(|at| *at < PIECES);
        for at in starts() {
            let rest = solid.get(at..).unwrap_or_default();
            let wide = rest.chars().next().is_some_and(|first| u32::from(first) >= 0x0e00);
            let lengths = if wide { [1, 2] } else { [3, 5] };
            for length in lengths {
                let mut ends = rest.char_indices().map(|(end, _)| end).chain([rest.len()]);
                if let Some(end) = ends.nth(length) {
                    self.one(space, rest.get(..end).unwrap_or_default());
                }
            }
        }
    }
}

impl FormContext<'_, '_> {
    fn kind(&self, at: usize) -> FieldKind {
        self.kinds.get(at).copied().unwrap_or_default()
    }

    /// Returns the fields beside a field: two before it, two after it.
    fn beside(&self, at: usize) -> [Option<usize>; 4] {
        let form = self.drafts.get(at).map(|draft| draft.form);
        let near = |other: &usize| {
            let draft = self.drafts.get(*other);
            draft.is_some_and(|it| Some(it.form) == form && it.seen_by_people)
        };
        let mut before = (0..at).rev().filter(near);
        let mut after = (at.saturating_add(1)..self.drafts.len()).filter(near);
        let (one, two) = (before.next(), before.next());
        [one, two, after.next(), after.next()]
    }

    /// Gives every trait of a field to the sink.
    pub(super) fn traits(&self, at: usize, sink: &mut impl Sink) {
        let Some(draft) = self.drafts.get(at) else { return };
        let mut emit = Emitter { sink, origin: TraitOrigin::Make, scratch: String::new() };
        emit.one("always", "");
        Self::own_words(draft, &mut emit);
        self.words_beside(at, draft, &mut emit);
        self.make(at, draft, &mut emit);
        emit.origin = TraitOrigin::Rule;
        self.rules(at, draft, &mut emit);
    }

    fn own_words(draft: &FieldDraft<'_>, emit: &mut Emitter<'_, impl Sink>) {
        emit.origin = TraitOrigin::Word;
        let (seen, names) = (draft.seen, &draft.seen.names);
        let label = FoldedText::new(named(draft));
        emit.words("label", "label 2", &label);
        emit.pieces("label piece", &label);
        if label.words() <= WORDS {
            emit.one("label whole", label.solid());
        }
        for (space, raw) in [
            ("placeholder", names.placeholder.as_str()),
            ("aria", names.aria.as_str()),
            ("title", names.title.as_str()),
            ("described", names.described.as_str()),
            ("column", names.table.column.as_str()),
            ("row", names.table.row.as_str()),
        ] {
            if raw.is_empty() {
                continue;
            }
            let text = FoldedText::new(raw);
            emit.words(space, "", &text);
            // What people read is read alike wherever it stands.
            if space != "described" {
                emit.words("read", "read 2", &text);
                emit.pieces("label piece", &text);
            }
        }
        emit.words("read", "read 2", &label);
        if let (Some(first), Some(last)) = (label.each().next(), label.each().last()) {
            emit.one("label first", first);
            emit.one("label last", last);
        }
        if !names.before.is_empty() && names.before != named(draft) {
            emit.words("near", "", &FoldedText::new(&names.before));
        }
        let (name, id) =
            (FoldedText::new(seen.attribute("name")), FoldedText::new(seen.attribute("id")));
        let different = name.solid() != id.solid();
        for text in [Some(&name), Some(&id).filter(|_| different)].into_iter().flatten() {
            emit.words("name", "name 2", text);
            emit.pieces("name piece", text);
            if let Some(last) = text.each().last() {
                emit.one("name end", last);
            }
            emit.one("name whole", text.solid());
        }
        for mark in super::super::votes::MARKS {
            let raw = seen.attribute(mark);
            if !raw.is_empty() {
                emit.words("name", "", &FoldedText::new(raw));
            }
        }
        let class = FoldedText::new(seen.attribute("class"));
        emit.words("class", "", &class);
        if let Some((first, _)) = draft.options.first() {
            emit.words("option", "", &FoldedText::new(first));
        }
    }

    fn words_beside(&self, at: usize, draft: &FieldDraft<'_>, emit: &mut Emitter<'_, impl Sink>) {
        emit.origin = TraitOrigin::Beside;
        let [before, _, after, _] = self.beside(at);
        for (space, other) in [("before", before), ("after", after)] {
            let Some(other) = other.and_then(|other| self.drafts.get(other)) else {
                emit.one(space, "");
                continue;
            };
            emit.words(space, "", &FoldedText::new(named(other)));
            let name = FoldedText::new(other.seen.attribute("name"));
            for word in name.each().take(WORDS) {
                emit.pair(space, "name", word);
            }
        }
        let context = FoldedText::new(&draft.context);
        emit.words("section", "", &context);
        if !draft.seen.names.after.is_empty() && draft.seen.names.after_level == 0 {
            emit.words("behind", "", &FoldedText::new(&draft.seen.names.after));
        }
    }

    fn make(&self, at: usize, draft: &FieldDraft<'_>, emit: &mut Emitter<'_, impl Sink>) {
        emit.origin = TraitOrigin::Make;
        let seen = draft.seen;
        emit.one("shape", draft.shape.token());
        emit.one("type", &seen.type_);
        emit.one("inputmode", seen.attribute("inputmode"));
        emit.one("length", length(seen.attribute("maxlength")));
        emit.pair("shape length", draft.shape.token(), length(seen.attribute("maxlength")));
        emit.one("size", length(seen.attribute("size")));
        emit.one("pattern", pattern(seen.attribute("pattern")));
        emit.one("required", if seen.required { "yes" } else { "no" });
        emit.one("attribute", seen.attribute("autocomplete"));
        let language = self.sighting.language.get(..2).unwrap_or_default();
        emit.one("language", &language.to_ascii_lowercase());
        let aim = self.aims.get(&draft.form).copied().flatten();
        emit.one("aim", Aim::token(aim));
        emit.one("options", count(draft.options.len()));
        let [before, _, after, _] = self.beside(at);
        let same = |other: Option<usize>| {
            let other = other.and_then(|other| self.drafts.get(other));
            other.is_some_and(|other| named(other) == named(draft))
        };
        emit.one("same before", if same(before) { "yes" } else { "no" });
        emit.one("same after", if same(after) { "yes" } else { "no" });
        let own = &seen.names;
        let unnamed =
            [&own.associated, &own.wrapping, &own.labelled_by].iter().all(|it| it.is_empty());
        emit.one("unnamed", if unnamed { "yes" } else { "no" });
        let (mut all, mut nth) = (0_usize, 0_usize);
        for (other, it) in self.drafts.iter().enumerate() {
            if it.form == draft.form && it.seen_by_people {
                all = all.saturating_add(1);
                nth = nth.saturating_add(usize::from(other < at));
            }
        }
        emit.one("fields", count(all));
        emit.one("place", count(nth));
    }

    fn rules(&self, at: usize, draft: &FieldDraft<'_>, emit: &mut Emitter<'_, impl Sink>) {
        let mine = self.kind(at).token();
        emit.one("rule", mine);
        emit.pair("rule shape", mine, draft.shape.token());
        let aim = self.aims.get(&draft.form).copied().flatten();
        emit.pair("rule aim", mine, Aim::token(aim));
        emit.pair("rule length", mine, length(draft.seen.attribute("maxlength")));
        let language = self.sighting.language.get(..2).unwrap_or_default();
        emit.pair("rule language", mine, &language.to_ascii_lowercase());
        let Some(votes) = self.votes.get(at) else { return };
        emit.one("told", votes.told.map_or("", FieldKind::token));
        let [first, second] = votes.first_two();
        let strong = |weight: i32| match weight {
            ..120 => "0",
            120..250 => "1",
            250..450 => "2",
            450..800 => "3",
            _ => "4",
        };
        if let Some((kind, weight)) = first {
            emit.pair("first", kind.token(), strong(weight));
            let fits = if can_be(draft, kind) { "fits" } else { "fits not" };
            emit.pair("first fits", kind.token(), fits);
            let (other, less) = second.unwrap_or_default();
            emit.pair("second", other.token(), strong(less));
            emit.pair("two", kind.token(), other.token());
            let lead = weight.saturating_sub(less);
            emit.pair("lead", kind.token(), strong(lead));
        }
        for heard in &votes.heard {
            let kind = heard.kind.token();
            emit.pair("heard", source(heard.weight), kind);
            let loud = if heard.strength >= 8 { "loud" } else { "low" };
            emit.pair("heard any", loud, kind);
            if heard.whole {
                emit.pair("heard whole", loud, kind);
                emit.pair("whole", source(heard.weight), kind);
            }
        }
        if let Some(first) = votes.heard.first() {
            let one = votes.heard.iter().all(|heard| heard.kind == first.kind);
            emit.pair(if one { "one voice" } else { "voices" }, first.kind.token(), mine);
        }
        if let Some(kind) = options::kind(&draft.options) {
            emit.one("offers", kind.token());
        }
        let [before, earlier, after, later] = self.beside(at);
        for (space, both, other) in [
            ("rule before", "rule and before", before),
            ("rule earlier", "", earlier),
            ("rule after", "rule and after", after),
            ("rule later", "", later),
        ] {
            let other = other.map_or("edge", |other| self.kind(other).token());
            emit.one(space, other);
            if !both.is_empty() {
                emit.pair(both, mine, other);
            }
        }
        let mut others: Vec<FieldKind> = Vec::new();
        for (other, it) in self.drafts.iter().enumerate() {
            let kind = self.kind(other);
            let mine = it.form == draft.form && it.seen_by_people && other != at;
            if mine && kind != FieldKind::None && !others.contains(&kind) {
                others.push(kind);
            }
        }
        for other in others {
            emit.pair("rule and form", mine, other.token());
        }
        let again = (0..at).any(|other| {
            let same = self.drafts.get(other).is_some_and(|it| it.form == draft.form);
            same && self.kind(other) == self.kind(at)
        });
        emit.pair("rule again", mine, if again { "yes" } else { "no" });
    }
}

/// Returns what a field is called: its own label, else the text before it.
fn named<'a>(draft: &'a FieldDraft<'_>) -> &'a str {
    let names = &draft.seen.names;
    let all = [&names.associated, &names.wrapping, &names.labelled_by, &names.before];
    all.into_iter().find(|text| !text.is_empty()).map_or("", String::as_str)
}

fn length(raw: &str) -> &'static str {
    match raw.trim().parse::<u32>() {
        Err(_) => "",
        Ok(0..=1) => "1",
        Ok(2) => "2",
        Ok(3) => "3",
        Ok(4) => "4",
        Ok(5) => "5",
        Ok(6..=7) => "7",
        Ok(8..=10) => "10",
        Ok(11..=15) => "15",
        Ok(16..=20) => "20",
        Ok(21..=35) => "35",
        Ok(36..=64) => "64",
        Ok(65..=128) => "128",
        Ok(_) => "more",
    }
}

fn count(number: usize) -> &'static str {
    match number {
        0 => "0",
        1 => "1",
        2 => "2",
        3 => "3",
        4..=5 => "5",
        6..=8 => "8",
        9..=12 => "12",
        13..=20 => "20",
        21..=40 => "40",
        _ => "more",
    }
}

fn pattern(raw: &str) -> &'static str {
    let digits = raw.contains("\\d") || raw.contains("0-9");
    let letters = raw.contains("a-z") || raw.contains("A-Z") || raw.contains("\\w");
    match (raw.is_empty(), digits, letters, raw.contains('@')) {
        (true, ..) => "",
        (_, _, _, true) => "mail",
        (_, true, false, _) => "digits",
        (_, false, true, _) => "letters",
        (_, true, true, _) => "both",
        _ => "other",
    }
}

/// Returns the name of the text that has this weight among the rules' texts.
fn source(weight: i32) -> &'static str {
    match weight {
        60 => "label",
        50 => "aria",
        40 => "placeholder",
        36 => "name",
        30 => "id",
        25 => "title",
        20 => "mark",
        10 => "class",
        38 | 34 => "near",
        _ => "far",
    }
}
