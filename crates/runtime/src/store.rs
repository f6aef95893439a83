//! Stores keep journals: the contract of every store, and the stores that ship.
//!
//! A journal's lines are the truth. A run's row, its prompts and its snapshot are written together
//! with them and can be rebuilt from them. The runtime knows a store only by the trait [`Store`];
//! [`sqlite`] keeps journals in one file, [`memory`] keeps them until the process ends.

mod changes;
mod error;
mod export;
mod id;
pub mod import;
mod lease;
mod link;
mod list;
pub mod memory;
mod message;
pub mod protocol;
mod prune;
mod queue;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::{fmt, ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, EffectId, Seq},
};

use crate::clock::now_ms;

pub use changes::{Change, Changes, Feed};
pub use error::{StoreDamage, StoreError};
pub use export::{ExportError, export};
pub use id::{MessageId, NoRunId, RunId};
pub use lease::{Lease, Pulse};
pub use link::{EntryLine, Link};
pub use list::{Cursor, Filter, Page, RunList, RunScope, StatusFilter};
pub use memory::MemoryStore;
pub use message::MailboxMessage;
pub use prune::{PruneOptions, PruneReport, RemovedRuns};
pub use queue::{
    ClaimLimits, QueueCounts, QueueOptions, QueuePlace, QueueStatus, Release, Worker,
    check_all as check_queued,
};
pub use row::{EntryColumns, Health, PromptRow, RunRecord, RunRow, Snapshot};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};

/// How long the end of a process may take to be seen, in addition to the time that its leases last.
pub(crate) const LOST: Duration = Duration::from_secs(2);
/// The pause between two claims of a run that has an owner.
const AGAIN: Duration = Duration::from_millis(250);

/// One step to store: the line and everything derived from it.
#[derive(Clone, Debug)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The entry's number.
    pub seq: Seq,
    /// The entry's line.
    pub line: EntryLine,
    /// The state that the run is in now.
    pub state: Box<str>,
    /// How it ended.
    pub ended: Option<Disposition>,
    /// When it must be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// A snapshot of the run after this entry, where one is due.
    pub snapshot: Option<Box<str>>,
    /// What models are shown by the effects of this entry.
    pub prompts: Vec<NewPrompt>,
    /// The message that this entry takes, and removes.
    pub message: Option<MessageId>,
}

impl Append {
    /// Checks that its line can be an entry, and returns the link: for stores.
    pub fn check(&self) -> Result<Link, StoreError> {
        Link::checked(self, false)
    }

    /// Checks that a run can begin with it, and returns the link: for stores.
    pub fn check_first(&self, new: &NewRun) -> Result<Link, StoreError> {
        queue::check(self, new)?;
        Link::checked(self, true)
    }
}

/// A prompt to store.
#[derive(Clone, Debug)]
pub struct NewPrompt {
    /// The effect that asks the model.
    pub effect: EffectId,
    /// The prompt's messages as JSON, the system's first. Repeated messages are stored once.
    pub parts: Vec<String>,
}

/// The data of a run that is written once, with its first entry.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The agent's name.
    pub agent: Box<str>,
    /// The chart's name.
    pub chart: Box<str>,
    /// The chart's text, so that a run can always be read.
    pub source: Box<str>,
    /// Its goal, for people.
    pub goal: Box<str>,
    /// When, in milliseconds since 1970.
    pub created_ms: u64,
    /// The run and entry that it was forked from.
    pub forked: Option<(RunId, Seq)>,
    /// Its first messages, sent with its first entry.
    pub messages: Vec<Box<str>>,
    /// What its creator calls the request for it: a second one of that name makes no second run.
    pub request: Option<Box<str>>,
    /// Its place in the queue while it has no owner; nothing if its creator drives it.
    pub queue: Option<QueueOptions>,
}

/// A store of journals.
///
/// Every method that changes something returns once the change outlives the process, as far as
/// the store's kind permits. Every method that reads sees one moment. A future that is dropped
/// may have done its work or not, and nothing by halves.
///
/// One suite checks the promises of each method for all stores: `tests/it/store/conformance`.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Creates a run with its first entry, and claims it for the caller.
    ///
    /// A run of that name is refused with [`StoreError::RunExists`], and one of the same request
    /// with [`StoreError::Repeated`], which names the existing run. A child is never queued.
    /// With [`StoreError::Unknown`] the run may be there, unclaimed.
    async fn create(&self, first: Arc<Append>, new_run: NewRun) -> Result<Lease, StoreError>;

    /// Claims a run, or returns nothing if this or another process already owns it.
    ///
    /// Of two leases for one run, ever, the later has the higher epoch. The owner of the earlier
    /// one can append nothing more once the later one was appended under.
    async fn claim(&self, run: &RunId) -> Result<Option<Lease>, StoreError>;

    /// Writes an entry under a lease.
    ///
    /// It is written only after the entry before it, and only along the chain:
    /// - [`StoreError::Fenced`]: a later lease is in force. Nothing was written.
    /// - [`StoreError::Conflict`]: the run has that entry. Nothing was written.
    /// - [`StoreError::Unknown`]: it may have been written or not. It must be read before it is
    ///   tried again.
    /// - Any other error: nothing was written.
    async fn append(&self, lease: &Lease, append: Arc<Append>) -> Result<(), StoreError>;

    /// Claims up to `most` queued runs that are ready, the longest waiting first and keys in turn.
    /// A run is ready if it has no owner and was not parked, if its wake-up time has come, or if
    /// it has messages that its last owner has not read.
    async fn claim_ready(&self, most: usize, worker: &Worker) -> Result<Vec<Lease>, StoreError>;

    /// Returns whether a queued run that a worker could take is ready or has an owner.
    async fn has_work(&self, worker: &Worker) -> Result<bool, StoreError> {
        for status in [QueueStatus::Ready, QueueStatus::Leased] {
            let filter = Filter { queue: Some(status), ..Filter::default() };
            let mut page = Page::first(500);
            loop {
                let listed = self.list(&filter, &page).await?;
                if listed.runs.iter().any(|row| worker.is_able(row)) {
                    return Ok(true);
                }
                page.after = listed.next;
                if page.after.is_none() {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Renews leases that would expire, and returns the runs whose lease is in force no longer.
    async fn renew(&self, leases: &[&Lease]) -> Result<Vec<RunId>, StoreError>;

    /// Gives a run up, so that another owner can claim it. A lease that is dropped is given up,
    /// too, as soon as the store can, and its run is ready. A message that comes meanwhile is
    /// announced by [`changes`](Self::changes), waits, and makes the run ready: nothing is lost
    /// between two owners.
    async fn release(&self, lease: Lease, how: Release) -> Result<(), StoreError>;

    /// Puts runs into the queue, or back into it: each is ready at its time, whatever it waited for,
    /// and a quarantined one is given another chance. Returns those that are queued now; ended and
    /// unknown runs are left out, and a child is refused.
    async fn enqueue(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError>;

    /// Records why a worker could not drive a run, where the store can set a run aside.
    async fn fault(&self, run: &RunId, why: &str) -> Result<(), StoreError> {
        let _ = (run, why);
        Ok(())
    }

    /// Tells all workers of this store that a provider of models accepts no requests for a time. A
    /// store of one machine tells those of this process.
    async fn close_gate(&self, name: &str, wait: Duration) -> Result<(), StoreError> {
        let _ = (name, wait);
        Ok(())
    }

    /// Returns the providers that accept no requests, and for how long.
    async fn gates(&self) -> Result<Vec<(Box<str>, Duration)>, StoreError> {
        Ok(Vec::new())
    }

    /// Returns how far this machine's clock is ahead of the store's, in milliseconds: runs are dated by the
    /// store's clock. Without a clock of its own, the store uses this machine's.
    fn clock_ahead_ms(&self) -> i64 {
        0
    }

    /// Returns how long a lease lasts unless it is renewed, so for how long a run can still have an owner
    /// whose process was killed. Nothing if a lease ends with its owner's process.
    fn lease_lasts(&self) -> Option<Duration> {
        None
    }

    /// Waits until the leases that were dropped are given up: before the process ends.
    async fn settle(&self) {}

    /// Makes a run that shares another's entries up to one of them, and goes its own way from
    /// there.
    async fn fork(
        &self,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<(), StoreError>;

    /// Sends a message to a run.
    async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError>;

    /// Removes a message of a run that no entry will take. Only the run's owner can tell that, so a
    /// lease that a later one has ended is [`StoreError::Fenced`], and the message stays for the
    /// next owner.
    async fn discard(&self, lease: &Lease, message: MessageId) -> Result<(), StoreError>;

    /// Returns the messages that wait for a run, the oldest first.
    async fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError>;

    /// Returns the messages that wait, for any run, the oldest first.
    async fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError>;

    /// Returns hints of what changes from now on, in this process and in others.
    async fn changes(&self) -> Result<Changes, StoreError>;

    /// Returns one run.
    async fn run(&self, run: &RunId) -> Result<RunRow, StoreError>;

    /// Returns a page of the runs that are whole, the newest first, and the damage that was met on
    /// the way: one row must not hide all the others.
    async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError>;

    /// Checks the rows of all runs and their number, and returns all damage.
    async fn check(&self) -> Result<Vec<StoreError>, StoreError>;

    /// Returns the state of the store without reading its runs: for a readiness probe.
    async fn health(&self) -> Result<Health, StoreError>;

    /// Counts the runs of the queue by their status: for metrics.
    async fn queue_counts(&self) -> Result<QueueCounts, StoreError>;

    /// Returns the text of the chart that a run was started with.
    async fn chart_source(&self, run: &RunId) -> Result<String, StoreError>;

    /// Returns up to `limit` lines of a run after an entry, in order, exactly as written. There
    /// are fewer only if the run has no more.
    async fn page(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Returns a run with its lines, as both are at one moment.
    async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError>;

    /// Returns the newest snapshot of a run, if there is one that fits the journal. A snapshot
    /// is a cache: one that is damaged counts as none.
    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError>;

    /// Returns the prompts of a run, in order.
    async fn prompts(&self, run: &RunId) -> Result<Vec<PromptRow>, StoreError>;

    /// Returns a run with all its stored data, and its prompts up to an entry. The lines and the
    /// row are verified; the caller compares the rest with them.
    async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError>;

    /// Stores content of a run under its digest, and returns the digest. The same content is
    /// stored once. It is removed with the run; a fork shares its parent's.
    async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError>;

    /// Returns content of a run, as much of the range as there is: the very bytes that were kept.
    async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError>;

    /// Removes unclaimed runs that have ended, with all their data.
    async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError>;

    /// Removes one run with its children, in any state. Returns nothing if one of them has an
    /// owner.
    async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError>;
}

impl dyn Store {
    /// Returns the time by the store's clock, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        now_ms().saturating_sub_signed(self.clock_ahead_ms())
    }

    /// Returns every run, the newest first. A list that lacks a run is damage, too.
    pub async fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let mut damaged = self.check().await?;
        let listed = self.all(&Filter::default()).await?;
        damaged.extend(listed.damaged);
        damaged.into_iter().next().map_or(Ok(listed.runs), Err)
    }

    /// Returns all runs that fit on one page, as they are at one moment.
    pub async fn all(&self, filter: &Filter) -> Result<RunList, StoreError> {
        self.list(filter, &Page::first(usize::MAX)).await
    }

    /// Returns the children of a run, and theirs, that have not ended.
    pub async fn open_children(&self, run: &RunId) -> Result<Vec<RunId>, StoreError> {
        let (scope, status) = (RunScope::Descendants(run.clone()), Some(StatusFilter::Open));
        let listed = self.all(&Filter { scope, status, ..Filter::default() }).await?;
        Ok(listed.runs.into_iter().map(|row| row.id).collect())
    }

    /// Returns for how long at most the lease of an owner that was lost keeps others from its run.
    pub(crate) fn lost_after(&self) -> Duration {
        self.lease_lasts().unwrap_or_default().saturating_add(LOST)
    }

    /// Claims a run, again and again for a time while it has an owner.
    pub(crate) async fn claim_within(
        &self,
        run: &RunId,
        limit: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        let mut pauses = limit.as_millis() / AGAIN.as_millis();
        loop {
            let claimed = self.claim(run).await?;
            if claimed.is_some() || pauses == 0 {
                return Ok(claimed);
            }
            pauses -= 1;
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Returns all lines of a run after an entry, as they are at one moment.
    pub async fn lines(&self, run: &RunId, after: Seq) -> Result<Vec<String>, StoreError> {
        self.page(run, after, usize::MAX).await
    }

    /// Returns the first line of a run.
    pub async fn first_line(&self, run: &RunId) -> Result<String, StoreError> {
        // A run has its first entry from the start.
        Ok(self.page(run, Seq(0), 1).await?.pop().unwrap_or_default())
    }

    /// Returns all of a run's content that has a digest.
    pub async fn whole_blob(&self, run: &RunId, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.blob(run, digest, 0..u64::MAX).await
    }

    /// Returns whether a message still waits.
    pub async fn has_message(&self, message: MessageId) -> Result<bool, StoreError> {
        Ok(self.all_messages().await?.iter().any(|found| found.id == message))
    }
}
