//! `[sandbox]`: what commands reach, and how much of the machine they take.

use std::path::PathBuf;

use super::{
    Origin, Problem,
    keys::{self, Keys},
    under::least,
};
use crate::tool::sandbox::CommandLimits;

/// `[sandbox]`: what commands reach.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SandboxConfig {
    /// Whether they reach the network.
    pub network: Option<bool>,
    /// Paths that they may read beside the system's.
    pub read_only: Vec<PathBuf>,
    /// Paths that they may write beside the workspace.
    pub writable: Vec<PathBuf>,
    /// Environment variables that they see, beside the usual few.
    pub env: Vec<String>,
    /// Where bubblewrap is.
    pub bubblewrap: Option<PathBuf>,
    /// Whether landlock may be used where bubblewrap cannot.
    pub landlock: Option<bool>,
    /// Whether `http_get` may reach private addresses.
    pub private_addresses: Option<bool>,
    /// Whether commands see the toolchains of the home directory.
    pub toolchains: Option<bool>,
    /// How much of the machine they take.
    pub limits: CommandLimitsConfig,
}

/// `[sandbox.limits]`: how much of the machine commands take.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CommandLimitsConfig {
    /// Files that a process may have open.
    pub open_files: Option<u64>,
    /// Bytes of the largest file that a process may write.
    pub file_bytes: Option<u64>,
    /// Milliseconds of processor time that a process may take.
    pub cpu_ms: Option<u64>,
    /// Bytes of data that a process may hold.
    pub data_bytes: Option<u64>,
    /// Processes that may run at once.
    pub processes: Option<u64>,
    /// Bytes of memory that all of them may use together.
    pub memory_bytes: Option<u64>,
    /// Bytes of temporary files in bubblewrap.
    pub temporary_bytes: Option<u64>,
    /// Bytes that must stay free on the workspace's disk.
    pub disk_free_bytes: Option<u64>,
}

impl CommandLimitsConfig {
    /// Returns the limits, with the usual ones where none is set.
    #[must_use]
    pub fn limits(&self) -> CommandLimits {
        let usual = CommandLimits::default();
        CommandLimits {
            open_files: self.open_files.unwrap_or(usual.open_files),
            file_bytes: self.file_bytes.unwrap_or(usual.file_bytes),
            cpu_ms: self.cpu_ms.unwrap_or(usual.cpu_ms),
            data_bytes: self.data_bytes.unwrap_or(usual.data_bytes),
            processes: self.processes.unwrap_or(usual.processes),
            memory_bytes: self.memory_bytes.or(usual.memory_bytes),
            temporary_bytes: self.temporary_bytes.unwrap_or(usual.temporary_bytes),
            disk_free_bytes: self.disk_free_bytes.unwrap_or(usual.disk_free_bytes),
        }
    }

    /// Puts a repository's limits under a user's: they may only be stricter.
    pub(super) fn under(&self, theirs: &Self) -> Self {
        let usual = CommandLimits::default();
        let memory = usual.memory();
        let free = self.disk_free_bytes.unwrap_or(usual.disk_free_bytes);
        Self {
            open_files: least(self.open_files, theirs.open_files, usual.open_files),
            file_bytes: least(self.file_bytes, theirs.file_bytes, usual.file_bytes),
            cpu_ms: least(self.cpu_ms, theirs.cpu_ms, usual.cpu_ms),
            data_bytes: least(self.data_bytes, theirs.data_bytes, usual.data_bytes),
            processes: least(self.processes, theirs.processes, usual.processes),
            memory_bytes: least(self.memory_bytes, theirs.memory_bytes, memory),
            temporary_bytes: least(
                self.temporary_bytes,
                theirs.temporary_bytes,
                usual.temporary_bytes,
            ),
            disk_free_bytes: theirs
                .disk_free_bytes
                .map(|wanted| wanted.max(free))
                .or(self.disk_free_bytes),
        }
    }
}

pub(super) fn sandbox(
    keys: &mut Keys<'_, '_>,
    _: Origin,
    found: &mut Vec<Problem>,
) -> SandboxConfig {
    SandboxConfig {
        network: keys.read("network", keys::flag, found),
        read_only: keys.read("read_only", keys::paths, found).unwrap_or_default(),
        writable: keys.read("writable", keys::paths, found).unwrap_or_default(),
        env: keys.read("env", keys::texts, found).unwrap_or_default(),
        bubblewrap: keys.read("bubblewrap", keys::path, found),
        landlock: keys.read("landlock", keys::flag, found),
        private_addresses: keys.read("private_addresses", keys::flag, found),
        toolchains: keys.read("toolchains", keys::flag, found),
        limits: limits(keys, found),
    }
}

fn limits(keys: &mut Keys<'_, '_>, found: &mut Vec<Problem>) -> CommandLimitsConfig {
    let Some((keys, _)) = keys.table("limits", found) else {
        return CommandLimitsConfig::default();
    };
    let mut keys = keys.titled("`[sandbox.limits]`");
    let limits = CommandLimitsConfig {
        open_files: keys.read("open_files", keys::count, found),
        file_bytes: keys.read("file", keys::size, found),
        cpu_ms: keys.read("cpu", keys::duration, found),
        data_bytes: keys.read("data", keys::size, found),
        processes: keys.read("processes", keys::count, found),
        memory_bytes: keys.read("memory", keys::size, found),
        temporary_bytes: keys.read("temporary", keys::size, found),
        disk_free_bytes: keys.read("disk_free", keys::size, found),
    };
    keys.finish(found);
    limits
}
