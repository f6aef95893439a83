//! The queue: runs that wait for a free worker.

use std::{collections::BTreeMap, time::Duration};

use pointsman_kernel::id::Seq;

use super::{Append, MessageId, NewRun, RunId, RunRow, StoreError};

/// How much earlier a run counts as queued for each level of its priority, in milliseconds.
/// Waiting runs age, so urgent ones never block the others forever.
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

/// The worker that claims runs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Worker {
    /// Its labels.
    pub labels: Vec<Box<str>>,
    /// How many runs are driven at a time, by all workers together. Workers of one queue should have
    /// the same limits.
    pub limits: ClaimLimits,
}

impl Worker {
    /// Returns whether it has the label that a run needs.
    pub(super) fn is_able(&self, row: &RunRow) -> bool {
        let needs = row.queue.as_ref().and_then(|place| place.needs.as_ref());
        needs.is_none_or(|needs| self.labels.contains(needs))
    }
}

/// How many runs of one agent, or of one key, are driven at a time.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClaimLimits {
    /// Of every agent that is not named.
    pub each_agent: Option<u32>,
    /// Of agents by name.
    pub agents: BTreeMap<Box<str>, u32>,
    /// Of every key that is not named.
    pub each_key: Option<u32>,
    /// Of keys by name.
    pub keys: BTreeMap<Box<str>, u32>,
}

impl ClaimLimits {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn of_agent(&self, agent: &str) -> Option<u32> {
        self.agents.get(agent).copied().or(self.each_agent)
    }

    fn of_key(&self, key: &str) -> Option<u32> {
        self.keys.get(key).copied().or(self.each_key)
    }
}

/// The queued runs that are driven now, counted.
#[derive(Debug, Default)]
pub(super) struct RunningCounts {
    agents: BTreeMap<Box<str>, u32>,
    keys: BTreeMap<Box<str>, u32>,
}

impl RunningCounts {
    /// Counts one more.
    pub(super) fn add(&mut self, agent: &str, key: &str) {
        for (counts, name) in [(&mut self.agents, agent), (&mut self.keys, key)] {
            let count = counts.entry(name.into()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Counts one more, if the limits permit it.
    fn takes(&mut self, run: &QueuedRun, limits: &ClaimLimits) -> bool {
        let has = |counts: &BTreeMap<Box<str>, u32>, name: &str| {
            counts.get(name).copied().unwrap_or_default()
        };
        let full = |limit: Option<u32>, has: u32| limit.is_some_and(|most| has >= most);
        let takes = !full(limits.of_agent(&run.agent), has(&self.agents, &run.agent))
            && !full(limits.of_key(&run.key), has(&self.keys, &run.key));
        if takes {
            self.add(&run.agent, &run.key);
        }
        takes
    }
}

/// How a queued run stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueStatus {
    /// It waits for a free worker.
    Ready,
    /// It waits for a message or for its time.
    Waiting,
    /// A process has it.
    Leased,
    /// It was claimed too often without progress, and is quarantined until it is requeued.
    Quarantined,
}

impl QueueStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ready, Self::Waiting, Self::Leased, Self::Quarantined];

    /// Returns its name, as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Quarantined => "quarantined",
        }
    }
}

/// How many queued runs there are, by status, and how long they are ready.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QueueCounts {
    /// Runs that wait for a free worker. A delayed run is not ready before its time.
    pub ready: u64,
    /// Runs that a process has.
    pub leased: u64,
    /// Runs that are quarantined; none where the store sets no run aside.
    pub quarantined: u64,
    /// How long the first of the ready runs has waited: since it was queued, since its time came, or
    /// since its last message was sent, whichever is later. A level of priority counts as a minute.
    pub lag: Duration,
}

impl QueueCounts {
    /// Counts a run that has been ready since a time.
    pub(super) fn add_ready(&mut self, since_ms: u64, now_ms: u64) {
        self.ready = self.ready.saturating_add(1);
        self.lag = self.lag.max(Duration::from_millis(now_ms.saturating_sub(since_ms)));
    }
}

/// The place of a run in the queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueuePlace {
    /// Whose it is.
    pub key: Box<str>,
    /// The label that a worker must have.
    pub needs: Option<Box<str>>,
    /// Its status; nothing once it has ended.
    pub status: Option<QueueStatus>,
    /// Why the last worker could not drive it, if so.
    pub fault: Option<Box<str>>,
}

/// How an owner leaves a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Release {
    /// It has something to do, and any worker may claim it.
    Ready,
    /// It cannot be driven here now. It is ready again after this time, or at once if a message came
    /// after it was claimed: an earlier one could be read. The claim does not count as one without
    /// progress.
    Deferred {
        /// How long it is kept out of the queue.
        wait: Duration,
    },
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
    pub(super) agent: Box<str>,
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

    /// Refuses texts that not every store can keep.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let needs = self.needs.as_deref().unwrap_or_default();
        let texts = [("concurrency key", &*self.key), ("label", needs)];
        let nul = texts.into_iter().find(|(_, text)| text.contains('\0'));
        nul.map_or(Ok(()), |(what, _)| Err(StoreError::Nul { what }))
    }
}

/// Refuses to queue a child, because its parent drives it, and texts that not every store can keep.
pub(super) fn check(first: &Append, new_run: &NewRun) -> Result<(), StoreError> {
    let NewRun { agent, chart, source, goal, request, queue, .. } = new_run;
    let mut texts =
        vec![("agent", agent), ("chart's name", chart), ("chart", source), ("goal", goal)];
    texts.extend(request.as_ref().map(|request| ("request", request)));
    texts.extend(new_run.messages.iter().map(|message| ("message", message)));
    let nul = texts.into_iter().find(|(_, text)| text.contains('\0'));
    if let Some((what, _)) = nul {
        return Err(StoreError::Nul { what });
    }
    let Some(queue) = queue else { return Ok(()) };
    queue.check()?;
    if first.run.is_child() { Err(child(&first.run, first.seq)) } else { Ok(()) }
}

/// Refuses to queue children, and texts that not every store can keep, before any run is queued: for
/// stores.
pub fn check_all(runs: &[(RunId, QueueOptions)]) -> Result<(), StoreError> {
    for (run, queue) in runs {
        queue.check()?;
        if run.is_child() {
            return Err(child(run, Seq(0)));
        }
    }
    Ok(())
}

fn child(run: &RunId, seq: Seq) -> StoreError {
    let why = "a child run belongs to its parent and cannot be queued".into();
    StoreError::Unfit { run: run.clone(), seq, why }
}

/// Orders runs as a worker takes them: the first of each key, then the second. Runs beyond a limit
/// are left out, given the runs that are already driven.
pub(super) fn in_turn(
    mut waiting: Vec<QueuedRun>,
    mut running: RunningCounts,
    worker: &Worker,
) -> Vec<RunId> {
    let able = |needs: &str| worker.labels.iter().any(|label| **label == *needs);
    waiting.retain(|it| it.needs.as_deref().is_none_or(able));
    waiting.sort_by(|one, two| (one.rank, &one.run).cmp(&(two.rank, &two.run)));
    let mut seen: BTreeMap<Box<str>, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, QueuedRun)> = Vec::with_capacity(waiting.len());
    for run in waiting {
        let turn = seen.entry(run.key.clone()).or_default();
        *turn += 1;
        turns.push((*turn, run));
    }
    // Within a turn they are ordered by rank.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.retain(|(_, run)| running.takes(run, &worker.limits));
    turns.into_iter().map(|(_, queued)| queued.run).collect()
}
