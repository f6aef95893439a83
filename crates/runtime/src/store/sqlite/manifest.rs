//! The manifest: one row with a checksum that says which runs and how many messages there are.
//!
//! A run's own checksums cannot tell that a whole run has vanished from a damaged file. The
//! manifest can: it holds the number of runs and the sum of their ids' digests.

use pointsman_kernel::id::Digest;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    RunId, StoreDamage, StoreError,
    checksum::{Checksum, ChecksumBuilder},
};

/// What the manifest says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Manifest {
    /// The journal's own name, drawn when it was made.
    pub(super) name: [u8; 16],
    /// Grows with every change of the manifest.
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

impl Manifest {
    fn checksum(&self) -> Checksum {
        ChecksumBuilder::of("book")
            .bytes(&self.name)
            .number(self.version)
            .number(self.runs)
            .bytes(&self.sum)
            .number(self.messages)
            .number(self.waiting)
            .checksum()
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
                        let manifest = Self {
                            name: row.get(0)?,
                            version: row.get(1)?,
                            runs: row.get(2)?,
                            sum: row.get(3)?,
                            messages: row.get(4)?,
                            waiting: row.get(5)?,
                        };
                        Ok((manifest, Checksum(row.get(6)?)))
                    })
                    .optional()
            })
            .map_err(fail)?;
        match found {
            Some((manifest, checksum)) if manifest.checksum() == checksum => Ok(manifest),
            _ => Err(StoreError::damaged(None, None, StoreDamage::Manifest)),
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
                self.checksum().0,
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

/// The manifest within one transaction: read when first needed, written once at its end.
#[derive(Debug, Default)]
pub(super) struct OpenManifest(Option<(Manifest, Manifest)>);

impl OpenManifest {
    /// Returns the manifest, to be changed.
    pub(super) fn manifest(
        &mut self,
        connection: &Connection,
    ) -> Result<&mut Manifest, StoreError> {
        if self.0.is_none() {
            let manifest = Manifest::read(connection)?;
            self.0 = Some((manifest.clone(), manifest));
        }
        match &mut self.0 {
            Some((_, manifest)) => Ok(manifest),
            None => Err(StoreError::damaged(None, None, StoreDamage::Manifest)),
        }
    }

    /// Writes the manifest if it changed; returns its version if it was read.
    pub(super) fn close(self, connection: &Connection) -> rusqlite::Result<Option<i64>> {
        let Some((was, mut manifest)) = self.0 else { return Ok(None) };
        if was != manifest {
            manifest.version = manifest.version.saturating_add(1);
            manifest.write(connection)?;
        }
        Ok(Some(manifest.version))
    }
}
