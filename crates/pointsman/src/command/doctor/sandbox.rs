//! Whether commands run in a sandbox, and which toolchains work there.

use std::time::Duration;

use pointsman_runtime::{config::Config, tool::WorkspaceTools};

use super::{Check, Doctor};
use crate::{agents, format, paths, report::Error};

/// How long a toolchain may take to print its version: some start slowly.
const LIMIT: Duration = Duration::from_secs(20);

impl Doctor {
    /// Tries the sandbox, and in it every toolchain that is in `PATH`.
    pub(super) fn sandbox(&self, config: &Config, checks: &mut Vec<Check>) {
        let opened = paths::cache().and_then(|cache| {
            let mut tools = agents::equipped(config.tools(self.drive.dir(), &cache));
            tools.index = ":memory:".into();
            WorkspaceTools::open(tools).map_err(Error::Tools)
        });
        let tools = match opened {
            Ok(tools) => tools,
            Err(error) => return checks.push(Check::fail("sandbox", &error)),
        };
        checks.push(match tools.tool_sandbox() {
            "none" => Check::warn(
                "sandbox",
                "none works here, so commands cannot run",
                "install bubblewrap, or use Linux 6.12 or later with landlock",
            ),
            "landlock" => Check::warn(
                "sandbox",
                "landlock: no network except Unix sockets; commands can write to `.git`",
                "install bubblewrap to block Unix sockets and writes to `.git`",
            ),
            name => Check::ok("sandbox", name),
        });
        if tools.tool_sandbox() == "none" {
            return;
        }
        for tried in tools.try_toolchains(LIMIT) {
            let program = tried.program;
            // What holds for every command need not be said about each program.
            if let Some(why) = tried.answer.as_ref().err().filter(|why| nowhere(why)) {
                let hint = "not checked: commands cannot run";
                return checks.push(Check::warn("toolchain", why.as_str(), hint));
            }
            checks.push(match tried.answer {
                Ok(version) => {
                    Check::ok("toolchain", format!("{program}: {}", format::line(&version, 100)))
                }
                Err(why) => {
                    let path = tried.path.display();
                    let real = tried.path.canonicalize().unwrap_or_else(|_| tried.path.clone());
                    let folder = real.parent().unwrap_or(&real).display();
                    Check::warn(
                        "toolchain",
                        format!(
                            "{program} ({path}) does not run in the sandbox: {}",
                            format::line(&why, 200)
                        ),
                        format!(
                            "if agents need it, add [sandbox] read_only = [\"{folder}\"] to your own pointsman.toml, with any other folders it needs"
                        ),
                    )
                }
            });
        }
    }
}

/// Returns whether no command at all can run, and not just this one.
fn nowhere(why: &str) -> bool {
    why.starts_with("commands cannot run")
}
