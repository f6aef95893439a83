//! One loop drives every run: a command's, a conversation's, a child's and one of thousands.
//!
//! It takes the next of: an answer, an event that was sent, a message, a command of its handle, the
//! time to wake, its parent's pause, the watch over the machine. Callers differ in what they send,
//! and in what they do when the run rests.

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
    mailbox::{counting, is_word},
    session::{ApprovalDecision, approval, end_children},
    store::{Changes, Release, RunId, Store, StoreError},
    watch::{PauseSignal, ResourceWatch},
};

/// What the handle of a run asks of its task.
#[derive(Debug)]
pub(crate) enum Command {
    /// Send an event; the run hears it when it listens. The sender learns once it outlives the
    /// process.
    Send(Event<Body>, oneshot::Sender<()>),
    /// Stop the work in progress and listen.
    CancelTurn,
    /// Take a person's answer to a question.
    Decide(EffectId, ApprovalDecision),
    /// Detach from the run as soon as it waits for nothing but a person.
    Unattended,
    /// Detach from the run as soon as it waits for somebody.
    Wait,
    /// A person has pressed Ctrl-C: cancel the turn or the run, or detach from one that is
    /// cancelled already or does nothing.
    Interrupt,
    /// Detach from the run as it is.
    Detach,
}

/// What a run is driven for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Until {
    /// Until it waits for somebody: a person's answer or word.
    Waits,
    /// Until nothing is in progress, though its time to wake may come: the caller wakes it.
    Parks,
    /// Until it ends, because somebody talks with it. Without answers, until it asks.
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
    parent: Option<watch::Receiver<bool>>,
    machine: Option<(ResourceWatch, Interval)>,
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
            delivered: false,
            cancelled: false,
        }
    }

    /// Has it look for messages itself.
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

    /// Has it keep to the pauses of a parent.
    #[must_use]
    pub(crate) fn with_parent(mut self, parent: watch::Receiver<bool>) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Has it pause the run while the machine is short of something.
    #[must_use]
    pub(crate) fn with_watch(mut self, watch: Option<ResourceWatch>) -> Self {
        self.machine = watch.map(|watch| {
            let looks = every(watch.every());
            (watch, looks)
        });
        self
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
            if self.driver.listens() && self.hear().await? {
                continue;
            }
            if let Some(rest) = self.rest() {
                if matches!(rest, TaskEnd::Ended(_)) {
                    end_children(self.driver.agents(), &self.store, &self.run).await;
                }
                return Ok(rest);
            }
            let Self { driver, commands, changes, parent, machine, run, .. } = self;
            let event = tokio::select! {
                sent = driver.next() => match sent {
                    DriverInput::Event(event) => Some(event),
                    DriverInput::Question => None,
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
                () = changed(parent) => None,
                call = look(machine) => {
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
        let Some(parent) = &mut self.parent else { return Ok(()) };
        let wanted = *parent.borrow_and_update();
        if wanted == self.driver.run().core().is_paused_by(Pauser::Parent) {
            return Ok(());
        }
        let paused = || PauseSignal::Pause("its parent is paused".into());
        self.driver.heed(Pauser::Parent, if wanted { paused() } else { PauseSignal::Resume }).await
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
        let rests = match (self.until, status) {
            (Until::Parks, _) => !driver.is_under_way(),
            (Until::Ends { answers }, RunStatus::Asking) => !answers,
            (Until::Ends { .. }, _) | (Until::Waits, RunStatus::Moving) => false,
            (Until::Waits, _) => !self.is_paused_for_a_while(),
        };
        rests.then_some(rest)
    }

    /// Returns whether the run is paused by somebody who lets it go on again: its parent, or the
    /// watch over the machine. For a person's pause somebody must come.
    fn is_paused_for_a_while(&self) -> bool {
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
                // question that is answered or too late is none any more.
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

/// What a command comes to.
enum Obeyed {
    Event(Event<Body>),
    Done,
    Detach,
}

const fn cancel(scope: Scope) -> Obeyed {
    Obeyed::Event(Event::Cancelled { scope })
}

/// Tells the sender of a word that it outlives the process.
fn tell(kept: oneshot::Sender<()>) {
    // Not everybody waits for that.
    let _: Result<(), ()> = kept.send(());
}

/// Waits for a command. Where the last handle is gone, the run is detached from.
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

/// Waits until a parent is paused or goes on. Where it is gone nobody changes that any more.
async fn changed(parent: &mut Option<watch::Receiver<bool>>) {
    let changed = match parent {
        Some(parent) => parent.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

/// Waits for the next look at the machine, and returns what the watch asks for.
async fn look(machine: &mut Option<(ResourceWatch, Interval)>) -> Option<PauseSignal> {
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
    // What was missed while a step was written need not be made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
