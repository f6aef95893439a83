//! Folders of one test each.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
};

use pointsman_runtime::store::SqliteStore;

/// A folder that is removed again.
#[derive(Debug)]
pub struct TempFolder(pub PathBuf);

impl TempFolder {
    /// Makes one of its own, also where two tests give the same name.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be made.
    pub fn new(name: &str) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (process, made) = (process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(format!("pointsman-it-{name}-{process}-{made}"));
        // A test that was killed may have left it behind.
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    /// Returns where a journal goes, in a folder that is not there yet.
    pub fn journal(&self) -> PathBuf {
        self.0.join("deep/journal.db")
    }

    /// Opens the journal.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be opened.
    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.journal()).expect("the journal opens")
    }

    /// Opens the journal directly, to damage it.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn raw(&self) -> rusqlite::Connection {
        raw(&self.journal())
    }
}

/// Opens a journal directly, to damage it.
///
/// # Panics
///
/// Panics if there is none.
pub fn raw(journal: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(journal).expect("the database opens")
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
