//! What differs between systems, and nothing else.

use std::path::Path;

/// Returns whether others than its owner can read a file, where the system tells.
pub(crate) fn is_open(path: &Path) -> bool {
    let group_and_others = rustix::fs::Mode::from_raw_mode(0o044);
    rustix::fs::stat(path).is_ok_and(|found| {
        rustix::fs::Mode::from_raw_mode(found.st_mode).intersects(group_and_others)
    })
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
