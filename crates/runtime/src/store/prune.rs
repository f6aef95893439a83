//! Which runs are removed, and what went with them.

use std::collections::BTreeSet;

use super::{RunId, RunRow};

/// Which runs to remove: only unclaimed runs that have ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PruneOptions {
    /// Runs made before this time may go, in milliseconds since 1970; without it, runs
    /// of any age.
    pub before_ms: Option<u64>,
    /// How many of the newest ended runs to keep in any case.
    pub keep: Option<usize>,
    /// Only list what would be removed.
    pub dry_run: bool,
}

/// Removed runs, or those that would be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PruneReport {
    /// The runs, the newest first.
    pub runs: Vec<RunRow>,
    /// Runs that were kept because they have an owner.
    pub held: Vec<RunId>,
    /// Runs that were kept because they are damaged: whether they have ended is unknown.
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
        // An active run may ask again for the result of its child, and would restart it.
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
