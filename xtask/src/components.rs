//! Components from outside, installed where they are missing: Node and `XState`.
//!
//! What cannot be installed is an error. Nothing is skipped for the lack of it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    place::{self, Scratch},
    process,
};

const XSTATE: &str = "5.33.3";
const INSTALL_CAP: Duration = Duration::from_mins(10);

/// Makes sure of Node and `XState`, and returns the directory that npm installed to.
pub(crate) fn xstate() -> Result<PathBuf> {
    if !is_present("node") || !is_present("npm") {
        install("nodejs and npm", debian(["update", "--quiet"]))?;
        let packages = ["install", "--yes", "--no-install-recommends", "nodejs", "npm"];
        install("nodejs and npm", debian(packages))?;
    }
    let prefix = place::npm()?;
    if installed(&prefix).as_deref() != Some(XSTATE) {
        fs::create_dir_all(&prefix).context("making the npm cache")?;
        let mut npm = process::command("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix);
        npm.arg(format!("xstate@{XSTATE}"));
        install("xstate", npm)?;
    }
    match installed(&prefix) {
        Some(version) if version == XSTATE => Ok(prefix),
        found => bail!("xstate {XSTATE} is needed, and {} is installed", found.unwrap_or_default()),
    }
}

/// Returns whether a program can be found.
pub(crate) fn is_present(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(program).is_file())
}

fn debian(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut apt = process::command("apt-get");
    apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

/// Runs an installer. It works beside a compiler, so its words are kept for when
/// they are needed.
fn install(what: &str, mut command: Command) -> Result<()> {
    let scratch = Scratch::new()?;
    let log = scratch.file("log");
    let file = File::create(&log)?;
    command.stdout(file.try_clone()?).stderr(file);
    let ended = process::run(command, INSTALL_CAP).context("starting an installer")?;
    if !ended.well() {
        let said = fs::read_to_string(&log).unwrap_or_default();
        bail!("{what} cannot be installed ({ended:?}):\n{said}");
    }
    Ok(())
}

/// Returns the version of `XState` that is installed there.
fn installed(prefix: &Path) -> Option<String> {
    let manifest = prefix.join("node_modules").join("xstate").join("package.json");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(manifest).ok()?).ok()?;
    manifest.get("version")?.as_str().map(str::to_owned)
}
