//! Looks at what a command takes of the machine while it runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::Pid;

use super::{super::sandbox::CommandLimits, left};
use crate::{platform::disk_free, plural::counted};

/// How long to wait between two looks.
pub(super) const EVERY: Duration = Duration::from_millis(50);

/// What one command may take.
#[derive(Clone, Debug)]
pub(super) struct ProcessWatch {
    top: Pid,
    processes: u64,
    memory: u64,
    /// Folders whose disks must not run full, and how much must stay free on each.
    disks: Vec<(PathBuf, u64)>,
}

impl ProcessWatch {
    /// Watches what runs below a process.
    pub(super) fn new(top: Pid, limits: &CommandLimits, folders: &[&Path]) -> Self {
        let least = |folder: &&Path| {
            // A disk that is nearly full already must not keep a command from making room.
            let half = disk_free(folder).unwrap_or(0) / 2;
            (folder.to_path_buf(), limits.disk_free_bytes.min(half))
        };
        let disks = folders.iter().map(least).collect();
        Self { top, processes: limits.processes, memory: limits.memory(), disks }
    }

    /// Says which limit is passed, if one is.
    pub(super) fn passed(&self) -> Option<String> {
        let family = left::quickly_below(self.top);
        let count = u64::try_from(family.len()).unwrap_or(u64::MAX);
        if count > self.processes {
            let most = counted(self.processes, "process");
            return Some(format!("it ran more than {most} at once (limit `processes`)"));
        }
        let resident = family.iter().map(|id| resident(*id)).fold(0, u64::saturating_add);
        // Pages that several processes share were counted for each. Only where that may be too
        // much are they divided, which takes longer.
        if resident > self.memory
            && family.iter().map(|id| share(*id)).fold(0, u64::saturating_add) > self.memory
        {
            let most = self.memory;
            return Some(format!("it used more than {most} bytes of memory (limit `memory`)"));
        }
        let full = self
            .disks
            .iter()
            .find(|(folder, least)| disk_free(folder).is_some_and(|free| free < *least));
        full.map(|(folder, least)| {
            format!(
                "it left less than {least} bytes free on the disk of {} (limit `disk_free`)",
                folder.display()
            )
        })
    }
}

/// Returns the bytes of memory that a process uses.
fn resident(id: Pid) -> u64 {
    let sizes = fs::read_to_string(format!("/proc/{}/statm", id.as_raw_nonzero()));
    let pages = sizes.ok().and_then(|sizes| sizes.split(' ').nth(1)?.parse::<u64>().ok());
    let size = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    pages.unwrap_or(0).saturating_mul(size)
}

/// Returns the same, with shared memory divided among the processes that share it.
fn share(id: Pid) -> u64 {
    let table = fs::read_to_string(format!("/proc/{}/smaps_rollup", id.as_raw_nonzero()));
    let Ok(table) = table else { return resident(id) };
    let share = table.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = share.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or_else(|| resident(id), |kib| kib.saturating_mul(1 << 10))
}

#[cfg(test)]
mod tests {
    use std::env::temp_dir;

    use rustix::process::getpid;

    use super::*;

    #[test]
    fn disk_limit_ignores_space_used_before_the_command() {
        let limits = CommandLimits { disk_free_bytes: u64::MAX, ..CommandLimits::default() };
        let folder = temp_dir();
        let mut watch = ProcessWatch::new(getpid(), &limits, &[folder.as_path()]);
        assert_eq!(watch.passed(), None);
        // As if all that is free, and more, had been free at the start.
        for (_, least) in &mut watch.disks {
            *least = u64::MAX;
        }
        let why = watch.passed().unwrap_or_default();
        assert!(why.contains("(limit `disk_free`)"), "{why}");
    }
}
