//! Packages of npm, all in one folder.

use std::{fs, path::PathBuf};

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
/// Plain files for pages: the last React that comes as such, and Vue.
const PAGES: [&str; 3] = ["react@18.3.1", "react-dom@18.3.1", "vue@3.5.45"];
/// Compiled on this machine where nobody has done so before: it takes minutes.
const BENCHES: [&str; 1] = ["better-sqlite3@12.4.1"];

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

fn packages(name: &str, pinned: &[&str]) -> Result<PathBuf> {
    debian::ensure(&["nodejs", "npm"])?;
    let folder = place::cache()?.join("npm");
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
            install(&pinned.join(", "), npm)?;
            list.tick()
        })?;
    }
    Ok(folder)
}
