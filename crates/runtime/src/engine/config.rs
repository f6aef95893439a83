//! The configuration of an engine: one value, which every front end makes in the same way from
//! settings, and a program without settings makes by hand.

#[cfg(feature = "tools")]
use crate::local_executor::Hooks;
#[cfg(feature = "mcp")]
use crate::mcp::{self, McpLimits};
#[cfg(all(feature = "mcp", feature = "models", feature = "sqlite", feature = "tools"))]
use crate::{config::McpConfig, mcp::McpError};
use crate::{
    executor::Executors, local_executor::Instructions, model, observe::ChildObservers, tool, watch,
};

/// The configuration of an engine. [`Config::engine`](crate::config::Config::engine) makes it from
/// a user's and a repository's settings.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The model.
    pub model: model::ModelSettings,
    /// The tools over the workspace.
    pub tools: tool::ToolSettings,
    /// The MCP servers of the workspace, and which of them are approved.
    #[cfg(feature = "mcp")]
    pub mcp: Option<ApprovedServers>,
    /// When to pause.
    pub watch: Option<watch::ResourceLimits>,
    /// What happens after tools.
    #[cfg(feature = "tools")]
    pub hooks: Hooks,
    /// For which agents the workspace's instructions are read.
    pub instructions: Instructions,
    /// What carries out the tasks of agents that this crate does not know.
    pub executors: Executors,
    /// What observes child runs.
    pub child_observers: ChildObservers,
}

impl EngineConfig {
    /// A model and tools, and the usual of everything else: no servers, no watch, no hooks.
    pub fn new(model: model::ModelSettings, tools: tool::ToolSettings) -> Self {
        Self {
            model,
            tools,
            #[cfg(feature = "mcp")]
            mcp: None,
            watch: None,
            #[cfg(feature = "tools")]
            hooks: Hooks::default(),
            instructions: Instructions::default(),
            executors: Executors::default(),
            child_observers: ChildObservers::default(),
        }
    }
}

/// MCP servers, and which of them may be started.
#[cfg(feature = "mcp")]
#[derive(Clone, Debug)]
pub struct ApprovedServers {
    /// The servers of the workspace.
    pub servers: mcp::McpServerList,
    /// The servers that a person has approved.
    pub names: Vec<String>,
    /// How long they have.
    pub limits: McpLimits,
}

#[cfg(all(feature = "mcp", feature = "models", feature = "sqlite", feature = "tools"))]
impl ApprovedServers {
    /// Returns the servers that the settings approve by key, and those that the user has just
    /// named: the user sees what a name refers to, so a name is enough.
    pub fn of(
        servers: mcp::McpServerList,
        config: &McpConfig,
        typed: &[String],
    ) -> Result<Self, McpError> {
        if let Some(error) = typed.iter().find_map(|name| servers.unlisted(name)) {
            return Err(error);
        }
        let servers = servers.believing(config.believe.as_deref().unwrap_or_default());
        let mut names = servers.approved(config.approve.as_deref().unwrap_or_default());
        names.extend(typed.iter().cloned());
        let wrong = servers.wrong().find(|(name, _)| names.iter().any(|it| it == name));
        match wrong.map(|(_, error)| error) {
            Some(error) => Err(error),
            None => Ok(Self { servers, names, limits: config.clone().over(McpLimits::default()) }),
        }
    }
}
