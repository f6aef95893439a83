//! What a model may know of the person: a question gets the facts that its field needs, and
//! a text that repeats another one is not typed.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{classify::FoldedText, field::Field, profile::Profile};

/// The word by which a person gives a fact to every question.
const EVERY: &str = "*";
/// The fewest letters and digits that can be recognised in a text.
const LEAST: usize = 5;
/// Words of this length are the same if one begins with the other: `experience(s)`.
const STEM: usize = 4;

/// A fact, and the fields whose questions it is for.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fact {
    /// The fact.
    pub value: String,
    /// Words of the labels of these fields, or `*` for all; none stand for the fact's name.
    #[serde(rename = "for")]
    pub fields: Vec<String>,
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Self { value: value.into(), fields: Vec::new() }
    }
}

impl Fact {
    /// Returns whether it is for a field that is called so.
    fn is_for(&self, name: &str, called: &[String]) -> bool {
        if self.fields.is_empty() {
            return is_asked(name, called);
        }
        self.fields.iter().any(|words| words.trim() == EVERY || is_asked(words, called))
    }
}

impl Field {
    /// Returns what it is called: by its label and placeholder, and by its identifiers.
    pub fn called(&self) -> Vec<String> {
        let named = |name: &str| self.attributes.get(name).cloned().unwrap_or_default();
        let all = [self.label.clone(), self.placeholder.clone(), named("name"), named("id")];
        all.into_iter().filter(|it| !it.trim().is_empty()).collect()
    }
}

impl Profile {
    /// Renders the facts that are for a field which is called so, a line each.
    pub fn told(&self, called: &[String]) -> String {
        let given = self.facts.iter().filter(|(name, fact)| fact.is_for(name, called));
        let lines = given.map(|(name, fact)| format!("- {name}: {}", fact.value.trim()));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the name of a fact that a text repeats although it is not for the field which
    /// is called so. Text in `known`, the rest of the question, may be repeated.
    pub fn repeated(&self, text: &str, called: &[String], known: &str) -> Option<&str> {
        let told = format!("{known}\n{}", self.told(called));
        let (text, told) = (FoldedText::new(text), FoldedText::new(&told));
        let repeats = |sign: &String| text.solid().contains(sign) && !told.solid().contains(sign);
        let withheld = self.facts.iter().filter(|(name, fact)| !fact.is_for(name, called));
        let found = withheld.into_iter().find(|(_, fact)| signs(&fact.value).iter().any(repeats));
        found.map(|(name, _)| name.as_str())
    }
}

/// Returns whether one of the names contains all the words, in any order.
fn is_asked(words: &str, called: &[String]) -> bool {
    let wanted = FoldedText::new(words);
    let wanted_words = wanted.spaced();
    let same = |left: &str, right: &str| {
        let stem =
            |short: &str, long: &str| short.chars().count() >= STEM && long.starts_with(short);
        left == right || stem(left, right) || stem(right, left)
    };
    called.iter().map(|name| FoldedText::new(name)).any(|name| {
        let there = name.spaced();
        let has = |word: &str| there.split_whitespace().any(|it| same(word, it));
        let all = wanted_words.split_whitespace().all(has);
        !wanted.solid().is_empty() && (all || name.holds(words))
    })
}

/// Returns what a fact is known by in a text: all of it, and each number in it.
fn signs(value: &str) -> Vec<String> {
    let mut signs = Vec::from([FoldedText::new(value).solid().to_string()]);
    let mut number = String::new();
    for word in value.split_whitespace().chain([""]) {
        if word.contains(|c: char| c.is_numeric()) {
            number.push_str(FoldedText::new(word).solid());
        } else if !number.is_empty() {
            signs.push(core::mem::take(&mut number));
        }
    }
    signs.retain(|sign| sign.chars().count() >= LEAST);
    signs
}
