//! A store in PostgreSQL, for many workers on many machines.
//!
//! Every change is one statement that commits on its own, so that nothing is left open when a
//! worker or its connection is lost; only removals take two. No statement has a name and no
//! connection has a state, so a pooler may be in between.

mod append;
mod changes;
mod checksum;
mod clock;
mod database;
mod gate;
mod lease;
mod limits;
mod list;
mod make;
mod message;
mod migrate;
mod options;
mod queue;
mod read;
mod remove;
mod rows;
mod tls;
mod writer;

use std::{ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::{
    clock::{boot_ms, entropy},
    host_name, plant,
    store::{
        Append, Change, Changes, Feed, Filter, Health, Lease, MailboxMessage, MessageId, NewRun,
        Page, PromptRow, PruneOptions, PruneReport, QueueCounts, QueueOptions, Release,
        RemovedRuns, RunId, RunList, RunRecord, RunRow, Snapshot, Store, StoreError, Worker,
    },
};
use tokio::sync::{mpsc, oneshot};

use crate::redis::Hints;

use self::{
    changes::Poller,
    clock::ServerClock,
    database::Database,
    lease::{Held, Keeper},
    rows::RowTypes,
    writer::Job,
};

pub use self::options::PostgresOptions;

/// Journals, mailboxes and the queue of a fleet, in PostgreSQL.
#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
    types: RowTypes,
    clock: ServerClock,
    writer: mpsc::Sender<Job>,
    keeper: Arc<Keeper>,
    feed: Feed,
    poller: Poller,
    poll: Duration,
    hints: Option<Hints>,
}

impl PostgresStore {
    /// Opens the journals of a database, whose tables are there. It must be called within a runtime
    /// of Tokio that lives as long as the store.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let database = Database::new(url, options.connections, options.deadline)?;
        migrate::check_server(&database, options.lossy).await?;
        migrate::check(&database).await?;
        append::plant_unfenced(&database).await?;
        let types = RowTypes::read(&database).await?;
        let clock = ServerClock::start(&database, options.clock).await?;
        let owner = format!("{}:{}-{:08x}", host_name(), std::process::id(), entropy() >> 32);
        let hints = options.redis.as_deref().map(|url| Hints::start(url, &owner)).transpose()?;
        let keeper = Keeper::start(database.clone(), owner, &options);
        let writer = writer::start(database.clone(), types.clone(), keeper.lasts_ms());
        let (feed, poller) = (Feed::default(), Poller::default());
        let poll = options.poll;
        Ok(Self { database, types, clock, writer, keeper, feed, poller, poll, hints })
    }

    /// Tells workers that a run may have become ready.
    fn hint(&self) {
        if let Some(hints) = &self.hints {
            hints.give();
        }
    }

    /// Creates or updates the tables of a database, and returns their format. Workers of the
    /// previous version keep running.
    pub async fn migrate(url: &str) -> Result<i32, StoreError> {
        let options = PostgresOptions::default();
        migrate::migrate(&Database::new(url, 1, options.deadline)?).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn create(&self, first: Arc<Append>, new: NewRun) -> Result<Lease, StoreError> {
        let lease = make::create(&self.database, &self.types, &self.keeper, &first, &new).await?;
        self.feed.send(Change::Entry { run: first.run.clone(), seq: first.seq });
        Ok(lease)
    }

    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError> {
        self.keeper.claim(&self.database, run).await
    }

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let link = append.check()?;
        let (run, seq, epoch) = (append.run.clone(), append.seq, lease.epoch());
        let over = lease.is_over() && !plant::is("no-epoch");
        let held = lease.guard::<Held>().filter(|_| *lease.run() == run && !over);
        let Some(held) = held else { return Err(StoreError::Fenced { run }) };
        let (answer, answered) = oneshot::channel();
        let asked = boot_ms();
        let ended = "the store's runtime has ended";
        let (at, entry) = (Some(run.clone()), Some(seq));
        let job = Job { append, link, epoch, ends_ms: held.ends_ms(), answer };
        if plant::is("early-answer") {
            let writer = self.writer.clone();
            tokio::spawn(async move {
                tokio::time::sleep(plant::EARLY).await;
                writer.send(job).await
            });
            return Ok(());
        }
        if self.writer.send(job).await.is_err() {
            return Err(StoreError::Other { run: at, seq: entry, source: ended.into() });
        }
        let unknown = |_| StoreError::Unknown { run: at, seq: entry, why: ended.into() };
        let expires = answered.await.map_err(unknown)??;
        held.renewed(expires, asked);
        self.feed.send(Change::Entry { run, seq });
        Ok(())
    }

    async fn claim_ready(&self, most: usize, worker: &Worker) -> Result<Vec<Lease>, StoreError> {
        if let Some(hints) = &self.hints {
            hints.listen(&self.feed);
            if plant::is("hints-trusted") && !hints.heard() {
                return Ok(Vec::new());
            }
        }
        queue::claim_ready(&self.database, &self.keeper, most, worker).await
    }

    async fn has_work(&self, worker: &Worker) -> Result<bool, StoreError> {
        self.database.has_work(worker).await
    }

    async fn renew(&self, leases: &[&Lease]) -> Result<Vec<RunId>, StoreError> {
        let renewed = self.keeper.renew(&self.database, leases).await;
        renewed.map_err(|failure| failure.write(None, None))
    }

    async fn release(&self, lease: Lease, how: Release) -> Result<(), StoreError> {
        Keeper::release(lease, how).await?;
        if how == Release::Ready {
            self.hint();
        }
        Ok(())
    }

    async fn enqueue(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError> {
        self.keeper.settled().await;
        let queued = self.database.enqueue(runs).await?;
        self.hint();
        self.feed.send(Change::Lagged);
        Ok(queued)
    }

    async fn fault(&self, run: &RunId, why: &str) -> Result<(), StoreError> {
        self.database.fault(run, why).await
    }

    async fn close_gate(&self, name: &str, wait: Duration) -> Result<(), StoreError> {
        self.database.close_gate(name, wait).await
    }

    async fn gates(&self) -> Result<Vec<(Box<str>, Duration)>, StoreError> {
        self.database.gates().await
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.clock.ahead_ms()
    }

    fn lease_lasts(&self) -> Option<Duration> {
        Some(self.keeper.lasts())
    }

    async fn settle(&self) {
        self.keeper.settled().await;
    }

    async fn fork(
        &self,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<(), StoreError> {
        make::fork(&self.database, parent, at, child.clone(), created_ms).await?;
        self.feed.send(Change::Entry { run: child, seq: at });
        Ok(())
    }

    async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError> {
        let message = self.database.send(run, body).await?;
        self.feed.send(Change::Message { run: run.clone() });
        self.hint();
        Ok(message)
    }

    async fn discard(&self, lease: &Lease, message: MessageId) -> Result<(), StoreError> {
        self.database.discard(lease, message).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError> {
        self.database.messages(Some(run)).await
    }

    async fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError> {
        self.database.messages(None).await
    }

    async fn changes(&self) -> Result<Changes, StoreError> {
        self.poller.subscribe(&self.database, &self.feed, self.poll).await
    }

    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        self.database.row(run).await
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        self.database.list(filter, page).await
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        self.database.check().await
    }

    async fn health(&self) -> Result<Health, StoreError> {
        self.database.health().await
    }

    async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        self.database.queue_counts().await
    }

    async fn chart_source(&self, run: &RunId) -> Result<String, StoreError> {
        self.database.chart_source(run).await
    }

    async fn page(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        self.database.page(run, after, limit).await
    }

    async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        self.database.journal(run).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.database.snapshot(run).await
    }

    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        let row = self.database.row(run).await?;
        self.database.prompts(run, row.seq).await
    }

    async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        self.database.record(run, until).await
    }

    async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError> {
        self.database.put_blob(run, bytes).await
    }

    async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        self.database.blob(run, digest, range).await
    }

    async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        self.keeper.settled().await;
        let report = self.database.prune(prune).await?;
        if !prune.dry_run && !report.runs.is_empty() {
            self.feed.send(Change::Lagged);
        }
        Ok(report)
    }

    async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        self.keeper.settled().await;
        let removed = self.database.remove(run).await?;
        if removed.is_some() {
            self.feed.send(Change::Lagged);
        }
        Ok(removed)
    }
}
