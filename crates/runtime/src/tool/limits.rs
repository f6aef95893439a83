//! How much a tool may take and say.

use std::time::Duration;

use serde::Deserialize;

/// What every tool keeps to. All of it can be set.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct ToolLimits {
    /// Bytes of output that a call gives; of more, the head and the tail are kept.
    pub output_bytes: usize,
    /// Bytes of the largest file that is read, written or edited.
    pub file_bytes: u64,
    /// Lines that `list` and `search` give.
    pub results: usize,
    /// Milliseconds that a look at files may take.
    pub look_ms: u64,
    /// Milliseconds that a command may take where the call says nothing.
    pub shell_ms: u64,
    /// Milliseconds that a call may ask for at most.
    pub shell_max_ms: u64,
    /// Milliseconds that a page may take, with all its redirects.
    pub http_ms: u64,
    /// Bytes of a page that are read.
    pub http_bytes: usize,
    /// Redirects that are followed.
    pub redirects: usize,
    /// Milliseconds that finding out what sandbox works may take.
    pub sandbox_ms: u64,
    /// Files and folders that a search for repositories looks at.
    pub repository_entries: usize,
    /// Milliseconds that such a search may take.
    pub repository_ms: u64,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            output_bytes: 32 << 10,
            file_bytes: 4 << 20,
            results: 200,
            look_ms: 30_000,
            shell_ms: 120_000,
            shell_max_ms: 600_000,
            http_ms: 30_000,
            http_bytes: 2 << 20,
            redirects: 5,
            sandbox_ms: 5_000,
            repository_entries: 200_000,
            repository_ms: 2_000,
        }
    }
}

impl ToolLimits {
    /// Returns how long a look at files may take.
    pub(super) const fn look(&self) -> Duration {
        Duration::from_millis(self.look_ms)
    }
}
