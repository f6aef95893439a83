//! Git's index: what the hook stages, and whether another program changes it too.

use std::collections::BTreeMap;

use super::{
    super::LocalExecutor,
    commit::{git, git_over},
};

/// Returns the staged files, each with its content.
pub(super) async fn read(executor: &LocalExecutor) -> Result<BTreeMap<String, String>, String> {
    let listed =
        git(executor, &["diff", "--cached", "--raw", "-z", "--no-renames", "--abbrev=64"]).await?;
    let mut words = listed.split('\0');
    let pair = || Some((words.next()?.to_owned(), words.next()?.to_owned()));
    Ok(std::iter::from_fn(pair).map(|(change, path)| (path, change)).collect())
}

/// What the hook has staged.
pub(super) struct Staged(BTreeMap<String, String>);

impl Staged {
    /// Stages files as they are.
    pub(super) async fn add(executor: &LocalExecutor, paths: &[&str]) -> Result<Self, String> {
        git_over(executor, &["add"], paths).await?;
        let mut staged = read(executor).await?;
        staged.retain(|path, _| paths.contains(&path.as_str()));
        Ok(Self(staged))
    }

    /// Makes sure that exactly this is still staged.
    pub(super) async fn check(&self, executor: &LocalExecutor) -> Result<(), String> {
        let now = read(executor).await?;
        let differs = |path: &&String| self.0.get(*path) != now.get(*path);
        let others = now.keys().chain(self.0.keys()).filter(differs);
        let mut others: Vec<&str> = others.map(String::as_str).collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            return Ok(());
        }
        let list = others.join(", ");
        Err(format!("another program changed the git index ({list}), so nothing is committed"))
    }

    /// Unstages the run's files, except those that another program has staged since.
    pub(super) async fn undo(&self, executor: &LocalExecutor) {
        let Ok(now) = read(executor).await else { return };
        let ours = self.0.iter().filter(|(path, change)| now.get(*path) == Some(*change));
        let paths: Vec<&str> = ours.map(|(path, _)| path.as_str()).collect();
        if !paths.is_empty() {
            // What stays staged is the hook's own next time too.
            drop(git_over(executor, &["restore", "--staged"], &paths).await);
        }
    }
}

/// Explains a locked index: an interrupted git leaves its lock behind, and only a person can tell
/// whether another one is still running.
pub(super) fn locked(why: &str) -> Option<String> {
    let lock = why.split('\'').find(|word| word.ends_with("index.lock"))?;
    Some(format!(
        "{lock} exists: another git process is running or was interrupted; if no git process is \
         running, delete that file"
    ))
}
