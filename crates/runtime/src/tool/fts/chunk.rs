//! What stands together in a file: paragraphs of prose, blocks of code.

/// Lines of a block at most.
const BLOCK: usize = 8;
/// The most lines of a paragraph, or of a comment with its code.
const PARAGRAPH: usize = 16;
/// How files of prose end.
const PROSE: [&str; 9] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".tex", ".html", ".htm"];

/// A piece of a file that is found as one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TextChunk {
    /// Its first line, counted from 1.
    pub(super) line: usize,
    /// The headings above it.
    pub(super) heading: String,
    /// Its text.
    pub(super) text: String,
}

/// Returns whether a file is prose, by its name.
pub(super) fn is_prose(path: &str) -> bool {
    let path = path.to_lowercase();
    PROSE.iter().any(|ending| path.ends_with(ending))
}

/// Extensions of files in which `#` begins a comment, and in which `--` does.
const HASH: [&str; 13] = [
    ".py", ".sh", ".bash", ".zsh", ".rb", ".pl", ".r", ".toml", ".yaml", ".yml", ".cfg", ".conf",
    ".mk",
];
const DASHES: [&str; 4] = [".sql", ".lua", ".hs", ".elm"];

/// Returns what a line of code says where it is one of a comment.
pub(super) fn comment<'l>(path: &str, line: &'l str) -> Option<&'l str> {
    let line = line.trim();
    let path = path.to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    let marks: &[&str] = if ends(&HASH) {
        &["#"]
    } else if ends(&DASHES) {
        &["--"]
    } else {
        &["///", "//!", "//", "/**", "/*", "*/", "* "]
    };
    if line == "*" {
        return Some("");
    }
    let rest = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(rest.trim().trim_end_matches("*/").trim_end())
}

/// Cuts a file into pieces.
pub(super) fn chunks(path: &str, text: &str) -> Vec<TextChunk> {
    let prose = is_prose(path);
    let mut chunks: Vec<TextChunk> = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    // Whether the next line belongs to the last piece, and how many lines that has.
    let mut lines = 0;
    // How many lines of code it has: a comment stays with its code.
    let mut code = 0;
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        fenced ^= prose && trimmed.starts_with("```");
        let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
        let heads = prose && !fenced && (1..=6).contains(&level);
        if heads {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, trimmed.trim_matches('#').trim()));
        }
        // A row of a table and an item of a list each say something of their own.
        let alone = prose && !fenced && starts_alone(trimmed);
        let says = !prose && comment(path, trimmed).is_some();
        let full = lines == PARAGRAPH || !prose && code == BLOCK;
        if trimmed.is_empty() || heads || alone || full || says && code > 0 {
            (lines, code) = (0, 0);
        }
        if trimmed.is_empty() {
            continue;
        }
        if let Some(chunk) = chunks.last_mut().filter(|_| lines > 0) {
            chunk.text.push('\n');
            chunk.text.push_str(line);
        } else {
            let above: Vec<&str> = headings.iter().map(|(_, heading)| *heading).collect();
            let heading = above.join(" / ");
            chunks.push(TextChunk { line: at + 1, heading, text: line.into() });
        }
        lines = if heads { 0 } else { lines + 1 };
        code += usize::from(!prose && !says);
    }
    chunks
}

/// Returns whether a line begins something: a row, an item.
fn starts_alone(line: &str) -> bool {
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(". "))
    };
    line.starts_with('|') || line.starts_with("- ") || line.starts_with("* ") || numbered()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(path: &str, text: &str) -> Vec<String> {
        let shown = |chunk: TextChunk| format!("{} [{}] {}", chunk.line, chunk.heading, chunk.text);
        chunks(path, text).into_iter().map(shown).collect()
    }

    #[test]
    fn prose_is_cut_by_paragraphs_rows_and_items_below_its_headings() {
        let text =
            "# Top\nOne\ntwo.\n\n## Deep\n- a\n- b\n  more\n\n| x |\n| y |\n\n## Next\n\nEnd.\n";
        assert_eq!(
            cut("a.md", text),
            [
                "1 [Top] # Top",
                "2 [Top] One\ntwo.",
                "5 [Top / Deep] ## Deep",
                "6 [Top / Deep] - a",
                "7 [Top / Deep] - b\n  more",
                "10 [Top / Deep] | x |",
                "11 [Top / Deep] | y |",
                "13 [Top / Next] ## Next",
                "15 [Top / Next] End."
            ]
        );
    }

    #[test]
    fn code_is_cut_by_blocks_and_fences_have_no_headings() {
        let code = "fn a() {\n    1\n}\n\n# no heading\nfn b() {}\n";
        assert_eq!(cut("a.rs", code), ["1 [] fn a() {\n    1\n}", "5 [] # no heading\nfn b() {}"]);
        let fence = "# A\n\n```sh\n# a comment\nrun\n```\n";
        assert_eq!(cut("a.md", fence), ["1 [A] # A", "3 [A] ```sh\n# a comment\nrun\n```"]);
        let long = "x\n".repeat(20);
        assert_eq!(chunks("a.rs", &long).len(), 3);
    }

    #[test]
    fn comment_is_one_passage_with_its_code() {
        let lines = "/// One line of it.\n".repeat(10);
        let code = format!("let x = 1;\n{lines}fn a() {{}}\n// Next.\nfn b() {{}}\n");
        let cut = cut("a.rs", &code);
        assert_eq!(cut.len(), 3, "{cut:?}");
        assert!(cut[1].starts_with("2 [] ///") && cut[1].ends_with("fn a() {}"), "{cut:?}");
        for (path, line, says) in [
            ("a.rs", "  //! Says so.", Some("Says so.")),
            ("a.c", " * more", Some("more")),
            ("a.c", "/* all */", Some("all")),
            ("a.py", "# a word", Some("a word")),
            ("a.rs", "#[test]", None),
            ("a.py", "x = 1 // 2", None),
            ("a.rs", "x * y", None),
            ("a.sql", "-- a table", Some("a table")),
        ] {
            assert_eq!(comment(path, line), says, "{path} {line}");
        }
    }
}
