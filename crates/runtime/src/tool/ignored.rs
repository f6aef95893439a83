//! Which files a walk leaves out, by the lists that a workspace holds of them.
//!
//! `.gitignore`, `.ignore` and `.git/info/exclude` come from the workspace's authors and from
//! commands that ran in it. Only a regular file of a sensible size is read as such a list: a pipe
//! or a device could block forever.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::fs::{Mode, OFlags};
use walkdir::{DirEntry, WalkDir};

/// Bytes and lines of a list. A longer one counts for nothing: compiling it takes time
/// and memory that grow with it.
const LONGEST: (u64, usize) = (256 << 10, 8192);

/// Walks a folder in the order of names, without git's own files and without ignored
/// ones. No link below the folder is followed; entries that cannot be read are left out.
///
/// The walker of `ignore` panics where a folder is swapped for a link while it is walked.
pub(super) fn walk(start: &Path, hidden: bool, depth: usize) -> impl Iterator<Item = DirEntry> {
    let lists = Lists { global: Gitignore::global().0, read: Mutex::default() };
    WalkDir::new(start)
        .follow_links(false)
        .max_depth(depth)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(move |entry| {
            let name = entry.file_name();
            let shown = hidden || !name.as_encoded_bytes().starts_with(b".");
            let listed = || lists.leave_out(entry.path(), entry.file_type().is_dir());
            entry.depth() == 0 || (shown && name != ".git" && !listed())
        })
        .flatten()
}

/// The lists of all folders that were come by.
struct Lists {
    /// The person's own, for every workspace.
    global: Gitignore,
    read: Mutex<HashMap<PathBuf, Arc<Listed>>>,
}

/// What one folder lists.
struct Listed {
    plain: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
}

impl Lists {
    /// Returns whether a path is ignored. The nearest list that matches it decides; `.ignore`
    /// comes before git's lists, and git's count up to the root of its repository.
    fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let ruled = |list: &Gitignore| match list.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let (mut by_git, mut inside) = (None, true);
        for folder in path.ancestors().skip(1) {
            let listed = self.of(folder);
            if let Some(out) = ruled(&listed.plain) {
                return out;
            }
            if inside {
                by_git = by_git.or_else(|| ruled(&listed.git)).or_else(|| ruled(&listed.exclude));
            }
            inside &= !listed.is_repository;
        }
        by_git.or_else(|| ruled(&self.global)).unwrap_or(false)
    }

    fn of(&self, folder: &Path) -> Arc<Listed> {
        // A panic here leaves the lists intact.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = read.get(folder) {
            return Arc::clone(listed);
        }
        let listed = Arc::new(Listed {
            plain: list(folder, ".ignore"),
            git: list(folder, ".gitignore"),
            exclude: list(folder, ".git/info/exclude"),
            is_repository: fs::symlink_metadata(folder.join(".git")).is_ok(),
        });
        read.insert(folder.into(), Arc::clone(&listed));
        listed
    }
}

/// Reads a folder's list; one that cannot be used is empty.
fn list(folder: &Path, name: &str) -> Gitignore {
    let Some(text) = text(&folder.join(name)) else { return Gitignore::empty() };
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An invalid line is ignored; the others count.
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn text(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let file = File::from(file);
    let mut bytes = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(LONGEST.0.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    }
    let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= LONGEST.0);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if !fits || text.lines().nth(LONGEST.1).is_some() {
        tracing::warn!(path = %path.display(), "a list of ignored files is too long and is not used");
        return None;
    }
    Some(text)
}
