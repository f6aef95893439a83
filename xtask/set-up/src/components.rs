//! Components from outside, installed where they are missing, in pinned versions.
//!
//! A failed installation is an error. Nothing is skipped because of it. Everything is in the cache
//! with a list of its content, so that a second run installs nothing and needs no network.

mod debian;
mod npm;
mod python;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{
    place::{self, Scratch},
    process,
};

pub use self::{
    debian::is_present,
    npm::{
        Appium, appium, benches as npm_of_benches, fleet as npm_of_fleet, pages as npm_of_pages,
        tests as npm,
    },
    python::{
        Python, benches as python_of_benches, fleet as python_of_fleet, http,
        pages as python_of_pages, spans, tests as python, typos,
    },
};

const INSTALL_CAP: Duration = Duration::from_mins(15);

/// Something from outside that tests need.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// Node and its packages: `XState`, the mock of providers, MCP servers, an ACP client.
    Npm,
    /// Python, a server for models, and the weak model.
    Models,
    /// What tools run in and with: bubblewrap and git.
    Sandbox,
    /// Chromium, what drives it, and what pages are written with: React and Vue.
    Browser,
    /// The spelling checker.
    Typos,
    /// The server of Appium with two of its drivers, and the browser that one of them drives.
    Appium,
    /// PostgreSQL, and a pooler before it.
    Postgres,
    /// curl, and Python with a fuzzer of HTTP interfaces and what the examples need.
    Http,
    /// Python with the classes that decode spans.
    Spans,
    /// A terminal that a program can type in and read.
    Terminal,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Npm,
        Self::Models,
        Self::Sandbox,
        Self::Browser,
        Self::Typos,
        Self::Appium,
        Self::Postgres,
        Self::Http,
        Self::Spans,
        Self::Terminal,
    ];

    fn install(self) -> Result<()> {
        match self {
            Self::Npm => npm().map(drop),
            Self::Models => python().map(drop),
            Self::Sandbox => debian::ensure(&["bubblewrap", "git"]),
            Self::Browser => browser().and_then(|()| npm_of_pages().map(drop)),
            Self::Typos => typos().map(drop),
            Self::Appium => browser().and_then(|()| appium().map(drop)),
            Self::Postgres => postgres(),
            Self::Http => debian::ensure(&["curl"]).and_then(|()| http().map(drop)),
            Self::Spans => spans().map(drop),
            Self::Terminal => terminal(),
        }
    }
}

/// Makes sure of a browser, and of what drives it.
pub fn browser() -> Result<()> {
    debian::ensure(&["chromium", "chromium-driver"])
}

/// Makes sure of PostgreSQL, and of the servers beside it.
pub fn postgres() -> Result<()> {
    debian::ensure(&["postgresql", "pgbouncer", "redis-server", "util-linux"])
}

/// Makes sure of tmux.
pub fn terminal() -> Result<()> {
    debian::ensure(&["tmux"])
}

/// Makes sure of what counts system calls.
pub fn strace() -> Result<()> {
    debian::ensure(&["strace"])
}

/// Installations in the background, while a compiler runs.
pub struct Installing(Vec<(Need, JoinHandle<Result<()>>)>);

/// What became of them.
pub struct InstallReport(Vec<(Need, Result<()>)>);

impl Installing {
    /// Starts to install whatever is missing of these.
    pub fn start(needs: impl IntoIterator<Item = Need>) -> Self {
        let mut all = Vec::new();
        for need in needs {
            if !all.iter().any(|(there, _)| *there == need) {
                all.push((need, thread::spawn(move || need.install())));
            }
        }
        Self(all)
    }

    /// Waits for the last of them.
    pub fn join(self) -> InstallReport {
        let broke = || Err(anyhow!("the installation broke off"));
        let done = self.0.into_iter();
        InstallReport(
            done.map(|(need, it)| (need, it.join().unwrap_or_else(|_| broke()))).collect(),
        )
    }
}

impl InstallReport {
    /// Fails if one of these is missing, and says why.
    pub fn has(&self, needs: &[Need]) -> Result<()> {
        for (need, done) in &self.0 {
            if let Some(why) = done.as_ref().err().filter(|_| needs.contains(need)) {
                bail!("a component is missing: {why:#}");
            }
        }
        Ok(())
    }
}

/// One installer at a time, in this program and beside it: what installs packages does
/// not like company.
fn alone<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static WITHIN: Mutex<()> = Mutex::new(());
    // An aborted installation leaves a list without its mark.
    let _within = WITHIN.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = place::cache()?;
    fs::create_dir_all(&cache).context("making the cache")?;
    let beside = File::create(cache.join("lock")).context("making the cache's lock")?;
    beside.lock().context("waiting for another installation")?;
    work()
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

/// A list of the packages installed in a folder, kept there as a file.
struct List {
    file: PathBuf,
    wanted: String,
}

impl List {
    /// The list of these pinned packages, under its own name.
    fn new(folder: &Path, name: &str, packages: &[&str]) -> Self {
        Self { file: folder.join(format!(".{name}")), wanted: packages.join("\n") }
    }

    /// Returns whether all of it, and in these very versions, is there.
    fn is_there(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|there| there == self.wanted)
    }

    /// Says that all of it is there now.
    fn tick(&self) -> Result<()> {
        fs::write(&self.file, &self.wanted).context("listing what is installed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_there_once_ticked_and_not_in_other_versions() -> Result<()> {
        let scratch = Scratch::new()?;
        fs::create_dir(scratch.file("in"))?;
        let list = |packages: &[&str]| List::new(&scratch.file("in"), "tests", packages);
        assert!(!list(&["one@1"]).is_there());
        list(&["one@1"]).tick()?;
        assert!(list(&["one@1"]).is_there());
        assert!(!list(&["one@2"]).is_there());
        assert!(!list(&["one@1", "two@1"]).is_there());
        Ok(())
    }

    #[test]
    fn missing_programs_are_reported_only_if_needed() {
        let missing = || Err(anyhow!("no network"));
        let installed = InstallReport(vec![(Need::Npm, Ok(())), (Need::Models, missing())]);
        assert!(installed.has(&[Need::Npm]).is_ok());
        let why = installed.has(&[Need::Npm, Need::Models]).map_err(|why| why.to_string());
        assert_eq!(why, Err("a component is missing: no network".into()));
    }
}
