//! The text of a string literal, as Rust reads it.

/// Returns the text of a plain or raw string; nothing for bytes, characters and numbers.
pub(crate) fn text(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let hashes = raw.chars().take_while(|it| *it == '#').count();
        let body = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return Some(body.to_owned());
    }
    let body = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            text.push(next);
            continue;
        }
        match rest.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            // A continued line: its leading blanks do not count.
            '\n' => while rest.next_if(|it| it.is_whitespace()).is_some() {},
            'u' => {
                let code: String = rest.by_ref().take_while(|it| *it != '}').skip(1).collect();
                text.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)?);
            }
            'x' => {
                let code: String = rest.by_ref().take(2).collect();
                text.push(u8::from_str_radix(&code, 16).ok()?.into());
            }
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn reads_escapes_raw_strings_and_continued_lines() {
        assert_eq!(text(r#""a\n\"b\" \u{2713} \x41""#).as_deref(), Some("a\n\"b\" \u{2713} A"));
        assert_eq!(text("\"one \\\n    two\"").as_deref(), Some("one two"));
        assert_eq!(text("r##\"a \"# b\"##").as_deref(), Some("a \"# b"));
        assert_eq!(text("b\"bytes\""), None);
        assert_eq!(text("12"), None);
    }
}
