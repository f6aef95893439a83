//! The words by which fields, forms, controls and lists are known, in many languages: data,
//! in `crates/agents/words`.

use super::{phrase::Lexicon, purpose::Aim};
use crate::form::kind::{FieldKind, SecretKind};

/// Phrases in sections. A section is a head in brackets at the beginning of a line, and
/// phrases that are parted by commas; what is before the first explains the list.
#[derive(Clone, Copy, Debug)]
pub(in crate::form) struct WordList(&'static str);

const KINDS: WordList = WordList(include_str!("../../../words/kinds.txt"));
const PRIVATE: WordList = WordList(include_str!("../../../words/private.txt"));
pub(in crate::form) const CONTROLS: WordList =
    WordList(include_str!("../../../words/controls.txt"));
pub(in crate::form) const LISTS: WordList = WordList(include_str!("../../../words/lists.txt"));
pub(in crate::form) const MONEY: WordList = WordList(include_str!("../../../words/money.txt"));
pub(in crate::form) const PURPOSES: WordList =
    WordList(include_str!("../../../words/purposes.txt"));
pub(in crate::form) const TRAPS: WordList = WordList(include_str!("../../../words/traps.txt"));

impl WordList {
    /// Returns every section: the first word of its head, the rest of it, and its phrases.
    pub(in crate::form) fn sections(
        self,
    ) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let sections = self.0.split("\n[").skip(1).filter_map(|section| section.split_once(']'));
        sections.map(|(head, says)| {
            let (first, rest) = head.split_once(' ').unwrap_or((head, ""));
            (first, rest, says)
        })
    }

    /// Returns the sections whose head begins with a word: the rest of it, and the phrases.
    pub(in crate::form) fn under(
        self,
        word: &str,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.sections()
            .filter_map(move |(first, rest, says)| (first == word).then_some((rest, says)))
    }

    /// Returns each phrase of those sections.
    pub(in crate::form) fn phrases(self, word: &str) -> impl Iterator<Item = &'static str> {
        self.under(word).flat_map(|(_, says)| says.split(',')).map(str::trim)
    }

    /// Returns those phrases, to be looked for in texts.
    pub(in crate::form) fn lexicon(self, word: &str) -> Lexicon<()> {
        Lexicon::new(self.under(word).map(|(_, says)| ((), says)))
    }
}

/// Returns the phrases that speak for a kind, and how strongly.
pub(super) fn kinds() -> impl Iterator<Item = ((FieldKind, i32), &'static str)> {
    KINDS.sections().map(|(kind, strength, says)| {
        // `none` has no token.
        let kind = FieldKind::from_token(kind).unwrap_or_default();
        ((kind, strength.parse().unwrap_or_default()), says)
    })
}

/// Returns the phrases that speak most for a kind.
pub(super) fn of(kind: FieldKind) -> &'static str {
    KINDS.under(kind.token()).next().map_or("", |(_, says)| says)
}

/// Returns the phrases that speak for what only the person may give.
pub(super) fn private() -> impl Iterator<Item = (SecretKind, &'static str)> {
    let heads = [
        ("national-id", SecretKind::NationalId),
        ("bank-account", SecretKind::BankAccount),
        ("security-answer", SecretKind::SecurityAnswer),
    ];
    let lists = heads.into_iter().map(|(head, secret)| (secret, PRIVATE.under(head)));
    lists.flat_map(|(secret, list)| list.map(move |(_, says)| (secret, says)))
}

/// Returns the phrases that reveal the purpose of a form.
pub(in crate::form) fn purposes() -> impl Iterator<Item = (Aim, &'static str)> {
    let sections = PURPOSES.sections();
    sections.filter_map(|(aim, _, says)| Aim::from_token(aim).map(|aim| (aim, says)))
}

/// Returns the phrases that hint at it.
pub(super) fn hints() -> impl Iterator<Item = (Aim, &'static str)> {
    let hints = PURPOSES.under("hints");
    hints.filter_map(|(aim, says)| Aim::from_token(aim).map(|aim| (aim, says)))
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeSet, vec::Vec};

    use super::*;

    #[test]
    fn word_list_has_sections_after_its_introduction() {
        let list =
            WordList("Of [this] and that.\n\n[fruit sour]\nlemon,\nsloe\n\n[fruit]\npear\n[nut]\n");
        let all: Vec<_> = list.sections().collect();
        assert_eq!(
            all,
            [("fruit", "sour", "\nlemon,\nsloe\n"), ("fruit", "", "\npear"), ("nut", "", "\n")]
        );
        assert_eq!(list.phrases("fruit").collect::<Vec<_>>(), ["lemon", "sloe", "pear"]);
        assert!(list.lexicon("fruit").is_in("two lemon trees"));
        assert_eq!(list.phrases("fruits").count(), 0);
    }

    // The phrases under an unknown head would be dropped silently.
    #[test]
    fn every_head_is_known_and_has_phrases() {
        for (kind, strength, says) in KINDS.sections() {
            assert!(kind == "none" || FieldKind::from_token(kind).is_some(), "{kind}");
            assert!(strength.parse::<i32>().is_ok_and(|it| (1..=20).contains(&it)), "{kind}");
            assert!(!says.trim().is_empty(), "{kind}");
        }
        assert_eq!(private().count(), PRIVATE.sections().count());
        let known = [
            (CONTROLS, "onward send save sign enters delete aside agrees agreed closes crosses"),
            (
                LISTS,
                "countries states state-codes months titles sexes cards languages currencies day \
                 month year captcha",
            ),
            (MONEY, "pay subscribe news costs signs codes coins total"),
            (
                PURPOSES,
                "log-in sign-up change-password recover checkout newsletter contact search code \
                 hints sends unsent asides",
            ),
            (TRAPS, "marks bait human says keeps empty unless"),
        ];
        for (list, heads) in known {
            let found: BTreeSet<&str> = list.sections().map(|(first, ..)| first).collect();
            assert_eq!(found, heads.split(' ').collect());
            assert!(found.iter().all(|head| list.phrases(head).all(|phrase| !phrase.is_empty())));
        }
        assert_eq!(purposes().count(), 9);
        assert_eq!(hints().count(), 2);
    }
}
