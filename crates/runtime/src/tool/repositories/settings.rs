//! The files of a repository that can name programs: what they hold, and whether that is more
//! than `git init` or a clone writes.

use std::{
    ffi::OsStr,
    fs::File,
    io::Read,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
};

use pointsman_kernel::id::Digest;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};

use super::survey::SurveyBudget;

/// Bytes of a settings file that are read; a longer one is known by its size and its time.
const LARGEST: u64 = 1 << 20;
/// Levels of folders to search for the settings of submodules.
const DEEPEST: usize = 8;
/// Files whose presence alone is more than `git init` writes.
const UNUSUAL: [&str; 4] = ["config.worktree", "commondir", "gitdir", "info/attributes"];
/// Settings that name no program. A key that has no subsection here must have none there.
const HARMLESS: &[(&str, bool, &[&str])] = &[
    (
        "core",
        false,
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
        ],
    ),
    ("extensions", false, &["objectformat", "refstorage"]),
    ("init", false, &["defaultbranch"]),
    ("user", false, &["name", "email"]),
    ("pull", false, &["rebase", "ff"]),
    ("push", false, &["default", "autosetupremote"]),
    ("branch", true, &["remote", "merge", "rebase"]),
    ("remote", true, &["url", "fetch"]),
];

/// What was found of a repository.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Repository {
    /// Of all that can name programs.
    pub(super) digest: Digest,
    /// What it holds beyond the harmless settings of a new one.
    pub(super) odd: Option<String>,
}

/// Looks at what lies under the name `.git`.
pub(super) fn entry(
    folder: &OwnedFd,
    name: &OsStr,
    budget: &mut SurveyBudget,
) -> Option<Repository> {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let mut seen = Seen::default();
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => return Some(repository(&open(folder, name)?, budget)),
        FileType::RegularFile => {
            let held = seen.file(folder, name, "");
            let named = held.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            seen.is_odd(&format!("it is a file that points to another folder: {}", shown(&named)));
        }
        _ => {
            seen.file(folder, name, "");
            seen.is_odd("it is neither a folder nor a file");
        }
    }
    Some(seen.repository())
}

/// Looks at a folder that git takes for a repository.
pub(super) fn repository(folder: &OwnedFd, budget: &mut SurveyBudget) -> Repository {
    let mut seen = Seen::default();
    seen.folder(folder, "", 0, budget);
    seen.repository()
}

fn open(folder: &OwnedFd, name: &OsStr) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty()).ok()
}

#[derive(Default)]
struct Seen {
    /// All that was seen, in order.
    text: Vec<u8>,
    odd: Option<String>,
}

impl Seen {
    fn repository(self) -> Repository {
        Repository { digest: Digest::of(&self.text), odd: self.odd }
    }

    fn is_odd(&mut self, why: &str) {
        self.odd.get_or_insert_with(|| why.to_owned());
    }

    fn note(&mut self, parts: &[&[u8]]) {
        for part in parts {
            // Lengths keep two parts from being taken for others.
            self.text.extend_from_slice(&part.len().to_le_bytes());
            self.text.extend_from_slice(part);
        }
    }

    /// Reads a repository's own folder, and those of its submodules and worktrees.
    fn folder(&mut self, folder: &OwnedFd, path: &str, depth: usize, budget: &mut SurveyBudget) {
        let name =
            |name: &str| if path.is_empty() { name.into() } else { format!("{path}/{name}") };
        if let Some(held) = self.file(folder, "config".as_ref(), &name("config"))
            && let Err(odd) = harmless(&held)
        {
            self.is_odd(&format!("`{}` {odd}", name("config")));
        }
        for unusual in UNUSUAL {
            let (inner, file) = unusual.split_once('/').unwrap_or(("", unusual));
            let inner = if inner.is_empty() { None } else { Some(open(folder, inner.as_ref())) };
            let held = match &inner {
                Some(Some(inner)) => self.file(inner, file.as_ref(), &name(unusual)),
                Some(None) => None,
                None => self.file(folder, file.as_ref(), &name(unusual)),
            };
            if held.is_some() {
                self.is_odd(&format!("it has `{}`", name(unusual)));
            }
        }
        self.hooks(folder, &name("hooks"), budget);
        for more in ["modules", "worktrees"] {
            if let Some(inner) = open(folder, more.as_ref()) {
                self.inner(&inner, &name(more), depth.saturating_add(1), budget);
            }
        }
    }

    fn hooks(&mut self, folder: &OwnedFd, path: &str, budget: &mut SurveyBudget) {
        let found = statat(folder, "hooks", AtFlags::SYMLINK_NOFOLLOW);
        let Ok(found) = found else { return };
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            self.file(folder, "hooks".as_ref(), path);
            return self.is_odd(&format!("`{path}` is not a folder"));
        }
        let Some(hooks) = open(folder, "hooks".as_ref()) else { return };
        for name in names(&hooks, budget) {
            let shown = name.to_string_lossy();
            self.file(&hooks, &name, &format!("{path}/{shown}"));
            if !shown.ends_with(".sample") {
                self.is_odd(&format!("it has the hook `{path}/{shown}`"));
            }
        }
    }

    /// Looks for repositories in git's own folder: those of submodules may be nested deeply.
    fn inner(&mut self, folder: &OwnedFd, path: &str, depth: usize, budget: &mut SurveyBudget) {
        if depth > DEEPEST {
            return self.is_odd(&format!("`{path}` is nested too deeply to check"));
        }
        for name in names(folder, budget) {
            let shown = format!("{path}/{}", name.to_string_lossy());
            let Some(inner) = open(folder, &name) else { continue };
            self.is_odd(&format!("it has `{shown}`"));
            let has = |name: &str| statat(&inner, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
            if has("HEAD") || has("config") || has("gitdir") {
                self.folder(&inner, &shown, depth, budget);
            } else {
                self.inner(&inner, &shown, depth.saturating_add(1), budget);
            }
        }
    }

    /// Notes a file with its mode and what it holds, without following a link or waiting for
    /// a pipe; returns what it holds, if there is something.
    fn file(&mut self, folder: &OwnedFd, name: &OsStr, path: &str) -> Option<Vec<u8>> {
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = FileType::from_raw_mode(found.st_mode);
        let mode = found.st_mode.to_le_bytes();
        let held = match kind {
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
                let file = openat(folder, name, flags | OFlags::CLOEXEC, Mode::empty());
                let file = File::from(file.ok()?);
                let metadata = file.metadata().ok()?;
                let mut held = Vec::new();
                if metadata.len() > LARGEST {
                    self.is_odd(&format!("`{path}` is too large to check"));
                    held = format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.ino())
                        .into_bytes();
                } else {
                    file.take(LARGEST).read_to_end(&mut held).ok()?;
                }
                held
            }
            FileType::Symlink => {
                self.is_odd(&format!("`{path}` is a link"));
                readlinkat(folder, name, Vec::new()).ok()?.into_bytes()
            }
            _ => {
                self.is_odd(&format!("`{path}` is not a file"));
                Vec::new()
            }
        };
        self.note(&[path.as_bytes(), &mode, &held]);
        Some(held)
    }
}

/// Returns the names in a folder, in order.
fn names(folder: &OwnedFd, budget: &mut SurveyBudget) -> Vec<std::ffi::OsString> {
    use std::os::unix::ffi::OsStrExt;
    let mut names = Vec::new();
    let Ok(entries) = Dir::read_from(folder) else { return names };
    for entry in entries.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." && budget.takes_one() {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    names
}

/// Says what the first line does that is not harmless. Unusual syntax is rejected on purpose: git
/// might interpret it differently.
fn harmless(config: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(config).map_err(|_| "contains invalid UTF-8".to_owned())?;
    let mut section: Option<(String, bool)> = None;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let odd = || format!("sets `{}`", shown(line));
        if let Some(header) = line.strip_prefix('[') {
            section = Some(header.strip_suffix(']').and_then(sectioned).ok_or_else(odd)?);
            continue;
        }
        let (key, value) = line.split_once('=').ok_or_else(odd)?;
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let (name, has_inner) = section.as_ref().ok_or_else(odd)?;
        let known = HARMLESS.iter().any(|(known, inner, keys)| {
            known == name && inner == has_inner && keys.contains(&&*key)
        });
        let plain = !value.contains(['\\', '"', '#', ';']) && !value.chars().any(char::is_control);
        let address = key != "url" || (!value.starts_with('-') && !value.contains("::"));
        if !known || !plain || !address {
            return Err(format!("sets `{name}.{}`", shown(&key)));
        }
    }
    Ok(())
}

/// Returns the section's name and whether it has a subsection.
fn sectioned(header: &str) -> Option<(String, bool)> {
    let (name, inner) = match header.split_once(' ') {
        Some((name, inner)) => (name, Some(inner.strip_prefix('"')?.strip_suffix('"')?)),
        None => (header, None),
    };
    let plain = name.chars().all(|it| it.is_ascii_alphabetic()) && !name.is_empty();
    let inner_plain = inner.is_none_or(|inner| !inner.contains(['"', '\\']) && !inner.is_empty());
    (plain && inner_plain).then(|| (name.to_ascii_lowercase(), inner.is_some()))
}

/// Returns as much of a text as a message should repeat.
fn shown(text: &str) -> String {
    text.chars().take(80).map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn default_git_settings_are_harmless() {
        for config in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
             \tlogallrefupdates = true\n",
            "[core]\r\n\tbare = false\r\n# note\n[remote \"origin\"]\n\turl = https://a.example/b\n\
             \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\
             \tmerge = refs/heads/main\n[user]\n\tname = Ada L\n\temail = a@b.example\n",
        ] {
            assert_eq!(harmless(config.as_bytes()), Ok(()), "{config}");
        }
    }

    #[test]
    fn settings_that_name_programs_are_not_harmless() {
        for config in [
            "[core]\n\tfsmonitor = touch x\n",
            "[CORE]\n\tFsMonitor=touch x\n",
            "[core] fsmonitor = x\n",
            "[core]\n\tbare = false \\\n\tfsmonitor = x\n",
            "[core]\n\tbare\n",
            "[core \"x\"]\n\tbare = false\n",
            "[core.x]\n\tbare = false\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[include]\n\tpath = ../x\n",
            "[alias]\n\tst = !x\n",
            "[remote \"o\"]\n\turl = ext::sh -c x\n",
            "[remote \"o\"]\n\turl = --upload-pack=x\n",
            "[remote \"o\"]\n\tuploadpack = x\n",
            "[remote \"o\\\"\"]\n\turl = x\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "bare = false\n",
            "\u{feff}[core]\n",
            "[core]\n\tbare = false\u{0}\n",
        ] {
            assert!(harmless(config.as_bytes()).is_err(), "{config:?}");
        }
        assert!(harmless(b"\xff").is_err());
    }
}
