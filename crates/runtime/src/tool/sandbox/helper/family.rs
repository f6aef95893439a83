//! Keeps together what a command starts where no namespace does.
//!
//! Orphaned processes become children of this process. It lives in its own landlock domain that no
//! signal leaves, so one signal to all processes reaches exactly the family: a process that forks
//! faster than it can be found does not escape.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::ExitStatusExt},
    },
    process::{Child, Command, ExitCode, ExitStatus},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, kill_process, kill_process_group,
        pidfd_open, set_child_subreaper, test_kill_process, wait,
    },
};

use super::{
    super::{
        super::process::left,
        HELPER, INNER, landlock,
        wire::{self, GO, OVER, READY},
    },
    failed,
};

/// How long to wait between two looks at what still runs, and how often to look: two seconds.
const NAP: Duration = Duration::from_millis(5);
const LOOKS: usize = 400;
/// Looks until everything is stopped once more. The first time reaches all of it.
const AGAIN: usize = 40;

/// Starts the inner process, and stops all that it leaves behind; ends as the program did.
pub(super) fn keep(
    count: usize,
    arguments: impl Iterator<Item = OsString>,
) -> Result<ExitCode, String> {
    let line = wire::line().map_err(failed)?;
    let held = wire::receive(&line, count).map_err(failed)?;
    set_child_subreaper(Some(getpid())).map_err(failed)?;
    landlock::keep_signals_in()?;
    let family = Family::of(getppid())?;
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let borrowed: Vec<_> = held.iter().map(AsFd::as_fd).collect();
    wire::send(&ours, &borrowed).map_err(failed)?;
    drop(held);
    let mut inner = start(count, arguments, theirs).map_err(failed)?;
    let begun = begin(&line, ours);
    if begun.is_ok() {
        await_end(&line, &inner).map_err(failed)?;
    }
    let (status, left) = family.stop(&mut inner);
    match begun {
        Ok(None) => {
            // The program that asked may be gone by now.
            drop((&line).write_all(&[&[OVER], left.as_bytes()].concat()));
            Ok(status.map_or(ExitCode::FAILURE, ended))
        }
        Ok(Some(why)) => Err(why),
        Err(error) => Err(failed(error)),
    }
}

fn start(
    count: usize,
    arguments: impl Iterator<Item = OsString>,
    line: UnixStream,
) -> io::Result<Child> {
    // The running program, even if another one has been put under its name.
    let mut inner = Command::new("/proc/self/exe");
    inner.args([HELPER, INNER, &count.to_string()]).args(arguments);
    inner.stdin(OwnedFd::from(line)).spawn()
}

/// Hands on what the inner process says, and the word that it may go. Returns why it refuses,
/// if it does.
fn begin(line: &UnixStream, mut inner: UnixStream) -> io::Result<Option<String>> {
    let mut byte = [0];
    inner.read_exact(&mut byte)?;
    if byte != [READY] {
        let mut why = String::new();
        inner.take(4096).read_to_string(&mut why)?;
        return Ok(Some(why));
    }
    wire::may_go(line)?;
    inner.write_all(&[GO])?;
    Ok(None)
}

/// Waits until the program has ended, or the caller no longer waits.
fn await_end(line: &UnixStream, inner: &Child) -> io::Result<()> {
    let id = i32::try_from(inner.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let program = pidfd_open(id, PidfdFlags::empty())?;
    loop {
        let mut watched = [PollFd::new(&program, PollFlags::IN), PollFd::new(line, PollFlags::IN)];
        match poll(&mut watched, None) {
            Err(Errno::INTR) => {}
            polled => return Ok(polled.map(drop)?),
        }
    }
}

/// All that runs in the domain of this process. It exists only where no signal leaves it.
struct Family {
    top: Pid,
}

impl Family {
    /// Makes sure that no signal leaves the domain: the parent process must be out of reach.
    fn of(above: Option<Pid>) -> Result<Self, String> {
        match above.map(test_kill_process) {
            Some(Err(Errno::PERM)) => Ok(Self { top: getpid() }),
            _ => Err("the kernel lets signals out of the sandbox".into()),
        }
    }

    /// Stops all of it; returns how the program ended, and what could not be stopped.
    fn stop(&self, inner: &mut Child) -> (Option<ExitStatus>, String) {
        let mut status = None;
        for look in 0..LOOKS {
            status = status.or_else(|| inner.try_wait().ok().flatten());
            if status.is_some() && collected() {
                return (status, String::new());
            }
            if look % AGAIN == 0 {
                // To everybody that this process may signal: the family, without itself.
                kill_process_group(Pid::INIT, Signal::KILL).ok();
            }
            thread::sleep(NAP);
        }
        let names: Vec<String> = left::below(self.top).into_iter().map(named).collect();
        (status, names.join(", "))
    }
}

/// Collects what has ended; returns whether nothing is left.
fn collected() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Says which process it is.
fn named(id: Pid) -> String {
    let number = id.as_raw_nonzero();
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    format!("{} ({number})", name.trim())
}

/// Ends as the program did: by the same signal, or with the same code.
fn ended(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // Where that signal does not end us, the code says it as shells do.
        kill_process(getpid(), signal).ok();
    }
    let code = status.code().or_else(|| status.signal()?.checked_add(128));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
