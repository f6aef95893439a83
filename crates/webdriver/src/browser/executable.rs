//! Where driver and browser are.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{Attach, BrowserError, BrowserSettings};

/// Names of drivers, the likeliest first.
const DRIVERS: [&str; 2] = ["chromedriver", "chromium.chromedriver"];
/// Names of browsers, the likeliest first.
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A program that was looked for.
#[derive(Debug)]
pub struct Executable {
    /// Its name.
    pub name: &'static str,
    /// Where it is, or why it cannot be used.
    pub found: Result<PathBuf, BrowserError>,
}

/// Looks for driver and browser.
pub fn programs(settings: &BrowserSettings) -> [Executable; 2] {
    [
        Executable { name: "chromedriver", found: driver(settings) },
        Executable { name: "chromium", found: browser(settings) },
    ]
}

/// Looks for the programs to start: none if a driver is already running, and no browser if one is.
pub fn is_there(settings: &BrowserSettings) -> Result<(), BrowserError> {
    match settings.attach {
        Some(Attach::Driver { .. }) => Ok(()),
        Some(Attach::Debugger(_)) => driver(settings).map(drop),
        None => driver(settings).and_then(|_| browser(settings)).map(drop),
    }
}

pub(super) fn driver(settings: &BrowserSettings) -> Result<PathBuf, BrowserError> {
    find("chromedriver", settings.driver.as_deref(), &DRIVERS)
}

pub(super) fn browser(settings: &BrowserSettings) -> Result<PathBuf, BrowserError> {
    find("Chromium", settings.browser.as_deref(), &BROWSERS)
}

/// Looks for a program: only where it is said to be, or under its names in `PATH`.
fn find(name: &'static str, given: Option<&Path>, names: &[&str]) -> Result<PathBuf, BrowserError> {
    if let Some(given) = given {
        let missing = || BrowserError::Missing { name, looked: given.display().to_string() };
        return Some(given.to_owned()).filter(|path| runs(path)).ok_or_else(missing);
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let places =
        names.iter().flat_map(|name| env::split_paths(&folders).map(move |it| it.join(name)));
    let looked = || format!("{} in PATH", names.join(", "));
    places
        .into_iter()
        .find(|path| runs(path))
        .ok_or_else(|| BrowserError::Missing { name, looked: looked() })
}

fn runs(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
