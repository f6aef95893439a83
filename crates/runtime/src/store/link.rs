//! What makes a line a link of a chain.

use std::ops::Deref;

use pointsman_kernel::{
    id::{Digest, Seq},
    journal::Entry,
};
use serde::Deserialize;

use super::{Append, StoreError};
use crate::entry;

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
    progress: bool,
}

impl EntryLine {
    /// Returns the line of an entry.
    pub fn of(entry: &Entry<'_>) -> Self {
        let link = Link { seq: entry.seq, prev: entry.prev };
        Self::new(entry.line(), Some(link), is_progress(entry::name(entry.event.get())))
    }

    fn new(text: String, link: Option<Link>, progress: bool) -> Self {
        Self { digest: Digest::of(text.as_bytes()), text, link, progress }
    }

    /// Returns the digest of its bytes, which the next entry holds.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns whether the entry is progress. Interruptions and pauses are not: a run that is claimed
    /// again and again without any other entry can be quarantined.
    pub const fn is_progress(&self) -> bool {
        self.progress
    }
}

impl From<String> for EntryLine {
    fn from(text: String) -> Self {
        let (link, progress) = (Link::of(&text), is_progress(entry::event_name(&text)));
        Self::new(text, link, progress)
    }
}

fn is_progress(event: Option<&str>) -> bool {
    !matches!(event, Some("interrupted" | "paused" | "lifted"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_is_not_progress() {
        for (event, wants) in [
            (r#"{"begun":{"chart":"chat"}}"#, true),
            (r#"{"interrupted":{"effects":[]}}"#, false),
            (r#" { "paused" : {"why":"\"event\":{\"begun\""}}"#, false),
            (r#"{"lifted":{"by":"parent"}}"#, false),
            (r#"{"answered":{"text":"\"event\":{\"paused\""}}"#, true),
            (r#""woke""#, true),
        ] {
            let zeros = "0".repeat(64);
            let line = format!(
                r#"{{"v":1,"seq":2,"at":7,"event":{event},"hops":[],"effects":"{zeros}","prev":"{zeros}"}}"#
            );
            assert!(entry::event_name(&line).is_some(), "{line}");
            assert_eq!(EntryLine::from(line.clone()).is_progress(), wants, "{line}");
            let entry = Entry::read(&line).expect("the line is an entry");
            assert_eq!(EntryLine::of(&entry).is_progress(), wants, "{line}");
        }
    }
}
