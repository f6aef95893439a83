//! The start of a run without the run: it checks everything that could refuse the run, and starts
//! and stores nothing.

use std::{env, fs, path::PathBuf, sync::Arc};

use pointsman_kernel::{
    agents::{Agents, Program},
    event::Event,
    governor::Permissions,
    id::{At, Seq},
};
use serde_json::Value;

use super::{Session, SessionError, StartOptions};
use crate::{clock::entropy, driver::DriveError, engine::EngineConfig, private};

/// A run that would begin.
pub struct DryRun {
    /// Its chart, bound to its agent.
    pub program: Arc<Program>,
    /// Permission rules.
    pub permissions: Permissions,
    /// The tools that the agent is offered; nothing if its chart names them itself.
    pub tools: Option<Vec<Box<str>>>,
}

/// Goes through the start of a run on a temporary journal. No MCP server is started.
pub fn dry_run(
    agents: Agents,
    mut config: EngineConfig,
    start: StartOptions,
) -> Result<DryRun, SessionError> {
    let scratch = Scratch::new()?;
    #[cfg(feature = "mcp")]
    {
        config.mcp = None;
    }
    config.model.record = None;
    let session = Session::open(agents, &scratch.0.join("journal.db"), &scratch.0)?;
    let executor = session.executor(config)?;
    let beginning = session.engine(&executor).beginning(start)?;
    let (program, begun) = (beginning.program, beginning.begun);
    let event = Event::Begun(Box::new(begun.clone()));
    let mut run = program.start();
    run.step(&program, Seq(1), At(0), event).map_err(DriveError::NotBegun)?;
    let begun_with: Value = serde_json::from_str(begun.config.get())?;
    let tools = begun_with.get("tools").and_then(Value::as_array).map(|tools| {
        let name = |tool: &Value| tool.get("name").unwrap_or(tool).as_str().map(Box::from);
        tools.iter().filter_map(name).collect()
    });
    Ok(DryRun { program, permissions: begun.permissions, tools })
}

/// A folder that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, SessionError> {
        let folder = env::temp_dir().join(format!("pointsman-plan-{:016x}", entropy()));
        private::folder(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, folder = %self.0.display(), "a temporary folder could not be removed");
        }
    }
}
