//! What differs between systems, and nothing else.

use std::path::Path;

use rustix::time::ClockId;

use crate::watch::Vitals;

/// Returns the name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The clock that files are stamped with.
#[cfg(target_os = "linux")]
pub(crate) const FILES: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(target_os = "linux"))]
pub(crate) const FILES: ClockId = ClockId::Realtime;

/// A clock that cannot be set, and that counts while the machine sleeps.
#[cfg(target_os = "linux")]
pub(crate) const BOOT: ClockId = ClockId::Boottime;

/// A clock that cannot be set.
#[cfg(not(target_os = "linux"))]
pub(crate) const BOOT: ClockId = ClockId::Monotonic;

/// Reads the state of the machine; values that the system does not report are missing.
#[cfg(target_os = "linux")]
pub(crate) fn vitals(folder: &Path) -> Vitals {
    let processor = std::fs::read_to_string("/proc/stat").ok().and_then(|text| {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            line.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
        // Idle, and waiting for the disk: the fourth and the fifth.
        let idle = ticks.get(3)?.saturating_add(*ticks.get(4)?);
        let total = ticks.iter().sum::<u64>();
        Some((total.saturating_sub(idle), total))
    });
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().find_map(|word| word.parse::<u64>().ok())
        };
        let (total, free) = (field("MemTotal:")?, field("MemAvailable:")?);
        Some((total.saturating_sub(free), total))
    });
    Vitals { processor, memory, disk_free: disk_free(folder) }
}

/// Reads the state of the machine; values that the system does not report are missing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn vitals(folder: &Path) -> Vitals {
    Vitals { processor: None, memory: None, disk_free: disk_free(folder) }
}

/// Returns the bytes that are free for this user where a folder lies.
pub(crate) fn disk_free(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
