//! The watchdog: a small shell script that outlives us, and ends the browser if no process takes
//! it over.
//!
//! It reads from a pipe that we hold. A line `done` sends it away; `free` leaves the browser
//! to the person before it, and it cleans up when they have closed it; when the pipe closes
//! without either we have died, and its clock starts.

use std::{
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::record::ProcessIdentity;

/// A process is signalled only if its start time matches: process ids are reused.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
browser= begun= free=
while read -r word one two; do
  case $word in
    browser) browser=$one begun=$two ;;
    done) exit 0 ;;
    free) free=yes ;;
  esac
done
started() {
  if [ -r "/proc/$1/stat" ]; then
    read -r line < "/proc/$1/stat"
    set -- ${line##*) }
    [ "$1" = Z ] || printf %s "${20}"
  else
    ps -o lstart= -p "$1" 2>/dev/null | sed 's/^ *//; s/ *$//; s/  */-/g'
  fi
}
if [ -n "$free" ]; then
  while [ "$(started "$browser")" = "$begun" ]; do sleep 1; done
else
  sleep "$1"
fi
if [ "$(started "$2")" = "$3" ]; then kill -s KILL -- "-$2"; fi
if [ -n "$browser" ] && [ "$(started "$browser")" = "$begun" ]; then kill -s KILL "$browser"; fi
for _ in 1 2 3 4 5; do
  rm -rf -- "$4" 2>/dev/null
  [ -e "$4" ] || break
  sleep 1
done
[ -z "$5" ] || rm -f -- "$5"
"#;

/// The keeper of one browser. Dropping it sends it away.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
    /// Whether it has a task that outlives us.
    free: bool,
}

impl Watchdog {
    /// Starts a keeper for a driver and all that it started.
    pub(super) fn start(
        keep: Duration,
        driver: &ProcessIdentity,
        folder: &Path,
        record: Option<&Path>,
    ) -> io::Result<Self> {
        let seconds = keep.as_secs() + u64::from(keep.subsec_nanos() > 0);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "pointsman-keeper"]).arg(seconds.to_string());
        command.arg(driver.pid.to_string()).arg(&driver.started).arg(folder);
        command.arg(record.unwrap_or_else(|| Path::new("")));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its own group: what ends us from a terminal must not end it.
        command.process_group(0).current_dir("/");
        Ok(Self { child: command.spawn()?, free: false })
    }

    /// Tells it of the browser.
    pub(super) fn tell(&mut self, browser: &ProcessIdentity) -> io::Result<()> {
        self.say(&format!("browser {} {}\n", browser.pid, browser.started))
    }

    /// Leaves the browser to the person before it.
    pub(super) fn release(mut self) -> io::Result<()> {
        self.say("free\n")?;
        self.free = true;
        Ok(())
    }

    pub(super) fn who(&self) -> Option<ProcessIdentity> {
        ProcessIdentity::of(self.child.id())
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        match &mut self.child.stdin {
            Some(pipe) => pipe.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if self.free {
            return;
        }
        if let Err(error) = self.say("done\n") {
            tracing::debug!(%error, "a browser's watchdog does not respond");
        }
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            tracing::debug!(%error, "cannot wait for a browser's watchdog");
        }
    }
}

/// Ends the watchdog of a process that has died.
pub(super) fn dismiss(keeper: &ProcessIdentity) {
    let pid = i32::try_from(keeper.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| keeper.lives())
        && let Err(error) = kill_process_group(pid, Signal::KILL)
    {
        tracing::debug!(%error, "cannot stop a browser's watchdog");
    }
}
