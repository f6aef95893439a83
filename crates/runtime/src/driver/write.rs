//! Writing an entry: step 4, with a word to those who watch where it takes long.

use std::{pin::pin, sync::Arc, time::Duration};

use super::{DriveError, Driver};
use crate::{
    observe::Notice,
    store::{Append, Committed, Opening},
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
    ) -> Result<Committed, DriveError> {
        let (store, seq) = (Arc::clone(&self.site.store), append.seq);
        let mut writing = pin!(async move {
            match opening {
                Some(opening) => store.begin(append, opening).await,
                None => store.append(append).await,
            }
        });
        if let Ok(written) = tokio::time::timeout(LONG, writing.as_mut()).await {
            return Ok(written?);
        }
        let why = format!(
            "entry {} is not on disk yet; another process may be writing to the journal",
            seq.0
        );
        self.tell(&Notice::Delayed(why.into()));
        Ok(writing.await?)
    }
}
