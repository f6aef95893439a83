//! What can go wrong with the store, where, and what to do about it.

use std::{error, io, path::PathBuf};

use pointsman_kernel::id::{Digest, Seq};
use thiserror::Error;

use super::{MessageId, RunId};
use crate::plural::counted;

/// What can go wrong with the store. Reads of what is whole go on working after every
/// one of these.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or made.
    #[error("cannot open the journal {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn error::Error + Send + Sync>,
    },
    /// The file's folder cannot be made.
    #[error("cannot make the folder of the journal {}: {source}", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The writer's thread cannot be started.
    #[error("cannot start a thread for the journal: {source}")]
    Thread {
        /// Why.
        source: io::Error,
    },
    /// The file or its folder may not be written to.
    #[error("the journal {} or its folder is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file can be read and cannot be written to.
    #[error("the journal {} can only be read now: {why}", path.display())]
    OnlyRead {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
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
    #[error("{} has store format {found}, and this build knows formats up to {known}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The latest that this build knows.
        known: i64,
    },
    /// The tables are not as this build makes them: the file is damaged, or from a build
    /// that no release has.
    #[error("the tables of the journal {} are not those of format {known}", path.display())]
    Tables {
        /// The file.
        path: PathBuf,
        /// The format that this build writes.
        known: i64,
    },
    /// The file is damaged.
    #[error("the journal is damaged{}: {damage}", place(run.as_ref(), *seq))]
    Damaged {
        /// The run, where one is known.
        run: Option<RunId>,
        /// The entry, where one is known.
        seq: Option<Seq>,
        /// What is wrong.
        damage: StoreDamage,
    },
    /// The journal lacks what its mark says was written.
    #[error("the journal {} has lost what was written to it{}", path.display(), last_known(last.as_ref()))]
    Behind {
        /// The journal.
        path: PathBuf,
        /// The mark.
        mark: PathBuf,
        /// The last run and entry that the mark knows.
        last: Option<(RunId, Seq)>,
    },
    /// The disk is full, or the journal has reached its cap. Nothing of this was kept;
    /// a later write may succeed.
    #[error("the disk is full, or the journal has reached its cap: nothing was written{}", place(run.as_ref(), *seq))]
    Full {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// Another process kept the journal for itself too long. Nothing was written.
    #[error("another process is writing to the journal and does not let go{}", place(run.as_ref(), *seq))]
    Busy {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// A write failed, or its answer was lost: it may have been written or not. Reading tells.
    #[error("it is not known whether the journal was written to{}: {why}", place(run.as_ref(), *seq))]
    Unknown {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
        /// What happened.
        why: String,
    },
    /// An earlier write failed in a way that leaves it open what is on the disk. The store
    /// takes no more writes until it is opened again, and nothing of this one was written.
    #[error("writing to the journal failed, so it takes no more entries{}: {why}", place(run.as_ref(), *seq))]
    Broken {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
        /// What happened.
        why: String,
    },
    /// The file was deleted, moved or replaced while it was open. Nothing that is written to
    /// it would ever be read.
    #[error("the journal's file {} was deleted or replaced while it was in use, so nothing more is written{}", path.display(), place(run.as_ref(), *seq))]
    Lost {
        /// The file.
        path: PathBuf,
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// A later lease of the run is in force.
    #[error("another owner has taken run {run} over, so nothing more is written to it here")]
    Fenced {
        /// The run.
        run: RunId,
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
    /// The line is no entry that can stand there.
    #[error("entry {} of run {run} cannot be kept: {why}", .seq.0)]
    Unfit {
        /// The run.
        run: RunId,
        /// The entry.
        seq: Seq,
        /// Why.
        why: String,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    NoSuchRun {
        /// The run.
        run: RunId,
    },
    /// There is such a run already.
    #[error("there is a run {run} already")]
    RunExists {
        /// The run.
        run: RunId,
    },
    /// The run that was asked for is there: the request was repeated.
    #[error("this request has made run {run} already")]
    Repeated {
        /// The run.
        run: RunId,
    },
    /// The run has no such entry.
    #[error("run {run} has {}, and entry {} was asked for", counted(.has.0, "entry"), .asked.0)]
    NoSuchEntry {
        /// The run.
        run: RunId,
        /// Its last entry.
        has: Seq,
        /// The entry.
        asked: Seq,
    },
    /// The run has no such content.
    #[error("run {run} has no content {digest}")]
    NoSuchBlob {
        /// The run.
        run: RunId,
        /// The digest of the content.
        digest: Digest,
    },
    /// The message was taken or discarded before.
    #[error("message {message} is not there any more")]
    NoSuchMessage {
        /// The message.
        message: MessageId,
    },
    /// A run cannot be claimed.
    #[error("cannot claim run {run} with the file {}: {source}", path.display())]
    Claim {
        /// The run.
        run: RunId,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Anything else that the database says. Nothing was written.
    #[error("the journal cannot be used{}: {source}", place(run.as_ref(), *seq))]
    Other {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
        /// What the database says.
        source: Box<dyn error::Error + Send + Sync>,
    },
}

/// What is wrong with a damaged journal.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreDamage {
    /// SQLite cannot read the file, or a value is not of its kind.
    #[error("{0}")]
    File(String),
    /// The book does not have its seal.
    #[error("the count of its runs does not have its seal")]
    Book,
    /// Runs are missing, or there are too many.
    #[error("{} found, and {wants} written", counted(.has, "run"))]
    Runs {
        /// How many there are.
        has: i64,
        /// How many there should be.
        wants: i64,
    },
    /// The run's row does not have its seal.
    #[error("its row does not have its seal")]
    Row,
    /// The entry is not there.
    #[error("the entry is missing")]
    Missing,
    /// The line does not have the digest that what comes after it holds.
    #[error("the line is not the one that was written")]
    Line,
    /// An artifact is missing, or its content does not have its digest.
    #[error("artifact {0} is missing or is not what was written")]
    Artifact(Digest),
    /// Prompts are missing or do not have their seal.
    #[error("its prompts are not those that were written")]
    Prompts,
    /// A column has something else than the lines derive.
    #[error("the column `{column}` has {has}, and the lines lead to {derived}")]
    Column {
        /// The table and the column.
        column: &'static str,
        /// What is kept.
        has: String,
        /// What the lines derive.
        derived: String,
    },
    /// The columns beside a line do not have their seal.
    #[error("the columns beside its line do not have their seal")]
    EntryColumns,
    /// A prompt that has its seal is not the one that this build renders.
    #[error("the {part} of the prompt for effect {index} is not what this build renders")]
    Rendered {
        /// The effect, counted within the entry.
        index: u16,
        /// What differs.
        part: String,
    },
    /// The row of its last lease does not have its seal.
    #[error("its lease does not have its seal")]
    Lease,
    /// Its place in the queue does not have its seal.
    #[error("its place in the queue does not have its seal")]
    Queue,
    /// Messages are missing or do not have their seal.
    #[error("its letters are not those that were written")]
    Messages,
}

fn place(run: Option<&RunId>, seq: Option<Seq>) -> String {
    match (run, seq) {
        (Some(run), Some(seq)) => format!(" at entry {} of run {run}", seq.0),
        (Some(run), None) => format!(" at run {run}"),
        (None, _) => String::new(),
    }
}

fn last_known(last: Option<&(RunId, Seq)>) -> String {
    last.map_or_else(String::new, |(run, seq)| format!(": it had entry {} of run {run}", seq.0))
}

impl StoreError {
    /// Returns what a person can do about it, in one sentence.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Open { .. } | Self::Folder { .. } => {
                "give another place, or the right to write there".into()
            }
            Self::ReadOnly { path } => {
                format!("give write access to {} and its folder", path.display())
            }
            Self::OnlyRead { .. } => "free some space, or give write access to it".into(),
            Self::NotOurs { .. } => "give another file; this one was left as it is".into(),
            Self::TooNew { .. } => "use the build that wrote it, or a later one".into(),
            Self::Tables { .. } => "it is damaged, or another build wrote it: put it back from \
                                    a copy, use that build, or give another file"
                .into(),
            Self::Damaged { damage: StoreDamage::Rendered { .. }, .. } => {
                "replay it with the build that ran it; if this is that build, put the file back \
                 from a copy"
                    .into()
            }
            Self::Damaged { .. } => {
                "other runs can still be read; put the file back from a copy, or remove the run"
                    .into()
            }
            Self::Behind { mark, .. } => format!(
                "put the file back from a copy, or remove {} to go on with what is left",
                mark.display()
            ),
            Self::Full { .. } => {
                "free some space on that disk first: even removing runs needs some. If it is the \
                 journal's own cap, raise `max_size` of `[journal]` or remove runs with `runs prune`"
                    .into()
            }
            Self::Busy { .. } => {
                "try again, stop the other process, or raise `busy` of `[journal]`".into()
            }
            Self::Lost { .. } => "put the file back from a copy and resume the run; what was \
                                  started after the copy was made may be started again"
                .into(),
            Self::Broken { .. } => "check the disk, then start again".into(),
            Self::Unknown { .. } => "check the disk, then resume the run".into(),
            Self::Conflict { .. } | Self::Fenced { .. } => "another process drives this run".into(),
            Self::NoSuchRun { .. } => "list the runs to see which there are".into(),
            _ => return None,
        })
    }

    /// Returns the run that is damaged, where this tells of damage and knows it.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Damaged { run, .. } => run.as_ref(),
            _ => None,
        }
    }

    #[cfg(feature = "sqlite")]
    pub(super) const fn damaged(run: Option<RunId>, seq: Option<Seq>, damage: StoreDamage) -> Self {
        Self::Damaged { run, seq, damage }
    }
}
