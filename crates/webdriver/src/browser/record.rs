//! The record of a browser that may outlive us, so that a resumed run finds it.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{AgreedPage, PressTarget};
use crate::platform;

/// A process, named so that no other can be taken for it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct ProcessIdentity {
    pub(super) pid: u32,
    pub(super) started: String,
}

impl ProcessIdentity {
    /// Returns a process that runs; nothing for one that has ended.
    pub(super) fn of(pid: u32) -> Option<Self> {
        platform::started(pid).map(|started| Self { pid, started })
    }

    /// Returns whether this very process still runs.
    pub(super) fn lives(&self) -> bool {
        platform::started(self.pid).as_ref() == Some(&self.started)
    }
}

/// A browser, its driver and its keeper, and how to speak to them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct BrowserRecord {
    pub(super) port: u16,
    pub(super) session: String,
    pub(super) folder: PathBuf,
    pub(super) owner: ProcessIdentity,
    pub(super) driver: ProcessIdentity,
    pub(super) browser: Option<ProcessIdentity>,
    pub(super) keeper: Option<ProcessIdentity>,
    /// The page on which a control was last about to be pressed.
    #[serde(default)]
    pub(super) pressing: Option<PressTarget>,
    /// The page on which the way on was last chosen.
    #[serde(default)]
    pub(super) agreed: Option<AgreedPage>,
}

impl BrowserRecord {
    /// Reads a record; nothing where there is none.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the page on which a control was last about to be pressed.
    pub const fn pressing(&self) -> Option<&PressTarget> {
        self.pressing.as_ref()
    }

    /// Returns the page on which the way on was last chosen.
    pub const fn agreed(&self) -> Option<&AgreedPage> {
        self.agreed.as_ref()
    }

    /// Writes it, for this user alone: who can read it can steer the browser.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            pointsman_runtime::private::folder(folder)?;
        }
        let beside = path.with_extension("new");
        // One that was left behind may have other rights.
        if let Err(error) = fs::remove_file(&beside)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&beside, path)
    }
}

/// Ends the browser of a record whose owner has died.
pub(crate) fn end_left(path: &Path) {
    let found = match BrowserRecord::read(path) {
        Ok(found) => found,
        Err(error) => return tracing::debug!(%error, "a browser's record cannot be read"),
    };
    // A browser that was taken over is ended when it is dropped.
    let settings = super::BrowserSettings::default();
    if let Some(Err(error)) =
        found.map(|it| super::process_group::ProcessGroup::take_over(&settings, &it, path))
    {
        tracing::debug!(%error, "a browser was left running");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_record_is_for_this_user_alone() {
        let name = format!("pointsman-record-{:x}", pointsman_runtime::clock::entropy());
        let forms = std::env::temp_dir().join(name).join("forms");
        let path = forms.join("r1.json");
        let who = ProcessIdentity { pid: 1, started: "0".into() };
        let record = BrowserRecord {
            port: 1,
            session: "s".into(),
            folder: "/nowhere".into(),
            owner: who.clone(),
            driver: who,
            browser: None,
            keeper: None,
            pressing: None,
            agreed: None,
        };
        for _ in 0..2 {
            assert!(record.write(&path).is_ok());
            for (path, mode) in [(&forms, 0o700), (&path, 0o600)] {
                let found = fs::metadata(path).map(|it| it.permissions().mode() & 0o777);
                assert_eq!(found.ok(), Some(mode), "{}", path.display());
            }
            // One that was left behind is open to others, and is not written into.
            let beside = path.with_extension("new");
            assert!(fs::write(&beside, "").is_ok());
            let open = fs::Permissions::from_mode(0o666);
            assert!(fs::set_permissions(&beside, open).is_ok());
        }
        drop(forms.parent().map(fs::remove_dir_all));
    }
}
