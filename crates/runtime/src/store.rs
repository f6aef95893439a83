//! Where journals are kept: one SQLite file, one writer, one flush for many runs.
//!
//! The journal's lines are the truth. A run's row, its prompts and its snapshot are
//! written with them in the same transaction and can be made anew from them. Every row
//! is sealed and every line is chained: a byte that changed on the disk is found when
//! it is read, and the error names the run and the entry. What is derived can be compared with
//! the lines again: see [`Store::whole`].

mod anchor;
mod artifact;
mod book;
mod chain;
mod error;
mod export;
mod hold;
mod id;
pub mod import;
mod letter;
mod list;
mod mark;
mod only_read;
mod options;
mod pool;
mod prompt;
mod prune;
mod read;
mod ready;
mod schema;
mod seal;
mod whole;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, EffectId, Seq},
};
use tokio::sync::oneshot;

pub use error::{Damage, StoreError};
pub use export::ExportError;
pub use hold::Hold;
pub use id::{LetterId, NoRunId, RunId};
pub use letter::{Letter, Watch};
pub use list::Listed;
#[doc(hidden)]
pub use options::Fault;
pub use options::Options;
pub use prompt::PromptRow;
pub use prune::{Prune, Pruned, Removed};
pub use read::{Kept, RunRow};
use ready::Ready;
pub use whole::{Beside, Whole};

use crate::private;
use writer::{Answer, Desk, Forking, Job, Work, Writer};

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
    /// What models are shown by the effects of this entry.
    pub prompts: Vec<KeptPrompt>,
    /// The letter that this entry takes. It is gone once the entry is there.
    pub letter: Option<LetterId>,
}

/// What a model is shown, to be kept.
#[derive(Clone, Debug)]
pub struct KeptPrompt {
    /// The effect that asks the model.
    pub effect: EffectId,
    /// The prompt's messages as JSON, the system's first. What was shown before is kept
    /// once.
    pub parts: Vec<String>,
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
    /// What is said to it from the start: letters that are posted with its first entry.
    pub letters: Vec<Box<str>>,
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

/// A store of journals.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    readers: pool::Pool,
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<std::thread::JoinHandle<()>>,
    writer: Option<Arc<Desk>>,
    /// Why it can only be read, if it can.
    unwritable: Option<String>,
}

impl Store {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, &Options::default())
    }

    /// Opens the file, or makes it, with settings. One that cannot be written to, on a full disk
    /// or where everything is read-only, can be read if it was closed in good order.
    pub fn open_with(path: &Path, options: &Options) -> Result<Self, StoreError> {
        if rusqlite::version_number() < 3_051_003 {
            return Err(StoreError::OldLibrary { found: rusqlite::version() });
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private::folder(folder)
                .map_err(|source| StoreError::Folder { path: path.into(), source })?;
        }
        let (connection, mark, anchor) = match schema::open(path, options) {
            Ok(opened) => opened,
            Err(error) => return Self::only_read(path, options, error),
        };
        let (jobs, inbox) = mpsc::channel();
        let writer = Arc::new(Desk::new(Writer::new(connection, mark, anchor, options)));
        let desk = Arc::clone(&writer);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || desk.run(&inbox))
            .map_err(|source| StoreError::Thread { source })?;
        Ok(Self {
            path: path.into(),
            readers: pool::Pool::new(path, options),
            jobs: Some(jobs),
            thread: Some(thread),
            writer: Some(writer),
            unwritable: None,
        })
    }

    /// Writes an entry and returns once it is on disk, with the right to start its
    /// effects. Entries of many runs share a flush.
    pub async fn append(&self, append: Append) -> Result<Committed, StoreError> {
        self.commit(Ready::new(append, None)?).await
    }

    /// Writes the first entry of a run.
    pub async fn begin(&self, append: Append, opening: Opening) -> Result<Committed, StoreError> {
        self.commit(Ready::new(append, Some(opening))?).await
    }

    async fn commit(&self, ready: Ready) -> Result<Committed, StoreError> {
        match self.ask(Work::Append(Box::new(ready))).await? {
            Answer::Committed(committed) => Ok(committed),
            _ => Err(gone()),
        }
    }

    /// Makes a run that shares another's entries up to one of them, and goes its own way
    /// from there. Nothing is copied that can be shared.
    pub async fn fork(
        &self,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<(), StoreError> {
        // Entries never change, so what is checked here still holds when it is copied.
        let forking = self
            .readers
            .read(|connection| Forking::new(connection, parent, at, child, created_ms))?;
        self.ask(Work::Fork(Box::new(forking))).await.map(drop)
    }

    async fn ask(&self, work: Work) -> Result<Answer, StoreError> {
        self.check_writable()?;
        let desk = self.writer.as_ref().ok_or_else(gone)?;
        let work = match desk.alone(work) {
            Ok(done) => return done,
            Err(work) => work,
        };
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        desk.expect_one();
        jobs.send(Job { work, reply }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn gone() -> StoreError {
    StoreError::Broken { run: None, seq: None, why: "the writer is gone".into() }
}

impl Drop for Store {
    /// Lets the writer finish what it was given.
    fn drop(&mut self) {
        // The writer closes last, because only it can write the log back.
        self.readers.clear();
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
