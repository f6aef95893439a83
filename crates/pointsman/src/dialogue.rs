//! A question for a person: everything that it is about, page by page, and then the possible
//! answers.
//!
//! An answer is a whole line: a choice's letter or word, and Enter. Any other line is a message. A
//! line that was started before the question could be read, or that was pasted, answers nothing,
//! and yes counts only when everything was shown. The caller provides the time, so that tests need
//! not wait.

mod view;

pub(crate) use view::about;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crossterm::event::{KeyCode, KeyEvent};
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{observe::Question, session::ApprovalDecision};

use crate::{
    agents::toolbox,
    drive::Waits,
    input_line::{InputLine, SubmittedLine, TypingStart},
    line::{Ink, Line},
    screen::TerminalScreen,
    terminal_approver::{DENIED, GRANTED},
};

/// Rules that can be chosen from, by a number each.
const MOST_RULES: usize = 9;
/// Time without keys after which a line can be an answer.
const QUIET: Duration = Duration::from_secs(1);
/// Rows of the screen that a page leaves free, for what is above and below it.
const FREE: usize = 8;

/// A question for a person, line by line.
#[derive(Clone)]
pub(crate) struct Dialogue {
    question: Question,
    rules: Vec<Grant>,
    at: PromptStep,
    /// Rows that were not shown yet.
    left: Vec<Line>,
    /// The line that is being typed.
    entry: InputLine,
    /// When lines begin to count as answers; nothing once they do.
    quiet: Option<Instant>,
    /// Whether it can be left for later.
    waits: Waits,
    /// Whether a line that does not answer is a message to the run.
    talks: bool,
    /// Until when it can be answered, in milliseconds since 1970.
    due: Option<u64>,
}

/// The current prompt.
#[derive(Clone)]
enum PromptStep {
    /// Yes or no.
    Choice,
    /// Which calls "always" means.
    Rule,
    /// For how long "always" is.
    Scope(Grant),
    /// A line that goes with the answer; and the answer, if it is known.
    Words(Option<bool>),
    /// Yes or no, now that the line is there.
    WithWords(String),
}

/// What can be chosen.
#[derive(Clone, Copy)]
enum Choice {
    Yes,
    No,
    Always,
    Say,
    Later,
    More,
    Whole,
    Back,
    Rule(usize),
    ThisRun,
    EveryRun,
}

/// The effect of a key.
#[derive(Debug)]
pub(crate) enum DialogueEvent {
    /// More is wanted.
    More,
    /// It is decided. A rule for other runs is saved too.
    Decided(ApprovalDecision, Option<Grant>),
    /// It is left for later.
    Later,
    /// Show these rows, which stay.
    Show(Vec<Line>),
    /// This line does not answer the question.
    Message(String),
}

impl Dialogue {
    /// Asks a question of a run that works in this folder.
    pub(crate) fn new(question: Question, folder: &Path, now: Instant) -> Self {
        Self::put(question, folder, None, Waits::Yes, now)
    }

    /// Asks a question that must be answered now, with a line about the current state.
    pub(crate) fn now(
        question: Question,
        folder: &Path,
        stands: Option<String>,
        now: Instant,
    ) -> Self {
        Self::put(question, folder, stands, Waits::No, now)
    }

    fn put(
        question: Question,
        folder: &Path,
        stands: Option<String>,
        waits: Waits,
        now: Instant,
    ) -> Self {
        let rules = question.call().map(|call| toolbox().grants(call)).unwrap_or_default();
        let rules = rules.into_iter().take(MOST_RULES).collect();
        let columns = TerminalScreen::columns();
        let stands = stands.map(|it| Line::of(Ink::Plain, &it).indented(2));
        let about = about(&question, Some(folder)).into_iter().chain(stands);
        let left = about.flat_map(|it| it.wrapped(columns)).collect();
        let (at, quiet, entry) = (PromptStep::Choice, Some(now + QUIET), InputLine::default());
        Self { question, rules, at, left, entry, quiet, waits, talks: false, due: None }
    }

    /// The question appears in a conversation, where the person may already be typing: that line
    /// is a message.
    #[must_use]
    pub(crate) fn in_chat(self, typed: InputLine) -> Self {
        Self { entry: typed.before(), talks: true, ..self }
    }

    /// The question can be answered until this time, in milliseconds since 1970.
    #[must_use]
    pub(crate) fn until(self, due: Option<u64>) -> Self {
        Self { due, ..self }
    }

    /// Returns the question.
    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Returns the line that is being typed.
    pub(crate) const fn entry(&self) -> &InputLine {
        &self.entry
    }

    /// Ends it, and returns the line that was not sent.
    pub(crate) fn into_entry(self) -> InputLine {
        self.entry
    }

    /// Returns the next page of what the question is about.
    pub(crate) fn page(&mut self) -> Vec<Line> {
        let page = TerminalScreen::rows().saturating_sub(FREE).max(FREE);
        // A page of one row more is better than a page with one row.
        let rows = if self.left.len() <= page + 1 { self.left.len() } else { page };
        self.left.drain(..rows).collect()
    }

    /// Returns all that was not shown yet.
    pub(crate) fn rest(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.left)
    }

    /// Returns whether a line that is begun now can be an answer.
    pub(crate) fn counts(&self, now: Instant) -> bool {
        self.quiet.is_none_or(|until| until <= now)
    }

    /// Returns when a line begins that begins now.
    fn begins(&mut self, now: Instant) -> TypingStart {
        if self.counts(now) {
            self.quiet = None;
            return TypingStart::Calm;
        }
        self.disturb(now);
        TypingStart::Early
    }

    /// Lines do not count as answers for a while.
    fn disturb(&mut self, now: Instant) {
        self.quiet = Some(now + QUIET);
    }

    /// Takes text that was pasted.
    pub(crate) fn paste(&mut self, pasted: &str, now: Instant) {
        let begun = self.begins(now);
        self.entry.paste(pasted, begun);
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent, now: Instant) -> DialogueEvent {
        let begun = self.begins(now);
        if key.code == KeyCode::Esc
            && (self.entry.is_empty() || matches!(self.at, PromptStep::Words(_)))
        {
            drop(self.entry.take());
            return self.moved(PromptStep::Choice);
        }
        match self.entry.key(key, begun) {
            Some(line) => self.enter(line, now),
            None => DialogueEvent::More,
        }
    }

    /// Takes a whole line, where keys are not seen one by one.
    pub(crate) fn line(&mut self, text: &str, now: Instant) -> DialogueEvent {
        let begun = self.begins(now);
        self.enter(SubmittedLine { text: text.into(), pasted: false, begun }, now)
    }

    fn enter(&mut self, line: SubmittedLine, now: Instant) -> DialogueEvent {
        let said = line.text.trim();
        if let PromptStep::Words(granted) = self.at {
            let said = said.lines().collect::<Vec<_>>().join(" ");
            return match granted {
                Some(granted) => self.decided(granted, said),
                None => self.moved(PromptStep::WithWords(said)),
            };
        }
        if said.is_empty() {
            let pages = line.begun == TypingStart::Calm && !self.left.is_empty();
            return if pages { DialogueEvent::Show(self.page()) } else { DialogueEvent::More };
        }
        let choice =
            self.choice(said).filter(|_| !line.pasted && line.begun != TypingStart::Before);
        match choice {
            None => {
                self.disturb(now);
                DialogueEvent::Message(line.text)
            }
            Some(_) if line.begun == TypingStart::Early => {
                note("too soon: read the question, then type the answer again")
            }
            Some(Choice::Yes | Choice::Always | Choice::Say) if !self.left.is_empty() => {
                note("read the whole question first: type m and press Enter to see the rest")
            }
            Some(choice) => self.choose(choice),
        }
    }

    /// Reads a line as a choice: exactly its letter or its word.
    fn choice(&self, said: &str) -> Option<Choice> {
        let said = said.to_lowercase();
        let asks_call = self.question.call().is_some();
        Some(match (&self.at, said.as_str()) {
            (PromptStep::Choice | PromptStep::WithWords(_), "y" | "yes") => Choice::Yes,
            (PromptStep::Choice | PromptStep::WithWords(_), "n" | "no") => Choice::No,
            (PromptStep::Choice, "a" | "always") if !self.rules.is_empty() => Choice::Always,
            (PromptStep::Choice, "s" | "say") if !asks_call => Choice::Say,
            (PromptStep::Choice, "l" | "later") if self.waits == Waits::Yes => Choice::Later,
            (PromptStep::Choice, "m" | "more") if !self.left.is_empty() => Choice::More,
            (PromptStep::Choice, "w" | "whole") if !self.left.is_empty() => Choice::Whole,
            (PromptStep::Rule | PromptStep::Scope(_) | PromptStep::WithWords(_), "b" | "back") => {
                Choice::Back
            }
            (PromptStep::Scope(_), "r" | "run") => Choice::ThisRun,
            (PromptStep::Scope(_), "e" | "every") => Choice::EveryRun,
            (PromptStep::Rule, number) => {
                let at = number.parse::<usize>().ok()?.checked_sub(1)?;
                Choice::Rule(Some(at).filter(|at| *at < self.rules.len())?)
            }
            _ => return None,
        })
    }

    fn choose(&mut self, choice: Choice) -> DialogueEvent {
        let asks_call = self.question.call().is_some();
        match (choice, &self.at) {
            (Choice::More, _) => DialogueEvent::Show(self.page()),
            (Choice::Whole, _) => DialogueEvent::Show(self.rest()),
            (Choice::Later, _) => DialogueEvent::Later,
            (Choice::Back, _) => self.moved(PromptStep::Choice),
            (Choice::Yes | Choice::No, PromptStep::WithWords(said)) => {
                self.decided(matches!(choice, Choice::Yes), said.clone())
            }
            (Choice::Yes, _) => self.decided(true, String::new()),
            (Choice::No, _) if asks_call => self.moved(PromptStep::Words(Some(false))),
            (Choice::No, _) => self.decided(false, String::new()),
            (Choice::Say, _) => self.moved(PromptStep::Words(None)),
            (Choice::Always, _) => match self.rules.as_slice() {
                [only] => self.moved(PromptStep::Scope(only.clone())),
                _ => self.moved(PromptStep::Rule),
            },
            (Choice::Rule(at), _) => match self.rules.get(at).cloned() {
                Some(rule) => self.moved(PromptStep::Scope(rule)),
                None => DialogueEvent::More,
            },
            (Choice::ThisRun | Choice::EveryRun, PromptStep::Scope(rule)) => {
                let rule = rule.clone();
                let kept = matches!(choice, Choice::EveryRun).then(|| rule.clone());
                let how = if kept.is_some() { "every run" } else { "this run" };
                let reason = format!("{GRANTED}, for {how}");
                DialogueEvent::Decided(
                    ApprovalDecision { granted: true, reason, remember: Some(rule) },
                    kept,
                )
            }
            (Choice::ThisRun | Choice::EveryRun, _) => DialogueEvent::More,
        }
    }

    fn moved(&mut self, at: PromptStep) -> DialogueEvent {
        self.at = at;
        DialogueEvent::More
    }

    /// Decides. A call's answer has a reason in any case; what goes with a yes or no is
    /// the person's own words, or nothing.
    fn decided(&self, granted: bool, said: String) -> DialogueEvent {
        let unsaid = if granted { GRANTED } else { DENIED };
        let wants_one = self.question.call().is_some() && said.is_empty();
        let reason = if wants_one { unsaid.into() } else { said };
        DialogueEvent::Decided(ApprovalDecision { granted, reason, remember: None }, None)
    }
}

fn note(text: &str) -> DialogueEvent {
    DialogueEvent::Show(vec![Line::of(Ink::Warning, &format!("  {text}"))])
}

#[cfg(test)]
mod tests;
