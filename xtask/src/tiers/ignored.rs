//! The tiers that run tests which cargo leaves out: each of them needs a component.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{cargo, count};
use crate::{
    components, place, process,
    server::{Ready, Server, free_port},
};

/// Of the whole workspace, as all tests are built: for one crate alone cargo would choose
/// other features, and compile most of what it rests on once more.
const TESTS: [&str; 5] = ["test", "--locked", "--workspace", "--test", "it"];
/// Each tier has a cap of its own; this one only keeps a forgotten process from staying.
const CAP: Duration = Duration::from_mins(10);
/// How long the mock may take to read its fixtures and listen.
const MOCK_LISTENS: Duration = Duration::from_secs(30);

/// The models' clients, against a mock that speaks all four protocols.
pub(super) fn aimock() -> Result<bool> {
    let npm = components::npm()?;
    let fixtures = place::root().join("crates/runtime/tests/it/model/aimock");
    if !fixtures.is_dir() {
        bail!("there are no fixtures in {}", fixtures.display());
    }
    let port = free_port()?;
    let mut mock = process::command(npm.join("node_modules/.bin/llmock"));
    mock.args(["-p", &port.to_string(), "--validate-on-load", "-f"]).arg(fixtures);
    mock.stdout(std::process::Stdio::null());
    let mock = Server::start(mock, port, Ready::Listens, MOCK_LISTENS)?;
    run("model::aimock", &[("POINTSMAN_AIMOCK_URL", mock.url().as_ref())])
}

/// The MCP client, against real servers.
pub(super) fn mcp() -> Result<bool> {
    let npm = components::npm()?;
    run("mcp", &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// The command that serves editors, against a real client.
pub(super) fn acp() -> Result<bool> {
    let npm = components::npm()?;
    run("acpx", &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// Tools in a real sandbox.
pub(super) fn sandbox() -> Result<bool> {
    run("tool::sandbox", &[])
}

/// The browser's port, and the agent that fills forms with it.
pub(super) fn browser() -> Result<bool> {
    let npm = components::npm_of_pages()?;
    let environment = [("POINTSMAN_NPM", npm.as_os_str())];
    // Both, even if the first fails: they say different things.
    let port = run("browser::", &environment)?;
    let agent = run("form::", &environment)?;
    Ok(port && agent)
}

/// Runs those of the ignored tests that a filter selects.
fn run(filter: &'static str, environment: &[(&str, &std::ffi::OsStr)]) -> Result<bool> {
    let tests = || cargo(TESTS.into_iter().chain([filter]));
    println!("{} tests", count(tests(), &["--ignored"])?);
    let mut tests = tests();
    tests.args(["--", "--ignored"]).envs(environment.iter().copied());
    Ok(process::run(tests, CAP).context("starting cargo")?.well())
}
