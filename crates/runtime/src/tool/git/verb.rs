//! What git may be asked: its verbs, and the options of each.
//!
//! Options are listed by what is allowed, because git has many, accepts abbreviations, and gets
//! new ones. An argument counts as an option wherever git could take it for one.

use std::path::{Component, Path, PathBuf};

/// A verb that may be used.
pub(super) struct Verb {
    pub(super) name: &'static str,
    /// Whether it only reads.
    pub(super) looks: bool,
    /// Arguments that are put before the caller's.
    pub(super) first: &'static [&'static str],
    /// The options that may be given, with a space between them. One that needs a value ends in
    /// `=`; one that may have a value with it ends in `?`. `-#` is a number.
    options: &'static [&'static str],
}

/// What a call asks for.
pub(super) struct GitRequest<'a> {
    pub(super) verb: &'static Verb,
    /// The arguments that can name files.
    pub(super) places: Vec<&'a str>,
    /// Whether it puts files into the index as they are now.
    pub(super) stages: bool,
    /// Whether it commits with a message among its arguments.
    pub(super) has_message: bool,
    /// The number of arguments before `--`, or of all.
    pub(super) options: usize,
}

impl GitRequest<'_> {
    /// Returns whether the call may put something into the index that lies in a folder, or
    /// that folder itself. A pattern may match anything.
    pub(super) fn covers(&self, folder: &Path) -> bool {
        if !self.stages && self.verb.name != "mv" {
            return false;
        }
        let named = |place: &&str| {
            let literal = place.strip_prefix(":(literal)");
            if literal.is_none() && place.contains(['*', '?', '[', ':', '\\']) {
                return true;
            }
            let parts = Path::new(literal.unwrap_or(place)).components();
            if parts.clone().any(|part| matches!(part, Component::ParentDir | Component::RootDir)) {
                return true;
            }
            let plain: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
            plain.starts_with(folder) || folder.starts_with(&plain)
        };
        self.places.is_empty() || self.places.iter().any(named)
    }
}

const fn looks(name: &'static str, options: &'static [&'static str]) -> Verb {
    Verb { name, looks: true, first: &[], options }
}

const fn writes(name: &'static str, options: &'static [&'static str]) -> Verb {
    Verb { looks: false, ..looks(name, options) }
}

/// A verb that shows differences, for which git would run programs. It does not look into
/// submodules: git would run itself there, with the settings that it finds.
const fn shows(name: &'static str, options: &'static [&'static str]) -> Verb {
    let first =
        &["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", SHORT];
    Verb { first, ..looks(name, options) }
}

/// Describes a changed submodule in a line, without running git in it.
const SHORT: &str = "--submodule=short";

const DIFF: &str = "-p -u --patch -s --no-patch -U= --unified= -W --function-context \
    --inter-hunk-context= --raw --patch-with-raw --patch-with-stat --stat? --compact-summary \
    --numstat --shortstat --dirstat? --summary --name-only --name-status --check --exit-code \
    --quiet -z --full-index --binary --abbrev? -M? --find-renames? -C? --find-copies? \
    --find-copies-harder --no-renames --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex -R -a \
    --text -b -w --ignore-space-change --ignore-all-space --ignore-space-at-eol \
    --ignore-cr-at-eol --ignore-blank-lines --word-diff? --word-diff-regex= --minimal --patience \
    --histogram --diff-algorithm= --no-prefix --relative? --color? \
    --no-color --no-ext-diff --no-textconv --merge-base -r -m -c --cc";
const LOG: &str = "--oneline -n= --max-count= -# --skip= --since= --after= --until= --before= \
    --author= --committer= --grep= --all-match --invert-grep -i --regexp-ignore-case -E \
    --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --first-parent \
    --all --branches? --tags? --remotes? --graph --no-graph --decorate? --no-decorate --format= \
    --pretty? --abbrev-commit --no-abbrev-commit --date= --relative-date --follow --reverse \
    --topo-order --date-order --author-date-order --full-history --simplify-merges \
    --simplify-by-decoration --ancestry-path --left-right --left-only --right-only --cherry \
    --cherry-mark --cherry-pick --boundary --no-walk -g --walk-reflogs --parents --children \
    --source --full-diff -L= --not --no-notes --notes? --min-parents= --max-parents=";

/// Every verb, in the order of the alphabet.
pub(super) const VERBS: &[Verb] = &[
    writes(
        "add",
        &["-A --all --no-all -u --update -n --dry-run -v --verbose -N --intent-to-add --refresh \
           --ignore-errors --ignore-missing --renormalize --chmod="],
    ),
    Verb {
        first: &["--no-textconv"],
        ..looks(
            "blame",
            &["-L= -l -s -e --show-email -w -t -M? -C? -f --show-name -n --show-number -p \
               --porcelain --line-porcelain --incremental --date= --since= --abbrev= --root \
               --reverse --first-parent --minimal --ignore-rev= --no-textconv"],
        )
    },
    writes(
        "branch",
        &["-l --list -a --all -r --remotes -v --verbose -q --quiet --show-current --contains? \
           --no-contains? --merged? --no-merged? --points-at= --sort= --format= --abbrev? \
           --no-abbrev -i --ignore-case --no-track --no-color"],
    ),
    writes(
        "commit",
        &["-m= --message= -F= --file= -a --all -q --quiet --allow-empty -n --no-verify -s \
           --signoff --author= --date= -i --include -o --only --dry-run --short --porcelain \
           --branch --long --no-status --no-gpg-sign --cleanup= -u? --untracked-files?"],
    ),
    shows("diff", &[DIFF, "--cached --staged --base --ours --theirs -0 -1 -2 -3"]),
    writes("init", &["-q --quiet -b= --initial-branch= --object-format="]),
    shows("log", &[DIFF, LOG]),
    looks(
        "ls-files",
        &["-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u \
           --unmerged -k --killed --directory --no-empty-directory --eol --exclude-standard -x= \
           --exclude= -z -t -v --full-name --abbrev? --error-unmatch --deduplicate --format="],
    ),
    writes("mv", &["-n --dry-run -v --verbose -k"]),
    writes(
        "restore",
        &["-s= --source= -S --staged -q --quiet --overlay --no-overlay --no-progress"],
    ),
    looks(
        "rev-parse",
        &["--verify -q --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name \
           --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-inside-git-dir \
           --is-bare-repository --git-dir --all --branches? --tags? --remotes?"],
    ),
    writes("rm", &["--cached -r -n --dry-run -q --quiet --ignore-unmatch"]),
    shows("show", &[DIFF, LOG]),
    Verb {
        first: &["--ignore-submodules=dirty"],
        ..looks(
            "status",
            &["-s --short -b --branch --porcelain? --long -u? --untracked-files? --ignored? -z \
               --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? \
               --show-stash -v --verbose"],
        )
    },
    // A file that is ignored here and tracked there would be overwritten silently.
    Verb {
        first: &["--no-overwrite-ignore"],
        ..writes(
            "switch",
            &["-c= --create= -d --detach -q --quiet --guess --no-guess --no-track --no-progress"],
        )
    },
];

/// Why nothing takes a file back, and what does it instead.
const LOSES: &str = "uncommitted changes would be lost; `show HEAD:PATH` prints the committed content, and `edit` or `write` restores it";
/// Why a verb is not there that many reach for.
const CHECKOUT: &str = "`git checkout` is not allowed here: to change the branch, use `switch`; to \
    restore a file, use `show HEAD:PATH` and then `edit` or `write`, which lose no uncommitted changes";

/// Whether an option has a value.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Value {
    None,
    Attached,
    Needed,
}

impl Verb {
    /// Returns an option's kind, if it may be given.
    fn option(&self, name: &str) -> Option<Value> {
        self.options.iter().flat_map(|list| list.split_ascii_whitespace()).find_map(|option| {
            if option == name {
                return Some(Value::None);
            }
            match option.strip_prefix(name)? {
                "=" => Some(Value::Needed),
                "?" => Some(Value::Attached),
                _ => None,
            }
        })
    }

    /// Says that an option may not be given; one that is only shortened is written out.
    fn refusal(&self, option: &str) -> String {
        let mut longer = self.options.iter().flat_map(|list| list.split_ascii_whitespace());
        let meant = longer.find(|it| option.len() > 3 && it.starts_with(option));
        let hint = meant.map_or_else(String::new, |meant| {
            format!("; write options in full, such as `{}`", meant.trim_end_matches(['=', '?']))
        });
        format!("`git {}` does not allow `{option}` here{hint}", self.name)
    }
}

/// Returns the parsed call, if the verb and all its options are allowed.
pub(super) fn allowed(arguments: &[String]) -> Result<GitRequest<'_>, String> {
    let name = arguments.first().map_or("", String::as_str);
    if name == "checkout" {
        return Err(CHECKOUT.into());
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
        return Err(format!("`git {name}` is not allowed here; allowed: {}", names.join(", ")));
    };
    let (mut places, mut says, mut staged) = (Vec::new(), false, false);
    let (mut takes, mut has_message, mut options) = (name == "add", false, arguments.len());
    let mut refreshes = false;
    let mut rest = arguments.iter().skip(1).map(String::as_str);
    while let Some(argument) = rest.next() {
        if argument == "--" {
            options = arguments.len().saturating_sub(rest.len()).saturating_sub(1);
            places.extend(rest.by_ref());
            takes |= name == "commit";
            break;
        }
        if !argument.starts_with('-') || argument == "-" {
            places.push(argument);
            takes |= name == "commit";
            continue;
        }
        takes |= name == "commit" && takes_files(argument);
        refreshes |= argument == "--refresh";
        let (option, mut value) = taken(verb, argument)?;
        let is_message = name == "commit" && matches!(option, "m" | "--message");
        if value == Some("") && !argument.ends_with('=') {
            let next = rest.next();
            // A value that git might take for an option counts as one, except a message.
            value = next.filter(|next| is_message || !next.starts_with('-'));
            if value.is_none() {
                let but = next.map(|next| format!(", not `{next}`")).unwrap_or_default();
                return Err(format!("`{argument}` of `git {name}` needs a value{but}"));
            }
        }
        staged |= matches!(argument, "-S" | "-qS" | "-Sq" | "--staged");
        has_message |= is_message;
        says |= is_message || (name == "commit" && matches!(option, "F" | "--file"));
        places.extend(value.filter(|_| !is_message));
    }
    if name == "restore" && !staged {
        return Err(format!(
            "`git restore` is allowed here only with `--staged`: without it, {LOSES}"
        ));
    }
    if name == "commit" && !says {
        return Err("`git commit` needs a message: add `-m` and the text".into());
    }
    Ok(GitRequest { verb, places, stages: takes && !refreshes, has_message, options })
}

/// Returns whether an option makes `commit` take files in their current state. Letters after one
/// with a value belong to the value.
fn takes_files(argument: &str) -> bool {
    let letters = argument.strip_prefix('-').unwrap_or_default();
    let mut flags = letters.chars().take_while(|it| !matches!(it, 'm' | 'F' | 'u'));
    matches!(argument, "--all" | "--include" | "--only")
        || (!letters.starts_with('-') && flags.any(|it| matches!(it, 'a' | 'i' | 'o')))
}

/// Returns the option with a value that an argument holds, or its last one, and the value:
/// an empty one if it is yet to come.
fn taken<'a>(verb: &Verb, argument: &'a str) -> Result<(&'a str, Option<&'a str>), String> {
    if argument.starts_with("--") {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (argument, None),
        };
        return match (verb.option(option), value) {
            (Some(Value::Needed), value) => Ok((option, Some(value.unwrap_or("")))),
            (Some(Value::Attached), value) => Ok((option, value)),
            (Some(Value::None), None) => Ok((option, None)),
            (Some(Value::None), Some(_)) | (None, _) => Err(verb.refusal(option)),
        };
    }
    let letters = argument.strip_prefix('-').unwrap_or(argument);
    if letters.bytes().all(|byte| byte.is_ascii_digit()) && verb.option("-#").is_some() {
        return Ok((letters, None));
    }
    let mut last = "";
    for (at, letter) in letters.char_indices() {
        let after = at.saturating_add(letter.len_utf8());
        let rest = letters.get(after..).unwrap_or_default();
        last = letters.get(at..after).unwrap_or_default();
        match verb.option(&format!("-{letter}")) {
            Some(Value::None) => {}
            Some(Value::Attached) => return Ok((last, Some(rest).filter(|rest| !rest.is_empty()))),
            Some(Value::Needed) => return Ok((last, Some(rest))),
            None => return Err(verb.refusal(&format!("-{letter}"))),
        }
    }
    Ok((last, None))
}

/// Returns whether a path, or a prefix such as `HEAD:`, names git's own folder.
pub(super) fn names_git(argument: &str) -> bool {
    argument.split(['/', '\\', ':', ')']).any(|part| part.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
