//! The tiers that run tests which cargo leaves out: each of them needs a component.

use std::{ffi::OsStr, time::Duration};

use anyhow::{Context, Result, bail};

use super::count;
use crate::{
    components, place, process,
    server::{Ready, Server, free_port},
    webdriver,
};

/// Of the whole workspace, as all tests are built: for one crate alone cargo would choose
/// other features, and compile most of what it rests on once more.
pub(super) const TESTS: [&str; 5] = ["test", "--locked", "--workspace", "--test", "it"];
/// Each tier has a cap of its own; this one only keeps a forgotten process from staying.
pub(super) const CAP: Duration = Duration::from_hours(1);
/// How long the mock may take to read its fixtures and listen.
const MOCK_LISTENS: Duration = Duration::from_secs(30);
/// How long Appium may take to load its drivers and answer: on a busy machine it is slow.
const APPIUM_ANSWERS: Duration = Duration::from_mins(3);

const AIMOCK: &str = "aimock::";
const MCP: &str = "mcp::";
const ACP: &str = "acpx::";
pub(super) const SANDBOX: &str = "tool::sandbox";
const BROWSER: &str = "browser::";
const FIELDS: &str = "fields::";
const FORM: &str = "form::";
const APPIUM: &str = "appium::";
pub(super) const POSTGRES: &str = "postgres::";
const SERVE: &str = "serve::";
const PAGE: &str = "page::";
const TMUX: &str = "tmux::";
const TELEMETRY: &str = "telemetry::";

/// The models' clients and whole runs, against a mock that speaks all four protocols.
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
    run(&[AIMOCK], &[("POINTSMAN_AIMOCK_URL", mock.url().as_ref())])
}

/// The MCP client, against real servers.
pub(super) fn mcp() -> Result<bool> {
    let npm = components::npm()?;
    run(&[MCP], &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// The command that serves editors, against a real client.
pub(super) fn acp() -> Result<bool> {
    let npm = components::npm()?;
    run(&[ACP], &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// The browser's port, and the agent that fills forms with it.
pub(super) fn browser() -> Result<bool> {
    let npm = components::npm_of_pages()?;
    // The first start reads all of a browser from the disk, and may take long. A test that
    // starts two at once should not be the one to wait for it.
    drop(webdriver::Browser::start(800, 600)?);
    run(&[BROWSER, FIELDS, FORM], &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// The explorer's driver, against a real server of Appium that ends with this tier.
pub(super) fn appium() -> Result<bool> {
    let appium = components::appium()?;
    components::browser()?;
    let port = free_port()?;
    let mut server = appium.server();
    server.args(["--address", "127.0.0.1", "--port", &port.to_string(), "--log-level", "error"]);
    let ready = Ready::Answers("/status");
    let server = Server::start(server, port, ready, APPIUM_ANSWERS)?;
    run(&[APPIUM], &[("POINTSMAN_APPIUM_URL", server.url().as_ref())])
}

/// The HTTP server, against a fuzzer and clients in Python.
pub(super) fn serve() -> Result<bool> {
    let python = components::http()?.program();
    run(&[SERVE], &[("POINTSMAN_PYTHON", python.as_os_str())])
}

/// The inspector's page, in a browser, and its terminal view, in tmux.
pub(super) fn page() -> Result<bool> {
    let npm = components::npm_of_pages()?;
    components::terminal()?;
    drop(webdriver::Browser::start(800, 600)?);
    run(&[PAGE, TMUX], &[("POINTSMAN_NPM", npm.as_os_str())])
}

/// Spans, received and decoded by OpenTelemetry's own classes; one of the runs fills a form.
pub(super) fn telemetry() -> Result<bool> {
    let python = components::spans()?.program();
    drop(webdriver::Browser::start(800, 600)?);
    run(&[TELEMETRY], &[("POINTSMAN_PYTHON", python.as_os_str())])
}

/// Runs those of the ignored tests that one of the filters selects.
pub(super) fn run(filters: &[&str], environment: &[(&str, &OsStr)]) -> Result<bool> {
    for filter in filters {
        println!("{} tests of {filter}", count(process::cargo(TESTS), &["--ignored", filter])?);
    }
    let mut tests = process::cargo(TESTS);
    // All of them, even if some fail: they say different things.
    tests.args(["--no-fail-fast", "--", "--ignored"]).args(filters);
    tests.envs(environment.iter().copied());
    Ok(process::run(tests, CAP).context("starting cargo")?.well())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// Each tier that runs tests which cargo leaves out, and what selects them.
    const SELECTED: [(&str, &[&str]); 10] = [
        ("aimock", &[AIMOCK]),
        ("mcp", &[MCP]),
        ("acp", &[ACP]),
        ("sandbox", &[SANDBOX]),
        ("browser", &[BROWSER, FIELDS, FORM]),
        ("appium", &[APPIUM]),
        ("fleet", &[POSTGRES]),
        ("serve", &[SERVE]),
        ("page", &[PAGE, TMUX]),
        ("telemetry", &[TELEMETRY]),
    ];

    /// A test that says in which tier it runs, and that no tier selects, never runs.
    #[test]
    fn every_test_that_names_a_tier_is_run_by_it() -> Result<()> {
        let mut found = 0;
        for package in fs::read_dir(place::root().join("crates"))? {
            let tests = package?.path().join("tests/it");
            if tests.is_dir() {
                found += check(&tests, "")?;
            }
        }
        assert!(found > 50, "only {found} tests were found");
        Ok(())
    }

    fn check(folder: &Path, within: &str) -> Result<usize> {
        let mut found = 0;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let stem = path.file_stem().context("it has a name")?.to_string_lossy();
            let module = format!("{within}{stem}::");
            if path.is_dir() {
                found += check(&path, &module)?;
            } else if path.extension().is_some_and(|it| it == "rs") {
                for line in fs::read_to_string(&path)?.lines() {
                    let Some((_, tier)) = line.split_once("cargo xtask test --only ") else {
                        continue;
                    };
                    if !line.trim_start().starts_with("#[ignore") {
                        continue;
                    }
                    let tier = tier.trim_end_matches(['"', ']']);
                    let filters = SELECTED.iter().find(|(name, _)| *name == tier);
                    let (_, filters) = filters.with_context(|| format!("{tier} is no tier"))?;
                    let is_run = filters.iter().any(|filter| module.contains(filter));
                    assert!(is_run, "{} names {tier}, which leaves it out", path.display());
                    found += 1;
                }
            }
        }
        Ok(found)
    }
}
