//! The place of conversations: starting and resuming them.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use pointsman_kernel::{body::Body, governor::Permissions};
use pointsman_runtime::{
    local_executor::LocalExecutor,
    observe::{Log, Notice, Observer, Question},
    session::{
        CommandSender, ConversationHandle, Persistence, RecalledRun, Receipt, Session,
        StartOptions, due,
    },
    store::{RunId, RunRow},
};
use serde_json::Value;

use crate::{
    agents::AGENTS,
    chart::Source,
    conversations::{self, ConversationFilter},
    line::{Ink, Line},
    piped_input::FirstMessage,
    report::Error,
};

/// Everything that a conversation needs but its words.
pub(crate) struct ChatSession<'a> {
    pub(crate) session: &'a Session,
    pub(crate) executor: &'a LocalExecutor,
    /// The agent that new conversations are held with.
    pub(crate) agent: &'a str,
    /// Its chart, with the limits that were set.
    pub(crate) chart: &'a str,
    pub(crate) config: Value,
    pub(crate) permissions: Permissions,
    pub(crate) seed: Option<u64>,
    /// The folder that is worked in.
    pub(crate) folder: PathBuf,
    /// The other observers.
    pub(crate) others: Vec<Arc<dyn Observer>>,
    /// Set when something happened: interrupts a waiting prompt.
    pub(crate) stirred: Arc<AtomicBool>,
    /// Set when the program is to end.
    pub(crate) ending: Arc<AtomicBool>,
}

/// A conversation that is being held.
pub(super) struct OpenConversation {
    pub(super) conversation: ConversationHandle,
    pub(super) commands: CommandSender,
    pub(super) notices: mpsc::Receiver<Notice>,
    /// Messages that the run has not received yet, oldest first.
    pub(super) unheard: Vec<PendingMessage>,
    /// Whether the run listens.
    pub(super) listens: bool,
    /// Whether it reports at its end.
    pub(super) reports: bool,
    /// The agent.
    pub(super) agent: Box<str>,
}

/// A message that the run has not received.
pub(super) struct PendingMessage {
    pub(super) text: String,
    /// Whether the person sees it already.
    pub(super) seen: bool,
    /// Its receipt; nothing if it was stored before.
    receipt: Option<Receipt>,
}

impl PendingMessage {
    /// Returns whether no process was left to receive it.
    pub(super) fn is_lost(&mut self) -> bool {
        self.receipt.as_mut().is_some_and(|receipt| receipt.persistence() == Persistence::Lost)
    }

    /// Returns whether it outlives this process.
    pub(super) fn is_kept(&mut self) -> bool {
        self.receipt.as_mut().is_none_or(|receipt| receipt.persistence() == Persistence::Stored)
    }
}

impl OpenConversation {
    /// Sends a message; the run receives it when it awaits one.
    pub(super) fn say(&mut self, text: &str, seen: bool) {
        let receipt = Some(self.commands.say(text));
        self.unheard.push(PendingMessage { text: text.to_owned(), seen, receipt });
    }

    /// Returns the run.
    pub(super) const fn run(&self) -> &RunId {
        self.conversation.run()
    }
}

impl ChatSession<'_> {
    /// Starts a conversation with its first message, which is also its title.
    pub(super) fn begin(&self, first: &FirstMessage) -> Result<OpenConversation, Error> {
        let source = Source { name: self.agent.into(), text: self.chart.into() };
        let start = StartOptions {
            program: source.program()?,
            source: self.chart.into(),
            config: Body::canonical(&self.config),
            words: Vec::new(),
            goal: first.goal.as_str().into(),
            permissions: self.permissions.clone(),
            seed: self.seed,
        };
        let (observers, notices) = self.observers();
        let conversation =
            self.session.converse(self.executor, start, observers).map_err(Error::Session)?;
        let mut talk = talk(conversation, notices, self.agent);
        talk.say(&first.text, true);
        Ok(talk)
    }

    /// Resumes a conversation. One that has ended continues in a new run, which shares its past.
    /// Also returns the messages so far.
    pub(super) fn resume_conversation(
        &self,
        row: &RunRow,
    ) -> Result<(OpenConversation, RecalledRun), Error> {
        check(row)?;
        let id = match row.ended {
            Some(_) => self.session.again(&row.id).map_err(Error::Session)?,
            None => row.id.clone(),
        };
        let recalled = self.session.recall(&id, None).map_err(Error::Session)?;
        let unheard = self.session.unheard(&id).map_err(Error::Session)?;
        let (observers, notices) = self.observers();
        let conversation = self
            .session
            .resume_conversation(self.executor, &id, observers)
            .map_err(Error::Session)?;
        let mut talk = talk(conversation, notices, &row.agent);
        let kept = |text| PendingMessage { text, seen: false, receipt: None };
        talk.unheard = unheard.into_iter().map(kept).collect();
        talk.listens = recalled.listens();
        Ok((talk, recalled))
    }

    /// Returns until when a question can be answered, where that is known.
    pub(super) fn due(&self, run: &RunId, question: &Question) -> Option<u64> {
        self.session.block_on(self.session.store().run(run)).ok().map(|row| due(&row, question))
    }

    /// Refuses a conversation that works in another folder: here its calls would land in
    /// this one.
    pub(super) fn here(&self, row: &RunRow) -> Result<(), Error> {
        let place = self.session.place(&row.id).map_err(Error::Session)?;
        match place.and_then(|place| place.dir) {
            Some(dir) if self.executor.place().dir.as_ref() != Some(&dir) => {
                Err(Error::Elsewhere { run: row.id.to_string(), dir })
            }
            _ => Ok(()),
        }
    }

    /// Returns another conversation of this folder and agent: the newest, or the person's choice.
    pub(super) fn another(&self, held: Option<&RunId>) -> Result<Option<RunRow>, Error> {
        let folder = conversations::whole(&self.folder);
        let wanted = ConversationFilter { agent: Some(self.agent), folder: Some(&folder) };
        wanted.choose(self.session, true, held.map(RunId::as_str))
    }

    /// Keeps messages that an ended run never received for the run that continues it, and reports
    /// them.
    pub(super) fn keep(&self, run: &RunId, unheard: &[PendingMessage]) -> Result<Vec<Line>, Error> {
        let mut lines = Vec::new();
        for PendingMessage { text, .. } in unheard {
            self.session.say(run, text).map_err(Error::Session)?;
            lines.push(Line::of(Ink::Warning, "not delivered: ").and(Ink::Plain, text));
        }
        if !unheard.is_empty() {
            let next = format!("next: pointsman chat --resume {run}   (delivers it first)");
            lines.push(Line::of(Ink::Dim, &next));
        }
        Ok(lines)
    }

    fn observers(&self) -> (Vec<Arc<dyn Observer>>, mpsc::Receiver<Notice>) {
        let (sender, notices) = mpsc::channel();
        let stirs = Stirs(Arc::clone(&self.stirred));
        let tells: Arc<dyn Observer> = Arc::new(Tells { sender, stirs });
        let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log), tells];
        observers.extend(self.others.iter().cloned());
        (observers, notices)
    }
}

/// Forwards notices to the front end. When the run no longer has an owner, this is dropped: the
/// channel closes, and a waiting prompt is interrupted.
struct Tells {
    sender: mpsc::Sender<Notice>,
    stirs: Stirs,
}

impl Observer for Tells {
    fn notice(&self, _: &RunId, notice: &Notice) {
        // The receiver may be gone.
        drop(self.sender.send(notice.clone()));
        if notice.is_transition() || notice.is_end() {
            self.stirs.stir();
        }
    }
}

struct Stirs(Arc<AtomicBool>);

impl Stirs {
    fn stir(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Drop for Stirs {
    fn drop(&mut self) {
        self.stir();
    }
}

/// Rejects a run that is not a conversation.
pub(crate) fn check(row: &RunRow) -> Result<(), Error> {
    if AGENTS.decl(&row.agent).converses() {
        return Ok(());
    }
    Err(Error::NoTalker { run: row.id.to_string(), agent: row.agent.to_string() })
}

fn talk(
    conversation: ConversationHandle,
    notices: mpsc::Receiver<Notice>,
    agent: &str,
) -> OpenConversation {
    let commands = conversation.commands();
    OpenConversation {
        conversation,
        commands,
        notices,
        unheard: Vec::new(),
        listens: false,
        reports: AGENTS.decl(agent).plans(),
        agent: agent.into(),
    }
}

/// Reads lines on its own thread, as long as they are taken.
pub(super) fn reader(sender: mpsc::SyncSender<std::io::Result<String>>) {
    thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                break;
            }
        }
    });
}
