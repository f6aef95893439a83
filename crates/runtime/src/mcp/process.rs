//! A server's process: its own group, a small environment, its last words kept.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{McpError, printable};

/// How often a stopping process is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A running program and all that it started. Dropping it kills them.
#[derive(Debug)]
pub(super) struct Process {
    /// Never waited for while we hold it: an ended child stays a zombie, and its number
    /// stays the group's, so that the group can be killed without hitting a stranger.
    child: Child,
    tail: Tail,
    reader: JoinHandle<()>,
}

/// What a program is started with.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [String],
    pub(super) env: &'a [(String, String)],
    pub(super) cwd: &'a Path,
    /// Bytes of stderr to keep.
    pub(super) stderr: usize,
}

impl Process {
    /// Starts a program with pipes to talk over.
    pub(super) fn start(start: &Start<'_>) -> Result<(Self, ChildStdout, ChildStdin), McpError> {
        let failed =
            |source| McpError::Start { program: start.program.display().to_string(), source };
        let mut command = Command::new(start.program);
        command.args(start.args).current_dir(start.cwd);
        command.env_clear().envs(start.env.iter().map(|(name, value)| (OsStr::new(name), value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let tail = Tail { bytes: Arc::default(), cap: start.stderr };
        let reader = tokio::spawn(tail.clone().read(pipes.2));
        let process = Self { child, tail, reader };
        match (pipes.0, pipes.1) {
            (Some(stdout), Some(stdin)) => Ok((process, stdout, stdin)),
            _ => Err(failed(std::io::Error::other("it has no pipes"))),
        }
    }

    /// Returns what it last said on stderr, once it has said all or the time is over.
    pub(super) async fn last_words(&self, within: Duration) -> String {
        // A program that keeps writing is cut off; its output so far is kept.
        if !until(within, || self.reader.is_finished()).await {
            tracing::debug!("an MCP server keeps its stderr open");
        }
        self.tail.text()
    }

    /// Waits until the program has ended on its own, at most this long.
    pub(super) async fn ended(&self, within: Duration) -> bool {
        until(within, || self.has_ended()).await
    }

    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.pid().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reader.abort();
        if let Some(Err(error)) = self.pid().map(|pid| kill_process_group(pid, Signal::KILL)) {
            tracing::debug!(%error, "an MCP server's group cannot be killed");
        }
    }
}

/// Looks until something holds, at most this long; returns whether it does.
async fn until(within: Duration, holds: impl Fn() -> bool) -> bool {
    let looking = async {
        while !holds() {
            sleep(LOOK).await;
        }
    };
    timeout(within, looking).await.is_ok()
}

/// The end of a stream, up to a cap.
#[derive(Clone, Debug)]
struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    cap: usize,
}

impl Tail {
    async fn read(self, stream: Option<ChildStderr>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(buffer.get(..count).unwrap_or_default());
        }
    }

    fn push(&self, more: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(more);
        let over = bytes.len().saturating_sub(self.cap);
        bytes.drain(..over);
    }

    fn text(&self) -> String {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        printable(String::from_utf8_lossy(bytes.make_contiguous()).trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_stream_is_kept() {
        let tail = Tail { bytes: Arc::default(), cap: 5 };
        tail.push(b"one ");
        tail.push(b"two th\x1bree\n");
        assert_eq!(tail.text(), "ree");
    }
}
