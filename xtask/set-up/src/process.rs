//! Children that end: at the latest with us, whatever ends us.
//!
//! Every child gets a process group and a lifeline: a pipe whose other end we hold. When the pipe
//! closes, because we drop it or because we die, the group is killed, and nothing outside it.

use std::{
    env,
    ffi::OsStr,
    io,
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::place;

/// Reads the lifeline in the background and runs the command in front. At the end
/// it stops what the command has left in the group; it does not stop itself.
const TEND: &str = r#"
exec 3<&0
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
"$@" </dev/null 3<&-
code=$?
trap '' TERM
kill -TERM 0
wait
exit "$code"
"#;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Returns a command to be started as [`ChildProcess`]; add arguments as usual.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", TEND, "sh"]).arg(program);
    command.stdin(Stdio::piped()).process_group(0);
    command
}

/// Returns cargo with these arguments, to be started at the workspace's root.
pub fn cargo(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut cargo = command(place::cargo());
    cargo.args(arguments).current_dir(place::root());
    forget_ourselves(&mut cargo);
    cargo
}

/// Hides our own cargo variables from another cargo. Otherwise it would recompile everything that
/// depends on them.
pub fn forget_ourselves(cargo: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
}

/// A child that was started here.
pub struct ChildProcess {
    child: Child,
    lifeline: Option<ChildStdin>,
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChildExit {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long and was stopped.
    OverCap,
}

impl ChildExit {
    /// Returns whether it ended by itself, and well.
    pub fn well(self) -> bool {
        matches!(self, Self::Exited(status) if status.success())
    }
}

impl ChildProcess {
    /// Starts what [`command`] returned.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.spawn()?;
        let lifeline = child.stdin.take();
        Ok(Self { child, lifeline })
    }

    /// Waits for the end, and brings it about once the time is up.
    pub fn wait(mut self, cap: Duration) -> io::Result<ChildExit> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(ChildExit::Exited(status));
            }
            if started.elapsed() >= cap {
                return Ok(ChildExit::OverCap);
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // The group is killed by now, or has ended before.
        drop(self.child.wait());
    }
}

/// Runs a command to its end.
pub fn run(command: Command, cap: Duration) -> io::Result<ChildExit> {
    ChildProcess::start(command)?.wait(cap)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::place::Scratch;

    const LONG: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut shell = command("sh");
        shell.args(["-c", script]);
        shell
    }

    /// Waits until a process is gone; a zombie counts as gone.
    fn is_gone(id: &str) -> bool {
        let runs = || {
            fs::read_to_string(format!("/proc/{}/stat", id.trim()))
                .is_ok_and(|stat| !stat.contains(") Z "))
        };
        let started = Instant::now();
        while runs() {
            if started.elapsed() > LONG {
                return false;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        true
    }

    #[test]
    fn the_exit_code_is_the_commands() {
        let Ok(ChildExit::Exited(status)) = run(shell("exit 7"), LONG) else { panic!("it exits") };
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn a_missing_program_is_a_failure() {
        let ended = run(command("pointsman-has-no-such-program"), LONG).unwrap();
        assert!(!ended.well());
    }

    #[test]
    fn over_its_cap_a_command_goes_with_all_that_it_started() {
        let scratch = Scratch::new().unwrap();
        let id = scratch.file("id");
        let script = format!("sleep 600 & echo $! > '{}'; wait", id.display());
        let tended = ChildProcess::start(shell(&script)).unwrap();
        while fs::read_to_string(&id).unwrap_or_default().trim().is_empty() {
            thread::sleep(BETWEEN_LOOKS);
        }
        assert_eq!(tended.wait(Duration::ZERO).unwrap(), ChildExit::OverCap);
        assert!(is_gone(&fs::read_to_string(id).unwrap()));
    }

    #[test]
    fn remaining_processes_are_stopped() {
        let scratch = Scratch::new().unwrap();
        let id = scratch.file("id");
        let script = format!("sleep 600 & echo $! > '{}'", id.display());
        assert!(run(shell(&script), LONG).unwrap().well());
        assert!(is_gone(&fs::read_to_string(id).unwrap()));
    }
}
