//! Nothing to find: commands run only on Linux.

use std::path::Path;

use rustix::process::Pid;

/// Stops nothing.
pub(in crate::tool) fn stop_marked(_: &Path) {}

/// Finds nothing.
pub(in crate::tool) fn quickly_below(_: Pid) -> Vec<Pid> {
    Vec::new()
}
