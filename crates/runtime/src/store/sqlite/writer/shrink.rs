//! Giving room back to the disk.

use rusqlite::Connection;

/// Returns free pages to the disk, a few at a time, so that no other process waits for long. It
/// does not wait itself: pages that a reader still needs are returned at a later checkpoint.
pub(super) fn shrink(connection: &Connection) -> rusqlite::Result<()> {
    let free = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.query_row("PRAGMA freelist_count", [], |row| row.get(0))
    };
    let mut left = free(connection)?;
    while left > 0 {
        let mut vacuum = connection.prepare("PRAGMA incremental_vacuum(2000)")?;
        let mut pages = vacuum.query([])?;
        // Each step frees one page.
        while pages.next()?.is_some() {}
        let now = free(connection)?;
        if now >= left {
            break;
        }
        left = now;
    }
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
