//! A confined process from its start to its end, whoever gives up first.

use std::{io, process::ExitStatus, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{
    limits::{Kept, Pieces},
    sandbox::{Confined, Scratch},
};
use crate::perform::Shown;

/// What became of a process.
pub(super) struct Ran {
    /// How it ended; nothing if it took too long and was stopped.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: Kept,
    stderr: Kept,
}

impl Ran {
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

/// Runs a command to its end, or until it has taken too long. Dropping the future stops
/// it, and all that it started.
pub(super) async fn run(
    confined: Confined,
    limit: Duration,
    bytes: usize,
    shown: &Shown,
) -> io::Result<Ran> {
    let Confined { mut command, scratch } = confined;
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let group = Group { leader, scratch };
    let (mut stdout, mut stderr) = (Kept::new(bytes), Kept::new(bytes));
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let ended = tokio::time::timeout(limit, async {
        let end = async {
            let status = child.wait().await;
            // What it left behind would hold the pipes open.
            group.stop();
            status
        };
        let (status, (), ()) = tokio::join!(
            end,
            drain(out.as_mut(), &mut stdout, shown),
            drain(err.as_mut(), &mut stderr, shown)
        );
        status
    });
    let status = match ended.await {
        Ok(status) => Some(status?),
        Err(_) => None,
    };
    Ok(Ran { status, stdout, stderr })
}

async fn drain(stream: Option<&mut (impl AsyncRead + Unpin)>, kept: &mut Kept, shown: &Shown) {
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

/// All that a command started: it stops when this is dropped.
struct Group {
    leader: Option<Pid>,
    scratch: Option<Scratch>,
}

impl Group {
    fn stop(&self) {
        if let Some(leader) = self.leader {
            // There may be nothing left to stop.
            kill_process_group(leader, Signal::KILL).ok();
        }
        // Without a pid namespace, a process can leave the group; it keeps the mark.
        if let Some(scratch) = &self.scratch {
            marked::stop(scratch.path());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(target_os = "linux")]
mod marked {
    //! Finds processes by the folder for temporary files in their environment.

    use std::{fs, os::unix::ffi::OsStrExt, path::Path};

    use rustix::process::{Pid, Signal, kill_process};

    /// How often to look again: a process may start another while it is stopped.
    const ROUNDS: usize = 10;

    /// Stops every process that was started with this folder.
    pub(super) fn stop(scratch: &Path) {
        let mark = [b"TMPDIR=", scratch.as_os_str().as_bytes()].concat();
        for _ in 0..ROUNDS {
            let mut found = false;
            for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
                let name = process.file_name();
                let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
                let Ok(environment) = fs::read(process.path().join("environ")) else { continue };
                let is_ours = environment.split(|byte| *byte == 0).any(|entry| entry == mark);
                if is_ours && let Some(pid) = Pid::from_raw(id) {
                    found |= kill_process(pid, Signal::KILL).is_ok();
                }
            }
            if !found {
                return;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod marked {
    //! Nothing to find: only landlock leaves marks.

    /// Stops nothing.
    pub(super) fn stop(_: &std::path::Path) {}
}
