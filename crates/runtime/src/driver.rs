//! The loop around a run: one event in, one entry written, its effects out.
//!
//! Six steps, and the comments below carry their numbers: (1) wait for one event;
//! (2) step; (3) see what it took; (4) write the entry and wait until it is on disk;
//! (5) start its effects; (6) tell those who watch.

mod load;

pub use load::{Loaded, fold, fold_each};

use std::{collections::BTreeMap, sync::Arc};

use pointsman_kernel::{
    Took,
    agent::{ModelCall, ToolCall},
    chart::{Chart, Disposition},
    effect::Hop,
    erased::{AnyRun, NotStepped, Stepped},
    event::Begun,
    governor::Verdict,
    id::{Digest, EffectId},
    journal::{Entry, FORMAT},
    replay::Divergence,
};
use serde::Deserialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use thiserror::Error;
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    clock::{Clock, now_ms},
    perform::{Done, Perform, Task},
    store::{Append, Opening, RunId, Store, StoreError},
};

/// Entries between two snapshots.
const SNAPSHOT_EVERY: u64 = 256;

/// Why a run cannot be driven on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The store failed. The run is as it was at its last entry.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal and this build disagree.
    #[error("the journal of run {run} cannot be replayed")]
    Diverged {
        /// The run.
        run: RunId,
        /// Where.
        #[source]
        source: Divergence,
    },
    /// The first event was refused.
    #[error("the run cannot begin: {0}")]
    NotBegun(#[source] NotStepped),
    /// No agent of this build has these jobs.
    #[error("no agent is called `{0}`")]
    NoAgent(String),
}

/// What those who watch are told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// An entry was written.
    Stepped {
        /// The transitions taken.
        hops: Vec<Hop>,
        /// What the governor ruled.
        verdicts: Vec<Verdict>,
    },
    /// An effect was started, in a few words.
    Started(EffectId, String),
    /// A person is asked about a call.
    Asked(EffectId, ToolCall, Digest),
    /// An event was refused. Nothing changed.
    Refused(String),
}

/// How a run stands that needs no more driving: how it ended, or nothing if it waits
/// for a person.
#[derive(Clone, Copy, Debug)]
pub struct Rest(pub Option<Disposition>);

/// A run that is being driven.
pub struct Driver {
    id: RunId,
    chart: Arc<Chart>,
    run: Box<dyn AnyRun>,
    store: Arc<Store>,
    performer: Arc<dyn Perform>,
    prev: Digest,
    clock: Clock,
    inbox: mpsc::UnboundedReceiver<Value>,
    outbox: mpsc::UnboundedSender<Value>,
    /// Effects under way; dropping a handle's task stops what it does.
    working: BTreeMap<EffectId, JoinHandle<()>>,
    watcher: Option<mpsc::UnboundedSender<Notice>>,
}

/// An effect, as a step orders it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Start(Start),
    AskPerson(ToolCall),
    Stop(EffectId),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Start {
    Model(ModelCall),
    Tool(ToolCall),
    Child(Value),
    Own { task: Value },
}

impl Driver {
    /// Begins a run: its first entry is on disk when this returns.
    pub async fn begin(
        store: Arc<Store>,
        performer: Arc<dyn Perform>,
        (chart, source): (Arc<Chart>, &str),
        id: RunId,
        begun: Begun,
        goal: &str,
        watcher: Option<mpsc::UnboundedSender<Notice>>,
    ) -> Result<Self, DriveError> {
        let row = pointsman_agents::ROWS.iter().find(|row| row.decl.name == chart.jobs());
        let row = row.ok_or_else(|| DriveError::NoAgent(chart.jobs().into()))?;
        let created_ms = now_ms();
        let opening = Opening {
            agent: row.decl.name.into(),
            chart: chart.name().into(),
            source: source.into(),
            goal: goal.into(),
            created_ms,
            forked: None,
        };
        let run = (row.start)(&chart);
        let clock = Clock::new(created_ms, run.core().now);
        let mut driver = Self::around(id, chart, run, store, performer, Digest::default(), clock);
        driver.watcher = watcher;
        driver
            .apply(&json!({ "begun": begun }), Some(opening))
            .await?
            .map_err(DriveError::NotBegun)?;
        Ok(driver)
    }

    fn around(
        id: RunId,
        chart: Arc<Chart>,
        run: Box<dyn AnyRun>,
        store: Arc<Store>,
        performer: Arc<dyn Perform>,
        prev: Digest,
        clock: Clock,
    ) -> Self {
        let (outbox, inbox) = mpsc::unbounded_channel();
        let working = BTreeMap::new();
        Self {
            id,
            chart,
            run,
            store,
            performer,
            prev,
            clock,
            inbox,
            outbox,
            working,
            watcher: None,
        }
    }

    /// Returns where events from outside can be sent, as JSON.
    pub fn inbox(&self) -> mpsc::UnboundedSender<Value> {
        self.outbox.clone()
    }

    /// Returns the run's id.
    pub const fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the chart.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// Returns the run.
    pub fn run(&self) -> &dyn AnyRun {
        &*self.run
    }

    /// Returns whether nothing but an event from outside can move the run.
    pub fn is_parked(&self) -> bool {
        // What is under way has a deadline, so the wake-up time says it all.
        self.inbox.is_empty() && self.run.core().wake.is_none()
    }

    /// Takes one event. Returns how the run stands once it has ended, or once only a
    /// person can move it.
    pub async fn turn(&mut self) -> Result<Option<Rest>, DriveError> {
        if self.run.core().ended.is_some() || self.is_parked() {
            return Ok(Some(Rest(self.run.core().ended)));
        }
        // 1. Wait for one event: an answer, something from outside, or the time.
        let wake = self.run.core().wake.map(|at| self.clock.until(at));
        let event = tokio::select! {
            Some(event) = self.inbox.recv() => event,
            () = sleep(wake) => json!("woke"),
        };
        if let Err(refused) = self.apply(&event, None).await? {
            self.tell(Notice::Refused(refused.to_string()));
        }
        Ok(None)
    }

    /// Applies one event: steps 2 to 6.
    async fn apply(
        &mut self,
        event: &Value,
        opening: Option<Opening>,
    ) -> Result<Result<(), NotStepped>, DriveError> {
        let event: Box<RawValue> = match to_raw_value(event) {
            Ok(event) => event,
            Err(error) => return Ok(Err(NotStepped::Unreadable(error.to_string()))),
        };
        // 2. Step. 3. A late event changes nothing, and a refused one is told.
        let (seq, at) = (self.run.core().next, self.clock.now());
        let stepped = match self.run.step(&self.chart, seq, at, &event) {
            Ok(Stepped { took: Took::Ignored(_), .. }) => return Ok(Ok(())),
            Ok(stepped) => stepped,
            Err(refused) => return Ok(Err(refused)),
        };
        // 4. Write, and wait until it is on disk.
        let hops = stepped.hops.clone();
        let entry = Entry {
            v: FORMAT,
            seq,
            at,
            event: &event,
            hops,
            effects: stepped.digest,
            prev: self.prev,
        };
        let append = self.entry(entry.line());
        let committed = match opening {
            Some(opening) => self.store.begin(append, opening).await?,
            None => self.store.append(append).await?,
        };
        self.prev = committed.link();
        // 5. Start what was ordered. 6. Tell those who watch; of the transition first, so
        // that they see a state before what is started in it.
        self.tell(Notice::Stepped { hops: stepped.hops, verdicts: stepped.verdicts });
        for (id, order) in &stepped.effects {
            self.start(*id, order);
        }
        Ok(Ok(()))
    }

    fn entry(&self, line: String) -> Append {
        let core = self.run.core();
        let seq = pointsman_kernel::id::Seq(core.next.0.saturating_sub(1));
        let due = core.ended.is_some() || seq.0.is_multiple_of(SNAPSHOT_EVERY);
        let snapshot = if due { self.run.snapshot().ok() } else { None };
        Append {
            run: self.id.clone(),
            seq,
            line,
            state: self.chart.state_name(core.state).into(),
            ended: core.ended,
            wake: core.wake.map(|wake| wake.0),
            snapshot: snapshot.map(|body| body.get().into()),
            prompts: Vec::new(),
            letter: None,
        }
    }

    /// Starts, asks or stops: the entry that orders it is on disk.
    fn start(&mut self, id: EffectId, order: &RawValue) {
        // The kernel serialised it a moment ago.
        let Ok(order) = serde_json::from_str::<Order>(order.get()) else { return };
        match order {
            Order::Stop(effect) => {
                if let Some(task) = self.working.remove(&effect) {
                    task.abort();
                }
            }
            Order::AskPerson(call) => {
                let identity = pointsman_kernel::governor::identity(&call);
                self.tell(Notice::Asked(id, call, identity));
            }
            Order::Start(start) => self.work(id, start),
        }
    }

    fn work(&mut self, id: EffectId, start: Start) {
        let (task, words) = match start {
            Start::Model(call) => {
                let words = format!("asks {}", self.performer.model());
                (Task::Model(self.run.prompt(&self.chart, &call)), words)
            }
            Start::Tool(call) => {
                let words = format!("calls {} {}", call.tool, call.arguments.get());
                (Task::Tool(call), words)
            }
            Start::Child(child) => (Task::Own(child), "starts a child run".to_owned()),
            Start::Own { task } => {
                let words = format!("does {}", name(&task));
                (Task::Own(task), words)
            }
        };
        self.tell(Notice::Started(id, words));
        let doing = self.performer.perform(task);
        let outbox = self.outbox.clone();
        let work = tokio::spawn(async move {
            let Done { answer, usage } = doing.await;
            let event = json!({ "answered": { "effect": id, "answer": answer, "usage": usage } });
            // Where nobody listens any more, the run is being put down.
            drop(outbox.send(event));
        });
        self.working.retain(|_, task| !task.is_finished());
        self.working.insert(id, work);
    }

    fn tell(&self, notice: Notice) {
        if let Some(watcher) = &self.watcher {
            drop(watcher.send(notice));
        }
    }
}

impl Drop for Driver {
    /// Stops what is under way: a run that nobody drives does nothing.
    fn drop(&mut self) {
        for task in self.working.values() {
            task.abort();
        }
    }
}

/// Returns the name of a task of the agent's own: its tag.
fn name(task: &Value) -> &str {
    match task {
        Value::String(name) => name,
        Value::Object(map) => map.keys().next().map_or("something", String::as_str),
        _ => "something",
    }
}

/// Sleeps for so long, or for ever.
async fn sleep(duration: Option<std::time::Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => std::future::pending().await,
    }
}
