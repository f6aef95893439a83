//! The watermark: a small file beside the journal that says how far it was written.
//!
//! SQLite drops the rest of its log at the first damaged frame, without a word, and an
//! emptied file passes for a new one. Both look like an earlier journal that is whole.
//! The watermark is written after every flush and never flushed itself, so it is never ahead
//! of the journal, and a journal that is behind its watermark has lost something. A watermark that
//! is missing or unreadable guards nothing and harms nothing.

use std::{
    ffi::OsString,
    fs::{self, File},
    os::unix::fs::{FileExt, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use pointsman_kernel::id::Seq;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    RunId, StoreError,
    checksum::{ChecksumBuilder, signed, unsigned},
    manifest::Manifest,
};

/// How far a journal was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct WatermarkState {
    name: [u8; 16],
    version: i64,
    last: Option<(RunId, Seq)>,
}

/// Returns what the file holds.
fn written(name: &[u8; 16], version: i64, last: Option<(&RunId, Seq)>) -> Vec<u8> {
    let (run, seq) = last.map_or(("", 0), |(run, seq)| (run.as_str(), signed(seq.0)));
    let mut bytes = Vec::with_capacity(112);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(run.as_bytes());
    // An id has at most 64 bytes, so that every watermark has the same length.
    bytes.resize(96, 0);
    let checksum = ChecksumBuilder::of("mark").bytes(&bytes).checksum();
    bytes.extend_from_slice(&checksum.0);
    bytes
}

impl WatermarkState {
    fn read(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (name, rest) = bytes.split_first_chunk::<16>()?;
        let (version, rest) = rest.split_first_chunk::<8>()?;
        let (seq, rest) = rest.split_first_chunk::<8>()?;
        let (run, _) = rest.split_first_chunk::<64>()?;
        let run = str::from_utf8(run).ok()?.trim_end_matches('\0');
        let last = match run {
            "" => None,
            run => Some((run.parse().ok()?, Seq(unsigned(i64::from_le_bytes(*seq))))),
        };
        let version = i64::from_le_bytes(*version);
        let again = written(name, version, last.as_ref().map(|(run, seq)| (run, *seq)));
        (again == bytes).then_some(Self { name: *name, version, last })
    }
}

/// The watermark of one journal.
#[derive(Debug)]
pub(super) struct Watermark {
    path: PathBuf,
    file: Option<File>,
    name: [u8; 16],
    version: i64,
}

/// Returns the place of a journal's watermark.
pub(super) fn path(journal: &Path) -> PathBuf {
    let mut name = OsString::from(journal.as_os_str());
    name.push(".mark");
    name.into()
}

/// Reads the watermark. It must be read before the journal is: another process may be writing.
pub(super) fn reached(journal: &Path) -> Option<WatermarkState> {
    WatermarkState::read(&path(journal))
}

/// Checks that a journal holds what its watermark says was written, and returns its manifest.
pub(super) fn check(
    journal: &Path,
    reached: Option<&WatermarkState>,
    connection: &Connection,
) -> Result<Manifest, StoreError> {
    // The manifest and the row must be of one moment: another process may be pruning.
    let moment = connection.unchecked_transaction();
    let moment = moment.map_err(|source| StoreError::reading(None, source))?;
    let manifest = Manifest::read(&moment)?;
    // The watermark of a journal that was removed says nothing of the one in its place.
    let Some(reached) = reached.filter(|reached| reached.name == manifest.name) else {
        return Ok(manifest);
    };
    let behind = || {
        let last = reached.last.clone();
        Err(StoreError::Behind { path: journal.into(), watermark: path(journal), last })
    };
    if manifest.version < reached.version {
        return behind();
    }
    let Some((run, seq)) = &reached.last else { return Ok(manifest) };
    let has: Option<i64> = moment
        .query_row("SELECT seq FROM run WHERE id = ?1", params![run.as_str()], |row| row.get(0))
        .optional()
        .map_err(|source| StoreError::reading(Some(run), source))?;
    match has {
        Some(has) if unsigned(has) < seq.0 => behind(),
        // It was pruned since, or else it was lost.
        None if manifest.version == reached.version => behind(),
        _ => Ok(manifest),
    }
}

/// Refuses a file that has been emptied, which SQLite would take for a new one.
pub(super) fn check_emptied(
    journal: &Path,
    reached: Option<&WatermarkState>,
) -> Result<(), StoreError> {
    let emptied = fs::metadata(journal).is_ok_and(|file| file.len() == 0);
    match reached {
        Some(reached) if emptied => {
            let last = reached.last.clone();
            Err(StoreError::Behind { path: journal.into(), watermark: path(journal), last })
        }
        _ => Ok(()),
    }
}

impl Watermark {
    /// Returns the watermark of a journal that has just been opened.
    pub(super) fn new(journal: &Path, manifest: &Manifest) -> Self {
        Self { path: path(journal), file: None, name: manifest.name, version: manifest.version }
    }

    /// Sets the watermark. Where that fails the old one stays, which is behind, as it may be.
    pub(super) fn set(&mut self, version: Option<i64>, last: Option<(&RunId, Seq)>) {
        self.version = version.unwrap_or(self.version);
        if self.file.is_none() {
            self.file = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&self.path)
                .ok();
        }
        if let Some(file) = &self.file {
            drop(file.write_all_at(&written(&self.name, self.version, last), 0));
        }
    }
}
