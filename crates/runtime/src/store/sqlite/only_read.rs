//! A journal that cannot be written to, on a full disk or where everything is read-only: what
//! it holds can be read all the same, if no log lies beside it.

use std::{ffi::OsString, fs, io, path::Path, sync::Arc};

use super::{
    Backlog, Feed, Gates, Polled, SqliteOptions, SqliteReader, SqliteStore, StoreError, schema,
};

impl SqliteStore {
    /// Opens a journal to be read only, after it could not be opened to be written to.
    pub(super) fn only_read(
        path: &Path,
        options: &SqliteOptions,
        error: StoreError,
    ) -> Result<Self, StoreError> {
        let unwritable = matches!(
            error,
            StoreError::Full { .. } | StoreError::ReadOnly { .. } | StoreError::Open { .. }
        );
        // The first error also describes what is wrong with the file itself.
        if !unwritable || !is_settled(path) {
            return Err(error);
        }
        let Ok(ordered) = schema::check_frozen(path) else { return Err(error) };
        Ok(Self {
            path: path.into(),
            reader: Arc::new(SqliteReader::frozen(path, options, ordered)),
            feed: Feed::default(),
            polled: Polled::default(),
            gates: Gates::ahead(Arc::clone(&options.ahead_ms)),
            backlog: Backlog::default(),
            options: options.clone(),
            jobs: None,
            thread: None,
            writer: None,
            unwritable: Some(error.to_string()),
        })
    }

    /// Refuses to write to a journal that can only be read.
    pub(super) fn check_writable(&self) -> Result<(), StoreError> {
        match &self.unwritable {
            Some(why) => Err(StoreError::OnlyRead { path: self.path.clone(), why: why.clone() }),
            None => Ok(()),
        }
    }
}

/// Returns whether the file holds all that was written to it: its log is missing or empty.
fn is_settled(path: &Path) -> bool {
    let mut log = OsString::from(path.as_os_str());
    log.push("-wal");
    let empty = match fs::metadata(log) {
        Ok(log) => log.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    empty && fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0)
}
