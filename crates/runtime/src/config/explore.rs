//! `[explore]`: which Appium server is used, and how long a device is given.

use std::time::Duration;

use super::{
    Origin, Problem,
    keys::{self, Keys},
    read::own,
};
use crate::device::Settings;

/// `[explore]`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExploreConfig {
    /// The Appium server that is used where the command line names none.
    pub appium: Option<String>,
    /// Milliseconds for which a screen must stay the same.
    pub quiet_ms: Option<u64>,
    /// Milliseconds for a screen to settle.
    pub settle_ms: Option<u64>,
    /// Milliseconds between two looks.
    pub poll_ms: Option<u64>,
    /// Milliseconds to wait on a screen with nothing to press.
    pub wait_ms: Option<u64>,
    /// Milliseconds for one command of Appium.
    pub command_ms: Option<u64>,
    /// Milliseconds for a session to be opened.
    pub session_ms: Option<u64>,
    /// Milliseconds for an app to be installed.
    pub install_ms: Option<u64>,
    /// Milliseconds for an app to come to the front, or to stop.
    pub launch_ms: Option<u64>,
}

impl ExploreConfig {
    /// Returns how long a device is given.
    pub fn device(&self) -> Settings {
        let ms = |wanted: Option<u64>, usual: Duration| wanted.map_or(usual, Duration::from_millis);
        let usual = Settings::default();
        Settings {
            quiet: ms(self.quiet_ms, usual.quiet),
            settle: ms(self.settle_ms, usual.settle),
            poll: ms(self.poll_ms, usual.poll),
            wait: ms(self.wait_ms, usual.wait),
            command: ms(self.command_ms, usual.command),
            session: ms(self.session_ms, usual.session),
            install: ms(self.install_ms, usual.install),
            launch: ms(self.launch_ms, usual.launch),
        }
    }

    /// Puts a repository's settings under these. It may not choose the server.
    pub(super) fn under(self, repository: Self) -> Self {
        Self {
            appium: self.appium,
            quiet_ms: self.quiet_ms.or(repository.quiet_ms),
            settle_ms: self.settle_ms.or(repository.settle_ms),
            poll_ms: self.poll_ms.or(repository.poll_ms),
            wait_ms: self.wait_ms.or(repository.wait_ms),
            command_ms: self.command_ms.or(repository.command_ms),
            session_ms: self.session_ms.or(repository.session_ms),
            install_ms: self.install_ms.or(repository.install_ms),
            launch_ms: self.launch_ms.or(repository.launch_ms),
        }
    }
}

pub(super) fn explore(
    keys: &mut Keys<'_, '_>,
    origin: Origin,
    found: &mut Vec<Problem>,
) -> ExploreConfig {
    own(keys, "appium", origin, found);
    ExploreConfig {
        appium: keys.read("appium", keys::text, found),
        quiet_ms: keys.read("quiet", keys::duration, found),
        settle_ms: keys.read("settle_timeout", keys::duration, found),
        poll_ms: keys.read("poll", keys::duration, found),
        wait_ms: keys.read("wait", keys::duration, found),
        command_ms: keys.read("command_timeout", keys::duration, found),
        session_ms: keys.read("session_timeout", keys::duration, found),
        install_ms: keys.read("install_timeout", keys::duration, found),
        launch_ms: keys.read("launch_timeout", keys::duration, found),
    }
}
