//! The engine: runs for programs that await.
//!
//! It has no threads of its own, handles no signals and blocks no caller: it works on any async
//! runtime, even with a single thread. The embedding program provides agents, tools, a store and a
//! model; the command line is such a program.
//!
//! ```no_run
//! # use pointsman_kernel::agents::Agents;
//! # use pointsman_runtime::{engine::{Engine, EngineError}, session::StartOptions, store::MemoryStore};
//! # async fn runs(agents: Agents, start: StartOptions) -> Result<(), EngineError> {
//! let engine = Engine::builder(MemoryStore::new()).agents(agents).build().await?;
//! let mut run = engine.start(start).await?;
//! while let Some(notice) = run.next().await {
//!     println!("{notice:?}");
//! }
//! # Ok(())
//! # }
//! ```

mod config;
mod handle;

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_kernel::{
    agent::Agent,
    agents::Agents,
    body::Body,
    chart::Charge,
    event::{Event, RunConfig},
    id::Seq,
    journal::{Entry, body},
};

#[cfg(feature = "mcp")]
use crate::mcp::McpError;
pub use crate::session::SessionError as EngineError;
use crate::{
    clock::{entropy, run_id_at},
    driver::{DriveError, Driver, DriverContext, PreparedRun, written},
    executor::{Executor, Executors},
    inspect::Inspector,
    local_executor::LocalExecutor,
    model,
    observe::Observer,
    scheduler::{DriverContexts, SchedulerError},
    session::{StartOptions, messages_and_end, program},
    store::{
        Changes, Filter, Lease, MessageId, Page, QueueOptions, RunId, RunList, RunRow, Store,
        StoreError,
    },
    timeline::Timeline,
    tool::{self, Tool, Toolbox},
    watch,
};
#[cfg(feature = "mcp")]
pub use config::ApprovedServers;
pub use config::EngineConfig;
pub use handle::RunHandle;
pub(crate) use handle::{DrivenRun, talking, until_end};

/// How often a run that seems to be driven elsewhere is tried again, and after how long.
pub(crate) const CLAIM_TRIES: u32 = 10;
pub(crate) const CLAIM_PAUSE: Duration = Duration::from_millis(50);

/// Drives runs. It can be cloned; runs continue after it is dropped, as long as their handles
/// exist.
#[derive(Clone)]
pub struct Engine {
    pub(crate) agents: Arc<Agents>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) executor: LocalExecutor,
}

impl Engine {
    /// Begins to set an engine up over a store.
    pub fn builder(store: impl Store) -> Builder {
        let model = model::ModelSettings::new(model::Spec::quote());
        let config = EngineConfig::new(model, tool::ToolSettings::within("."));
        Builder {
            store: Arc::new(store),
            agents: Agents::default(),
            config,
            tools: Toolbox::empty(),
            executors: Executors::default(),
            watched: None,
        }
    }

    /// Sets an engine up over a store that others use, too. `journal` names the disk that is watched.
    pub async fn open(
        agents: Arc<Agents>,
        store: Arc<dyn Store>,
        config: EngineConfig,
        journal: PathBuf,
    ) -> Result<Self, EngineError> {
        let shared = (Arc::clone(&agents), Arc::clone(&store));
        let executor = LocalExecutor::open(config, shared.0, shared.1, journal).await?;
        Ok(Self { agents, store, executor })
    }

    /// Returns the MCP servers that were skipped, each with the reason.
    #[cfg(feature = "mcp")]
    pub fn refused_servers(&self) -> &[(String, McpError)] {
        self.executor.refused()
    }

    /// Returns the agents that runs can be of.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns the store, to read from.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Begins a run. Its first entry is written when this returns.
    pub async fn start(&self, start: StartOptions) -> Result<RunHandle, EngineError> {
        let (told, notices) = handle::notices();
        let driver = self.begin(self.beginning(start)?, vec![told]).await?;
        RunHandle::drive(driver, notices).await
    }

    /// Resumes a run without an owner: one that was interrupted, waits, or is paused.
    pub async fn resume(&self, run: &RunId) -> Result<RunHandle, EngineError> {
        let (told, notices) = handle::notices();
        let program = Arc::new(program(&self.agents, &*self.store, run).await?);
        let lease = self.claim(run).await?;
        self.unpause(&lease).await?;
        let heard = self.store.messages(run).await?.is_empty();
        let driver = Driver::rejoin(self.context(vec![told]), program, lease, heard).await?;
        RunHandle::drive(driver, notices).await
    }

    /// Queues a run for any [scheduler](crate::scheduler) over this store, and returns its id. An
    /// agent that listens hears the words and then that there are no more; without words its
    /// conversation stays open. A second request of the same name makes no second run: the first
    /// one's id is returned.
    pub async fn submit(
        &self,
        start: StartOptions,
        request: Option<Box<str>>,
        queue: QueueOptions,
    ) -> Result<RunId, EngineError> {
        let words = messages_and_end(start.program.agent(), &start.words);
        let beginning = PreparedRun { words, ..self.beginning(start)? };
        let run = beginning.id.clone();
        match Driver::submit(self.context(Vec::new()), beginning, request, queue).await {
            Err(DriveError::Store(StoreError::Repeated { run })) => Ok(run),
            submitted => Ok(submitted.map(|()| run)?),
        }
    }

    /// Creates a run that shares another's entries up to one of them: by default all of an active
    /// run, and all but the end of one that has ended.
    pub async fn fork(&self, run: &RunId, at: Option<Seq>) -> Result<RunId, EngineError> {
        fork(&*self.store, run, at).await
    }

    /// Sends an event to a run. Its task takes it, in this process or another one; without an
    /// owner, the event waits until a process resumes the run.
    pub async fn send(&self, run: &RunId, event: &Event<Body>) -> Result<MessageId, EngineError> {
        Ok(self.store.send(run, &written(event)).await?)
    }

    /// Lists runs, the newest first.
    pub async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, EngineError> {
        Ok(self.store.list(filter, page).await?)
    }

    /// Reads the timeline of a run after an entry: 0 for all of it. The reader can continue while the
    /// run does, here or in another process.
    pub async fn timeline(&self, run: &RunId, after: Seq) -> Result<Timeline, EngineError> {
        Timeline::open(&self.agents, Arc::clone(&self.store), run, after).await
    }

    /// Reads a run at any of its entries: its state, data and budgets, and why the step went the way
    /// it did.
    pub async fn inspect(&self, run: &RunId) -> Result<Inspector, EngineError> {
        Inspector::open(&self.agents, Arc::clone(&self.store), run).await
    }

    /// Returns hints of what changes from now on, in this process and in others.
    pub async fn changes(&self) -> Result<Changes, EngineError> {
        Ok(self.store.changes().await?)
    }

    /// Returns a run that is to begin, with all that the host has to say about it.
    pub(crate) fn beginning(&self, start: StartOptions) -> Result<PreparedRun, EngineError> {
        let StartOptions { program, source, config, goal, words, permissions, seed } = start;
        let (agent, executor) = (program.agent(), &self.executor);
        let config = executor.configure(agent, &config, &permissions)?;
        let id = run_id_at(self.store.now_ms());
        let begun = RunConfig {
            chart: program.name().into(),
            version: program.version(),
            digest: program.digest(),
            seed: seed.unwrap_or_else(entropy),
            permissions,
            tools: executor.decls_for(agent),
            checks: true,
            queued: false,
            config: config.into(),
            place: Some(body(&executor.place_of(&id, agent))?),
        };
        let words = words.into_iter().map(|body| Event::Given { event: 0, body: body.into() });
        let (program, words) = (Arc::new(program), words.collect());
        Ok(PreparedRun { id, program, source, goal, words, begun })
    }

    pub(crate) async fn begin(
        &self,
        beginning: PreparedRun,
        observers: Vec<Arc<dyn Observer>>,
    ) -> Result<Driver, EngineError> {
        Ok(Driver::begin(self.context(observers), beginning).await?)
    }

    /// Resumes a run where its journal ends, with additional budget.
    pub(crate) async fn take_up(
        &self,
        run: &RunId,
        grants: &[(Charge, u64)],
        observers: Vec<Arc<dyn Observer>>,
    ) -> Result<Driver, EngineError> {
        let program = Arc::new(program(&self.agents, &*self.store, run).await?);
        let lease = self.claim(run).await?;
        self.unpause(&lease).await?;
        Ok(Driver::resume_granting(self.context(observers), program, lease, grants).await?)
    }

    /// Claims a run: see [`claim`].
    pub(crate) async fn claim(&self, run: &RunId) -> Result<Lease, EngineError> {
        claim(&*self.store, run).await
    }

    /// Withdraws pauses that the run has not taken yet, because it is being resumed.
    pub(crate) async fn unpause(&self, lease: &Lease) -> Result<(), EngineError> {
        for message in self.store.messages(lease.run()).await? {
            if matches!(message.event(), Ok(Event::Paused { .. })) {
                self.store.discard(lease, message.id).await?;
            }
        }
        Ok(())
    }

    pub(crate) fn context(&self, observers: Vec<Arc<dyn Observer>>) -> DriverContext {
        let (agents, store) = (Arc::clone(&self.agents), Arc::clone(&self.store));
        DriverContext { agents, store, executor: Arc::new(self.executor.clone()), observers }
    }
}

/// One engine for all runs: one folder, one model.
#[async_trait]
impl DriverContexts for Engine {
    async fn context(&self, _: &RunId) -> Result<DriverContext, SchedulerError> {
        Ok(Self::context(self, Vec::new()))
    }
}

/// Sets an engine up.
#[derive(Debug)]
pub struct Builder {
    store: Arc<dyn Store>,
    agents: Agents,
    config: EngineConfig,
    tools: Toolbox,
    executors: Executors,
    watched: Option<PathBuf>,
}

impl Builder {
    /// Sets the agents that runs can be of, with their charts.
    #[must_use]
    pub fn agents(mut self, agents: Agents) -> Self {
        self.agents = agents;
        self
    }

    /// Sets everything that settings can say. Tools and executors that were added stay.
    #[must_use]
    pub fn config(mut self, config: EngineConfig) -> Self {
        self.config = config;
        self
    }

    /// Adds what carries out the tasks of an agent's own.
    #[must_use]
    pub fn executor<A: Agent>(mut self, executor: impl Executor<A>) -> Self {
        self.executors = self.executors.with::<A>(executor);
        self
    }

    /// Adds a tool. Of two with one name the last counts.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools = self.tools.with([Arc::new(tool) as Arc<dyn Tool>]);
        self
    }

    /// Sets the workspace of the tools, and how far they go. Tools that were added stay.
    #[must_use]
    pub fn workspace(mut self, tools: tool::ToolSettings) -> Self {
        self.config.tools = tools;
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: model::ModelSettings) -> Self {
        self.config.model = model;
        self
    }

    /// Pauses runs while the machine is short of something; the folder selects the disk.
    #[must_use]
    pub fn watch(mut self, limits: watch::ResourceLimits, folder: impl Into<PathBuf>) -> Self {
        self.config.watch = Some(limits);
        self.watched = Some(folder.into());
        self
    }

    /// Sets the engine up.
    pub async fn build(self) -> Result<Engine, EngineError> {
        let Self { store, agents, mut config, tools, executors, watched } = self;
        config.tools.toolbox = config.tools.toolbox.with(tools.iter().cloned());
        config.executors = config.executors.and(executors);
        let folder = watched.unwrap_or_else(|| config.tools.root.clone());
        Engine::open(Arc::new(agents), store, config, folder.join("journal")).await
    }
}

/// Claims a run. A process that only asks whether a run has an owner claims it for a moment: this
/// waits until that is over.
pub(crate) async fn claim(store: &dyn Store, run: &RunId) -> Result<Lease, EngineError> {
    for _ in 0..CLAIM_TRIES {
        if let Some(lease) = store.claim(run).await? {
            return Ok(lease);
        }
        tokio::time::sleep(CLAIM_PAUSE).await;
    }
    Err(EngineError::Held { run: run.clone() })
}

/// Returns the entry at which a run is forked by default: the last one of an open run, and the one before
/// the end of an ended run. A run that ended with its first entry has none.
pub(crate) fn fork_entry(row: &RunRow) -> Option<Seq> {
    let last = if row.ended.is_some() { row.seq.0.saturating_sub(1) } else { row.seq.0 };
    (last > 0).then_some(Seq(last))
}

/// Makes a run that shares another's entries up to one of them.
pub(crate) async fn fork(
    store: &dyn Store,
    id: &RunId,
    at: Option<Seq>,
) -> Result<RunId, EngineError> {
    let row = store.run(id).await?;
    let last = fork_entry(&row);
    let Some(at) = at.or(last) else {
        return Err(EngineError::NothingToFork { run: id.clone() });
    };
    let last = last.map_or(0, |last| last.0);
    if at.0 == 0 || at.0 > row.seq.0 {
        let has = usize::try_from(row.seq.0).unwrap_or(usize::MAX);
        return Err(EngineError::NoSuchEntry { run: id.clone(), has, asked: at });
    }
    if at.0 > last {
        return Err(EngineError::ForkOfTheEnd { run: id.clone(), last: Seq(last) });
    }
    // The clock continues from the entry, as if the run had begun that much earlier.
    let lines = store.page(id, Seq(at.0 - 1), 1).await?;
    let entry = lines.first().and_then(|line| Entry::read(line).ok());
    let now_ms = store.now_ms();
    let begun = now_ms.saturating_sub(entry.map_or(0, |entry| entry.at.0));
    let child = run_id_at(now_ms);
    store.fork(id, at, child.clone(), begun).await?;
    Ok(child)
}
