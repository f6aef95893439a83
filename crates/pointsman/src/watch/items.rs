//! Items of the timeline as rows: one for each, with the line that tells it.

use pointsman_kernel::{
    chart::Disposition,
    event::Pauser,
    governor::Level,
    id::{At, Seq},
};
use pointsman_runtime::timeline::{TimelineItem, TimelineKind, is_stuck};

use crate::{calls, format, line::Ink, notify::asked};

/// Characters of a row.
const MOST: usize = 240;

/// An item of the timeline in a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ItemRow {
    /// The entry, and the item's place in it: its name.
    pub(crate) id: (Seq, u16),
    /// The kind, as `show --json` has it.
    pub(crate) kind: Box<str>,
    /// Milliseconds since the run began.
    pub(crate) at: At,
    /// How it looks.
    pub(crate) ink: Ink,
    /// Its text.
    pub(crate) text: String,
}

impl ItemRow {
    pub(crate) fn of(item: &TimelineItem) -> Self {
        let (ink, text) = told(&item.kind);
        let text = format::line(&text, MOST);
        let kind = item.kind.name().into();
        Self { id: (item.seq, item.index), kind, at: item.at, ink, text }
    }
}

/// Tells an item in a line.
fn told(kind: &TimelineKind) -> (Ink, String) {
    match kind {
        TimelineKind::Begun { chart, version } => {
            (Ink::Bold, format!("begun: chart {chart}, version {version}"))
        }
        TimelineKind::Given { event, text } => {
            let text = text.as_deref().map_or_else(String::new, |text| format!(": {text}"));
            (Ink::Bold, format!("{event}{text}"))
        }
        TimelineKind::Answered { did, ok, what, .. } => {
            let (ink, mark) = if *ok { (Ink::Good, '✓') } else { (Ink::Bad, '✗') };
            let what = if what.is_empty() { did } else { what };
            (ink, format!("{mark} {what}"))
        }
        TimelineKind::ApprovalAnswered { granted, reason, call, .. } => {
            let call = call.as_ref().map_or_else(|| "a call".into(), |call| calls::title(call));
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            if *granted {
                (Ink::Good, format!("approved {call}{reason}"))
            } else {
                (Ink::Bad, format!("denied {call}{reason}"))
            }
        }
        TimelineKind::Cancelled { scope } => (Ink::Warning, format!("cancelled: {}", scope.name())),
        TimelineKind::Paused { why, .. } => (Ink::Warning, format!("paused: {why}")),
        TimelineKind::Lifted { by, still_paused } => {
            let still = if *still_paused { "; another pause remains" } else { "" };
            (Ink::Plain, format!("pause lifted by {}{still}", pauser(*by)))
        }
        TimelineKind::Granted { charge, amount } => (Ink::Plain, format::granted(*charge, *amount)),
        TimelineKind::Interrupted => {
            (Ink::Warning, "interrupted: its process stopped, and another one resumed it".into())
        }
        TimelineKind::Forked => (Ink::Plain, "forked from another run".into()),
        TimelineKind::Raw { event, hops } => {
            let hops = u64::try_from(hops.len()).unwrap_or(u64::MAX);
            (Ink::Plain, format!("{event}, {}", format::counted(hops, "transition")))
        }
        TimelineKind::Failed { why } => (Ink::Warning, format!("✗ {why}")),
        TimelineKind::Transition { to, reason, .. } => {
            let to = to.as_deref().unwrap_or("the end");
            (Ink::Accent, format!("→ {to} ({reason})"))
        }
        TimelineKind::Stage { text } => {
            (Ink::Accent, format!("● {}", text.as_deref().unwrap_or("stage over")))
        }
        TimelineKind::Verdict(verdict) => {
            let ink = if is_stuck(verdict) { Ink::Bad } else { Ink::Warning };
            (ink, format!("governor, {}: {}", level(verdict.level), verdict.reason))
        }
        TimelineKind::Retrying { attempt, wait_ms } => {
            let wait = format::duration(*wait_ms);
            (Ink::Warning, format!("retrying in {wait} (attempt {attempt})"))
        }
        TimelineKind::Started { attempt, what, again, only_checked, .. } => {
            let attempt =
                if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            let again = if *again { " (again)" } else { "" };
            let checked = if *only_checked { " (checked, not started)" } else { "" };
            (Ink::Plain, format!("{what}{attempt}{again}{checked}"))
        }
        TimelineKind::Asked(question) => (Ink::Warning, format!("? {}", asked(question))),
        TimelineKind::Stopped { effect } => (Ink::Dim, format!("stopped {effect}")),
        TimelineKind::Listens { error: None } => (Ink::Accent, "waits for a message".into()),
        TimelineKind::Listens { error: Some(error) } => {
            (Ink::Bad, format!("no answer: {}", error.message))
        }
        TimelineKind::Ended { disposition } => {
            let ink = if *disposition == Disposition::Succeeded { Ink::Good } else { Ink::Bad };
            (ink, format!("ended: {}", disposition.name()))
        }
        // `woke`, `resumed`, and what a later version adds.
        other => (Ink::Plain, other.name().into()),
    }
}

/// Returns a verdict's level as people read it.
pub(crate) const fn level(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Warn => "warning",
        Level::Ask => "ask",
        Level::Refuse => "refused",
        Level::Halt => "halt",
        _ => "verdict",
    }
}

const fn pauser(by: Pauser) -> &'static str {
    match by {
        Pauser::Person => "a person",
        Pauser::Parent => "the parent run",
        Pauser::Machine => "the machine",
        Pauser::Worker => "a worker",
        _ => "another",
    }
}
