//! Pruning: removes old runs that have ended, and single runs in any state.

use pointsman_kernel::id::Seq;
use rusqlite::params;

use super::{
    PruneOptions, PruneReport, RemovedRuns, RunId, SqliteReader, SqliteStore, StoreError,
    WriteReply, WriteRequest, gone, lock::RunLock,
};

/// Runs that are held and removed at a time: every lock is an open file.
const PORTION: usize = 128;

impl SqliteStore {
    /// Removes runs with all that is theirs, and gives the space back to the disk.
    pub(super) async fn prune_runs(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        let mut pruned = PruneReport::default();
        let picked = prune.pick(self.read(SqliteReader::runs).await?);
        for portion in picked.chunks(PORTION) {
            let mut locks: Vec<(RunId, RunLock)> = Vec::with_capacity(portion.len());
            for row in portion {
                let id = row.id.clone();
                match self.read(move |reader| reader.lines(&id, Seq(0))).await {
                    Ok(_) => {}
                    Err(StoreError::Damaged { .. }) => {
                        pruned.damaged.push(row.id.clone());
                        continue;
                    }
                    // Another process has removed it since it was listed.
                    Err(StoreError::NoSuchRun { .. }) => continue,
                    Err(error) => return Err(error),
                }
                match self.lock_run(&row.id)? {
                    Some(lock) => {
                        locks.push((row.id.clone(), lock));
                        pruned.runs.push(row.clone());
                    }
                    None => pruned.held.push(row.id.clone()),
                }
            }
            if prune.dry_run {
                continue;
            }
            self.ask(WriteRequest::Prune { locks, whatever: false }).await?;
        }
        // All of them can share artifacts, so the sweep comes once, at the end.
        if !prune.dry_run && !prune.is_nothing() {
            let swept = self.sweep().await?;
            (pruned.artifacts, pruned.unswept) = (swept.unwrap_or(0), swept.is_none());
        }
        Ok(pruned)
    }

    async fn sweep(&self) -> Result<Option<u64>, StoreError> {
        match self.ask(WriteRequest::Sweep).await? {
            WriteReply::Swept(swept) => Ok(swept),
            _ => Err(gone()),
        }
    }

    /// Removes one run with its children, in any state: even if it is damaged, or unreadable for
    /// this build. Returns nothing if one of them has an owner.
    pub(super) async fn remove_run(&self, id: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        let (mut locks, mut removed) = (Vec::new(), RemovedRuns::default());
        let family = id.clone();
        for run in self.read(move |reader| reader.family(&family)).await? {
            let Some(lock) = self.lock_run(&run)? else { return Ok(None) };
            locks.push((run.clone(), lock));
            removed.runs.push(run);
        }
        if locks.is_empty() {
            return Err(StoreError::NoSuchRun { run: id.clone() });
        }
        self.ask(WriteRequest::Prune { locks, whatever: true }).await?;
        removed.unswept = self.sweep().await?.is_none();
        Ok(Some(removed))
    }
}

impl SqliteReader {
    /// Returns a run and its children by their names alone.
    fn family(&self, id: &RunId) -> Result<Vec<RunId>, StoreError> {
        // The children's names begin with its own: `.` is the message after `-`.
        let (from, to) = (format!("{id}-"), format!("{id}."));
        self.read(|connection| {
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
