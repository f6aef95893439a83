//! Whether the journal's files are still the ones that were opened.
//!
//! SQLite keeps writing to a file that was deleted or replaced, and nobody will ever read
//! what it writes there. So the device and inode of each path are noted once the file is open,
//! and compared before and after every commit. An inode is not given to another file as long
//! as somebody has it open, so the numbers alone tell the files apart.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The endings of the files that SQLite keeps open: the journal, its log, and the locks and
/// index of the log.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// The files of a journal, as they were when it was opened.
#[derive(Debug)]
pub(super) struct Anchor {
    files: Vec<(PathBuf, Identity)>,
}

/// The device and inode of a file.
type Identity = (u64, u64);

impl Anchor {
    /// Notes which files a journal consists of. It must be open for writing.
    pub(super) fn drop_at(journal: &Path) -> io::Result<Self> {
        // A relative path would mean another file once the process changes its folder, and a
        // link is followed once: SQLite names its log after the file itself.
        let journal = fs::canonicalize(journal)?;
        let files = ENDINGS.iter().map(|ending| {
            let mut name = OsString::from(journal.as_os_str());
            name.push(ending);
            let path = PathBuf::from(name);
            identity(&path).map(|identity| (path, identity))
        });
        Ok(Self { files: files.collect::<io::Result<_>>()? })
    }

    /// Returns the first file that is not the one that was opened.
    pub(super) fn lost(&self) -> Option<&Path> {
        let lost = |(path, opened): &&(PathBuf, Identity)| {
            !identity(path).is_ok_and(|there| there == *opened)
        };
        self.files.iter().find(lost).map(|(path, _)| path.as_path())
    }
}

/// Returns the device and inode of the file at a path.
pub(super) fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|file| (file.dev(), file.ino()))
}
