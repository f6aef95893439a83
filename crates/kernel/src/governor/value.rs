//! An argument's value as rules read it: a text, the words of a list, or its JSON.

use alloc::{string::String, vec::Vec};

/// Represents a blank within a word of a list, so that only separators are blanks.
const WITHIN: char = '\u{1f}';

/// Returns a value as rules read it that stop a call: a text as it is, a list of texts with
/// blanks between them, anything else as JSON without blanks.
pub(super) fn read(written: &str) -> String {
    if let Ok(text) = serde_json::from_str(written) {
        return text;
    }
    let texts = serde_json::from_str::<Vec<String>>(written);
    texts.map_or_else(|_| compact(written), |texts| texts.join(" "))
}

/// Returns the texts of a value: itself, or those of a list.
pub(super) fn texts(written: &str) -> Vec<String> {
    match serde_json::from_str(written) {
        Ok(text) => alloc::vec![text],
        Err(_) => serde_json::from_str(written).unwrap_or_default(),
    }
}

/// Returns JSON without blanks, with one spelling for each text. Members keep their order.
fn compact(written: &str) -> String {
    let plain = |it: &char| !it.is_ascii_whitespace();
    let (mut compact, mut rest) = (String::with_capacity(written.len()), written);
    while let Some((before, text)) = rest.find('"').and_then(|at| rest.split_at_checked(at)) {
        let mut escaped = false;
        let end = text.char_indices().skip(1).find(|(_, it)| {
            let ends = *it == '"' && !escaped;
            escaped = *it == '\\' && !escaped;
            ends
        });
        let end = end.map_or(text.len(), |(at, _)| at.saturating_add(1));
        let (text, after) = text.split_at_checked(end).unwrap_or((text, ""));
        let read = serde_json::from_str::<String>(text);
        let same = read.and_then(|text| serde_json::to_string(&text));
        compact.extend(before.chars().filter(plain));
        compact.push_str(same.as_deref().unwrap_or(text));
        rest = after;
    }
    compact.extend(rest.chars().filter(plain));
    compact
}

/// Returns a list of texts as rules that allow read it: joined by blanks, with none inside them.
/// Returns nothing for anything but a list of texts.
pub(super) fn words(written: &str) -> Option<String> {
    let words: Vec<String> = serde_json::from_str(written).ok()?;
    let whole = |word: String| word.replace(' ', WITHIN.encode_utf8(&mut [0; 4]));
    Some(words.into_iter().map(whole).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read() {
        for (written, wanted) in [
            (r#""a \u0062""#, "a b"),
            (r#"["push", "--force"]"#, "push --force"),
            ("[]", ""),
            ("[1, \"a\"]", r#"[1,"a"]"#),
            ("7", "7"),
            ("true", "true"),
            ("null", "null"),
            (r#"{ "b": [1, 2], "a \"" : "\u0062 c" }"#, r#"{"b":[1,2],"a \"":"b c"}"#),
        ] {
            assert_eq!(read(written), wanted, "{written}");
        }
        let deep = "[".repeat(1000);
        assert_eq!(read(&deep), deep);
    }

    #[test]
    fn words_of_a_list() {
        assert_eq!(words(r#"["log", "-3"]"#).as_deref(), Some("log -3"));
        assert_eq!(words(r#"["log -3"]"#).as_deref(), Some("log\u{1f}-3"));
        assert!([r#""log""#, "[1]", "7", "{}", "["].iter().all(|it| words(it).is_none()));
    }
}
