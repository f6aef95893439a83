//! While a run is busy: its work is shown, its questions are asked, and typed lines are queued.

use std::{
    collections::VecDeque,
    io,
    sync::{atomic::Ordering, mpsc::TryRecvError},
};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pointsman_runtime::{
    clock,
    observe::{LiveNotice, Notice, Question},
};

use super::{
    session::{ChatSession, OpenConversation},
    slash::Slash,
    turn::TurnView,
};
use crate::{
    dialogue::{Dialogue, DialogueEvent},
    format,
    input_line::{InputLine, SubmittedLine, TypingStart},
    line::{Ink, Line},
    screen::{TerminalScreen, suspends},
    terminal_approver,
};

/// Characters of a queued message that are shown.
const QUEUED: usize = 200;

/// Why watching ends.
pub(super) enum After {
    /// The run listens; this was typed and not sent.
    Listens(String),
    /// The person leaves.
    Left,
    /// The run has ended or no longer has an owner; this text was typed and not sent.
    Over(String),
}

/// A busy run, and the person who watches it.
pub(super) struct Busy<'a> {
    room: &'a ChatSession<'a>,
    talk: &'a mut OpenConversation,
    screen: TerminalScreen,
    turn: TurnView,
    /// The line being typed; a question takes it over.
    typed: InputLine,
    questions: VecDeque<Question>,
    dialogue: Option<Dialogue>,
    cancelled: bool,
    left: bool,
}

impl<'a> Busy<'a> {
    /// Watches until the run awaits a message and has received everything, or it is over.
    pub(super) fn watch(
        room: &'a ChatSession<'a>,
        talk: &'a mut OpenConversation,
        typed: String,
    ) -> io::Result<After> {
        let questions = VecDeque::new();
        let screen = TerminalScreen::take()?;
        let turn = TurnView::new();
        let (dialogue, cancelled, left, typed) = (None, false, false, InputLine::of(typed));
        let mut busy =
            Self { room, talk, screen, turn, typed, questions, dialogue, cancelled, left };
        loop {
            if let Some(over) = busy.hear()? {
                return Ok(over);
            }
            if busy.talk.listens && busy.talk.unheard.is_empty() {
                // What stirs from now on is seen at the prompt.
                if busy.room.stirred.swap(false, Ordering::AcqRel) {
                    continue;
                }
                busy.screen.say(&[Line::default()])?;
                return Ok(After::Listens(busy.typed.take()));
            }
            busy.ask()?;
            busy.draw()?;
            if let Some(event) = TerminalScreen::next()? {
                busy.take(event)?;
            }
            if busy.left {
                return Ok(After::Left);
            }
        }
    }

    /// Takes everything that has happened.
    fn hear(&mut self) -> io::Result<Option<After>> {
        loop {
            let notice = match self.talk.notices.try_recv() {
                Ok(notice) => notice,
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Ok(Some(self.over())),
            };
            if notice.is_transition() && self.talk.listens {
                self.talk.listens = false;
                self.heard()?;
            }
            let shown = self.turn.take(&notice, TerminalScreen::columns());
            if !shown.struck.is_empty() {
                self.screen.strike(&shown.struck)?;
            }
            self.screen.say(&shown.lines)?;
            match notice {
                Notice::Live(LiveNotice::Ask(question)) => self.questions.push_back(question),
                // The question no longer needs an answer.
                Notice::Live(LiveNotice::Discard(effect)) => {
                    let was_put = self.withdraw(|it| it.effect == effect);
                    if was_put {
                        self.screen.say(&[Line::of(Ink::Dim, terminal_approver::ELSEWHERE)])?;
                    }
                }
                // What a run refuses while it listens is a word.
                Notice::Live(LiveNotice::Refused(_)) if self.talk.listens => self.heard()?,
                notice if notice.is_end() => return Ok(Some(self.over())),
                notice if notice.listens() => {
                    self.talk.listens = true;
                    self.withdraw(|_| true);
                }
                _ => {}
            }
        }
    }

    fn over(&mut self) -> After {
        self.close();
        After::Over(self.typed.take())
    }

    /// The run has received the oldest message: a turn begins. A queued message is shown now.
    fn heard(&mut self) -> io::Result<()> {
        self.turn = TurnView::new();
        self.cancelled = false;
        if self.talk.unheard.is_empty() {
            return Ok(());
        }
        let unheard = self.talk.unheard.remove(0);
        if !unheard.seen {
            self.screen.say(&message(&unheard.text))?;
        }
        Ok(())
    }

    /// Takes questions back; returns whether one was being put.
    fn withdraw(&mut self, gone: impl Fn(&Question) -> bool) -> bool {
        self.questions.retain(|question| !gone(question));
        let was_put = self.dialogue.as_ref().is_some_and(|dialogue| gone(dialogue.question()));
        if was_put {
            self.close();
        }
        was_put
    }

    /// Ends the question that is being put; the line that was not sent stays.
    fn close(&mut self) {
        if let Some(dialogue) = self.dialogue.take() {
            self.typed = dialogue.into_entry();
        }
    }

    /// Puts the next question, unless one is being put.
    fn ask(&mut self) -> io::Result<()> {
        if self.dialogue.is_none()
            && let Some(question) = self.questions.pop_front()
        {
            let due = self.room.due(self.talk.run(), &question);
            let dialogue = Dialogue::new(question, &self.room.folder, clock::instant()).until(due);
            let mut dialogue = dialogue.in_chat(std::mem::take(&mut self.typed));
            self.screen.say(&dialogue.page())?;
            self.dialogue = Some(dialogue);
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let mut lines = self.turn.live(self.dialogue.is_some());
        let mut cursor = None;
        for unheard in self.talk.unheard.iter_mut().filter(|it| !it.seen) {
            // Who reads that it is queued may pull the plug.
            let how = if unheard.is_kept() { "queued" } else { "sends" };
            let text = format::line(&unheard.text, QUEUED);
            lines.push(Line::of(Ink::Dim, &format!("  {how}: {text}")));
        }
        if let Some(dialogue) = &self.dialogue {
            let (view, column) = dialogue.view(clock::instant());
            lines.extend(view);
            cursor = Some(column);
        } else if !self.typed.is_empty() {
            let (line, column) = self.typed.row(TerminalScreen::columns());
            lines.push(line);
            cursor = Some(column);
        }
        self.screen.draw(&lines, cursor)
    }

    fn take(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Paste(text) => {
                match &mut self.dialogue {
                    Some(dialogue) => dialogue.paste(&text, clock::instant()),
                    None => self.typed.paste(&text, TypingStart::Before),
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn key(&mut self, key: KeyEvent) -> io::Result<()> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let typed = self.dialogue.as_ref().map_or(&self.typed, Dialogue::entry);
        match key.code {
            _ if suspends(&key) => return self.screen.suspend(),
            KeyCode::Char('c') if control => self.cancel(),
            KeyCode::Char('d') if control && typed.is_empty() => self.left = true,
            _ if self.dialogue.is_some() => return self.answer(key),
            _ => {
                if let Some(SubmittedLine { text, .. }) = self.typed.key(key, TypingStart::Before) {
                    return self.send(&text);
                }
            }
        }
        Ok(())
    }

    /// Cancels the turn; who wants that twice leaves.
    fn cancel(&mut self) {
        if self.cancelled {
            self.left = true;
        }
        self.cancelled = true;
        self.turn.cancel();
        self.talk.commands.cancel_turn();
    }

    /// Sends what was typed. It waits until the run listens.
    fn send(&mut self, typed: &str) -> io::Result<()> {
        match Slash::read(typed) {
            Some(Slash::Cancel) => self.cancel(),
            Some(Slash::Quit) => self.left = true,
            Some(_) => {
                let note = "only /cancel and /quit work while the agent is busy";
                self.screen.say(&[Line::of(Ink::Dim, note)])?;
            }
            None if typed.trim().is_empty() => {}
            None => self.talk.say(typed, false),
        }
        Ok(())
    }

    /// Gives a key to the question that is being put.
    fn answer(&mut self, key: KeyEvent) -> io::Result<()> {
        let Some(dialogue) = &mut self.dialogue else { return Ok(()) };
        match dialogue.key(key, clock::instant()) {
            DialogueEvent::More => {}
            // The question stays open.
            DialogueEvent::Message(text) => return self.send(&text),
            DialogueEvent::Show(rows) => drop(self.screen.say(&rows)?),
            DialogueEvent::Later => {
                self.screen.say(&[Line::of(Ink::Dim, "  left for later")])?;
                self.left = true;
            }
            DialogueEvent::Decided(decision, kept) => {
                let question = dialogue.question().clone();
                let kept = kept.as_ref().map(terminal_approver::keep);
                let lines: Vec<Line> =
                    std::iter::once(terminal_approver::told(&decision)).chain(kept).collect();
                self.screen.say(&lines)?;
                if let Some(call) = question.call().filter(|_| !decision.granted) {
                    self.turn.calling().denied(call, &decision.reason);
                }
                self.talk.commands.decide(question.effect, decision);
                self.close();
            }
        }
        Ok(())
    }
}

/// Returns a message as part of a conversation.
fn message(text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate().map(|(at, line)| {
        Line::of(Ink::Accent, if at == 0 { "› " } else { "· " }).and(Ink::Plain, line)
    });
    std::iter::once(Line::default()).chain(lines).collect()
}
