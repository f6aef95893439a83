//! Errors of SQLite, sorted by what a caller can do about them.

use pointsman_kernel::id::Seq;
use rusqlite::ErrorCode;

use super::super::{RunId, StoreDamage, StoreError};

impl StoreError {
    /// Sorts an error that came up while reading.
    pub(super) fn reading(run: Option<&RunId>, source: rusqlite::Error) -> Self {
        Self::sorted(run, None, source)
    }

    /// Sorts an error by what a caller can do about it.
    pub(super) fn sorted(run: Option<&RunId>, seq: Option<Seq>, source: rusqlite::Error) -> Self {
        let run = run.cloned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { run, seq },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { run, seq },
            Some(
                // All statements are fixed, so one that SQLite cannot read has met a table
                // that is not ours.
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown,
            )
            // A value of another kind than was written.
            | None => Self::damaged(run, seq, StoreDamage::File(source.to_string())),
            Some(_) => Self::Other { run, seq, source: source.into() },
        }
    }
}
