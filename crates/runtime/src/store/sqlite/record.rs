//! A run with all that is kept of it, to be compared with what its lines derive.

use pointsman_kernel::id::{Digest, Seq};

use super::{
    super::{EntryColumns, RunId, RunRecord, StoreError},
    SqliteReader, chain,
    checksum::{Tip, signed, unsigned},
    prompt, read,
};

impl SqliteReader {
    /// Returns a run with all its stored data, and its prompts up to an entry. The lines and the
    /// row are verified; the caller compares the rest with them.
    pub fn record(&self, id: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        self.read(|connection| {
            let row = read::run(connection, id)?;
            let lines = read::lines(connection, &row, Seq(0))?;
            let mut digests = lines.iter().rev().map(|line| Digest::of(line.as_bytes()));
            let mut columns = Vec::with_capacity(lines.len());
            chain::back(connection, &row, Seq(1), |seq, cells| {
                let fail = |source| StoreError::sorted(Some(id), Some(seq), source);
                let found = cells.columns().map_err(fail)?;
                let tip = Tip {
                    seq: signed(seq.0),
                    state: &found.state,
                    ended: found.ended.as_deref(),
                    wake: found.wake,
                    prompts: found.prompts,
                    link: &digests.next().unwrap_or_default(),
                };
                let intact = tip.checksum() == found.tip;
                columns.push(EntryColumns {
                    intact,
                    state: found.state.into(),
                    ended: found.ended.map(Into::into),
                    wake: found.wake.map(unsigned),
                    prompts: unsigned(found.prompts),
                });
                Ok(())
            })?;
            columns.reverse();
            let prompts = prompt::prompts(connection, &row, until);
            Ok(RunRecord { row, lines, columns, prompts })
        })
    }
}
