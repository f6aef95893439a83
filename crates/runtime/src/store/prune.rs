//! Pruning: runs that have ended and are not wanted any more are removed, and single runs
//! whatever their state.

use std::collections::BTreeSet;

use pointsman_kernel::id::Seq;
use rusqlite::params;

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
    /// Runs that were left because they are damaged: what became of them is not known.
    pub damaged: Vec<RunId>,
    /// How many artifacts went with them; none are counted in a dry run.
    pub artifacts: u64,
    /// Whether artifacts had to be left, because what refers to them is damaged.
    pub unswept: bool,
}

/// What was removed with a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Removed {
    /// The run and its children.
    pub runs: Vec<RunId>,
    /// Whether artifacts had to be left, because what refers to them is damaged.
    pub unswept: bool,
}

impl Prune {
    /// Without a word about which, none: a slip must not empty the journal.
    const fn is_nothing(&self) -> bool {
        self.before_ms.is_none() && self.keep.is_none()
    }

    /// Picks the runs that match, from a list with the newest first.
    fn pick(&self, runs: Vec<RunRow>) -> Vec<RunRow> {
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

/// Runs that are held and removed at a time: every hold is an open file.
const PORTION: usize = 128;

impl Store {
    /// Removes runs with all that is theirs, and gives the space back to the disk.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let picked = prune.pick(self.list()?.runs);
        for portion in picked.chunks(PORTION) {
            let mut holds: Vec<(RunId, Hold)> = Vec::with_capacity(portion.len());
            for row in portion {
                match self.lines(&row.id, Seq(0)) {
                    Ok(_) => {}
                    Err(StoreError::Damaged { .. }) => {
                        pruned.damaged.push(row.id.clone());
                        continue;
                    }
                    // Somebody else has removed it since it was listed.
                    Err(StoreError::NoSuchRun { .. }) => continue,
                    Err(error) => return Err(error),
                }
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
            self.ask(Work::Prune { holds, whatever: false }).await?;
        }
        // All of them can share artifacts, so the sweep comes once, at the end.
        if !prune.dry_run && !prune.is_nothing() {
            let swept = self.sweep().await?;
            (pruned.artifacts, pruned.unswept) = (swept.unwrap_or(0), swept.is_none());
        }
        Ok(pruned)
    }

    async fn sweep(&self) -> Result<Option<u64>, StoreError> {
        match self.ask(Work::Sweep).await? {
            Answer::Swept(swept) => Ok(swept),
            _ => Err(gone()),
        }
    }

    /// Removes one run with its children, whatever their state: also what is damaged, or what
    /// this build cannot read. Returns nothing if somebody holds one of them.
    pub async fn remove(&self, id: &RunId) -> Result<Option<Removed>, StoreError> {
        let (mut holds, mut removed) = (Vec::new(), Removed::default());
        for run in self.family(id)? {
            let Some(hold) = self.hold(&run)? else { return Ok(None) };
            holds.push((run.clone(), hold));
            removed.runs.push(run);
        }
        if holds.is_empty() {
            return Err(StoreError::NoSuchRun { run: id.clone() });
        }
        self.ask(Work::Prune { holds, whatever: true }).await?;
        removed.unswept = self.sweep().await?.is_none();
        Ok(Some(removed))
    }

    /// Returns a run and its children by their names alone.
    fn family(&self, id: &RunId) -> Result<Vec<RunId>, StoreError> {
        // The children's names begin with its own: `.` is the letter after `-`.
        let (from, to) = (format!("{id}-"), format!("{id}."));
        self.readers.read(|connection| {
            let fail = |source| StoreError::reading(Some(id), source);
            let mut query = connection
                .prepare_cached("SELECT id FROM run WHERE id = ?1 OR (id > ?2 AND id < ?3)")
                .map_err(fail)?;
            let found = query
                .query_map(params![id.as_str(), from, to], |row| row.get(0).map(RunId::from_row));
            found.and_then(Iterator::collect).map_err(fail)
        })
    }
}
