//! Texts as they are compared: folded, in words, and searched for phrases.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
    vec::Vec,
};
use core::cmp::Reverse;

use crate::form::text::{is_mark, is_unseen};

/// A text without case, accents and gaps, which still knows where its words begin.
#[derive(Clone, Debug, Default)]
pub(in crate::form) struct FoldedText {
    solid: String,
    /// Where words begin and end, in bytes of `solid`, in order.
    bounds: Vec<usize>,
}

impl FoldedText {
    /// Folds a text. Words end at everything that is neither letter nor digit, between letters and
    /// digits, and where an identifier changes case: `userID2` has three.
    pub(in crate::form) fn new(raw: &str) -> Self {
        let mut text = Self::default();
        let mut before: Option<char> = None;
        let mut characters = raw.chars().peekable();
        while let Some(character) = characters.next() {
            // Apostrophes join: `don't` equals `dont`. Invisible characters and marks do not
            // separate words either.
            if matches!(character, '\'' | '’' | 'ʼ' | '`')
                || is_unseen(character)
                || is_mark(character)
            {
                continue;
            }
            if !character.is_alphanumeric() {
                // A number sign is how forms write `number`.
                if character == '#' {
                    text.bound();
                    text.solid.push('#');
                }
                before = None;
                continue;
            }
            let next = characters.peek().copied();
            if before.is_none_or(|before| parts(before, character, next)) {
                text.bound();
            }
            fold(character, &mut text.solid);
            before = Some(character);
        }
        text.bound();
        text
    }

    fn bound(&mut self) {
        let at = self.solid.len();
        if self.bounds.last() != Some(&at) {
            self.bounds.push(at);
        }
    }

    /// Returns the text without gaps.
    pub(in crate::form) fn solid(&self) -> &str {
        &self.solid
    }

    /// Returns its words in order.
    pub(in crate::form) fn each(&self) -> impl Iterator<Item = &str> {
        let ends = self.bounds.iter().skip(1);
        self.bounds
            .iter()
            .zip(ends)
            .map(|(from, to)| self.solid.get(*from..*to).unwrap_or_default())
    }

    /// Returns its words with one gap around each.
    pub(in crate::form) fn spaced(&self) -> String {
        let mut spaced = String::from(" ");
        for word in self.each() {
            spaced.push_str(word);
            spaced.push(' ');
        }
        spaced
    }

    /// Returns how many words it has.
    pub(in crate::form) fn words(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Returns whether it holds a phrase in whole words.
    pub(in crate::form) fn holds(&self, phrase: &str) -> bool {
        let phrase = Self::new(phrase);
        let wanted = phrase.solid();
        let gapless = !wanted.chars().all(has_gaps);
        let mut found = self.solid.match_indices(wanted);
        found.any(|(at, it)| {
            gapless || (self.is_bound(at) && self.is_bound(at.saturating_add(it.len())))
        })
    }

    fn is_bound(&self, at: usize) -> bool {
        self.bounds.binary_search(&at).is_ok()
    }
}

/// Returns whether a word ends between two characters.
fn parts(before: char, character: char, next: Option<char>) -> bool {
    let digits = before.is_numeric() != character.is_numeric();
    let hump = before.is_lowercase() && character.is_uppercase();
    let acronym =
        before.is_uppercase() && character.is_uppercase() && next.is_some_and(char::is_lowercase);
    digits || hump || acronym
}

/// Writes a character without case and accent.
pub(in crate::form) fn fold(character: char, into: &mut String) {
    // Full-width letters and digits equal narrow ones, and so do mathematical alphabets, in which
    // bold and slanted letters are separate characters.
    let narrow = match u32::from(character) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide.wrapping_sub(0xfee0)).unwrap_or(character),
        math @ 0x1_d400..=0x1_d6a3 => {
            let nth = math.wrapping_sub(0x1_d400).wrapping_rem(52).wrapping_rem(26);
            char::from_u32(nth.wrapping_add(u32::from('a'))).unwrap_or(character)
        }
        _ => character,
    };
    for lower in narrow.to_lowercase() {
        let plain = match lower {
            'à'..='å' | 'ā' | 'ă' | 'ą' | 'ạ'..='ặ' => 'a',
            'ç' | 'ć' | 'č' | 'ĉ' => 'c',
            'ď' | 'đ' | 'ð' => 'd',
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' | 'ẹ'..='ệ' => 'e',
            'ğ' | 'ģ' => 'g',
            'ì'..='ï' | 'ī' | 'į' | 'ı' | 'ĩ' | 'ỉ'..='ị' => 'i',
            'ķ' => 'k',
            'ł' | 'ľ' | 'ĺ' | 'ļ' => 'l',
            'ñ' | 'ń' | 'ň' | 'ņ' => 'n',
            'ò'..='ö' | 'ø' | 'ō' | 'ő' | 'ơ' | 'ọ'..='ợ' => 'o',
            'ŕ' | 'ř' => 'r',
            'ś' | 'š' | 'ş' | 'ș' => 's',
            'ť' | 'ţ' | 'ț' => 't',
            'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ų' | 'ư' | 'ũ' | 'ụ'..='ự' => 'u',
            'ý' | 'ÿ' | 'ỳ'..='ỹ' => 'y',
            'ź' | 'ż' | 'ž' => 'z',
            'ё' => 'е',
            'ά' => 'α',
            'έ' => 'ε',
            'ή' => 'η',
            'ί' | 'ϊ' | 'ΐ' => 'ι',
            'ό' => 'ο',
            'ύ' | 'ϋ' | 'ΰ' => 'υ',
            'ώ' => 'ω',
            'ς' => 'σ',
            'أ' | 'إ' | 'آ' => 'ا',
            'ß' => {
                into.push_str("ss");
                continue;
            }
            'æ' => {
                into.push_str("ae");
                continue;
            }
            'œ' => {
                into.push_str("oe");
                continue;
            }
            // A dot above that is left over from a Turkish capital.
            '\u{307}' => continue,
            other => other,
        };
        into.push(plain);
    }
}

/// Returns whether a script parts its words by gaps.
fn has_gaps(character: char) -> bool {
    !matches!(u32::from(character), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af)
}

/// A phrase that was found in a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::form) struct PhraseMatch<T> {
    /// The kind that it supports.
    pub(in crate::form) meaning: T,
    /// Where it begins, in bytes.
    pub(in crate::form) start: usize,
    /// Where it ends.
    pub(in crate::form) end: usize,
}

/// Phrases and their meanings, indexed by their first letter.
#[derive(Debug)]
pub(in crate::form) struct Lexicon<T> {
    phrases: BTreeMap<char, Vec<Phrase<T>>>,
}

#[derive(Debug)]
struct Phrase<T> {
    text: String,
    anywhere: bool,
    meaning: T,
}

impl<T: Copy> Lexicon<T> {
    /// Reads lists of phrases that are parted by commas, each list with its meaning.
    pub(in crate::form) fn new<'a>(lists: impl Iterator<Item = (T, &'a str)>) -> Self {
        let mut phrases: BTreeMap<char, Vec<Phrase<T>>> = BTreeMap::new();
        for (meaning, list) in lists {
            for written in list.split(',').map(str::trim) {
                let (written, starred) = match written.strip_prefix('*') {
                    Some(rest) => (rest, true),
                    None => (written, false),
                };
                let text = FoldedText::new(written).solid().to_string();
                let Some(first) = text.chars().next() else { continue };
                // One sign alone is a separate word, or part of some other word.
                let gapless = !text.chars().all(has_gaps) && text.chars().nth(1).is_some();
                let anywhere = starred || gapless;
                phrases.entry(first).or_default().push(Phrase { text, anywhere, meaning });
            }
        }
        Self { phrases }
    }

    /// Returns the phrases in a text. Of two that overlap, the longer one counts: `email address`
    /// means mail and not a street.
    pub(in crate::form) fn find(&self, text: &FoldedText) -> Vec<PhraseMatch<T>> {
        let mut all = Vec::new();
        for (start, first) in text.solid.char_indices() {
            let Some(phrases) = self.phrases.get(&first) else { continue };
            let rest = text.solid.get(start..).unwrap_or_default();
            let bound = text.is_bound(start);
            for phrase in phrases.iter().filter(|phrase| rest.starts_with(&phrase.text)) {
                let end = start.saturating_add(phrase.text.len());
                if phrase.anywhere || (bound && text.is_bound(end)) {
                    all.push(PhraseMatch { meaning: phrase.meaning, start, end });
                }
            }
        }
        // The sort is stable: among equals, the first in the list stays first.
        all.sort_by_key(|found| Reverse(found.end.saturating_sub(found.start)));
        let mut kept: Vec<PhraseMatch<T>> = Vec::new();
        for found in all {
            let same =
                |other: &PhraseMatch<T>| other.start == found.start && other.end == found.end;
            let apart =
                |other: &PhraseMatch<T>| other.end <= found.start || found.end <= other.start;
            if kept.iter().all(|other| apart(other) || same(other)) {
                kept.push(found);
            }
        }
        kept.sort_by_key(|found| found.start);
        kept
    }

    /// Returns whether a text holds any of the phrases.
    pub(in crate::form) fn is_in(&self, raw: &str) -> bool {
        !self.find(&FoldedText::new(raw)).is_empty()
    }
}
