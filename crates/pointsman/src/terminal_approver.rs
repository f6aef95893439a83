//! A person at the terminal, who approves calls and answers the questions of a chart. Every view
//! of a run asks in the same words.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pointsman_kernel::{body::Body, governor::Grant};
use pointsman_runtime::{
    clock,
    session::{ApprovalDecision, ApprovalRequest, Approver, ApproverReply},
};
use serde_json::Value;

use crate::{
    dialogue::{Dialogue, DialogueEvent},
    drive::Waits,
    format,
    line::{Ink, Line},
    live::Live,
    paths,
    screen::{TerminalScreen, suspends},
};

/// Reasons where no other is given.
pub(crate) const GRANTED: &str = "granted at the terminal";
pub(crate) const DENIED: &str = "denied at the terminal";
/// Characters shown of a line that does not answer the question.
const SHOWN: usize = 200;
/// The text for a withdrawn question.
pub(crate) const ELSEWHERE: &str = "  answered elsewhere, or no longer open";

/// Returns whether a person is at the terminal.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns a decision as it is shown to the person.
pub(crate) fn told(decision: &ApprovalDecision) -> Line {
    let (ink, word) = if decision.granted { (Ink::Good, "yes") } else { (Ink::Bad, "no") };
    // The usual reason is left out.
    let reason = decision.reason.as_str();
    let usual = reason.strip_prefix(GRANTED).or_else(|| reason.strip_prefix(DENIED));
    let reason = usual.map_or(reason, |rest| rest.trim_start_matches(", "));
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Line::of(ink, &format!("  {word}{reason}"))
}

/// Keeps a rule for other runs, and says so.
pub(crate) fn keep(rule: &Grant) -> Line {
    match paths::remember(rule) {
        Ok(file) => Line::of(Ink::Dim, &format!("  written to {}", file.display())),
        Err(error) => {
            let hint = error.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            Line::of(Ink::Bad, &format!("  applies to this run only: {error}{hint}"))
        }
    }
}

/// A person at the terminal, next to a view of the run.
pub(crate) struct TerminalApprover {
    /// The view that steps aside for questions.
    pub(crate) live: Option<Arc<Live>>,
    /// The folder that the run works in.
    pub(crate) folder: PathBuf,
    /// Set when the program is to end: no more questions are asked.
    pub(crate) ending: Arc<AtomicBool>,
    /// Whether a question can be left for later.
    pub(crate) waits: Waits,
}

/// No person is present, and the question cannot wait.
pub(crate) struct Absent;

impl Approver for Absent {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        no("no terminal is available to ask the question, and it cannot be left for later")
    }
}

fn no(reason: &str) -> ApproverReply {
    ApproverReply::Decided(ApprovalDecision {
        granted: false,
        reason: reason.into(),
        remember: None,
    })
}

impl Approver for TerminalApprover {
    fn decide(&mut self, asking: &ApprovalRequest<'_>) -> ApproverReply {
        // A closed terminal cannot say yes.
        let ask = || {
            self.ask(asking).unwrap_or_else(|_| match self.waits {
                Waits::Yes => ApproverReply::Later,
                Waits::No => no("the terminal was closed"),
            })
        };
        match &self.live {
            Some(live) => live.aside(ask),
            None => ask(),
        }
    }
}

impl TerminalApprover {
    /// Asks, with nothing else on the screen meanwhile.
    fn ask(&self, asking: &ApprovalRequest<'_>) -> io::Result<ApproverReply> {
        let mut screen = TerminalScreen::take()?;
        let question = asking.question.clone();
        let now = clock::instant();
        let mut dialogue = match self.waits {
            Waits::Yes => Dialogue::new(question, &self.folder, now),
            Waits::No => Dialogue::now(question, &self.folder, filled(asking.report.as_ref()), now),
        }
        .until(asking.due);
        screen.say(&dialogue.page())?;
        loop {
            let (lines, cursor) = dialogue.view(clock::instant());
            screen.draw(&lines, Some(cursor))?;
            let came = match next(&self.ending)? {
                _ if !asking.is_open() => {
                    screen.say(&[Line::of(Ink::Dim, ELSEWHERE)])?;
                    return Ok(ApproverReply::Later);
                }
                Some(Event::Key(key)) if suspends(&key) => {
                    screen.suspend()?;
                    DialogueEvent::More
                }
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    match self.gone(key, dialogue.entry().is_empty()) {
                        Some(reply) => return leave(&mut screen, reply),
                        None => dialogue.key(key, clock::instant()),
                    }
                }
                Some(Event::Paste(text)) => {
                    dialogue.paste(&text, clock::instant());
                    DialogueEvent::More
                }
                None if self.ending.load(Ordering::Relaxed) => {
                    let reply = if self.waits == Waits::Yes {
                        ApproverReply::Later
                    } else {
                        ApproverReply::Cancel
                    };
                    return leave(&mut screen, reply);
                }
                _ => DialogueEvent::More,
            };
            match came {
                DialogueEvent::More => {}
                DialogueEvent::Show(rows) => drop(screen.say(&rows)?),
                DialogueEvent::Message(text) => {
                    let text = format::line(&text, SHOWN);
                    screen.say(&[
                        Line::of(Ink::Warning, "  not a valid answer: ").and(Ink::Plain, &text)
                    ])?;
                }
                DialogueEvent::Later => return leave(&mut screen, ApproverReply::Later),
                DialogueEvent::Decided(decision, kept) => {
                    let kept = kept.as_ref().map(keep);
                    let lines: Vec<Line> = std::iter::once(told(&decision)).chain(kept).collect();
                    screen.say(&lines)?;
                    return Ok(ApproverReply::Decided(decision));
                }
            }
        }
    }

    /// Returns the meaning of a key that no question takes: Ctrl-C or Ctrl-D. Ctrl-D ends the
    /// input only on an empty line.
    fn gone(&self, key: KeyEvent, empty: bool) -> Option<ApproverReply> {
        if (key.code == KeyCode::Char('d') && !empty)
            || !key.modifiers.contains(KeyModifiers::CONTROL)
        {
            return None;
        }
        match (key.code, self.waits) {
            (KeyCode::Char('c' | 'd'), Waits::Yes) => Some(ApproverReply::Later),
            (KeyCode::Char('c'), Waits::No) => Some(ApproverReply::Cancel),
            (KeyCode::Char('d'), Waits::No) => Some(no(DENIED)),
            _ => None,
        }
    }
}

/// Says how a question was left, before the terminal is given back.
fn leave(screen: &mut TerminalScreen, reply: ApproverReply) -> io::Result<ApproverReply> {
    let line = match &reply {
        ApproverReply::Decided(decision) => told(decision),
        ApproverReply::Later => Line::of(Ink::Dim, "  left for later"),
        ApproverReply::Cancel => Line::of(Ink::Dim, "  cancelling the run"),
    };
    screen.say(&[line])?;
    Ok(reply)
}

/// Says how much of a form is filled before it is sent.
fn filled(report: Option<&Body>) -> Option<String> {
    let report: Value = report?.read().ok()?;
    let count = |name: &str| report.get(name)?.as_u64();
    let (filled, left) = (count("filled")?, count("left")?);
    Some(format!("{} filled, {left} unchanged", format::counted(filled, "field")))
}

/// Waits a moment for a key, unless the program is to end.
fn next(ending: &AtomicBool) -> io::Result<Option<Event>> {
    if ending.load(Ordering::Relaxed) { Ok(None) } else { TerminalScreen::next() }
}
