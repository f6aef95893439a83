//! A model's text while it is written: whole rows stay, the last one is redrawn.

use crate::line::{Ink, Line};

/// Text that is being written.
#[derive(Debug, Default)]
pub(super) struct StreamedText {
    /// The row that is not full yet.
    row: String,
    /// Rows that stay, from the first: they are struck out if the attempt fails.
    rows: Vec<Line>,
    /// Whether the rows are within a block of code.
    code: bool,
    /// Whether the row continues a line that began above it.
    goes_on: Option<Ink>,
}

impl StreamedText {
    /// Returns whether nothing was written yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.row.is_empty() && self.rows.is_empty()
    }

    /// Takes a piece, and returns the rows that are full now.
    pub(super) fn write(&mut self, piece: &str, columns: usize) -> Vec<Line> {
        let mut full = Vec::new();
        if piece.is_empty() {
            return full;
        }
        if self.rows.is_empty() && self.row.is_empty() {
            full.push(Line::default());
        }
        let mut lines = piece.split('\n');
        self.row.push_str(lines.next().unwrap_or_default());
        self.overflow(columns, &mut full);
        for line in lines {
            full.push(self.finished());
            self.row.push_str(line);
            self.overflow(columns, &mut full);
        }
        self.rows.extend(full.iter().cloned());
        full
    }

    /// Ends the text, and returns the row that was left.
    pub(super) fn end(&mut self) -> Vec<Line> {
        let left = (!self.row.is_empty()).then(|| self.finished());
        *self = Self::default();
        left.into_iter().collect()
    }

    /// Discards the text. Returns all its rows; the last one was never finished.
    pub(super) fn discard(&mut self) -> (Vec<Line>, Option<Line>) {
        let left = (!self.row.is_empty()).then(|| self.finished());
        (std::mem::take(self).rows, left)
    }

    /// Returns the row that is not full yet.
    pub(super) fn open(&self) -> Option<Line> {
        (!self.row.is_empty()).then(|| Line::of(self.ink(), &self.row))
    }

    /// Moves the rows that are full out of the last one.
    fn overflow(&mut self, columns: usize, full: &mut Vec<Line>) {
        let line = Line::of(self.ink(), &self.row);
        let mut rows = line.wrapped(columns);
        if rows.len() < 2 {
            return;
        }
        self.goes_on = Some(self.ink());
        let last = rows.pop().map(|row| row.text());
        full.append(&mut rows);
        self.row = last.unwrap_or_default();
    }

    /// Returns the row as it stays, and begins another one.
    fn finished(&mut self) -> Line {
        let ink = self.ink();
        if self.goes_on.take().is_none() && is_fence(&self.row) {
            self.code = !self.code;
        }
        Line::of(ink, &std::mem::take(&mut self.row))
    }

    /// Returns the ink of a row: headings and code look different.
    fn ink(&self) -> Ink {
        match self.goes_on {
            Some(ink) => ink,
            None if self.code || is_fence(&self.row) => Ink::Accent,
            None if self.row.starts_with('#') => Ink::Bold,
            None => Ink::Plain,
        }
    }
}

fn is_fence(row: &str) -> bool {
    row.trim_start().starts_with("```")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn full_rows_stay_and_the_last_one_is_open() {
        let mut text = StreamedText::default();
        assert_eq!(told(&text.write("one two ", 10)), [""]);
        assert_eq!(told(&text.write("three", 10)), ["one two"]);
        assert_eq!(text.open().map(|row| row.text()).as_deref(), Some("three"));
        assert_eq!(told(&text.write("\n```\nlet a;\n", 10)), ["three", "```", "let a;"]);
        let (rows, left) = text.discard();
        assert_eq!(told(&rows), ["", "one two", "three", "```", "let a;"]);
        assert!(left.is_none() && text.is_empty());
    }
}
