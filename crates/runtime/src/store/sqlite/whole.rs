//! A run with all that is kept of it, to be compared with what its lines derive.

use pointsman_kernel::id::{Digest, Seq};

use super::{
    super::{Beside, RunId, StoreError, Whole},
    Reader, chain, prompt, read,
    seal::{Tip, signed, unsigned},
};

impl Reader {
    /// Returns a run with all that is kept of it, and its prompts up to an entry. Lines and the
    /// row were checked; what is kept beside them is for the caller to compare.
    pub fn whole(&self, id: &RunId, until: Seq) -> Result<Whole, StoreError> {
        self.read(|connection| {
            let row = read::run(connection, id)?;
            let lines = read::lines(connection, &row, Seq(0))?;
            let mut digests = lines.iter().rev().map(|line| Digest::of(line.as_bytes()));
            let mut beside = Vec::with_capacity(lines.len());
            chain::back(connection, &row, Seq(1), |seq, cells| {
                let fail = |source| StoreError::sorted(Some(id), Some(seq), source);
                let columns = cells.beside().map_err(fail)?;
                let tip = Tip {
                    seq: signed(seq.0),
                    state: &columns.state,
                    ended: columns.ended.as_deref(),
                    wake: columns.wake,
                    prompts: columns.prompts,
                    link: &digests.next().unwrap_or_default(),
                };
                let sealed = tip.seal() == columns.tip;
                beside.push(Beside {
                    sealed,
                    state: columns.state.into(),
                    ended: columns.ended.map(Into::into),
                    wake: columns.wake.map(unsigned),
                    prompts: unsigned(columns.prompts),
                });
                Ok(())
            })?;
            beside.reverse();
            let prompts = prompt::prompts(connection, &row, until);
            Ok(Whole { row, lines, beside, prompts })
        })
    }
}
