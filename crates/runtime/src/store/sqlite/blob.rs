//! Blobs: a run's content, which many runs may share. A row refers to the artifact.

use std::ops::Range;

use pointsman_kernel::id::Digest;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    super::row::part,
    RunId, SqliteReader, StoreDamage, StoreError, artifact,
    checksum::{self, Checksum},
    read,
};

impl SqliteReader {
    /// Returns content of a run, as much of the range as there is.
    pub fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: &Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        self.read(|connection| {
            read::run(connection, run)?;
            let found = connection
                .prepare_cached(
                    "SELECT seal, size, body FROM blob LEFT JOIN artifact USING (digest)
                     WHERE run = ?1 AND digest = ?2",
                )
                .and_then(|mut query| {
                    query
                        .query_row(params![run.as_str(), digest.0], |cells| {
                            let size: Option<i64> = cells.get(1)?;
                            let body: Option<Vec<u8>> = cells.get(2)?;
                            Ok((Checksum(cells.get(0)?), size.zip(body)))
                        })
                        .optional()
                })
                .map_err(|source| StoreError::reading(Some(run), source))?;
            let missing = || StoreError::NoSuchBlob { run: run.clone(), digest: *digest };
            let (intact, packed) = found.ok_or_else(missing)?;
            let packed = packed.filter(|_| intact == checksum::blob(digest));
            // All of it is unpacked: only the whole has the digest.
            let bytes = packed.and_then(|(size, body)| artifact::unpack_bytes(digest, size, &body));
            let damage = StoreDamage::Artifact(*digest);
            let bytes =
                bytes.ok_or_else(|| StoreError::damaged(Some(run.clone()), None, damage))?;
            Ok(part(&bytes, range))
        })
    }
}

/// Refers to an artifact.
pub(super) fn refer(connection: &Connection, run: &RunId, digest: &Digest) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO blob (run, digest, seal) VALUES (?1,?2,?3)")?
        .execute(params![run.as_str(), digest.0, checksum::blob(digest).0])
        .map(drop)
}
