//! What a goal says that turns tools off. It counts only as a separate instruction: a
//! question about tools is a question.

use alloc::{string::String, vec::Vec};

/// What a goal turns off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DisabledFeature {
    /// Every tool.
    Tools,
    /// Tools that search.
    Search,
}

/// Instructions, with what may follow them.
const ORDERS: [(&str, DisabledFeature); 5] = [
    ("do not use tools", DisabledFeature::Tools),
    ("don't use tools", DisabledFeature::Tools),
    ("do not use any tools", DisabledFeature::Tools),
    ("do not search", DisabledFeature::Search),
    ("don't search", DisabledFeature::Search),
];
/// Instructions alone, or after a word about answering.
const MANNERS: [(&str, DisabledFeature); 3] = [
    ("without tools", DisabledFeature::Tools),
    ("without searching", DisabledFeature::Search),
    ("without a search", DisabledFeature::Search),
];
/// Instructions only alone: "no search results" asks for something.
const ALONE: [(&str, DisabledFeature); 4] = [
    ("no tools", DisabledFeature::Tools),
    ("use no tools", DisabledFeature::Tools),
    ("no search", DisabledFeature::Search),
    ("with no search", DisabledFeature::Search),
];
/// What may follow an instruction: "do not search the web" is another one.
const FOLLOW: [&str; 10] = [
    "at all",
    "anything",
    "for anything",
    "anywhere",
    "for this",
    "for it",
    "here",
    "to answer",
    "the documents",
    "in the documents",
];
/// Words about answering, and how many words may come before the excluded tools.
const ANSWERS: [&str; 8] = ["answer", "explain", "say", "tell", "reply", "respond", "think", "do"];
const FEW: usize = 3;
/// How a question begins, also where its mark is forgotten.
const QUESTIONS: [&str; 24] = [
    "why", "how", "what", "when", "where", "which", "who", "whose", "whom", "is", "are", "was",
    "were", "does", "did", "can", "could", "should", "would", "will", "may", "must", "has", "have",
];

/// Returns what a goal turns off, and the words that do so.
pub(super) fn off(goal: &str) -> Option<(DisabledFeature, &'static str)> {
    let goal = goal.to_lowercase().replace('\u{2019}', "'");
    let orders = sentences(&goal).into_iter().filter(|sentence| !asks(sentence));
    let clauses: Vec<String> = orders.flat_map(clauses).collect();
    // Excluding tools excludes the search too.
    clauses
        .iter()
        .filter_map(|clause| said(clause))
        .min_by_key(|(off, _)| *off == DisabledFeature::Search)
}

fn said(clause: &str) -> Option<(DisabledFeature, &'static str)> {
    let whole = |phrase: &str| {
        let rest = clause.strip_prefix(phrase);
        let goes_on = |rest: &str| rest.strip_prefix(' ').is_some_and(|it| FOLLOW.contains(&it));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" but ") || goes_on(rest))
    };
    let ends = |phrase: &str| {
        let mut rest = clause.strip_suffix(phrase).unwrap_or_default().split_whitespace();
        rest.clone().count() <= FEW && rest.next().is_some_and(|first| ANSWERS.contains(&first))
    };
    let orders = ORDERS.iter().find(|(phrase, _)| whole(phrase));
    let manners = || MANNERS.iter().find(|(phrase, _)| whole(phrase) || ends(phrase));
    let alone = || ALONE.iter().find(|(phrase, _)| clause == *phrase);
    orders.or_else(manners).or_else(alone).map(|(phrase, off)| (*off, *phrase))
}

/// Returns the sentences of a text, each with its mark. A full stop within a name ends none.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut ended) = (0, false);
    for (at, c) in text.char_indices() {
        if c == '\n' || (ended && c.is_whitespace()) {
            sentences.extend(text.get(start..at));
            start = at;
        }
        ended = matches!(c, '.' | '!' | '?');
    }
    sentences.extend(text.get(start..));
    sentences
}

fn asks(sentence: &str) -> bool {
    let sentence = sentence.trim();
    let first = sentence.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    sentence.ends_with('?') || QUESTIONS.contains(&first)
}

/// Returns the clauses of a sentence, without polite words.
fn clauses(sentence: &str) -> Vec<String> {
    let clauses = sentence.split([',', ';', '(', ')']);
    let plain = |clause: &str| {
        let words = clause.trim().trim_end_matches(['.', '!']).split_whitespace();
        let words = words.filter(|word| *word != "please").collect::<Vec<_>>().join(" ");
        let bare = ["and ", "but "].iter().find_map(|word| words.strip_prefix(word));
        bare.unwrap_or(&words).into()
    };
    clauses.map(plain).collect()
}
