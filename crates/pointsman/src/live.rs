//! The live view on a terminal: events as lines, and below them one line with the state, its
//! duration and the used budgets.

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use console::{Term, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use pointsman_kernel::{
    chart::{Charge, Disposition},
    id::EffectId,
    view::BudgetView,
};
use pointsman_runtime::{
    clock::Stopwatch,
    observe::{LiveNotice, Notice, Observer},
    store::RunId,
    timeline::TimelineKind,
};

use crate::{
    format,
    notify::{NoticePrinter, Tone},
    report::coloured,
};

/// Characters of a model's text that are kept to be shown: more than a screen is wide.
const TAIL: usize = 400;
/// Pictures in a second at most.
const HERTZ: u8 = 20;
/// Time between two pictures.
const TICK: Duration = Duration::from_millis(120);

/// A view of a run on a terminal.
pub(crate) struct Live {
    bar: ProgressBar,
    seen: Arc<Mutex<LiveState>>,
    teller: NoticePrinter,
    over: Arc<AtomicBool>,
}

/// The terminal that the line is drawn on. A line is filled up with blanks, and what the
/// terminal itself shows then, such as the `^C` of Ctrl-C, would begin another row, and the
/// line would stay. So the cursor goes back to the beginning of its row after every picture.
#[derive(Debug)]
struct Steady {
    term: Term,
    /// Whether the line was removed: later output stays.
    over: Arc<AtomicBool>,
}

/// What the line shows.
struct LiveState {
    budgets: Vec<BudgetView>,
    at: Stopwatch,
    /// Whether the run's own time passes: not while it waits or a person is asked.
    moves: bool,
    /// Whose text is being written, and its end so far.
    said: Option<(EffectId, String)>,
}

impl LiveState {
    /// Shows no more of what was written for an effect.
    fn discard(&mut self, effect: EffectId) {
        self.said.take_if(|(whose, _)| *whose == effect);
    }
}

impl Live {
    /// Starts the view on standard error.
    pub(crate) fn new() -> Self {
        console::set_colors_enabled_stderr(coloured());
        let seen =
            LiveState { budgets: Vec::new(), at: Stopwatch::start(), moves: false, said: None };
        let seen = Arc::new(Mutex::new(seen));
        let over = Arc::new(AtomicBool::new(false));
        let steady = Steady { term: Term::buffered_stderr(), over: Arc::clone(&over) };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(steady), HERTZ);
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(picture(&seen));
        bar.enable_steady_tick(TICK);
        Self { bar, seen, teller: NoticePrinter::default(), over }
    }

    /// Frees the terminal for other output for a while.
    pub(crate) fn aside<T>(&self, does: impl FnOnce() -> T) -> T {
        self.bar.suspend(does)
    }

    /// Removes the line; printed events stay.
    pub(crate) fn close(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }

    fn seen(&self) -> MutexGuard<'_, LiveState> {
        locked(&self.seen)
    }
}

impl TermLike for Steady {
    fn width(&self) -> u16 {
        self.term.size().1
    }

    fn height(&self) -> u16 {
        self.term.size().0
    }

    fn move_cursor_up(&self, rows: usize) -> io::Result<()> {
        self.term.move_cursor_up(rows)
    }

    fn move_cursor_down(&self, rows: usize) -> io::Result<()> {
        self.term.move_cursor_down(rows)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.term.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.term.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.term.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.term.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.term.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        if !self.over.load(Ordering::Relaxed) {
            self.term.write_str("\r")?;
        }
        self.term.flush()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.close();
    }
}

/// The data stays consistent even if a thread panicked while it held the lock.
fn locked(seen: &Mutex<LiveState>) -> MutexGuard<'_, LiveState> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the shape of the line.
fn picture(seen: &Arc<Mutex<LiveState>>) -> ProgressStyle {
    let (used, said) = (Arc::clone(seen), Arc::clone(seen));
    // The words are fixed; were they wrong, a plain spinner would do.
    let style = ProgressStyle::with_template(
        "{spinner:.cyan} {prefix:.bold} {stay} {used:.dim}{said:.dim}",
    );
    style
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("stay", |state: &ProgressState, to: &mut dyn fmt::Write| {
            let ms = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX);
            // A line that cannot be drawn is drawn again in a moment.
            let _: fmt::Result = write!(to, "{}", format::stopwatch(ms));
        })
        .with_key("used", move |_: &ProgressState, to: &mut dyn fmt::Write| {
            let seen = locked(&used);
            let passed = if seen.moves { seen.at.elapsed() } else { Duration::ZERO };
            for budget in seen.budgets.iter().filter(|budget| is_shown(budget)) {
                let _: fmt::Result = write!(to, " · {}", budget_used(budget, passed));
            }
        })
        .with_key("said", move |_: &ProgressState, to: &mut dyn fmt::Write| {
            let width = usize::from(Term::stderr().size().1).saturating_sub(4);
            if let Some((_, text)) = &locked(&said).said {
                let flat = format::prose(text).split_whitespace().collect::<Vec<_>>().join(" ");
                let flat: Vec<char> = flat.chars().collect();
                let end: String = flat.iter().skip(flat.len().saturating_sub(width)).collect();
                let _: fmt::Result = write!(to, "\n  {end}");
            }
        })
}

/// Returns whether a budget is worth room on the status line: a limit on costs from half of
/// it on.
pub(crate) fn is_shown(budget: &BudgetView) -> bool {
    let counts = matches!(budget.charge, None | Some(Charge::Time | Charge::Step));
    counts || budget.left <= budget.max / 2
}

/// Formats the used part of a budget, such as `decisions 3/20` or `time 0:42/5:00`.
pub(crate) fn budget_used(budget: &BudgetView, passed: Duration) -> String {
    let used = budget.max.saturating_sub(budget.left);
    if budget.charge == Some(Charge::Time) {
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let used = used.saturating_add(passed).min(budget.max);
        let (used, max) = (format::stopwatch(used), format::stopwatch(budget.max));
        return format!("{} {used}/{max}", budget.name);
    }
    if budget.charge == Some(Charge::Money) {
        let (used, max) = (format::money(used), format::money(budget.max));
        return format!("{} {used}/{max}", budget.name);
    }
    format!("{} {used}/{}", budget.name, budget.max)
}

impl Observer for Live {
    fn notice(&self, _: &RunId, notice: &Notice) {
        match notice {
            Notice::Item(item) => match &item.kind {
                TimelineKind::Transition { to, .. } => {
                    self.bar.set_prefix(to.as_deref().unwrap_or("the end").to_owned());
                    self.bar.reset_elapsed();
                }
                TimelineKind::Answered { effect, .. } | TimelineKind::Stopped { effect } => {
                    self.seen().discard(*effect);
                }
                TimelineKind::Ended { .. } => self.close(),
                _ => {}
            },
            Notice::Live(LiveNotice::Persisted { view, .. }) => {
                let mut seen = self.seen();
                seen.budgets.clone_from(&view.budgets);
                seen.at = Stopwatch::start();
                seen.moves = view.items.iter().any(|item| item.doing != "asking") && !view.paused;
            }
            Notice::Live(LiveNotice::Delta { effect, text }) => {
                let mut seen = self.seen();
                let before = seen.said.take().filter(|(whose, _)| whose == effect);
                let mut tail = before.map_or_else(String::new, |(_, tail)| tail);
                tail.push_str(text);
                let over = tail.chars().count().saturating_sub(TAIL);
                seen.said = Some((*effect, tail.chars().skip(over).collect()));
            }
            Notice::Live(LiveNotice::Discard(effect)) => self.seen().discard(*effect),
            Notice::Live(_) => {}
        }
        if let Some((tone, line)) = self.teller.told(notice) {
            self.bar.println(painted(tone, &line));
        }
    }
}

fn painted(tone: Tone, line: &str) -> String {
    let line = style(line).for_stderr();
    match tone {
        Tone::Step => line.cyan(),
        Tone::Aside => line,
        Tone::Good => line.dim(),
        Tone::Warning => line.yellow(),
        Tone::Bad => line.red(),
    }
    .to_string()
}

/// Returns how a run ended, in its colour.
pub(crate) fn ending(ended: Option<Disposition>, text: &str) -> String {
    let text = style(text).for_stderr().bold();
    match ended {
        Some(Disposition::Succeeded) => text.green(),
        Some(Disposition::Cancelled) | None => text.yellow(),
        Some(_) => text.red(),
    }
    .to_string()
}
