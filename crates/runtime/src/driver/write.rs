//! Writing an entry: step 4, with a word to those who watch where it takes long.

use std::{pin::pin, time::Duration};

use pointsman_kernel::id::EffectId;

use super::{DriveError, Driver, tell::tell};
use crate::{
    journal::Committed,
    observe::LiveNotice,
    store::{Append, Opening},
};

/// How long an entry may take before those who watch are told. A flush takes milliseconds.
const LONG: Duration = Duration::from_secs(1);

impl Driver {
    /// Writes an entry, and waits until it is on disk: as long as the store is set to wait for
    /// another process that writes.
    pub(super) async fn write(
        &mut self,
        append: Append,
        opening: Option<Opening>,
        starts: Vec<(EffectId, bool)>,
    ) -> Result<Committed, DriveError> {
        let seq = append.seq;
        let mut writing = pin!(self.journal.write(append, opening, starts));
        if let Ok(written) = tokio::time::timeout(LONG, writing.as_mut()).await {
            return Ok(written?);
        }
        let why = format!(
            "entry {} is not on disk yet; another process may be writing to the journal",
            seq.0
        );
        tell(&self.site.observers, &self.id, LiveNotice::Delayed(why.into()));
        Ok(writing.await?)
    }
}
