//! Tests of stores and executors, for the crates of this workspace.
//!
//! - [`conformance`]: what every store must do, and the stores that do one thing wrong.
//! - [`folder`]: folders that are removed again.
//! - [`kept`]: exported runs, written into a store.
//! - [`script`]: entries as a driver would write them, the first event scope them.
//! - [`site`]: a site on loopback with scripted answers.
//!
//! Nothing here ships. A test that needs one of these things depends on this crate for tests
//! alone.

pub mod conformance;
pub mod folder;
pub mod kept;
pub mod script;
pub mod site;
