//! What is wrong with a chart, as data: the binary renders it, the kernel never prints.

use alloc::{string::String, vec::Vec};
use core::cmp::Ordering;

use serde::Serialize;

pub use crate::code::Code;

/// A range of bytes in the chart file.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// Returns the line and column of the first byte, both counted from 1; the
    /// column counts characters.
    pub fn locate(self, source: &str) -> (usize, usize) {
        let before = source.get(..self.start).unwrap_or(source);
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        (line.saturating_add(1), column.saturating_add(1))
    }
}

/// One reason why a chart is refused.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Diagnostic {
    /// The stable code, for `pointsman explain`.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do next.
    pub hint: String,
}

/// Collects diagnostics; checks go on after the first so that all are told at once.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Diagnostic>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Diagnostic { code, message: message.into(), span, hint: hint.into() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the findings in the order of the file, each once.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by(|left, right| match left.span.cmp(&right.span) {
            Ordering::Equal => left.code.cmp(&right.code),
            order @ (Ordering::Less | Ordering::Greater) => order,
        });
        self.0.dedup();
        self.0
    }
}

/// Returns a hint that names the nearest known name, or lists what there is.
pub fn did_you_mean<'a>(
    wrong: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    let near = known
        .clone()
        .map(|name| (distance(wrong, name), name))
        .filter(|(far, name)| *far <= (wrong.len().max(name.len()) / 3).max(1))
        .min();
    if let Some((_, name)) = near {
        return alloc::format!("did you mean `{name}`?");
    }
    let mut names: Vec<&str> = known.collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return alloc::format!("there is no {what} to name here");
    }
    let listed: Vec<String> =
        names.iter().take(12).map(|name| alloc::format!("`{name}`")).collect();
    let more = if names.len() > 12 { ", …" } else { "" };
    alloc::format!("known: {}{more}", listed.join(", "))
}

/// The edit distance, where swapping two neighbours is one edit.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut last = '\0';
    for (i, l) in left.chars().enumerate() {
        let mut row = Vec::with_capacity(above.len());
        row.push(i.saturating_add(1));
        for (j, r) in right.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX);
            let replace = at(&above, j).saturating_add(usize::from(l != *r));
            let insert = at(&row, j).saturating_add(1);
            let delete = at(&above, j.saturating_add(1)).saturating_add(1);
            let mut best = replace.min(insert).min(delete);
            let swapped = j > 0 && *r == last && right.get(j.wrapping_sub(1)) == Some(&l);
            if i > 0 && swapped {
                best = best.min(at(&before, j.wrapping_sub(1)).saturating_add(1));
            }
            row.push(best);
        }
        before = core::mem::replace(&mut above, row);
        last = l;
    }
    above.last().copied().unwrap_or_default()
}
