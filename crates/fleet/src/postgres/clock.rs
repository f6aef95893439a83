//! The server's clock, as this machine knows it: runs and delays are dated by it.

use pointsman_runtime::{
    clock::{boot_ms, now_ms},
    store::StoreError,
};

use super::{
    checksum::{signed, unsigned},
    database::{Database, Failure},
};

/// How often the server is asked, if its answers are lost.
const TRIES: u32 = 3;

/// The server's time at one moment of ours. The monotonic clock adds the time since then, so that
/// setting this machine's clock later changes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerClock {
    server_ms: u64,
    boot_ms: u64,
}

impl ServerClock {
    /// Asks the server for its time: it answered half-way between question and answer.
    pub(super) async fn read(database: &Database) -> Result<Self, StoreError> {
        let mut tries = 0..TRIES;
        loop {
            tries.next();
            let asked = boot_ms();
            let rows = database.write("SELECT pointsman.now_ms()", &[]).await;
            let answered = boot_ms();
            match rows {
                Ok(rows) => {
                    let server_ms = rows.first().map_or_else(now_ms, |row| unsigned(row.get(0)));
                    return Ok(Self { server_ms, boot_ms: asked.midpoint(answered) });
                }
                // Each try is timed by itself.
                Err(Failure::Unknown(_)) if !tries.is_empty() => {}
                Err(failure) => return Err(failure.read(None)),
            }
        }
    }

    /// Returns how far this machine's clock is ahead of the server's.
    pub(super) fn ahead_ms(&self) -> i64 {
        let server = self.server_ms.saturating_add(boot_ms().saturating_sub(self.boot_ms));
        signed(now_ms()).saturating_sub(signed(server))
    }
}
