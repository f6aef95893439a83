//! Plans that people write: the phases of a task, read from a file.
//!
//! A TOML file has a `[[phase]]` for each; any other file has an enumerated list, as
//! Markdown or plain text has it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_agents::code::Phase;
use serde::Deserialize;
use thiserror::Error;

/// Bytes of a file that is still a plan.
const MAX_BYTES: u64 = 256 * 1024;
/// Minutes that a phase may be expected to take: a year.
const MAX_MINUTES: u64 = 525_600;

/// Why a file is not a plan.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It cannot be read.
    #[error("the plan {} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too long.
    #[error("the plan {} is longer than {MAX_BYTES} bytes", path.display())]
    Long {
        /// The file.
        path: PathBuf,
    },
    /// A line of it makes no sense.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// It has too many phases.
    #[error("the plan {} has {has} phases, but the chart permits {most}", path.display())]
    Many {
        /// The file.
        path: PathBuf,
        /// Its phases.
        has: usize,
        /// The chart's limit.
        most: u64,
    },
}

impl PlanError {
    /// Returns what to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "give the path of a plan after `--plan`",
            Self::Many { .. } => "merge some of them",
            Self::Line { .. } | Self::Long { .. } => {
                "a plan is a TOML file of `[[phase]] description = \"…\"`, or a list `1. …`, `2. …`"
            }
        }
    }
}

/// Reads a plan with at most this many phases.
pub fn read(path: &Path, most: u64) -> Result<Vec<Phase>, PlanError> {
    let file = |source| PlanError::File { path: path.into(), source };
    let size = fs::metadata(path).map_err(file)?.len();
    if size > MAX_BYTES {
        return Err(PlanError::Long { path: path.into() });
    }
    let text = fs::read_to_string(path).map_err(file)?;
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let phases = if is_toml { tables(&text) } else { list(&text) };
    let phases = phases.map_err(|(line, why)| PlanError::Line { path: path.into(), line, why })?;
    let has = phases.len();
    if u64::try_from(has).is_ok_and(|has| has > most) {
        return Err(PlanError::Many { path: path.into(), has, most });
    }
    Ok(phases)
}

type Wrong = (usize, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(default)]
    phase: Vec<toml::Spanned<Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    description: String,
    expected_minutes: Option<u64>,
}

fn tables(text: &str) -> Result<Vec<Phase>, Wrong> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let whole: PlanFile = toml::from_str(text).map_err(|error| {
        (error.span().map_or(1, |span| line(span.start)), error.message().to_owned())
    })?;
    if whole.phase.is_empty() {
        return Err((1, "the plan has no `[[phase]]`".into()));
    }
    let phase = |table: toml::Spanned<Table>| {
        let at = line(table.span().start);
        let Table { description, expected_minutes } = table.into_inner();
        let description = description.trim().to_owned();
        if description.is_empty() {
            return Err((at, "the phase has an empty `description`".into()));
        }
        Ok(Phase { description, expected_ms: minutes(expected_minutes).map_err(|why| (at, why))? })
    };
    whole.phase.into_iter().map(phase).collect()
}

fn minutes(minutes: Option<u64>) -> Result<Option<u64>, String> {
    match minutes {
        Some(0) => Err("a phase must take at least a minute".into()),
        Some(minutes) if minutes > MAX_MINUTES => Err("a phase must take at most a year".into()),
        minutes => Ok(minutes.map(|minutes| minutes.saturating_mul(60_000))),
    }
}

/// Reads a numbered list. Indented lines belong to the item above; headings and text around the
/// list are ignored.
fn list(text: &str) -> Result<Vec<Phase>, Wrong> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let (mut inside, mut all_ones) = (false, true);
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        let indented = text.starts_with([' ', '\t']);
        if let Some((number, words)) = numbered(trimmed).filter(|_| !indented) {
            if words.is_empty() {
                return Err((line, format!("item {number} is empty")));
            }
            all_ones &= number == 1;
            let expected = items.len() + 1;
            if number != expected && !all_ones {
                return Err((line, format!("expected item {expected}, found item {number}")));
            }
            items.push((line, words.to_owned()));
            inside = true;
        } else if let Some((_, item)) = items.last_mut().filter(|_| inside && indented) {
            // A nested item is part of the phase's description.
            let words = trimmed.trim_start_matches(['-', '*', '+']).trim_start();
            if !words.is_empty() {
                item.push_str("; ");
                item.push_str(words);
            }
        } else {
            inside &= trimmed.is_empty();
        }
    }
    if items.is_empty() {
        return Err((1, "the plan has no numbered list: no line begins with `1.`".into()));
    }
    items.into_iter().map(|(line, words)| item(&words).map_err(|why| (line, why))).collect()
}

/// Takes a number and its dot or bracket off a line.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let rest = rest.strip_prefix(['.', ')'])?;
    // `1.5 times` is not an item.
    let words = rest.strip_prefix([' ', '\t']).or_else(|| rest.is_empty().then_some(rest))?;
    Some((number.parse().ok()?, words.trim()))
}

/// Reads `description (10 min)`.
fn item(words: &str) -> Result<Phase, String> {
    let said = words.strip_suffix(')').and_then(|words| words.rsplit_once('('));
    let time = said.and_then(|(what, time)| {
        let time = time.trim().trim_start_matches("about ");
        let digits = time.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = time.split_at_checked(digits)?;
        let known = matches!(unit.trim(), "min" | "minute" | "minutes" | "m");
        Some((what.trim(), number.parse().ok().filter(|_| known)?))
    });
    let (what, time) = time.map_or((words, None), |(what, time)| (what, Some(time)));
    if what.is_empty() {
        return Err("the item has only a duration".into());
    }
    Ok(Phase { description: what.into(), expected_ms: minutes(time)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(phases: Result<Vec<Phase>, Wrong>) -> Vec<(String, Option<u64>)> {
        let phases = phases.expect("it is a plan");
        phases.into_iter().map(|phase| (phase.description, phase.expected_ms)).collect()
    }

    #[test]
    fn a_plan_is_tables_or_a_list() {
        let toml = "[[phase]]\ndescription = \"Find it\"\nexpected_minutes = 10\n\n\
                    [[phase]]\ndescription = \" Mend it \"\n";
        let markdown =
            "# Plan\n\nBy hand:\n\n1. Find it (10 min)\n2) Mend it\n\nThat is 1.5 of it.\n";
        let wanted = [("Find it".into(), Some(600_000)), ("Mend it".into(), None)];
        assert_eq!(told(tables(toml)), wanted);
        assert_eq!(told(list(markdown)), wanted);
        let nested = "1. Find it\n   - in a\n   - in b\n\n1. Mend it (all of it)\n";
        let wanted = [("Find it; in a; in b".into(), None), ("Mend it (all of it)".into(), None)];
        assert_eq!(told(list(nested)), wanted);
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let wrong = |found: Result<Vec<Phase>, Wrong>| found.expect_err("it is no plan");
        assert_eq!(wrong(list("Some words.\n")).0, 1);
        assert_eq!(wrong(list("1. a\n3. b\n")), (2, "expected item 2, found item 3".into()));
        assert_eq!(wrong(list("1. a\n2.\n")), (2, "item 2 is empty".into()));
        assert_eq!(wrong(list("1. (5 min)\n")).0, 1);
        assert_eq!(wrong(tables("")).1, "the plan has no `[[phase]]`");
        assert_eq!(
            wrong(tables("[[phase]]\ndescription = \"a\"\n[[phase]]\ndescripton = 1\n")).0,
            4
        );
        let zero = "[[phase]]\ndescription = \"a\"\nexpected_minutes = 0\n";
        assert_eq!(wrong(tables(zero)), (1, "a phase must take at least a minute".into()));
        assert_eq!(wrong(tables("[[phase]]\ndescription = ''\n")).0, 1);
    }
}
