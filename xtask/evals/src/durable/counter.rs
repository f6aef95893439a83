//! Runs of the counter through the real driver and store.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};
use pointsman_kernel::{
    agent::{ChildEnd, FaultClass},
    agents::Program,
    chart::Disposition,
    governor::Permissions,
    id::Seq,
};
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{SqliteStore, Store},
};
use pointsman_testing::script::begun;
use serde_json::json;
use tokio::runtime::Runtime;

/// Answers at once, so that nothing but the step is measured.
pub(crate) struct AtOnce;

impl EffectExecutor for AtOnce {
    fn model(&self) -> &'static str {
        "nobody"
    }

    fn perform(&self, _: Permit, task: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(async move {
            match task {
                EffectTask::Child(_) => Completion::child(ChildEnd {
                    ended: Disposition::Succeeded,
                    result: "one".into(),
                }),
                _ => Completion::fault(
                    FaultClass::Contract,
                    false,
                    "the counter orders nothing else",
                ),
            }
        })
    }
}

/// The counter's chart, as runs begin with it.
pub(crate) struct Plan {
    program: Arc<Program>,
    source: Box<str>,
}

impl Plan {
    pub(crate) fn read() -> Result<Self> {
        let source = super::chart()?;
        let program = pointsman_agents::all().verify(&source);
        let program = program.map_err(|refused| anyhow!("the counter is refused: {refused:?}"))?;
        Ok(Self { program: Arc::new(program), source: source.into() })
    }

    pub(crate) async fn begin<S: Store>(&self, store: &Arc<S>) -> Result<Driver> {
        Ok(Driver::begin(context(store), self.prepared()).await?)
    }

    /// Returns a new run of it.
    pub(crate) fn prepared(&self) -> PreparedRun {
        let begun = begun(&self.program, Permissions::allow_all(), &json!({ "goal": "count" }));
        let (program, source) = (Arc::clone(&self.program), self.source.clone());
        PreparedRun {
            id: new_run_id(),
            program,
            source,
            goal: "count".into(),
            words: Vec::new(),
            begun,
        }
    }
}

/// Returns a context that answers at once and has no observers.
pub(crate) fn context<S: Store>(store: &Arc<S>) -> DriverContext {
    let agents = Arc::new(pointsman_agents::all());
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    DriverContext { agents, store, executor: Arc::new(AtOnce), observers: Vec::new() }
}

/// One run of the counter.
pub(super) struct Counter {
    threads: Runtime,
    store: Arc<SqliteStore>,
    driver: Driver,
}

impl Counter {
    pub(super) fn open(journal: &Path) -> Result<Self> {
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let store = Arc::new(SqliteStore::open_with(journal, &super::options())?);
        let driver = threads.block_on(Plan::read()?.begin(&store))?;
        Ok(Self { threads, store, driver })
    }

    /// Takes one step, and returns how long it took until it was on disk.
    pub(super) fn step(&mut self) -> Result<Duration> {
        let before = self.driver.run().core().next;
        let started = Instant::now();
        self.threads.block_on(self.driver.turn())?;
        let took = started.elapsed();
        ensure!(self.driver.run().core().next > before, "a turn was no step");
        Ok(took)
    }

    /// Takes a few steps, and returns the bytes of the entry of the last.
    pub(super) fn bytes_of_a_step(&mut self) -> Result<usize> {
        for _ in 0..3 {
            self.step()?;
        }
        let lines = self.store.reader().lines(self.driver.id(), Seq(0))?;
        lines.last().map(String::len).ok_or_else(|| anyhow!("a run that was stepped has lines"))
    }
}
