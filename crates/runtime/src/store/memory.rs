//! Journals in memory: for tests, and for programs whose runs need not outlive them.

use std::{
    collections::BTreeMap,
    fmt, mem,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};

use super::{
    Append, Change, Changes, EntryColumns, Feed, Filter, Health, Lease, MailboxMessage, MessageId,
    NewRun, Page, PromptRow, PruneOptions, PruneReport, Release, RemovedRuns, RunId, RunList,
    RunRecord, RunRow, Snapshot, Store, StoreError, Worker,
    queue::{self, QueuedRun},
    row::part,
};
use crate::clock::now_ms;

/// A store that keeps journals for as long as it lives itself.
#[derive(Clone, Default)]
pub struct MemoryStore {
    runs: Arc<Mutex<Shelf>>,
    feed: Feed,
    /// How long a lease lasts unless it is renewed.
    lasts_ms: Option<u64>,
}

#[derive(Default)]
struct Shelf {
    runs: BTreeMap<RunId, Record>,
    messages: BTreeMap<MessageId, MailboxMessage>,
    /// The runs that requests have made.
    requests: BTreeMap<Box<str>, RunId>,
    /// How far the clock was set ahead: for tests.
    ahead_ms: u64,
    /// The last message's number: none is given twice.
    message: i64,
}

/// All that is kept of a run.
#[derive(Clone)]
struct Record {
    row: RunRow,
    source: String,
    lines: Vec<String>,
    columns: Vec<EntryColumns>,
    prompts: Vec<PromptRow>,
    snapshot: Option<Snapshot>,
    blobs: BTreeMap<[u8; 32], Arc<[u8]>>,
    /// The epoch of its last lease.
    epoch: u64,
    /// Whether that lease is in force.
    claimed: bool,
    /// When it ends.
    expires_ms: Option<Arc<AtomicU64>>,
    /// The epoch of the last entry.
    wrote: u64,
    queued: Option<Queued>,
}

/// A run's place in the queue.
#[derive(Clone)]
struct Queued {
    key: Box<str>,
    rank: i64,
    needs: Option<Box<str>>,
    /// When it is ready; nothing while it waits for a message.
    at_ms: Option<u64>,
}

/// The inside of a lease: gives the run up when it is dropped.
struct Claimed {
    runs: Weak<Mutex<Shelf>>,
    run: RunId,
    epoch: u64,
}

impl Drop for Claimed {
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
    fn record(&self, run: &RunId) -> Result<&Record, StoreError> {
        self.runs.get(run).ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    fn record_mut(&mut self, run: &RunId) -> Result<&mut Record, StoreError> {
        self.runs.get_mut(run).ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    fn now_ms(&self) -> u64 {
        now_ms().saturating_add(self.ahead_ms)
    }

    /// Returns whether somebody has a run.
    fn is_claimed(&self, record: &Record) -> bool {
        let now = self.now_ms();
        let over = record.expires_ms.as_ref().is_some_and(|at| at.load(Ordering::Acquire) <= now);
        record.claimed && !over
    }

    /// Returns whether a lease is the one that is in force.
    fn is_owner(&self, lease: &Lease) -> bool {
        let record = self.runs.get(lease.run());
        record.is_some_and(|it| it.epoch == lease.epoch() && self.is_claimed(it))
    }

    fn ready(&mut self, run: &RunId) {
        if let Some(queued) = self.runs.get_mut(run).and_then(|record| record.queued.as_mut()) {
            queued.at_ms = Some(0);
        }
    }

    fn send(&mut self, run: &RunId, body: &str, at_ms: u64) -> MessageId {
        self.message = self.message.saturating_add(1);
        let id = MessageId::new(self.message);
        self.messages.insert(id, MailboxMessage { id, run: run.clone(), body: body.into(), at_ms });
        id
    }

    fn remove(&mut self, run: &RunId) {
        self.runs.remove(run);
        self.messages.retain(|_, message| message.run != *run);
        self.requests.retain(|_, made| made != run);
    }

    /// Returns the names of the children of a run, and theirs.
    fn children<'a>(&'a self, run: &RunId) -> impl Iterator<Item = &'a Record> {
        let prefix = format!("{run}-");
        let child = move |record: &&Record| record.row.id.as_str().starts_with(&prefix);
        self.runs.values().filter(child)
    }
}

impl Record {
    fn new(run: RunId, new_run: &NewRun) -> Self {
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
            wrote: 0,
            queued: new_run.queue.as_ref().map(|queue| Queued {
                key: queue.key.clone(),
                rank: queue.rank(new_run.created_ms),
                needs: queue.needs.clone(),
                at_ms: Some(queue.not_before_ms),
            }),
        }
    }

    /// Adds an entry that follows the last one.
    fn add(&mut self, append: Append) {
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

    fn page(&self, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        let (run, has) = (&self.row.id, self.row.seq);
        let missing = || StoreError::NoSuchEntry { run: run.clone(), has, asked: after };
        let lines = self.lines.get(skipped..).ok_or_else(missing)?;
        Ok(lines.iter().take(limit).cloned().collect())
    }

    fn prompts(&self, until: Seq) -> Vec<PromptRow> {
        self.prompts.iter().filter(|prompt| prompt.seq <= until).cloned().collect()
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
        let mut runs = self.lock();
        let ms = time.as_millis().try_into().unwrap_or(u64::MAX);
        runs.ahead_ms = runs.ahead_ms.saturating_add(ms);
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
        let record = runs.record_mut(run)?;
        let epoch = record.epoch.saturating_add(1);
        (record.epoch, record.claimed) = (epoch, true);
        record.expires_ms.clone_from(&expires);
        let claimed = Claimed { runs: Arc::downgrade(&self.runs), run: run.clone(), epoch };
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
        let ready = runs.runs.values().filter(|record| !runs.is_claimed(record));
        let ready = ready.filter_map(|record| {
            let queued =
                record.queued.as_ref().filter(|it| it.at_ms.is_some_and(|at| at <= now))?;
            let (run, key) = (record.row.id.clone(), queued.key.clone());
            Some(QueuedRun { run, key, rank: queued.rank, needs: queued.needs.clone() })
        });
        let ready = queue::in_turn(ready.collect(), worker);
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

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let link = append.check()?;
        let (run, seq, message) = (append.run.clone(), append.seq, append.message);
        {
            let mut runs = self.lock();
            let record = runs.record(&run)?;
            if *lease.run() != run || lease.epoch() != record.epoch {
                return Err(StoreError::Fenced { run });
            }
            if record.row.seq.next() != seq {
                return Err(StoreError::Conflict { run, at: record.row.seq, wanted: seq });
            }
            if record.row.link != link.prev {
                let why = "it does not follow the run's last entry".into();
                return Err(StoreError::Unfit { run, seq, why });
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
                // Nobody will take what still waits for it.
                runs.messages.retain(|_, message| message.run != run);
            }
        }
        self.feed.send(Change::Entry { run, seq });
        Ok(())
    }

    async fn release(&self, lease: Lease, how: Release) -> Result<(), StoreError> {
        if let Release::Parked { read } = how {
            let mut runs = self.lock();
            let unread =
                |message: &MailboxMessage| message.run == *lease.run() && Some(message.id) > read;
            let ready = runs.messages.values().any(unread);
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

    async fn discard(&self, message: MessageId) -> Result<(), StoreError> {
        let found = self.lock().messages.remove(&message);
        found.map(drop).ok_or(StoreError::NoSuchMessage { message })
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
        Ok(self.lock().record(run)?.row.clone())
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        let runs = self.lock().runs.values().map(|record| record.row.clone()).collect();
        Ok(filter.page(runs, page))
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn health(&self) -> Result<Health, StoreError> {
        let runs = self.lock();
        let (messages, runs) = (runs.messages.len() as u64, runs.runs.len() as u64);
        Ok(Health { runs, messages, unwritable: None })
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
