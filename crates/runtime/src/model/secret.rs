//! Keys: held, sent, and never shown.

use pointsman_kernel::id::Digest;
use std::{fmt, sync::Arc};

/// What stands where a key stood.
const REDACTED: &str = "[redacted]";

/// Shorter keys are words that people give servers which want any key at all; taking
/// them out of a text would only garble it.
const SHORTEST: usize = 8;

/// A key. It shows in no log, no error and no debug output.
#[derive(Clone, Eq, PartialEq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// Returns a key; the spaces around it are dropped.
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    /// Returns the key itself, to be sent.
    #[cfg(feature = "models")]
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the digest of the key, which tells accounts apart.
    pub(super) fn digest(&self) -> [u8; 32] {
        Digest::of(self.0.as_bytes()).0
    }

    /// Returns a text without the key, for providers that repeat their input.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&*self.0, REDACTED) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Takes a key out of bytes that arrive in chunks, wherever they were cut.
#[cfg(feature = "models")]
#[derive(Debug)]
pub(super) struct Redactor {
    secret: Option<ApiKey>,
    /// The end of what came, while it may be the beginning of the key.
    held: Vec<u8>,
}

#[cfg(feature = "models")]
impl Redactor {
    pub(super) fn new(secret: Option<ApiKey>) -> Self {
        let secret = secret.filter(|secret| secret.0.len() >= SHORTEST);
        Self { secret, held: Vec::new() }
    }

    /// Takes a chunk and returns what may be passed on.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let Some(secret) = &self.secret else { return chunk.to_vec() };
        let key = secret.0.as_bytes();
        let mut rest: &[u8] = &[std::mem::take(&mut self.held).as_slice(), chunk].concat();
        let mut passed = Vec::with_capacity(rest.len());
        while let Some((first, tail)) = rest.split_first() {
            if let Some(after) = rest.strip_prefix(key) {
                passed.extend_from_slice(REDACTED.as_bytes());
                rest = after;
            } else if key.starts_with(rest) {
                self.held = rest.to_vec();
                break;
            } else {
                passed.push(*first);
                rest = tail;
            }
        }
        passed
    }

    /// Returns what was held back: the body has ended, so it is not the key.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_wherever_it_was_cut() {
        let body = b"a sk-sk-12345 b sk-12345";
        for cut in 0..=body.len() {
            let mut redactor = Redactor::new(Some(ApiKey::new(" sk-12345\n")));
            let (left, right) = body.split_at(cut);
            let mut seen = redactor.push(left);
            seen.extend(redactor.push(right));
            seen.extend(redactor.rest());
            let seen = String::from_utf8(seen).expect("the output is UTF-8");
            assert_eq!(seen, "a sk-[redacted] b [redacted]", "cut at {cut}");
        }
    }

    #[test]
    fn half_a_key_at_the_end_is_passed_on() {
        let mut redactor = Redactor::new(Some(ApiKey::new("sk-12345")));
        assert_eq!(redactor.push(b"x sk-1"), b"x ");
        assert_eq!(redactor.rest(), b"sk-1");
    }

    #[test]
    fn short_keys_are_not_redacted() {
        assert_eq!(ApiKey::new("none").redact("none of it"), "none of it");
        assert_eq!(Redactor::new(Some(ApiKey::new("none"))).push(b"none"), b"none");
    }
}
