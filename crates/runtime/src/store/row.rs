//! What stores return when they are read.

use std::{cmp::Reverse, sync::Arc};

use pointsman_kernel::id::{Digest, EffectId, Seq};

use super::{RunId, StoreError};
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
    /// What it was started for.
    pub goal: Box<str>,
    /// When its clock began, in milliseconds since 1970: a fork's with what it has taken
    /// over, so before it was made.
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
    /// When it wants to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
}

impl RunRow {
    /// Returns when it was made, in milliseconds since 1970.
    pub fn made_ms(&self) -> u64 {
        let forked = self.forked.as_ref().and_then(|_| made_ms(&self.id));
        forked.map_or(self.created_ms, |made| made.max(self.created_ms))
    }
}

/// The runs of a store.
#[derive(Debug, Default)]
pub struct Listed {
    /// Those that are whole, the newest first.
    pub runs: Vec<RunRow>,
    /// What is damaged: the rows of runs, or the list itself. The others are as they were
    /// written all the same.
    pub damaged: Vec<StoreError>,
}

impl Listed {
    /// Puts the newest first.
    pub(super) fn sort(&mut self) {
        self.runs.sort_by_cached_key(|row| Reverse((row.made_ms(), row.id.clone())));
    }
}

/// A snapshot, as it was kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kept {
    /// The entry after which it was taken.
    pub seq: Seq,
    /// The digest of that entry's line, which the next entry holds.
    pub link: Digest,
    /// The run, as JSON.
    pub body: Box<str>,
}

/// A prompt, as it was kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PromptRow {
    /// The entry that it was kept with.
    pub seq: Seq,
    /// The effect that asked the model.
    pub effect: EffectId,
    /// Its messages as JSON, the system's first. Prompts share what they have in common.
    pub parts: Vec<Arc<str>>,
}

/// A run with all that is kept of it, as it was at one moment.
#[derive(Debug)]
pub struct Whole {
    /// Its row.
    pub row: RunRow,
    /// Its lines, whose chain was checked.
    pub lines: Vec<String>,
    /// What is kept beside each line.
    pub beside: Vec<Beside>,
    /// Its prompts up to the entry that was asked for, or what is wrong with them.
    pub prompts: Result<Vec<PromptRow>, StoreError>,
}

/// What is kept beside an entry's line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Beside {
    /// The state that the run was in after the entry.
    pub state: Box<str>,
    /// How the run had ended.
    pub ended: Option<Box<str>>,
    /// When it wanted to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// How many prompts were kept with the entry.
    pub prompts: u64,
    /// Whether the columns have their seal.
    pub sealed: bool,
}
