//! Pruning: runs that have ended and are not wanted any more are removed.

use super::{Answer, Hold, RunId, RunRow, Store, StoreError, Work, gone};

/// Which runs are to go. Only runs that have ended and that nobody holds ever do.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Prune {
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
pub struct Pruned {
    /// The runs, the newest first.
    pub runs: Vec<RunRow>,
    /// Runs that were left because somebody holds them.
    pub held: Vec<RunId>,
    /// How many artifacts went with them; none are counted in a dry run.
    pub artifacts: u64,
}

impl Prune {
    /// Picks the runs that match, from a list with the newest first.
    fn pick(&self, runs: Vec<RunRow>) -> Vec<RunRow> {
        // Without a word about which, none: a slip must not empty the journal.
        if self.before_ms.is_none() && self.keep.is_none() {
            return Vec::new();
        }
        let old = |row: &RunRow| self.before_ms.is_none_or(|before| row.created_ms < before);
        let ended = runs.into_iter().filter(|row| row.ended.is_some());
        ended.skip(self.keep.unwrap_or(0)).filter(old).collect()
    }
}

/// Runs that are held and removed at a time: every hold is an open file.
const PORTION: usize = 128;

impl Store {
    /// Removes runs with all that is theirs, and gives the space back to the disk.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let picked = prune.pick(self.runs()?);
        let mut portions = picked.chunks(PORTION).peekable();
        while let Some(portion) = portions.next() {
            let mut holds: Vec<(RunId, Hold)> = Vec::with_capacity(portion.len());
            for row in portion {
                match self.hold(&row.id)? {
                    Some(hold) => {
                        holds.push((row.id.clone(), hold));
                        pruned.runs.push(row.clone());
                    }
                    None => pruned.held.push(row.id.clone()),
                }
            }
            if prune.dry_run {
                continue;
            }
            // All of them can share artifacts, so the sweep comes once, at the end.
            let sweep = portions.peek().is_none();
            match self.ask(Work::Prune { holds, sweep }).await? {
                Answer::Swept(artifacts) => pruned.artifacts = artifacts,
                _ => return Err(gone()),
            }
        }
        Ok(pruned)
    }
}
