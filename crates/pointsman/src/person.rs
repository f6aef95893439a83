//! Somebody at the terminal: calls are put to them, whole, before they run, and so are
//! the questions of a chart. Whoever shows a run puts them in the same words.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{
    observe::{Asked, Question},
    session::{Attend, Decision},
    tool,
};

use crate::{
    calls,
    line::{Ink, Line},
    live::Live,
    place,
    screen::Screen,
    words,
};

/// Reasons where no other is given.
const GRANTED: &str = "granted at the terminal";
const DENIED: &str = "denied at the terminal";
/// Rules that can be chosen from, by a digit each.
const MOST_RULES: usize = 9;

/// Returns whether somebody is at the terminal.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A question that is being put to somebody, key by key.
pub(crate) struct Dialogue {
    question: Question,
    rules: Vec<Grant>,
    at: At,
}

/// What is being asked for.
enum At {
    /// Yes or no.
    Choice,
    /// Which calls "always" means.
    Rule,
    /// For how long "always" is.
    Scope(Grant),
    /// A word that goes with the answer, as it is typed; and the answer, if it is known.
    Words(String, Option<bool>),
    /// Yes or no, now that the word is there.
    WithWords(String),
}

/// What a key came to.
pub(crate) enum Came {
    /// More is wanted.
    More,
    /// It is decided. The rule is to be kept for other runs, too.
    Decided(Decision, Option<Grant>),
    /// It is left for later.
    Later,
}

impl Dialogue {
    /// Puts a question.
    pub(crate) fn new(question: Question) -> Self {
        let rules = question.call().map(tool::grants).unwrap_or_default();
        let rules = rules.into_iter().take(MOST_RULES).collect();
        Self { question, rules, at: At::Choice }
    }

    /// Returns the question.
    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Returns what the question is about.
    pub(crate) fn about(&self) -> Vec<Line> {
        let blank = Line::default();
        match &self.question.asks {
            Asked::Call { call, .. } => {
                let head = Line::of(Ink::Warning, "May this call run?");
                let call = calls::whole(call).into_iter().map(indented);
                [blank, head].into_iter().chain(call).collect()
            }
            Asked::Plain(text) => {
                let lines = text.lines().map(|line| Line::of(Ink::Warning, line));
                std::iter::once(blank).chain(lines).collect()
            }
        }
    }

    /// Returns what can be pressed, with the column of the cursor where text is typed.
    pub(crate) fn choices(&self) -> (Vec<Line>, Option<usize>) {
        let keys = |text: &str| Line::of(Ink::Accent, text);
        let asks_call = self.question.call().is_some();
        match &self.at {
            At::Choice if asks_call => {
                let always = if self.rules.is_empty() { "" } else { "  [a]lways…" };
                (vec![keys(&format!("[y]es, once{always}  [n]o, because…  [l]ater"))], None)
            }
            At::Choice => (vec![keys("[y]es  [n]o  [s]ay something with it  [l]ater")], None),
            At::Rule => {
                let mut lines = vec![Line::of(Ink::Warning, "Always, for which calls?")];
                for (number, rule) in (1..).zip(&self.rules) {
                    let key = keys(&format!("  [{number}] "));
                    lines.push(key.and(Ink::Plain, &calls::rule(rule)));
                }
                lines.push(keys("[b]ack"));
                (lines, None)
            }
            At::Scope(rule) => {
                let head = Line::of(Ink::Warning, "Always ").and(Ink::Plain, &calls::rule(rule));
                let file = place::user_file().map(|file| file.display().to_string());
                let file = file.map_or_else(String::new, |file| {
                    format!("  in [e]very run, by {}", words::line(&file, 60))
                });
                (vec![head, keys(&format!("in this [r]un{file}  [b]ack"))], None)
            }
            At::Words(text, _) => {
                let head = "Because (Enter sends it, Esc goes back):";
                let head = if asks_call { head } else { "Say it in a line:" };
                let line = Line::of(Ink::Accent, "› ").and(Ink::Plain, text);
                let column = line.width();
                (vec![Line::of(Ink::Warning, head), line], Some(column))
            }
            At::WithWords(_) => (vec![keys("[y]es  [n]o  [b]ack")], None),
        }
    }

    /// Takes text that was typed or pasted.
    pub(crate) fn paste(&mut self, pasted: &str) {
        if let At::Words(text, _) = &mut self.at {
            text.push_str(&words::line(pasted, 2_000));
        }
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Came {
        if let At::Words(text, granted) = &mut self.at {
            match key.code {
                KeyCode::Enter => {
                    let said = text.trim().to_owned();
                    return match *granted {
                        Some(granted) => self.decided(granted, said),
                        None => self.moved(At::WithWords(said)),
                    };
                }
                KeyCode::Esc => return self.moved(At::Choice),
                KeyCode::Backspace => drop(text.pop()),
                KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => text.push(c),
                _ => {}
            }
            return Came::More;
        }
        let KeyCode::Char(pressed) = key.code else {
            let back = key.code == KeyCode::Esc && !matches!(self.at, At::Choice);
            return if back { self.moved(At::Choice) } else { Came::More };
        };
        let pressed = pressed.to_ascii_lowercase();
        let asks_call = self.question.call().is_some();
        match (&self.at, pressed) {
            (At::Choice, 'y') => self.decided(true, String::new()),
            (At::Choice, 'n') if asks_call => self.moved(At::Words(String::new(), Some(false))),
            (At::Choice, 'n') => self.decided(false, String::new()),
            (At::Choice, 's') if !asks_call => self.moved(At::Words(String::new(), None)),
            (At::Choice, 'a') => match self.rules.as_slice() {
                [] => Came::More,
                [only] => self.moved(At::Scope(only.clone())),
                _ => self.moved(At::Rule),
            },
            (At::Choice, 'l') => Came::Later,
            (At::Rule | At::Scope(_) | At::WithWords(_), 'b') => self.moved(At::Choice),
            (At::Rule, digit) => {
                let at = digit.to_digit(10).and_then(|it| usize::try_from(it).ok()?.checked_sub(1));
                match at.and_then(|at| self.rules.get(at)).cloned() {
                    Some(rule) => self.moved(At::Scope(rule)),
                    None => Came::More,
                }
            }
            (At::Scope(rule), 'r' | 'e') => {
                let rule = rule.clone();
                let kept = (pressed == 'e').then(|| rule.clone());
                let how = if kept.is_some() { "every run" } else { "this run" };
                let reason = format!("{GRANTED}, always in {how}");
                Came::Decided(Decision { granted: true, reason, remember: Some(rule) }, kept)
            }
            (At::WithWords(said), 'y' | 'n') => {
                let said = said.clone();
                self.decided(pressed == 'y', said)
            }
            _ => Came::More,
        }
    }

    fn moved(&mut self, at: At) -> Came {
        self.at = at;
        Came::More
    }

    /// Decides. A call's answer has a reason in any case; what goes with a yes or no is
    /// the person's own words, or nothing.
    fn decided(&self, granted: bool, said: String) -> Came {
        let unsaid = if granted { GRANTED } else { DENIED };
        let wants_one = self.question.call().is_some() && said.is_empty();
        let reason = if wants_one { unsaid.into() } else { said };
        Came::Decided(Decision { granted, reason, remember: None }, None)
    }
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

fn indented(line: Line) -> Line {
    line.indented(2)
}

/// Somebody who sits at the terminal, beside a view of the run.
pub(crate) struct Person {
    live: Option<Arc<Live>>,
}

impl Person {
    /// Somebody who also watches the live view.
    pub(crate) const fn watching(live: Option<Arc<Live>>) -> Self {
        Self { live }
    }
}

impl Attend for Person {
    fn decide(&mut self, question: &Question) -> Option<Decision> {
        // A terminal that is gone cannot say yes; the question waits for another one.
        let ask = || ask(question).ok().flatten();
        match &self.live {
            Some(live) => live.aside(ask),
            None => ask(),
        }
    }
}

/// Asks, with nothing else on the screen meanwhile.
fn ask(question: &Question) -> io::Result<Option<Decision>> {
    let mut screen = Screen::take()?;
    let mut dialogue = Dialogue::new(question.clone());
    screen.say(&dialogue.about())?;
    loop {
        let (lines, cursor) = dialogue.choices();
        screen.draw(&lines, cursor)?;
        let came = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let gone = key.modifiers.contains(KeyModifiers::CONTROL)
                    && matches!(key.code, KeyCode::Char('c' | 'd'));
                if gone { Came::Later } else { dialogue.key(key) }
            }
            Event::Paste(text) => {
                dialogue.paste(&text);
                Came::More
            }
            _ => Came::More,
        };
        match came {
            Came::More => {}
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
