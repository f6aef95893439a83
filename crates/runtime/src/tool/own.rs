//! What the host itself runs over a workspace, for no model: git and the user's commands,
//! in the same sandbox as the tools.

use std::{path::Path, time::Duration};

use super::{
    ToolOutput, WorkspaceTools,
    files::digest,
    git::{Git, unfiltered},
    process::{self, ProcessEnd, ProcessResult},
    sandbox::Confined,
    shared::SharedTools,
    shell::{Shell, ended},
    stream::TruncatedStream,
};
use crate::effect::ProgressSink;

/// Bytes of a command's output that are kept to say why it failed.
const KEPT: usize = 4 << 10;

impl WorkspaceTools {
    /// Runs git and returns what it wrote, byte for byte, up to a length.
    pub(crate) async fn own_git(
        &self,
        arguments: &[&str],
        limit: Duration,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let written = self.run_git(arguments, limit, bytes).await?;
        written.whole().ok_or_else(|| format!("git wrote more than {bytes} bytes"))
    }

    /// Runs git and returns what it wrote as text; of more, the head and the tail.
    pub(crate) async fn own_text(
        &self,
        arguments: &[&str],
        limit: Duration,
        bytes: usize,
    ) -> Result<String, String> {
        Ok(self.run_git(arguments, limit, bytes).await?.text(bytes))
    }

    async fn run_git(
        &self,
        arguments: &[&str],
        limit: Duration,
        bytes: usize,
    ) -> Result<TruncatedStream, String> {
        let git = Git::of(arguments);
        let drivers = self.may_run(&git).await.map_err(|said| said.output)?;
        let once = async || {
            let (git, drivers) = (git.clone(), drivers.clone());
            let ran = self.own_run(move |on| git.confined(on, &drivers), limit, bytes).await;
            worked(ran.map_err(|said| said.output)?, limit)
        };
        match once().await {
            Err(why) if unfiltered(&why).is_some() => {
                self.refresh(&drivers).await;
                once().await
            }
            done => done,
        }
    }

    /// Runs a command line with a variable set, and says why it failed, and which
    /// repositories it has left behind.
    pub(crate) async fn own_command(
        &self,
        command: &str,
        (name, value): (&str, &str),
        limit: Duration,
    ) -> (Result<(), String>, Vec<String>) {
        let shell = Shell::line(command);
        let (name, value) = (name.to_owned(), value.to_owned());
        let ready = move |on: &SharedTools| {
            let mut confined = shell.confined(on)?;
            confined.command.env(name, value);
            Ok(confined)
        };
        let (ran, notes) = self.watched(self.own_run(ready, limit, KEPT)).await;
        let ran = ran.map_err(|said| said.output).and_then(|ran| worked(ran, limit).map(drop));
        (ran, notes)
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

    pub(super) async fn own_run(
        &self,
        ready: impl FnOnce(&SharedTools) -> Result<Confined, ToolOutput> + Send + 'static,
        limit: Duration,
        bytes: usize,
    ) -> Result<ProcessResult, ToolOutput> {
        let confined = self.ready(ready).await?;
        let ran = process::run(confined, limit, bytes, &ProgressSink::none()).await;
        ran.map_err(|error| ToolOutput::no(format!("it cannot be started: {error}")))
    }
}

/// Returns what a process wrote, if it ended well.
pub(super) fn worked(ran: ProcessResult, limit: Duration) -> Result<TruncatedStream, String> {
    match &ran.end {
        ProcessEnd::Exited(status) if status.success() => Ok(ran.stdout),
        ProcessEnd::Exited(status) => Err(format!("{}: {}", ended(*status), ran.complaint(KEPT))),
        ProcessEnd::TimeUp => {
            Err(format!("it was stopped after {} ms, its time limit", limit.as_millis()))
        }
        ProcessEnd::Limit(why) => Err(format!("it was stopped because {why}")),
    }
}
