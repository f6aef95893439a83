//! Whether the journal's files are still the ones that were opened.
//!
//! SQLite keeps writing to a file that was deleted or replaced, where the data is lost. So the
//! device and inode of each path are recorded once the file is open, and compared after every
//! commit. The system does not reuse the inode of an open file, so the numbers identify it.
//!
//! Removing or replacing a file changes the time stamp of its folder. So a folder with the same
//! stamp still has the files that were found there. The folders above it are checked once in each
//! tick of the clock: a journal that moves with them stays whole.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::clock::file_time;

/// The endings of the files that SQLite keeps open: the journal, its log, and the locks and
/// index of the log.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// The identities of a journal's files when it was opened.
#[derive(Debug)]
pub(super) struct Anchor {
    folder: Option<File>,
    files: Vec<(PathBuf, Identity)>,
    /// The times of the folder's last change and of the look that found all files, if that was
    /// after it.
    found: Option<(Time, Time)>,
    /// Whether the last look found them.
    whole: bool,
}

/// Seconds and nanoseconds since 1970.
type Time = (i64, i64);

/// The device and inode of a file.
type Identity = (u64, u64);

impl Anchor {
    /// Notes which files a journal consists of. It must be open for writing.
    pub(super) fn drop_at(journal: &Path) -> io::Result<Self> {
        // A relative path would mean another file once the process changes its folder, and a
        // link is followed once: SQLite names its log after the file itself.
        let journal = fs::canonicalize(journal)?;
        // Where it may not be read, the files themselves are looked at each time.
        let folder = journal.parent().and_then(|folder| File::open(folder).ok());
        let files = ENDINGS.iter().map(|ending| {
            let mut name = OsString::from(journal.as_os_str());
            name.push(ending);
            let path = PathBuf::from(name);
            identity(&path).map(|identity| (path, identity))
        });
        let files = files.collect::<io::Result<_>>()?;
        Ok(Self { folder, files, found: None, whole: true })
    }

    /// Returns the first file that was replaced since.
    pub(super) fn lost(&mut self) -> Option<&Path> {
        let now = file_time();
        let folder = self.folder.as_ref().and_then(|folder| folder.metadata().ok());
        let changed = folder.map(|folder| (folder.ctime(), folder.ctime_nsec()));
        let stamp = changed.map(|changed| (changed, now));
        if stamp.is_some() && stamp == self.found {
            return None;
        }
        let lost = |(path, opened): &&(PathBuf, Identity)| {
            !identity(path).is_ok_and(|there| there == *opened)
        };
        let lost = self.files.iter().find(lost).map(|(path, _)| path.as_path());
        self.whole = lost.is_none();
        // A later change in the same tick of the clock would leave the same time.
        self.found = stamp.filter(|(changed, now)| lost.is_none() && changed < now);
        lost
    }

    /// Looks again, if the last look found that a file was lost.
    pub(super) fn still_lost(&mut self) -> Option<&Path> {
        if self.whole { None } else { self.lost() }
    }
}

/// Returns the device and inode of the file at a path.
pub(super) fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|file| (file.dev(), file.ino()))
}
