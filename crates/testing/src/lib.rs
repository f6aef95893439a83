//! Tests of stores and executors, for the crates of this workspace.
//!
//! - [`conformance`]: what every store must do, and the stores that do one thing wrong.
//! - [`script`]: entries as a driver would write them.
//! - [`site`]: pages on loopback, for a browser.
//!
//! Nothing here ships. A test that needs one of these things depends on this crate for tests
//! alone.

pub mod conformance;
pub mod script;
pub mod site;
