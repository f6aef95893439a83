//! What stores return when they are read.

use std::{ops::Range, sync::Arc};

use pointsman_kernel::id::{Digest, EffectId, Seq};

use super::{Cursor, QueuePlace, RunId, StoreError};
use crate::clock::made_ms;

/// A run as the list shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The agent.
    pub agent: Box<str>,
    /// The chart.
    pub chart: Box<str>,
    /// The digest of the chart's text.
    pub source: Digest,
    /// Its goal.
    pub goal: Box<str>,
    /// When its clock began, in milliseconds since 1970: for a fork including the shared time, so
    /// before it was created.
    pub created_ms: u64,
    /// The run and entry that it was forked from.
    pub forked: Option<(RunId, Seq)>,
    /// Its last entry.
    pub seq: Seq,
    /// The digest of its last line.
    pub link: Digest,
    /// Its state.
    pub state: Box<str>,
    /// How it ended.
    pub ended: Option<Box<str>>,
    /// When it must be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// The process that has it now. Told by [`run`](super::Store::run) and
    /// [`list`](super::Store::list), as is its place in the queue.
    pub owner: Option<Box<str>>,
    /// Its place in the queue, if it was queued.
    pub queue: Option<QueuePlace>,
}

impl RunRow {
    /// Returns when it was made, in milliseconds since 1970.
    pub fn made_ms(&self) -> u64 {
        made(&self.id, self.forked.is_some(), self.created_ms)
    }

    /// Returns its place in the list.
    pub fn cursor(&self) -> Cursor {
        Cursor { made_ms: self.made_ms(), run: self.id.clone() }
    }
}

/// Returns when a run was created. A fork's clock began before that; its id may tell.
pub(super) fn made(id: &RunId, forked: bool, created_ms: u64) -> u64 {
    let told = forked.then(|| made_ms(id)).flatten();
    told.map_or(created_ms, |made| made.max(created_ms))
}

/// How a store stands.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Health {
    /// How many runs there are.
    pub runs: u64,
    /// How many messages wait.
    pub messages: u64,
    /// Why it takes no entries, if it takes none.
    pub unwritable: Option<String>,
}

/// Returns as much of a range as there is.
pub(super) fn part(bytes: &[u8], range: &Range<u64>) -> Vec<u8> {
    let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    bytes.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec()
}

/// A stored snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// The entry after which it was taken.
    pub seq: Seq,
    /// The digest of that entry's line, which the next entry holds.
    pub link: Digest,
    /// The run, as JSON.
    pub body: Box<str>,
}

/// A stored prompt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PromptRow {
    /// The entry that it was kept with.
    pub seq: Seq,
    /// The effect that asked the model.
    pub effect: EffectId,
    /// Its messages as JSON, the system's first. Prompts share equal messages.
    pub parts: Vec<Arc<str>>,
}

/// A run with all its stored data, at one moment.
#[derive(Debug)]
pub struct RunRecord {
    /// Its row.
    pub row: RunRow,
    /// Its lines, whose chain was checked.
    pub lines: Vec<String>,
    /// The data beside each line.
    pub columns: Vec<EntryColumns>,
    /// Its prompts up to the requested entry, or their damage.
    pub prompts: Result<Vec<PromptRow>, StoreError>,
}

/// The data stored beside an entry's line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EntryColumns {
    /// The state that the run was in after the entry.
    pub state: Box<str>,
    /// How the run had ended.
    pub ended: Option<Box<str>>,
    /// When it wanted to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// How many prompts were kept with the entry.
    pub prompts: u64,
    /// Whether the columns have their checksum.
    pub intact: bool,
}
