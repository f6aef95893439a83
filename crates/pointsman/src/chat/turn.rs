//! A turn as a person sees it: rows that stay, and rows that change during the turn.

use std::time::{Duration, Instant};

use pointsman_kernel::{id::EffectId, turn::TurnErrorKind, view::BudgetView};
use pointsman_runtime::{
    clock::{self, Stopwatch},
    observe::{LiveNotice, Notice},
    timeline::TimelineKind,
};

use super::{call_list::CallList, text::StreamedText};
use crate::{
    format,
    line::{Ink, Line},
    live::{budget_used, is_shown},
    notify::{self, NoticePrinter},
};

/// The pictures of the spinner.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Time that each of them is shown.
const TICK: Duration = Duration::from_millis(120);

/// A turn as it is seen.
pub(super) struct TurnView {
    calling: CallList,
    text: StreamedText,
    /// Whose text is being written.
    writer: Option<EffectId>,
    /// What was written for it in this attempt, so that it is not shown twice.
    streamed: String,
    doing: String,
    since: Stopwatch,
    /// When the next attempt starts, and which it is.
    again: Option<(Instant, u16)>,
    budgets: Vec<BudgetView>,
    cancelling: bool,
    /// Knows whether an error was already printed.
    teller: NoticePrinter,
}

/// How a notice looks on the screen.
#[derive(Debug, Default)]
pub(super) struct ScreenUpdate {
    /// These rows no longer count.
    pub(super) struck: Vec<Line>,
    /// These lines stay.
    pub(super) lines: Vec<Line>,
}

impl TurnView {
    pub(super) fn new() -> Self {
        Self {
            calling: CallList::default(),
            text: StreamedText::default(),
            writer: None,
            streamed: String::new(),
            doing: "starts".into(),
            since: Stopwatch::start(),
            again: None,
            budgets: Vec::new(),
            cancelling: false,
            teller: NoticePrinter::default(),
        }
    }

    /// The person wants it to stop.
    pub(super) const fn cancel(&mut self) {
        self.cancelling = true;
    }

    /// Returns the calls that are in progress or need approval.
    pub(super) const fn calling(&mut self) -> &mut CallList {
        &mut self.calling
    }

    /// Takes a notice.
    pub(super) fn take(&mut self, notice: &Notice, columns: usize) -> ScreenUpdate {
        let mut shown = ScreenUpdate::default();
        let repeats = self.teller.repeats(notice);
        let kind = match notice {
            Notice::Item(item) => &item.kind,
            Notice::Live(live) => {
                self.take_live(live, &mut shown, columns);
                shown.lines.extend(aside(notice));
                return shown;
            }
        };
        match kind {
            TimelineKind::Transition { .. } => {
                shown.lines = self.calling.over();
                self.again = None;
            }
            TimelineKind::Started { effect, call: Some(call), .. } => {
                self.calling.started(*effect, call);
                self.does("");
            }
            TimelineKind::Started { effect, what, .. } => {
                (self.writer, self.again) = (Some(*effect), None);
                self.streamed.clear();
                self.does(what);
            }
            TimelineKind::Answered { effect, ok, what, .. } => {
                let output = kind.output();
                if self.calling.ended(*effect, *ok, what) {
                    shown.lines = self.calling.finished();
                } else if *ok {
                    shown.lines = self.answered(output, columns);
                    // A hook's result has no text.
                    if output.is_none() && !what.is_empty() {
                        let line = Line::of(Ink::Good, "  ✓ ").and(Ink::Dim, what);
                        shown.lines.push(line);
                    }
                } else {
                    shown = self.discarded();
                    shown
                        .lines
                        .push(Line::of(Ink::Bad, &format!("  ✗ {}", format::line(what, 400))));
                }
            }
            TimelineKind::Stopped { effect } => shown = self.unsaid(*effect),
            TimelineKind::Retrying { attempt, wait_ms } => {
                self.again = Some((clock::instant() + Duration::from_millis(*wait_ms), *attempt));
            }
            TimelineKind::Listens { error } => {
                shown.lines = self.calling.over();
                shown.lines.extend(self.text.end());
                if let Some(error) = error {
                    shown
                        .lines
                        .extend(trouble(error.kind, Some(&*error.message).filter(|_| !repeats)));
                }
            }
            _ => {}
        }
        shown.lines.extend(aside(notice));
        shown
    }

    fn take_live(&mut self, live: &LiveNotice, shown: &mut ScreenUpdate, columns: usize) {
        match live {
            LiveNotice::Delta { effect, text } => {
                let is_call = self.calling.said(*effect, text);
                let text = Some(text).filter(|_| !is_call).map_or("", |text| text);
                self.streamed.push_str(text);
                shown.lines = self.text.write(text, columns);
            }
            LiveNotice::Discard(effect) => *shown = self.unsaid(*effect),
            LiveNotice::Persisted { view, .. } => self.budgets.clone_from(&view.budgets),
            LiveNotice::Ask(question) => {
                if let Some(call) = question.call() {
                    self.calling.asked(call);
                }
            }
            LiveNotice::Listens => {
                shown.lines = self.calling.over();
                shown.lines.extend(self.text.end());
            }
            _ => {}
        }
    }

    /// Discards a call or the partial text of an effect.
    fn unsaid(&mut self, effect: EffectId) -> ScreenUpdate {
        if self.calling.stopped(effect) {
            ScreenUpdate { lines: self.calling.finished(), ..ScreenUpdate::default() }
        } else if self.writer == Some(effect) {
            self.discarded()
        } else {
            ScreenUpdate::default()
        }
    }

    fn does(&mut self, what: &str) {
        self.doing = what.into();
        self.since = Stopwatch::start();
    }

    /// Ends a model's text. What was not shown piece by piece is shown now: the last piece
    /// may come together with the answer.
    fn answered(&mut self, output: Option<&str>, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let rest = output.and_then(|output| output.strip_prefix(self.streamed.as_str()));
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            lines = self.text.write(rest, columns);
        }
        lines.extend(self.text.end());
        lines
    }

    /// Takes back what was written, and says so.
    fn discarded(&mut self) -> ScreenUpdate {
        if self.text.is_empty() {
            return ScreenUpdate::default();
        }
        let (struck, left) = self.text.discard();
        let left = left.map(|row| row.inked(Ink::Struck));
        let note = Line::of(Ink::Dim, "  discarded: partial reply from a failed attempt");
        ScreenUpdate { struck, lines: left.into_iter().chain([note]).collect() }
    }

    /// Returns the rows that change, as they are now.
    pub(super) fn live(&self, asking: bool) -> Vec<Line> {
        let mut lines: Vec<Line> = self.text.open().into_iter().collect();
        lines.extend(self.calling.live());
        if !asking {
            lines.push(self.status());
        }
        lines
    }

    fn status(&self) -> Line {
        let passed = self.since.elapsed();
        let picture = usize::try_from(passed.as_millis() / TICK.as_millis()).unwrap_or(0);
        let picture = SPINNER.get(picture % SPINNER.len()).copied().unwrap_or_default();
        let line = Line::of(Ink::Accent, &format!("{picture} "));
        if self.cancelling {
            return line.and(Ink::Warning, "cancelling the turn").and(Ink::Dim, " · Ctrl-C leaves");
        }
        let line = if let Some((at, attempt)) = self.again {
            let left = at.saturating_duration_since(clock::instant());
            let left = u64::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
            line.and(Ink::Warning, &format!("retrying in {left} s (attempt {attempt})"))
        } else {
            let ms = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
            let doing = match self.calling.running() {
                0 if self.text.is_empty() => self.doing.clone(),
                0 => "writes".into(),
                count => {
                    let count = u64::try_from(count).unwrap_or(u64::MAX);
                    format!("runs {}", format::counted(count, "call"))
                }
            };
            line.and(Ink::Plain, &doing).and(Ink::Dim, &format!(" {}", format::stopwatch(ms)))
        };
        let mut line = line;
        let used = |budget: &&BudgetView| budget.left < budget.max && is_shown(budget);
        for budget in self.budgets.iter().filter(used) {
            line = line.and(Ink::Dim, &format!(" · {}", budget_used(budget, Duration::ZERO)));
        }
        line.and(Ink::Dim, " · Ctrl-C cancels")
    }
}

/// Returns why a turn has no answer, if that was not shown before, and what to do next.
fn trouble(kind: TurnErrorKind, message: Option<&str>) -> Vec<Line> {
    let (ink, what, next) = match kind {
        TurnErrorKind::Cancelled => {
            let next = "The conversation continues: say what to do instead.";
            (Ink::Warning, Some("turn cancelled".to_owned()), next)
        }
        TurnErrorKind::Stuck => {
            let next = "The conversation continues: say what to do instead.";
            (Ink::Bad, message.map(|why| format!("stuck: {why}")), next)
        }
        TurnErrorKind::Budget => {
            let next = "A new message, such as `continue`, gets the full budget again.";
            (Ink::Bad, message.map(|why| format!("budget: {why}")), next)
        }
        _ => {
            let next = "Send the message again, or leave and choose another `--model`.";
            (Ink::Bad, message.map(|why| format!("no answer: {why}")), next)
        }
    };
    let what = what.map(|what| [Line::default(), Line::of(ink, &what)]);
    what.into_iter().flatten().chain([Line::of(Ink::Dim, next)]).collect()
}

/// Returns a line for notices other than text and calls.
fn aside(notice: &Notice) -> Option<Line> {
    let is_worth = match notice {
        Notice::Item(item) => matches!(
            item.kind,
            TimelineKind::Verdict(_)
                | TimelineKind::Stage { .. }
                | TimelineKind::Paused { .. }
                | TimelineKind::Resumed
                | TimelineKind::Lifted { .. }
                | TimelineKind::Failed { .. }
        ),
        Notice::Live(live) => matches!(live, LiveNotice::Delayed(_) | LiveNotice::Refused(_)),
    };
    let shown = if is_worth { notify::told(notice) } else { None };
    shown.map(|(tone, line)| Line::of(tone.ink(), &line))
}
