//! `cargo xtask eval forms`: the form agent over pages of others.

mod miniwob;

use std::path::Path;

use anyhow::Result;

/// Judges every part, and returns whether all of them passed.
pub(crate) fn forms(data: &Path) -> Result<bool> {
    miniwob::run(data)
}
