//! What a store in memory holds: runs with all that is theirs, messages, and places in the queue.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};

use super::super::{
    Append, EntryColumns, Filter, Lease, MailboxMessage, MessageId, NewRun, PromptRow, QueueCounts,
    QueueOptions, QueuePlace, QueueStatus, RunId, RunRow, Snapshot, StoreError,
};
use crate::clock::now_ms;

#[derive(Default)]
pub(super) struct Shelf {
    pub(super) runs: BTreeMap<RunId, Record>,
    pub(super) messages: BTreeMap<MessageId, MailboxMessage>,
    /// The runs that requests have made.
    pub(super) requests: BTreeMap<Box<str>, RunId>,
    /// How far the clock was set ahead: for tests.
    pub(super) ahead_ms: Arc<AtomicU64>,
    /// The last message's number: none is given twice.
    pub(super) message: i64,
}

/// All that is kept of a run.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) row: RunRow,
    pub(super) source: String,
    pub(super) lines: Vec<String>,
    pub(super) columns: Vec<EntryColumns>,
    pub(super) prompts: Vec<PromptRow>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) blobs: BTreeMap<[u8; 32], Arc<[u8]>>,
    /// The epoch of its last lease.
    pub(super) epoch: u64,
    /// Whether that lease is in force.
    pub(super) claimed: bool,
    /// When it ends.
    pub(super) expires_ms: Option<Arc<AtomicU64>>,
    /// The last message of any run that was sent before it was claimed.
    pub(super) heard: i64,
    /// The epoch of the last entry.
    pub(super) wrote: u64,
    pub(super) queued: Option<Queued>,
}

/// A run's place in the queue.
#[derive(Clone)]
pub(super) struct Queued {
    pub(super) key: Box<str>,
    pub(super) rank: i64,
    pub(super) needs: Option<Box<str>>,
    /// When it is ready; nothing while it waits for a message.
    pub(super) at_ms: Option<u64>,
}

/// The inside of a lease: gives the run up when it is dropped.
pub(super) struct MemoryClaim {
    pub(super) runs: Weak<Mutex<Shelf>>,
    pub(super) run: RunId,
    pub(super) epoch: u64,
}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        let Some(runs) = self.runs.upgrade() else { return };
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = runs.runs.get_mut(&self.run)
            && record.epoch == self.epoch
        {
            record.claimed = false;
        }
    }
}

impl Shelf {
    pub(super) fn record(&self, run: &RunId) -> Result<&Record, StoreError> {
        self.runs.get(run).ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    pub(super) fn record_mut(&mut self, run: &RunId) -> Result<&mut Record, StoreError> {
        self.runs.get_mut(run).ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    pub(super) fn now_ms(&self) -> u64 {
        now_ms().saturating_add(self.ahead_ms.load(Ordering::Acquire))
    }

    /// Returns whether a run has an owner.
    pub(super) fn is_claimed(&self, record: &Record) -> bool {
        let now = self.now_ms();
        let over = record.expires_ms.as_ref().is_some_and(|at| at.load(Ordering::Acquire) <= now);
        record.claimed && !over
    }

    /// Returns whether a lease is the one that is in force.
    pub(super) fn is_owner(&self, lease: &Lease) -> bool {
        let record = self.runs.get(lease.run());
        record.is_some_and(|it| it.epoch == lease.epoch() && self.is_claimed(it))
    }

    /// Returns a run's row, with its owner and its status in the queue.
    pub(super) fn row(&self, record: &Record) -> RunRow {
        let claimed = self.is_claimed(record);
        let now = self.now_ms();
        let place = record.queued.as_ref().map(|queued| {
            let due = queued.at_ms.is_some_and(|at| at <= now);
            let status = match (claimed, due) {
                (true, _) => QueueStatus::Leased,
                (false, true) => QueueStatus::Ready,
                (false, false) => QueueStatus::Waiting,
            };
            let (key, needs) = (queued.key.clone(), queued.needs.clone());
            QueuePlace { key, needs, status: Some(status), fault: None }
        });
        let owner = claimed.then(|| "this process".into());
        RunRow { owner, queue: place, ..record.row.clone() }
    }

    /// Counts the queued runs by their status.
    pub(super) fn queue_counts(&self) -> QueueCounts {
        let now = self.now_ms();
        // They are in the order in which they were sent, so the last one counts.
        let sent: BTreeMap<&RunId, u64> =
            self.messages.values().map(|message| (&message.run, message.at_ms)).collect();
        let mut counts = QueueCounts::default();
        for record in self.runs.values() {
            let Some(queued) = &record.queued else { continue };
            if self.is_claimed(record) {
                counts.leased = counts.leased.saturating_add(1);
            } else if let Some(due) = queued.at_ms.filter(|at| *at <= now) {
                let rank = u64::try_from(queued.rank).unwrap_or_default();
                let sent = sent.get(&record.row.id).copied().unwrap_or_default();
                counts.add_ready(rank.max(due).max(sent), now);
            }
        }
        counts
    }

    /// Returns the rows of the runs that have been idle long enough for a filter.
    pub(super) fn idle(&self, filter: &Filter) -> Vec<RunRow> {
        let idle = |record: &&Record| {
            record.lines.last().is_none_or(|line| filter.is_idle(&record.row, line))
        };
        self.runs.values().filter(idle).map(|record| self.row(record)).collect()
    }

    pub(super) fn ready(&mut self, run: &RunId) {
        if let Some(queued) = self.runs.get_mut(run).and_then(|record| record.queued.as_mut()) {
            queued.at_ms = Some(0);
        }
    }

    /// Returns whether a run has a message after this one.
    pub(super) fn has_unread(&self, run: &RunId, read: Option<MessageId>) -> bool {
        self.messages.values().any(|message| message.run == *run && Some(message.id) > read)
    }

    pub(super) fn send(&mut self, run: &RunId, body: &str, at_ms: u64) -> MessageId {
        self.message = self.message.saturating_add(1);
        let id = MessageId::new(self.message);
        self.messages.insert(id, MailboxMessage { id, run: run.clone(), body: body.into(), at_ms });
        id
    }

    pub(super) fn remove(&mut self, run: &RunId) {
        self.runs.remove(run);
        self.messages.retain(|_, message| message.run != *run);
        self.requests.retain(|_, made| made != run);
    }

    /// Returns the names of the children of a run, and theirs.
    pub(super) fn children<'a>(&'a self, run: &RunId) -> impl Iterator<Item = &'a Record> {
        let prefix = format!("{run}-");
        let child = move |record: &&Record| record.row.id.as_str().starts_with(&prefix);
        self.runs.values().filter(child)
    }
}

impl Queued {
    pub(super) fn new(queue: &QueueOptions, queued_ms: u64) -> Self {
        Self {
            key: queue.key.clone(),
            rank: queue.rank(queued_ms),
            needs: queue.needs.clone(),
            at_ms: Some(queue.not_before_ms),
        }
    }
}

impl Record {
    pub(super) fn new(run: RunId, new_run: &NewRun) -> Self {
        let row = RunRow {
            id: run,
            agent: new_run.agent.clone(),
            chart: new_run.chart.clone(),
            source: Digest::of(new_run.source.as_bytes()),
            goal: new_run.goal.clone(),
            created_ms: new_run.created_ms,
            forked: new_run.forked.clone(),
            seq: Seq(0),
            link: Digest::default(),
            state: "".into(),
            ended: None,
            wake: None,
            owner: None,
            queue: None,
        };
        Self {
            row,
            source: new_run.source.to_string(),
            lines: Vec::new(),
            columns: Vec::new(),
            prompts: Vec::new(),
            snapshot: None,
            blobs: BTreeMap::new(),
            epoch: 0,
            claimed: false,
            expires_ms: None,
            heard: 0,
            wrote: 0,
            queued: new_run.queue.as_ref().map(|queue| Queued::new(queue, new_run.created_ms)),
        }
    }

    /// Adds an entry that follows the last one.
    pub(super) fn add(&mut self, append: Append) {
        let Append { seq, line, state, ended, wake, snapshot, prompts, .. } = append;
        let (ended, link) = (ended.map(Disposition::name), line.digest());
        self.lines.push(line.to_string());
        self.columns.push(EntryColumns {
            state: state.clone(),
            ended: ended.map(Into::into),
            wake,
            prompts: prompts.len() as u64,
            intact: true,
        });
        if let Some(body) = snapshot {
            self.snapshot = Some(Snapshot { seq, link, body });
        }
        self.prompts.extend(prompts.into_iter().map(|kept| PromptRow {
            seq,
            effect: kept.effect,
            parts: kept.parts.into_iter().map(Into::into).collect(),
        }));
        let RunRow { seq: last, link: tip, state: now, ended: end, wake: next, .. } = &mut self.row;
        (*last, *tip, *now, *end, *next) = (seq, link, state, ended.map(Into::into), wake);
    }

    pub(super) fn page(&self, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        let (run, has) = (&self.row.id, self.row.seq);
        let missing = || StoreError::NoSuchEntry { run: run.clone(), has, asked: after };
        let lines = self.lines.get(skipped..).ok_or_else(missing)?;
        Ok(lines.iter().take(limit).cloned().collect())
    }

    pub(super) fn prompts(&self, until: Seq) -> Vec<PromptRow> {
        self.prompts.iter().filter(|prompt| prompt.seq <= until).cloned().collect()
    }
}
