//! The loop around a run: one event in, one entry written, its effects out.
//!
//! Six steps, and the comments below carry their numbers: (1) wait for one event; (2) step; (3)
//! look at the result; (4) write the entry and wait until it is on disk; (5) start its effects;
//! (6) notify the observers.

mod derive;
mod load;
mod notify;
mod status;
mod work;

pub(crate) use derive::Derived;
pub use load::{Loaded, fold, fold_each};
pub(crate) use load::{PackedRun, cached, questions, unread, waits_for};
pub use status::RunStatus;
pub use status::listens;
pub(crate) use work::answered;
pub use work::{is_aside, question};

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    mem,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use pointsman_kernel::{
    Shortfall, StepResult,
    agents::{Agents, Program},
    body::Body,
    chart::Charge,
    erased::{AnyRun, AppliedStep, StepError},
    event::{Event, Pauser, RunConfig},
    id::{Digest, EffectId, Seq},
    journal::Entry,
    replay::Divergence,
};
use serde_json::value::to_raw_value;
use thiserror::Error;

use crate::{
    clock::{Clock, now_ms},
    effect::EffectExecutor,
    journal::{Committed, Journal, Permit},
    mailbox::arrived,
    observe::{LiveNotice, Observer},
    plant,
    plural::counted,
    store::{
        Append, EntryLine, MailboxMessage, MessageId, NewRun, QueueOptions, Release, RunId, Store,
        StoreError,
    },
    timeline::Before,
    watch::{PauseSignal, ResourceWatch},
};
use notify::{CallTally, tell};
use work::{OpenOrder, StartedOrder, WorkEvent};

/// How long a write may take before observers are notified. A flush takes milliseconds.
const LONG: Duration = Duration::from_secs(1);

/// Entries between two snapshots.
const SNAPSHOT_EVERY: u64 = 256;

/// Why a run cannot be driven on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The store failed. The run is unchanged since its last entry.
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
    NotBegun(#[source] StepError),
    /// The kernel refused to resume, which only another build's journal can cause.
    #[error("run {run} cannot continue: {source}")]
    NotResumed {
        /// The run.
        run: RunId,
        /// Why.
        source: StepError,
    },
    /// Repeating the interrupted calls would exceed the budget.
    #[error("{}", in_short(.run, .short))]
    Short {
        /// The run.
        run: RunId,
        /// The budget that is too small.
        short: Shortfall,
    },
    /// A grant was refused.
    #[error("run {run} rejects the grant: {source}")]
    NotGranted {
        /// The run.
        run: RunId,
        /// Why.
        source: StepError,
    },
}

fn in_short(run: &RunId, short: &Shortfall) -> String {
    let calls = match short.charge {
        Charge::ModelCall => "model call",
        _ => "tool call",
    };
    let by = match &short.budget {
        Some(budget) => format!("budget `{budget}`"),
        None => "certificate".into(),
    };
    format!(
        "run {run} was interrupted during a call that must be repeated, but its {by} allows only {}",
        counted(short.permits, calls)
    )
}

/// Where runs are driven: their agents, what keeps them, what acts for them, who watches them.
#[derive(Clone)]
pub struct DriverContext {
    /// The agents that they can be of.
    pub agents: Arc<Agents>,
    /// What keeps them.
    pub store: Arc<dyn Store>,
    /// What acts for them.
    pub executor: Arc<dyn EffectExecutor>,
    /// Who watches them.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// A run that is to begin.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    /// Its id.
    pub id: RunId,
    /// Its chart, bound to its agent.
    pub program: Arc<Program>,
    /// The chart's text, kept with the run so that it can always be read.
    pub source: Box<str>,
    /// Its goal, for people.
    pub goal: Box<str>,
    /// Events for the run when it awaits them: messages, stored with its first entry.
    pub words: Vec<Event<Body>>,
    /// Its first event.
    pub begun: RunConfig,
}

/// A run that is being driven.
pub struct Driver {
    id: RunId,
    program: Arc<Program>,
    run: Box<dyn AnyRun>,
    context: DriverContext,
    journal: Journal,
    prev: Digest,
    clock: Clock,
    /// Events that the driver itself has to give, the oldest first.
    pending: VecDeque<Event<Body>>,
    /// Orders in progress, with their futures. [`next`](Self::next) polls them, and dropping one
    /// cancels it.
    open: BTreeMap<EffectId, OpenOrder>,
    tally: CallTally,
    /// The message that contained the current event.
    message: Option<MessageId>,
}

impl Driver {
    /// Begins a run: its first entry is on disk when this returns.
    pub async fn begin(context: DriverContext, beginning: PreparedRun) -> Result<Self, DriveError> {
        Self::create(context, beginning, None, None).await
    }

    /// Queues a run for any worker, under the name of a request: a second request of that name
    /// makes no second run. Its first entry is on disk when this returns, and nothing has started.
    pub async fn submit(
        context: DriverContext,
        mut beginning: PreparedRun,
        request: Option<Box<str>>,
        queue: QueueOptions,
    ) -> Result<(), DriveError> {
        beginning.begun.queued = true;
        let driver = Self::create(context, beginning, request, Some(queue)).await?;
        driver.release(Release::Ready).await
    }

    async fn create(
        context: DriverContext,
        beginning: PreparedRun,
        request: Option<Box<str>>,
        queue: Option<QueueOptions>,
    ) -> Result<Self, DriveError> {
        let PreparedRun { id, program, source, goal, words, begun } = beginning;
        let ahead_ms = context.store.clock_ahead_ms();
        let created_ms = now_ms().saturating_sub_signed(ahead_ms);
        let new_run = NewRun {
            agent: program.agent().name.into(),
            chart: program.name().into(),
            source,
            goal,
            created_ms,
            messages: words.iter().map(|word| written(word).into()).collect(),
            forked: None,
            request,
            queue,
        };
        let loaded = unread(&program);
        let journal = Journal::new(Arc::clone(&context.store), program.agent().name);
        let clock = Clock::new(created_ms, loaded.run.core().now, ahead_ms);
        let mut driver = Self::around(id, program, loaded, context, journal, clock);
        let first = Event::Begun(Box::new(begun));
        driver.apply(first, Some(new_run)).await?.map_err(DriveError::NotBegun)?;
        Ok(driver)
    }

    fn around(
        id: RunId,
        program: Arc<Program>,
        loaded: Loaded,
        context: DriverContext,
        journal: Journal,
        clock: Clock,
    ) -> Self {
        let (tally, message) = (CallTally::default(), None);
        let Loaded { run, link: prev, open } = loaded;
        let mut driver = Self {
            id,
            program,
            run,
            context,
            journal,
            prev,
            clock,
            pending: VecDeque::new(),
            open: BTreeMap::new(),
            tally,
            message,
        };
        for (effect, order) in open {
            driver.reopen_order(effect, order);
        }
        driver
    }

    /// Stops the work in progress and gives the run up.
    pub(crate) async fn release(self, how: Release) -> Result<(), DriveError> {
        let Self { journal, open, .. } = self;
        drop(open);
        Ok(journal.release(how).await?)
    }

    /// Returns the run's id.
    pub const fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the name of the provider that its executor asks.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.context.executor.provider()
    }

    /// Returns a new watch over the machine, if its executor wants one.
    pub(crate) fn watch(&self) -> Option<ResourceWatch> {
        self.context.executor.watch()
    }

    /// Returns its chart, bound to its agent.
    pub const fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns what keeps it.
    pub(crate) const fn store(&self) -> &Arc<dyn Store> {
        &self.context.store
    }

    /// Returns the agents that runs at its context can be of.
    pub(crate) const fn agents(&self) -> &Arc<Agents> {
        &self.context.agents
    }

    /// Returns the run.
    pub fn run(&self) -> &dyn AnyRun {
        &*self.run
    }

    /// Waits for one event and applies it, unless the run has ended.
    pub async fn turn(&mut self) -> Result<(), DriveError> {
        if self.run.core().ended.is_some() {
            return Ok(());
        }
        match self.next().await {
            DriverInput::Event(event) => self.give(event).await,
            DriverInput::Question | DriverInput::Rested => Ok(()),
        }
    }

    /// Waits for one event. Dropping the future loses nothing, unlike that of [`give`]:
    /// a caller with other things to wait for selects over this and them.
    ///
    /// [`give`]: Self::give
    pub async fn next(&mut self) -> DriverInput {
        loop {
            // 1. Wait for one event: an answer, something from outside, or the time. What
            // has come goes first: an answer that is there counts, however late it is seen.
            let wake = self.run.core().wake.map(|at| self.clock.until(at));
            if let Some(event) = self.pending.pop_front() {
                return event.into();
            }
            let Self { open, .. } = self;
            let moved = tokio::select! {
                biased;
                moved = poll_fn(|context| work::poll(open, context)) => moved,
                () = sleep(wake) => return Event::Woke.into(),
            };
            match moved {
                WorkEvent::Answered(event, tokens) => {
                    if let (Event::Answered { effect, .. }, Some(tokens)) = (&event, tokens) {
                        self.tell(LiveNotice::Counted { effect: *effect, tokens });
                    }
                    return event.into();
                }
                WorkEvent::Said { effect, text } => {
                    self.tell(LiveNotice::Delta { effect, text: text.into() });
                }
                WorkEvent::Checked(effect) => {
                    self.put(effect);
                    // The caller that asks people reads the run's state, so the wait ends.
                    return DriverInput::Question;
                }
                WorkEvent::Rested => return DriverInput::Rested,
            }
        }
    }

    /// Applies one event; observers are notified of a rejected one. A driver whose future is
    /// dropped here may be ahead of its journal: drop it too.
    pub async fn give(&mut self, event: Event<Body>) -> Result<(), DriveError> {
        if let Err(refused) = self.apply(event, None).await? {
            self.tell(LiveNotice::Refused(refused.to_string().into()));
        }
        Ok(())
    }

    /// Pauses or resumes for the watch or a parent. Each lifts only its own pause.
    pub(crate) async fn heed(&mut self, by: Pauser, call: PauseSignal) -> Result<(), DriveError> {
        self.give(match call {
            PauseSignal::Pause(why) => Event::Paused { why, by: Some(by) },
            PauseSignal::Resume => Event::Lifted { by },
        })
        .await
    }

    async fn apply(
        &mut self,
        event: Event<Body>,
        new_run: Option<NewRun>,
    ) -> Result<Result<(), StepError>, DriveError> {
        Ok(self.commit(event, new_run, &[]).await?.map(drop))
    }

    /// Applies one event: steps 2 to 6. `again` lists effects to start again, unless the event
    /// comes too late; the permit for that is returned.
    async fn commit(
        &mut self,
        event: Event<Body>,
        new_run: Option<NewRun>,
        again: &[EffectId],
    ) -> Result<Result<(StepResult, Vec<Permit>), StepError>, DriveError> {
        let raw = match to_raw_value(&event) {
            Ok(raw) => raw,
            Err(error) => return Ok(Err(StepError::Unreadable(error.to_string()))),
        };
        // 2. Step. 3. A late event changes nothing, and a refused one is reported.
        let (seq, at) = (self.run.core().next, self.clock.now());
        let paused = self.run.core().paused;
        let v = event.format();
        let watched = self.is_watched().then(|| (Before::of(&*self.run), event.clone()));
        let mut stepped = match self.run.step(&self.program, seq, at, event) {
            Ok(AppliedStep { result: took @ StepResult::Ignored(_), .. }) => {
                return Ok(Ok((took, Vec::new())));
            }
            Ok(stepped) => stepped,
            Err(refused) => return Ok(Err(refused)),
        };
        let (hops, effects) = (mem::take(&mut stepped.hops), stepped.digest);
        let entry = Entry { v, seq, at, event: &raw, hops, effects, prev: self.prev };
        let line = EntryLine::of(&entry);
        stepped.hops = entry.hops;
        let mut orders = work::orders(&self.program, &*self.run, &stepped);
        // 4. Write, and wait until it is on disk.
        let append = self.append(line, &orders);
        let starts = orders.iter().filter(|it| it.is_started(&*self.run)).map(|it| (it.id, false));
        let starts = starts.chain(again.iter().map(|effect| (*effect, true))).collect();
        if plant::is("effect-first") && self.start_unwritten(&mut orders) {
            tokio::time::sleep(plant::EARLY).await;
        }
        let committed = self.write(append, new_run, starts).await?;
        self.prev = committed.link();
        // 5. Start what was ordered. 6. Notify observers; of the transition first, so
        // that they see a state before what is started in it.
        if let Some((before, event)) = watched {
            self.notify_step(&committed, &event, &stepped, &before);
        }
        let mut permits = committed.into_permits();
        for ordered in orders {
            let permit = permits.extract_if(.., |it| !it.again && it.effect == ordered.id).next();
            self.start(permit, ordered);
        }
        self.drop_unneeded();
        // Its children keep to that.
        if self.run.core().paused != paused {
            self.context.executor.paused(&self.id, !paused);
        }
        if let Some(how) = self.run.core().ended {
            self.context.executor.ended(self.program.agent(), &self.id, how).await;
        }
        Ok(Ok((StepResult::Applied, permits)))
    }

    /// Starts orders before they are written, where that fault is planted; returns whether it did.
    fn start_unwritten(&mut self, orders: &mut Vec<StartedOrder>) -> bool {
        if !self.journal.is_leased() {
            return false;
        }
        let run = &*self.run;
        let early: Vec<_> = orders.extract_if(.., |it| it.is_started(run)).collect();
        let any = !early.is_empty();
        for ordered in early {
            let permit = self.journal.unwritten(&self.id, ordered.id);
            self.start(permit, ordered);
        }
        any
    }

    fn append(&mut self, line: EntryLine, orders: &[StartedOrder]) -> Append {
        let core = self.run.core();
        let seq = Seq(core.next.0.saturating_sub(1));
        let asks = orders.iter().any(|it| question(&*self.run, &it.order).is_some());
        let rests = asks || !self.works();
        let due = rests || seq.0.is_multiple_of(SNAPSHOT_EVERY);
        let Derived { state, ended, wake, prompts } = Derived::of(&self.program, core, orders);
        Append {
            run: self.id.clone(),
            seq,
            line,
            state,
            ended,
            wake,
            snapshot: if due { self.snapshot(orders) } else { None },
            prompts,
            message: self.message.take(),
        }
    }

    /// Writes an entry, and waits until it is on disk: as long as the store is set to wait for
    /// another process that writes.
    async fn write(
        &mut self,
        append: Append,
        new_run: Option<NewRun>,
        starts: Vec<(EffectId, bool)>,
    ) -> Result<Committed, DriveError> {
        let seq = append.seq;
        let mut writing = pin!(self.journal.write(append, new_run, starts));
        // A write on the caller's own thread ends at once: only one that waits needs a timer.
        if let Poll::Ready(written) = poll_fn(|cx| Poll::Ready(writing.as_mut().poll(cx))).await {
            return Ok(written?);
        }
        if let Ok(written) = tokio::time::timeout(LONG, writing.as_mut()).await {
            return Ok(written?);
        }
        let why = format!(
            "entry {} is not on disk yet; another process may be writing to the journal",
            seq.0
        );
        tell(&self.context.observers, &self.id, LiveNotice::Delayed(why.into()));
        Ok(writing.await?)
    }

    /// Applies an event from a message, and removes the message with it: it counts exactly once. A
    /// rejected or ignored one is dropped without an entry; its sender sees that in the journal.
    pub async fn take(&mut self, message: &MailboxMessage) -> Result<(), DriveError> {
        self.message = Some(message.id);
        let took = match message.event() {
            Ok(event) => {
                // The sender's clock may have been set meanwhile; no message is sent after it comes.
                let sent = self.clock.at(message.at_ms).min(self.clock.now());
                let event = arrived(event, sent);
                self.commit(event, None, &[]).await?.map(|(took, _)| took)
            }
            Err(error) => Err(StepError::Unreadable(error.to_string())),
        };
        match took {
            Ok(StepResult::Ignored(why)) => self.log(&why.to_string()),
            Err(refused) => {
                let why = refused.to_string();
                self.log(&why);
                self.tell(LiveNotice::Refused(why.into()));
            }
            Ok(_) => {}
        }
        match self.message.take() {
            Some(unused) => self.discard(unused).await,
            None => Ok(()),
        }
    }

    /// Throws a message away: a later one says something else.
    pub async fn pass_over(&mut self, message: &MailboxMessage) -> Result<(), DriveError> {
        self.log("replaced by a later message");
        self.discard(message.id).await
    }

    fn log(&self, why: &str) {
        tracing::info!(run = %self.id, why, "message_ignored");
    }

    async fn discard(&mut self, message: MessageId) -> Result<(), DriveError> {
        match self.journal.discard(message).await {
            // The entry that ends a run takes all its messages away.
            Ok(()) | Err(StoreError::NoSuchMessage { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// An input of a driver, from outside or its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DriverInput {
    /// Something has happened to the run.
    Event(Event<Body>),
    /// A question can be put to a person now: nothing was found against its call.
    Question,
    /// An effect in progress has begun to wait until the run is resumed, or to work again.
    Rested,
}

impl From<Event<Body>> for DriverInput {
    fn from(event: Event<Body>) -> Self {
        Self::Event(event)
    }
}

/// Returns an event as a message holds it.
pub(crate) fn written(event: &Event<Body>) -> String {
    // An event is plain data.
    serde_json::to_string(event).unwrap_or_default()
}

/// Sleeps for a duration, or forever.
async fn sleep(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => std::future::pending().await,
    }
}
