//! Folders and files that their owner alone may read: what people type is kept in them.
//!
//! Only files created here are private. Existing files keep their permissions.

use std::{
    fs::{DirBuilder, File},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Makes a folder, and those above it, unless they are there.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes an empty file, unless there is one.
pub fn file(path: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
