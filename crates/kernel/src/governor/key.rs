//! What makes two calls, results or messages the same: numbers, made without allocating.
//!
//! Arguments are compared by meaning: the order of an object's keys does not count.
//! Results are compared with their volatile parts masked: clocks, dates, durations
//! and long hexadecimal ids. The list is part of the journal's format; a change of
//! it changes verdicts.

use alloc::string::String;

/// Bytes of a text that are looked at. Beyond that, texts differ by their length.
const LOOKED_AT: usize = 64 * 1024;
/// How deep arguments are followed.
const MAX_DEPTH: u8 = 64;

/// A running digest of 64 bits, by multiplication and mixing.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const fn new(kind: u8) -> Self {
        Self(0xcbf2_9ce4_8422_2325 ^ kind as u64)
    }

    pub(super) const fn byte(self, byte: u8) -> Self {
        Self(fold(self.0, byte as u64))
    }

    /// Takes in a text, eight bytes at a time, and its length.
    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        let (eights, rest) = bytes.as_chunks::<8>();
        let eights = eights.iter().fold(self.0, |hash, it| fold(hash, u64::from_le_bytes(*it)));
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        Self(fold(fold(eights, u64::from_le_bytes(last)), bytes.len() as u64))
    }

    pub(super) fn word(self, word: u64) -> Self {
        Self(mix(self.0 ^ mix(word)))
    }

    pub(super) const fn end(self) -> u64 {
        mix(self.0)
    }
}

/// Cheap, for texts; [`mix`] is for what is short and must be mixed well.
const fn fold(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 32)
}

const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Returns the key of a name.
pub(super) fn name(text: &str) -> u64 {
    Hash::new(b'n').bytes(text.as_bytes()).end()
}

/// Returns the key of a JSON text by its meaning: keys in any order. Shows the
/// members of an object on the way.
pub(super) fn json<'t>(text: &'t str, each: impl FnMut(Member<'t>)) -> u64 {
    let mut reader = Reader { bytes: text.as_bytes(), depth: 0 };
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

/// Returns the key of a query: case and spaces do not count.
pub(super) fn query(text: &str) -> u64 {
    let words = text.split_whitespace();
    let hash = words.fold(Hash::new(b'q'), |hash, word| {
        word.chars()
            .flat_map(char::to_lowercase)
            .fold(hash.byte(b' '), |hash, c| hash.word(u64::from(c)))
    });
    hash.end()
}

/// Returns the key of a result or an error, its volatile parts masked.
pub(super) fn masked(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let looked_at = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let mut hash = Hash::new(b'r');
    if looked_at.len() < bytes.len() {
        hash = hash.word(bytes.len() as u64);
    }
    // Every volatile word has a digit, so the text goes by from digit to digit. What
    // lies between two volatile words is taken in as a whole.
    let (mut plain, mut ahead) = (looked_at, looked_at);
    while let Some(digit) = ahead.iter().position(u8::is_ascii_digit) {
        let (before, after) = ahead.split_at_checked(digit).unwrap_or_default();
        let start = before.iter().rev().take_while(|byte| is_word(**byte)).count();
        let start = digit.saturating_sub(start);
        let end = after.iter().take_while(|byte| is_word(**byte)).count().saturating_add(digit);
        let word = ahead.get(start..end).unwrap_or_default();
        let rest = ahead.get(end..).unwrap_or_default();
        if is_volatile(word) {
            let until = plain.len().saturating_sub(ahead.len()).saturating_add(start);
            hash = hash.bytes(plain.get(..until).unwrap_or_default()).byte(b'#');
            plain = rest;
        }
        ahead = rest;
    }
    hash.bytes(plain).end()
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'-')
}

/// Returns whether a word with a digit is a clock, a date, a duration or a long
/// hexadecimal id.
fn is_volatile(word: &[u8]) -> bool {
    let word = word.strip_suffix(b".").or_else(|| word.strip_suffix(b":")).unwrap_or(word);
    is_time(word) || is_duration(word) || is_id(word)
}

/// `2026-11-15`, `10:32:01.250`, `2026-11-15T10:32:01Z`.
fn is_time(word: &[u8]) -> bool {
    let separators = word.iter().filter(|byte| matches!(byte, b':' | b'-')).count();
    let parts = word.split(|byte| matches!(byte, b':' | b'-' | b'T' | b'.'));
    let short = |part: &[u8]| {
        let part = part.strip_suffix(b"Z").unwrap_or(part);
        !part.is_empty() && part.len() <= 9 && part.iter().all(u8::is_ascii_digit)
    };
    separators >= 2 && parts.clone().all(short) && parts.clone().count() >= 3
}

/// `12ms`, `0.03s`, `1.5sec`.
fn is_duration(word: &[u8]) -> bool {
    let unit = word.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (number, unit) = word.split_at_checked(word.len().saturating_sub(unit)).unwrap_or_default();
    matches!(unit, b"s" | b"ms" | b"us" | b"ns" | b"sec" | b"secs")
        && number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// `0x7f3a90`, a digest, a UUID: hexadecimal, with letters and digits, eight or more.
fn is_id(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"0x").unwrap_or(word);
    let pointer = bare.len() < word.len() && bare.len() >= 4;
    if !(pointer || bare.len() >= 8) || !bare.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-')
    {
        return false;
    }
    let digits = bare.iter().filter(|byte| byte.is_ascii_digit()).count();
    pointer || (digits > 1 && bare.iter().any(u8::is_ascii_alphabetic))
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

/// Walks over JSON that is known to be well-formed. What is not, ends early: a key
/// is a comparison, never a proof.
struct Reader<'t> {
    bytes: &'t [u8],
    depth: u8,
}

impl<'t> Reader<'t> {
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
        // What is nested deeper is compared as it is written: the stack has an end.
        if self.depth == MAX_DEPTH {
            return Hash::new(b'~').bytes(self.take(usize::MAX)).end();
        }
        self.depth = self.depth.saturating_add(1);
        let key = self.nested();
        self.depth = self.depth.saturating_sub(1);
        key
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
                // A stray bracket must not stop the walk for ever.
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

    #[test]
    fn queries_differ_by_their_words() {
        assert_eq!(query("  The Parser \n entry"), query("the parser ENTRY"));
        assert_ne!(query("the parser"), query("theparser"));
    }

    #[test]
    fn what_is_volatile_does_not_count() {
        for (left, right) in [
            ("at 10:32:01 it failed", "at 11:05:59 it failed"),
            ("2026-11-15T10:32:01.250Z ok", "2025-01-01T00:00:00.001Z ok"),
            ("finished in 0.03s", "finished in 12.5s"),
            ("object at 0x7f3a90 leaked", "object at 0x55ee10 leaked"),
            ("commit 9fceb02d0ae5", "commit 1a2b3c4d5e6f"),
            (
                "id 123e4567-e89b-12d3-a456-426614174000.",
                "id 00000000-aaaa-12d3-a456-426614174abc.",
            ),
        ] {
            assert_eq!(masked(left), masked(right), "{left} / {right}");
        }
        for (left, right) in [
            ("line 10", "line 11"),
            ("page 1 of 9: apples", "page 2 of 9: pears"),
            ("3 failed", "2 failed"),
            ("src/main.rs:10", "src/main.rs:11"),
            ("progress 40%", "progress 41%"),
            ("v1.2.3", "v1.2.4"),
            ("deadbeef", "feedface"),
        ] {
            assert_ne!(masked(left), masked(right), "{left} / {right}");
        }
    }
}
