//! Tests of stores and executors, for the crates of this workspace.
//!
//! - [`conformance`]: the rules for every store, and stores that break one rule each.
//! - [`folder`]: temporary folders.
//! - [`kept`]: exported runs, written into a store.
//! - [`script`]: entries as a driver would write them.
//! - [`site`]: a site on loopback with scripted answers.
//! - [`stand_in`]: an executor that never answers, and a chart with a child.
//!
//! Nothing here ships: other crates use it only in their tests.

pub mod conformance;
pub mod folder;
pub mod kept;
pub mod script;
pub mod site;
pub mod stand_in;
