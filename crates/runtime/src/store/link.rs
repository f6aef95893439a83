//! What makes a line a link of a chain.

use std::ops::Deref;

use pointsman_kernel::{
    id::{Digest, Seq},
    journal::Entry,
};
use serde::Deserialize;

use super::{Append, StoreError};

/// The number of a line, and the digest of the line before it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Link {
    /// The number.
    pub seq: Seq,
    /// The digest; zeros without a previous line.
    pub prev: Digest,
}

/// The line of an entry. It is digested once, and stores need not parse it again.
#[derive(Clone, Debug)]
pub struct EntryLine {
    text: String,
    digest: Digest,
    link: Option<Link>,
}

impl EntryLine {
    /// Returns the line of an entry.
    pub fn of(entry: &Entry<'_>) -> Self {
        Self::new(entry.line(), Some(Link { seq: entry.seq, prev: entry.prev }))
    }

    fn new(text: String, link: Option<Link>) -> Self {
        Self { digest: Digest::of(text.as_bytes()), text, link }
    }

    /// Returns the digest of its bytes, which the next entry holds.
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

impl From<String> for EntryLine {
    fn from(text: String) -> Self {
        let link = Link::of(&text);
        Self::new(text, link)
    }
}

impl Deref for EntryLine {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Link {
    /// Reads it from a line, ignoring the rest.
    pub fn of(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// Reads it from a new entry, and checks that it fits. The first entry of a run follows no
    /// other.
    pub(super) fn checked(append: &Append, first: bool) -> Result<Self, StoreError> {
        let unfit = |why: &str| {
            let (run, seq) = (append.run.clone(), append.seq);
            Err(StoreError::Unfit { run, seq, why: why.into() })
        };
        let Some(link) = append.line.link else {
            return unfit("the entry has no number and no link to the previous entry");
        };
        if link.seq != append.seq {
            return unfit("the entry has the wrong number");
        }
        if first && (link.seq != Seq(1) || link.prev != Digest::default()) {
            return unfit("a run must begin with entry 1, which has no predecessor");
        }
        Ok(link)
    }
}
