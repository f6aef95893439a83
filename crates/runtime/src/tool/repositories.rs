//! Which repositories of the workspace are trusted: those that existed when the run began, as long
//! as no command changes their settings.
//!
//! A person's own git runs what a repository's settings name, and commands can make
//! repositories. So after each command the workspace is looked through, and what has appeared
//! is reported, to the model and to the person. One whose settings could name a program is not
//! trusted: `git` does not run in it, and does not add it to another.

mod settings;
mod survey;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pointsman_kernel::id::Digest;
use serde::{Deserialize, Serialize};

use super::{folder::Folder, limits::ToolLimits};
use survey::{Survey, SurveyBudget, again, bare, key, survey};

/// What a person can do about a repository.
const REMEDY: &str = "check it before you use git there, and delete it if you do not want it";

/// The repositories that a run found at its beginning, as its first entry keeps them.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RepositoryRecord {
    /// The digest of each one's settings, by the path of git's own folder.
    #[serde(default)]
    pub repositories: BTreeMap<String, String>,
    /// Whether the search for them was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// The repositories of one workspace.
#[derive(Debug, Default)]
pub(super) struct Repositories(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the workspace was looked through yet.
    begun: bool,
    /// The settings of trusted repositories.
    trusted: BTreeMap<String, Digest>,
    /// Why the others are not.
    untrusted: BTreeMap<String, String>,
    /// The new repositories, trusted or not.
    appeared: BTreeSet<String>,
    /// Running commands.
    running: usize,
    /// Whether a command has run since the last look.
    stale: bool,
    /// Notices that were not reported yet.
    untold: Vec<String>,
    /// Whether looks were cut.
    cut: Cut,
}

/// Whether looks were cut.
#[derive(Debug, Default)]
struct Cut {
    /// The first one was.
    first: bool,
    /// Whether it was reported.
    told: bool,
}

impl Repositories {
    fn state(&self) -> MutexGuard<'_, State> {
        // A look that panicked has changed nothing that the next one relies on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches the workspace once, and trusts the repositories found. Returns them for the record
    /// of a new run.
    pub(super) fn record(&self, folder: &Folder, limits: &ToolLimits) -> RepositoryRecord {
        let mut state = self.state();
        state.begin(folder, limits);
        let repositories =
            state.trusted.iter().map(|(path, digest)| (path.clone(), digest.to_string()));
        RepositoryRecord { repositories: repositories.collect(), cut: state.cut.first }
    }

    /// Takes the word of a run that was begun earlier: what it did not find at its beginning,
    /// or found otherwise, is not trusted unless it is harmless.
    pub(super) fn compare(
        &self,
        folder: &Folder,
        limits: &ToolLimits,
        recorded: &RepositoryRecord,
    ) {
        let mut state = self.state();
        state.begin(folder, limits);
        for (path, repository) in survey(folder, budget(limits)).repositories {
            let known = recorded.repositories.get(&path);
            if known.is_none() {
                state.appeared.insert(path.clone());
            }
            if known.is_none_or(|known| *known != repository.digest.to_string())
                && let Some(odd) = repository.odd
            {
                let when = if known.is_some() { "changed" } else { "appeared" };
                state.trusted.remove(&path);
                state
                    .untrusted
                    .insert(path, format!("it has {when} since this run began, and {odd}"));
            }
        }
    }

    /// Notes that a command begins.
    pub(super) fn enter(&self, folder: &Folder, limits: &ToolLimits) {
        let mut state = self.state();
        state.begin(folder, limits);
        if state.running == 0 && state.stale {
            // There was no search after an interrupted command.
            let notes = state.look(folder, limits);
            state.untold.extend(notes);
        } else if state.running == 0 {
            // What has changed while no command ran is the person's doing.
            let known: Vec<String> = state.trusted.keys().cloned().collect();
            for path in known {
                if let Some(now) = again(folder, &path, budget(limits)) {
                    state.trusted.insert(path, now.digest);
                }
            }
        }
        state.running = state.running.saturating_add(1);
        state.stale = true;
    }

    /// Notes that a command has ended, however it did.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.running = state.running.saturating_sub(1);
    }

    /// Searches for repositories that commands have created or changed, and reports new ones.
    pub(super) fn look(&self, folder: &Folder, limits: &ToolLimits) -> Vec<String> {
        let mut state = self.state();
        let mut notes = std::mem::take(&mut state.untold);
        notes.extend(state.look(folder, limits));
        state.stale = state.running > 0;
        notes
    }

    /// Looks at what a file that was just written makes of its folder: git takes a folder with
    /// a few files of certain names for a repository.
    pub(super) fn written(
        &self,
        folder: &Folder,
        limits: &ToolLimits,
        path: &Path,
    ) -> Option<String> {
        // The file, or a folder that it lies in, is one of those.
        for path in path.ancestors().skip(1).take(3) {
            let Some(found) = bare(folder, path, budget(limits)) else { continue };
            let mut state = self.state();
            let path = key(path);
            let known = state.trusted.contains_key(&path) || state.untrusted.contains_key(&path);
            if state.begun && !known {
                return state.appears(path, found.digest, found.odd);
            }
        }
        None
    }

    /// Says why git must not run. `covers` tells whether the call would add something inside a
    /// folder to the index.
    pub(super) fn refusal(
        &self,
        folder: &Folder,
        limits: &ToolLimits,
        covers: impl Fn(&Path) -> bool,
    ) -> Option<String> {
        let mut state = self.state();
        state.begin(folder, limits);
        state.refresh(folder, limits);
        for own in [".git", "."] {
            if let Some(why) = state.untrusted.get(own) {
                return Some(format!(
                    "git does not run here: `{own}` is not trusted, because {why}. A person must check it, and either delete it or remove the unwanted settings, and then start a new run"
                ));
            }
        }
        let inner = state.appeared.iter().chain(state.untrusted.keys());
        let mut inner = inner.filter(|path| ![".git", "."].contains(&path.as_str()));
        let path = inner.find(|path| covers(work_tree(path)))?;
        let why = state.untrusted.get(path).map_or("it has appeared during this run", |why| why);
        Some(format!(
            "`{path}` is a nested repository and is not added: {why}. Name other files, or ask a person to check and delete it"
        ))
    }
}

impl State {
    fn begin(&mut self, folder: &Folder, limits: &ToolLimits) {
        if self.begun {
            return;
        }
        self.begun = true;
        let Survey { repositories, cut } = survey(folder, budget(limits));
        self.trusted = repositories.into_iter().map(|(path, it)| (path, it.digest)).collect();
        self.cut.first = cut.is_some();
    }

    fn look(&mut self, folder: &Folder, limits: &ToolLimits) -> Vec<String> {
        self.refresh(folder, limits);
        let Survey { repositories, cut } = survey(folder, budget(limits));
        let mut notes = Vec::new();
        if cut.is_none() {
            self.trusted.retain(|path, _| repositories.contains_key(path));
            self.appeared.retain(|path| repositories.contains_key(path));
        }
        for (path, repository) in repositories {
            match self.trusted.get(&path) {
                Some(known) if *known == repository.digest => {}
                Some(_) => match repository.odd {
                    Some(odd) => {
                        self.trusted.remove(&path);
                        notes.push(format!(
                            "a command changed git's settings in `{path}`: {odd}. Your own git could run programs from there: {REMEDY}"
                        ));
                        self.untrusted.insert(path, format!("a command changed it, and {odd}"));
                    }
                    None => drop(self.trusted.insert(path, repository.digest)),
                },
                None if self.untrusted.contains_key(&path) => {}
                None => notes.extend(self.appears(path, repository.digest, repository.odd)),
            }
        }
        if let Some(cut) = cut.filter(|_| !self.cut.told) {
            self.cut.told = true;
            notes.push(format!(
                "the search for new git repositories stopped {cut}; it may have missed some (`repository_entries` and `repository_timeout` of `[limits]`)"
            ));
        }
        notes
    }

    /// Takes a repository that was not there before.
    fn appears(&mut self, path: String, digest: Digest, odd: Option<String>) -> Option<String> {
        let first = self.appeared.insert(path.clone());
        let seen = if self.cut.first { " (the first search was incomplete)" } else { "" };
        let Some(odd) = odd else {
            self.trusted.insert(path.clone(), digest);
            return first
                .then(|| format!("new git repository `{path}`{seen}; its settings are harmless"));
        };
        let note = format!(
            "new git repository `{path}`{seen}: {odd}. Your own git could run programs from there: {REMEDY}"
        );
        self.untrusted.insert(path, format!("it has appeared during this run, and {odd}"));
        Some(note)
    }

    /// Forgets repositories that no longer exist, and trusts those that have become harmless.
    fn refresh(&mut self, folder: &Folder, limits: &ToolLimits) {
        let paths: Vec<String> = self.untrusted.keys().cloned().collect();
        for path in paths {
            match again(folder, &path, budget(limits)) {
                Some(now) if now.odd.is_some() => {}
                Some(now) => {
                    self.untrusted.remove(&path);
                    self.trusted.insert(path, now.digest);
                }
                None => {
                    self.untrusted.remove(&path);
                    self.appeared.remove(&path);
                }
            }
        }
    }
}

fn budget(limits: &ToolLimits) -> SurveyBudget {
    SurveyBudget::new(limits.repository_entries, Duration::from_millis(limits.repository_ms))
}

/// Returns the folder that a repository is about: the one with `.git` in it, or itself.
fn work_tree(path: &str) -> &Path {
    let path = Path::new(path);
    let is_git = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    if is_git { path.parent().unwrap_or(path) } else { path }
}
