//! A question that is being put to somebody, key by key: all that it is about, page by
//! page, and then what can be answered.
//!
//! What was typed before the question was seen is no answer to it: keys count only after
//! a while without any, and yes only when everything was shown.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{
    observe::{AGAIN, Asked, Question},
    session::Decision,
    tool,
};

use crate::{
    calls,
    drive::Waits,
    line::{Ink, Line},
    person::{DENIED, GRANTED},
    place,
    screen::Screen,
    words,
};

/// Rules that can be chosen from, by a digit each.
const MOST_RULES: usize = 9;
/// Time without keys after which they count: whoever types goes on within it.
const QUIET: Duration = Duration::from_secs(1);
/// Rows of the screen that a page leaves free, for what stands above and below it.
const FREE: usize = 6;

/// A question that is being put to somebody, key by key.
pub(crate) struct Dialogue {
    question: Question,
    rules: Vec<Grant>,
    at: At,
    /// Rows that were not shown yet.
    left: Vec<Line>,
    /// When keys begin to count; nothing once they do.
    quiet: Option<Instant>,
    /// Whether it can be left for later.
    waits: Waits,
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
    /// These rows are to be shown, and stay.
    Show(Vec<Line>),
}

impl Dialogue {
    /// Puts a question of a run that works in this folder.
    pub(crate) fn new(question: Question, folder: &Path) -> Self {
        Self::put(question, folder, None, Waits::Yes)
    }

    /// Puts a question that is answered now or never, with a word on how things stand.
    pub(crate) fn now(question: Question, folder: &Path, stands: Option<String>) -> Self {
        Self::put(question, folder, stands, Waits::No)
    }

    fn put(question: Question, folder: &Path, stands: Option<String>, waits: Waits) -> Self {
        let rules = question.call().map(tool::grants).unwrap_or_default();
        let rules = rules.into_iter().take(MOST_RULES).collect();
        let columns = Screen::columns();
        let stands = stands.map(|it| Line::of(Ink::Plain, &it).indented(2));
        let about = about(&question, folder).into_iter().chain(stands);
        let left = about.flat_map(|it| it.wrapped(columns)).collect();
        Self { question, rules, at: At::Choice, left, quiet: Some(Instant::now() + QUIET), waits }
    }

    /// Returns the question.
    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Returns the next page of what the question is about.
    pub(crate) fn page(&mut self) -> Vec<Line> {
        let page = Screen::rows().saturating_sub(FREE).max(FREE);
        // A page of one row more is better than a page with one row.
        let rows = if self.left.len() <= page + 1 { self.left.len() } else { page };
        self.left.drain(..rows).collect()
    }

    /// Something else was typed: keys do not count for a while.
    pub(crate) fn disturbed(&mut self) {
        self.quiet = Some(Instant::now() + QUIET);
    }

    /// Returns whether keys count by now.
    fn counts(&self) -> bool {
        self.quiet.is_none_or(|until| until <= Instant::now())
    }

    /// Returns what can be pressed, with the column of the cursor where text is typed.
    pub(crate) fn choices(&self) -> (Vec<Line>, Option<usize>) {
        let keys = |text: &str| Line::of(Ink::Accent, text);
        let asks_call = self.question.call().is_some();
        let later = if self.waits == Waits::Yes { "  [l]ater" } else { "" };
        let (mut lines, cursor) = match &self.at {
            _ if !self.counts() => {
                let wait = "keys count when none was pressed for a second";
                (vec![Line::of(Ink::Dim, wait)], None)
            }
            At::Choice if !self.left.is_empty() => {
                let left = words::counted(self.left.len().try_into().unwrap_or(u64::MAX), "row");
                let line = keys("[m]ore  [w]hole").and(Ink::Dim, &format!(" ({left} not shown)"));
                let no = if asks_call { "[n]o, because…" } else { "[n]o" };
                (vec![line.and(Ink::Accent, &format!("  {no}{later}"))], None)
            }
            At::Choice if asks_call => {
                let always = if self.rules.is_empty() { "" } else { "  [a]lways…" };
                (vec![keys(&format!("[y]es, once{always}  [n]o, because…{later}"))], None)
            }
            At::Choice => {
                (vec![keys(&format!("[y]es  [n]o  [s]ay something with it{later}"))], None)
            }
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
        };
        if self.waits == Waits::No {
            let now = "Ctrl-C cancels the run, Ctrl-D says no; the browser does not wait.";
            lines.insert(0, Line::of(Ink::Dim, now));
        }
        (lines, cursor)
    }

    /// Takes text that was typed or pasted.
    pub(crate) fn paste(&mut self, pasted: &str) {
        if let At::Words(text, _) = &mut self.at
            && self.quiet.is_none()
        {
            text.push_str(&words::line(pasted, 2_000));
        }
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Came {
        if !self.counts() {
            self.disturbed();
            return Came::More;
        }
        self.quiet = None;
        // Whoever holds another key down means something else, such as a prefix of `screen`.
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Came::More;
        }
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
                KeyCode::Char(c) => text.push(c),
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
        let all_shown = self.left.is_empty();
        match (&self.at, pressed) {
            (At::Choice, 'm') if !all_shown => Came::Show(self.page()),
            (At::Choice, 'w') if !all_shown => Came::Show(std::mem::take(&mut self.left)),
            (At::Choice, 'y' | 'a' | 's') if !all_shown => Came::More,
            (At::Choice, 'y') => self.decided(true, String::new()),
            (At::Choice, 'n') if asks_call => self.moved(At::Words(String::new(), Some(false))),
            (At::Choice, 'n') => self.decided(false, String::new()),
            (At::Choice, 's') if !asks_call => self.moved(At::Words(String::new(), None)),
            (At::Choice, 'a') => match self.rules.as_slice() {
                [] => Came::More,
                [only] => self.moved(At::Scope(only.clone())),
                _ => self.moved(At::Rule),
            },
            (At::Choice, 'l') if self.waits == Waits::Yes => Came::Later,
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

/// Returns what a question is about.
fn about(question: &Question, folder: &Path) -> Vec<Line> {
    let blank = Line::default();
    match &question.asks {
        Asked::Call { call, again, .. } => {
            let asks = if *again { "May this call run again?" } else { "May this call run?" };
            let again = again.then(|| Line::of(Ink::Warning, AGAIN));
            let call = calls::whole(call, Some(folder)).into_iter().map(|line| line.indented(2));
            [blank, Line::of(Ink::Warning, asks)].into_iter().chain(again).chain(call).collect()
        }
        Asked::Plain(text) => {
            let lines = text.lines().map(|line| Line::of(Ink::Warning, line));
            std::iter::once(blank).chain(lines).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::id::{At as Time, Digest, EffectId, Seq};
    use serde_json::json;

    use super::*;

    fn question(tool: &str) -> Question {
        let arguments = json!({ "class": "send", "label": "Apply", "origin": "https://a.test" });
        let call = json!({ "id": "a", "tool": tool, "arguments": arguments });
        let call = serde_json::from_value(call).expect("a call");
        Question {
            effect: EffectId { seq: Seq(3), index: 0 },
            asks: Asked::Call { call, identity: Digest::default(), again: false },
            expires: Time(1),
        }
    }

    /// A dialogue of which all is shown, and whose keys count.
    fn shown(mut dialogue: Dialogue) -> (Dialogue, String) {
        let all: Vec<String> = dialogue.left.drain(..).map(|line| line.text()).collect();
        dialogue.quiet = None;
        (dialogue, all.join("\n"))
    }

    fn choices(dialogue: &Dialogue) -> String {
        dialogue.choices().0.iter().map(|line| line.text() + "\n").collect()
    }

    #[test]
    fn a_key_with_another_held_down_answers_nothing() {
        for held in [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::all()] {
            let (mut dialogue, _) = shown(Dialogue::new(question("write"), Path::new(".")));
            for key in ['y', 'a', 'n', 'l', 's', 'm', 'w'] {
                let came = dialogue.key(KeyEvent::new(KeyCode::Char(key), held));
                assert!(matches!((came, &dialogue.at), (Came::More, At::Choice)), "{key}");
            }
            // A capital letter is the same key.
            let came = dialogue.key(KeyEvent::new(KeyCode::Char('Y'), KeyModifiers::SHIFT));
            assert!(matches!(came, Came::Decided(Decision { granted: true, .. }, None)));
        }
    }

    #[test]
    fn what_cannot_wait_is_not_left_for_later() {
        let plain = KeyModifiers::NONE;
        let (mut dialogue, _) = shown(Dialogue::new(question("write"), Path::new(".")));
        assert!(choices(&dialogue).contains("[l]ater"));
        assert!(matches!(dialogue.key(KeyEvent::new(KeyCode::Char('l'), plain)), Came::Later));
        let stands = Some("3 fields filled".into());
        let put = Dialogue::now(question("form.submit"), Path::new("."), stands);
        let (mut dialogue, about) = shown(put);
        let told = "at https://a.test\n  press `Apply`\n  3 fields filled";
        assert!(about.ends_with(told), "{about}");
        let offered = choices(&dialogue);
        assert!(offered.contains("Ctrl-C cancels the run, Ctrl-D says no"), "{offered}");
        assert!(!offered.contains("[l]ater") && !offered.contains("[a]lways"), "{offered}");
        assert!(matches!(dialogue.key(KeyEvent::new(KeyCode::Char('l'), plain)), Came::More));
        let came = dialogue.key(KeyEvent::new(KeyCode::Char('y'), plain));
        assert!(matches!(came, Came::Decided(Decision { granted: true, .. }, None)));
    }
}
