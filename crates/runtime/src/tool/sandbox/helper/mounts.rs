//! Compares the mounts with what was opened outside.

use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, fstatvfs};

use super::super::{
    pinned::{Id, Pinned},
    place::mounted,
};

/// What must be mounted, and where.
#[derive(Debug, Default)]
pub(super) struct Expected {
    mounts: Vec<(PathBuf, Id, bool)>,
    /// What the system had mounted below the folders that can be written.
    pub(super) mounted: Vec<PathBuf>,
}

impl Expected {
    /// Expects one file or folder at a path.
    pub(super) fn add(&mut self, path: PathBuf, (device, inode): (u64, u64), read_only: bool) {
        self.mounts.push((path, Id { device, inode }, read_only));
    }

    /// Returns whether there are no expected mounts: without a namespace there are none.
    pub(super) const fn is_none(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Makes sure that each mount shows what was opened, that read-only mounts are read-only, and
    /// that nothing else is mounted in writable folders. A program that swaps files for links
    /// during the set-up could otherwise choose what the sandbox shows.
    pub(super) fn check(&self) -> Result<(), String> {
        for (path, id, read_only) in &self.mounts {
            let why = |what: &str| {
                format!(
                    "{} {what}: another program changed it while the sandbox was being set up. Stop commands that are still running, and try again",
                    path.display()
                )
            };
            let found =
                Pinned::plain(path).map_err(|error| why(&format!("cannot be opened ({error})")))?;
            if found.id != *id {
                return Err(why("is not the file or folder that was opened outside the sandbox"));
            }
            let flags =
                fstatvfs(&found.descriptor).map_err(|error| why(&error.to_string()))?.f_flag;
            if *read_only && !flags.contains(StatVfsMountFlags::RDONLY) {
                return Err(why("is writable"));
            }
        }
        let stranger = mounted(|path| self.is_within(path) && !self.is_known(path));
        match stranger.first() {
            Some(path) => Err(format!(
                "unexpected mount at {}. Stop commands that are still running, and try again",
                path.display()
            )),
            None => Ok(()),
        }
    }

    /// Returns whether a path lies in what can be written.
    fn is_within(&self, path: &Path) -> bool {
        let mut writable = self.mounts.iter().filter(|(_, _, read_only)| !read_only);
        writable.any(|(ground, ..)| path.starts_with(ground))
    }

    fn is_known(&self, path: &Path) -> bool {
        self.mounted.iter().any(|known| known == path)
            || self.mounts.iter().any(|(known, ..)| known == path)
    }
}
