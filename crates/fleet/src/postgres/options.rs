//! How a store in PostgreSQL is opened.

use std::time::Duration;

use super::lease::GivenUp;

/// How a store in PostgreSQL is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// How many connections it has at most. Reads, claims and the one writer share them.
    pub connections: usize,
    /// How long a lease lasts unless it is renewed.
    pub lease: Duration,
    /// Whether leases are renewed here, for as long as they are not dropped. Without it their owner
    /// calls [`renew`](pointsman_runtime::store::Store::renew).
    pub heartbeats: bool,
    /// How long the task of a run may hang before its lease is no longer renewed: another worker then
    /// takes the run over.
    pub hangs: Duration,
    /// The time limit of a request. Then the connection is dropped and the result is unknown: the
    /// server is never asked to cancel it.
    pub deadline: Duration,
    /// The time between two polls for changes of other processes, while there are subscribers.
    pub poll: Duration,
    /// The time between two looks at the server's clock.
    pub clock: Duration,
    /// Opens the store even if the server may lose committed entries: `fsync` is off, or
    /// `synchronous_commit` does not wait for the disk or for the standby.
    pub lossy: bool,
    /// The address of a Redis server that tells workers at once of runs that became ready.
    pub redis: Option<String>,
    /// The leases that were dropped in this process. Stores that share it wait for each other's: a
    /// run whose lease was dropped can then be claimed at once.
    #[doc(hidden)]
    pub given_up: GivenUp,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections: 8,
            lease: Duration::from_secs(30),
            heartbeats: true,
            hangs: Duration::from_mins(1),
            deadline: Duration::from_secs(30),
            poll: Duration::from_millis(500),
            clock: Duration::from_mins(1),
            lossy: false,
            redis: None,
            given_up: GivenUp::default(),
        }
    }
}
