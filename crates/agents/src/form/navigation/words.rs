//! Texts of controls, read from left to right.

use alloc::{string::String, vec::Vec};

use super::ControlEffect;
use crate::form::{
    classify::{
        FoldedText, fold,
        words::{CONTROLS, MONEY, WordList},
    },
    text::is_unseen,
};

/// Returns whether a label says that its control closes something, and says no more:
/// `cancel my order` does.
pub(super) fn closes(label: &str) -> bool {
    let words = FoldedText::new(label).spaced();
    let plain = label.trim().to_lowercase();
    let same = |known: &str| FoldedText::new(known).spaced() == words;
    CONTROLS.phrases("closes").any(same) || CONTROLS.phrases("crosses").any(|it| it == plain)
}

/// Returns what a control does, by its text: deleting, paying and signing count before sending,
/// and all of them before leading on.
pub(super) fn class(written: &str) -> ControlEffect {
    let label = Words::of(written);
    if label.has(CONTROLS, "delete") {
        return ControlEffect::Delete;
    }
    // `Continue to payment` and `submit and continue` do more than lead on.
    let subscribes = label.has(MONEY, "subscribe") && !label.has(MONEY, "news");
    if label.has(MONEY, "pay") || subscribes || has_price(written) {
        return ControlEffect::Pay;
    }
    // `Sign in` and `sign up` sign nothing.
    let enters = label.has(CONTROLS, "enters");
    if label.has(CONTROLS, "sign") && !enters {
        return ControlEffect::Sign;
    }
    if label.has(CONTROLS, "send") {
        return ControlEffect::Send;
    }
    match (label.has(CONTROLS, "aside"), label.has(CONTROLS, "onward"), label.has(CONTROLS, "save"))
    {
        (true, ..) => ControlEffect::Aside,
        (false, true, _) => ControlEffect::Onward,
        (false, false, true) => ControlEffect::Send,
        (false, false, false) => ControlEffect::Unknown,
    }
}

/// Returns whether a field of this label agrees to something.
pub(super) fn agrees(label: &str) -> bool {
    let label = Words::of(label);
    label.has(CONTROLS, "agrees") || label.has(CONTROLS, "agreed")
}

/// Returns whether a choice of this label does.
pub(super) fn choice_agrees(label: &str) -> bool {
    Words::of(label).has(CONTROLS, "agrees")
}

/// Returns whether words beside a control say that pressing it costs something.
pub(super) fn costs(near: &str) -> bool {
    !near.is_empty() && (has_price(near) || Words::of(near).has(MONEY, "costs"))
}

/// Returns whether the words of a whole form do: they cover other things too, so a price alone
/// says little, and so does a word.
pub(super) fn form_costs(text: &str) -> bool {
    has_price(text) && {
        let words = Words::of(text);
        words.has(MONEY, "costs") || words.has(MONEY, "total")
    }
}

/// Returns whether a text names a price that is not nothing.
fn has_price(text: &str) -> bool {
    let mut before: Option<Piece> = None;
    for piece in pieces(text) {
        if matches!(
            (&before, &piece),
            (Some(Piece::Coin), Piece::Sum) | (Some(Piece::Sum), Piece::Coin)
        ) {
            return true;
        }
        before = Some(piece);
    }
    false
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    /// A number that is more than nothing.
    Sum,
    /// A currency.
    Coin,
    /// Anything else.
    Other,
}

/// Takes a text apart into numbers, currencies and the rest.
fn pieces(text: &str) -> Vec<Piece> {
    #[derive(Clone, Copy, Eq, PartialEq)]
    enum Sort {
        Digit,
        Sign,
        Letter,
        Gap,
    }
    let signs: String = MONEY.phrases("signs").collect();
    let codes: Vec<&str> = MONEY.phrases("codes").collect();
    let coins: Vec<&str> = MONEY.phrases("coins").collect();
    let sort = |c: char| {
        if signs.contains(c) {
            Sort::Sign
        } else if c.is_numeric() {
            Sort::Digit
        } else if c.is_alphabetic() {
            Sort::Letter
        } else {
            Sort::Gap
        }
    };
    let coin = |word: &str| codes.contains(&word) || coins.contains(&word.to_lowercase().as_str());
    let mut found = Vec::new();
    let mut word = String::new();
    let mut at = Sort::Gap;
    // A gap at the end closes the last word.
    for c in text.chars().filter(|c| !is_unseen(*c)).chain([' ']) {
        let now = sort(c);
        if now != at {
            match at {
                Sort::Letter => found.push(if coin(&word) { Piece::Coin } else { Piece::Other }),
                Sort::Digit => {
                    let more = word.chars().any(|c| c.to_digit(10) != Some(0));
                    found.push(if more { Piece::Sum } else { Piece::Other });
                }
                Sort::Sign | Sort::Gap => {}
            }
            word.clear();
        }
        match now {
            Sort::Sign => found.push(Piece::Coin),
            // `Room 5, EUR` and `0.00` part here as well, which does no harm.
            Sort::Gap if matches!(c, '.' | ',' | ';' | '!' | '?' | '·' | '|') => {
                if !matches!(c, '.' | ',') {
                    found.push(Piece::Other);
                }
            }
            Sort::Gap => {}
            Sort::Digit | Sort::Letter => word.push(c),
        }
        at = now;
    }
    found
}

/// A label taken apart: its words in lower case, with one space around each.
struct Words(String);

impl Words {
    fn of(label: &str) -> Self {
        let mut words = FoldedText::new(label).spaced();
        let mut more = String::new();
        let mut letters = String::new();
        for word in words.split(' ').chain([""]) {
            // Separate letters are read as one word.
            if word.chars().count() == 1 && word.chars().all(char::is_alphabetic) {
                letters.push_str(word);
                continue;
            }
            if letters.chars().count() > 2 {
                more.push_str(&letters);
                more.push(' ');
            }
            letters.clear();
            // So are words with similar letters of another script.
            if word.chars().any(|c| looks_like(c).is_some()) {
                more.extend(word.chars().map(|c| looks_like(c).unwrap_or(c)));
                more.push(' ');
            }
        }
        words.push_str(&more);
        Self(words)
    }

    /// Returns whether one of the words or phrases is in it. Chinese, Japanese, Korean and
    /// Thai do not part their words, so theirs are looked for anywhere.
    fn has(&self, list: WordList, word: &str) -> bool {
        let mut folded = String::new();
        list.phrases(word).any(|phrase| self.holds(phrase, &mut folded))
    }

    fn holds(&self, phrase: &str, folded: &mut String) -> bool {
        folded.clear();
        let mut signs = phrase.chars().filter(|c| *c == ' ' || c.is_alphanumeric());
        // Most phrases begin with a letter that does not occur.
        if let Some(first) = signs.next() {
            fold(first, folded);
        }
        if folded.is_empty() || !self.0.contains(folded.as_str()) {
            return false;
        }
        for sign in signs {
            if sign == ' ' { folded.push(' ') } else { fold(sign, folded) }
        }
        let unparted = phrase.chars().all(|c| unparted(c) || c == ' ');
        self.0.match_indices(folded.as_str()).any(|(at, found)| {
            let end = at.saturating_add(found.len());
            let before = self.0.get(..at).is_some_and(|head| head.ends_with(' '));
            let after = self.0.get(end..).is_some_and(|tail| tail.starts_with(' '));
            (before && after) || unparted
        })
    }
}

fn unparted(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
    )
}

/// Returns the Latin letter that a Cyrillic or Greek one looks like.
const fn looks_like(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'є' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'η' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}
