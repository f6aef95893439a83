//! Terms: the part of a lease that the journal keeps.
//!
//! A run's row in `lease` names the term of its last owner. It is written in the transaction of
//! that owner's first entry, so a claim costs no flush. Entries of earlier terms are rejected from
//! then on, even if the old owner still has its lock.

use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    RunId, SqliteReader, StoreDamage, StoreError,
    checksum::{Checksum, ChecksumBuilder, signed, unsigned},
    queue, read,
};
use crate::clock::entropy;

/// One owner's time with a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Term {
    epoch: u64,
    /// Distinguishes owners that claimed the same epoch, because none of them wrote.
    owner: [u8; 8],
    /// Whether the journal has it.
    entered: bool,
}

impl Term {
    /// Returns the term after the last one in the journal.
    pub(super) fn after(last: u64) -> Self {
        let owner = entropy().to_le_bytes();
        Self { epoch: last.saturating_add(1), owner, entered: false }
    }

    pub(super) const fn number(&self) -> u64 {
        self.epoch
    }

    pub(super) fn epoch(&self) -> i64 {
        signed(self.epoch)
    }

    pub(super) const fn owner(&self) -> [u8; 8] {
        self.owner
    }

    /// Enters it, once.
    pub(super) fn enter(&self, connection: &Connection, run: &RunId) -> rusqlite::Result<()> {
        if self.entered {
            return Ok(());
        }
        queue::wake(connection, run)?;
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO lease (run, epoch, owner, seal) VALUES (?1,?2,?3,?4)",
            )?
            .execute(params![run.as_str(), self.epoch(), self.owner, self.checksum(run.as_str()).0])
            .map(drop)
    }

    /// Returns whether a later term was entered, or another owner's.
    pub(super) fn is_over(&self, connection: &Connection, run: &RunId) -> rusqlite::Result<bool> {
        connection
            .prepare_cached(
                "SELECT 1 FROM lease WHERE run = ?1
                 AND (epoch > ?2 OR epoch = ?2 AND owner <> ?3)",
            )?
            .exists(params![run.as_str(), self.epoch(), self.owner])
    }

    fn checksum(&self, run: &str) -> Checksum {
        ChecksumBuilder::of("lease").text(run).number(self.epoch()).bytes(&self.owner).checksum()
    }
}

impl SqliteReader {
    /// Returns the last recorded epoch of a run; 0 if there is none.
    pub(super) fn epoch(&self, run: &RunId) -> Result<u64, StoreError> {
        self.read(|connection| {
            read::run(connection, run)?;
            let fail = |source| StoreError::reading(Some(run), source);
            let found = connection
                .prepare_cached("SELECT epoch, owner, seal FROM lease WHERE run = ?1")
                .and_then(|mut query| {
                    query
                        .query_row(params![run.as_str()], |row| {
                            let epoch = unsigned(row.get(0)?);
                            let term = Term { epoch, owner: row.get(1)?, entered: true };
                            Ok((term, Checksum(row.get(2)?)))
                        })
                        .optional()
                })
                .map_err(fail)?;
            match found {
                Some((term, checksum)) if term.checksum(run.as_str()) != checksum => {
                    Err(StoreError::damaged(Some(run.clone()), None, StoreDamage::Lease))
                }
                found => Ok(found.map_or(0, |(term, _)| term.epoch)),
            }
        })
    }
}

impl SqliteReader {
    /// Returns the runs whose terms are over.
    pub(super) fn over(&self, terms: &[(RunId, Option<Term>)]) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| {
            let mut over = Vec::new();
            for (run, term) in terms {
                let is_over = term.map_or(Ok(true), |term| term.is_over(connection, run));
                if is_over.map_err(|source| StoreError::reading(Some(run), source))? {
                    over.push(run.clone());
                }
            }
            Ok(over)
        })
    }
}

/// A term whose owner learns when it was entered.
#[derive(Debug)]
pub(super) struct ActiveTerm {
    term: Term,
    entered: AtomicBool,
}

impl ActiveTerm {
    pub(super) const fn new(term: Term) -> Self {
        Self { entered: AtomicBool::new(term.entered), term }
    }

    /// Returns the term for the next entry.
    pub(super) fn term(&self) -> Term {
        Term { entered: self.entered.load(Ordering::Acquire), ..self.term }
    }

    /// Learns that an entry was written under it.
    pub(super) fn wrote(&self) {
        self.entered.store(true, Ordering::Release);
    }
}
