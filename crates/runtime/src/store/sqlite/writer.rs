//! The one writer: takes what has come, writes it in one transaction, flushes once.
//!
//! Most refusals come before anything was changed and concern one job alone. After any
//! other, the whole transaction is rolled back and its jobs are written one by one, so
//! that each gets its own answer and none suffers for another.

mod apply;
mod fork;
mod shared;
mod shrink;
mod transaction;

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError, TryLockError,
        atomic::{AtomicUsize, Ordering},
        mpsc::Receiver,
    },
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, ffi};
use tokio::sync::oneshot;

use pointsman_kernel::id::Seq;

use super::{
    Change, Feed, MessageId, QueueOptions, RunId, SqliteOptions, StoreError,
    anchor::Anchor,
    artifact::{self, Packed},
    gone,
    lock::RunLock,
    manifest::OpenManifest,
    options::InjectedFault,
    queue::Parking,
    ready::Ready,
    schema,
    term::Term,
    watermark::Watermark,
};
pub(super) use fork::Forking;
use shared::SharedError;
use shrink::shrink;
use transaction::Transaction;

/// A job for the writer, and the receiver of its answer.
pub(super) struct WriteJob {
    pub(super) work: WriteRequest,
    pub(super) reply: Option<oneshot::Sender<Result<WriteReply, StoreError>>>,
}

/// Something for the writer to do.
pub(super) enum WriteRequest {
    Append(Box<Ready>),
    Send {
        run: RunId,
        body: Box<str>,
        at_ms: u64,
    },
    /// Removes a message of a run, for its owner.
    Discard {
        run: RunId,
        term: Term,
        message: MessageId,
    },
    Fork(Box<Forking>),
    /// Parks a run of the queue.
    Park {
        run: RunId,
        term: Term,
        parking: Parking,
    },
    /// Puts runs into the queue, each at a rank.
    Enqueue(Vec<(RunId, QueueOptions)>, u64),
    /// Keeps content of a run.
    Keep {
        run: RunId,
        packed: Packed,
    },
    /// Removes ended runs, or a run in any state.
    Prune {
        locks: Vec<(RunId, RunLock)>,
        whatever: bool,
    },
    /// Removes artifacts that nothing refers to.
    Sweep,
}

/// The reply to a job.
pub(super) enum WriteReply {
    Appended,
    Sent(MessageId),
    Done,
    Queued(Vec<RunId>),
    /// How many artifacts were swept; nothing where that could not be told.
    Swept(Option<u64>),
}

impl WriteRequest {
    /// Returns the run and entry that it is about, for error messages.
    fn place(&self) -> (Option<&RunId>, Option<Seq>) {
        match self {
            Self::Append(ready) => (Some(&ready.append.run), Some(ready.append.seq)),
            Self::Send { run, .. }
            | Self::Discard { run, .. }
            | Self::Keep { run, .. }
            | Self::Park { run, .. } => (Some(run), None),
            Self::Fork(forking) => (Some(forking.child()), None),
            Self::Enqueue(..) | Self::Prune { .. } | Self::Sweep => (None, None),
        }
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        let (run, seq) = self.place();
        StoreError::sorted(run, seq, source)
    }

    fn lost(&self, path: &Path) -> StoreError {
        let (run, seq) = self.place();
        StoreError::Lost { path: path.into(), run: run.cloned(), seq }
    }

    fn unknown(&self, why: &str) -> StoreError {
        let (run, seq) = self.place();
        StoreError::Unknown { run: run.cloned(), seq, why: why.into() }
    }

    /// Returns the hint that others are given once it is done.
    fn change(&self) -> Option<Change> {
        Some(match self {
            Self::Append(ready) => {
                Change::Entry { run: ready.append.run.clone(), seq: ready.append.seq }
            }
            Self::Send { run, .. } => Change::Message { run: run.clone() },
            Self::Fork(forking) => {
                Change::Entry { run: forking.child().clone(), seq: forking.at() }
            }
            Self::Enqueue(..) | Self::Prune { .. } => Change::Lagged,
            Self::Discard { .. } | Self::Keep { .. } | Self::Park { .. } | Self::Sweep => {
                return None;
            }
        })
    }

    fn broken(&self, why: &str) -> StoreError {
        let (run, seq) = self.place();
        StoreError::Broken { run: run.cloned(), seq, why: why.into() }
    }
}

/// A job that was refused.
struct Refusal {
    error: StoreError,
    /// Whether something was changed before it was refused.
    spoilt: bool,
}

type Answers = Vec<Result<WriteReply, StoreError>>;

/// How a transaction went.
enum Went {
    /// Each job has its answer.
    Well(Answers),
    /// It was rolled back, and its jobs are written one by one.
    Spoilt,
    /// Each job has its answer, and the content of the disk is unknown.
    Broke(Answers, String),
}

/// The writer and what it writes to.
pub(super) struct Writer {
    connection: Connection,
    watermark: Watermark,
    anchor: Anchor,
    together: usize,
    fault: Option<InjectedFault>,
    commits: u64,
    broken: Option<String>,
    /// How long another process is waited for by the writer's own thread.
    busy: Duration,
    /// How long another process is waited for now, if that was set.
    waits: Option<Duration>,
    /// The readers of changes.
    feed: Feed,
}

/// How long a job waits for another process on its caller's thread. After that it goes to the
/// writer's own thread, where it blocks no one.
const BRIEF: Duration = Duration::from_millis(10);
/// How often a sweep looks before it makes others wait.
const LOOKS: u32 = 3;

/// The writer's queue: jobs wait here, and a job without predecessors runs at once.
pub(super) struct WriteQueue {
    writer: Mutex<Writer>,
    waiting: AtomicUsize,
}

impl std::fmt::Debug for WriteQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteQueue").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl WriteQueue {
    pub(super) const fn new(writer: Writer) -> Self {
        Self { writer: Mutex::new(writer), waiting: AtomicUsize::new(0) }
    }

    /// Runs a job on the caller's own thread if the queue is empty, or returns it.
    ///
    /// It blocks for one flush, as any write does. A lone run is spared two switches
    /// between threads; as soon as there are more, they queue and share flushes.
    pub(super) fn alone(
        &self,
        work: WriteRequest,
    ) -> Result<Result<WriteReply, StoreError>, WriteRequest> {
        if self.waiting.load(Ordering::Acquire) > 0 {
            return Err(work);
        }
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(work),
        };
        let batch = [WriteJob { work, reply: None }];
        writer.wait_for(BRIEF);
        let answers = writer.write(&batch).unwrap_or_default();
        match answers.into_iter().next() {
            // Nothing was begun, so it can be done later just as well.
            Some(Err(StoreError::Busy { .. })) => {
                let [WriteJob { work, .. }] = batch;
                Err(work)
            }
            Some(answer) => Ok(answer),
            None => Ok(Err(gone())),
        }
    }

    /// Returns why the store takes no more writes, if it does not. A busy writer can write.
    pub(super) fn broken(&self) -> Option<String> {
        let mut writer = self.writer.try_lock().ok()?;
        let lost = writer.anchor.lost().map(|path| format!("{} was removed", path.display()));
        writer.broken.clone().or(lost)
    }

    /// Counts a job that is about to be sent.
    pub(super) fn expect_one(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
    }

    /// Works until all senders are dropped.
    pub(super) fn run(&self, inbox: &Receiver<WriteJob>) {
        while let Ok(first) = inbox.recv() {
            // Jobs that arrive while another thread writes join the batch.
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let mut batch = vec![first];
            batch.extend(inbox.try_iter().take(writer.together.saturating_sub(1)));
            let count = batch.len();
            let busy = writer.busy;
            writer.wait_for(busy);
            writer.serve(batch);
            self.waiting.fetch_sub(count, Ordering::AcqRel);
        }
    }
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        watermark: Watermark,
        anchor: Anchor,
        options: &SqliteOptions,
        feed: Feed,
    ) -> Self {
        let SqliteOptions { together, fault, busy, .. } = *options;
        Self {
            connection,
            watermark,
            anchor,
            together,
            fault,
            commits: 0,
            broken: None,
            busy,
            waits: None,
            feed,
        }
    }

    /// Sets how long another process is waited for.
    fn wait_for(&mut self, time: Duration) {
        // It is a number that SQLite keeps; were it not taken, the one before it holds.
        if self.waits != Some(time) {
            self.waits = self.connection.busy_timeout(time).ok().map(|()| time);
        }
    }

    /// Writes a batch and tells everybody.
    fn serve(&mut self, batch: Vec<WriteJob>) {
        if let Some(answers) = self.write(&batch) {
            answer(batch, answers);
            return;
        }
        for job in batch {
            let one = [job];
            // A job that stands alone is never spoilt by another.
            let answers = self.write(&one).unwrap_or_default();
            answer(one, answers);
        }
    }

    /// Writes a batch; returns nothing if it was rolled back to be written one by one.
    fn write(&mut self, batch: &[WriteJob]) -> Option<Answers> {
        if let Some(why) = &self.broken {
            return Some(batch.iter().map(|job| Err(job.work.broken(why))).collect());
        }
        if let Some(path) = self.anchor.still_lost() {
            return Some(batch.iter().map(|job| Err(job.work.lost(path))).collect());
        }
        if let [WriteJob { work: WriteRequest::Sweep, .. }] = batch
            && let Some(swept) = self.sweep()
        {
            drop(shrink(&self.connection));
            return Some(vec![swept]);
        }
        let answers = match self.attempt(batch) {
            Went::Well(answers) => {
                self.announce(batch, &answers);
                answers
            }
            Went::Spoilt => return None,
            Went::Broke(answers, why) => {
                self.broken = Some(why);
                return Some(answers);
            }
        };
        if batch.iter().any(|job| matches!(job.work, WriteRequest::Sweep)) {
            // The runs are removed in any case; the next prune tries again to shrink.
            drop(shrink(&self.connection));
        }
        Some(answers)
    }

    /// Announces the changes to readers in this process.
    fn announce(&self, batch: &[WriteJob], answers: &Answers) {
        if !self.feed.has_readers() {
            return;
        }
        for (job, answer) in batch.iter().zip(answers) {
            if let (Ok(_), Some(change)) = (answer, job.work.change()) {
                self.feed.send(change);
            }
        }
    }

    /// Sweeps without blocking other processes while it looks for unreferenced artifacts. The
    /// result counts only if there were no writes meanwhile: otherwise it looks again, and finally
    /// returns nothing, so that the caller sweeps under a lock.
    fn sweep(&mut self) -> Option<Result<WriteReply, StoreError>> {
        for _ in 0..LOOKS {
            let transaction = Transaction::look(&self.connection).ok()?;
            let swept = match artifact::sweep(transaction.connection) {
                Ok(swept) => swept,
                Err(source) if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    continue;
                }
                // The locked sweep reports the error.
                Err(_) => return None,
            };
            return Some(match transaction.commit() {
                Ok(()) => Ok(WriteReply::Swept(swept)),
                Err(source) if source.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                    Err(WriteRequest::Sweep.failed(source))
                }
                Err(source) => {
                    let why = source.to_string();
                    let error = WriteRequest::Sweep.unknown(&why);
                    self.broken = Some(why);
                    Err(error)
                }
            });
        }
        None
    }

    fn attempt(&mut self, batch: &[WriteJob]) -> Went {
        let all = |error: &dyn Fn(&WriteRequest) -> StoreError| {
            Went::Well(batch.iter().map(|job| Err(error(&job.work))).collect())
        };
        let transaction = match Transaction::begin(&self.connection) {
            Ok(transaction) => transaction,
            // Nothing was begun, so nothing is unsure: the next batch may succeed.
            Err(source) => {
                let source = SharedError::of(&source);
                return all(&|work| work.failed(source.again()));
            }
        };
        let mut manifest = OpenManifest::default();
        let mut answers = Answers::with_capacity(batch.len());
        let mut last = None;
        for job in batch {
            match apply::apply(transaction.connection, &mut manifest, &job.work) {
                Ok(done) => {
                    if let (WriteReply::Appended, (Some(run), Some(seq))) =
                        (&done, job.work.place())
                    {
                        last = Some((run, seq));
                    }
                    answers.push(Ok(done));
                }
                Err(Refusal { error, spoilt: false }) => answers.push(Err(error)),
                Err(_) if batch.len() > 1 => return Went::Spoilt,
                Err(Refusal { error, .. }) => return Went::Well(vec![Err(error)]),
            }
        }
        let version = match manifest.close(transaction.connection) {
            Ok(version) => version,
            Err(_) if batch.len() > 1 => return Went::Spoilt,
            Err(source) => {
                let source = SharedError::of(&source);
                return all(&|work| work.failed(source.again()));
            }
        };
        self.commits = self.commits.saturating_add(1);
        let result = match self.fault.filter(|fault| fault.commit == self.commits) {
            None => transaction.commit(),
            Some(fault) => {
                let kept = if fault.kept { transaction.commit() } else { transaction.rollback() };
                kept.and(Err(rusqlite::Error::SqliteFailure(ffi::Error::new(fault.code), None)))
            }
        };
        let Err(source) = result else {
            // An entry in a removed file is lost.
            if let Some(path) = self.anchor.lost() {
                return all(&|work| work.lost(path));
            }
            // Where everybody was refused nothing was written, and the watermark stays.
            if version.is_some() || last.is_some() {
                self.watermark.set(version, last);
            }
            return Went::Well(answers);
        };
        // A full disk rolls the transaction back: the content is known.
        let full = source.sqlite_error_code() == Some(ErrorCode::DiskFull);
        let (why, source) = (source.to_string(), SharedError::of(&source));
        let told = answers.into_iter().zip(batch).map(|(answer, job)| match answer {
            Ok(_) if full => Err(job.work.failed(source.again())),
            Ok(_) => Err(job.work.unknown(&why)),
            refused => refused,
        });
        let told = told.collect();
        if full { Went::Well(told) } else { Went::Broke(told, why) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing removes the log by its name, which another journal may have by now.
        if self.anchor.lost().is_some() {
            schema::keep_log(&self.connection);
        }
    }
}

/// Sends each job its reply.
fn answer(batch: impl IntoIterator<Item = WriteJob>, answers: Answers) {
    for (job, answer) in batch.into_iter().zip(answers) {
        // A caller that was dropped needs no answer.
        drop(job.reply.map(|reply| reply.send(answer)));
    }
}
