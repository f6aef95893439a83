//! What makes a line a link of a chain.

use pointsman_kernel::id::{Digest, Seq};
use serde::Deserialize;

use super::{Append, StoreError};

/// The number of a line, and the digest of the line before it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Link {
    /// The number.
    pub seq: Seq,
    /// The digest; of zeros where there is no line before.
    pub prev: Digest,
}

impl Link {
    /// Reads it off a line, whatever else the line says.
    pub fn of(line: &str) -> Option<Self> {
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
            return unfit("its line has no number and no link to the line before");
        };
        if link.seq != append.seq {
            return unfit("its line has another number");
        }
        if first && (link.seq != Seq(1) || link.prev != Digest::default()) {
            return unfit("a run begins with entry 1, which follows no other");
        }
        Ok(link)
    }
}
