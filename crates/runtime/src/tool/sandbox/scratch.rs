//! A folder for the temporary files of a command, and the remains of those whose owner died.
//!
//! Its owner holds a lock on it. The system releases the lock when the owner dies, so a folder
//! that can be locked has no owner.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    process::getuid,
};

use crate::clock::entropy;

/// How the names of these folders begin.
const NAME: &str = "pointsman-scratch-";
/// How often another name is tried.
const TRIES: usize = 16;

/// A folder for temporary files that is removed when it is dropped.
#[derive(Debug)]
pub(in crate::tool) struct ScratchFolder {
    path: PathBuf,
    /// It is locked for as long as this is open.
    lock: File,
}

impl ScratchFolder {
    /// Creates one that only its owner can read.
    pub(super) fn new() -> io::Result<Self> {
        Self::within(&env::temp_dir())
    }

    fn within(folder: &Path) -> io::Result<Self> {
        for _ in 0..TRIES {
            let path = folder.join(format!("{NAME}{:016x}", entropy()));
            fs::DirBuilder::new().mode(0o700).create(&path)?;
            // Another sweep may have been faster.
            if let Some(lock) = locked(&path) {
                return Ok(Self { path: path.canonicalize()?, lock });
            }
        }
        Err(io::Error::other("it was removed repeatedly"))
    }

    /// Returns where it is.
    pub(in crate::tool) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.path));
        drop(self.lock.unlock());
    }
}

/// Removes those of this user whose owner has died.
pub(super) fn sweep() {
    swept(&env::temp_dir());
}

fn swept(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = path.file_name().and_then(OsStr::to_str).is_some_and(|it| it.starts_with(NAME));
        if !named {
            continue;
        }
        // What cannot be removed now is left to the next start.
        if let Some(_lock) = locked(&path) {
            drop(fs::remove_dir_all(&path));
        }
    }
}

/// Locks a folder of this user that still exists, unless another process has locked it.
fn locked(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(open(path, flags, Mode::empty()).ok()?);
    let opened = folder.metadata().ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    let there = fs::symlink_metadata(path).ok()?;
    let same = (opened.dev(), opened.ino()) == (there.dev(), there.ino());
    (same && opened.uid() == getuid().as_raw()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_whose_owner_died_is_swept_and_no_other() {
        let ground = env::temp_dir().join(format!("pointsman-swept-{:016x}", entropy()));
        fs::create_dir(&ground).unwrap_or_else(|error| panic!("{error}"));
        let scratch = || ScratchFolder::within(&ground).unwrap_or_else(|error| panic!("{error}"));
        let (lives, dies) = (scratch(), scratch());
        let left = dies.path().to_owned();
        // So a process ends that is killed: its locks go, and its folders stay.
        fs::write(left.join("file"), "x").unwrap_or_else(|error| panic!("{error}"));
        dies.lock.unlock().unwrap_or_else(|error| panic!("{error}"));
        fs::create_dir(ground.join("other")).unwrap_or_else(|error| panic!("{error}"));
        swept(&ground);
        assert!(!left.exists(), "its owner died");
        assert!(lives.path().exists() && ground.join("other").exists());
        let path = lives.path().to_owned();
        drop((lives, dies));
        assert!(!path.exists(), "it goes with its owner");
        drop(fs::remove_dir_all(&ground));
    }
}
