//! Packages of npm, in one folder; Appium has a folder of its own.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result};

use super::{List, alone, debian, install};
use crate::{place, process};

const TESTS: [&str; 5] = [
    "xstate@5.33.3",
    "acpx@0.19.1",
    "@copilotkit/aimock@1.43.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];
/// Plain files for pages: the last React that comes as such, Vue, and a checker of accessibility.
const PAGES: [&str; 4] = ["react@18.3.1", "react-dom@18.3.1", "vue@3.5.45", "axe-core@4.14.0"];
/// The server of Appium and two drivers: one for Chromium, one that only pretends.
const APPIUM: [&str; 3] =
    ["appium@3.8.0", "appium-chromium-driver@3.1.1", "@appium/fake-driver@6.2.4"];
/// Compiled on this machine if there is no prebuilt version: it takes minutes.
const BENCHES: [&str; 1] = ["better-sqlite3@12.4.1"];
/// A queue over PostgreSQL: the last version that runs on the Node of Debian.
const FLEET: [&str; 1] = ["graphile-worker@0.16.6"];

/// Makes sure of what tests need, and returns the folder that has `node_modules`.
pub fn tests() -> Result<PathBuf> {
    packages("tests", &TESTS)
}

/// Makes sure of what pages in a browser are written with.
pub fn pages() -> Result<PathBuf> {
    packages("pages", &PAGES)
}

/// Makes sure of what benchmarks need, and of what tests do.
pub fn benches() -> Result<PathBuf> {
    tests()?;
    packages("benches", &BENCHES)
}

/// Makes sure of what the benchmark of fleets needs.
pub fn fleet() -> Result<PathBuf> {
    packages("fleet", &FLEET)
}

/// Makes sure of Appium, and returns it. It is large: the first installation takes minutes.
pub fn appium() -> Result<Appium> {
    within("appium", "tests", &APPIUM).map(Appium)
}

/// Appium with its drivers, in a folder of their own. The server looks for drivers among
/// the packages of its home, and with the server beside them they need no other step.
#[derive(Clone, Debug)]
pub struct Appium(PathBuf);

impl Appium {
    /// Returns the command that starts the server; add address and port.
    pub fn server(&self) -> Command {
        let mut server = process::command(self.0.join("node_modules/.bin/appium"));
        server.env("APPIUM_HOME", &self.0).current_dir(&self.0);
        server
    }
}

fn packages(name: &str, pinned: &[&str]) -> Result<PathBuf> {
    within("npm", name, pinned)
}

fn within(place: &str, name: &str, pinned: &[&str]) -> Result<PathBuf> {
    debian::ensure(&["nodejs", "npm"])?;
    let folder = place::cache()?.join(place);
    let list = List::new(&folder, name, pinned);
    if !list.is_there() {
        alone(|| {
            if list.is_there() {
                return Ok(());
            }
            fs::create_dir_all(&folder).context("making the npm cache")?;
            let mut npm = process::command("npm");
            npm.args(["install", "--save-exact", "--no-audit", "--no-fund", "--prefix"]);
            npm.arg(&folder).args(pinned);
            // The driver of the system is used; a second one would be downloaded otherwise.
            npm.env("APPIUM_SKIP_CHROMEDRIVER_INSTALL", "1");
            install(&pinned.join(", "), npm)?;
            list.tick()
        })?;
    }
    Ok(folder)
}
