//! A call's arguments: the key that identifies equal calls, and their members as written.
//!
//! Arguments are compared by meaning: the order of an object's keys does not count.

use alloc::string::String;

use super::key::Hash;

/// How deep arguments are followed.
const MAX_DEPTH: u8 = 64;

/// Returns the key of a JSON text by its meaning: keys in any order. Shows the
/// members of an object on the way.
pub(super) fn json<'t>(text: &'t str, each: impl FnMut(Member<'t>)) -> u64 {
    let mut reader = ArgumentReader { bytes: text.as_bytes(), depth: 0 };
    if reader.peek() == Some(b'{') { object(reader.members(each)) } else { reader.value() }
}

/// Returns a member of a JSON object as it is written, if it has it.
pub(super) fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    json(text, |member| {
        if member.name == name.as_bytes() {
            found = Some(member.value);
        }
    });
    found.and_then(|bytes| core::str::from_utf8(bytes).ok())
}

/// Returns a text as it is written between its quotes, or nothing for other values.
pub(super) fn quoted(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// Returns whether a name, as it is written between its quotes, is this one.
pub(super) fn says(written: &[u8], name: &str) -> bool {
    if !written.contains(&b'\\') {
        return written == name.as_bytes();
    }
    let quoted = [b"\"".as_slice(), written, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).is_ok_and(|read| read == name)
}

/// A member of an object.
pub(super) struct Member<'t> {
    /// Its name, as it is written between its quotes.
    pub(super) name: &'t [u8],
    /// Its value, as it is written.
    pub(super) value: &'t [u8],
    /// The key of its name and value.
    pub(super) key: u64,
}

/// Returns the key of an object from the sum of its members' keys: adding keeps
/// their order out of it.
pub(super) fn object(sum: u64) -> u64 {
    Hash::new(b'{').word(sum).end()
}

/// Walks over well-formed JSON. Malformed JSON ends early: a key is a comparison, never a proof.
struct ArgumentReader<'t> {
    bytes: &'t [u8],
    depth: u8,
}

impl<'t> ArgumentReader<'t> {
    fn space(&mut self) {
        self.bytes = self.bytes.trim_ascii_start();
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.first().copied()
    }

    fn take(&mut self, count: usize) -> &'t [u8] {
        let (taken, rest) = self.bytes.split_at_checked(count).unwrap_or((self.bytes, &[]));
        self.bytes = rest;
        taken
    }

    /// Reads a string and returns it without its quotes, escapes as written.
    fn string(&mut self) -> &'t [u8] {
        self.take(1);
        let mut escaped = false;
        let end = self.bytes.iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        let text = self.take(end.unwrap_or(self.bytes.len()));
        self.take(1);
        text
    }

    fn value(&mut self) -> u64 {
        // Values nested deeper are compared as written: the stack is limited.
        if self.depth == MAX_DEPTH && matches!(self.peek(), Some(b'[' | b'{')) {
            let length = self.to_its_end();
            return Hash::new(b'~').bytes(self.take(length)).end();
        }
        self.depth = self.depth.saturating_add(1);
        let key = self.nested();
        self.depth = self.depth.saturating_sub(1);
        key
    }

    /// Returns how long the list or object is that begins here, however deep.
    fn to_its_end(&self) -> usize {
        let (mut open, mut within, mut escaped) = (0_usize, false, false);
        let end = self.bytes.iter().position(|byte| {
            match byte {
                b'"' if !escaped => within = !within,
                b'[' | b'{' if !within => open = open.saturating_add(1),
                b']' | b'}' if !within => open = open.saturating_sub(1),
                _ => {}
            }
            escaped = *byte == b'\\' && !escaped;
            open == 0
        });
        end.map_or(self.bytes.len(), |end| end.saturating_add(1))
    }

    fn nested(&mut self) -> u64 {
        match self.peek() {
            Some(b'{') => object(self.members(|_| {})),
            Some(b'[') => {
                self.take(1);
                let mut hash = Hash::new(b'[');
                while self.peek().is_some_and(|byte| byte != b']') {
                    hash = hash.word(self.value());
                    if self.peek() == Some(b',') {
                        self.take(1);
                    }
                }
                self.take(1);
                hash.end()
            }
            Some(b'"') => Hash::new(b'"').bytes(self.string()).end(),
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                let end = self.bytes.iter().position(ends).unwrap_or(self.bytes.len());
                // A stray bracket must not stop the walk forever.
                Hash::new(b'1').bytes(self.take(end.max(1))).end()
            }
        }
    }

    /// Reads an object, and returns the sum of its members' keys.
    fn members(&mut self, mut each: impl FnMut(Member<'t>)) -> u64 {
        let mut sum: u64 = 0;
        if self.peek() != Some(b'{') {
            return sum;
        }
        self.take(1);
        while self.peek() == Some(b'"') {
            let name = self.string();
            self.peek();
            self.take(1);
            self.space();
            let before = self.bytes;
            let value = self.value();
            let length = before.len().saturating_sub(self.bytes.len());
            let key = Hash::new(b'm').bytes(name).word(value).end();
            sum = sum.wrapping_add(key);
            each(Member { name, value: before.get(..length).unwrap_or_default(), key });
            if self.peek() == Some(b',') {
                self.take(1);
            }
        }
        self.take(1);
        sum
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn json(text: &str) -> u64 {
        super::json(text, |_| {})
    }

    #[test]
    fn the_order_of_keys_does_not_count_and_that_of_lists_does() {
        assert_eq!(
            json(r#"{"a":1,"b":{"c":[1,2],"d":"x"}}"#),
            json(r#"{ "b": {"d":"x","c":[1, 2]}, "a":1 }"#)
        );
        for other in [
            r#"{"a":1}"#,
            r#"{"a":1,"b":{"c":[2,1],"d":"x"}}"#,
            r#"{"a":"1","b":null}"#,
            "[]",
            "{}",
            "",
            "}",
            "[{",
        ] {
            assert_ne!(json(r#"{"a":1,"b":{"c":[1,2],"d":"x"}}"#), json(other), "{other}");
        }
    }

    #[test]
    fn nesting_does_not_overflow() {
        let deep = "[".repeat(1_000_000);
        assert_ne!(json(&deep), json("["));
        // The rest is still seen.
        for (open, close) in [("[", "]"), ("{\"b\":", "}")] {
            let deep = [&open.repeat(100), r#""]}\"]""#, &close.repeat(100)].concat();
            let text = [r#"{"a":"#, &deep, r#","path":"x"}"#].concat();
            assert_eq!(member(&text, "a"), Some(&*deep));
            assert_eq!(member(&text, "path"), Some(r#""x""#));
        }
    }

    #[test]
    fn members_are_shown_as_they_are_written() {
        let text = r#"{"path": "a \"b\".rs", "n": [1, {"path": 2}] , "\u0071": "x"}"#;
        let mut shown = Vec::new();
        super::json(text, |member| shown.push((member.name, member.value)));
        let bytes = |text: &'static str| text.as_bytes();
        assert_eq!(
            shown,
            [
                (bytes("path"), bytes(r#""a \"b\".rs""#)),
                (bytes("n"), bytes(r#"[1, {"path": 2}]"#)),
                (bytes(r"\u0071"), bytes(r#""x""#)),
            ]
        );
        assert_eq!(quoted(r#""a \"b\"""#), Some(r#"a \"b\""#));
        assert_eq!(quoted("[1]"), None);
        assert!(says(br"\u0071", "q") && says(b"q", "q") && !says(br"\u0071", r"\u0071"));
    }
}
