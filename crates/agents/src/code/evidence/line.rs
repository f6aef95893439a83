//! Command lines cut into commands, as a shell would: quotes, comments, texts handed in,
//! and what joins one command to the next.

use alloc::{string::String, vec::Vec};

/// What is between two commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Separator {
    And,
    Or,
    Pipe,
    Next,
    /// The shell does not wait for the command.
    Background,
}

/// The words of a command, and what is after it.
pub(super) type CommandWords = (Vec<String>, Separator);

/// Splits a command line at what joins commands.
pub(super) fn split(line: &str) -> Vec<CommandWords> {
    let mut cut = Splitter { rest: line, ..Splitter::default() };
    while let Some(c) = cut.next() {
        cut.take(c);
    }
    cut.end_command(Separator::Next);
    cut.commands
}

#[derive(Default)]
struct Splitter<'l> {
    rest: &'l str,
    word: String,
    words: Vec<String>,
    commands: Vec<CommandWords>,
    /// The names that end the texts handed in by `<<`, which begin on the next line.
    texts: Vec<&'l str>,
}

impl Splitter<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn next_is(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, c: char) {
        match c {
            '&' if self.next_is('&') => self.end_command(Separator::And),
            '|' if self.next_is('|') => self.end_command(Separator::Or),
            '|' => {
                self.next_is('&');
                self.end_command(Separator::Pipe);
            }
            // `2>&1` and `&>log` say where the output goes.
            '&' if !self.word.ends_with(['>', '<']) && !self.rest.starts_with('>') => {
                self.end_command(Separator::Background);
            }
            ';' => self.end_command(Separator::Next),
            '\n' => {
                self.end_command(Separator::Next);
                self.skip_texts();
            }
            '#' if self.word.is_empty() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            '<' if self.next_is('<') => self.open_text(),
            '\'' | '"' => self.quoted(c),
            '\\' => {
                let next = self.next().filter(|next| *next != '\n');
                self.word.extend(next);
            }
            '(' | ')' => self.end_word(),
            _ if c.is_whitespace() => self.end_word(),
            _ => self.word.push(c),
        }
    }

    fn quoted(&mut self, quote: char) {
        while let Some(c) = self.next() {
            if c == quote {
                return;
            }
            if c == '\\' && quote == '"' && self.rest.starts_with(['"', '\\', '$', '`']) {
                let escaped = self.next();
                self.word.extend(escaped);
            } else {
                self.word.push(c);
            }
        }
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(core::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self, joint: Separator) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push((core::mem::take(&mut self.words), joint));
        }
    }

    /// Reads the name after `<<`; `<<<` passes one word, which is not a text.
    fn open_text(&mut self) {
        if self.next_is('<') {
            return;
        }
        self.end_word();
        self.next_is('-');
        let rest = self.rest.trim_start_matches([' ', '\t']);
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '<' | '>');
        let end = rest.find(ends).unwrap_or(rest.len());
        let Some((name, rest)) = rest.split_at_checked(end) else { return };
        self.rest = rest;
        let name = name.trim_matches(['\'', '"', '\\']);
        if !name.is_empty() {
            self.texts.push(name);
        }
    }

    /// Leaves out the texts that begin here: what they say is not run as it stands.
    fn skip_texts(&mut self) {
        for name in core::mem::take(&mut self.texts) {
            let mut left = self.rest;
            while !left.is_empty() {
                let (line, rest) = left.split_once('\n').unwrap_or((left, ""));
                left = rest;
                if line.trim() == name {
                    self.rest = rest;
                    break;
                }
            }
        }
    }
}
