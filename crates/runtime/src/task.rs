//! One loop drives every run: a command's, a conversation's, a child's and one of thousands.
//!
//! It takes the next of: an answer, an event, a message, a command of its handle, a wake-up, its
//! parent's pause, the watch over the machine. Callers differ in what they send, and in what they
//! do when the run waits.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::{
    body::Body,
    chart::Disposition,
    event::{Event, Pauser, Scope},
    id::EffectId,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Interval, MissedTickBehavior, interval},
};

use crate::{
    driver::{DriveError, Driver, DriverInput, RunStatus, written},
    effect::ProgressSink,
    gate::{Gates, closes},
    mailbox::{counting, is_word},
    session::{ApprovalDecision, approval, end_children},
    store::{Changes, Release, RunId, Store, StoreError},
    watch::{PauseSignal, ResourceWatch},
};

/// A command of a run's handle to its task.
#[derive(Debug)]
pub(crate) enum Command {
    /// Send an event; the run receives it when it awaits one. The sender is notified once the
    /// event is stored.
    Send(Event<Body>, oneshot::Sender<()>),
    /// Stop the work in progress and listen.
    CancelTurn,
    /// Take a person's answer to a question.
    Decide(EffectId, ApprovalDecision),
    /// Detach from the run as soon as it waits for nothing but a person.
    Unattended,
    /// Detach from the run as soon as it waits for a person.
    Wait,
    /// A person has pressed Ctrl-C: cancel the turn or the run, or detach from one that is
    /// cancelled already or does nothing.
    Interrupt,
    /// Detach from the run as it is.
    Detach,
}

/// How long a run is driven.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Until {
    /// Until it waits for a person's answer or message.
    Waits,
    /// Until nothing is in progress, though its time to wake may come: the caller wakes it.
    Parks,
    /// Until it ends, because a person talks with it. Without an approver, until it asks.
    Ends {
        /// Whether they answer questions.
        answers: bool,
    },
}

/// Why a task is over for now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TaskEnd {
    /// The run has ended.
    Ended(Disposition),
    /// It waits for a person's answer.
    Asking,
    /// It waits for something else.
    Waiting,
    /// A command has detached the task from it.
    Detached,
    /// It is given up like this: its worker stops, or the provider of its model is closed.
    Leaves(Release),
}

/// The task of a run.
pub(crate) struct RunTask {
    driver: Driver,
    store: Arc<dyn Store>,
    run: RunId,
    until: Until,
    commands: Option<mpsc::UnboundedReceiver<Command>>,
    /// Nothing where the caller says when messages come.
    changes: Option<Changes>,
    parent: Option<(watch::Receiver<bool>, ProgressSink)>,
    machine: Option<(ResourceWatch, Interval)>,
    /// Whether its worker continues; `false` hands the run over.
    worker: Option<watch::Receiver<bool>>,
    gate: Option<Gate>,
    /// Whether the messages were looked at that waited from before.
    delivered: bool,
    cancelled: bool,
}

impl RunTask {
    /// Returns the task of a run.
    pub(crate) fn new(driver: Driver, until: Until) -> Self {
        Self {
            store: Arc::clone(driver.store()),
            run: driver.id().clone(),
            driver,
            until,
            commands: None,
            changes: None,
            parent: None,
            machine: None,
            worker: None,
            gate: None,
            delivered: false,
            cancelled: false,
        }
    }

    /// Makes it look for messages itself.
    pub(crate) async fn with_mailbox(mut self) -> Result<Self, StoreError> {
        self.changes = Some(self.store.changes().await?);
        Ok(self)
    }

    /// Has it take commands.
    #[must_use]
    pub(crate) fn with_commands(mut self, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Has it keep to the pauses of a parent, and say when it rests.
    #[must_use]
    pub(crate) fn with_parent(mut self, parent: watch::Receiver<bool>, says: ProgressSink) -> Self {
        self.parent = Some((parent, says));
        self
    }

    /// Has it pause the run while the machine is short of something, if that is wanted.
    #[must_use]
    pub(crate) fn with_watch(mut self) -> Self {
        self.machine = self.driver.watch().map(|watch| {
            let looks = every(watch.every());
            (watch, looks)
        });
        self
    }

    /// Has it hand the run over when its worker stops, and keep away from closed gates.
    #[must_use]
    pub(crate) fn with_worker(mut self, worker: watch::Receiver<bool>, gates: Gates) -> Self {
        self.worker = Some(worker);
        let provider = self.driver.provider().map(Into::into);
        self.gate = provider.map(|name| Gate { name, changes: gates.changes(), gates });
        self
    }

    /// Lifts the pauses of all that can pause a run; a person wants it to continue. If the machine is
    /// short of something, its own pause begins before the others end, so that nothing starts.
    pub(crate) async fn lift_all(&mut self) -> Result<(), DriveError> {
        if !self.driver.run().core().paused {
            return Ok(());
        }
        let Some(call) = self.look() else { return self.driver.give(Event::Resumed).await };
        self.driver.heed(Pauser::Machine, call).await?;
        self.driver.heed(Pauser::Person, PauseSignal::Resume).await?;
        self.driver.heed(Pauser::Parent, PauseSignal::Resume).await
    }

    /// Lifts the pauses that other processes have left: of a worker that stopped, and of a machine
    /// that was short of something, unless this one is. A closed gate pauses it before that.
    pub(crate) async fn lift_left(&mut self) -> Result<(), DriveError> {
        self.follow_gate().await?;
        let short = self.look();
        let paused = |driver: &Driver, by| driver.run().core().is_paused_by(by);
        match (short, paused(&self.driver, Pauser::Machine)) {
            (Some(call), false) => self.driver.heed(Pauser::Machine, call).await?,
            (None, true) => self.driver.heed(Pauser::Machine, PauseSignal::Resume).await?,
            _ => {}
        }
        if paused(&self.driver, Pauser::Worker) {
            self.driver.heed(Pauser::Worker, PauseSignal::Resume).await?;
        }
        Ok(())
    }

    /// Checks the machine now, and returns the watch's signal.
    fn look(&mut self) -> Option<PauseSignal> {
        self.machine.as_mut().and_then(|(watch, _)| watch.look())
    }

    pub(crate) const fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) const fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// Drives the run until it rests, and can be called again then. The children of a run that
    /// has ended end with it.
    ///
    /// A future that is dropped leaves the run as its journal says: drop the task too.
    pub(crate) async fn run(&mut self) -> Result<TaskEnd, DriveError> {
        if !self.delivered {
            self.delivered = true;
            self.deliver().await?;
        }
        loop {
            self.follow_parent().await?;
            self.follow_worker().await?;
            self.follow_gate().await?;
            if self.driver.listens() && self.hear().await? {
                continue;
            }
            if let Some(rest) = self.rest() {
                if matches!(rest, TaskEnd::Ended(_)) {
                    end_children(self.driver.agents(), &self.store, &self.run).await;
                }
                return Ok(rest);
            }
            self.say_rest();
            let Self { driver, commands, changes, parent, machine, worker, gate, run, .. } = self;
            let event = tokio::select! {
                sent = driver.next() => match sent {
                    DriverInput::Event(event) => {
                        if let (Some(name), Some(wait)) = (driver.provider(), closes(&event)) {
                            if let Some(gate) = &self.gate {
                                gate.gates.close(name, wait);
                            }
                            // All workers learn it from the store, also what a child has found.
                            // One that fails keeps no answer from the run.
                            if let Err(error) = self.store.close_gate(name, wait).await {
                                tracing::warn!(%error, "cannot tell other workers about the pause");
                            }
                        }
                        Some(event)
                    }
                    DriverInput::Question | DriverInput::Rested => None,
                },
                command = next_command(commands) => match self.obey(command).await? {
                    Obeyed::Event(event) => Some(event),
                    Obeyed::Done => None,
                    Obeyed::Detach => return Ok(TaskEnd::Detached),
                },
                () = next_message(changes, run) => {
                    self.deliver().await?;
                    None
                }
                () = changed(parent.as_mut().map(|(parent, _)| parent)) => None,
                () = changed(worker.as_mut()) => None,
                () = gate_changed(gate) => None,
                call = next_look(machine) => {
                    if let Some(call) = call {
                        self.driver.heed(Pauser::Machine, call).await?;
                    }
                    None
                }
            };
            if let Some(event) = event {
                self.driver.give(event).await?;
            }
        }
    }

    /// Gives up a run that rests, so that any worker can claim it once something happens to it.
    /// Returns the task where a message has come that the run can take.
    pub(crate) async fn park(mut self) -> Result<Option<Self>, DriveError> {
        let messages = self.store.messages(&self.run).await?;
        let listens = self.driver.listens();
        if messages.iter().any(|message| listens || !is_word(message)) {
            self.deliver().await?;
            return Ok(Some(self));
        }
        let read = messages.last().map(|message| message.id);
        self.driver.release(Release::Parked { read }).await?;
        Ok(None)
    }

    /// Takes the messages that do not wait for the run to listen: answers, cancels, pauses. What
    /// ends the run is the last of all.
    pub(crate) async fn deliver(&mut self) -> Result<(), DriveError> {
        let mut messages = self.store.messages(&self.run).await?;
        messages.retain(|message| !is_word(message));
        for (message, counts) in counting(&messages) {
            if matches!(self.driver.status(), RunStatus::Ended(_)) {
                break;
            }
            if counts {
                self.driver.take(message).await?;
            } else {
                self.driver.pass_over(message).await?;
            }
        }
        Ok(())
    }

    /// Takes the oldest word, if the run has one; it listens.
    async fn hear(&mut self) -> Result<bool, DriveError> {
        let messages = self.store.messages(&self.run).await?;
        let Some(word) = messages.iter().find(|it| is_word(it)) else { return Ok(false) };
        self.driver.take(word).await?;
        Ok(true)
    }

    /// Writes down the words that were sent and not taken, for the next owner of the run.
    pub(crate) async fn keep_commands(&mut self) -> Result<(), StoreError> {
        let Some(commands) = &mut self.commands else { return Ok(()) };
        while let Ok(command) = commands.try_recv() {
            if let Command::Send(event, kept) = command {
                self.store.send(&self.run, &written(&event)).await?;
                tell(kept);
            }
        }
        Ok(())
    }

    /// Pauses the run while its parent is paused.
    async fn follow_parent(&mut self) -> Result<(), DriveError> {
        let Some((parent, _)) = &mut self.parent else { return Ok(()) };
        let wanted = *parent.borrow_and_update();
        if wanted == self.driver.run().core().is_paused_by(Pauser::Parent) {
            return Ok(());
        }
        let paused = || PauseSignal::Pause("its parent is paused".into());
        self.driver.heed(Pauser::Parent, if wanted { paused() } else { PauseSignal::Resume }).await
    }

    /// Tells a parent whether this run waits for it and does nothing else.
    fn say_rest(&self) {
        let Some((_, says)) = &self.parent else { return };
        let driver = &self.driver;
        says.rests(driver.run().core().paused && driver.is_idle() && !driver.is_at_work());
    }

    /// Stops the starts of a run whose worker stops: the next one lifts that.
    async fn follow_worker(&mut self) -> Result<(), DriveError> {
        if self.is_handed_over() && !self.driver.run().core().is_paused_by(Pauser::Worker) {
            let paused = PauseSignal::Pause("its worker is stopping".into());
            self.driver.heed(Pauser::Worker, paused).await?;
        }
        Ok(())
    }

    /// Stops the starts of a run while the provider of its model is closed.
    async fn follow_gate(&mut self) -> Result<(), DriveError> {
        let Some(gate) = &mut self.gate else { return Ok(()) };
        gate.changes.borrow_and_update();
        let closed = gate.gates.wait(&gate.name).is_some();
        if closed == self.driver.run().core().is_paused_by(Pauser::Gate) {
            return Ok(());
        }
        let why = "the provider is not accepting requests at the moment";
        let paused = || PauseSignal::Pause(why.into());
        self.driver.heed(Pauser::Gate, if closed { paused() } else { PauseSignal::Resume }).await
    }

    fn is_handed_over(&self) -> bool {
        self.worker.as_ref().is_some_and(|goes_on| !*goes_on.borrow())
    }

    /// Returns how the run is given up, where it does not rest by itself: its worker stops, or the
    /// provider of its model is closed.
    fn leaves(&self) -> Option<Release> {
        if self.is_handed_over() {
            return Some(Release::Deferred { wait: Duration::ZERO });
        }
        let gate = self.gate.as_ref()?;
        gate.gates.away(&gate.name).map(|wait| Release::Deferred { wait })
    }

    /// Gives the run up.
    pub(crate) async fn leave(self, how: Release) -> Result<(), DriveError> {
        self.driver.release(how).await
    }

    /// Returns why the task is over for now, if it is.
    fn rest(&self) -> Option<TaskEnd> {
        let driver = &self.driver;
        let status = driver.status();
        if let RunStatus::Ended(ended) = status {
            return Some(TaskEnd::Ended(ended));
        }
        if !driver.is_idle() {
            return None;
        }
        let rest = if status == RunStatus::Asking { TaskEnd::Asking } else { TaskEnd::Waiting };
        if let Some(how) = self.leaves().filter(|_| !driver.is_at_work()) {
            return Some(TaskEnd::Leaves(how));
        }
        let rests = match (self.until, status) {
            // Nobody would wake a parked run when the machine has recovered.
            (Until::Parks, _) => !driver.is_under_way() && !self.is_paused_temporarily(),
            (Until::Ends { answers }, RunStatus::Asking) => !answers,
            (Until::Ends { .. }, _) | (Until::Waits, RunStatus::Moving) => false,
            (Until::Waits, _) => !self.is_paused_temporarily(),
        };
        rests.then_some(rest)
    }

    /// Returns whether the pause will be lifted without a person: by its parent, or by the watch
    /// over the machine.
    fn is_paused_temporarily(&self) -> bool {
        let core = self.driver.run().core();
        let machines = || core.paused_by.iter().all(|by| *by == Pauser::Machine);
        core.paused && (self.parent.is_some() || self.machine.is_some() && machines())
    }

    async fn obey(&mut self, command: Command) -> Result<Obeyed, DriveError> {
        let driver = &self.driver;
        Ok(match command {
            Command::Send(event, kept) => {
                self.store.send(&self.run, &written(&event)).await?;
                tell(kept);
                Obeyed::Done
            }
            // A run that listens already has nothing to stop.
            Command::CancelTurn if driver.listens() => Obeyed::Done,
            Command::CancelTurn => cancel(Scope::Turn),
            Command::Decide(effect, decision) => {
                // A person may answer from the journal while the call is still looked at. A
                // question that is answered or too late is none.
                let mut asked = driver.left_questions().into_iter();
                let asked = asked.find(|question| question.effect == effect);
                asked.map_or(Obeyed::Done, |question| {
                    Obeyed::Event(approval(driver.run(), &question, &decision))
                })
            }
            Command::Unattended => {
                if let Until::Ends { answers } = &mut self.until {
                    *answers = false;
                }
                Obeyed::Done
            }
            Command::Wait => {
                self.until = Until::Waits;
                Obeyed::Done
            }
            Command::Interrupt => match self.until {
                Until::Ends { .. } if driver.is_under_way() => cancel(Scope::Turn),
                Until::Waits | Until::Parks if !self.cancelled => {
                    self.cancelled = true;
                    cancel(Scope::Run)
                }
                _ => Obeyed::Detach,
            },
            Command::Detach => Obeyed::Detach,
        })
    }
}

/// The gate of a run's provider.
struct Gate {
    name: Box<str>,
    changes: watch::Receiver<()>,
    gates: Gates,
}

/// Waits until a gate closes or opens.
async fn gate_changed(gate: &mut Option<Gate>) {
    let Some(gate) = gate else { return std::future::pending().await };
    match gate.gates.wait(&gate.name) {
        Some(wait) => tokio::time::sleep(wait).await,
        None if gate.changes.changed().await.is_ok() => {}
        None => std::future::pending().await,
    }
}

/// The result of a command.
enum Obeyed {
    Event(Event<Body>),
    Done,
    Detach,
}

const fn cancel(scope: Scope) -> Obeyed {
    Obeyed::Event(Event::Cancelled { scope })
}

/// Tells the sender of a message that it is stored.
fn tell(kept: oneshot::Sender<()>) {
    // Not everybody waits for that.
    let _: Result<(), ()> = kept.send(());
}

/// Waits for a command. When the last handle is dropped, this detaches from the run.
async fn next_command(commands: &mut Option<mpsc::UnboundedReceiver<Command>>) -> Command {
    match commands {
        Some(commands) => commands.recv().await.unwrap_or(Command::Detach),
        None => std::future::pending().await,
    }
}

async fn next_message(changes: &mut Option<Changes>, run: &RunId) {
    match changes {
        Some(changes) => changes.message_for(run).await,
        None => std::future::pending().await,
    }
}

/// Waits until the parent is paused or resumed. A parent that was dropped changes nothing.
async fn changed(parent: Option<&mut watch::Receiver<bool>>) {
    let changed = match parent {
        Some(parent) => parent.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

/// Waits for the next check of the machine, and returns the watch's signal.
async fn next_look(machine: &mut Option<(ResourceWatch, Interval)>) -> Option<PauseSignal> {
    match machine {
        Some((watch, looks)) => {
            looks.tick().await;
            watch.look()
        }
        None => std::future::pending().await,
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    // Ticks missed during a write are skipped.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
