//! A confined process from its start to its end, whichever side ends first.

#[cfg(target_os = "linux")]
pub(super) mod left;
#[cfg(not(target_os = "linux"))]
#[path = "process/elsewhere.rs"]
pub(super) mod left;
mod watch;

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as Line,
    },
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    process::Child,
    time::{sleep, timeout},
};

use super::{
    sandbox::{
        Confined, ScratchFolder,
        wire::{self, GO, OVER, READY, REFUSED},
    },
    stream::{Pieces, TruncatedStream},
};
use crate::effect::ProgressSink;
use watch::ProcessWatch;

/// How long a helper may take to stop everything that a command has started: it gives up after two
/// seconds.
const STOPS: Duration = Duration::from_secs(10);
/// How long output is waited for that something which cannot be stopped might still write.
const DRAINS: Duration = Duration::from_secs(10);
/// Bytes that a helper says at most.
const SAYS: u64 = 8 << 10;

/// How a process ended.
#[derive(Debug)]
pub(super) enum ProcessEnd {
    /// On its own.
    Exited(ExitStatus),
    /// It took too long and was stopped.
    TimeUp,
    /// It took too much of something and was stopped.
    Limit(String),
}

/// The result of a process.
pub(super) struct ProcessResult {
    pub(super) end: ProcessEnd,
    /// Processes that could not be stopped, if there are any.
    pub(super) left: String,
    pub(super) stdout: TruncatedStream,
    stderr: TruncatedStream,
}

impl ProcessResult {
    /// Returns the result of a process without output.
    #[cfg(test)]
    pub(super) fn of(end: ProcessEnd, left: &str) -> Self {
        Self {
            end,
            left: left.into(),
            stdout: TruncatedStream::new(0),
            stderr: TruncatedStream::new(0),
        }
    }

    /// Returns why it failed: what it says of errors, or else all that it wrote.
    pub(super) fn complaint(self, limit: usize) -> String {
        if self.stderr.len() == 0 { self.output(limit) } else { self.stderr.text(limit) }
    }

    /// Returns what it wrote, cut to a length: what it says of errors is kept first,
    /// up to half.
    pub(super) fn output(self, limit: usize) -> String {
        let errors = self.stderr.len().min(limit / 2);
        let mut output = self.stdout.text(limit.saturating_sub(errors));
        let errors = self.stderr.text(limit.saturating_sub(output.len()).max(errors));
        if !errors.is_empty() {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str("[stderr]\n");
            output.push_str(&errors);
        }
        output
    }
}

/// Runs a command to its end, or until it has taken too long or too much. Dropping the
/// future stops it, and all that it started.
///
/// An error means that nothing was executed.
pub(super) async fn run(
    confined: Confined,
    limit: Duration,
    bytes: usize,
    shown: &ProgressSink,
) -> io::Result<ProcessResult> {
    let mut group = Group::start(confined)?;
    let (mut stdout, mut stderr) = (TruncatedStream::new(bytes), TruncatedStream::new(bytes));
    let (mut out, mut err) = (group.child.stdout.take(), group.child.stderr.take());
    let ended = {
        let writes = async {
            tokio::join!(
                drain(out.as_mut(), &mut stdout, shown),
                drain(err.as_mut(), &mut stderr, shown)
            )
        };
        tokio::pin!(writes);
        let mut drained = false;
        let course = group.course(limit);
        tokio::pin!(course);
        let ended = loop {
            tokio::select! {
                ended = &mut course => break ended,
                _ = &mut writes, if !drained => drained = true,
            }
        };
        if !drained {
            // What it left behind would hold the pipes open.
            timeout(DRAINS, writes).await.ok();
        }
        ended
    };
    let Ended { end, left, refused } = ended?;
    match (refused, end) {
        (None, Some(end)) => Ok(ProcessResult { end, left, stdout, stderr }),
        (Some(why), _) if !why.is_empty() => Err(io::Error::other(why)),
        _ => {
            let said = stderr.text(bytes).trim().to_owned();
            let unsaid = || "the sandbox did not start".to_owned();
            Err(io::Error::other(if said.is_empty() { unsaid() } else { said }))
        }
    }
}

/// How it came out.
#[derive(Default)]
struct Ended {
    /// Nothing if nothing was executed.
    end: Option<ProcessEnd>,
    left: String,
    /// Why nothing was executed, where the helper could say.
    refused: Option<String>,
}

/// All that a command started: it stops when this is dropped.
struct Group {
    child: Child,
    leader: Option<Pid>,
    scratch: Option<ScratchFolder>,
    line: UnixStream,
    /// Whether the command may have been executed.
    went: bool,
    watch: Option<ProcessWatch>,
}

impl Group {
    fn start(confined: Confined) -> io::Result<Self> {
        let Confined { mut command, scratch, held, limits, root } = confined;
        let (ours, theirs) = Line::pair()?;
        let borrowed: Vec<_> = held.iter().map(AsFd::as_fd).collect();
        wire::send(&ours, &borrowed)?;
        ours.set_nonblocking(true)?;
        let line = UnixStream::from_std(ours)?;
        let child = command
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Under landlock the helper must live to stop the others; it ends with the line.
            .kill_on_drop(scratch.is_none())
            .spawn()?;
        // It holds the other end of the line.
        drop(command);
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let folders = [Some(root.as_path()), scratch.as_ref().map(ScratchFolder::path)];
        let folders: Vec<_> = folders.into_iter().flatten().collect();
        let watch = leader.map(|leader| ProcessWatch::new(leader, &limits, &folders));
        Ok(Self { child, leader, scratch, line, went: false, watch })
    }

    /// Starts the command, and waits for its end.
    async fn course(&mut self, limit: Duration) -> io::Result<Ended> {
        let course = async {
            if let Some(refused) = self.begin().await? {
                self.child.wait().await?;
                return Ok(Ended { refused: Some(refused), ..Ended::default() });
            }
            let passed = passed(self.watch.as_ref());
            let end = tokio::select! {
                status = self.child.wait() => ProcessEnd::Exited(status?),
                why = passed => ProcessEnd::Limit(why),
            };
            io::Result::Ok(Ended { end: Some(end), ..Ended::default() })
        };
        let mut ended = match timeout(limit, course).await {
            Ok(ended) => ended?,
            Err(_) => Ended { end: Some(ProcessEnd::TimeUp), ..Ended::default() },
        };
        if ended.refused.is_none() {
            let stopped = matches!(ended.end, Some(ProcessEnd::Exited(_)));
            ended.left = self.stop(stopped).await;
        }
        if !self.went && ended.refused.is_none() {
            let ms = limit.as_millis();
            ended.refused =
                Some(format!("the sandbox did not start within {ms} ms, its time limit"));
        }
        Ok(ended)
    }

    /// Waits until the helper is ready, and starts it. Returns why it refuses, if it does.
    async fn begin(&mut self) -> io::Result<Option<String>> {
        let mut first = [0];
        // If the pipe is closed, there is no reason to read.
        let read = self.line.read(&mut first).await.unwrap_or(0);
        match (read, first) {
            (1, [READY]) => {
                self.went = true;
                self.line.write_all(&[GO]).await?;
                Ok(None)
            }
            (1, [REFUSED]) => Ok(Some(self.rest().await)),
            _ => Ok(Some(String::new())),
        }
    }

    /// Reads what else the helper says.
    async fn rest(&mut self) -> String {
        let mut said = Vec::new();
        (&mut self.line).take(SAYS).read_to_end(&mut said).await.ok();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Stops all that is left; says what cannot be stopped.
    async fn stop(&mut self, ended: bool) -> String {
        let Some(scratch) = &self.scratch else {
            // The namespace ends with it.
            if !ended {
                self.child.start_kill().ok();
                timeout(STOPS, self.child.wait()).await.ok();
            }
            return String::new();
        };
        let scratch = scratch.path().to_owned();
        // The helper reads the end of the pipe, stops its process family and reports what is left.
        self.line.shutdown().await.ok();
        let said = timeout(STOPS, async {
            let mut first = [0];
            let read = self.line.read(&mut first).await.unwrap_or(0);
            if (read, first) == (1, [OVER]) { Some(self.rest().await) } else { None }
        });
        let said = said.await.ok().flatten();
        timeout(STOPS, self.child.wait()).await.ok();
        said.unwrap_or_else(|| {
            // The helper was killed.
            left::stop_marked(&scratch);
            String::new()
        })
    }
}

/// Waits until a limit is passed, and says which.
async fn passed(watch: Option<&ProcessWatch>) -> String {
    let Some(watch) = watch else { return std::future::pending().await };
    loop {
        sleep(watch::EVERY).await;
        let watch = watch.clone();
        if let Ok(Some(why)) = tokio::task::spawn_blocking(move || watch.passed()).await {
            return why;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A helper that keeps a family together is left to do so: the line ends with this.
        if let (Some(leader), None) = (self.leader, &self.scratch)
            && self.child.id().is_some()
        {
            kill_process_group(leader, Signal::KILL).ok();
        }
    }
}

async fn drain(
    stream: Option<&mut (impl AsyncRead + Unpin)>,
    kept: &mut TruncatedStream,
    shown: &ProgressSink,
) {
    let Some(stream) = stream else { return };
    let mut buffer = vec![0; 16 << 10];
    let mut pieces = Pieces::default();
    // A stream that fails has nothing more to say.
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let bytes = buffer.get(..read).unwrap_or_default();
        kept.push(bytes);
        shown.show(&pieces.next(bytes));
    }
}
