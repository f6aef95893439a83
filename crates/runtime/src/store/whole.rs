//! A run with all that is kept of it, to be compared with what its lines derive.

use pointsman_kernel::id::{Digest, Seq};

use super::{
    PromptRow, RunId, RunRow, Store, StoreError, chain, prompt, read,
    seal::{Tip, signed, unsigned},
};

/// A run with all that is kept of it, as it was at one moment.
#[derive(Debug)]
pub struct Whole {
    /// Its row.
    pub row: RunRow,
    /// Its lines, whose chain was checked.
    pub lines: Vec<String>,
    /// What is kept beside each line.
    pub beside: Vec<Beside>,
    /// Its prompts up to the entry that was asked for, or what is wrong with them.
    pub prompts: Result<Vec<PromptRow>, StoreError>,
}

/// What is kept beside an entry's line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Beside {
    /// The state that the run was in after the entry.
    pub state: Box<str>,
    /// How the run had ended.
    pub ended: Option<Box<str>>,
    /// When it wanted to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// How many prompts were kept with the entry.
    pub prompts: u64,
    /// Whether the columns have their seal.
    pub sealed: bool,
}

impl Store {
    /// Returns a run with all that is kept of it, and its prompts up to an entry. Lines and the
    /// row were checked; what is kept beside them is for the caller to compare.
    pub fn whole(&self, id: &RunId, until: Seq) -> Result<Whole, StoreError> {
        self.readers.read(|connection| {
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
