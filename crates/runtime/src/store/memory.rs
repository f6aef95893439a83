//! Journals in memory: for tests, and for programs whose runs need not outlive them.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use async_trait::async_trait;
use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};

use super::{
    Append, Beside, Change, Changes, Feed, Filter, Health, Kept, Lease, Letter, LetterId, Listed,
    Opening, Page, PromptRow, Prune, Pruned, Removed, RunId, RunRow, Store, StoreError, Whole,
    link::Link, row::part,
};
use crate::clock::now_ms;

/// A store that keeps journals for as long as it lives itself.
#[derive(Clone, Default)]
pub struct MemoryStore {
    runs: Arc<Mutex<Shelf>>,
    feed: Feed,
}

#[derive(Default)]
struct Shelf {
    runs: BTreeMap<RunId, Record>,
    letters: BTreeMap<LetterId, Letter>,
    /// The last letter's number: none is given twice.
    letter: i64,
}

/// All that is kept of a run.
#[derive(Clone)]
struct Record {
    row: RunRow,
    source: String,
    lines: Vec<String>,
    beside: Vec<Beside>,
    prompts: Vec<PromptRow>,
    snapshot: Option<Kept>,
    blobs: BTreeMap<[u8; 32], Arc<[u8]>>,
    /// The epoch of its last lease.
    epoch: u64,
    /// Whether that lease is in force.
    claimed: bool,
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

    fn post(&mut self, run: &RunId, body: &str, at_ms: u64) -> LetterId {
        self.letter = self.letter.saturating_add(1);
        let id = LetterId::new(self.letter);
        self.letters.insert(id, Letter { id, run: run.clone(), body: body.into(), at_ms });
        id
    }

    fn remove(&mut self, run: &RunId) {
        self.runs.remove(run);
        self.letters.retain(|_, letter| letter.run != *run);
    }

    /// Returns the names of the children of a run, and theirs.
    fn children<'a>(&'a self, run: &RunId) -> impl Iterator<Item = &'a Record> {
        let prefix = format!("{run}-");
        let child = move |record: &&Record| record.row.id.as_str().starts_with(&prefix);
        self.runs.values().filter(child)
    }
}

impl Record {
    fn new(run: RunId, opening: &Opening) -> Self {
        let row = RunRow {
            id: run,
            agent: opening.agent.clone(),
            chart: opening.chart.clone(),
            source: Digest::of(opening.source.as_bytes()),
            goal: opening.goal.clone(),
            created_ms: opening.created_ms,
            forked: opening.forked.clone(),
            seq: Seq(0),
            link: Digest::default(),
            state: "".into(),
            ended: None,
            wake: None,
        };
        Self {
            row,
            source: opening.source.to_string(),
            lines: Vec::new(),
            beside: Vec::new(),
            prompts: Vec::new(),
            snapshot: None,
            blobs: BTreeMap::new(),
            epoch: 0,
            claimed: false,
        }
    }

    /// Adds an entry that follows the last one.
    fn add(&mut self, append: Append) {
        let Append { seq, line, state, ended, wake, snapshot, prompts, .. } = append;
        let (ended, link) = (ended.map(Disposition::name), Digest::of(line.as_bytes()));
        self.lines.push(line);
        self.beside.push(Beside {
            state: state.clone(),
            ended: ended.map(Into::into),
            wake,
            prompts: prompts.len() as u64,
            sealed: true,
        });
        if let Some(body) = snapshot {
            self.snapshot = Some(Kept { seq, link, body });
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

    fn lease(&self, run: &RunId, epoch: u64) -> Lease {
        let claimed = Claimed { runs: Arc::downgrade(&self.runs), run: run.clone(), epoch };
        Lease::new(run.clone(), epoch, claimed)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, first: Arc<Append>, opening: Opening) -> Result<Lease, StoreError> {
        Link::checked(&first, true)?;
        let (run, seq) = (first.run.clone(), first.seq);
        {
            let mut runs = self.lock();
            if runs.runs.contains_key(&run) {
                return Err(StoreError::RunExists { run });
            }
            let mut record = Record::new(run.clone(), &opening);
            record.add(Arc::unwrap_or_clone(first));
            (record.epoch, record.claimed) = (1, true);
            runs.runs.insert(run.clone(), record);
            for letter in &opening.letters {
                runs.post(&run, letter, opening.created_ms);
            }
        }
        self.feed.send(Change::Entry { run: run.clone(), seq });
        Ok(self.lease(&run, 1))
    }

    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError> {
        let mut runs = self.lock();
        let record = runs.record_mut(run)?;
        if record.claimed {
            return Ok(None);
        }
        (record.epoch, record.claimed) = (record.epoch.saturating_add(1), true);
        Ok(Some(self.lease(run, record.epoch)))
    }

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let link = Link::checked(&append, false)?;
        let (run, seq, letter) = (append.run.clone(), append.seq, append.letter);
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
                let why = "it does not follow the run's last line".into();
                return Err(StoreError::Unfit { run, seq, why });
            }
            if let Some(letter) = letter
                && runs.letters.remove(&letter).is_none()
            {
                return Err(StoreError::NoSuchLetter { letter });
            }
            let record = runs.record_mut(&run)?;
            record.add(Arc::unwrap_or_clone(append));
            if record.row.ended.is_some() {
                // Nobody will take what still waits for it.
                runs.letters.retain(|_, letter| letter.run != run);
            }
        }
        self.feed.send(Change::Entry { run, seq });
        Ok(())
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
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
            let last = last.and_then(|last| record.lines.get(last).zip(record.beside.get(last)));
            let Some((line, beside)) = last else {
                let (run, has) = (parent.clone(), record.row.seq);
                return Err(StoreError::NoSuchEntry { run, has, asked: at });
            };
            record.row = RunRow {
                id: child.clone(),
                created_ms,
                forked: Some((parent.clone(), at)),
                seq: at,
                link: Digest::of(line.as_bytes()),
                state: beside.state.clone(),
                ended: beside.ended.clone(),
                wake: beside.wake,
                ..record.row
            };
            record.lines.truncate(shared);
            record.beside.truncate(shared);
            record.prompts.retain(|prompt| prompt.seq <= at);
            (record.snapshot, record.epoch, record.claimed) = (None, 0, false);
            runs.runs.insert(child.clone(), record);
        }
        self.feed.send(Change::Entry { run: child, seq: at });
        Ok(())
    }

    async fn post(&self, run: &RunId, body: &str) -> Result<LetterId, StoreError> {
        let letter = {
            let mut runs = self.lock();
            runs.record(run)?;
            runs.post(run, body, now_ms())
        };
        self.feed.send(Change::Letter { run: run.clone() });
        Ok(letter)
    }

    async fn discard(&self, letter: LetterId) -> Result<(), StoreError> {
        let found = self.lock().letters.remove(&letter);
        found.map(drop).ok_or(StoreError::NoSuchLetter { letter })
    }

    async fn letters(&self, run: &RunId) -> Result<Vec<Letter>, StoreError> {
        Ok(self.lock().letters.values().filter(|letter| letter.run == *run).cloned().collect())
    }

    async fn all_letters(&self) -> Result<Vec<Letter>, StoreError> {
        Ok(self.lock().letters.values().cloned().collect())
    }

    async fn changes(&self) -> Result<Changes, StoreError> {
        Ok(self.feed.subscribe(()))
    }

    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        Ok(self.lock().record(run)?.row.clone())
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<Listed, StoreError> {
        let runs = self.lock().runs.values().map(|record| record.row.clone()).collect();
        Ok(filter.page(runs, page))
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn health(&self) -> Result<Health, StoreError> {
        let runs = self.lock();
        let (letters, runs) = (runs.letters.len() as u64, runs.runs.len() as u64);
        Ok(Health { runs, letters, unwritable: None })
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

    async fn snapshot(&self, run: &RunId) -> Result<Option<Kept>, StoreError> {
        Ok(self.lock().record(run)?.snapshot.clone())
    }

    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        Ok(self.lock().record(run)?.prompts.clone())
    }

    async fn whole(&self, run: &RunId, until: Seq) -> Result<Whole, StoreError> {
        let runs = self.lock();
        let record = runs.record(run)?;
        Ok(Whole {
            row: record.row.clone(),
            lines: record.lines.clone(),
            beside: record.beside.clone(),
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

    async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        let picked =
            prune.pick(self.list(&Filter::default(), &Page::first(usize::MAX)).await?.runs);
        let mut pruned = Pruned::default();
        {
            let mut runs = self.lock();
            for row in picked {
                match runs.runs.get(&row.id) {
                    Some(record) if record.claimed => pruned.held.push(row.id),
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

    async fn remove(&self, run: &RunId) -> Result<Option<Removed>, StoreError> {
        let mut removed = Removed::default();
        {
            let mut runs = self.lock();
            let family: Vec<&Record> =
                [runs.record(run)?].into_iter().chain(runs.children(run)).collect();
            if family.iter().any(|record| record.claimed) {
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
