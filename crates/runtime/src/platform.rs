//! What differs between systems, and nothing else.

use std::path::Path;

use crate::watch::Vitals;

/// Reads how the machine is doing; what the system does not tell is left out.
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

/// Reads how the machine is doing; what the system does not tell is left out.
#[cfg(not(target_os = "linux"))]
pub(crate) fn vitals(folder: &Path) -> Vitals {
    Vitals { processor: None, memory: None, disk_free: disk_free(folder) }
}

/// Returns whether others than its owner can read a file, where the system tells.
pub(crate) fn is_open(path: &Path) -> bool {
    let group_and_others = rustix::fs::Mode::from_raw_mode(0o044);
    rustix::fs::stat(path).is_ok_and(|found| {
        rustix::fs::Mode::from_raw_mode(found.st_mode).intersects(group_and_others)
    })
}

/// Returns the bytes that are free for this user where a folder lies.
pub(crate) fn disk_free(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns when a process was started, in the system's own words: together with its number
/// it names one process and no other. Nothing for one that has ended.
#[cfg(target_os = "linux")]
pub(crate) fn started(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; what follows its last bracket does not.
    let mut fields = text.rsplit_once(") ")?.1.split_whitespace();
    let state = fields.next()?;
    fields.nth(18).filter(|_| !matches!(state, "Z" | "X")).map(str::to_owned)
}

/// Returns when a process was started, in the system's own words: together with its number
/// it names one process and no other. Nothing for one that has ended.
#[cfg(not(target_os = "linux"))]
pub(crate) fn started(pid: u32) -> Option<String> {
    let asked = std::process::Command::new("ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .output()
        .ok()?;
    let words =
        String::from_utf8_lossy(&asked.stdout).split_whitespace().collect::<Vec<_>>().join("-");
    Some(words).filter(|words| !words.is_empty())
}

/// Returns whether a browser cannot set up its own sandbox: for root it refuses, and in a
/// container it lacks the means.
pub(crate) fn lacks_sandbox() -> bool {
    let marks = ["/.dockerenv", "/run/.containerenv"];
    rustix::process::geteuid().is_root()
        || marks.iter().any(|mark| Path::new(mark).exists())
        || std::env::var_os("container").is_some()
}
