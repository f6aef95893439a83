//! What makes two calls, results or messages the same: numbers, made without allocating.
//!
//! Results are compared with their volatile parts masked: clocks, dates, durations
//! and long hexadecimal ids. The list is part of the journal's format; a change of
//! it changes verdicts.

/// Bytes of a text that are looked at. Beyond that, texts differ by their length.
const LOOKED_AT: usize = 64 * 1024;

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

/// Cheap, for texts; [`mix`] is for short values that must be mixed well.
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
    // Every volatile word has a digit, so the scan jumps from digit to digit. The text between two
    // volatile words is hashed as a whole.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_differ_by_their_words() {
        assert_eq!(query("  The Parser \n entry"), query("the parser ENTRY"));
        assert_ne!(query("the parser"), query("theparser"));
    }

    #[test]
    fn volatile_words_do_not_count() {
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
