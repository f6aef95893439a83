//! Compares what is mounted with what was opened outside.

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

    /// Returns whether nothing is expected: there are no mounts where there is no namespace.
    pub(super) const fn is_none(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Makes sure that each mount shows what was opened, that what should be read only is, and
    /// that nothing else was mounted among what can be written. Somebody who swaps files for
    /// links while a sandbox is set up would otherwise choose what it shows.
    pub(super) fn check(&self) -> Result<(), String> {
        for (path, id, read_only) in &self.mounts {
            let why = |what: &str| {
                format!(
                    "{} {what}: another program changed it while the sandbox was set up. Stop commands that still run, and try again",
                    path.display()
                )
            };
            let found =
                Pinned::plain(path).map_err(|error| why(&format!("cannot be opened ({error})")))?;
            if found.id != *id {
                return Err(why("is not what was opened outside"));
            }
            let flags =
                fstatvfs(&found.descriptor).map_err(|error| why(&error.to_string()))?.f_flag;
            if *read_only && !flags.contains(StatVfsMountFlags::RDONLY) {
                return Err(why("can be written"));
            }
        }
        let stranger = mounted(|path| self.is_within(path) && !self.is_known(path));
        match stranger.first() {
            Some(path) => Err(format!(
                "unexpected mount at {}. Stop commands that still run, and try again",
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
