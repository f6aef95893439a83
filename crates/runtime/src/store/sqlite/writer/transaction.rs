//! The transaction around a batch.

use rusqlite::Connection;

/// A transaction that takes the writer's place at once. Its few words are prepared once:
/// they come with every step.
pub(super) struct Transaction<'c> {
    pub(super) connection: &'c Connection,
    open: bool,
}

impl<'c> Transaction<'c> {
    pub(super) fn begin(connection: &'c Connection) -> rusqlite::Result<Self> {
        run(connection, "BEGIN IMMEDIATE")?;
        Ok(Self { connection, open: true })
    }

    /// Begins a transaction that becomes the writer only when it changes something, and only if
    /// there were no other changes since it began.
    pub(super) fn look(connection: &'c Connection) -> rusqlite::Result<Self> {
        run(connection, "BEGIN")?;
        Ok(Self { connection, open: true })
    }

    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        run(self.connection, "COMMIT")?;
        self.open = false;
        Ok(())
    }

    pub(super) fn rollback(mut self) -> rusqlite::Result<()> {
        self.open = false;
        run(self.connection, "ROLLBACK")
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SQLite may have rolled it back on its own.
        if self.open && !self.connection.is_autocommit() {
            drop(run(self.connection, "ROLLBACK"));
        }
    }
}

fn run(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
