//! Lines for a terminal: text in inks, cut or wrapped to a width.

use unicode_width::UnicodeWidthChar;

use crate::format;

/// How a piece of a line looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ink {
    /// As the terminal has it.
    Plain,
    /// Less than the rest.
    Dim,
    /// More than the rest.
    Bold,
    /// Where to look.
    Accent,
    /// It succeeded.
    Good,
    /// It needs a look.
    Warning,
    /// It went wrong.
    Bad,
    /// It no longer counts.
    Struck,
}

impl Ink {
    /// Returns its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Dim => "dim",
            Self::Bold => "bold",
            Self::Accent => "accent",
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Bad => "bad",
            Self::Struck => "struck",
        }
    }

    /// Returns what turns it on; `\x1b[0m` turns all of them off.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\x1b[2m",
            Self::Bold => "\x1b[1m",
            Self::Accent => "\x1b[36m",
            Self::Good => "\x1b[32m",
            Self::Warning => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Struck => "\x1b[2;9m",
        }
    }
}

/// A line. Nothing in it can steer the terminal.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Line(Vec<(Ink, String)>);

impl Line {
    /// A line in one ink.
    pub(crate) fn of(ink: Ink, text: &str) -> Self {
        Self::default().and(ink, text)
    }

    /// The line, with a piece more.
    #[must_use]
    pub(crate) fn and(mut self, ink: Ink, text: &str) -> Self {
        self.push(ink, &format::prose(text).replace('\t', "    ").replace('\n', " "));
        self
    }

    /// Adds a piece that is known to be harmless.
    fn push(&mut self, ink: Ink, text: &str) {
        if !text.is_empty() {
            self.0.push((ink, text.into()));
        }
    }

    /// The line, with another behind it.
    #[must_use]
    pub(crate) fn joined(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Returns its pieces, each with its ink.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Ink, &str)> {
        self.0.iter().map(|(ink, text)| (*ink, text.as_str()))
    }

    /// The line, moved to the right.
    #[must_use]
    pub(crate) fn indented(mut self, columns: usize) -> Self {
        self.0.insert(0, (Ink::Plain, " ".repeat(columns)));
        self
    }

    /// The line, all of it in one ink.
    #[must_use]
    pub(crate) fn inked(&self, ink: Ink) -> Self {
        Self::of(ink, &self.text())
    }

    /// Returns its text.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Returns how many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// Returns it as a terminal takes it.
    pub(crate) fn painted(&self, coloured: bool) -> String {
        let mut painted = String::new();
        for (ink, text) in &self.0 {
            if coloured && *ink != Ink::Plain {
                painted.push_str(ink.code());
                painted.push_str(text);
                painted.push_str("\x1b[0m");
            } else {
                painted.push_str(text);
            }
        }
        painted
    }

    /// Returns it cut to this many columns.
    #[must_use]
    pub(crate) fn cut(&self, columns: usize) -> Self {
        if self.width() <= columns {
            return self.clone();
        }
        let mut left = columns.saturating_sub(1);
        let mut cut = Self::default();
        let mut last = Ink::Plain;
        for (ink, text) in &self.0 {
            let fits = fitting(text, left);
            let (head, tail) = text.split_at_checked(fits).unwrap_or((text, ""));
            cut.push(*ink, head);
            (left, last) = (left.saturating_sub(width(head)), *ink);
            if !tail.is_empty() {
                break;
            }
        }
        cut.and(last, "…")
    }

    /// Returns it in as many rows as it takes, broken between words where there are any.
    /// Rows after the first are indented like it.
    pub(crate) fn wrapped(&self, columns: usize) -> Vec<Self> {
        let columns = columns.max(8);
        let text = self.text();
        let indent: String = text.chars().take_while(|c| *c == ' ').take(columns / 2).collect();
        let mut rows = Vec::new();
        let mut row = Self::default();
        for (ink, text) in &self.0 {
            let mut rest = text.as_str();
            while row.width() + width(rest) > columns {
                let room = columns.saturating_sub(row.width());
                let fits = fitting(rest, room);
                let head = rest.get(..fits).unwrap_or_default();
                // A word that is longer than a row is broken; else the last blank is.
                let ends = rest.get(fits..).is_some_and(|tail| tail.starts_with(' '));
                let at = match if ends { Some(fits) } else { head.rfind(' ') } {
                    Some(at) if !head.get(..at).unwrap_or_default().trim().is_empty() => at,
                    _ if row.text().trim().is_empty() => fits.max(first(rest)),
                    _ => 0,
                };
                let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
                row.push(*ink, head);
                rows.push(std::mem::replace(&mut row, Self::of(Ink::Plain, &indent)));
                rest = tail.trim_start_matches(' ');
            }
            row.push(*ink, rest);
        }
        rows.push(row);
        rows
    }
}

/// Returns how many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns how many bytes of a text fit into this many columns.
fn fitting(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// Returns the length of the first character: a row takes one at least.
fn first(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        Line::of(Ink::Plain, text).wrapped(columns).iter().map(Line::text).collect()
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(rows("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(rows("  one two three", 10), ["  one two", "  three"]);
        assert_eq!(rows("abcdefghijkl mn", 8), ["abcdefgh", "ijkl mn"]);
        assert_eq!(rows("漢字漢字漢字", 8), ["漢字漢字", "漢字"]);
        assert_eq!(rows("", 8), [""]);
        let line = Line::of(Ink::Bold, "one ").and(Ink::Dim, "two three");
        let rows: Vec<String> = line.wrapped(9).iter().map(|row| row.painted(true)).collect();
        assert_eq!(rows, ["\x1b[1mone \x1b[0m\x1b[2mtwo\x1b[0m", "\x1b[2mthree\x1b[0m"]);
    }

    #[test]
    fn lines_are_cut_and_cannot_steer() {
        assert_eq!(Line::of(Ink::Plain, "abcdef").cut(4).text(), "abc…");
        assert_eq!(Line::of(Ink::Plain, "abc").cut(3).text(), "abc");
        assert_eq!(Line::of(Ink::Plain, "a\x1b[2J\nb").text(), "a\u{fffd}[2J b");
    }
}
