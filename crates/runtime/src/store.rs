//! Where journals are kept: one SQLite file, one writer, one flush for many runs.
//!
//! The journal's lines are the truth. A run's row and its snapshot are written with
//! them in the same transaction and can be made anew from them.

mod read;
mod schema;
mod writer;

use std::{fmt, io, path::Path, path::PathBuf, str::FromStr, sync::mpsc};

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use rusqlite::ErrorCode;
use thiserror::Error;
use tokio::sync::oneshot;

pub use read::{Kept, RunRow};

/// A run, by an id that sorts by the time it was made.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RunId(Box<str>);

impl RunId {
    /// Makes an id from letters and digits.
    pub(crate) fn from_letters(letters: &[u8]) -> Self {
        Self(letters.iter().copied().map(char::from).collect::<String>().into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no run id.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{0}` is no run id: use letters, digits, `-` and `_`, 64 at most")]
pub struct NoRunId(String);

impl FromStr for RunId {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if text.is_empty() || text.len() > 64 || !text.bytes().all(plain) {
            return Err(NoRunId(text.into()));
        }
        Ok(Self(text.into()))
    }
}

/// What can go wrong with the store. Reads go on working after every one of these.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or made.
    #[error("cannot open the journal {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file's folder cannot be made.
    #[error("cannot make the folder of the journal {}: {source}", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The SQLite library has a known fault.
    #[error("this build has SQLite {found}, and journals need 3.51.3 or later")]
    OldLibrary {
        /// The version.
        found: &'static str,
    },
    /// The file is no journal.
    #[error("{} is not a journal of this program", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A later build wrote the file.
    #[error("{} has store format {found}, and this build knows formats up to {}", path.display(), schema::FORMAT)]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
    },
    /// The file is damaged.
    #[error("the journal is damaged{}: {source}", told(run.as_ref()))]
    Damaged {
        /// The run that was asked for.
        run: Option<RunId>,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The disk is full. Nothing of this append was kept; a later one may succeed.
    #[error("the disk is full: entry {} of run {run} was not written", .seq.0)]
    Full {
        /// The run.
        run: RunId,
        /// The entry.
        seq: Seq,
    },
    /// A write failed in a way that leaves it open what is on the disk. The store
    /// takes no more writes until it is opened again.
    #[error("writing to the journal failed, so it takes no more entries: {why}")]
    Broken {
        /// What happened.
        why: String,
    },
    /// Another writer has been there first.
    #[error("run {run} is at entry {}, so entry {} cannot be written", .at.0, .wanted.0)]
    Conflict {
        /// The run.
        run: RunId,
        /// Its last entry.
        at: Seq,
        /// The entry that was to be written.
        wanted: Seq,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    NoSuchRun {
        /// The run.
        run: RunId,
    },
    /// Anything else that SQLite says.
    #[error("the journal cannot be used: {0}")]
    Other(#[source] rusqlite::Error),
}

fn told(run: Option<&RunId>) -> String {
    run.map_or_else(String::new, |run| format!(" at run {run}"))
}

impl StoreError {
    /// Sorts an error that came up while reading.
    fn reading(run: Option<&RunId>, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { run: run.cloned(), source }
            }
            _ => Self::Other(source),
        }
    }
}

/// One step to be kept: the line, and what is derived from it.
#[derive(Clone, Debug)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The entry's number.
    pub seq: Seq,
    /// The entry's line.
    pub line: String,
    /// The state that the run is in now.
    pub state: Box<str>,
    /// How it ended.
    pub ended: Option<Disposition>,
    /// When it wants to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
    /// A snapshot of the run after this entry, where one is due.
    pub snapshot: Option<Box<str>>,
}

/// What is said of a run once, with its first entry.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The agent's name.
    pub agent: Box<str>,
    /// The chart's name.
    pub chart: Box<str>,
    /// The chart's text, so that a run can always be read.
    pub source: Box<str>,
    /// What it was started for, for people.
    pub goal: Box<str>,
    /// When, in milliseconds since 1970.
    pub created_ms: u64,
    /// The run and entry that it was forked from.
    pub forked: Option<(RunId, Seq)>,
}

/// The right to start the effects of an entry: it is on disk.
///
/// Only [`Store::append`] makes one, and executors take nothing else, so an effect
/// that was not written down cannot be carried out.
#[must_use = "committed effects must be started"]
#[derive(Debug)]
pub struct Committed {
    seq: Seq,
    link: Digest,
}

impl Committed {
    /// Returns the entry that was written.
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// Returns the digest of its line, which the next entry holds.
    pub const fn link(&self) -> Digest {
        self.link
    }
}

type Reply = oneshot::Sender<Result<Committed, StoreError>>;

/// Something for the writer to do.
enum Job {
    Append(Box<Append>, Option<Box<Opening>>, Reply),
    Prune { before_ms: u64, reply: oneshot::Sender<Result<u64, StoreError>> },
}

/// A store of journals.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<std::thread::JoinHandle<()>>,
}

impl Store {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if rusqlite::version_number() < 3_051_003 {
            return Err(StoreError::OldLibrary { found: rusqlite::version() });
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| StoreError::Folder { path: path.into(), source })?;
        }
        let connection = schema::open(path)?;
        let (jobs, inbox) = mpsc::channel();
        let writer = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || writer::run(connection, &inbox))
            .map_err(|source| StoreError::Folder { path: path.into(), source })?;
        Ok(Self { path: path.into(), jobs: Some(jobs), writer: Some(writer) })
    }

    /// Writes an entry and returns once it is on disk, with the right to start its
    /// effects. Entries of many runs share a flush.
    pub async fn append(&self, append: Append) -> Result<Committed, StoreError> {
        self.ask(|reply| Job::Append(Box::new(append), None, reply)).await
    }

    /// Writes the first entry of a run.
    pub async fn begin(&self, append: Append, opening: Opening) -> Result<Committed, StoreError> {
        self.ask(|reply| Job::Append(Box::new(append), Some(Box::new(opening)), reply)).await
    }

    /// Removes runs that have ended and were made before a time; returns how many.
    pub async fn prune(&self, before_ms: u64) -> Result<u64, StoreError> {
        self.ask(|reply| Job::Prune { before_ms, reply }).await
    }

    async fn ask<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let gone = || StoreError::Broken { why: "the writer is gone".into() };
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Store {
    /// Lets the writer finish what it was given.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(writer) = self.writer.take() {
            drop(writer.join());
        }
    }
}
