//! What this crate promises, through its public face.
#![expect(clippy::disallowed_methods, reason = "a test waits with a limit of its own")]

mod approver;
mod asking;
mod callers;
mod children;
mod config;
mod converse;
mod decode;
mod driver;
mod examples;
mod fts;
mod inspect;
mod mcp;
mod messages;
mod metrics;
mod model;
mod pausing;
mod remember;
mod scheduler;
mod session;
mod store;
mod stranger;
mod timeline;
mod tool;

use pointsman_kernel::agents::Program;

/// Binds a chart of this test to its agent.
fn program(source: &str) -> Program {
    let verified = pointsman_agents::all().verify(source);
    verified.unwrap_or_else(|refused| panic!("{source}\n{:#?}", refused.diagnostics))
}
