//! The host of a run on this machine: its model, its tools, its child runs, and the
//! agents' own tasks.

mod child;
#[cfg(feature = "agents")]
mod echo;
#[cfg(feature = "tools")]
mod hook;
mod instructions;
mod offer;
mod pauses;
mod precheck;
#[cfg(feature = "tools")]
mod records;
mod rules;
#[cfg(all(test, feature = "mcp", feature = "models", feature = "sqlite", feature = "tools"))]
mod tests;
mod workspace;

use std::{
    path::PathBuf,
    sync::{Arc, Weak},
};

#[cfg(feature = "agents")]
use pointsman_agents::{chat::ChatAgent, research::ResearchAgent};
use pointsman_kernel::{
    agent::{FaultClass, ToolCall},
    agents::Agents,
    chart::Disposition,
    job::AgentDecl,
    tool::ToolDecl,
};
use thiserror::Error;

#[cfg(feature = "agents")]
use echo::Echo;
#[cfg(feature = "tools")]
use hook::AfterBatch;
#[cfg(feature = "tools")]
pub use hook::{AfterTools, Hooks};
pub use instructions::Instructions;
use pauses::Pauses;
#[cfg(feature = "tools")]
use records::Records;
use rules::RunRules;
pub use workspace::Workspace;

#[cfg(feature = "tools")]
use crate::tool::plan;
use crate::{
    effect::{
        CleanupFuture, Completion, EffectExecutor, EffectFuture, EffectTask, Permit,
        PrecheckFuture, ProgressSink,
    },
    engine::EngineConfig,
    executor::Executors,
    model::{Model, ModelError, ModelRequest},
    observe::ChildObservers,
    store::{RunId, Store},
    tool::{ToolError, ToolSpec, WorkspaceTools},
    watch::{self, ResourceWatch},
};
#[cfg(feature = "mcp")]
use crate::{
    engine::ApprovedServers,
    mcp::{McpError, Servers},
};

/// Why a host cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// The model cannot be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The tools cannot be used.
    #[error(transparent)]
    Tools(#[from] ToolError),
    /// A run names an unknown tool.
    #[error("`tools` names the unknown tool `{name}`; known: {known}")]
    NoSuchTool {
        /// The unknown name.
        name: String,
        /// The tools that there are.
        known: String,
    },
}

/// Carries orders out on this machine.
#[derive(Clone)]
pub struct LocalExecutor(Arc<Inner>);

struct Inner {
    agents: Arc<Agents>,
    /// See [`EffectExecutor::provider`].
    provider: Option<Box<str>>,
    model: Model,
    tools: WorkspaceTools,
    #[cfg(feature = "mcp")]
    refused: Vec<(String, McpError)>,
    watch: Option<watch::ResourceLimits>,
    #[cfg(feature = "tools")]
    hooks: Hooks,
    instructions: Instructions,
    /// Where the journals are: the disk that is watched, and where child runs are kept.
    journal: PathBuf,
    store: Arc<dyn Store>,
    #[cfg(feature = "tools")]
    accounts: hook::Accounts,
    executors: Executors,
    child_observers: ChildObservers,
    place: Workspace,
    pauses: Pauses,
    #[cfg(feature = "tools")]
    records: Records,
    rules: RunRules,
}

impl LocalExecutor {
    /// Sets a host up; approved MCP servers are started.
    #[cfg_attr(
        not(feature = "mcp"),
        expect(clippy::unused_async, reason = "only servers are waited for")
    )]
    pub(crate) async fn open(
        config: EngineConfig,
        agents: Arc<Agents>,
        store: Arc<dyn Store>,
        journal: PathBuf,
    ) -> Result<Self, ExecutorError> {
        let place = Workspace::of(&config.tools.root, &config.model);
        let provider = config.model.provider_name();
        let (model, tools) = (Model::new(config.model)?, WorkspaceTools::open(config.tools)?);
        #[cfg(feature = "mcp")]
        let (tools, refused) = match config.mcp {
            Some(ApprovedServers { servers, names, limits }) => {
                let connected = Servers::connect(&servers, &names, &limits).await;
                (tools.with(connected.servers.tools())?, connected.refused)
            }
            None => (tools, Vec::new()),
        };
        Ok(Self(Arc::new_cyclic(|executor| Inner {
            executors: shipped(executor).and(config.executors),
            child_observers: config.child_observers,
            agents,
            provider,
            model,
            tools,
            #[cfg(feature = "mcp")]
            refused,
            watch: config.watch,
            #[cfg(feature = "tools")]
            hooks: config.hooks,
            instructions: config.instructions,
            journal,
            store,
            #[cfg(feature = "tools")]
            accounts: hook::Accounts::default(),
            place,
            pauses: Pauses::default(),
            #[cfg(feature = "tools")]
            records: Records::default(),
            rules: RunRules::default(),
        })))
    }

    /// Returns where its runs work, and with what.
    pub fn place(&self) -> &Workspace {
        &self.0.place
    }

    /// Returns the tools.
    pub fn tools(&self) -> &WorkspaceTools {
        &self.0.tools
    }

    /// Returns the declarations of the tools.
    pub fn decls(&self) -> Vec<ToolDecl> {
        self.0.tools.decls()
    }

    /// Returns the declarations of the tools that a run of this agent may call.
    pub(crate) fn decls_for(&self, agent: &AgentDecl) -> Vec<ToolDecl> {
        let mut decls = self.decls();
        let own = agent.own_tools;
        let known = |name: &str| decls.iter().any(|decl| *decl.name == *name);
        let own = self.0.tools.toolbox().iter().filter(|tool| own.contains(&tool.name()));
        let own = own.filter(|tool| !known(tool.name())).map(|tool| tool.decl());
        decls.extend(own.collect::<Vec<_>>());
        decls
    }

    /// Returns the descriptions of the tools for models.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.tools.specs()
    }

    /// Returns the MCP servers that are not used, and why.
    #[cfg(feature = "mcp")]
    pub fn refused(&self) -> &[(String, McpError)] {
        &self.0.refused
    }

    /// Returns the name of the sandbox that commands run in.
    #[cfg(feature = "tools")]
    pub fn sandbox(&self) -> &str {
        self.0.tools.tool_sandbox()
    }

    /// Calls a tool.
    async fn call(&self, permit: &Permit, call: &ToolCall, shown: &ProgressSink) -> Completion {
        #[cfg(feature = "tools")]
        self.load_record_before(&permit.run, call).await;
        let permissions = match self.0.rules.of(&*self.0.store, &permit.run).await {
            Ok(permissions) => permissions,
            Err(error) => return Completion::fault(FaultClass::Other, false, &error.to_string()),
        };
        self.0.tools.under(permissions).call(call, permit, shown).await
    }
}

/// Returns the executors of shipped agents that are a host's own.
#[cfg(feature = "tools")]
fn shipped(executor: &Weak<Inner>) -> Executors {
    Executors::default()
        .with::<ResearchAgent>(Echo)
        .with::<ChatAgent>(AfterBatch(Weak::clone(executor)))
}

/// Returns the executors of shipped agents that are a host's own.
#[cfg(all(feature = "agents", not(feature = "tools")))]
fn shipped(_: &Weak<Inner>) -> Executors {
    Executors::default().with::<ResearchAgent>(Echo).with::<ChatAgent>(Echo)
}

/// Without the feature `agents` none ships.
#[cfg(not(feature = "agents"))]
fn shipped(_: &Weak<Inner>) -> Executors {
    Executors::default()
}

impl EffectExecutor for LocalExecutor {
    fn model(&self) -> &str {
        self.0.model.name()
    }

    fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    fn watch(&self) -> Option<ResourceWatch> {
        let folder = self.0.journal.parent().unwrap_or(&self.0.journal);
        self.0.watch.clone().map(|limits| ResourceWatch::new(limits, folder))
    }

    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture {
        match task {
            EffectTask::Model(prompt) => {
                let offered = |spec: &ToolSpec| prompt.tools.contains(&spec.name);
                let known = self.specs().into_iter();
                #[cfg(feature = "tools")]
                let known = known.chain([plan::phase_complete()]);
                let tools = known.filter(offered).collect();
                let question = ModelRequest { prompt, tools, key: permit.to_string() };
                self.0.executors.ask(&permit, question, &self.0.model, shown)
            }
            EffectTask::Tool(call) => {
                let executor = self.clone();
                Box::pin(async move { executor.call(&permit, &call, &shown).await })
            }
            EffectTask::Child(child) => Box::pin(child::run(self.clone(), permit, child, shown)),
            EffectTask::Own(task) => self.0.executors.perform(permit, &task),
        }
    }

    fn check(&self, run: &RunId, call: &ToolCall) -> Option<PrecheckFuture> {
        let (executor, run, call) = (self.clone(), run.clone(), call.clone());
        Some(Box::pin(async move { executor.cannot_run(&run, &call).await }))
    }

    fn paused(&self, run: &RunId, paused: bool) {
        self.0.pauses.tell(run, paused);
    }

    fn ended(&self, agent: &AgentDecl, run: &RunId, how: Disposition) -> CleanupFuture {
        self.0.pauses.forget(run);
        self.0.rules.forget(run);
        #[cfg(feature = "tools")]
        self.0.records.forget(run);
        self.0.executors.ended(agent.name, run, how)
    }
}
