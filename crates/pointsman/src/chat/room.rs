//! Where conversations are held: what begins one, and what goes on with one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use pointsman_kernel::governor::Permissions;
use pointsman_runtime::{
    host::Host,
    observe::{Log, Notice, Observer, Question},
    session::{Conversation, Kept, Recalled, Receipt, Session, Speaker, Start},
    store::{RunId, RunRow},
};
use serde_json::Value;

use crate::{chart::Source, report::Error};

/// The agents that hold conversations.
pub(crate) const TALKERS: [&str; 2] = ["chat", "code"];

/// Everything that a conversation needs but its words.
pub(crate) struct Room<'a> {
    pub(crate) session: &'a Session,
    pub(crate) host: &'a Host,
    /// The agent that new conversations are held with.
    pub(crate) agent: &'a str,
    pub(crate) config: Value,
    pub(crate) permissions: Permissions,
    pub(crate) seed: Option<u64>,
    /// Who is told beside whoever talks.
    pub(crate) others: Vec<Arc<dyn Observer>>,
}

/// A conversation that is being held.
pub(super) struct Talk {
    pub(super) conversation: Conversation,
    pub(super) speaker: Speaker,
    pub(super) notices: mpsc::Receiver<Notice>,
    /// Set when something happened: whoever waits at a prompt looks up.
    pub(super) stirred: Arc<AtomicBool>,
    /// What is said and not heard, the oldest first.
    pub(super) unheard: Vec<Unheard>,
    /// Whether the run listens.
    pub(super) listens: bool,
    /// Questions that were open when it was joined.
    pub(super) questions: Vec<Question>,
}

/// A message that the run has not heard.
pub(super) struct Unheard {
    pub(super) text: String,
    /// Whether the person sees it already.
    pub(super) seen: bool,
    /// What became of it; nothing where it was kept before.
    receipt: Option<Receipt>,
}

impl Unheard {
    /// Returns whether it outlives this process.
    pub(super) fn is_kept(&mut self) -> bool {
        self.receipt.as_mut().is_none_or(|receipt| receipt.kept() == Kept::Yes)
    }
}

impl Talk {
    /// Says something; the run hears it when it listens.
    pub(super) fn say(&mut self, text: &str, seen: bool) {
        let receipt = Some(self.speaker.say(text));
        self.unheard.push(Unheard { text: text.to_owned(), seen, receipt });
    }

    /// Returns the run.
    pub(super) const fn run(&self) -> &RunId {
        self.conversation.run()
    }
}

impl Room<'_> {
    /// Begins a conversation with its first words, which are what it is known by.
    pub(super) fn begin(&self, first: &str) -> Result<Talk, Error> {
        let source = Source::find(self.agent)?;
        let text = source.text.clone();
        let start = Start {
            chart: source.chart()?,
            source: text.into(),
            config: self.config.clone(),
            words: Vec::new(),
            goal: first.into(),
            permissions: self.permissions.clone(),
            seed: self.seed,
        };
        let (observers, notices, stirred) = self.observers();
        let conversation =
            self.session.converse(self.host, start, observers).map_err(Error::Session)?;
        let mut talk = talk(conversation, notices, stirred);
        talk.say(first, true);
        Ok(talk)
    }

    /// Goes on with a conversation. One that has ended is gone on with in a new run, which
    /// shares its past. Returns what was said so far, too.
    pub(super) fn rejoin(&self, row: &RunRow) -> Result<(Talk, Recalled), Error> {
        check(row)?;
        let id = match row.ended {
            Some(_) => self.session.fork(&row.id, None).map_err(Error::Session)?,
            None => row.id.clone(),
        };
        let recalled = self.session.recall(&id, None).map_err(Error::Session)?;
        let unheard = self.session.unheard(&id).map_err(Error::Session)?;
        let (observers, notices, stirred) = self.observers();
        let conversation =
            self.session.rejoin(self.host, &id, observers).map_err(Error::Session)?;
        let mut talk = talk(conversation, notices, stirred);
        let kept = |text| Unheard { text, seen: false, receipt: None };
        talk.unheard = unheard.into_iter().map(kept).collect();
        talk.listens = recalled.listens();
        talk.questions = recalled.loaded.questions();
        Ok((talk, recalled))
    }

    /// Returns the newest conversation.
    pub(super) fn newest(&self) -> Result<RunRow, Error> {
        let rows = self.session.store().runs().map_err(Error::Store)?;
        let mut talks = rows.into_iter().filter(|row| TALKERS.contains(&&*row.agent));
        talks.next().ok_or(Error::NoTalks)
    }

    fn observers(&self) -> (Vec<Arc<dyn Observer>>, mpsc::Receiver<Notice>, Arc<AtomicBool>) {
        let (sender, notices) = mpsc::channel();
        let stirred = Arc::new(AtomicBool::new(false));
        let stirs = Arc::clone(&stirred);
        let tells = move |_: &RunId, notice: &Notice| {
            if matches!(notice, Notice::StateChanged { .. } | Notice::Ended(_)) {
                stirs.store(true, Ordering::Relaxed);
            }
            // Whoever has stopped looking need not be told.
            drop(sender.send(notice.clone()));
        };
        let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log), Arc::new(tells)];
        observers.extend(self.others.iter().cloned());
        (observers, notices, stirred)
    }
}

/// Refuses a run that is no conversation.
pub(crate) fn check(row: &RunRow) -> Result<(), Error> {
    if TALKERS.contains(&&*row.agent) {
        return Ok(());
    }
    Err(Error::NoTalker { run: row.id.to_string(), agent: row.agent.to_string() })
}

fn talk(
    conversation: Conversation,
    notices: mpsc::Receiver<Notice>,
    stirred: Arc<AtomicBool>,
) -> Talk {
    let speaker = conversation.speaker();
    Talk {
        conversation,
        speaker,
        notices,
        stirred,
        unheard: Vec::new(),
        listens: false,
        questions: Vec::new(),
    }
}

/// Reads lines on a thread of its own, for as long as somebody takes them.
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
