//! Line ends: left out while a piece is looked for, and put back where it is replaced.

use std::borrow::Cow;

const CRLF: &str = "\r\n";
const LF: &str = "\n";

/// Returns a text with plain line ends.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(CRLF) { text.replace(CRLF, LF).into() } else { text.into() }
}

/// A text with plain line ends that knows which ones it had.
pub(super) struct Plain<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether each line ended in CRLF; empty where none did.
    wide: Vec<bool>,
}

impl<'a> Plain<'a> {
    /// Takes the line ends out of a text.
    pub(super) fn of(text: &'a str) -> Self {
        if !text.contains(CRLF) {
            return Self { text: text.into(), wide: Vec::new() };
        }
        let wide = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        Self { wide: wide.map(|line| line.ends_with(CRLF)).collect(), text: plain(text) }
    }

    /// Returns the text with `new` for `old` at these places. Every line keeps its end; added
    /// lines end like those that they replace, or like the line around them. The end of the last
    /// line stays, too.
    pub(super) fn replaced(&self, places: &[usize], old: &str, new: &str) -> String {
        let mut edited = String::with_capacity(self.text.len().saturating_add(new.len()));
        let (mut from, mut line) = (0, 0);
        for at in places {
            let kept = self.text.get(from..*at).unwrap_or_default();
            line = self.put(&mut edited, kept, line, usize::MAX);
            // The lines of `new` end like those of `old`, and the rest like the last of them.
            let (ends, added) = (old.matches('\n').count(), new.matches('\n').count());
            let last = if ends > 0 { line.saturating_add(ends).saturating_sub(1) } else { line };
            if added > 0 || ends > 0 {
                self.put(&mut edited, new, line, last);
            } else {
                edited.push_str(new);
            }
            line = line.saturating_add(ends);
            from = at.saturating_add(old.len());
        }
        self.put(&mut edited, self.text.get(from..).unwrap_or_default(), line, usize::MAX);
        if self.text.ends_with('\n') && !edited.is_empty() && !edited.ends_with('\n') {
            edited.push_str(self.end(usize::MAX));
        }
        edited
    }

    /// Adds a piece whose first line is the `line`th of the text, and returns which one
    /// comes after it. No end after the `last` is looked at.
    fn put(&self, edited: &mut String, piece: &str, mut line: usize, last: usize) -> usize {
        if self.wide.is_empty() {
            edited.push_str(piece);
            return line;
        }
        for part in piece.split_inclusive('\n') {
            match part.strip_suffix('\n') {
                Some(words) => {
                    edited.push_str(words);
                    edited.push_str(self.end(line.min(last)));
                    line = line.saturating_add(1);
                }
                None => edited.push_str(part),
            }
        }
        line
    }

    /// Returns how a line ends; one that is not there ends as the last.
    fn end(&self, line: usize) -> &'static str {
        let wide = self.wide.get(line).or_else(|| self.wide.last());
        if wide.is_some_and(|wide| *wide) { CRLF } else { LF }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, old: &str, new: &str, wanted: &str) {
        let plain = Plain::of(text);
        let places: Vec<usize> = plain.text.match_indices(old).map(|(at, _)| at).collect();
        assert_eq!(plain.replaced(&places, old, new), wanted, "{text:?}: {old:?} -> {new:?}");
    }

    #[test]
    fn line_ends_are_kept() {
        check("a\nb\n", "b", "c\nd", "a\nc\nd\n");
        check("a\r\nb\r\n", "b", "c\nd", "a\r\nc\r\nd\r\n");
        check("a\r\nb\r\nc", "a\nb", "x", "x\r\nc");
        check("a\r\nb\r\nc", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc");
        // Mixed ones stay where they are, before the place and behind it.
        check("a\r\nb\nc\r\nd\n", "c", "x\ny", "a\r\nb\nx\r\ny\r\nd\n");
        check("a\r\nb\nc\r\nd\n", "b\nc", "b\nx\nc", "a\r\nb\nx\nc\r\nd\n");
        check("a\nb\r\na\n", "a", "z\nz", "z\nz\nb\r\nz\nz\n");
    }

    #[test]
    fn the_last_line_keeps_its_end() {
        check("a\nb\n", "b\n", "c", "a\nc\n");
        check("a\r\nb\r\n", "b\n", "c", "a\r\nc\r\n");
        check("a\nb", "b", "c", "a\nc");
        check("a\n", "a\n", "", "");
        check("a\nb\n", "b\n", "", "a\n");
    }
}
