//! The queue: runs that wait for a free worker.

use std::collections::BTreeMap;

use super::{Append, MessageId, NewRun, RunId, StoreError};

/// How much earlier a run counts as queued for each level of its priority, in milliseconds. A run
/// that waits ages, so what is urgent never keeps the others waiting for ever.
const LEVEL_MS: i64 = 60_000;

/// How a run waits for an owner.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct QueueOptions {
    /// Whose it is: runs of many keys take turns.
    pub key: Box<str>,
    /// How urgent it is: a higher number goes first.
    pub priority: i32,
    /// It is ready at this time at the earliest, in milliseconds since 1970.
    pub not_before_ms: u64,
    /// The label that a worker must have.
    pub needs: Option<Box<str>>,
}

/// Who asks for runs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Worker {
    /// Its labels.
    pub labels: Vec<Box<str>>,
}

/// How an owner leaves a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Release {
    /// It has something to do, and anybody may go on with it.
    Ready,
    /// It waits for its wake-up time, and for messages that its owner has not read.
    Parked {
        /// The last message that its owner has read.
        read: Option<MessageId>,
    },
}

/// A run that is ready.
#[derive(Clone, Debug)]
pub(super) struct QueuedRun {
    pub(super) run: RunId,
    pub(super) key: Box<str>,
    pub(super) rank: i64,
    pub(super) needs: Option<Box<str>>,
}

impl QueueOptions {
    /// Returns the place among others of its key, fixed when it is queued: ageing changes no order.
    pub fn rank(&self, queued_ms: u64) -> i64 {
        let queued = i64::try_from(queued_ms).unwrap_or(i64::MAX);
        queued.saturating_sub(i64::from(self.priority).saturating_mul(LEVEL_MS))
    }
}

/// Refuses to queue a child: its parent drives it.
pub(super) fn check(first: &Append, new_run: &NewRun) -> Result<(), StoreError> {
    if new_run.queue.is_none() || !first.run.is_child() {
        return Ok(());
    }
    let why = "a child run belongs to its parent and cannot be queued".into();
    Err(StoreError::Unfit { run: first.run.clone(), seq: first.seq, why })
}

/// Puts runs in the order in which a worker takes them: the first of each key, then the second.
pub(super) fn in_turn(mut waiting: Vec<QueuedRun>, worker: &Worker) -> Vec<RunId> {
    let able = |needs: &str| worker.labels.iter().any(|label| **label == *needs);
    waiting.retain(|it| it.needs.as_deref().is_none_or(able));
    waiting.sort_by(|one, two| (one.rank, &one.run).cmp(&(two.rank, &two.run)));
    let mut seen: BTreeMap<Box<str>, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, RunId)> = Vec::with_capacity(waiting.len());
    for QueuedRun { run, key, .. } in waiting {
        let turn = seen.entry(key).or_default();
        *turn += 1;
        turns.push((*turn, run));
    }
    // Those of one turn stay in the order of their ranks.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, run)| run).collect()
}
