//! Which runs are removed, and what went with them.

use std::collections::BTreeSet;

use super::{RunId, RunRow};

/// Which runs are to go. Only runs that have ended and that nobody holds ever do.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PruneOptions {
    /// Runs made before this time may go, in milliseconds since 1970; without it, runs
    /// of any age.
    pub before_ms: Option<u64>,
    /// So many of the newest runs that have ended are kept in any case.
    pub keep: Option<usize>,
    /// Only tells what would go.
    pub dry_run: bool,
}

/// What was removed, or would be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PruneReport {
    /// The runs, the newest first.
    pub runs: Vec<RunRow>,
    /// Runs that were left because somebody holds them.
    pub held: Vec<RunId>,
    /// Runs that were left because they are damaged: what became of them is not known.
    pub damaged: Vec<RunId>,
    /// How many artifacts went with them; none are counted in a dry run.
    pub artifacts: u64,
    /// Whether artifacts had to be left, because what refers to them is damaged.
    pub unswept: bool,
}

/// What was removed with a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RemovedRuns {
    /// The run and its children.
    pub runs: Vec<RunId>,
    /// Whether artifacts had to be left, because what refers to them is damaged.
    pub unswept: bool,
}

impl PruneOptions {
    /// Without a word about which, none: a slip must not empty the journal.
    pub(super) const fn is_nothing(&self) -> bool {
        self.before_ms.is_none() && self.keep.is_none()
    }

    /// Picks the runs that match, from a list with the newest first.
    pub fn pick(&self, runs: Vec<RunRow>) -> Vec<RunRow> {
        if self.is_nothing() {
            return Vec::new();
        }
        let old = |row: &RunRow| self.before_ms.is_none_or(|before| row.made_ms() < before);
        // A run that goes on may ask again what its child came to, and would begin it anew.
        let open: BTreeSet<String> =
            runs.iter().filter(|row| row.ended.is_none()).map(|row| row.id.to_string()).collect();
        let needed = |row: &RunRow| {
            let id = row.id.as_str();
            id.match_indices('-').any(|(at, _)| id.get(..at).is_some_and(|it| open.contains(it)))
        };
        let ended = runs.into_iter().filter(|row| row.ended.is_some() && !needed(row));
        ended.skip(self.keep.unwrap_or(0)).filter(old).collect()
    }
}
