//! The server's clock, as this machine knows it: runs and delays are dated by it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pointsman_runtime::{
    clock::{boot_ms, now_ms},
    store::StoreError,
};
use tokio::{task::JoinHandle, time::sleep};

use super::{
    checksum::{signed, unsigned},
    database::{Database, Failure},
};

/// How often the server is asked, if its answers are lost.
const TRIES: u32 = 3;
/// A later answer that takes longer than this is too vague to replace an earlier one.
const PROMPT: Duration = Duration::from_secs(1);

/// The server's clock. It is read again and again for as long as this value lives, because clocks drift
/// apart.
#[derive(Debug)]
pub(super) struct ServerClock {
    last: Arc<Mutex<Reading>>,
    reading: JoinHandle<()>,
}

impl Drop for ServerClock {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// The server's time at one moment of ours. The monotonic clock adds the time since then, so that
/// setting this machine's clock later changes nothing.
#[derive(Clone, Copy, Debug)]
struct Reading {
    server_ms: u64,
    boot_ms: u64,
    /// How long the answer took.
    took: Duration,
}

impl ServerClock {
    /// Reads the clock, and from then on every so often.
    pub(super) async fn start(database: &Database, every: Duration) -> Result<Self, StoreError> {
        let mut tries = 0..TRIES;
        let first = loop {
            tries.next();
            match Reading::take(database).await {
                Ok(reading) => break reading,
                // Each try is timed by itself.
                Err(Failure::Unknown(_)) if !tries.is_empty() => {}
                Err(failure) => return Err(failure.read(None)),
            }
        };
        let last = Arc::new(Mutex::new(first));
        // A server that is away is asked again soon.
        let reading = tokio::spawn(follow(database.once(), Arc::clone(&last), every));
        Ok(Self { last, reading })
    }

    /// Returns how far this machine's clock is ahead of the server's.
    pub(super) fn ahead_ms(&self) -> i64 {
        let Reading { server_ms, boot_ms: read_ms, .. } = *lock(&self.last);
        let server = server_ms.saturating_add(boot_ms().saturating_sub(read_ms));
        signed(now_ms()).saturating_sub(signed(server))
    }
}

fn lock(last: &Mutex<Reading>) -> MutexGuard<'_, Reading> {
    // A reading is replaced as a whole.
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reading {
    /// Asks the server for its time: it answered half-way between question and answer.
    async fn take(database: &Database) -> Result<Self, Failure> {
        let asked = boot_ms();
        let rows = database.write("SELECT pointsman.now_ms()", &[]).await?;
        let answered = boot_ms();
        let server_ms = rows.first().map_or_else(now_ms, |row| unsigned(row.get(0)));
        let took = Duration::from_millis(answered.saturating_sub(asked));
        Ok(Self { server_ms, boot_ms: asked.midpoint(answered), took })
    }
}

/// Reads the clock again and again.
async fn follow(database: Database, last: Arc<Mutex<Reading>>, every: Duration) {
    loop {
        sleep(every).await;
        match Reading::take(&database).await {
            Ok(reading) => {
                let mut last = lock(&last);
                if reading.took <= PROMPT.max(last.took) {
                    *last = reading;
                }
            }
            Err(failure) => tracing::debug!(?failure, "the clock of the server cannot be read"),
        }
    }
}
