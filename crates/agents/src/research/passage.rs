//! Passages: the lines of a tool's output that say in which file and line they stand.

/// A line of a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct DocumentLine<'o> {
    /// The file and the line, as `file:line`.
    pub(super) place: &'o str,
    /// The file.
    pub(super) path: &'o str,
    /// Its text.
    pub(super) text: &'o str,
}

/// Returns the passages of an output: its lines of the form `file:line: text`.
pub(super) fn passages(output: &str) -> impl Iterator<Item = DocumentLine<'_>> {
    output.lines().filter_map(passage)
}

fn passage(line: &str) -> Option<DocumentLine<'_>> {
    // A drive letter or a host has a colon too: the first one before a number counts.
    let marks = line.match_indices(':').map(|(at, _)| at);
    let mut found = marks.filter_map(|at| {
        let (path, rest) = (line.get(..at)?, line.get(at.saturating_add(1)..)?);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let text = rest.get(digits..)?.strip_prefix(':')?;
        let end = at.saturating_add(1).saturating_add(digits);
        let place = line.get(..end)?;
        (digits > 0 && is_path(path)).then(|| DocumentLine { place, path, text: text.trim() })
    });
    found.next()
}

/// Tells a file's name from a time of day, a sentence and an address.
fn is_path(text: &str) -> bool {
    let named = text.contains(['.', '/', '\\']) || !text.contains(char::is_whitespace);
    let number = text.bytes().all(|byte| byte.is_ascii_digit());
    !text.trim().is_empty() && named && !number && !text.contains("://") && !text.contains(": ")
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::passages;

    #[test]
    fn places_differ_from_times_and_sentences() {
        let output = "docs/a.md:12: The rule: it holds.\n\
            no passage matches\n\
            12:30: lunch\n\
            at 12:30:15 it rained\n\
            note: see b.md:3: there\n\
            http://localhost:80: up\n\
            my notes/b c.md:3:text\n\
            C:\\d\\e.txt:7: there\n\
            Makefile:1:\n\
            é.md:5: ü";
        let found: Vec<_> = passages(output).map(|it| (it.path, it.place, it.text)).collect();
        assert_eq!(
            found,
            vec![
                ("docs/a.md", "docs/a.md:12", "The rule: it holds."),
                ("my notes/b c.md", "my notes/b c.md:3", "text"),
                ("C:\\d\\e.txt", "C:\\d\\e.txt:7", "there"),
                ("Makefile", "Makefile:1", ""),
                ("é.md", "é.md:5", "ü"),
            ]
        );
    }
}
