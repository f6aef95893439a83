//! Settings of a store.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

/// How a store is opened. [`SqliteOptions::default`] suits one machine with many runs.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The size that the journal may grow to, in bytes. An entry that would pass it is
    /// refused as on a full disk.
    pub max_bytes: Option<u64>,
    /// How long to wait for another process that writes. Readers do not wait.
    pub busy: Duration,
    /// How many entries share a flush at most.
    pub together: usize,
    /// How many connections are kept open for reading.
    pub readers: usize,
    /// Whether to write an entry on the caller's own thread if no other write is pending. That
    /// blocks the thread for one flush, and saves a single run two thread switches. For programs
    /// whose threads have nothing else to do.
    pub inline_commit: bool,
    /// Time between two polls for writes of other processes, while there are readers of changes.
    pub poll: Duration,
    /// A commit that fails on purpose, for tests: no safe call makes a disk refuse to
    /// flush.
    #[doc(hidden)]
    pub fault: Option<InjectedFault>,
    /// How far the clock is set ahead, for tests.
    #[doc(hidden)]
    pub ahead_ms: Arc<AtomicU64>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            max_bytes: None,
            busy: Duration::from_mins(1),
            together: 1_024,
            readers: 4,
            inline_commit: false,
            poll: Duration::from_millis(200),
            fault: None,
            ahead_ms: Arc::default(),
        }
    }
}

/// A commit that fails on purpose.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct InjectedFault {
    /// Which commit fails; the first is 1.
    pub commit: u64,
    /// SQLite's code for the failure.
    pub code: i32,
    /// Whether the entries reached the disk all the same.
    pub kept: bool,
}
