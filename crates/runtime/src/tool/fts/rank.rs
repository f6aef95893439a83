//! Which pieces match a query: those with most of its words, rare ones first.

use super::chunk::{TextChunk, comment, is_prose};

/// Characters of a passage that are shown.
const SHOWN: usize = 400;
/// Lines of a comment that are shown before the best one.
const BEFORE: usize = 4;
/// How much more prose says than code of the same words.
const PROSE: f64 = 1.6;
/// How much a word counts that stands only in a heading above, or in the path.
const ABOVE: f64 = 0.4;
/// The weight of a text that contains the question itself.
const ASKED: f64 = 0.25;
/// The fewest words of a query that is looked for literally.
const QUESTION: usize = 4;

/// Words that every question has and no answer needs.
const COMMON: [&str; 40] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has",
    "have", "how", "i", "in", "is", "it", "its", "of", "on", "or", "our", "s", "that", "the",
    "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with",
];

/// Returns the words of a query that are worth looking for, in lower case.
pub(super) fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> =
        tokens(query).filter(|word| !COMMON.contains(&word.as_str())).collect();
    words.sort();
    words.dedup();
    words
}

pub(super) fn tokens(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Words with what each of them weighs: the rarer, the more.
pub(super) struct Weights {
    words: Vec<(String, f64)>,
    /// The literal query, if it is long enough to be distinctive.
    question: Option<String>,
}

impl Weights {
    /// Returns the weights of a query's words.
    pub(super) fn new(query: &str, words: Vec<(String, f64)>) -> Self {
        let asked: Vec<String> = tokens(query).collect();
        let question = (asked.len() >= QUESTION).then(|| asked.join(" "));
        Self { words, question }
    }

    /// Returns how well a piece of a file matches the words.
    pub(super) fn score(&self, path: &str, chunk: &TextChunk) -> f64 {
        let here: Vec<String> = tokens(&chunk.text).collect();
        let above: Vec<String> = tokens(&chunk.heading).chain(tokens(path)).collect();
        let sum: f64 = self
            .words
            .iter()
            .map(|(word, weight)| {
                if stands_in(word, &here) {
                    *weight
                } else if stands_in(word, &above) {
                    weight * ABOVE
                } else {
                    0.0
                }
            })
            .sum();
        // A heading alone says nothing yet, and commands in a fence are code.
        let heads = chunk.text.starts_with('#') && !chunk.text.contains('\n');
        let fence = chunk.text.trim_start().starts_with("```");
        let kind = if is_prose(path) && !heads && !fence { PROSE } else { 1.0 };
        // Who puts the same question does not answer it.
        let asks = self.question.as_ref().is_some_and(|asked| here.join(" ").contains(asked));
        sum * kind * if asks { ASKED } else { 1.0 }
    }

    /// Returns the part of a piece to show: a whole paragraph, the best line of code, or the whole
    /// comment around it.
    pub(super) fn shown(&self, path: &str, chunk: &TextChunk) -> (usize, String) {
        let (at, text) = if is_prose(path) {
            (0, chunk.text.split_whitespace().collect::<Vec<_>>().join(" "))
        } else {
            let (at, line) = self.best_line(&chunk.text);
            whole_comment(path, &chunk.text, at).unwrap_or_else(|| (at, line.trim().to_owned()))
        };
        let shown = match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text)),
            None => text,
        };
        (chunk.line.saturating_add(at), shown)
    }

    fn best_line<'t>(&self, text: &'t str) -> (usize, &'t str) {
        let mut best = (0, text.lines().next().unwrap_or(""), -1.0);
        for (at, line) in text.lines().enumerate() {
            let here: Vec<String> = tokens(line).collect();
            let score: f64 = self
                .words
                .iter()
                .filter(|(word, _)| stands_in(word, &here))
                .map(|(_, weight)| *weight)
                .sum();
            if score > best.2 {
                best = (at, line, score);
            }
        }
        (best.0, best.1)
    }
}

/// Returns the comment that a line belongs to, without its marks, and where it begins; nothing
/// for a line that is none. Of a long one the part around the line is kept.
fn whole_comment(path: &str, text: &str, at: usize) -> Option<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let said = |at: usize| comment(path, lines.get(at)?);
    said(at)?;
    let mut first = at;
    while first > at.saturating_sub(BEFORE) && first > 0 && said(first - 1).is_some() {
        first -= 1;
    }
    let words: Vec<&str> = (first..).map_while(said).filter(|said| !said.is_empty()).collect();
    Some((first, words.join(" ")))
}

/// Returns whether a word stands among others. A stem is enough: the index matches by
/// stems too.
fn stands_in(word: &str, among: &[String]) -> bool {
    let stem = stem(word);
    among.iter().any(|token| token.starts_with(stem) && token.len() <= word.len() + 4)
}

fn stem(word: &str) -> &str {
    let count = word.chars().count();
    let kept = count.saturating_sub(2).max(4);
    let end = word.char_indices().nth(kept).map_or(word.len(), |(at, _)| at);
    word.get(..end).unwrap_or(word)
}
