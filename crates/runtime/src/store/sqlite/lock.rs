//! Run locks: the part of a lease that the system keeps.
//!
//! A run lock is a lock on a file beside the journal. The system releases it when the process
//! ends, however it ends, so a lease needs no expiry and no heartbeat. Entries are safe without
//! it: see `term`. It keeps two processes from doing the same work.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::{RunId, SqliteStore, StoreError};
use crate::private;

/// How often a file may vanish between being opened and being locked.
const TRIES: u32 = 16;

/// The lock of a run, until it is dropped.
#[derive(Debug)]
#[must_use = "a lock that is dropped is given up"]
pub(super) struct RunLock {
    path: PathBuf,
    file: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while still locked: a process that has opened the old file meanwhile finds it
        // removed and tries again. If it was removed before, the file there is the next owner's.
        if matches!(same(&self.file, &self.path), Ok(true)) {
            drop(fs::remove_file(&self.path));
        }
        drop(self.file.unlock());
    }
}

impl SqliteStore {
    /// Locks a run, or returns nothing if it is locked already, by another process
    /// or by this one.
    pub(super) fn lock_run(&self, run: &RunId) -> Result<Option<RunLock>, StoreError> {
        self.check_writable()?;
        let folder = folder(&self.path);
        let path = folder.join(run.as_str());
        take(&folder, &path).map_err(|source| StoreError::Claim { run: run.clone(), path, source })
    }
}

/// Returns the process that has locked a run, if one has.
pub(super) fn owner(journal: &Path, run: &RunId) -> Option<Box<str>> {
    let path = folder(journal).join(run.as_str());
    let mut file = File::open(path).ok()?;
    // A shared lock is given up at once; a claim that it disturbs is tried again.
    match file.try_lock_shared() {
        Ok(()) => drop(file.unlock()),
        Err(TryLockError::WouldBlock) => {
            let mut number = String::new();
            file.read_to_string(&mut number).ok()?;
            return Some(format!("pid {number}").into());
        }
        Err(TryLockError::Error(_)) => {}
    }
    None
}

/// Returns the runs that have an owner.
pub(super) fn owned(journal: &Path) -> BTreeSet<RunId> {
    let files = fs::read_dir(folder(journal)).into_iter().flatten().flatten();
    let runs = files.filter_map(|file| file.file_name().to_str()?.parse::<RunId>().ok());
    runs.filter(|run| owner(journal, run).is_some()).collect()
}

impl SqliteStore {
    /// Locks claims against those of other workers with limits, or returns nothing.
    pub(super) fn lock_claims(&self) -> Result<Option<RunLock>, StoreError> {
        self.check_writable()?;
        let folder = folder(&self.path);
        // No run has a name with a dot.
        let path = folder.join(".claims");
        take(&folder, &path).map_err(|source| StoreError::Folder { path, source })
    }
}

fn folder(journal: &Path) -> PathBuf {
    let mut name = OsString::from(journal.as_os_str());
    name.push(".holds");
    name.into()
}

fn take(folder: &Path, path: &Path) -> io::Result<Option<RunLock>> {
    private::folder(folder)?;
    for _ in 0..TRIES {
        let file =
            File::options().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(source),
        }
        if same(&file, path)? {
            // For people who look; nothing depends on it.
            drop(file.set_len(0));
            drop((&file).write_all(std::process::id().to_string().as_bytes()));
            return Ok(Some(RunLock { path: path.into(), file }));
        }
    }
    // It was released and claimed again each time: another process has it.
    Ok(None)
}

/// Returns whether the file is still the one at its path.
fn same(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(source),
    }
}
