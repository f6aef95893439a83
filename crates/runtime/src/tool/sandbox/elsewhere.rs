//! Sandboxes where there are none: it says so, and nothing runs.

use std::{ffi::OsString, os::fd::BorrowedFd, path::Path, process::ExitCode};

use super::{CommandLimits, place::SandboxView};

const WHY: &str = "only Linux has landlock";

/// Says why landlock cannot be used.
pub(super) fn missing() -> Option<String> {
    Some(WHY.into())
}

/// Returns no arguments: no helper is ever started.
pub(super) fn arguments<'a>(
    _: &'a SandboxView,
    _: &Path,
    _: &CommandLimits,
) -> (Vec<OsString>, Vec<BorrowedFd<'a>>) {
    (Vec::new(), Vec::new())
}

/// Says why nothing was run.
pub(super) fn helped(_: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    Err(WHY.into())
}
