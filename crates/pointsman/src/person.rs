//! Somebody at the terminal: calls are put to them before they run, and so are the
//! questions of a chart. Whoever shows a run puts them in the same words.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{
    observe::Question,
    session::{Attend, Decision},
};

use crate::{
    dialogue::{Came, Dialogue},
    line::{Ink, Line},
    live::Live,
    place,
    screen::Screen,
};

/// Reasons where no other is given.
pub(crate) const GRANTED: &str = "granted at the terminal";
pub(crate) const DENIED: &str = "denied at the terminal";
/// Time between two looks at whether the question still waits.
const LOOK: Duration = Duration::from_millis(40);

/// Returns whether somebody is at the terminal.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns a decision as the person reads it again.
pub(crate) fn told(decision: &Decision) -> Line {
    let (ink, word) = if decision.granted { (Ink::Good, "yes") } else { (Ink::Bad, "no") };
    // What everybody says of it is not worth a word.
    let reason = decision.reason.as_str();
    let usual = reason.strip_prefix(GRANTED).or_else(|| reason.strip_prefix(DENIED));
    let reason = usual.map_or(reason, |rest| rest.trim_start_matches(", "));
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Line::of(ink, &format!("  {word}{reason}"))
}

/// Keeps a rule for other runs, and says so.
pub(crate) fn keep(rule: &Grant) -> Line {
    match place::remember(rule) {
        Ok(file) => Line::of(Ink::Dim, &format!("  written to {}", file.display())),
        Err(error) => {
            let hint = error.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            Line::of(Ink::Bad, &format!("  it holds for this run only: {error}{hint}"))
        }
    }
}

/// Somebody who sits at the terminal, beside a view of the run.
pub(crate) struct Person {
    /// The view that steps aside for questions.
    pub(crate) live: Option<Arc<Live>>,
    /// The folder that the run works in.
    pub(crate) folder: PathBuf,
    /// Set when the program is to end: nobody is asked any more.
    pub(crate) ending: Arc<AtomicBool>,
}

impl Attend for Person {
    fn decide(&mut self, question: &Question) -> Option<Decision> {
        // A terminal that is gone cannot say yes; the question waits for another one.
        let ask = || self.ask(question).ok().flatten();
        match &self.live {
            Some(live) => live.aside(ask),
            None => ask(),
        }
    }
}

impl Person {
    /// Asks, with nothing else on the screen meanwhile.
    fn ask(&self, question: &Question) -> io::Result<Option<Decision>> {
        let mut screen = Screen::take()?;
        let mut dialogue = Dialogue::new(question.clone(), &self.folder);
        screen.say(&dialogue.page())?;
        loop {
            let (lines, cursor) = dialogue.choices();
            screen.draw(&lines, cursor)?;
            let came = match next(&self.ending)? {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    let gone = key.modifiers.contains(KeyModifiers::CONTROL)
                        && matches!(key.code, KeyCode::Char('c' | 'd'));
                    if gone { Came::Later } else { dialogue.key(key) }
                }
                Some(Event::Paste(text)) => {
                    dialogue.paste(&text);
                    Came::More
                }
                None if self.ending.load(Ordering::Relaxed) => Came::Later,
                _ => Came::More,
            };
            match came {
                Came::More => {}
                Came::Show(rows) => drop(screen.say(&rows)?),
                Came::Later => {
                    screen.say(&[Line::of(Ink::Dim, "  left for later")])?;
                    return Ok(None);
                }
                Came::Decided(decision, kept) => {
                    let kept = kept.as_ref().map(keep);
                    let lines: Vec<Line> = std::iter::once(told(&decision)).chain(kept).collect();
                    screen.say(&lines)?;
                    return Ok(Some(decision));
                }
            }
        }
    }
}

/// Waits a moment for a key, unless the program is to end.
fn next(ending: &AtomicBool) -> io::Result<Option<Event>> {
    if ending.load(Ordering::Relaxed) || !event::poll(LOOK)? {
        return Ok(None);
    }
    event::read().map(Some)
}
