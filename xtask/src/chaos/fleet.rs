//! The processes of a storm: workers that are killed, suspended, drained and started again, and a
//! watcher.

use std::{
    fs::OpenOptions,
    io::Write as _,
    net::{Ipv4Addr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use pointsman_runtime::clock::boot_ms;

use super::{
    LEASE, POLL,
    history::{Lists, Suspension},
};
use crate::{
    program::Home,
    server::{Ready, Server},
};

/// Runs that one worker drives at a time.
const JOBS: &str = "24";
/// How long a worker that is drained waits for calls in progress, and how long it may take to end.
const DRAIN: &str = "20s";
const DRAINS: Duration = Duration::from_mins(2);
/// How far wrong clocks are ahead, or behind, in seconds.
pub(super) const OFF: i64 = 600;
/// The variable that sets a clock ahead, or behind if it is negative.
pub(super) const CLOCK: &str = "POINTSMAN_CLOCK_AHEAD";
/// The variable that plants a fault.
const PLANT: &str = "POINTSMAN_PLANT";

/// Workers, each with its own way to the server.
pub(super) struct Workers {
    processes: Vec<Process>,
    pub(super) kills: usize,
    /// Workers that ended in order when they were asked to, and those that did not.
    pub(super) drains: usize,
    pub(super) undrained: usize,
    pub(super) suspensions: Vec<Suspension>,
    /// The workers that were killed or suspended, and when by the boot clock.
    pub(super) losses: Vec<(u32, u64)>,
}

struct Process {
    url: String,
    /// How far its clock is ahead, in seconds.
    ahead: i64,
    child: Child,
}

/// How every worker of a storm is started.
pub(super) struct Place {
    pub(super) home: Arc<Home>,
    pub(super) lists: Lists,
    pub(super) redis: String,
    pub(super) fault: Option<&'static str>,
}

impl Process {
    fn start(url: &str, ahead: i64, place: &Place) -> Result<Self> {
        let lease = format!("{}s", LEASE.as_secs());
        let words = ["worker", "--json", "--jobs", JOBS, "--lease", &lease, "--store", url];
        let mut command = place.home.child(words);
        command.args(["--drain", DRAIN, "--redis", &place.redis]);
        command.env("POINTSMAN_EFFECT_LOG", &place.lists.effects);
        command.env(CLOCK, ahead.to_string());
        if let Some(fault) = place.fault {
            command.env(PLANT, fault);
        }
        let reports = OpenOptions::new().append(true).open(&place.lists.reported);
        let reports = reports.context("opening the list of reports")?;
        command.stdin(Stdio::null()).stdout(reports).stderr(Stdio::null());
        let child = command.spawn().context("starting a worker")?;
        Ok(Self { url: url.into(), ahead, child })
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let signals = format!("kill -s {signal} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &signals]).status().context("starting sh")?;
        ensure!(sent.success(), "a worker is not there");
        Ok(())
    }

    fn end(&mut self) {
        // One that has ended already cannot be killed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Workers {
    /// Starts a worker for each way: the clock of the first is ten minutes behind, that of the last
    /// ten minutes ahead.
    pub(super) fn start(ways: &[String], place: &Place) -> Result<Self> {
        let mut processes = Vec::new();
        for (number, way) in ways.iter().enumerate() {
            let ahead = match number {
                0 => -OFF,
                _ if number + 1 == ways.len() => OFF,
                _ => 0,
            };
            processes.push(Process::start(way, ahead, place)?);
        }
        Ok(Self {
            processes,
            kills: 0,
            drains: 0,
            undrained: 0,
            suspensions: Vec::new(),
            losses: Vec::new(),
        })
    }

    /// Kills a worker, and starts another in its place.
    pub(super) fn kill(&mut self, worker: usize, place: &Place) -> Result<()> {
        let Some(process) = self.processes.get_mut(worker) else { return Ok(()) };
        process.end();
        self.losses.push((process.child.id(), boot_ms()));
        *process = Process::start(&process.url, process.ahead, place)?;
        self.kills += 1;
        Ok(())
    }

    /// Asks a worker to end, waits until it has handed its runs over, and starts another in its place.
    pub(super) async fn drain(&mut self, worker: usize, place: &Place) -> Result<()> {
        let Some(process) = self.processes.get_mut(worker) else { return Ok(()) };
        process.signal("TERM")?;
        let asked = Instant::now();
        while process.child.try_wait()?.is_none() && asked.elapsed() < DRAINS {
            tokio::time::sleep(POLL / 10).await;
        }
        let count = if process.child.try_wait()?.is_some() {
            &mut self.drains
        } else {
            &mut self.undrained
        };
        *count += 1;
        process.end();
        *process = Process::start(&process.url, process.ahead, place)?;
        Ok(())
    }

    /// Starts those again that have ended: one that cannot reach its server does at its start.
    pub(super) fn revive(&mut self, place: &Place) -> Result<()> {
        for process in &mut self.processes {
            if process.child.try_wait()?.is_some() {
                *process = Process::start(&process.url, process.ahead, place)?;
            }
        }
        Ok(())
    }

    /// Suspends a worker for a while. It is known from then on: what it starts meanwhile is judged.
    pub(super) async fn suspend(&mut self, worker: usize, lasts: Duration) -> Result<()> {
        let Some(process) = self.processes.get(worker) else { return Ok(()) };
        let worker = process.child.id();
        let from = boot_ms();
        process.signal("STOP")?;
        self.losses.push((worker, boot_ms()));
        tokio::time::sleep(lasts).await;
        process.signal("CONT")?;
        self.suspensions.push(Suspension { worker, from, to: boot_ms() });
        Ok(())
    }

    /// Returns the place of a process.
    pub(super) fn place_of(&self, id: u32) -> Option<usize> {
        self.processes.iter().position(|process| process.child.id() == id)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.processes.iter_mut().for_each(Process::end);
    }
}

/// Starts a watcher: a process of this very program, which ends when its input closes.
pub(super) fn watcher(url: &str, seen: &Path, port: u16, fault: Option<&str>) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["chaos-watch", "--store", url, "--seen"]).arg(seen);
    if let Some(fault) = fault {
        command.env(PLANT, fault);
    }
    // It is there as soon as its server is.
    Server::start(command, port, Ready::Listens, LEASE * 10)
}

/// Sends a command to Redis.
pub(super) fn tell_redis(port: u16, words: &str) -> Result<()> {
    let mut redis = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("reaching Redis")?;
    redis.write_all(format!("{words}\r\n").as_bytes()).context("speaking to Redis")
}
