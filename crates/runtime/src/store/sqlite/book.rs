//! The book: one sealed row that says which runs and how many messages there are.
//!
//! A run's own seals cannot tell that a whole run has vanished from a damaged file. The
//! book can: it holds the number of runs and the sum of their ids' digests.

use pointsman_kernel::id::Digest;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    RunId, StoreDamage, StoreError,
    seal::{Seal, Sealing},
};

/// What the book says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Book {
    /// The journal's own name, drawn when it was made.
    pub(super) name: [u8; 16],
    /// Grows with every change of the book.
    pub(super) version: i64,
    /// How many runs there are.
    pub(super) runs: i64,
    /// The sum, without carry, of the digests of their ids.
    pub(super) sum: [u8; 32],
    /// The last message's number: none is given twice.
    pub(super) messages: i64,
    /// How many messages wait.
    pub(super) waiting: i64,
}

impl Book {
    fn seal(&self) -> Seal {
        Sealing::of("book")
            .bytes(&self.name)
            .number(self.version)
            .number(self.runs)
            .bytes(&self.sum)
            .number(self.messages)
            .number(self.waiting)
            .seal()
    }

    /// Reads it.
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let fail = |source| StoreError::reading(None, source);
        let found = connection
            .prepare_cached(
                "SELECT name, version, runs, sum, letters, waiting, seal FROM book WHERE id = 1",
            )
            .and_then(|mut query| {
                query
                    .query_row([], |row| {
                        let book = Self {
                            name: row.get(0)?,
                            version: row.get(1)?,
                            runs: row.get(2)?,
                            sum: row.get(3)?,
                            messages: row.get(4)?,
                            waiting: row.get(5)?,
                        };
                        Ok((book, Seal(row.get(6)?)))
                    })
                    .optional()
            })
            .map_err(fail)?;
        match found {
            Some((book, seal)) if book.seal() == seal => Ok(book),
            _ => Err(StoreError::damaged(None, None, StoreDamage::Book)),
        }
    }

    /// Writes it, for the first time or again.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO book (id, name, version, runs, sum, letters, waiting, seal)
                 VALUES (1,?1,?2,?3,?4,?5,?6,?7)",
            )?
            .execute(params![
                self.name,
                self.version,
                self.runs,
                self.sum,
                self.messages,
                self.waiting,
                self.seal().0,
            ])
            .map(drop)
    }

    /// Enters a run.
    pub(super) fn add(&mut self, id: &RunId) {
        self.runs = self.runs.saturating_add(1);
        mix(&mut self.sum, id);
    }

    /// Strikes a run out.
    pub(super) fn remove(&mut self, id: &RunId) {
        self.runs = self.runs.saturating_sub(1);
        mix(&mut self.sum, id);
    }

    /// Checks that these are the runs.
    pub(super) fn check<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a RunId>,
    ) -> Result<(), StoreError> {
        let mut seen = Self::default();
        for id in ids {
            seen.add(id);
        }
        if (seen.runs, seen.sum) == (self.runs, self.sum) {
            return Ok(());
        }
        let damage = StoreDamage::Runs { has: seen.runs, wants: self.runs };
        Err(StoreError::damaged(None, None, damage))
    }
}

fn mix(sum: &mut [u8; 32], id: &RunId) {
    for (byte, more) in sum.iter_mut().zip(Digest::of(id.as_str().as_bytes()).0) {
        *byte ^= more;
    }
}

/// The book within one transaction: read when first needed, written once at its end.
#[derive(Debug, Default)]
pub(super) struct OpenBook(Option<(Book, Book)>);

impl OpenBook {
    /// Returns the book, to be changed.
    pub(super) fn book(&mut self, connection: &Connection) -> Result<&mut Book, StoreError> {
        if self.0.is_none() {
            let book = Book::read(connection)?;
            self.0 = Some((book.clone(), book));
        }
        match &mut self.0 {
            Some((_, book)) => Ok(book),
            None => Err(StoreError::damaged(None, None, StoreDamage::Book)),
        }
    }

    /// Writes the book if it changed; returns its version if it was read.
    pub(super) fn close(self, connection: &Connection) -> rusqlite::Result<Option<i64>> {
        let Some((was, mut book)) = self.0 else { return Ok(None) };
        if was != book {
            book.version = book.version.saturating_add(1);
            book.write(connection)?;
        }
        Ok(Some(book.version))
    }
}
