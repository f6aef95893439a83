//! What makes a line a link of a chain.

use pointsman_kernel::id::{Digest, Seq};
use serde::Deserialize;

use super::{Append, StoreError};

/// The number of a line, and the digest of the line before it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Link {
    pub(super) seq: Seq,
    pub(super) prev: Digest,
}

impl Link {
    /// Reads it off a line, whatever else the line says.
    pub(super) fn of(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// Reads it off an entry that is to be written, and checks that it can stand there. The
    /// first entry of a run follows no other.
    pub(super) fn checked(append: &Append, first: bool) -> Result<Self, StoreError> {
        let unfit = |why: &str| {
            let (run, seq) = (append.run.clone(), append.seq);
            Err(StoreError::Unfit { run, seq, why: why.into() })
        };
        let Some(link) = Self::of(&append.line) else {
            return unfit("the entry has no number and no link to the entry before");
        };
        if link.seq != append.seq {
            return unfit("the entry has the wrong number");
        }
        if first && (link.seq != Seq(1) || link.prev != Digest::default()) {
            return unfit("a run must begin with entry 1, which has no predecessor");
        }
        Ok(link)
    }
}
