//! A look through the workspace for repositories: `.git` entries and bare ones, at any depth.
//!
//! No link is followed. Folders near the root come first, so that a look that is cut has seen
//! what matters most.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::fs::{AtFlags, Dir, FileType, statat};

use super::settings::{self, Repository};
use crate::{clock::Stopwatch, tool::folder::Folder};

/// Names that identify a repository for git.
const MARKS: [&str; 4] = ["HEAD", "commondir", "objects", "refs"];

/// How much a look may take.
#[derive(Debug)]
pub(super) struct SurveyBudget {
    entries: usize,
    begun: Stopwatch,
    limits: (usize, Duration),
    /// Which limit was hit.
    pub(super) cut: Option<String>,
}

impl SurveyBudget {
    pub(super) fn new(entries: usize, time: Duration) -> Self {
        let begun = Stopwatch::start();
        Self { entries, begun, limits: (entries, time), cut: None }
    }

    /// Takes one entry, if there is one left and the time is not up.
    pub(super) fn takes_one(&mut self) -> bool {
        if self.cut.is_some() {
            return false;
        }
        let (entries, time) = self.limits;
        let Some(left) = self.entries.checked_sub(1) else {
            self.cut = Some(format!("after {entries} entries"));
            return false;
        };
        self.entries = left;
        // The clock is asked now and then only.
        if self.entries.is_multiple_of(256) && self.begun.elapsed() > time {
            self.cut = Some(format!("after {} ms", time.as_millis()));
        }
        self.cut.is_none()
    }
}

/// What a look has found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Every repository by the path of git's own folder.
    pub(super) repositories: BTreeMap<String, Repository>,
    /// Which limit was hit.
    pub(super) cut: Option<String>,
}

/// Looks through the whole workspace.
pub(super) fn survey(folder: &Folder, mut budget: SurveyBudget) -> Survey {
    let mut found = BTreeMap::new();
    let mut queue = VecDeque::from([PathBuf::new()]);
    while let Some(path) = queue.pop_front() {
        // A file that is missing or cannot be opened has nothing that git could read.
        let Ok(opened) = folder.walk(&path, false) else { continue };
        let Ok(entries) = Dir::read_from(&opened) else { continue };
        let (mut folders, mut marks) = (Vec::new(), Marks::default());
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if !budget.takes_one() {
                break;
            }
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => is_folder(&opened, name),
                _ => false,
            };
            if name.eq_ignore_ascii_case(".git") {
                let repository = settings::entry(&opened, name, &mut budget);
                found.extend(repository.map(|it| (key(&path.join(name)), it)));
                continue;
            }
            marks.see(name);
            if is_folder {
                folders.push(path.join(name));
            }
        }
        if marks.are_of_a_repository() {
            found.insert(key(&path), settings::repository(&opened, &mut budget));
        }
        if budget.cut.is_some() {
            break;
        }
        queue.extend(folders);
    }
    Survey { repositories: found, cut: budget.cut }
}

/// Looks at one path again, by the name that a survey gave it.
pub(super) fn again(folder: &Folder, key: &str, mut budget: SurveyBudget) -> Option<Repository> {
    let path = Path::new(key);
    if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git")) {
        let parent = folder.walk(path.parent().unwrap_or_else(|| Path::new("")), false).ok()?;
        return settings::entry(&parent, path.file_name()?, &mut budget);
    }
    bare(folder, if key == "." { Path::new("") } else { path }, budget)
}

/// Looks at a folder that may be a bare repository.
pub(super) fn bare(folder: &Folder, path: &Path, mut budget: SurveyBudget) -> Option<Repository> {
    let opened = folder.walk(path, false).ok()?;
    let mut marks = Marks::default();
    for name in MARKS {
        if statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            marks.see(name.as_ref());
        }
    }
    marks.are_of_a_repository().then(|| settings::repository(&opened, &mut budget))
}

/// Returns how a path is called in reports and records.
pub(super) fn key(path: &Path) -> String {
    match path.to_str() {
        Some("") => ".".into(),
        Some(text) => text.into(),
        None => path.as_os_str().as_bytes().escape_ascii().to_string(),
    }
}

fn is_folder(folder: &OwnedFd, name: &OsStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// What git looks for in a folder to take it for a repository.
#[derive(Default)]
struct Marks(Vec<&'static str>);

impl Marks {
    /// Records a name, whatever it refers to: git accepts a link to a folder too.
    fn see(&mut self, name: &OsStr) {
        self.0.extend(MARKS.iter().find(|mark| name == **mark));
    }

    fn are_of_a_repository(&self) -> bool {
        let has = |mark: &str| self.0.contains(&mark);
        has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
    }
}
