//! `git`: the verbs that look at history and add to it, in the sandbox.
//!
//! What could lose work, run a program or reach the network is left out. Git's settings
//! can name programs too: hooks, filters, pagers. Those of the system and of the person
//! are not read, the rest are turned off, and whatever is left runs in the sandbox.

use std::ffi::OsStr;

use serde::Deserialize;

use super::{
    Said, Settings,
    folder::Folder,
    sandbox::{Confined, Sandbox},
    shell::refused,
};

/// A verb that may be used.
struct Verb {
    name: &'static str,
    /// Options of its own that are refused, with those that are refused to all.
    refused: &'static [&'static str],
    /// Arguments that are put before the caller's.
    first: &'static [&'static str],
}

const fn verb(name: &'static str) -> Verb {
    Verb { name, refused: &[], first: &[] }
}

/// A verb that shows differences, for which git would run programs.
const fn shows(name: &'static str) -> Verb {
    Verb { first: &["--no-ext-diff", "--no-textconv", "--no-color"], ..verb(name) }
}

const VERBS: &[Verb] = &[
    verb("add"),
    Verb { first: &["--no-textconv"], ..verb("blame") },
    Verb {
        refused: &[
            "-d",
            "-D",
            "-f",
            "-m",
            "-M",
            "-c",
            "-C",
            "--delete",
            "--force",
            "--move",
            "--copy",
            "--edit-description",
        ],
        ..verb("branch")
    },
    Verb { refused: &["-f", "-b", "-B", "--force", "--orphan"], ..verb("checkout") },
    Verb { refused: &["-e", "--edit", "--amend", "-S", "--gpg-sign"], ..verb("commit") },
    shows("diff"),
    verb("init"),
    shows("log"),
    verb("ls-files"),
    verb("mv"),
    verb("restore"),
    verb("rev-parse"),
    verb("rm"),
    shows("show"),
    verb("status"),
    Verb {
        refused: &["-f", "-C", "--force", "--discard-changes", "--force-create"],
        ..verb("switch")
    },
];

/// Options that run a program, write elsewhere or read elsewhere.
const REFUSED: &[&str] = &[
    "--ext-diff",
    "--textconv",
    "--output",
    "--no-index",
    "--contents",
    "--template",
    "--separate-git-dir",
    "--recurse-submodules",
    "--open-files-in-pager",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--upload-pack",
    "--show-signature",
];

/// Settings that hold for every call, whatever the repository says.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
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
        "Runs git in the workspace, without network, hooks or editor. Verbs: {}. `checkout` only \
         takes paths, after `--`; `commit` needs `-m`.",
        names.join(", ")
    )
}

impl Git {
    /// Returns a call of git.
    pub(super) fn of(arguments: &[&str]) -> Self {
        Self { args: arguments.iter().map(|it| (*it).to_owned()).collect() }
    }

    /// Returns the command, ready to run.
    pub(super) fn confined(
        &self,
        folder: &Folder,
        settings: &Settings,
        sandbox: &Sandbox,
    ) -> Result<Confined, Said> {
        let verb = self.allowed().map_err(Said::no)?;
        let mut program = vec!["git", "--no-pager"];
        for setting in SETTINGS {
            program.extend(["-c", setting]);
        }
        program.push(verb.name);
        program.extend(verb.first);
        program.extend(self.args.iter().skip(1).map(String::as_str));
        let program: Vec<&OsStr> = program.into_iter().map(OsStr::new).collect();
        let place = (folder.root(), "".as_ref());
        let mut confined =
            sandbox.command(&settings.sandbox, place, true, &program).map_err(refused)?;
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

    /// Returns the verb, if it and all its options may be used.
    fn allowed(&self) -> Result<&'static Verb, String> {
        let name = self.args.first().map_or("", String::as_str);
        let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
            let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
            return Err(format!(
                "`git {name}` is not allowed here; there are {}",
                names.join(", ")
            ));
        };
        let valued = if name == "commit" { "mF" } else { "" };
        let options = options(&self.args, valued);
        let all = REFUSED.iter().chain(verb.refused);
        for argument in &options {
            if let Some(option) = all.clone().find(|option| is_option(argument, option, valued)) {
                return Err(format!("`git {name}` may not be given `{option}` here"));
            }
        }
        if name == "checkout" && !self.args.iter().any(|argument| argument == "--") {
            return Err("`git checkout` only takes paths here, after `--`; to change the branch, \
                        use `switch`"
                .into());
        }
        let message = ["-m", "-F", "--message", "--file"];
        let says =
            |argument: &&str| message.iter().any(|option| is_option(argument, option, valued));
        if name == "commit" && !options.iter().any(says) {
            return Err("`git commit` needs a message: add `-m` and the text".into());
        }
        Ok(verb)
    }
}

/// Returns the arguments that can be options: those after the verb and before `--`,
/// without the text that belongs to a letter such as `-m`.
fn options<'a>(arguments: &'a [String], valued: &str) -> Vec<&'a str> {
    let mut options = Vec::new();
    let mut rest = arguments.iter().skip(1).map(String::as_str).take_while(|one| *one != "--");
    while let Some(argument) = rest.next() {
        options.push(argument);
        let is_short = argument.starts_with('-') && !argument.starts_with("--");
        let takes_next =
            argument.find(|letter| valued.contains(letter)) == argument.len().checked_sub(1);
        if is_short && takes_next {
            rest.next();
        }
    }
    options
}

/// Returns whether an argument is an option, also where it is shortened, has its value
/// with it, or stands among other letters.
fn is_option(argument: &str, option: &str, valued: &str) -> bool {
    if option.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        return name.len() > 3 && name.starts_with("--") && option.starts_with(name);
    }
    let letter = option.trim_start_matches('-');
    let Some(letters) = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    // What follows a letter that takes a value is that value.
    let end = letters.find(|one| valued.contains(one)).map_or(letters.len(), |at| at + 1);
    letters.get(..end).is_some_and(|letters| letters.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, allowed: bool) {
        let args = line.split(' ').map(String::from).collect();
        let ruled = Git { args }.allowed().map(|verb| verb.name);
        assert_eq!(ruled.is_ok(), allowed, "git {line}: {ruled:?}");
    }

    #[test]
    fn verbs_that_look_and_add_are_allowed() {
        for line in [
            "status --short",
            "diff HEAD~1 -- src",
            "log -p -3 --oneline",
            "show HEAD:src/main.rs",
            "add -A",
            "commit -m done",
            "commit -am done",
            "commit --message=done",
            "commit -m -e",
            "commit -mSeen",
            "branch --list",
            "branch next",
            "switch -c next",
            "checkout HEAD -- a.txt",
            "restore --staged a.txt",
        ] {
            check(line, true);
        }
    }

    #[test]
    fn what_runs_programs_reaches_out_or_loses_work_is_refused() {
        for line in [
            "",
            "push",
            "fetch origin",
            "clone /etc",
            "config core.pager evil",
            "-c core.pager=evil log",
            "reset --hard",
            "stash",
            "rebase main",
            "checkout main",
            "checkout -f -- a.txt",
            "commit",
            "commit --amend -m x",
            "commit --am -m x",
            "commit -Skey -m x",
            "commit -em x",
            "commit -m x --amend",
            "diff --ext-diff",
            "diff --ext-d",
            "diff --output=/tmp/x",
            "diff --outp /tmp/x",
            "log --textconv",
            "diff --no-index /etc/passwd a",
            "branch -D main",
            "branch --delete main",
            "branch --del main",
            "switch --discard-changes main",
            "init --template=/tmp/evil",
        ] {
            check(line, false);
        }
    }
}
