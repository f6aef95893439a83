//! What the host itself runs over a workspace, for no model: git and the user's commands,
//! in the same sandbox as the tools.

use std::{path::Path, time::Duration};

use super::{
    Said, Tools,
    files::digest,
    git::Git,
    limits::Kept,
    process::{self, Ran},
    sandbox::Confined,
    shared::Shared,
    shell::{Shell, ended},
};
use crate::perform::Shown;

/// Bytes of a command's output that are kept to say why it failed.
const KEPT: usize = 4 << 10;

impl Tools {
    /// Runs git and returns what it wrote, byte for byte, up to a length.
    pub(crate) async fn own_git(
        &self,
        arguments: &[&str],
        limit: Duration,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let ran = self.own_run(git(arguments), limit, bytes).await?;
        let cut = format!("git wrote more than {bytes} bytes");
        worked(ran, limit)?.whole().ok_or(cut)
    }

    /// Runs git and returns what it wrote as text; of more, the head and the tail.
    pub(crate) async fn own_text(
        &self,
        arguments: &[&str],
        limit: Duration,
        bytes: usize,
    ) -> Result<String, String> {
        let ran = self.own_run(git(arguments), limit, bytes).await?;
        Ok(worked(ran, limit)?.text(bytes))
    }

    /// Runs a command line with a variable set, and says why it failed.
    pub(crate) async fn own_command(
        &self,
        command: &str,
        (name, value): (&str, &str),
        limit: Duration,
    ) -> Result<(), String> {
        let shell = Shell::line(command);
        let (name, value) = (name.to_owned(), value.to_owned());
        let ready = move |on: &Shared| {
            let mut confined = shell.confined(&on.folder, &on.settings, on.sandbox())?;
            confined.command.env(name, value);
            Ok(confined)
        };
        let ran = self.own_run(ready, limit, KEPT).await?;
        worked(ran, limit).map(drop)
    }

    /// Returns the digest of a file of the workspace, if it can be read.
    pub(crate) fn content(&self, path: &Path) -> Option<String> {
        self.0.folder.read(path, self.file_limit()).ok().map(|bytes| digest(&bytes))
    }

    /// Returns a path as a model gave it, the way git writes it: from the root, and plain.
    pub(crate) fn plain(&self, path: &str) -> Option<String> {
        self.0.folder.inside(path).ok()?.into_os_string().into_string().ok()
    }

    /// Returns how large a file may be.
    pub(crate) fn file_limit(&self) -> u64 {
        self.0.settings.limits.file_bytes
    }

    /// Returns where the workspace is.
    pub(crate) fn root(&self) -> &Path {
        self.0.folder.root()
    }

    async fn own_run(
        &self,
        ready: impl FnOnce(&Shared) -> Result<Confined, Said> + Send + 'static,
        limit: Duration,
        bytes: usize,
    ) -> Result<Ran, String> {
        let confined = self.ready(ready).await.map_err(|said| said.output)?;
        let ran = process::run(confined, limit, bytes, &Shown::nobody()).await;
        ran.map_err(|error| format!("it cannot be started: {error}"))
    }
}

/// Returns what a process wrote, if it ended well.
fn worked(ran: Ran, limit: Duration) -> Result<Kept, String> {
    match ran.status {
        Some(status) if status.success() => Ok(ran.stdout),
        Some(status) => Err(format!("{}: {}", ended(status), ran.output(KEPT))),
        None => Err(format!("it was stopped after {} ms, its time limit", limit.as_millis())),
    }
}

fn git(
    arguments: &[&str],
) -> impl FnOnce(&Shared) -> Result<Confined, Said> + Send + 'static + use<> {
    let git = Git::of(arguments);
    move |on| git.confined(&on.folder, &on.settings, on.sandbox())
}
