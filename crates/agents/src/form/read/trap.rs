//! Whether words say that their field is there to catch robots.

use alloc::vec::Vec;

use crate::form::classify::{FoldedText, Lexicon, words::TRAPS};

/// The most bytes between a word for leaving and a word for empty that belong together.
const BETWEEN: usize = 40;

/// What traps are known by. Phrases mean the language that they are in.
#[derive(Debug)]
pub(super) struct Traps {
    marks: Lexicon<()>,
    bait: Lexicon<()>,
    says: Lexicon<&'static str>,
    keeps: Lexicon<&'static str>,
    empty: Lexicon<&'static str>,
    unless: Lexicon<&'static str>,
    human: Lexicon<()>,
}

impl Traps {
    pub(super) fn new() -> Self {
        Self {
            marks: TRAPS.lexicon("marks"),
            bait: TRAPS.lexicon("bait"),
            says: Lexicon::new(TRAPS.under("says")),
            keeps: Lexicon::new(TRAPS.under("keeps")),
            empty: Lexicon::new(TRAPS.under("empty")),
            unless: Lexicon::new(TRAPS.under("unless")),
            human: TRAPS.lexicon("human"),
        }
    }

    /// Returns whether a name, an id or a class marks a trap.
    pub(super) fn is_marked(&self, identifier: &str) -> bool {
        self.marks.is_in(identifier)
    }

    /// Returns whether words that people read say that the field is to be left empty. With a
    /// condition they are advice, `leave blank if you have none`, unless the condition is to
    /// be a person.
    pub(super) fn is_said(&self, words: &str) -> bool {
        let text = FoldedText::new(words);
        if !self.bait.find(&text).is_empty() {
            return true;
        }
        let languages = self.languages(&text);
        if languages.is_empty() {
            return false;
        }
        let conditions = self.unless.find(&text);
        let conditional = conditions.iter().any(|it| languages.contains(&it.meaning));
        !conditional || !self.human.find(&text).is_empty()
    }

    /// Returns the languages in which a text says that something is to be left empty.
    fn languages(&self, text: &FoldedText) -> Vec<&'static str> {
        let mut found: Vec<&'static str> =
            self.says.find(text).iter().map(|it| it.meaning).collect();
        let empty = self.empty.find(text);
        for keep in self.keeps.find(text) {
            let near = empty.iter().any(|empty| {
                let gap =
                    empty.start.saturating_sub(keep.end).max(keep.start.saturating_sub(empty.end));
                empty.meaning == keep.meaning && gap <= BETWEEN
            });
            if near {
                found.push(keep.meaning);
            }
        }
        found
    }
}
