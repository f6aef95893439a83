//! How much of the machine a command may take.

use std::{ffi::OsString, fs, io};

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};
use serde::Deserialize;

/// What every command keeps to, with all that it starts. All of it can be set.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct CommandLimits {
    /// Files that a process may have open.
    pub open_files: u64,
    /// Bytes of the largest file that a process may write.
    pub file_bytes: u64,
    /// Milliseconds of processor time that a process may take.
    pub cpu_ms: u64,
    /// Bytes of data that a process may hold, whether it uses them or not.
    pub data_bytes: u64,
    /// Processes that may run at once.
    pub processes: u64,
    /// Bytes of memory that all of them may use together: three quarters of the machine's
    /// where this is left out.
    pub memory_bytes: Option<u64>,
    /// Bytes of temporary files in bubblewrap, and as many of shared memory.
    pub temporary_bytes: u64,
    /// Bytes that must stay free on the workspace's disk.
    pub disk_free_bytes: u64,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            open_files: 16_384,
            file_bytes: 4 << 30,
            cpu_ms: 4 * 3_600_000,
            data_bytes: 16 << 30,
            processes: 4_096,
            memory_bytes: None,
            temporary_bytes: 4 << 30,
            disk_free_bytes: 256 << 20,
        }
    }
}

impl CommandLimits {
    /// Returns the bytes of memory that a command may use.
    pub(crate) fn memory(&self) -> u64 {
        self.memory_bytes.unwrap_or_else(|| {
            let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
            let total = table.lines().find_map(|line| line.strip_prefix("MemTotal:"));
            let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
            kib.map_or(u64::MAX, |kib| (kib / 4).saturating_mul(3 << 10))
        })
    }

    /// Returns the helper's arguments for the limits that the system enforces.
    pub(super) fn arguments(&self, counted: bool) -> Vec<OsString> {
        let seconds = self.cpu_ms.div_ceil(1000);
        let mut limits = vec![
            ("files", self.open_files),
            ("size", self.file_bytes),
            ("cpu", seconds),
            ("data", self.data_bytes),
        ];
        if counted {
            limits.push(("processes", self.processes));
        }
        let words = |(name, number): (&str, u64)| ["--limit".into(), name.into(), text(number)];
        limits.into_iter().flat_map(words).collect()
    }
}

fn text(number: u64) -> OsString {
    number.to_string().into()
}

/// Lets this process and its children take no more of something.
pub(super) fn set(name: &str, most: u64) -> io::Result<()> {
    let (resource, slack) = match name {
        "files" => (Resource::Nofile, 0),
        "size" => (Resource::Fsize, 0),
        // A signal that says why comes first, and the end a second later.
        "cpu" => (Resource::Cpu, 1),
        "data" => (Resource::Data, 0),
        // The system counts what a user runs everywhere, and never counts root's.
        "processes" if getuid().is_root() => return Ok(()),
        "processes" => (Resource::Nproc, 0),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let now = getrlimit(resource);
    let least = |most: u64| now.maximum.map_or(most, |maximum| maximum.min(most));
    let limit =
        Rlimit { current: Some(least(most)), maximum: Some(least(most.saturating_add(slack))) };
    Ok(setrlimit(resource, limit)?)
}
