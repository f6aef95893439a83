//! Journals in one SQLite file: one writer, one flush for many runs.
//!
//! Every row has a checksum and every line is chained: a byte that changed on the disk is found
//! when it is read, and the error names the run and the entry. Derived data can be compared with
//! the lines: see [`Store::record`].

mod anchor;
mod artifact;
mod blob;
mod chain;
mod checksum;
mod error;
mod list;
mod lock;
mod manifest;
mod message;
mod only_read;
mod options;
mod poll;
mod prompt;
mod prune;
mod queue;
mod read;
mod reader;
mod ready;
mod record;
mod schema;
mod term;
mod watermark;
mod writer;

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use async_trait::async_trait;
use pointsman_kernel::id::{Digest, Seq};
use tokio::{sync::oneshot, task::spawn_blocking};

use super::{
    Append, Change, Changes, Feed, Filter, Health, Lease, MailboxMessage, MessageId, NewPrompt,
    NewRun, Page, PromptRow, PruneOptions, PruneReport, QueueCounts, QueueOptions, Release,
    RemovedRuns, RunId, RunList, RunRecord, RunRow, Snapshot, Store, StoreDamage, StoreError,
    Worker, link::Link, row::made,
};
use crate::{clock::now_ms, gate::Gates, private};
use artifact::Packed;
use lock::RunLock;
#[doc(hidden)]
pub use options::InjectedFault;
pub use options::SqliteOptions;
use poll::Polled;
use queue::{Backlog, Parking};
pub use reader::SqliteReader;
use ready::Ready;
use term::{ActiveTerm, Term};
use writer::{Forking, WriteJob, WriteQueue, WriteReply, WriteRequest, Writer};

/// A store of journals in one SQLite file.
///
/// A lease is a lock on a file of the run and, from the first entry on, a row: it lasts as long as
/// its owner's process, even a suspended one, and costs no flush.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    reader: Arc<SqliteReader>,
    jobs: Option<mpsc::Sender<WriteJob>>,
    thread: Option<std::thread::JoinHandle<()>>,
    writer: Option<Arc<WriteQueue>>,
    feed: Feed,
    polled: Polled,
    /// Of this process: a provider that refuses another one soon refuses this one, too.
    gates: Gates,
    backlog: Backlog,
    options: SqliteOptions,
    /// Why it can only be read, if it can.
    unwritable: Option<String>,
}

/// The inside of a lease.
struct SqliteClaim {
    active_term: ActiveTerm,
    /// The last message of any run that was sent before.
    heard: MessageId,
    _lock: RunLock,
}

impl SqliteStore {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, &SqliteOptions::default())
    }

    /// Opens or creates the file, with settings. A file that cannot be written, on a full disk or
    /// a read-only file system, can be read if it was closed cleanly.
    pub fn open_with(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        if rusqlite::version_number() < 3_051_003 {
            return Err(StoreError::OldLibrary { found: rusqlite::version() });
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private::folder(folder)
                .map_err(|source| StoreError::Folder { path: path.into(), source })?;
        }
        let schema::OpenedDatabase { connection, watermark, anchor, ordered } =
            match schema::open(path, options) {
                Ok(opened) => opened,
                Err(error) => return Self::only_read(path, options, error),
            };
        let (jobs, inbox) = mpsc::channel();
        let feed = Feed::default();
        let writer = Writer::new(connection, watermark, anchor, options, feed.clone());
        let writer = Arc::new(WriteQueue::new(writer));
        let desk = Arc::clone(&writer);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || desk.run(&inbox))
            .map_err(|source| StoreError::Thread { source })?;
        Ok(Self {
            path: path.into(),
            reader: Arc::new(SqliteReader::new(path, options, ordered)),
            jobs: Some(jobs),
            thread: Some(thread),
            writer: Some(writer),
            feed,
            polled: Polled::default(),
            gates: Gates::ahead(Arc::clone(&options.ahead_ms)),
            backlog: Backlog::default(),
            options: options.clone(),
            unwritable: None,
        })
    }

    /// Returns what reads the journal on the caller's own thread.
    pub fn reader(&self) -> &SqliteReader {
        &self.reader
    }

    /// Reads in the background.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&SqliteReader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let reader = Arc::clone(&self.reader);
        background(move || read(&reader)).await
    }

    async fn ask(&self, work: WriteRequest) -> Result<WriteReply, StoreError> {
        self.check_writable()?;
        let desk = self.writer.as_ref().ok_or_else(gone)?;
        let work = if self.options.inline_commit {
            match desk.alone(work) {
                Ok(done) => return done,
                Err(work) => work,
            }
        } else {
            work
        };
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        desk.expect_one();
        jobs.send(WriteJob { work, reply: Some(reply) }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn create(&self, first: Arc<Append>, new_run: NewRun) -> Result<Lease, StoreError> {
        let run = first.run.clone();
        let exists = || StoreError::RunExists { run: run.clone() };
        let lock = self.lock_run(&run)?.ok_or_else(exists)?;
        let active_term = ActiveTerm::new(Term::after(0));
        super::queue::check(&first, &new_run)?;
        let ready = Ready::new(first, active_term.term(), Some(new_run))?;
        self.ask(WriteRequest::Append(Box::new(ready))).await?;
        active_term.wrote();
        let heard = MessageId(0);
        Ok(Lease::new(run, 1, SqliteClaim { active_term, heard, _lock: lock }))
    }

    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError> {
        let Some(lock) = self.lock_run(run)? else { return Ok(None) };
        let asked = run.clone();
        let read = self.read(move |reader| Ok((reader.epoch(&asked)?, reader.last_message())));
        let (last, heard) = read.await?;
        let term = Term::after(last);
        let claimed = SqliteClaim { active_term: ActiveTerm::new(term), heard, _lock: lock };
        Ok(Some(Lease::new(run.clone(), term.number(), claimed)))
    }

    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError> {
        let claimed: &SqliteClaim = lease
            .guard()
            .filter(|_| *lease.run() == append.run)
            .ok_or_else(|| StoreError::Fenced { run: append.run.clone() })?;
        let ready = Ready::new(append, claimed.active_term.term(), None)?;
        self.ask(WriteRequest::Append(Box::new(ready))).await?;
        claimed.active_term.wrote();
        Ok(())
    }

    async fn claim_ready(&self, most: usize, worker: &Worker) -> Result<Vec<Lease>, StoreError> {
        self.claim_queued(most, worker).await
    }

    async fn renew(&self, leases: &[&Lease]) -> Result<Vec<RunId>, StoreError> {
        let terms = leases.iter().map(|lease| {
            let term = lease.guard().map(|claimed: &SqliteClaim| claimed.active_term.term());
            (lease.run().clone(), term)
        });
        let terms: Vec<_> = terms.collect();
        self.read(move |reader| reader.over(&terms)).await
    }

    async fn release(&self, lease: Lease, how: Release) -> Result<(), StoreError> {
        match how {
            Release::Ready => {}
            Release::Parked { read } => self.park(&lease, Parking::Rests { read }).await?,
            Release::Deferred { wait } => self.defer(&lease, wait).await?,
        }
        drop(lease);
        Ok(())
    }

    async fn enqueue(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError> {
        super::queue::check_all(runs)?;
        match self.ask(WriteRequest::Enqueue(runs.into(), now_ms())).await? {
            WriteReply::Queued(runs) => Ok(runs),
            _ => Err(gone()),
        }
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
        // Entries never change, so this check still holds when they are copied.
        let parent = parent.clone();
        let read = move |reader: &SqliteReader| {
            reader.read(|connection| Forking::new(connection, &parent, at, child, created_ms))
        };
        let forking = self.read(read).await?;
        self.ask(WriteRequest::Fork(Box::new(forking))).await.map(drop)
    }

    async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError> {
        let work = WriteRequest::Send { run: run.clone(), body: body.into(), at_ms: now_ms() };
        match self.ask(work).await? {
            WriteReply::Sent(message) => Ok(message),
            _ => Err(gone()),
        }
    }

    async fn discard(&self, lease: &Lease, message: MessageId) -> Result<(), StoreError> {
        let run = lease.run().clone();
        let claimed: &SqliteClaim =
            lease.guard().ok_or_else(|| StoreError::Fenced { run: run.clone() })?;
        let term = claimed.active_term.term();
        self.ask(WriteRequest::Discard { run, term, message }).await.map(drop)
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.messages(&run)).await
    }

    async fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError> {
        self.read(SqliteReader::all_messages).await
    }

    async fn changes(&self) -> Result<Changes, StoreError> {
        let poller = self.polled.poller(&self.reader, &self.feed, self.options.poll).await?;
        Ok(self.feed.subscribe(poller))
    }

    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.run(&run)).await
    }

    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |reader| reader.list(&filter, &page)).await
    }

    async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        self.read(SqliteReader::check).await
    }

    async fn health(&self) -> Result<Health, StoreError> {
        let health = self.read(SqliteReader::health).await?;
        let broken = || self.writer.as_ref().and_then(|desk| desk.broken());
        Ok(Health { unwritable: self.unwritable.clone().or_else(broken), ..health })
    }

    async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        self.read(SqliteReader::queue_counts).await
    }

    async fn chart_source(&self, run: &RunId) -> Result<String, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.chart_source(&run)).await
    }

    async fn page(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.page(&run, after, limit)).await
    }

    async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.journal(&run)).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.snapshot(&run)).await
    }

    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.prompts(&run)).await
    }

    async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        let run = run.clone();
        self.read(move |reader| reader.record(&run, until)).await
    }

    async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError> {
        let (run, bytes) = (run.clone(), Vec::from(bytes));
        let packed = background(move || Ok(Packed::new(&bytes))).await?;
        let digest = packed.digest;
        self.ask(WriteRequest::Keep { run, packed }).await?;
        Ok(digest)
    }

    async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        let (run, digest) = (run.clone(), *digest);
        self.read(move |reader| reader.blob(&run, &digest, &range)).await
    }

    async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        self.prune_runs(prune).await
    }

    async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        self.remove_run(run).await
    }
}

/// Does something that blocks without keeping the caller's thread.
async fn background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    spawn_blocking(work).await.unwrap_or_else(|broken| {
        let why = format!("a thread of the journal panicked: {broken}");
        Err(StoreError::Other { run: None, seq: None, source: why.into() })
    })
}

fn gone() -> StoreError {
    StoreError::Broken { run: None, seq: None, why: "the writer has stopped".into() }
}

impl Drop for SqliteStore {
    /// Lets the writer finish its jobs.
    fn drop(&mut self) {
        // The writer closes last, because only it can write the log back. Callers may have dropped
        // the futures of reads that are still in progress.
        self.reader.close();
        self.polled.close();
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
