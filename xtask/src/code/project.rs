//! The repository that is changed: made for one run, and read when the run is over.

use std::{fs, io, path::PathBuf, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{place, process};

const GIT_CAP: Duration = Duration::from_secs(30);
/// The files that the change is about.
const FILES: [&str; 2] = ["prices.py", "test_prices.py"];
/// While this is there, the project's tests take long.
const LINGER: &str = "linger";

/// A small project with a fault in it, under git.
pub(super) struct Project {
    folder: PathBuf,
}

/// How the project looks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct ProjectState {
    /// The subjects of all commits, the last one first.
    pub(super) commits: Vec<String>,
    /// What git says is not committed.
    pub(super) uncommitted: String,
    /// Files that are not as the whole change leaves them.
    pub(super) unlike: Vec<String>,
    /// Times that the tests began, and that they came to their end.
    pub(super) tested: (usize, usize),
}

impl Project {
    /// Makes it, with one commit.
    pub(super) fn make(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        let before = place::script("code/before");
        for file in FILES {
            fs::copy(before.join(file), folder.join(file)).context("copying the project")?;
        }
        fs::copy(before.join("gitignore"), folder.join(".gitignore"))?;
        let project = Self { folder };
        project.git(&["init", "--quiet", "--initial-branch", "main"])?;
        project.git(&["add", "--all"])?;
        project.git(&["commit", "--quiet", "--message", "Begin"])?;
        Ok(project)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Makes the tests take long, or no longer.
    pub(super) fn linger(&self, long: bool) -> Result<()> {
        let file = self.folder.join(LINGER);
        if long {
            fs::write(file, "").context("slowing the tests down")
        } else if file.exists() {
            fs::remove_file(file).context("letting the tests go on")
        } else {
            Ok(())
        }
    }

    /// Returns how often the tests have begun, and how often they have ended.
    pub(super) fn tested(&self) -> Result<(usize, usize)> {
        let log = match fs::read_to_string(self.folder.join("tests.log")) {
            Err(none) if none.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.context("reading when tests were run")?,
        };
        let count = |word| log.lines().filter(|line| *line == word).count();
        Ok((count("begin"), count("end")))
    }

    /// Returns how it looks.
    pub(super) fn seen(&self) -> Result<ProjectState> {
        let commits = self.git(&["log", "--format=%s"])?;
        let uncommitted = self.git(&["status", "--porcelain"])?;
        let mut unlike = Vec::new();
        for file in FILES {
            let wanted = fs::read(place::script("code/after").join(file))?;
            if fs::read(self.folder.join(file)).ok() != Some(wanted) {
                unlike.push(file.to_owned());
            }
        }
        let commits = commits.lines().map(ToOwned::to_owned).collect();
        Ok(ProjectState { commits, uncommitted, unlike, tested: self.tested()? })
    }

    /// Runs git and returns what it prints; no settings of ours or of the machine's count.
    fn git(&self, arguments: &[&str]) -> Result<String> {
        let said = self.folder.with_file_name("git-said");
        let mut git = process::command("git");
        git.args(["-c", "user.name=Somebody", "-c", "user.email=somebody@localhost"]);
        git.args(arguments).current_dir(&self.folder);
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.stdout(fs::File::create(&said)?);
        let ended = process::run(git, GIT_CAP).context("starting git")?;
        ensure!(ended.well(), "git {} does not go well ({ended:?})", arguments.join(" "));
        fs::read_to_string(&said).context("reading what git says")
    }
}
