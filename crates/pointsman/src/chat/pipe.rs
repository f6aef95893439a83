//! A conversation without a screen: one message, or one for each line of input; answers are
//! printed as they are. Questions are asked only at a terminal.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal, Write as _},
    process::ExitCode,
    sync::mpsc::{self, RecvTimeoutError, TryRecvError},
    time::Duration,
};

use pointsman_kernel::id::EffectId;
use pointsman_runtime::{
    clock,
    driver::RunStatus,
    observe::{LiveNotice, Notice, Question},
    store::RunRow,
    timeline::TimelineKind,
};

use super::{
    history,
    session::{ChatSession, OpenConversation, reader},
};
use crate::{
    dialogue::{Dialogue, DialogueEvent},
    ending::{conclude, needs_no_word},
    format,
    input_line::InputLine,
    line::Line,
    notify::{NoticePrinter, note},
    piped_input::FirstMessage,
    report::{self, Error},
    terminal_approver,
};

/// Time between two looks at what was read and what happened.
const LOOK: Duration = Duration::from_millis(40);
/// Lines that may wait to be said: more are read when these were.
const AHEAD: usize = 64;
/// Characters of an error: what to do may be at its end.
const REASON: usize = 1_000;
/// Characters of a queued message that are shown.
const QUEUED: usize = 200;

/// How to read the input, and what to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Whether lines are read from standard input, each a message.
    pub(crate) lines: bool,
    /// Whether another observer prints JSON.
    pub(crate) json: bool,
    /// Whether the last answer alone is printed.
    pub(crate) last: bool,
}

/// Sends the messages, and prints the answers.
pub(crate) fn plainly(
    room: &ChatSession<'_>,
    resumed: Option<&RunRow>,
    message: Option<FirstMessage>,
    mode: Mode,
) -> Result<ExitCode, Error> {
    let Mode { lines, json, last } = mode;
    let typed = lines && io::stdin().is_terminal() && !json;
    let calls = BTreeSet::new();
    let (held, question, answer) = (None, None, None);
    let teller = NoticePrinter::default();
    let mut pipe =
        Pipe { room, held, question, offered: false, typed, mode, answer, calls, teller };
    if let Some(row) = resumed {
        let (talk, recalled) = room.resume_conversation(row)?;
        if !json && !last {
            for line in history::last(&recalled.messages()) {
                note(&line.text());
            }
        }
        pipe.hold(talk);
    }
    if let Some(message) = message {
        pipe.open(&message)?;
    }
    let (sender, read) = mpsc::sync_channel(AHEAD);
    if lines {
        reader(sender);
    } else {
        drop(sender);
    }
    if resumed.is_none() {
        // A joining front end learns when the run awaits a message.
        pipe.prompt();
    }
    loop {
        match read.recv_timeout(LOOK) {
            Ok(line) => {
                let read = |source| Error::Read { path: "standard input".into(), source };
                pipe.line(&line.map_err(read)?)?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if pipe.hear(None)? {
            return pipe.end(&read);
        }
        pipe.offer();
    }
    // The input has ended, and no one is left to answer a question.
    pipe.typed = false;
    if let Some(talk) = &pipe.held {
        talk.commands.close();
        talk.commands.unattended();
        while !pipe.hear(Some(LOOK))? {}
    }
    pipe.end(&read)
}

struct Pipe<'a> {
    room: &'a ChatSession<'a>,
    held: Option<OpenConversation>,
    /// The open question. Without a terminal it is not asked.
    question: Option<Dialogue>,
    /// Whether it was said what can be answered.
    offered: bool,
    /// Whether a person types the lines.
    typed: bool,
    mode: Mode,
    /// The last answer, where that alone is printed.
    answer: Option<String>,
    /// Running tool calls: their results are not answers.
    calls: BTreeSet<EffectId>,
    /// Who words what happens, and an error once.
    teller: NoticePrinter,
}

impl Pipe<'_> {
    /// Takes a line: an answer where one is wanted, else a message.
    fn line(&mut self, line: &str) -> Result<(), Error> {
        let Some(dialogue) = self.question.as_mut().filter(|_| self.typed) else {
            return if line.trim().is_empty() { Ok(()) } else { self.say(line) };
        };
        self.offered = false;
        match dialogue.line(line, clock::instant()) {
            DialogueEvent::More => Ok(()),
            DialogueEvent::Show(rows) => {
                tell(&rows);
                Ok(())
            }
            DialogueEvent::Message(text) => {
                note(&format!("queued: {}", format::line(&text, QUEUED)));
                self.say(&text)
            }
            // Resuming the run asks again.
            DialogueEvent::Later => {
                self.typed = false;
                if let Some(talk) = &self.held {
                    talk.commands.unattended();
                }
                Ok(())
            }
            DialogueEvent::Decided(decision, kept) => {
                let kept = kept.as_ref().map(terminal_approver::keep);
                let lines: Vec<Line> =
                    std::iter::once(terminal_approver::told(&decision)).chain(kept).collect();
                tell(&lines);
                if let (Some(talk), Some(dialogue)) = (&self.held, self.question.take()) {
                    talk.commands.decide(dialogue.question().effect, decision);
                }
                Ok(())
            }
        }
    }

    /// Says what can be answered, once that counts.
    fn offer(&mut self) {
        let Some(dialogue) = self.question.as_ref().filter(|_| self.typed && !self.offered) else {
            return;
        };
        let now = clock::instant();
        if dialogue.counts(now) {
            tell(&dialogue.choices(now));
            self.offered = true;
        }
    }

    fn say(&mut self, text: &str) -> Result<(), Error> {
        self.open(&FirstMessage { goal: text.into(), text: text.into() })
    }

    fn open(&mut self, opening: &FirstMessage) -> Result<(), Error> {
        if let Some(talk) = &mut self.held {
            talk.say(&opening.text, true);
        } else {
            let talk = self.room.begin(opening)?;
            self.hold(talk);
        }
        Ok(())
    }

    /// Holds a conversation. Without a terminal, a question ends it: pending messages are kept for
    /// the process that resumes the run.
    fn hold(&mut self, talk: OpenConversation) {
        if !self.typed {
            talk.commands.unattended();
        }
        self.held = Some(talk);
    }

    /// Takes what has happened; waits for it, if it is to. Returns whether that was the end.
    fn hear(&mut self, wait: Option<Duration>) -> Result<bool, Error> {
        let mut wait = wait;
        loop {
            let Some(talk) = &mut self.held else { return Ok(false) };
            let heard = match wait.take() {
                Some(wait) => match talk.notices.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => return Ok(false),
                    heard => heard.map_err(|_| TryRecvError::Disconnected),
                },
                None => talk.notices.try_recv(),
            };
            match heard {
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => return Ok(true),
                Ok(notice) => {
                    if self.take(notice)? {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Prints answers to standard output, and beside them the rest that is worth a line.
    fn print(&mut self, notice: &Notice) -> Result<(), Error> {
        let line = match notice.kind() {
            Some(TimelineKind::Started { effect, call: Some(_), .. }) => {
                self.calls.insert(*effect);
                self.teller.told(notice)
            }
            Some(kind @ TimelineKind::Answered { effect, ok: true, .. }) => {
                if self.calls.remove(effect) {
                    self.teller.told(notice)
                } else if let Some(output) = kind.output() {
                    let text = Some(output.trim()).filter(|text| !text.is_empty());
                    if self.mode.last {
                        self.answer = text.map(str::to_owned).or_else(|| self.answer.take());
                        return Ok(());
                    }
                    return text.map_or(Ok(()), |text| report::data(&format!("{}\n", shown(text))));
                } else {
                    self.teller.told(notice)
                }
            }
            Some(TimelineKind::Started { .. } | TimelineKind::Transition { .. }) => None,
            _ => self.teller.told(notice),
        };
        if let Some((_, line)) = line.filter(|_| !self.mode.last) {
            note(&line);
        }
        Ok(())
    }

    fn take(&mut self, notice: Notice) -> Result<bool, Error> {
        if !self.mode.json {
            self.print(&notice)?;
        }
        let refused = matches!(notice, Notice::Live(LiveNotice::Refused(_)));
        match notice {
            notice if notice.is_end() => return Ok(true),
            Notice::Live(LiveNotice::Ask(question)) => self.asked(question),
            Notice::Live(LiveNotice::Discard(effect)) => {
                let gone = self.question.take_if(|it| it.question().effect == effect);
                if gone.is_some() && self.typed {
                    note(terminal_approver::ELSEWHERE);
                }
            }
            notice if notice.listens() => {
                self.question = None;
                let said = self.held.as_mut().map(|talk| {
                    talk.listens = true;
                    talk.unheard.is_empty()
                });
                if said.unwrap_or(true) {
                    self.prompt();
                }
            }
            notice if notice.is_transition() || refused => {
                // Anything that is received or rejected while the run awaits a message is a
                // message.
                if let Some(talk) = self.held.as_mut().filter(|talk| talk.listens) {
                    talk.listens = refused;
                    talk.unheard.drain(..talk.unheard.len().min(1));
                }
            }
            _ => {}
        }
        Ok(false)
    }

    /// Asks a person at a terminal, showing everything: they can scroll.
    fn asked(&mut self, question: Question) {
        let dialogue = Dialogue::new(question, &self.room.folder, clock::instant());
        let due = self.held.as_ref().map(|talk| self.room.due(talk.run(), dialogue.question()));
        let mut dialogue = dialogue.in_chat(InputLine::default()).until(due.flatten());
        let rows = dialogue.rest();
        if self.typed {
            tell(&rows);
        }
        (self.question, self.offered) = (Some(dialogue), false);
    }

    fn prompt(&self) {
        if self.typed {
            drop(write!(io::stderr(), "> "));
        }
    }

    fn end(self, read: &mpsc::Receiver<io::Result<String>>) -> Result<ExitCode, Error> {
        let Some(OpenConversation { conversation, commands, mut unheard, reports, .. }) = self.held
        else {
            if !self.mode.json {
                note("no message was sent");
            }
            return Ok(ExitCode::SUCCESS);
        };
        drop(commands);
        let outcome = conversation.wait().map_err(Error::Session)?;
        if !matches!(outcome.status, RunStatus::Ended(_)) {
            // What was said too late, or read and not said, waits with the question.
            let late = unheard.iter_mut().filter_map(|it| it.is_lost().then(|| it.text.clone()));
            let lines = std::iter::from_fn(|| read.recv_timeout(LOOK).ok()?.ok()).take(AHEAD);
            for text in late.chain(lines.filter(|line| !line.trim().is_empty())) {
                self.room.session.say(&outcome.run, &text).map_err(Error::Session)?;
            }
            if matches!(read.recv_timeout(LOOK), Err(RecvTimeoutError::Disconnected)) {
                self.room.session.close(&outcome.run).map_err(Error::Session)?;
            }
        }
        let ended = matches!(outcome.status, RunStatus::Ended(_));
        if self.mode.last {
            let answer = if reports { outcome.result.clone() } else { self.answer };
            if let Some(answer) = answer.filter(|_| ended) {
                report::data(&format!("{}\n", shown(&answer)))?;
            }
            if needs_no_word(self.room.session, &outcome) {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let with_result = reports && ended && !self.mode.last;
        let code = conclude(self.room.session, &outcome, self.mode.json, with_result)?;
        // Where the answer alone is printed, nothing said before why there is none.
        if let Some(error) = outcome.error.as_ref().filter(|_| self.mode.last && !self.mode.json) {
            note(&format!("reason: {}", format::line(&error.message, REASON)));
        }
        let lines = if ended { self.room.keep(&outcome.run, &unheard)? } else { Vec::new() };
        for line in lines.iter().filter(|_| !self.mode.json) {
            note(&line.text());
        }
        Ok(code)
    }
}

/// Returns an answer as it is printed: on a terminal nothing steers it.
fn shown(text: &str) -> String {
    if io::stdout().is_terminal() { format::prose(text) } else { text.into() }
}

/// Writes lines without colours.
fn tell(lines: &[Line]) {
    for line in lines {
        note(&line.text());
    }
}
