//! Connections for reading: a few are kept, each read sees the file at one moment.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use rusqlite::Connection;

use super::{super::StoreError, SqliteOptions, chain::Places, schema};

/// Reads a journal on the caller's own thread. A store reads so in the background; a program
/// without a runtime of tasks does it itself.
#[derive(Debug)]
pub struct SqliteReader {
    path: PathBuf,
    busy: Duration,
    most: usize,
    /// Whether the file cannot be written to, and nothing beside it is looked at.
    frozen: bool,
    /// Whether the order of the runs can be relied upon.
    ordered: bool,
    idle: Mutex<Vec<Connection>>,
    /// Whether it is closed; held by each read while it lasts.
    closed: RwLock<bool>,
    reads: AtomicU64,
    pub(super) places: Places,
}

impl SqliteReader {
    pub(super) fn new(path: &Path, options: &SqliteOptions, ordered: bool) -> Self {
        let (busy, most) = (options.busy, options.readers);
        Self {
            path: path.into(),
            busy,
            most,
            frozen: false,
            ordered,
            idle: Mutex::default(),
            closed: RwLock::default(),
            reads: AtomicU64::new(0),
            places: Places::default(),
        }
    }

    /// Reads from a file that cannot be written to.
    pub(super) fn frozen(path: &Path, options: &SqliteOptions, ordered: bool) -> Self {
        Self { frozen: true, ..Self::new(path, options, ordered) }
    }

    pub(super) const fn is_frozen(&self) -> bool {
        self.frozen
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Opens a connection of the caller's own, unless the reader is closed.
    pub(super) fn open_own(&self) -> Result<Connection, StoreError> {
        let closed = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed { Err(over()) } else { self.open() }
    }

    fn open(&self) -> Result<Connection, StoreError> {
        if self.frozen {
            return schema::open_frozen(&self.path);
        }
        schema::open_to_read(&self.path, self.busy)
    }

    /// Reads in one transaction, so that all of it is of the same moment.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reads.fetch_add(1, Relaxed);
        let closed = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(over());
        }
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        let transaction = connection
            .unchecked_transaction()
            .map_err(|source| StoreError::reading(None, source))?;
        let result = read(&transaction);
        drop(transaction);
        // A connection that met damage may hold pages of it, so it is not used again.
        if !matches!(result, Err(StoreError::Damaged { .. } | StoreError::Other { .. })) {
            let mut idle = self.lock();
            if idle.len() < self.most {
                idle.push(connection);
            }
        }
        result
    }

    /// Returns how many times something was read so far, each at one moment. For tests.
    #[doc(hidden)]
    pub fn reads(&self) -> u64 {
        self.reads.load(Relaxed)
    }

    /// Closes all connections, after the reads that are in progress. No read begins after that.
    pub(super) fn close(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // A list of connections is whole at every moment.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a read gets that was dropped by its caller and begins after the end.
fn over() -> StoreError {
    StoreError::Other { run: None, seq: None, source: "the store is closed".into() }
}
