//! The file: its tables, its format, how it is opened.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::StoreError;

/// The format that this build writes. `PRAGMA user_version` holds it.
pub(super) const FORMAT: i64 = 1;
/// `PRAGMA application_id`: the letters `Ptsm`, so that no other file is taken for ours.
const OURS: i64 = 0x5074_736d;

const TABLES: &str = "
CREATE TABLE run (
    id         TEXT PRIMARY KEY,
    agent      TEXT NOT NULL,
    chart      TEXT NOT NULL,
    source     TEXT NOT NULL,
    goal       TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    parent     TEXT,
    parent_seq INTEGER,
    seq        INTEGER NOT NULL,
    state      TEXT NOT NULL,
    ended      TEXT,
    wake       INTEGER
) STRICT;
CREATE INDEX run_by_time ON run (created_ms);
CREATE TABLE entry (
    run  TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (
    run  TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Opens the file for the one writer, and makes its tables if it is new.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let fail = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotOurs { path: path.into() },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { run: None, source },
        _ => StoreError::Open { path: path.into(), source },
    };
    let mut connection = Connection::open(path).map_err(fail)?;
    settings(&connection).map_err(fail)?;
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (ours, format) =
        (number("application_id").map_err(fail)?, number("user_version").map_err(fail)?);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fail)?;
    match (ours, tables) {
        (OURS, _) if format > FORMAT => {
            return Err(StoreError::TooNew { path: path.into(), found: format });
        }
        (OURS, _) => {}
        (0, 0) => {
            let made = connection.transaction().map_err(fail)?;
            made.execute_batch(TABLES).map_err(fail)?;
            made.pragma_update(None, "application_id", OURS).map_err(fail)?;
            made.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
            made.commit().map_err(fail)?;
        }
        _ => return Err(StoreError::NotOurs { path: path.into() }),
    }
    Ok(connection)
}

/// Every acknowledged entry survives a power loss: FULL, and a log written ahead.
fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)
}

/// Opens the file for a reader, which never disturbs the writer.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|source| StoreError::Open { path: path.into(), source })?;
    connection
        .busy_timeout(std::time::Duration::from_secs(10))
        .map_err(|source| StoreError::Open { path: path.into(), source })?;
    Ok(connection)
}
