//! An error of SQLite that several jobs share.

use rusqlite::ffi;

/// An error for several callers, although it cannot be cloned.
pub(super) struct SharedError {
    error: ffi::Error,
    text: String,
}

impl SharedError {
    pub(super) fn of(source: &rusqlite::Error) -> Self {
        let error = source.sqlite_error().copied();
        let error = error.unwrap_or_else(|| ffi::Error::new(ffi::SQLITE_CORRUPT));
        Self { error, text: source.to_string() }
    }

    pub(super) fn again(&self) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(self.error, Some(self.text.clone()))
    }
}
