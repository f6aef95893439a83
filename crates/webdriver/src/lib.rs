//! Acts on browsers and devices: everything that a web page or an app sees is here.
//!
//! It has two executors, which callers register like their own: [`form::Forms`] for the agent that
//! fills forms, [`explore::Devices`] for the one that explores apps. The runtime depends on
//! neither.
//!
//! - [`browser`]: a real browser: opening, reading, typing, pressing.
//! - [`device`]: a device that an app runs on, or a recording of one.
//! - [`form`]: the form agent's tasks, and the tool that sends a form.
//! - [`explore`]: the explore agent's tasks.
//! - [`exploration`]: an app's map, read back from a journal.
//! - [`reproduce`]: finds the shortest steps to a crash of an app.
//! - [`profile`]: profiles: the values that a form is filled from.
//! - [`settings`]: `[form]` and `[explore]`, as browsers and devices take them.

pub mod browser;
pub mod device;
pub mod exploration;
pub mod explore;
pub mod form;
pub mod kept;
mod platform;
pub mod profile;
pub mod reproduce;
pub mod settings;

use std::path::Path;

use pointsman_runtime::store::RunId;

/// Removes the files beside a journal of a removed run. A front end calls it for every run that it
/// has removed.
pub fn remove(journal: &Path, run: &RunId) {
    form::remove(journal, run);
    explore::remove(journal, run);
}
