//! The display of a question: its subject, and the possible answers.

use std::{path::Path, time::Instant};

use pointsman_runtime::{
    clock::now_ms,
    observe::{AGAIN, Question, QuestionKind},
};

use super::{Dialogue, PromptStep};
use crate::{
    calls,
    drive::Waits,
    format,
    line::{Ink, Line},
    paths,
    screen::TerminalScreen,
};

impl Dialogue {
    /// Returns what can be answered.
    pub(crate) fn choices(&self, now: Instant) -> Vec<Line> {
        let keys = |text: &str| Line::of(Ink::Accent, text);
        let hint = |text: &str| Line::of(Ink::Dim, text);
        let asks_call = self.question.call().is_some();
        let later = if self.waits == Waits::Yes { "  [l]ater" } else { "" };
        let other = if self.talks { "; any other line is your next message" } else { "" };
        let mut lines = match &self.at {
            PromptStep::Choice if !self.left.is_empty() => {
                let left = format::counted(self.left.len().try_into().unwrap_or(u64::MAX), "row");
                let line = keys("[m]ore  [w]hole").and(Ink::Dim, &format!(" ({left} not shown)"));
                let no = if asks_call { "[n]o, because…" } else { "[n]o" };
                let line = line.and(Ink::Accent, &format!("  {no}{later}"));
                vec![
                    line,
                    hint(&format!("Enter shows more, or type a choice and press Enter{other}")),
                ]
            }
            PromptStep::Choice => {
                let line = if asks_call {
                    let always = if self.rules.is_empty() { "" } else { "  [a]lways…" };
                    format!("[y]es, once{always}  [n]o, because…{later}")
                } else {
                    format!("[y]es  [n]o  [s]ay why{later}")
                };
                vec![keys(&line), hint(&format!("type y or yes, and press Enter{other}"))]
            }
            PromptStep::Rule => {
                let mut lines = vec![Line::of(Ink::Warning, "Always, for which calls?")];
                for (number, rule) in (1..).zip(&self.rules) {
                    let key = keys(&format!("  [{number}] "));
                    lines.push(key.and(Ink::Plain, &calls::rule(rule)));
                }
                lines.push(keys("[b]ack").and(Ink::Dim, "  type a number and press Enter"));
                lines
            }
            PromptStep::Scope(rule) => {
                let head = Line::of(Ink::Warning, "Always ").and(Ink::Plain, &calls::rule(rule));
                let file = paths::user_file().map(|file| file.display().to_string());
                let file = file.map_or_else(String::new, |file| {
                    format!("  in [e]very run (saved in {})", format::line(&file, 60))
                });
                let choices = keys(&format!("in this [r]un{file}  [b]ack"));
                vec![head, choices, hint("type r or run, and press Enter")]
            }
            PromptStep::Words(_) => {
                let head = "Reason (Enter sends, Esc goes back):";
                let head = if asks_call { head } else { "Your message, in one line:" };
                vec![Line::of(Ink::Warning, head)]
            }
            PromptStep::WithWords(_) => {
                vec![keys("[y]es  [n]o  [b]ack"), hint("type y or yes, and press Enter")]
            }
        };
        if let Some(due) = self.due {
            lines.insert(0, hint(&format::deadline(now_ms(), due)));
        }
        if self.waits == Waits::No {
            // A row that is wider than the terminal would be cut.
            let why =
                "The question cannot be left for later, because the page is open in the browser.";
            lines.insert(0, hint(why));
            lines.insert(0, hint("Ctrl-C cancels the run, Ctrl-D answers no."));
        }
        if !self.counts(now)
            && let Some(last) = lines.last_mut()
        {
            *last = hint("waiting until you stop typing (1 s)");
        }
        lines
    }

    /// Returns what can be answered with the line that is being typed below it, and the
    /// column of the cursor.
    pub(crate) fn view(&self, now: Instant) -> (Vec<Line>, usize) {
        let mut lines = self.choices(now);
        let (row, column) = self.entry.row(TerminalScreen::columns());
        lines.push(row);
        (lines, column)
    }
}

/// Returns what a question is about.
pub(crate) fn about(question: &Question, folder: Option<&Path>) -> Vec<Line> {
    let blank = Line::default();
    match &question.asks {
        QuestionKind::Call { call, again, .. } => {
            let asks = if *again { "May this call run again?" } else { "May this call run?" };
            let again = again.then(|| Line::of(Ink::Warning, AGAIN));
            let call = calls::whole(call, folder).into_iter().map(|line| line.indented(2));
            [blank, Line::of(Ink::Warning, asks)].into_iter().chain(again).chain(call).collect()
        }
        QuestionKind::Plain(text) => {
            let text = format::folded(&format::visible(text));
            let lines = text.lines().map(|line| Line::of(Ink::Warning, line));
            std::iter::once(blank).chain(lines).collect()
        }
    }
}
