//! The file: its tables, its format, how it is opened.

use std::{fmt::Write as _, path::Path, thread, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, config::DbConfig, ffi};

use super::{
    SqliteOptions, StoreError,
    anchor::{self, Anchor},
    checksum::signed,
    list,
    manifest::Manifest,
    queue,
    watermark::{self, Watermark},
};
use crate::{
    clock::{Stopwatch, entropy},
    private,
};

/// The format that this build writes. `PRAGMA user_version` holds it.
pub(super) const FORMAT: i64 = 3;
/// The first format: without leases.
const LEASELESS: i64 = 1;
/// The format before: without an index over the queue.
const UNINDEXED: i64 = 2;
/// `PRAGMA application_id`: the messages `Ptsm`, so that no other file is taken for ours.
const OURS: i64 = 0x5074_736d;
/// The size of a page, in bytes.
const PAGE: u64 = 4_096;
/// Time between two tries to change a file over to its log.
const PAUSE: Duration = Duration::from_millis(5);

/// The index of the queue: the runs that are ready, and those that become ready at a known time.
const READY: &str = "ready";

/// The tables and the index, by name. SQLite keeps these texts, and they are compared at each
/// opening.
///
/// An index is another place for damage without a checksum, so there is only one, which is compared
/// with its table at each opening: see `queue`. A run is found by its id, and its entries one from
/// the other: see `chain`. The order of the runs is a separate table, which is compared with them at
/// each opening: see `list`.
pub(super) const TABLES: [(&str, &str); 13] = [
    (
        "run",
        "CREATE TABLE run (
    id TEXT NOT NULL, agent TEXT NOT NULL, chart TEXT NOT NULL, source BLOB NOT NULL,
    goal TEXT NOT NULL, created_ms INTEGER NOT NULL, parent TEXT, parent_seq INTEGER,
    fixed BLOB NOT NULL,
    seq INTEGER NOT NULL, state TEXT NOT NULL, ended TEXT, wake INTEGER,
    prompts INTEGER NOT NULL, link BLOB NOT NULL, tip BLOB NOT NULL, place INTEGER,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID",
    ),
    (
        "entry",
        "CREATE TABLE entry (
    place INTEGER PRIMARY KEY, follows INTEGER, run TEXT NOT NULL, seq INTEGER NOT NULL,
    state TEXT NOT NULL, ended TEXT, wake INTEGER, prompts INTEGER NOT NULL,
    tip BLOB NOT NULL, line TEXT, artifact BLOB
) STRICT",
    ),
    (
        "snapshot",
        "CREATE TABLE snapshot (
    run TEXT NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL, body TEXT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (run)
) STRICT, WITHOUT ROWID",
    ),
    (
        "prompt",
        "CREATE TABLE prompt (
    run TEXT NOT NULL, seq INTEGER NOT NULL, idx INTEGER NOT NULL,
    effect_seq INTEGER NOT NULL, effect_index INTEGER NOT NULL, parts BLOB NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (run, seq, idx)
) STRICT, WITHOUT ROWID",
    ),
    (
        "artifact",
        "CREATE TABLE artifact (
    digest BLOB NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (digest)
) STRICT, WITHOUT ROWID",
    ),
    (
        "letter",
        "CREATE TABLE letter (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL, at_ms INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT",
    ),
    (
        "book",
        "CREATE TABLE book (
    id INTEGER PRIMARY KEY, name BLOB NOT NULL, version INTEGER NOT NULL,
    runs INTEGER NOT NULL, sum BLOB NOT NULL, letters INTEGER NOT NULL,
    waiting INTEGER NOT NULL, seal BLOB NOT NULL
) STRICT",
    ),
    (
        "lease",
        "CREATE TABLE lease (
    run TEXT NOT NULL, epoch INTEGER NOT NULL, owner BLOB NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (run)
) STRICT, WITHOUT ROWID",
    ),
    (
        "listing",
        "CREATE TABLE listing (
    made_ms INTEGER NOT NULL, run TEXT NOT NULL,
    PRIMARY KEY (made_ms, run)
) STRICT, WITHOUT ROWID",
    ),
    (
        "blob",
        "CREATE TABLE blob (
    run TEXT NOT NULL, digest BLOB NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (run, digest)
) STRICT, WITHOUT ROWID",
    ),
    (
        "queue",
        "CREATE TABLE queue (
    run TEXT NOT NULL, key TEXT NOT NULL, rank INTEGER NOT NULL, needs TEXT, seal BLOB NOT NULL,
    at_ms INTEGER, at_seal BLOB NOT NULL,
    PRIMARY KEY (run)
) STRICT, WITHOUT ROWID",
    ),
    (
        "request",
        "CREATE TABLE request (
    name TEXT NOT NULL, run TEXT NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID",
    ),
    (READY, "CREATE INDEX ready ON queue (at_ms) WHERE at_ms IS NOT NULL"),
];

/// Returns the tables of a format: each adds to those before it.
fn tables(format: i64) -> &'static [(&'static str, &'static str)] {
    let count = match format {
        LEASELESS => 7,
        UNINDEXED => 12,
        _ => TABLES.len(),
    };
    TABLES.get(..count).unwrap_or(&TABLES)
}

/// A journal that is open to be written to.
pub(super) struct OpenedDatabase {
    pub(super) connection: Connection,
    pub(super) watermark: Watermark,
    pub(super) anchor: Anchor,
    /// Whether the order of its runs can be relied upon.
    pub(super) ordered: bool,
}

/// Opens the file for the one writer, and creates its tables if it is new. A rejected file is
/// unchanged.
pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<OpenedDatabase, StoreError> {
    let fail = |source: rusqlite::Error| new_run(path, source);
    let reached = watermark::reached(path);
    watermark::check_emptied(path, reached.as_ref())?;
    // If the file cannot be created, opening it fails below with the reason.
    drop(private::file(path));
    let before = anchor::identity(path).ok();
    let mut connection = Connection::open(path).map_err(fail)?;
    connection.busy_timeout(options.busy).map_err(fail)?;
    // What a damaged log still holds must not be removed by a look at it.
    let closing = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(closing, true).map_err(fail)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(fail)?;
    if connection.is_readonly("main").map_err(fail)? {
        return Err(StoreError::ReadOnly { path: path.into() });
    }
    let format = {
        // Another process may be making the tables: all that is asked is of one moment.
        let _moment = connection.unchecked_transaction().map_err(fail)?;
        format(&connection, path)?
    };
    match format {
        None => make(&mut connection, path)?,
        Some(FORMAT) => {}
        Some(_) => upgrade(&mut connection, path)?,
    }
    settings(&connection, options).map_err(fail)?;
    check_tables(&connection, path, FORMAT)?;
    let manifest = watermark::check(path, reached.as_ref(), &connection)?;
    let lost = || StoreError::Lost { path: path.into(), run: None, seq: None };
    let anchor = Anchor::drop_at(path).map_err(|_| lost())?;
    if before.is_some() && anchor::identity(path).ok() != before {
        return Err(lost());
    }
    connection.set_db_config(closing, false).map_err(fail)?;
    let ordered = list::settle(&mut connection) && queue::settle(&connection);
    Ok(OpenedDatabase { connection, watermark: Watermark::new(path, &manifest), anchor, ordered })
}

/// Has a connection leave the log as it is when it is closed.
pub(super) fn keep_log(connection: &Connection) {
    // Were it refused, the log is removed as it always was.
    drop(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true));
}

/// Sorts an error that came up before the file was known to be a journal.
fn new_run(path: &Path, source: rusqlite::Error) -> StoreError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotOurs { path: path.into() },
        // A file whose header says that it is of no kind that SQLite knows is the second.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => StoreError::reading(None, source),
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path: path.into() },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { run: None, seq: None }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full { run: None, seq: None },
        // There is no space for SQLite's files beside the journal.
        _ if source.sqlite_extended_error_code() == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
            StoreError::Full { run: None, seq: None }
        }
        _ => StoreError::Open { path: path.into(), source: source.into() },
    }
}

/// Returns the format of the file, in the caller's transaction, or nothing if it is empty; refuses
/// one that is not ours.
fn format(connection: &Connection, path: &Path) -> Result<Option<i64>, StoreError> {
    let fail = |source: rusqlite::Error| new_run(path, source);
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let ours = number("application_id").map_err(fail)?;
    let format = number("user_version").map_err(fail)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fail)?;
    match (ours, format, tables) {
        (OURS, found @ LEASELESS..=FORMAT, _) => Ok(Some(found)),
        (OURS, found, _) if found > FORMAT => {
            Err(StoreError::TooNew { path: path.into(), found, known: FORMAT })
        }
        (OURS, ..) => Err(StoreError::Tables { path: path.into(), known: FORMAT }),
        (0, 0, 0) => Ok(None),
        _ => Err(StoreError::NotOurs { path: path.into() }),
    }
}

fn make(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |source: rusqlite::Error| new_run(path, source);
    // Both can only be chosen before the first page is written.
    connection.pragma_update(None, "page_size", signed(PAGE)).map_err(fail)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(fail)?;
    let made =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    // Another process may have made them while this one waited.
    if format(&made, path)?.is_some() {
        return Ok(());
    }
    for (_, table) in TABLES {
        made.execute_batch(table).map_err(fail)?;
    }
    let mut name = [0; 16];
    for (half, bits) in name.as_chunks_mut::<8>().0.iter_mut().zip([entropy(), entropy()]) {
        *half = bits.to_le_bytes();
    }
    Manifest { name, ..Manifest::default() }.write(&made).map_err(fail)?;
    made.pragma_update(None, "application_id", OURS).map_err(fail)?;
    made.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
    made.commit().map_err(fail)
}

/// Adds the tables that an earlier format lacks. All of it is done or nothing: a process that is
/// killed here leaves a journal of that format, which is upgraded at the next opening.
fn upgrade(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |source: rusqlite::Error| new_run(path, source);
    let upgraded =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let earlier = match format(&upgraded, path)? {
        // Another process has upgraded it while this one waited.
        None | Some(FORMAT) => return Ok(()),
        Some(earlier) => earlier,
    };
    check_tables(&upgraded, path, earlier)?;
    for (_, table) in TABLES.iter().skip(tables(earlier).len()) {
        upgraded.execute_batch(table).map_err(fail)?;
    }
    upgraded.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
    upgraded.commit().map_err(fail)
}

/// Every acknowledged entry survives a power loss: FULL, and a log written ahead.
fn settings(connection: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    write_ahead(connection, options)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Soon enough that the log is written over and does not grow: a flush of what lies
    // there already is the cheapest.
    connection.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    connection.set_prepared_statement_cache_capacity(32);
    if let Some(bytes) = options.max_bytes {
        // SQLite accepts no limit below the current size.
        let pages = signed((bytes / PAGE).max(1));
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

/// Switches the file to WAL mode. SQLite does not wait for other processes then, so processes that
/// open a new file at the same time retry.
fn write_ahead(connection: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    let began = Stopwatch::start();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(source)
                if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < options.busy =>
            {
                thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// Checks that the tables are exactly those of a format.
fn check_tables(connection: &Connection, path: &Path, format: i64) -> Result<(), StoreError> {
    let fail = |source: rusqlite::Error| StoreError::reading(None, source);
    let mut query = connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
        .map_err(fail)?;
    let found = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .and_then(Iterator::collect::<Result<Vec<(String, String, String, String)>, _>>)
        .map_err(fail)?;
    let wanted = tables(format);
    let same = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|((kind, name, table, text), (wants, sql))| {
            let (is, of) = if *wants == READY { ("index", "queue") } else { ("table", *wants) };
            (kind.as_str(), name.as_str(), table.as_str(), text.as_str()) == (is, *wants, of, *sql)
        });
    if same { Ok(()) } else { Err(StoreError::Tables { path: path.into(), known: format }) }
}

/// Opens the file for a reader, which never disturbs the writer.
pub(super) fn open_to_read(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let fail = |source| new_run(path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(busy).map_err(fail)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(fail)?;
    Ok(connection)
}

/// Opens a read-only file for a reader, without creating anything beside it or waiting.
pub(super) fn open_frozen(path: &Path) -> Result<Connection, StoreError> {
    let fail = |source| new_run(path, source);
    let whole = std::path::absolute(path)
        .map_err(|source| StoreError::Folder { path: path.into(), source })?;
    let mut address = String::from("file://");
    for byte in whole.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(address, "%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(address, flags).map_err(fail)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(fail)?;
    Ok(connection)
}

/// Checks that a file that cannot be written to is a whole journal. Returns whether the order of
/// its runs can be relied upon.
pub(super) fn check_frozen(path: &Path) -> Result<bool, StoreError> {
    let reached = watermark::reached(path);
    let connection = open_frozen(path)?;
    let Some(format) = format(&connection, path)? else {
        return Err(StoreError::NotOurs { path: path.into() });
    };
    check_tables(&connection, path, format)?;
    watermark::check(path, reached.as_ref(), &connection)?;
    Ok(format != LEASELESS && list::fits(&connection).is_ok_and(|fits| fits))
}
