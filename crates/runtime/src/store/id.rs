//! Ids of runs and messages.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// A run, by an id that sorts by the time it was made.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RunId(Box<str>);

impl RunId {
    /// Makes an id from ASCII letters and digits.
    pub(crate) fn from_letters(letters: &[u8]) -> Self {
        Self(letters.iter().copied().map(char::from).collect::<String>().into())
    }

    /// Takes an id as a row holds it; the row's checksum covers it.
    #[cfg(feature = "sqlite")]
    pub(super) fn from_row(text: String) -> Self {
        Self(text.into())
    }

    /// Returns whether the run is another's child: its name is made from its parent's.
    pub fn is_child(&self) -> bool {
        self.0.contains('-')
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is not a run id.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{0}` is not a run id: use letters, digits, `-` and `_`, 64 at most")]
pub struct NoRunId(String);

impl FromStr for RunId {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if text.is_empty() || text.len() > 64 || !text.bytes().all(plain) {
            return Err(NoRunId(text.into()));
        }
        Ok(Self(text.into()))
    }
}

/// A message, by a number that is never given twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct MessageId(pub(super) i64);

impl MessageId {
    /// Takes a number that a store has given to a message: for stores.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
