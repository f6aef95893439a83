//! What happens to a run, in lines for people: plain ones here, live ones in `live`.

use std::{
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

use pointsman_kernel::{agent::ToolCall, governor::Level};
use pointsman_runtime::{
    clock::now_ms,
    observe::{AGAIN, LiveNotice, Notice, Observer, Question, QuestionKind},
    session::due,
    store::{RunId, RunRow},
    timeline::{TimelineKind, is_stuck},
};

use crate::{calls, format, line::Ink};

/// Characters of a line about a call or its answer.
const MOST: usize = 160;
/// The most characters of a line about an error: the remedy may be at its end.
const WRONG: usize = 1000;

/// How a line is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tone {
    /// A step on the way.
    Step,
    /// Something beside the way.
    Aside,
    /// Something that succeeded.
    Good,
    /// Something to look at.
    Warning,
    /// Something that went wrong.
    Bad,
}

impl Tone {
    /// Returns the ink that says it.
    pub(crate) const fn ink(self) -> Ink {
        match self {
            Self::Step => Ink::Accent,
            Self::Aside => Ink::Plain,
            Self::Good => Ink::Dim,
            Self::Warning => Ink::Warning,
            Self::Bad => Ink::Bad,
        }
    }
}

/// Tells a notice in a line; some are not worth one.
pub(crate) fn told(notice: &Notice) -> Option<(Tone, String)> {
    match notice {
        Notice::Item(item) => describe_item(&item.kind),
        Notice::Live(live) => describe_live(live),
    }
}

fn describe_item(kind: &TimelineKind) -> Option<(Tone, String)> {
    let line = |text: &str| format::line(text, MOST);
    let wrong = |text: &str| format::line(text, WRONG);
    Some(match kind {
        TimelineKind::Transition { from, to, reason, .. } => {
            let to = to.as_deref().unwrap_or("the end");
            let by = if from.is_some() { format!(" ({reason})") } else { String::new() };
            (Tone::Step, format!("→ {to}{by}"))
        }
        TimelineKind::Started { attempt, what, .. } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            (Tone::Aside, format!("  {}{again}", line(what)))
        }
        TimelineKind::Answered { ok: true, what, .. } if !what.is_empty() => {
            (Tone::Good, format!("  ✓ {}", line(what)))
        }
        TimelineKind::Answered { ok: false, what, .. } => {
            (Tone::Bad, format!("  ✗ {}", wrong(what)))
        }
        TimelineKind::Failed { why } => (Tone::Warning, format!("  ✗ {}", wrong(why))),
        TimelineKind::Retrying { attempt, wait_ms } => {
            let wait = format::duration(*wait_ms);
            (Tone::Warning, format!("  retrying in {wait} (attempt {attempt})"))
        }
        TimelineKind::Listens { error: Some(error) } => {
            (Tone::Bad, format!("  no answer: {}", wrong(&error.message)))
        }
        // A call that needs approval is shown with its question: a call that cannot run never
        // prompts.
        TimelineKind::Verdict(verdict) if verdict.level == Level::Ask => return None,
        TimelineKind::Verdict(verdict) if is_stuck(verdict) => {
            (Tone::Bad, format!("  stuck: {}", line(&verdict.reason)))
        }
        TimelineKind::Verdict(verdict) => {
            (Tone::Warning, format!("  governor: {} ({})", line(&verdict.reason), verdict.advice))
        }
        TimelineKind::Stage { text: Some(stage) } => (Tone::Step, format!("● {}", line(stage))),
        TimelineKind::Paused { why, .. } => (Tone::Warning, format!("  paused: {}", wrong(why))),
        TimelineKind::Resumed | TimelineKind::Lifted { still_paused: false, .. } => {
            (Tone::Aside, "  continues".into())
        }
        _ => return None,
    })
}

fn describe_live(live: &LiveNotice) -> Option<(Tone, String)> {
    let wrong = |text: &str| format::line(text, WRONG);
    Some(match live {
        LiveNotice::Progressed(progress) => (
            Tone::Aside,
            format!(
                "  {}, {} changed, {} of the last {} calls succeeded",
                format::counted(progress.calls, "call"),
                format::counted(files(progress.files_modified), "file"),
                progress.recent_successes,
                progress.recent_successes + progress.recent_failures
            ),
        ),
        LiveNotice::Ask(question) => {
            let asks = match question.call() {
                Some(_) if question.is_again() => "asks to repeat:",
                Some(_) => "asks to call",
                None => "asks:",
            };
            (Tone::Warning, format!("  {asks} {}", asked(question)))
        }
        LiveNotice::Refused(why) => (Tone::Warning, format!("  refused: {}", wrong(why))),
        LiveNotice::Delayed(why) => (Tone::Warning, format!("  delayed: {}", wrong(why))),
        _ => return None,
    })
}

fn files(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns what a question is about, in a line: a call, or the question itself.
pub(crate) fn asked(question: &Question) -> String {
    match &question.asks {
        QuestionKind::Call { call, .. } => {
            format::line(&format!("{} {}", call.tool, call.arguments.get()), MOST)
        }
        QuestionKind::Plain(text) => format::line(text, MOST),
    }
}

/// Returns whether a line shows all of a call: runs of blanks, behind which something could hide,
/// are counted only in the full view.
fn fits_a_line(call: &ToolCall) -> bool {
    let raw = format!("{} {}", call.tool, call.arguments.get());
    format::line(&raw, MOST) == raw
}

/// Returns an open question of a run for an answer later, with its number and its deadline.
/// Nothing is left out: a call that does not fit in a line has several.
pub(crate) fn open_question(row: &RunRow, question: &Question) -> String {
    let until = format::deadline(now_ms(), due(row, question));
    format!("{}\n  {until}", unanswered(question))
}

fn unanswered(question: &Question) -> String {
    let effect = question.effect;
    let again = question.is_again();
    let repeat = format!("may the agent repeat this call? {AGAIN}");
    match &question.asks {
        QuestionKind::Call { call, .. } if !fits_a_line(call) => {
            let lines = calls::whole(call, None);
            let lines: Vec<String> =
                lines.iter().map(|line| format!("\n  {}", line.text())).collect();
            let may = if again { &*repeat } else { "may the agent make this call?" };
            format!("question {effect}: {may}{}", lines.concat())
        }
        QuestionKind::Call { .. } if again => {
            format!("question {effect}: {repeat}\n  {}", asked(question))
        }
        QuestionKind::Call { .. } => {
            format!("question {effect}: may the agent call {}?", asked(question))
        }
        QuestionKind::Plain(text) => {
            format!("question {effect}: {}", format::folded(&format::visible(text)))
        }
    }
}

/// Tells notices one after the other, and a failure only once.
#[derive(Debug, Default)]
pub(crate) struct NoticePrinter {
    failed: Mutex<Option<Box<str>>>,
}

impl NoticePrinter {
    /// Tells a notice in a line, unless it only repeats what went wrong.
    pub(crate) fn told(&self, notice: &Notice) -> Option<(Tone, String)> {
        if self.repeats(notice) { None } else { told(notice) }
    }

    /// Takes a notice, and returns whether it only repeats what went wrong.
    pub(crate) fn repeats(&self, notice: &Notice) -> bool {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match notice.kind() {
            Some(
                TimelineKind::Answered { ok: false, what, .. } | TimelineKind::Failed { why: what },
            ) => {
                *failed = Some(what.clone());
                false
            }
            Some(TimelineKind::Answered { .. }) => {
                *failed = None;
                false
            }
            Some(TimelineKind::Listens { error: Some(error) }) => {
                failed.take().is_some_and(|told| {
                    // Either may be cut where the other continues.
                    let (told, message) = (told.trim_end_matches('…'), error.message.as_str());
                    let same = message.starts_with(told) || told.starts_with(message);
                    !told.is_empty() && !message.is_empty() && same
                })
            }
            _ => false,
        }
    }
}

/// Keeps what went wrong last, for the line that says how a run ended.
#[derive(Debug, Default)]
pub(crate) struct Blame(Mutex<Option<Box<str>>>);

impl Blame {
    /// Returns what went wrong last, if nothing succeeded since.
    pub(crate) fn take(&self) -> Option<Box<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Observer for Blame {
    fn notice(&self, _: &RunId, notice: &Notice) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match notice.kind() {
            Some(
                TimelineKind::Answered { ok: false, what, .. } | TimelineKind::Failed { why: what },
            ) => *kept = Some(what.clone()).filter(|what| !what.is_empty()),
            Some(TimelineKind::Answered { .. }) => *kept = None,
            _ => {}
        }
    }
}

/// Writes a line for each thing, without colours and without ever moving the cursor.
#[derive(Debug, Default)]
pub(crate) struct PlainNotices(NoticePrinter);

impl Observer for PlainNotices {
    fn notice(&self, _: &RunId, notice: &Notice) {
        if let Some((_, line)) = self.0.told(notice) {
            note(&line);
        }
    }
}

/// Writes a line to standard error.
pub(crate) fn note(line: &str) {
    // If standard error is closed, there is no one to notify.
    drop(writeln!(io::stderr(), "{line}"));
}
