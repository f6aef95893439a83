//! What this crate promises, through its public face.
#![expect(clippy::disallowed_methods, reason = "a test waits with a limit of its own")]

mod asking;
mod attend;
mod children;
mod config;
mod converse;
mod decode;
mod driver;
mod examples;
mod fts;
mod letters;
mod mcp;
mod model;
mod pausing;
mod remember;
mod session;
mod store;
mod stranger;
mod timeline;
mod tool;
mod yard;

use pointsman_kernel::agents::Program;

/// Binds a chart of this test to its agent.
fn program(source: &str) -> Program {
    let verified = pointsman_agents::all().verify(source);
    verified.unwrap_or_else(|refused| panic!("{source}\n{:#?}", refused.diagnostics))
}
