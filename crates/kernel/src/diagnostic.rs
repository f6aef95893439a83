//! Mistakes of a chart as data: the binary renders them, the kernel never prints.

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::cmp::Ordering;

use serde::Serialize;

use crate::chart::Spanned;
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
    /// The message.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do next.
    pub hint: String,
}

/// Findings that are shown; of the rest only the number is known.
const SHOWN: usize = 100;

/// What to do next about a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Hint {
    Said(String),
    /// The nearest of many names. It is looked for only where the finding is shown, so that
    /// a chart with thousands of mistakes takes no longer than its length.
    Nearest {
        wrong: String,
        known: Arc<[Box<str>]>,
        what: &'static str,
    },
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Finding {
    code: Code,
    span: Span,
    message: String,
    hint: Hint,
}

/// Collects findings; checks continue after the first, so that all are reported at once.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let (message, hint) = (message.into(), Hint::Said(hint.into()));
        self.0.push(Finding { code, span, message, hint });
    }

    /// Adds a finding about a name that is not known; the hint names the nearest one.
    pub(crate) fn unknown(
        &mut self,
        code: Code,
        wrong: &Spanned<String>,
        known: &Arc<[Box<str>]>,
        what: &'static str,
    ) {
        let message = alloc::format!("no {what} is called `{}`", **wrong);
        let (wrong, span) = (wrong.value.clone(), wrong.span);
        let hint = Hint::Nearest { wrong, known: Arc::clone(known), what };
        self.0.push(Finding { code, span, message, hint });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first findings in the order of the file, each once, and how many more
    /// there are.
    pub(crate) fn into_sorted(mut self) -> (Vec<Diagnostic>, usize) {
        self.0.sort_by(|left, right| match left.span.cmp(&right.span) {
            Ordering::Equal => left.code.cmp(&right.code),
            order @ (Ordering::Less | Ordering::Greater) => order,
        });
        self.0.dedup();
        let more = self.0.len().saturating_sub(SHOWN);
        let shown = self.0.into_iter().take(SHOWN).map(|Finding { code, span, message, hint }| {
            let hint = match hint {
                Hint::Said(hint) => hint,
                Hint::Nearest { wrong, known, what } => {
                    did_you_mean(&wrong, known.iter().map(AsRef::as_ref), what)
                }
            };
            Diagnostic { code, message, span, hint }
        });
        (shown.collect(), more)
    }
}

/// Returns a hint that names the nearest known name, or lists the known names.
pub fn did_you_mean<'a>(
    wrong: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    if let Some(name) = nearest(wrong, known.clone()) {
        return alloc::format!("did you mean `{name}`?");
    }
    let mut names: Vec<&str> = known.collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return alloc::format!("there is no {what} here");
    }
    let listed: Vec<String> =
        names.iter().take(12).map(|name| alloc::format!("`{name}`")).collect();
    let more = if names.len() > 12 { ", …" } else { "" };
    alloc::format!("known: {}{more}", listed.join(", "))
}

/// Returns the known name that was probably meant.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|name| (distance(wrong, name), name));
    let near = near.filter(|(far, name)| *far <= (wrong.len().max(name.len()) / 3).max(1)).min();
    near.map(|(_, name)| name)
}

/// The edit distance, where swapping two neighbours is one edit.
fn distance(left: &str, right: &str) -> usize {
    #[cfg(test)]
    tests::count();
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

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::string::String;
    use core::{cell::Cell, fmt::Write as _};
    use std::thread_local;

    use crate::{chart::verify, job::Registry};

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts a comparison of two names.
    pub(super) fn count() {
        COMPARED.set(COMPARED.get().saturating_add(1));
    }

    /// Returns how many names are compared for a chart with this many states, each with three
    /// mistakes, and this many outcomes in total.
    fn compared(states: usize, ways: usize) -> usize {
        let mut chart = String::from(
            "chart = \"bad\"\nversion = 1\nstart = \"nowhere\"\nauthority = \"text\"\n\
             [any]\ncancel = \"nobody\"\n",
        );
        for at in 0..states {
            write!(chart, "[state.one_{at}]\nrunn = \"model.reply\"\n").ok();
            for way in 0..ways {
                writeln!(chart, "on.way_{way} = {{ to = \"x_{at}_{way}\", spend = \"y\" }}").ok();
            }
        }
        COMPARED.set(0);
        let registry = Registry { agents: &[], tools: &[], children: &[] };
        let refused = verify(&chart, &registry).err();
        let shown = refused.as_ref().map(|refused| refused.diagnostics.len());
        assert_eq!(shown, Some(100), "the first hundred are shown");
        let more = refused.map_or(0, |refused| refused.more);
        assert!(more >= states, "{more} more");
        COMPARED.get()
    }

    #[test]
    fn the_work_for_mistakes_grows_no_faster_than_the_file() {
        let (few, many) = (compared(500, 1), compared(5_000, 1));
        assert!(many <= few.saturating_mul(10), "{few} comparisons, then {many}");
        let (few, many) = (compared(20, 90), compared(200, 90));
        assert!(many <= few.saturating_mul(10), "{few} comparisons, then {many}");
    }
}
