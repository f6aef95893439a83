//! The record of a session that may outlive us, so that a resumed run finds it.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use serde::{Deserialize, Serialize};

/// A session at a server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct SessionRecord {
    /// The server's address.
    pub(super) url: String,
    /// The session.
    pub(super) session: String,
}

impl SessionRecord {
    /// Reads a record; nothing where there is none, or where it was cut short.
    pub(super) fn read(path: &Path) -> Option<Self> {
        match fs::read(path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(record) => Some(record),
                Err(error) => {
                    tracing::debug!(%error, "the record of a session cannot be read");
                    None
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::debug!(%error, "the record of a session cannot be read");
                None
            }
        }
    }

    /// Writes it, for this user alone: who can read it can steer the device.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            pointsman_runtime::private::folder(folder)?;
        }
        let beside = path.with_extension("new");
        // One that was left behind may have other permissions.
        remove(&beside)?;
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&beside, path)
    }
}

/// Removes a record, if there is one.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
