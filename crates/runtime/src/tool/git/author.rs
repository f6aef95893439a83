//! Who commits: the person, by their own settings of git, else Pointsman.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{super::ToolSettings, drivers::Drivers};
use crate::clock::Stopwatch;

/// The author of commits if no other is known.
const POINTSMAN: (&str, &str) = ("Pointsman", "pointsman@localhost");
/// How long git may take to say who the person is.
const LIMIT: Duration = Duration::from_secs(3);
/// How long to sleep between two looks at it.
const NAP: Duration = Duration::from_millis(2);

/// The name and the e-mail address that a person commits under.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Author {
    /// The name.
    pub name: Option<String>,
    /// The e-mail address.
    pub email: Option<String>,
}

impl Author {
    /// Asks git for the person's own settings, as they hold in a folder. The settings of the
    /// repository there are not read here: those come from the sandbox.
    pub fn of_person(folder: &Path) -> Self {
        let own = Self::set(folder, "--global");
        if own.name.is_some() && own.email.is_some() {
            return own;
        }
        let all = Self::set(folder, "--system");
        Self { name: own.name.or(all.name), email: own.email.or(all.email) }
    }

    /// Reads one file of settings, with the files that it includes.
    fn set(folder: &Path, scope: &str) -> Self {
        let mut git = Command::new("git");
        git.args(["config", scope, "--includes", "-z", "--get-regexp", "^user\\.(name|email)$"]);
        let listed = answer(git.current_dir(folder)).unwrap_or_default();
        let mut author = Self::default();
        for (key, value) in listed.split('\0').filter_map(|setting| setting.split_once('\n')) {
            let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
            match key {
                "user.name" => author.name = value,
                _ => author.email = value,
            }
        }
        author
    }
}

/// Returns the little that a command writes, if it ends well and in time.
fn answer(command: &mut Command) -> Option<String> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let since = Stopwatch::start();
    // It is shorter than what a pipe takes, so the command ends without being read.
    while child.try_wait().ok()?.is_none() {
        if since.elapsed() > LIMIT {
            drop(child.kill());
            drop(child.wait());
            return None;
        }
        thread::sleep(NAP);
    }
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// Returns the variables for git's author: those that the settings pass on, else the repository's,
/// else the person's own, else Pointsman's.
pub(super) fn variables(settings: &ToolSettings, drivers: &Drivers) -> Vec<(String, String)> {
    let passed = |name: &str| settings.sandbox.env.iter().any(|known| known == name);
    let own = settings.author.clone();
    let (name, email) = drivers.author.clone();
    let name = name.or(own.name).unwrap_or_else(|| POINTSMAN.0.into());
    let email = email.or(own.email).unwrap_or_else(|| POINTSMAN.1.into());
    let mut variables = Vec::new();
    for who in ["AUTHOR", "COMMITTER"] {
        for (what, value) in [("NAME", &name), ("EMAIL", &email)] {
            let variable = format!("GIT_{who}_{what}");
            if !passed(&variable) || env::var_os(&variable).is_none() {
                variables.push((variable, value.clone()));
            }
        }
    }
    variables
}
