//! Text as a person reads it: what steers a screen is taken out, and what draws nothing, or
//! wider than it counts, is shown by a sign with its number.
//!
//! Every front end uses this: terminals, editors and printed questions. A person who decides about
//! a text must see all of it.

use std::fmt::{self, Write as _};

use unicode_width::UnicodeWidthChar;

/// The most marks on one letter: no script needs more.
const MARKS: usize = 3;
/// Signs of invisible characters that may follow each other; more are counted together.
const SIGNS: usize = 4;
/// The most blanks in a row: before a line, and within one. More would push the rest out of sight.
const INDENT: usize = 40;
const BLANKS: usize = 8;
/// Empty lines that may stand below each other.
const EMPTY: usize = 3;

/// Returns text without anything hidden, for a person who decides about it. Line breaks and tabs
/// stay. Control characters become `�`; characters that draw nothing, change the direction of the
/// following text, or draw wider than they count become `⟨U+200B⟩`, or `⟨800×U+3164⟩` for many of
/// them.
pub fn visible(text: &str) -> String {
    shown(text, false)
}

/// Returns text that cannot control a terminal, for reading only. Like [`visible`], except for
/// what prose needs: joiners within words and emoji variation selectors are not shown, and unusual
/// blanks are blanks.
pub fn prose(text: &str) -> String {
    shown(text, true)
}

/// Returns [`visible`] text in one line of at most `most` characters. Each run of blanks is one
/// blank, or its number if it is long.
pub fn line(text: &str, most: usize) -> String {
    let visible = visible(text);
    let mut flat = String::new();
    for (word, blanks) in pieces(visible.trim()) {
        flat.push_str(word);
        match blanks {
            0 => {}
            1..=BLANKS => flat.push(' '),
            _ => flat.push_str(&counted(blanks)),
        }
    }
    if flat.chars().count() <= most {
        return flat;
    }
    let mut cut: String = flat.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Returns text in which blanks cannot push anything out of sight: a count replaces long runs of
/// blanks and empty lines.
pub fn folded(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut empty: Vec<&str> = Vec::new();
    // The sign of a line does not count as text.
    let is_empty = |line: &str| matches!(line.trim(), "" | "+" | "-" | "$");
    for line in text.split('\n').map(Some).chain([None]) {
        if let Some(line) = line.filter(|line| is_empty(line)) {
            empty.push(line);
            continue;
        }
        let many = empty.len() > EMPTY;
        lines.extend(many.then(|| format!("⟨{} empty lines⟩", empty.len())));
        lines.extend(empty.drain(..).filter(|_| !many).map(str::to_owned));
        lines.extend(line.map(narrowed));
    }
    lines.join("\n")
}

/// Returns JSON with the same meaning that cannot control a terminal: characters that [`visible`]
/// would change are escaped, such as `\u009b`. JSON has such characters only within texts.
pub fn json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let plain = c.is_ascii() && c != '\u{7f}' || !(c.is_control() || is_hidden(c));
        if plain {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _: fmt::Result = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Returns whether a character draws nothing, changes the direction of the following text, or
/// draws wider than it counts: Unicode's default ignorable code points, blank letters, and letters
/// that are parts of other characters.
const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{11ff}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{d7b0}'..='\u{d7ff}'
        | '\u{fdfd}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is a blank that is not the usual one.
fn is_odd_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
}

/// Returns whether prose may have a hidden character between these two: within a word of a joining
/// script, or within an emoji.
fn is_usual(before: Option<char>, c: char, after: Option<char>) -> bool {
    let foreign = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(c));
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(|c| !c.is_ascii_alphabetic() && !is_hidden(c))
        }
        '\u{200c}' | '\u{200d}' => {
            let emoji = matches!(before, Some('\u{fe0f}'));
            (foreign(before) || emoji) && foreign(after)
        }
        '\u{ad}' => true,
        // Scripts with letters in several parts.
        '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' => {
            matches!(before, Some('\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}'))
        }
        _ => false,
    }
}

fn shown(text: &str, prose: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut hidden: Vec<char> = Vec::new();
    let (mut before, mut marks) = (None, 0_usize);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied();
        let told = is_hidden(c) || (!prose && is_odd_blank(c));
        if told && !(prose && is_usual(before, c, after)) {
            hidden.push(c);
            before = Some(c);
            continue;
        }
        signs(&mut hidden, &mut shown);
        // Joiners and variation selectors take no column.
        let silent = told && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{1160}'..='\u{d7ff}');
        let is_mark = !told && !c.is_ascii() && c.width() == Some(0);
        if is_mark {
            marks += 1;
        } else {
            many_marks(&mut marks, &mut shown);
        }
        before = Some(c);
        match c {
            '\n' | '\t' => shown.push(c),
            _ if c.is_control() => shown.push('\u{fffd}'),
            _ if silent => {}
            _ if is_mark && marks > MARKS => {}
            _ => shown.push(c),
        }
    }
    signs(&mut hidden, &mut shown);
    many_marks(&mut marks, &mut shown);
    shown
}

/// Writes how many marks of a letter were left out.
fn many_marks(marks: &mut usize, shown: &mut String) {
    if *marks > MARKS {
        let _: fmt::Result = write!(shown, "⟨{} more marks⟩", *marks - MARKS);
    }
    *marks = 0;
}

/// Writes hidden characters as signs.
fn signs(hidden: &mut Vec<char>, shown: &mut String) {
    let groups: Vec<&[char]> = hidden.chunk_by(|one, two| one == two).collect();
    if groups.len() > SIGNS {
        let first = groups.first().and_then(|group| group.first()).copied().map_or(0, u32::from);
        let count = hidden.len();
        let _: fmt::Result =
            write!(shown, "⟨{count} invisible characters, the first U+{first:04X}⟩");
    } else {
        for group in groups {
            let Some(code) = group.first().copied().map(u32::from) else { continue };
            let _: fmt::Result = match group.len() {
                1 => write!(shown, "⟨U+{code:04X}⟩"),
                count => write!(shown, "⟨{count}×U+{code:04X}⟩"),
            };
        }
    }
    hidden.clear();
}

/// Returns the words of a text, each with the number of blanks behind it.
fn pieces(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let at = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let after = tail.trim_start();
        let blanks = tail.get(..tail.len().saturating_sub(after.len())).unwrap_or_default();
        rest = after;
        Some((word, blanks.chars().count()))
    })
}

fn counted(blanks: usize) -> String {
    format!(" ⟨{blanks} blanks⟩ ")
}

/// Returns a line with counts instead of long runs of blanks.
fn narrowed(line: &str) -> String {
    let mut narrow = String::new();
    let mut at = 0;
    for (word, blanks) in pieces(line) {
        narrow.push_str(word);
        at += word.len();
        let length: usize =
            line.get(at..).into_iter().flat_map(str::chars).take(blanks).map(char::len_utf8).sum();
        let as_is = line.get(at..at + length).unwrap_or_default();
        at += length;
        let signs = narrow.chars().all(|c| c.is_whitespace() || "+-$".contains(c));
        if blanks > if signs { INDENT } else { BLANKS } {
            narrow.push_str(&counted(blanks));
        } else {
            narrow.push_str(as_is);
        }
    }
    narrow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_shown_and_counted() {
        let hidden = [
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{ffa0}',
            '\u{2800}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{202a}',
            '\u{202e}',
            '\u{2028}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{180e}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fffb}',
            '\u{1d173}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{a0}',
            '\u{3000}',
            '\u{2003}',
            '\u{17b4}',
            '\u{1161}',
            '\u{d7b0}',
        ];
        for c in hidden {
            let code = u32::from(c);
            assert_eq!(visible(&format!("a{c}b")), format!("a⟨U+{code:04X}⟩b"));
            let many = c.to_string().repeat(800);
            assert_eq!(visible(&format!("a{many}b")), format!("a⟨800×U+{code:04X}⟩b"));
            assert_eq!(line(&format!("a{many}b"), 80), format!("a⟨800×U+{code:04X}⟩b"));
        }
        let tags: String = ('\u{e0061}'..='\u{e007a}').collect();
        let told = "⟨26 invisible characters, the first U+E0061⟩";
        assert_eq!(visible(&format!("rm{tags}")), format!("rm{told}"));
    }

    #[test]
    fn nothing_steers_a_screen() {
        for show in [visible, prose] {
            assert_eq!(show("a\u{1b}[2J\u{9b}1m\u{7f}\r\n\tb"), "a�[2J�1m��\n\tb");
            assert_eq!(show("a\u{202e}b\u{200e}"), "a⟨U+202E⟩b⟨U+200E⟩");
        }
        assert_eq!(line("a\u{1b}[2J  b\nc", 80), "a�[2J b c");
        assert_eq!(line("abcdef", 4), "abc…");
    }

    #[test]
    fn marks_do_not_flood_a_letter() {
        assert_eq!(visible("e\u{301}a\u{302}\u{323}"), "e\u{301}a\u{302}\u{323}");
        let flood = format!("e{}x", "\u{301}".repeat(60));
        assert_eq!(visible(&flood), "e\u{301}\u{301}\u{301}⟨57 more marks⟩x");
    }

    #[test]
    fn plain_text_is_unchanged() {
        let plain = "naïve Straße 漢字 Ελλάδα русский עברית العربية हिन्दी ไทย 😀 — “x” ½";
        assert_eq!((visible(plain), prose(plain)), (plain.into(), plain.into()));
    }

    #[test]
    fn prose_keeps_joiners_of_its_script() {
        let persian = "می\u{200c}خواهم";
        assert_eq!(prose(persian), persian);
        assert!(visible(persian).contains("⟨U+200C⟩"));
        assert_eq!(prose("careful \u{26a0}\u{fe0f} here"), "careful \u{26a0} here");
        assert_eq!(prose("\u{1f468}\u{200d}\u{1f469}"), "\u{1f468}\u{200d}\u{1f469}");
        assert_eq!(prose("vrai\u{a0}? dis\u{ad}tinct"), "vrai\u{a0}? distinct");
        // Between plain letters they hide something.
        assert_eq!(prose("r\u{200b}m a\u{200d}b"), "r⟨U+200B⟩m a⟨U+200D⟩b");
        assert_eq!(prose(&"\u{3164}".repeat(800)), "⟨800×U+3164⟩");
        assert_eq!(prose("\u{e9}\u{200d}\u{200d}\u{e9}"), "\u{e9}⟨2×U+200D⟩\u{e9}");
    }

    #[test]
    fn blanks_are_counted() {
        let many = " ".repeat(300);
        assert_eq!(line(&format!("a{many}b  c"), 80), "a ⟨300 blanks⟩ b c");
        assert_eq!(folded(&format!("$ a{many}b  c")), "$ a ⟨300 blanks⟩ b  c");
        assert_eq!(folded(&format!("+{}x", " ".repeat(30))), format!("+{}x", " ".repeat(30)));
        assert_eq!(folded("one\n\n\n\n\ntwo\n"), "one\n⟨4 empty lines⟩\ntwo\n");
    }

    #[test]
    fn json_means_the_same_and_steers_nothing() {
        let value = serde_json::json!({ "a\u{202e}": "x\u{9b}\u{7f}\u{e0041}é\u{1b}\u{feff}" });
        let escaped = json(&value.to_string());
        let wanted = r#"{"a\u202e":"x\u009b\u007f\udb40\udc41é\u001b\ufeff"}"#;
        assert_eq!(escaped, wanted);
        let again: serde_json::Value =
            serde_json::from_str(&escaped).expect("the text is valid JSON");
        assert_eq!(again, value);
    }
}
