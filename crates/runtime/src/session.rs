//! Runs on this machine, for blocking callers: start, resume, replay, fork.

use std::{path::Path, path::PathBuf, sync::Arc};

use pointsman_kernel::{
    agents::{Agents, Program},
    body::Body,
    chart::Charge,
    governor::Permissions,
    id::Seq,
    turn::TurnError,
};
use tokio::{runtime::Handle, sync::mpsc};

#[cfg(feature = "sqlite")]
use crate::store::{SqliteOptions, SqliteStore};
use crate::{
    driver::{DriverContext, Loaded, PreparedRun, RunStatus, fold},
    engine::{self, Engine, EngineConfig},
    entry::begun,
    local_executor::{LocalExecutor, Workspace},
    observe::{Observer, Question},
    store::{PruneOptions, PruneReport, RemovedRuns, RunId, Store, StoreError},
};

mod answers;
mod approver;
mod converse;
mod denied_unattended;
mod drive;
#[cfg(feature = "sqlite")]
mod dry_run;
pub(crate) mod end;
mod error;
mod message;
mod replay;
mod restore;
mod signals;
mod threads;
mod transcript;

pub use answers::{due, overdue};
pub use approver::{ApprovalDecision, ApprovalRequest, Approver, ApproverReply, Unattended};
pub use converse::{CommandSender, ConversationHandle, Persistence, Receipt};
pub use drive::approval;
pub use error::SessionError;
pub use message::Delivery;

pub(crate) use converse::messages_and_end;
use drive::Pressed;
pub(crate) use drive::outcome;
#[cfg(feature = "sqlite")]
pub use dry_run::{DryRun, dry_run};
pub(crate) use end::end_children;
pub use replay::{ReplayReport, replay};
pub use restore::restore;
use threads::Threads;
#[cfg(feature = "agents")]
pub use transcript::plan_of;

/// The options of a new run on this machine.
#[derive(Debug)]
pub struct StartOptions {
    /// Its chart, bound to its agent.
    pub program: Program,
    /// The chart's text.
    pub source: Box<str>,
    /// The agent's configuration.
    pub config: Body,
    /// Its goal, for people.
    pub goal: Box<str>,
    /// The messages for a conversational agent: the bodies of its first event. A
    /// [`run`](Session::run) gives it these, and then the end of the input.
    pub words: Vec<Body>,
    /// Permission rules.
    pub permissions: Permissions,
    /// Seed for retry jitter; random if none is given.
    pub seed: Option<u64>,
}

/// The status of a run when a session detaches from it.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// Its state.
    pub state: Box<str>,
    /// Its entries.
    pub steps: u64,
    /// Its status.
    pub status: RunStatus,
    /// Whether it is paused.
    pub paused: bool,
    /// The open questions.
    pub questions: Vec<Question>,
    /// Milliseconds since it began.
    pub elapsed_ms: u64,
    /// Its result.
    pub result: Option<String>,
    /// The same as data, for agents whose result is more than text.
    pub report: Option<Body>,
    /// Why its last turn has no answer, where it has none.
    pub error: Option<TurnError>,
}

/// A run at one of its entries, with its chart.
pub struct RecalledRun {
    /// Its chart, bound to its agent.
    pub program: Program,
    /// Its lines, up to the entry that was asked for.
    pub lines: Vec<String>,
    /// The run after the last of them.
    pub loaded: Loaded,
}

/// The journals and tools of one machine.
#[derive(Debug)]
pub struct Session {
    agents: Arc<Agents>,
    store: Arc<dyn Store>,
    name: Box<str>,
    journal: PathBuf,
    cache: PathBuf,
    threads: Threads,
}

impl Session {
    /// Opens the journals in one file, with a folder for caches. Runs can be of these agents.
    #[cfg(feature = "sqlite")]
    pub fn open(agents: Agents, journal: &Path, cache: &Path) -> Result<Self, SessionError> {
        Self::open_with(agents, journal, cache, &SqliteOptions::default())
    }

    /// Opens the journals in one file with settings, with a folder for caches.
    #[cfg(feature = "sqlite")]
    pub fn open_with(
        agents: Agents,
        journal: &Path,
        cache: &Path,
        options: &SqliteOptions,
    ) -> Result<Self, SessionError> {
        let threads = Threads::start()?;
        let store = Arc::new(SqliteStore::open_with(journal, options)?);
        let name = journal.display().to_string().into();
        let (agents, journal, cache) = (Arc::new(agents), journal.into(), cache.into());
        Ok(Self { agents, store, name, journal, cache, threads })
    }

    /// Opens another store, with a name for people; `open` is awaited on this session's threads.
    /// Local files, such as screenshots, are stored beside `journal`.
    pub fn over(
        agents: Agents,
        name: &str,
        open: impl Future<Output = Result<Arc<dyn Store>, StoreError>>,
        journal: &Path,
        cache: &Path,
    ) -> Result<Self, SessionError> {
        let threads = Threads::start()?;
        let store = threads.block_on(open)?;
        let (agents, journal, cache) = (Arc::new(agents), journal.into(), cache.into());
        Ok(Self { agents, store, name: name.into(), journal, cache, threads })
    }

    /// Waits for a future on this session's threads. What blocks, as the other methods do,
    /// must be left to `tokio::task::spawn_blocking` in it.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.threads.block_on(future)
    }

    /// Returns the agents that runs can be of.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns the store, to read from.
    pub const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Starts a run and drives it until it ends or waits for a person who is absent.
    pub fn run(
        &self,
        executor: &LocalExecutor,
        start: StartOptions,
        observers: Vec<Arc<dyn Observer>>,
        approver: &mut dyn Approver,
    ) -> Result<RunSummary, SessionError> {
        let engine = self.engine(executor);
        let words = messages_and_end(start.program.agent(), &start.words);
        let beginning = PreparedRun { words, ..engine.beginning(start)? };
        self.threads.block_on(async {
            let (handle, commands) = mpsc::unbounded_channel();
            let _pressed = Pressed::listen(handle.downgrade())?;
            let driver = engine.begin(beginning, observers).await?;
            drive::attended(driver, commands, approver).await
        })
    }

    /// Resumes an interrupted or waiting run.
    pub fn resume(
        &self,
        executor: &LocalExecutor,
        id: &RunId,
        observers: Vec<Arc<dyn Observer>>,
        approver: &mut dyn Approver,
    ) -> Result<RunSummary, SessionError> {
        self.resume_granting(executor, id, &[], observers, approver)
    }

    /// Resumes a run with additional budget.
    pub fn resume_granting(
        &self,
        executor: &LocalExecutor,
        id: &RunId,
        grants: &[(Charge, u64)],
        observers: Vec<Arc<dyn Observer>>,
        approver: &mut dyn Approver,
    ) -> Result<RunSummary, SessionError> {
        let engine = self.engine(executor);
        self.threads.block_on(async {
            let (handle, commands) = mpsc::unbounded_channel();
            let _pressed = Pressed::listen(handle.downgrade())?;
            let driver = engine.take_up(id, grants, observers).await?;
            drive::attended(driver, commands, approver).await
        })
    }

    /// Removes ended runs, or lists them. The caller removes files that executors have stored
    /// elsewhere.
    pub fn prune(&self, prune: PruneOptions) -> Result<PruneReport, SessionError> {
        Ok(self.threads.block_on(self.store.prune(prune))?)
    }

    /// Removes a run with its children in any state. The caller removes files that executors have
    /// stored elsewhere.
    pub fn remove(&self, id: &RunId) -> Result<RemovedRuns, SessionError> {
        let removed = self.threads.block_on(self.store.remove(id))?;
        removed.ok_or_else(|| SessionError::Held { run: id.clone() })
    }

    /// Creates a run that shares another's entries up to one of them: by default all of an active
    /// run, and all but the end of one that has ended.
    pub fn fork(&self, id: &RunId, at: Option<Seq>) -> Result<RunId, SessionError> {
        self.block_on(engine::fork(&*self.store, id, at))
    }

    /// Returns what drives runs with this host.
    fn engine(&self, executor: &LocalExecutor) -> Engine {
        let (agents, store) = (Arc::clone(&self.agents), Arc::clone(&self.store));
        Engine { agents, store, executor: executor.clone() }
    }

    /// Returns a context without executors: for runs that are only ended or paused.
    fn idle(&self) -> DriverContext {
        end::idle(&self.agents, &self.store)
    }

    /// Returns a run after an entry, or now, and checks every byte of its lines.
    pub fn recall(&self, id: &RunId, until: Option<Seq>) -> Result<RecalledRun, SessionError> {
        let program = self.program(id)?;
        let mut lines = self.block_on(self.store.lines(id, Seq(0)))?;
        cut(&mut lines, id, until)?;
        let loaded = fold(&program, id, &lines)?;
        Ok(RecalledRun { program, lines, loaded })
    }

    /// Returns the status of a run by its journal.
    pub fn summary(&self, id: &RunId) -> Result<RunSummary, SessionError> {
        let RecalledRun { program, loaded, .. } = self.recall(id, None)?;
        let questions = loaded.questions();
        let run = loaded.run;
        let core = run.core();
        let status = match core.ended {
            Some(ended) => RunStatus::Ended(ended),
            None if questions.is_empty() => RunStatus::Waiting,
            None => RunStatus::Asking,
        };
        Ok(RunSummary {
            run: id.clone(),
            state: program.state_name(core.state).into(),
            steps: core.next.0.saturating_sub(1),
            status,
            paused: core.paused,
            questions,
            elapsed_ms: core.now.0,
            result: run.result(),
            report: run.report(),
            error: run.turn_error().cloned(),
        })
    }

    /// Returns where a run works and with what, as it began; older runs do not say.
    pub fn place(&self, id: &RunId) -> Result<Option<Workspace>, SessionError> {
        let place = self.block_on(begun(&*self.store, id))?.and_then(|begun| begun.place);
        Ok(place.and_then(|place| serde_json::from_str(place.get()).ok()))
    }

    /// Returns the chart that a run was started with, bound to its agent.
    pub fn program(&self, id: &RunId) -> Result<Program, SessionError> {
        self.block_on(program(&self.agents, &*self.store, id))
    }

    /// Sets a host up for a run.
    pub fn executor(&self, config: EngineConfig) -> Result<LocalExecutor, SessionError> {
        let (agents, store) = (Arc::clone(&self.agents), Arc::clone(&self.store));
        let executor = LocalExecutor::open(config, agents, store, self.journal.clone());
        Ok(self.threads.block_on(executor)?)
    }

    /// Returns the folder for caches.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns where the journals are, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the journal file. With another store, local files are beside that path.
    pub fn journal(&self) -> &Path {
        &self.journal
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A runtime must not block on another one; there the leases expire.
        if Handle::try_current().is_err() {
            self.threads.block_on(self.store.settle());
        }
    }
}

/// Cuts a journal after an entry.
fn cut(lines: &mut Vec<String>, id: &RunId, until: Option<Seq>) -> Result<(), SessionError> {
    let Some(until) = until else { return Ok(()) };
    let wanted = usize::try_from(until.0).unwrap_or(usize::MAX);
    if wanted == 0 || wanted > lines.len() {
        let (run, has) = (id.clone(), lines.len());
        return Err(SessionError::NoSuchEntry { run, has, asked: until });
    }
    lines.truncate(wanted);
    Ok(())
}

/// Returns the chart that a run was started with, bound to its agent.
pub(crate) async fn program(
    agents: &Agents,
    store: &dyn Store,
    id: &RunId,
) -> Result<Program, SessionError> {
    let source = store.chart_source(id).await?;
    agents.verify(&source).map_err(|why| SessionError::Chart { run: id.clone(), why })
}

/// Returns the version of the library that keeps the journals.
#[cfg(feature = "sqlite")]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
