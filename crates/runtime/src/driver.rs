//! The loop around a run: one event in, one entry written, its effects out.
//!
//! Six steps, and the comments below carry their numbers: (1) wait for one event;
//! (2) step; (3) see what it took; (4) write the entry and wait until it is on disk;
//! (5) start its effects; (6) tell those who watch.

mod letter;
mod load;
pub(crate) mod say;
mod tell;
mod work;
mod write;

pub use load::{Loaded, fold, fold_each};
pub(crate) use load::{go_on, unread};
pub use say::Said;
pub(crate) use work::{Order, Start, answered};

use std::{collections::BTreeMap, future::poll_fn, sync::Arc};

use pointsman_kernel::{
    Took,
    chart::{Chart, Disposition, Does, State},
    erased::{AgentRow, AnyRun, NotStepped, Stepped},
    event::Begun,
    id::{Digest, EffectId, Seq},
    journal::{Entry, FORMAT},
    replay::Divergence,
    run::{Core, Doing, Item},
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use thiserror::Error;
use tokio::sync::mpsc;

use crate::{
    clock::{Clock, now_ms},
    observe::{Notice, Observer, Question},
    perform::Perform,
    store::{Append, Committed, LetterId, Opening, RunId, Store, StoreError},
};
use tell::Tally;
use work::{Moved, Ordered, Working};

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
    /// Going on was refused, which only another build's journal can bring about.
    #[error("run {run} cannot go on: {source}")]
    NotResumed {
        /// The run.
        run: RunId,
        /// Why.
        source: NotStepped,
    },
    /// No agent of this build has these jobs.
    #[error("no agent is called `{0}`")]
    NoAgent(String),
}

/// Where runs are driven: what keeps them, what acts for them, who watches them.
#[derive(Clone)]
pub struct Site {
    /// What keeps them.
    pub store: Arc<Store>,
    /// What acts for them.
    pub performer: Arc<dyn Perform>,
    /// Who watches them.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// A run that is to begin.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Its id.
    pub id: RunId,
    /// The chart.
    pub chart: Arc<Chart>,
    /// The chart's text, kept with the run so that it can always be read.
    pub source: Box<str>,
    /// What it is for, for people.
    pub goal: Box<str>,
    /// Events that it is to hear when it listens: letters, on disk with its first entry.
    pub words: Vec<Value>,
    /// Its first event.
    pub begun: Begun,
}

/// How a run stands between two events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Standing {
    /// Something is under way, or will be at a known time.
    Moving,
    /// It waits for an event from outside: a person's word, or the end of a pause.
    Waiting,
    /// A person must answer before anything goes on.
    Asking,
    /// It has ended.
    Ended(Disposition),
}

/// A run that is being driven.
pub struct Driver {
    id: RunId,
    chart: Arc<Chart>,
    run: Box<dyn AnyRun>,
    site: Site,
    prev: Digest,
    clock: Clock,
    inbox: mpsc::UnboundedReceiver<Value>,
    outbox: mpsc::UnboundedSender<Value>,
    /// Orders that an item waits for, with what is being done about them: it is moved on
    /// in [`next`](Self::next), and dropping it stops it.
    open: BTreeMap<EffectId, Working>,
    tally: Tally,
    /// The letter that the event at hand came in.
    letter: Option<LetterId>,
}

impl Driver {
    /// Begins a run: its first entry is on disk when this returns.
    pub async fn begin(site: Site, beginning: Beginning) -> Result<Self, DriveError> {
        let Beginning { id, chart, source, goal, words, begun } = beginning;
        let row = row(&chart)?;
        let created_ms = now_ms();
        let opening = Opening {
            agent: row.decl.name.into(),
            chart: chart.name().into(),
            source,
            goal,
            created_ms,
            letters: words.iter().map(|word| word.to_string().into()).collect(),
            forked: None,
        };
        let run = (row.start)(&chart);
        let clock = Clock::new(created_ms, run.core().now);
        let mut driver = Self::around(id, chart, run, site, Digest::default(), clock);
        let first = json!({ "begun": begun });
        driver.apply(&first, Some(opening)).await?.map_err(DriveError::NotBegun)?;
        Ok(driver)
    }

    fn around(
        id: RunId,
        chart: Arc<Chart>,
        run: Box<dyn AnyRun>,
        site: Site,
        prev: Digest,
        clock: Clock,
    ) -> Self {
        let (outbox, inbox) = mpsc::unbounded_channel();
        let (open, tally, letter) = (BTreeMap::new(), Tally::default(), None);
        Self { id, chart, run, site, prev, clock, inbox, outbox, open, tally, letter }
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

    /// Returns how the run stands.
    pub fn standing(&self) -> Standing {
        let core = self.run.core();
        if let Some(ended) = core.ended {
            return Standing::Ended(ended);
        }
        if self.is_under_way() {
            return Standing::Moving;
        }
        // What is left of those that work are questions.
        let asks = |item: &Item| matches!(item.doing, Doing::Asking { .. } | Doing::Working { .. });
        if core.items.iter().any(asks) {
            return Standing::Asking;
        }
        let awaits = self.chart.state(core.state);
        match awaits.map(State::does) {
            Some(Does::Await { timeout: Some(_), .. }) => Standing::Moving,
            _ => Standing::Waiting,
        }
    }

    /// Returns whether something is being done, or is to be tried again. Where nothing is,
    /// the run can be put away until an event comes or its time does.
    pub fn is_under_way(&self) -> bool {
        let asks = |effect| self.open.get(&effect).is_some_and(|it| it.order.question().is_some());
        self.run.core().items.iter().any(|item| match item.doing {
            Doing::Working { effect, .. } => !asks(effect),
            Doing::BackingOff { .. } => true,
            _ => false,
        })
    }

    /// Returns whether no event is there to be taken: nothing has come, and it is not
    /// yet time for the run to wake.
    pub fn is_idle(&self) -> bool {
        let due = |at| self.clock.until(at).is_zero();
        self.inbox.is_empty() && !self.run.core().wake.is_some_and(due)
    }

    /// Returns whether the run is in a state that waits for a word from outside.
    pub fn listens(&self) -> bool {
        listens(&self.chart, self.run.core())
    }

    /// Returns when the run wants to be woken, in milliseconds since 1970.
    pub fn wakes_at(&self) -> Option<u64> {
        self.run.core().wake.map(|at| self.clock.wall(at))
    }

    /// Returns what a person must answer.
    pub fn questions(&self) -> Vec<Question> {
        load::questions(self.run.core(), |effect| Some(self.open.get(effect)?.order.clone()))
    }

    /// Waits for one event and applies it, unless the run has ended.
    pub async fn turn(&mut self) -> Result<(), DriveError> {
        if self.run.core().ended.is_some() {
            return Ok(());
        }
        let event = self.next().await;
        self.give(&event).await
    }

    /// Waits for one event. Dropping the future loses nothing, unlike that of [`give`]:
    /// whoever has other things to wait for waits for this beside them.
    ///
    /// [`give`]: Self::give
    pub async fn next(&mut self) -> Value {
        loop {
            // 1. Wait for one event: an answer, something from outside, or the time. What
            // has come goes first: an answer that is there counts, however late it is seen.
            let wake = self.run.core().wake.map(|at| self.clock.until(at));
            let Self { inbox, open, .. } = self;
            let moved = tokio::select! {
                biased;
                Some(event) = inbox.recv() => return event,
                moved = poll_fn(|context| work::poll(open, context)) => moved,
                () = sleep(wake) => return json!("woke"),
            };
            match moved {
                Moved::Answered(event) => return event,
                Moved::Said { effect, text } => {
                    self.tell(&Notice::Said { effect, text: text.into() });
                }
            }
        }
    }

    /// Applies one event; a refused one is told to those who watch. A driver whose
    /// future is dropped here may be ahead of its journal: drop it too.
    pub async fn give(&mut self, event: &Value) -> Result<(), DriveError> {
        if let Err(refused) = self.apply(event, None).await? {
            self.tell(&Notice::Refused(refused.to_string().into()));
        }
        Ok(())
    }

    async fn apply(
        &mut self,
        event: &Value,
        opening: Option<Opening>,
    ) -> Result<Result<(), NotStepped>, DriveError> {
        Ok(self.commit(event, opening).await?.map(drop))
    }

    /// Applies one event: steps 2 to 6. Returns the right to act on it, if it is no late one.
    async fn commit(
        &mut self,
        event: &Value,
        opening: Option<Opening>,
    ) -> Result<Result<Option<Committed>, NotStepped>, DriveError> {
        let raw: Box<RawValue> = match to_raw_value(event) {
            Ok(raw) => raw,
            Err(error) => return Ok(Err(NotStepped::Unreadable(error.to_string()))),
        };
        // 2. Step. 3. A late event changes nothing, and a refused one is told.
        let (seq, at) = (self.run.core().next, self.clock.now());
        let before = self.run.core().entered;
        let stepped = match self.run.step(&self.chart, seq, at, &raw) {
            Ok(Stepped { took: Took::Ignored(_), .. }) => return Ok(Ok(None)),
            Ok(stepped) => stepped,
            Err(refused) => return Ok(Err(refused)),
        };
        let hops = stepped.hops.clone();
        let entry = Entry {
            v: FORMAT,
            seq,
            at,
            event: &raw,
            hops,
            effects: stepped.digest,
            prev: self.prev,
        };
        let orders = self.orders(&stepped);
        // 4. Write, and wait until it is on disk.
        let append = self.append(entry.line(), &orders);
        let committed = self.write(append, opening).await?;
        self.prev = committed.link();
        // 5. Start what was ordered. 6. Tell those who watch; of the transition first, so
        // that they see a state before what is started in it.
        self.tell_step(&committed, event, &stepped, before);
        for ordered in orders {
            self.start(&committed, ordered);
        }
        self.put_away();
        if let Some(how) = self.run.core().ended {
            self.site.performer.ended(&self.id, how).await;
        }
        Ok(Ok(Some(committed)))
    }

    fn append(&mut self, line: String, orders: &[Ordered]) -> Append {
        let core = self.run.core();
        let seq = Seq(core.next.0.saturating_sub(1));
        let asks = orders.iter().any(|ordered| ordered.order.question().is_some());
        let rests = asks || !self.is_under_way();
        let due = rests || seq.0.is_multiple_of(SNAPSHOT_EVERY);
        Append {
            run: self.id.clone(),
            seq,
            line,
            state: self.chart.state_name(core.state).into(),
            ended: core.ended,
            wake: core.wake.map(|wake| wake.0),
            snapshot: if due { self.snapshot(orders) } else { None },
            prompts: orders.iter().filter_map(Ordered::kept).collect(),
            letter: self.letter.take(),
        }
    }
}

/// Returns whether a run is in a state that waits for a word from outside.
pub(crate) fn listens(chart: &Chart, core: &Core) -> bool {
    let state = chart.state(core.state);
    core.ended.is_none() && matches!(state.map(State::does), Some(Does::Await { .. }))
}

/// Returns the row of the agent whose jobs a chart uses.
pub(crate) fn row(chart: &Chart) -> Result<&'static AgentRow, DriveError> {
    let row = pointsman_agents::ROWS.iter().find(|row| row.decl.name == chart.jobs());
    row.ok_or_else(|| DriveError::NoAgent(chart.jobs().into()))
}

/// Sleeps for so long, or for ever.
async fn sleep(duration: Option<std::time::Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => std::future::pending().await,
    }
}
