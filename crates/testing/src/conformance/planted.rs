//! A store that does one thing wrong: the suite must find it.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::store::{
    Append, Changes, Feed, Filter, Health, Lease, MailboxMessage, MessageId, NewRun, Page,
    PromptRow, PruneOptions, PruneReport, QueueCounts, QueueOptions, Release, RemovedRuns, RunId,
    RunList, RunRecord, RunRow, Snapshot, Store, StoreError, Worker,
};

/// What a store does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlantedFault {
    /// It takes the entries of an owner that was lost.
    Unfenced,
    /// It lets an owner that was lost discard messages.
    UnfencedDiscard,
    /// It grants a run to a second owner.
    SecondOwner,
    /// It announces nothing.
    Silent,
    /// It loses the messages that come while a run is released.
    LostMessage,
    /// It takes a conflict for a success: what it is not sure of it writes again, unread.
    Blind,
    /// It loses the wake-ups that come while a run is released.
    LostWake,
    /// It loses the messages that come before a run is deferred.
    LostDeferral,
    /// It queues a run that has an owner without its delay.
    LostDelay,
    /// It opens a gate early that is closed once more, for a shorter time.
    EarlyGate,
    /// It keeps no content.
    NoBlob,
    /// It does not know what became of one write, counted from 1.
    Unknown {
        /// Which one.
        write: u64,
        /// Whether it was written.
        kept: bool,
    },
}

/// A store around another, with one fault.
#[derive(Debug)]
pub struct Planted {
    inner: Arc<dyn Store>,
    fault: PlantedFault,
    writes: AtomicU64,
    /// The last lease of each run.
    leases: Mutex<BTreeMap<RunId, Weak<Lease>>>,
    /// For how long each gate was closed last.
    gates: Mutex<BTreeMap<Box<str>, Duration>>,
}

impl Planted {
    /// Plants a fault in a store.
    pub fn new(inner: Arc<dyn Store>, fault: PlantedFault) -> Self {
        let (leases, gates) = (Mutex::default(), Mutex::default());
        Self { inner, fault, writes: AtomicU64::new(0), leases, gates }
    }

    fn grant(&self, lease: Lease) -> Lease {
        let (run, lease) = (lease.run().clone(), Arc::new(lease));
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.insert(run.clone(), Arc::downgrade(&lease));
        Lease::new(run, lease.epoch(), lease)
    }

    fn last(&self, run: &RunId) -> Option<Arc<Lease>> {
        let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.get(run).and_then(Weak::upgrade)
    }

    /// Returns whether the next write is the one whose answer is lost, and whether it is kept.
    fn loses(&self) -> Option<bool> {
        let at = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        match self.fault {
            PlantedFault::Unknown { write, kept } if write == at => Some(kept),
            _ => None,
        }
    }
}

fn unknown(append: &Append) -> StoreError {
    let (run, seq) = (Some(append.run.clone()), Some(append.seq));
    StoreError::Unknown { run, seq, why: "the answer was lost".into() }
}

#[async_trait]
impl Store for Planted {
    async fn create(&self, first: Arc<Append>, new_run: NewRun) -> Result<Lease, StoreError> {
        match self.loses() {
            Some(true) => {
                drop(self.inner.create(Arc::clone(&first), new_run).await?);
                Err(unknown(&first))
            }
            Some(false) => Err(unknown(&first)),
            None => Ok(self.grant(self.inner.create(first, new_run).await?)),
        }
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.inner.clock_ahead_ms()
    }

    fn lease_lasts(&self) -> Option<Duration> {
        self.inner.lease_lasts()
    }

    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError> {
        match self.inner.claim(run).await? {
            Some(lease) => Ok(Some(self.grant(lease))),
            None if self.fault == PlantedFault::SecondOwner => {
                let last = self.last(run);
                Ok(last.map(|lease| Lease::new(run.clone(), lease.epoch(), lease)))
            }
            None => Ok(None),
        }
    }

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let fenced = || StoreError::Fenced { run: append.run.clone() };
        let mut own = Arc::clone(lease.guard::<Arc<Lease>>().ok_or_else(fenced)?);
        if self.fault == PlantedFault::Unfenced {
            own = self.last(&append.run).ok_or_else(fenced)?;
        }
        match self.loses() {
            Some(true) => {
                self.inner.append(&own, Arc::clone(&append)).await?;
                Err(unknown(&append))
            }
            Some(false) => Err(unknown(&append)),
            None => match self.inner.append(&own, append).await {
                Err(StoreError::Conflict { .. }) if self.fault == PlantedFault::Blind => Ok(()),
                answer => answer,
            },
        }
    }

    async fn claim_ready(&self, most: usize, worker: &Worker) -> Result<Vec<Lease>, StoreError> {
        let leases = self.inner.claim_ready(most, worker).await?;
        Ok(leases.into_iter().map(|lease| self.grant(lease)).collect())
    }

    async fn renew(&self, leases: &[&Lease]) -> Result<Vec<RunId>, StoreError> {
        let own: Vec<&Lease> = leases
            .iter()
            .filter_map(|lease| lease.guard::<Arc<Lease>>().map(|own| &**own))
            .collect();
        self.inner.renew(&own).await
    }

    async fn release(&self, lease: Lease, mut how: Release) -> Result<(), StoreError> {
        let run = lease.run().clone();
        if self.fault == PlantedFault::LostWake && matches!(how, Release::Parked { .. }) {
            tokio::task::yield_now().await;
            let read = self.inner.messages(&run).await?.last().map(|message| message.id);
            how = Release::Parked { read };
        }
        if self.fault == PlantedFault::LostDeferral && matches!(how, Release::Deferred { .. }) {
            let read = self.inner.messages(&run).await?.last().map(|message| message.id);
            how = Release::Parked { read };
        }
        let own = lease.guard::<Arc<Lease>>().map(Arc::clone);
        drop(lease);
        if let Some(own) = own.and_then(Arc::into_inner) {
            if self.fault == PlantedFault::LostMessage {
                tokio::task::yield_now().await;
                for message in self.inner.messages(&run).await? {
                    self.inner.discard(&own, message.id).await?;
                }
            }
            self.inner.release(own, how).await?;
        }
        Ok(())
    }

    async fn enqueue(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError> {
        let mut runs = runs.to_vec();
        for (run, queue) in &mut runs {
            let row = self.inner.run(run).await;
            if self.fault == PlantedFault::LostDelay && row.is_ok_and(|row| row.owner.is_some()) {
                queue.not_before_ms = 0;
            }
        }
        self.inner.enqueue(&runs).await
    }

    async fn close_gate(&self, name: &str, wait: Duration) -> Result<(), StoreError> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), wait);
        self.inner.close_gate(name, wait).await
    }

    async fn gates(&self) -> Result<Vec<(Box<str>, Duration)>, StoreError> {
        let mut gates = self.inner.gates().await?;
        if self.fault == PlantedFault::EarlyGate {
            let last = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            for (name, wait) in &mut gates {
                *wait = last.get(name).copied().unwrap_or_default();
            }
        }
        Ok(gates)
    }

    async fn fault(&self, run: &RunId, why: &str) -> Result<(), StoreError> {
        self.inner.fault(run, why).await
    }

    async fn fork(
        &self,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<(), StoreError> {
        self.inner.fork(parent, at, child, created_ms).await
    }

    async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError> {
        self.inner.send(run, body).await
    }

    async fn discard(&self, lease: &Lease, message: MessageId) -> Result<(), StoreError> {
        let own = match self.fault {
            PlantedFault::UnfencedDiscard => self.last(lease.run()),
            _ => lease.guard::<Arc<Lease>>().map(Arc::clone),
        };
        let own = own.ok_or_else(|| StoreError::Fenced { run: lease.run().clone() })?;
        self.inner.discard(&own, message).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError> {
        self.inner.messages(run).await
    }

    async fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError> {
        self.inner.all_messages().await
    }

    async fn changes(&self) -> Result<Changes, StoreError> {
        if self.fault == PlantedFault::Silent {
            return Ok(Feed::default().subscribe(()));
        }
        self.inner.changes().await
    }

    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        self.inner.run(run).await
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        self.inner.list(filter, page).await
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        self.inner.check().await
    }

    async fn health(&self) -> Result<Health, StoreError> {
        self.inner.health().await
    }

    async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        self.inner.queue_counts().await
    }

    async fn chart_source(&self, run: &RunId) -> Result<String, StoreError> {
        self.inner.chart_source(run).await
    }

    async fn page(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        self.inner.page(run, after, limit).await
    }

    async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        self.inner.journal(run).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(run).await
    }

    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        self.inner.prompts(run).await
    }

    async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        self.inner.record(run, until).await
    }

    async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError> {
        if self.fault == PlantedFault::NoBlob {
            return Ok(Digest::of(bytes));
        }
        self.inner.put_blob(run, bytes).await
    }

    async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        self.inner.blob(run, digest, range).await
    }

    async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        self.inner.prune(prune).await
    }

    async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        self.inner.remove(run).await
    }
}
