//! The line that a person types while a run is busy or asks: its text, and whether it can be an
//! answer.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::line::{Ink, Line, width};

/// A line that is being typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputLine {
    text: String,
    /// Whether a part of it was pasted.
    pasted: bool,
    begun: TypingStart,
}

/// When a line was begun.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum TypingStart {
    /// Before the question was shown: it is a message.
    #[default]
    Before,
    /// Too soon after the question, or after another key, to be a considered answer.
    Early,
    /// When the question had been there for a while.
    Calm,
}

/// A line that was sent with Enter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SubmittedLine {
    /// Its text.
    pub(crate) text: String,
    /// Whether a part of it was pasted.
    pub(crate) pasted: bool,
    /// When it was begun.
    pub(crate) begun: TypingStart,
}

impl InputLine {
    /// A line that holds this already.
    pub(crate) fn of(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Returns whether nothing was typed.
    pub(crate) const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the text away.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(self).text
    }

    /// The line was there before a question that is put now.
    #[must_use]
    pub(crate) fn before(self) -> Self {
        Self { begun: TypingStart::Before, ..self }
    }

    /// Takes a key that edits or sends the line. `begun` is when a line begins that begins
    /// with this key.
    pub(crate) fn key(&mut self, key: KeyEvent, begun: TypingStart) -> Option<SubmittedLine> {
        let held = |modifier| key.modifiers.contains(modifier);
        let (control, alt) = (held(KeyModifiers::CONTROL), held(KeyModifiers::ALT));
        match key.code {
            KeyCode::Enter if alt => self.push("\n", begun),
            KeyCode::Enter if self.text.ends_with('\\') => {
                self.text.pop();
                self.push("\n", begun);
            }
            KeyCode::Enter => {
                // An empty line begins and ends with this key.
                let begun = if self.is_empty() { begun } else { self.begun };
                let Self { text, pasted, .. } = std::mem::take(self);
                return Some(SubmittedLine { text, pasted, begun });
            }
            KeyCode::Backspace => {
                self.text.pop();
                if self.is_empty() {
                    self.pasted = false;
                }
            }
            KeyCode::Esc => drop(self.take()),
            KeyCode::Char('u') if control => drop(self.take()),
            // A key with another held down means something else, such as a prefix of `screen`.
            KeyCode::Char(c) if !control && !alt => self.push(c.encode_utf8(&mut [0; 4]), begun),
            _ => {}
        }
        None
    }

    /// Takes text that was pasted.
    pub(crate) fn paste(&mut self, text: &str, begun: TypingStart) {
        self.push(&text.replace("\r\n", "\n").replace('\r', "\n"), begun);
        self.pasted = !self.is_empty();
    }

    fn push(&mut self, text: &str, begun: TypingStart) {
        if self.is_empty() {
            self.begun = begun;
        }
        self.text.push_str(text);
    }

    /// Returns the end of the line as it is shown, and the column of the cursor.
    pub(crate) fn row(&self, columns: usize) -> (Line, usize) {
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let sign = if self.text.contains('\n') { "· " } else { "› " };
        let mut shown = last;
        while width(shown) + 3 > columns {
            let mut rest = shown.chars();
            rest.next();
            shown = rest.as_str();
        }
        let line = Line::of(Ink::Accent, sign).and(Ink::Plain, shown);
        let column = line.width();
        (line, column)
    }
}
