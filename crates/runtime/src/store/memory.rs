//! Journals in memory: for tests, and for programs whose runs need not outlive them.

mod shelf;

use std::{
    fmt, mem,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pointsman_kernel::id::{Digest, Seq};

use super::{
    Append, Change, Changes, Feed, Filter, Health, Lease, MailboxMessage, MessageId, NewRun, Page,
    PromptRow, PruneOptions, PruneReport, QueueCounts, QueueOptions, Release, RemovedRuns, RunId,
    RunList, RunRecord, RunRow, Snapshot, Store, StoreError, Worker,
    protocol::{AppendCheck, JournalTip},
    queue::{self, QueuedRun, RunningCounts},
    row::part,
};
use crate::{clock::now_ms, gate::Gates};
use shelf::{MemoryClaim, Queued, Record, Shelf};

/// A store that keeps journals for as long as it lives itself.
#[derive(Clone)]
pub struct MemoryStore {
    runs: Arc<Mutex<Shelf>>,
    feed: Feed,
    gates: Gates,
    /// How long a lease lasts unless it is renewed.
    lasts_ms: Option<u64>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        let runs = Shelf::default();
        let gates = Gates::ahead(Arc::clone(&runs.ahead_ms));
        Self { runs: Arc::new(Mutex::new(runs)), feed: Feed::default(), gates, lasts_ms: None }
    }
}

impl MemoryStore {
    /// Makes a store without runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a store without runs whose leases expire unless they are renewed.
    pub fn expiring(lasts: Duration) -> Self {
        let lasts_ms = Some(lasts.as_millis().try_into().unwrap_or(u64::MAX));
        Self { lasts_ms, ..Self::default() }
    }

    /// Sets the clock ahead: for tests.
    #[doc(hidden)]
    pub fn advance(&self, time: Duration) {
        let ms = time.as_millis().try_into().unwrap_or(u64::MAX);
        self.lock().ahead_ms.fetch_add(ms, Ordering::AcqRel);
    }

    /// Takes a run from its owner, as if the owner were lost and did not know it: for tests.
    #[doc(hidden)]
    pub fn lose(&self, run: &RunId) {
        if let Ok(record) = self.lock().record_mut(run) {
            record.claimed = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        // Every change under the lock is whole, so a panic elsewhere spoils nothing.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants the next lease of a run.
    fn grant(&self, runs: &mut Shelf, run: &RunId) -> Result<Lease, StoreError> {
        let now = runs.now_ms();
        let expires =
            self.lasts_ms.map(|lasts| Arc::new(AtomicU64::new(now.saturating_add(lasts))));
        let heard = runs.message;
        let record = runs.record_mut(run)?;
        let epoch = record.epoch.saturating_add(1);
        (record.epoch, record.claimed, record.heard) = (epoch, true, heard);
        record.expires_ms.clone_from(&expires);
        let claimed = MemoryClaim { runs: Arc::downgrade(&self.runs), run: run.clone(), epoch };
        let lease = Lease::new(run.clone(), epoch, claimed);
        Ok(match expires {
            Some(expires) => lease.until(expires),
            None => lease,
        })
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, first: Arc<Append>, new_run: NewRun) -> Result<Lease, StoreError> {
        first.check_first(&new_run)?;
        let (run, seq) = (first.run.clone(), first.seq);
        let lease = {
            let mut runs = self.lock();
            let made = new_run.request.as_ref().and_then(|request| runs.requests.get(request));
            if let Some(run) = made.cloned() {
                return Err(StoreError::Repeated { run });
            }
            if runs.runs.contains_key(&run) {
                return Err(StoreError::RunExists { run });
            }
            let mut record = Record::new(run.clone(), &new_run);
            record.add(Arc::unwrap_or_clone(first));
            record.wrote = 1;
            runs.runs.insert(run.clone(), record);
            runs.requests.extend(new_run.request.map(|request| (request, run.clone())));
            for message in &new_run.messages {
                runs.send(&run, message, new_run.created_ms);
            }
            self.grant(&mut runs, &run)?
        };
        self.feed.send(Change::Entry { run, seq });
        Ok(lease)
    }

    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError> {
        let mut runs = self.lock();
        if runs.is_claimed(runs.record(run)?) {
            return Ok(None);
        }
        self.grant(&mut runs, run).map(Some)
    }

    async fn claim_ready(&self, most: usize, worker: &Worker) -> Result<Vec<Lease>, StoreError> {
        let mut runs = self.lock();
        let now = runs.now_ms();
        let mut running = RunningCounts::default();
        for record in runs.runs.values().filter(|record| runs.is_claimed(record)) {
            if let Some(queued) = &record.queued {
                running.add(&record.row.agent, &queued.key);
            }
        }
        let ready = runs.runs.values().filter(|record| !runs.is_claimed(record));
        let ready = ready.filter_map(|record| {
            let queued =
                record.queued.as_ref().filter(|it| it.at_ms.is_some_and(|at| at <= now))?;
            let (run, key) = (record.row.id.clone(), queued.key.clone());
            let (agent, needs) = (record.row.agent.clone(), queued.needs.clone());
            Some(QueuedRun { run, agent, key, rank: queued.rank, needs })
        });
        let ready = queue::in_turn(ready.collect(), running, worker);
        ready.iter().take(most).map(|run| self.grant(&mut runs, run)).collect()
    }

    async fn renew(&self, leases: &[&Lease]) -> Result<Vec<RunId>, StoreError> {
        let runs = self.lock();
        let ends = self.lasts_ms.map(|lasts| runs.now_ms().saturating_add(lasts));
        let mut over = Vec::new();
        for lease in leases {
            if !runs.is_owner(lease) {
                over.push(lease.run().clone());
            } else if let (Some(ends), Some(at)) = (ends, &runs.record(lease.run())?.expires_ms) {
                at.store(ends, Ordering::Release);
            }
        }
        Ok(over)
    }

    fn lease_lasts(&self) -> Option<Duration> {
        self.lasts_ms.map(Duration::from_millis)
    }

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let link = append.check()?;
        let (run, seq, message) = (append.run.clone(), append.seq, append.message);
        {
            let mut runs = self.lock();
            let record = runs.record(&run)?;
            if *lease.run() != run {
                return Err(StoreError::Fenced { run });
            }
            let RunRow { seq: at, link: tip, .. } = record.row;
            let tip = JournalTip { epoch: record.epoch, given_up: false, seq: at.0, link: tip };
            match tip.judge(lease.epoch(), seq.0, &link.prev) {
                AppendCheck::Follows => {}
                AppendCheck::Fenced => return Err(StoreError::Fenced { run }),
                AppendCheck::Conflict => return Err(StoreError::Conflict { run, at, wanted: seq }),
                AppendCheck::Unfit => {
                    let why = "it does not follow the run's last entry".into();
                    return Err(StoreError::Unfit { run, seq, why });
                }
            }
            if let Some(message) = message
                && runs.messages.remove(&message).is_none()
            {
                return Err(StoreError::NoSuchMessage { message });
            }
            let record = runs.record_mut(&run)?;
            record.add(Arc::unwrap_or_clone(append));
            // An owner that is lost from now on leaves it ready.
            if mem::replace(&mut record.wrote, lease.epoch()) != lease.epoch() {
                runs.ready(&run);
            }
            let record = runs.record_mut(&run)?;
            if record.row.ended.is_some() {
                record.queued = None;
                // A run that has ended takes no more messages.
                runs.messages.retain(|_, message| message.run != run);
            }
        }
        self.feed.send(Change::Entry { run, seq });
        Ok(())
    }

    async fn release(&self, lease: Lease, how: Release) -> Result<(), StoreError> {
        if let Release::Deferred { wait } = how {
            let mut runs = self.lock();
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let (owner, until) = (runs.is_owner(&lease), runs.now_ms().saturating_add(wait));
            let heard = runs.runs.get(lease.run()).map(|record| MessageId::new(record.heard));
            let ready = runs.has_unread(lease.run(), heard);
            let record = runs.runs.get_mut(lease.run()).filter(|_| owner);
            if let Some(queued) = record.and_then(|record| record.queued.as_mut()) {
                queued.at_ms = Some(if ready { 0 } else { until });
            }
        }
        if let Release::Parked { read } = how {
            let mut runs = self.lock();
            let ready = runs.has_unread(lease.run(), read);
            let owner = runs.is_owner(&lease);
            if let Some(record) = runs.runs.get_mut(lease.run()).filter(|_| owner) {
                let wake = record.row.wake.map(|wake| record.row.created_ms.saturating_add(wake));
                if let Some(queued) = &mut record.queued {
                    queued.at_ms = if ready { Some(0) } else { wake };
                }
            }
        }
        drop(lease);
        Ok(())
    }

    async fn enqueue(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError> {
        queue::check_all(runs)?;
        let mut queued = Vec::with_capacity(runs.len());
        {
            let mut kept = self.lock();
            let now = kept.now_ms();
            for (run, queue) in runs {
                let record = kept.runs.get_mut(run).filter(|record| record.row.ended.is_none());
                if let Some(record) = record {
                    record.queued = Some(Queued::new(queue, now));
                    queued.push(run.clone());
                }
            }
        }
        self.feed.send(Change::Lagged);
        Ok(queued)
    }

    async fn close_gate(&self, name: &str, wait: Duration) -> Result<(), StoreError> {
        self.gates.close(name, wait);
        Ok(())
    }

    async fn gates(&self) -> Result<Vec<(Box<str>, Duration)>, StoreError> {
        Ok(self.gates.list())
    }

    async fn fork(
        &self,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<(), StoreError> {
        {
            let mut runs = self.lock();
            if runs.runs.contains_key(&child) {
                return Err(StoreError::RunExists { run: child });
            }
            let mut record = runs.record(parent)?.clone();
            let shared = usize::try_from(at.0).unwrap_or(usize::MAX);
            let last = shared.checked_sub(1);
            let last = last.and_then(|last| record.lines.get(last).zip(record.columns.get(last)));
            let Some((line, columns)) = last else {
                let (run, has) = (parent.clone(), record.row.seq);
                return Err(StoreError::NoSuchEntry { run, has, asked: at });
            };
            record.row = RunRow {
                id: child.clone(),
                created_ms,
                forked: Some((parent.clone(), at)),
                seq: at,
                link: Digest::of(line.as_bytes()),
                state: columns.state.clone(),
                ended: columns.ended.clone(),
                wake: columns.wake,
                ..record.row
            };
            record.lines.truncate(shared);
            record.columns.truncate(shared);
            record.prompts.retain(|prompt| prompt.seq <= at);
            (record.snapshot, record.epoch, record.claimed) = (None, 0, false);
            (record.wrote, record.queued) = (0, None);
            runs.runs.insert(child.clone(), record);
        }
        self.feed.send(Change::Entry { run: child, seq: at });
        Ok(())
    }

    async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError> {
        let message = {
            let mut runs = self.lock();
            runs.record(run)?;
            runs.ready(run);
            runs.send(run, body, now_ms())
        };
        self.feed.send(Change::Message { run: run.clone() });
        Ok(message)
    }

    async fn discard(&self, lease: &Lease, message: MessageId) -> Result<(), StoreError> {
        let (mut runs, run) = (self.lock(), lease.run());
        if runs.record(run)?.epoch != lease.epoch() {
            return Err(StoreError::Fenced { run: run.clone() });
        }
        if runs.messages.get(&message).is_none_or(|found| found.run != *run) {
            return Err(StoreError::NoSuchMessage { message });
        }
        runs.messages.remove(&message);
        Ok(())
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError> {
        Ok(self.lock().messages.values().filter(|message| message.run == *run).cloned().collect())
    }

    async fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError> {
        Ok(self.lock().messages.values().cloned().collect())
    }

    async fn changes(&self) -> Result<Changes, StoreError> {
        Ok(self.feed.subscribe(()))
    }

    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        let runs = self.lock();
        Ok(runs.row(runs.record(run)?))
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        Ok(filter.page(self.lock().idle(filter), page))
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn health(&self) -> Result<Health, StoreError> {
        let runs = self.lock();
        let (messages, runs) = (runs.messages.len() as u64, runs.runs.len() as u64);
        Ok(Health { runs, messages, unwritable: None })
    }

    async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        Ok(self.lock().queue_counts())
    }

    async fn chart_source(&self, run: &RunId) -> Result<String, StoreError> {
        Ok(self.lock().record(run)?.source.clone())
    }

    async fn page(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        self.lock().record(run)?.page(after, limit)
    }

    async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        let runs = self.lock();
        let record = runs.record(run)?;
        Ok((record.row.clone(), record.lines.clone()))
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.lock().record(run)?.snapshot.clone())
    }

    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        Ok(self.lock().record(run)?.prompts.clone())
    }

    async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        let runs = self.lock();
        let record = runs.record(run)?;
        Ok(RunRecord {
            row: record.row.clone(),
            lines: record.lines.clone(),
            columns: record.columns.clone(),
            prompts: Ok(record.prompts(until)),
        })
    }

    async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        self.lock().record_mut(run)?.blobs.insert(digest.0, bytes.into());
        Ok(digest)
    }

    async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        let runs = self.lock();
        let found = runs.record(run)?.blobs.get(&digest.0);
        let missing = || StoreError::NoSuchBlob { run: run.clone(), digest: *digest };
        Ok(part(found.ok_or_else(missing)?, &range))
    }

    async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        let picked =
            prune.pick(self.list(&Filter::default(), &Page::first(usize::MAX)).await?.runs);
        let mut pruned = PruneReport::default();
        {
            let mut runs = self.lock();
            for row in picked {
                match runs.runs.get(&row.id) {
                    Some(record) if runs.is_claimed(record) => pruned.held.push(row.id),
                    Some(_) => {
                        if !prune.dry_run {
                            runs.remove(&row.id);
                        }
                        pruned.runs.push(row);
                    }
                    None => {}
                }
            }
        }
        if !prune.dry_run && !pruned.runs.is_empty() {
            self.feed.send(Change::Lagged);
        }
        Ok(pruned)
    }

    async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        let mut removed = RemovedRuns::default();
        {
            let mut runs = self.lock();
            let family: Vec<&Record> =
                [runs.record(run)?].into_iter().chain(runs.children(run)).collect();
            if family.iter().any(|record| runs.is_claimed(record)) {
                return Ok(None);
            }
            removed.runs = family.into_iter().map(|record| record.row.id.clone()).collect();
            removed.runs.iter().for_each(|run| runs.remove(run));
        }
        self.feed.send(Change::Lagged);
        Ok(Some(removed))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("runs", &self.lock().runs.len()).finish_non_exhaustive()
    }
}
