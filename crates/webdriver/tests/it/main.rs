//! What this crate promises, through its public face.
#![expect(clippy::disallowed_methods, reason = "a test waits with a limit of its own")]

mod appium;
mod browser;
mod forms;
mod workspace;

use pointsman_kernel::agents::Program;

/// Binds a chart of this test to its agent.
fn program(source: &str) -> Program {
    let verified = pointsman_agents::all().verify(source);
    verified.unwrap_or_else(|refused| panic!("{source}\n{:#?}", refused.diagnostics))
}
