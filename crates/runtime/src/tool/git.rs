//! `git`: the verbs that look at history and add to it, in the sandbox.
//!
//! What could lose work, run a program or reach the network is left out. Git's settings
//! can name programs too: hooks, filters, pagers. Those of the system and of the person
//! are not read, the rest are turned off, and whatever is left runs in the sandbox.
//! Nothing is left behind that a person's own git would run later.

mod verb;

use std::{ffi::OsStr, path::Path};

use serde::Deserialize;

use super::{
    Said, Settings,
    folder::Folder,
    sandbox::{self, Confined, Sandbox},
    shell::refused,
};
use verb::{VERBS, Verb, allowed, names_git};

/// Settings that hold for every call, whatever the repository says.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "branch.autoSetupMerge=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "maintenance.auto=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// Who commits where the settings pass nobody else's name on.
const AUTHOR: (&str, &str) = ("Pointsman", "pointsman@localhost");

/// The arguments of `git`.
#[derive(Debug, Deserialize)]
pub(super) struct Git {
    args: Vec<String>,
}

/// Returns what models are told.
pub(super) fn about() -> String {
    let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    format!(
        "Runs git in the workspace, without network, hooks or editor. Verbs: {}. `restore` \
         needs `--staged`; `commit` needs `-m`.",
        names.join(", ")
    )
}

impl Git {
    /// Returns a call of git.
    pub(super) fn of(arguments: &[&str]) -> Self {
        Self { args: arguments.iter().map(|it| (*it).to_owned()).collect() }
    }

    /// Returns why the arguments are refused, before anything is run.
    pub(super) fn refused(&self, folder: &Folder) -> Option<String> {
        self.permitted(folder).err().map(|said| said.output)
    }

    /// Returns the verb, if the arguments are among those that are allowed here.
    fn permitted(&self, folder: &Folder) -> Result<&'static Verb, Said> {
        let asked = allowed(&self.args).map_err(Said::no)?;
        if let Some(path) = asked.places.iter().find(|path| is_gits(folder.root(), path)) {
            return Err(Said::no(format!(
                "`{path}` belongs to git's own files, which are not named here"
            )));
        }
        Ok(asked.verb)
    }

    /// Returns the command, ready to run.
    pub(super) fn confined(
        &self,
        folder: &Folder,
        settings: &Settings,
        sandbox: &Sandbox,
    ) -> Result<Confined, Said> {
        let verb = self.permitted(folder)?;
        let mut program = vec!["git", "--no-pager"];
        for setting in SETTINGS {
            program.extend(["-c", setting]);
        }
        program.push(verb.name);
        program.extend(verb.first);
        program.extend(self.args.iter().skip(1).map(String::as_str));
        let program: Vec<&OsStr> = program.into_iter().map(OsStr::new).collect();
        let place = (folder.root(), "".as_ref());
        let git = if verb.looks { sandbox::Git::Looks } else { sandbox::Git::Writes };
        let mut confined =
            sandbox.command(&settings.sandbox, place, git, &program).map_err(refused)?;
        let passed = |name: &str| settings.sandbox.env.iter().any(|known| known == name);
        for who in ["AUTHOR", "COMMITTER"] {
            for (what, value) in [("NAME", AUTHOR.0), ("EMAIL", AUTHOR.1)] {
                let name = format!("GIT_{who}_{what}");
                if !passed(&name) || std::env::var_os(&name).is_none() {
                    confined.command.env(name, value);
                }
            }
        }
        confined
            .command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0");
        Ok(confined)
    }
}

/// Returns whether an argument names one of git's own files: by its words, or through a
/// link. A hook that is put there would run when a person next uses git.
fn is_gits(root: &Path, argument: &str) -> bool {
    let path = root.join(argument);
    let real = path.ancestors().find_map(|path| path.canonicalize().ok());
    let inside = real.as_deref().and_then(|real| real.strip_prefix(root).ok());
    names_git(argument) || inside.and_then(Path::to_str).is_some_and(names_git)
}
