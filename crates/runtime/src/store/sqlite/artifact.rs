//! Artifacts: content kept once, compressed, under the digest of what it says.
//!
//! Lines over 1 KiB, the parts of prompts, the charts' sources and blobs are kept so. What
//! nothing refers to is swept when runs are pruned.

use std::collections::BTreeSet;

use pointsman_kernel::id::Digest;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::checksum::{self, Checksum, signed};

/// A line longer than this is kept as an artifact.
pub(super) const INLINE: usize = 1_024;

/// Content, ready to be kept.
pub(super) struct Packed {
    pub(super) digest: Digest,
    size: i64,
    body: Vec<u8>,
}

impl Packed {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let body = lz4_flex::block::compress(bytes);
        Self { digest: Digest::of(bytes), size, body }
    }

    /// Stores it. If the same text is already stored, nothing is written, unless that copy is
    /// damaged: then this one replaces it.
    pub(super) fn keep(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO artifact (digest, size, body) VALUES (?1,?2,?3)
                 ON CONFLICT (digest) DO UPDATE SET size = excluded.size, body = excluded.body
                 WHERE body <> excluded.body OR size <> excluded.size",
            )?
            .execute(params![self.digest.0, self.size, self.body])
            .map(drop)
    }
}

/// Returns the text that has a digest, or nothing if this is not it.
pub(super) fn unpack(digest: &Digest, size: i64, body: &[u8]) -> Option<String> {
    String::from_utf8(unpack_bytes(digest, size, body)?).ok()
}

/// Returns the content that has a digest, or nothing if this is not it.
pub(super) fn unpack_bytes(digest: &Digest, size: i64, body: &[u8]) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    // A byte says 255 at most in this format: a larger size was never written, and
    // room for it must not be asked for.
    if size > body.len().saturating_mul(255).saturating_add(64) {
        return None;
    }
    let bytes = lz4_flex::block::decompress(body, size).ok()?;
    (Digest::of(&bytes) == *digest).then_some(bytes)
}

/// Reads one artifact. `Ok(None)` means that it is missing or not what its digest says.
pub(super) fn read(connection: &Connection, digest: &Digest) -> rusqlite::Result<Option<String>> {
    let found = connection
        .prepare_cached("SELECT size, body FROM artifact WHERE digest = ?1")?
        .query_row(params![digest.0], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    Ok(found.and_then(|(size, body)| unpack(digest, size, &body)))
}

/// Removes unreferenced artifacts; returns their number, or nothing if a reference is damaged:
/// then any artifact may be needed, and all of them stay.
///
/// References are read from the rows that hold them, never from a count or an index: a
/// wrong one would remove what a run needs.
pub(super) fn sweep(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    let unused = match unused(connection) {
        Ok(unused) => unused,
        // The file has such a page, or a value is not of its kind.
        Err(source)
            if matches!(source.sqlite_error_code(), None | Some(ErrorCode::DatabaseCorrupt)) =>
        {
            return Ok(None);
        }
        Err(source) => return Err(source),
    };
    for digest in &unused {
        connection
            .prepare_cached("DELETE FROM artifact WHERE digest = ?1")?
            .execute(params![digest])?;
    }
    Ok(Some(unused.len() as u64))
}

/// Returns the error of a reference that cannot be relied upon.
fn damaged(what: u64) -> rusqlite::Error {
    rusqlite::Error::IntegralValueOutOfRange(0, signed(what))
}

/// Returns the artifacts that nothing refers to.
fn unused(connection: &Connection) -> rusqlite::Result<Vec<[u8; 32]>> {
    let mut used: BTreeSet<[u8; 32]> = BTreeSet::new();
    for query in ["SELECT source FROM run", "SELECT artifact FROM entry WHERE artifact IS NOT NULL"]
    {
        let mut query = connection.prepare(query)?;
        for digest in query.query_map([], |row| row.get(0))? {
            used.insert(digest?);
        }
    }
    let mut query = connection.prepare("SELECT parts FROM prompt")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let parts: Vec<u8> = row.get(0)?;
        let (digests, rest) = parts.as_chunks::<32>();
        if !rest.is_empty() {
            return Err(damaged(rest.len() as u64));
        }
        used.extend(digests);
    }
    let mut query = connection.prepare("SELECT digest, seal FROM blob")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let digest = Digest(row.get(0)?);
        if checksum::blob(&digest) != Checksum(row.get(1)?) {
            return Err(damaged(1));
        }
        used.insert(digest.0);
    }
    let mut query = connection.prepare("SELECT digest FROM artifact")?;
    let mut kept = query.query_map([], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
    kept.retain(|digest| !used.contains(digest));
    Ok(kept)
}
