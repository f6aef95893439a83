//! Conversations: messages go to a run at any time, and observers see what happens.
//!
//! The driving process stores a message as soon as it is sent: from then on it survives the
//! process, and the run receives it when it next awaits one.

use std::sync::Arc;

use pointsman_kernel::{body::Body, event::Event, id::EffectId, job::AgentDecl};
use serde_json::json;
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use super::{ApprovalDecision, RunSummary, Session, SessionError, StartOptions, drive::Pressed};
use crate::{
    driver::{Driver, PreparedRun},
    engine::{DrivenRun, talking, until_end},
    local_executor::LocalExecutor,
    mailbox::is_word,
    observe::Observer,
    store::RunId,
    task::{Command, Until},
};

/// The event for the end of the input.
const CLOSED: &str = "input_closed";

/// Sends commands to a run. It can be cloned; dropping the last one detaches from the run.
#[derive(Clone, Debug)]
pub struct CommandSender {
    commands: mpsc::UnboundedSender<Command>,
    closed: Option<u16>,
}

impl CommandSender {
    pub(crate) fn new(commands: mpsc::UnboundedSender<Command>, agent: &AgentDecl) -> Self {
        Self { commands, closed: closed(agent) }
    }

    /// Says something in plain words. While the run is busy it waits its turn.
    pub fn say(&self, text: &str) -> Receipt {
        self.submit(said(text))
    }

    /// Says something that is more than words: the body of the agent's first event.
    pub fn give(&self, body: Body) -> Receipt {
        self.submit(giving(0, body))
    }

    /// Cancels the turn; the conversation is kept, and the run awaits the next message.
    pub fn cancel_turn(&self) {
        self.send(Command::CancelTurn);
    }

    /// Answers a question.
    pub fn decide(&self, effect: EffectId, decision: ApprovalDecision) {
        self.send(Command::Decide(effect, decision));
    }

    /// Closes the input: the run ends once it has received everything.
    pub fn close(&self) {
        if let Some(event) = self.closed {
            drop(self.submit(closing(event)));
        }
    }

    /// Says that no one here answers questions: detach from the run as soon as it waits only for a
    /// person, or at once if it does.
    pub fn unattended(&self) {
        self.send(Command::Unattended);
    }

    /// Detaches from the run. It can be resumed later.
    pub fn leave(&self) {
        self.send(Command::Detach);
    }

    fn submit(&self, event: Event<Body>) -> Receipt {
        let (persistence, told) = oneshot::channel();
        self.send(Command::Send(event, persistence));
        Receipt { told, persistence: Persistence::Pending }
    }

    pub(crate) fn send(&self, command: Command) {
        // A run that has ended receives nothing more; its outcome says so.
        drop(self.commands.send(command));
    }
}

/// The status of a sent message.
#[derive(Debug)]
pub struct Receipt {
    told: oneshot::Receiver<()>,
    persistence: Persistence,
}

/// The status of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Persistence {
    /// It is not on disk yet: a crash now loses it.
    Pending,
    /// It is on disk, and waits until the run receives it.
    Stored,
    /// The run has no owner that could have received it.
    Lost,
}

impl Receipt {
    /// Returns the status of the message.
    pub fn persistence(&mut self) -> Persistence {
        if self.persistence == Persistence::Pending {
            self.persistence = match self.told.try_recv() {
                Ok(()) => Persistence::Stored,
                Err(oneshot::error::TryRecvError::Empty) => Persistence::Pending,
                Err(oneshot::error::TryRecvError::Closed) => Persistence::Lost,
            };
        }
        self.persistence
    }
}

/// Returns the event for a plain message.
pub(super) fn said(text: &str) -> Event<Body> {
    giving(0, Body::canonical(&json!({ "text": text })))
}

/// Returns an event for a run.
fn giving(event: u16, body: Body) -> Event<Body> {
    Event::Given { event, body: body.into() }
}

/// Returns the event for the end of the input.
pub(super) fn closing(event: u16) -> Event<Body> {
    giving(event, Body::default())
}

/// Returns the events of a conversation with these messages, and the end of its input;
/// without messages there is no conversation.
pub(crate) fn messages_and_end(agent: &AgentDecl, words: &[Body]) -> Vec<Event<Body>> {
    if words.is_empty() {
        return Vec::new();
    }
    let closed = closed(agent).map(closing);
    words.iter().map(|body| giving(0, body.clone())).chain(closed).collect()
}

/// Returns the event that closes the input, by its place among the agent's events.
pub(super) fn closed(agent: &AgentDecl) -> Option<u16> {
    (0..).zip(agent.events).find(|(_, name)| **name == CLOSED).map(|(event, _)| event)
}

/// A run that a person talks with.
#[derive(Debug)]
pub struct ConversationHandle {
    driven: DrivenRun,
    threads: Handle,
}

impl ConversationHandle {
    /// Returns the run.
    pub const fn run(&self) -> &RunId {
        &self.driven.run
    }

    /// Returns what says things to it.
    pub fn commands(&self) -> CommandSender {
        self.driven.sender.clone()
    }

    /// Waits until the run has ended or was detached from.
    pub async fn outcome(self) -> Result<RunSummary, SessionError> {
        self.driven.outcome().await
    }

    /// The same, for callers that do not await.
    pub fn wait(self) -> Result<RunSummary, SessionError> {
        let threads = self.threads.clone();
        threads.block_on(self.outcome())
    }
}

impl Session {
    /// Begins a run to talk with. Its first entry is on disk when this returns.
    pub fn converse(
        &self,
        executor: &LocalExecutor,
        start: StartOptions,
        observers: Vec<Arc<dyn Observer>>,
    ) -> Result<ConversationHandle, SessionError> {
        let engine = self.engine(executor);
        let beginning = PreparedRun { words: Vec::new(), ..engine.beginning(start)? };
        let driver = self.threads.block_on(engine.begin(beginning, observers))?;
        Ok(self.talk(driver))
    }

    /// Resumes a conversation. Observers first learn what it waits for.
    pub fn resume_conversation(
        &self,
        executor: &LocalExecutor,
        id: &RunId,
        observers: Vec<Arc<dyn Observer>>,
    ) -> Result<ConversationHandle, SessionError> {
        let (program, engine) = (Arc::new(self.program(id)?), self.engine(executor));
        let context = engine.context(observers);
        let driver = self.threads.block_on(async {
            let lease = engine.claim(id).await?;
            self.reopen(&lease, closed(program.agent())).await?;
            engine.unpause(&lease).await?;
            let heard = !self.store.messages(id).await?.iter().any(is_word);
            Ok::<_, SessionError>(Driver::rejoin(context, program, lease, heard).await?)
        })?;
        Ok(self.talk(driver))
    }

    fn talk(&self, driver: Driver) -> ConversationHandle {
        let (commands, taken) = mpsc::unbounded_channel();
        let run = driver.id().clone();
        // The last sender that goes detaches from the run, so the signals keep no sender.
        let pressing = commands.downgrade();
        let sender = CommandSender::new(commands, driver.program().agent());
        let driving = self.threads.spawn(async move {
            // Ctrl-C cancels the turn.
            let _pressed = Pressed::listen(pressing)?;
            until_end(talking(driver, Until::Ends { answers: true }, taken).await?).await
        });
        let threads = self.threads.clone();
        ConversationHandle { driven: DrivenRun { run, sender, driving }, threads }
    }
}
