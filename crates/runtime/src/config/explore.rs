//! `[explore]`: which Appium server is used, and how long a device is given.

use reqwest::Url;
use toml::de::DeValue;

use super::{
    Origin, Problem,
    keys::{self, Keys},
    read::own,
};

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
    /// Milliseconds to reach the server of Appium.
    pub connect_ms: Option<u64>,
    /// Milliseconds for a session to end.
    pub close_ms: Option<u64>,
    /// Milliseconds that a finger rests in a long press.
    pub hold_ms: Option<u64>,
    /// Milliseconds that a swipe takes.
    pub swipe_ms: Option<u64>,
    /// How far a swipe goes, in the device's own points.
    pub distance: Option<u16>,
}

impl ExploreConfig {
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
            connect_ms: self.connect_ms.or(repository.connect_ms),
            close_ms: self.close_ms.or(repository.close_ms),
            hold_ms: self.hold_ms.or(repository.hold_ms),
            swipe_ms: self.swipe_ms.or(repository.swipe_ms),
            distance: self.distance.or(repository.distance),
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
        appium: keys.read("appium", url, found),
        quiet_ms: keys.read("quiet", keys::duration, found),
        settle_ms: keys.read("settle_timeout", keys::duration, found),
        poll_ms: keys.read("poll", keys::duration, found),
        wait_ms: keys.read("wait", keys::duration, found),
        command_ms: keys.read("command_timeout", keys::duration, found),
        session_ms: keys.read("session_timeout", keys::duration, found),
        install_ms: keys.read("install_timeout", keys::duration, found),
        launch_ms: keys.read("launch_timeout", keys::duration, found),
        connect_ms: keys.read("connect_timeout", keys::duration, found),
        close_ms: keys.read("close_timeout", keys::duration, found),
        hold_ms: keys.read("hold", keys::duration, found),
        swipe_ms: keys.read("swipe", keys::duration, found),
        distance: keys.read("distance", distance, found),
    }
}

fn url(value: &DeValue<'_>) -> Result<String, String> {
    let hint = "write the address of an Appium server: `\"http://127.0.0.1:4723\"`";
    let text = keys::text(value).map_err(|_| hint.to_owned())?;
    let parsed = Url::parse(&text).ok();
    let fits = parsed.is_some_and(|it| it.has_host() && matches!(it.scheme(), "http" | "https"));
    if fits { Ok(text) } else { Err(hint.into()) }
}

fn distance(value: &DeValue<'_>) -> Result<u16, String> {
    let number = keys::count(value).ok().and_then(|number| u16::try_from(number).ok());
    number.ok_or_else(|| "write a number of points from 1 to 65535".into())
}
