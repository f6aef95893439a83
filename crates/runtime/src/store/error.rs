//! Errors of a store, with their location and a hint.

use std::{error, io, path::PathBuf};

use pointsman_kernel::id::{Digest, Seq};
use thiserror::Error;

use super::{MessageId, RunId};
use crate::plural::counted;

/// Errors of a store. Undamaged data can still be read after each of them.
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
    #[error("cannot create the folder of the journal {}: {source}", path.display())]
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
    #[error("the journal {} is read-only: {why}", path.display())]
    OnlyRead {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The SQLite library has a known fault.
    #[error("this build has SQLite {found}, but journals need 3.51.3 or later")]
    OldLibrary {
        /// The version.
        found: &'static str,
    },
    /// The file is not a journal.
    #[error("{} is not a Pointsman journal", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A later build wrote the file.
    #[error("{} has store format {found}, but this build knows only formats up to {known}", path.display())]
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
        /// The damage.
        damage: StoreDamage,
    },
    /// The journal lacks what its watermark says was written.
    #[error("the journal {} is missing committed entries{}", path.display(), last_known(last.as_ref()))]
    Behind {
        /// The journal.
        path: PathBuf,
        /// The watermark.
        watermark: PathBuf,
        /// The last run and entry that the watermark knows.
        last: Option<(RunId, Seq)>,
    },
    /// The disk is full, or the journal has reached its cap. Nothing of this was kept;
    /// a later write may succeed.
    #[error("the disk is full, or the journal has reached its size limit; nothing was written{}", place(run.as_ref(), *seq))]
    Full {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// Another process kept the journal for itself too long. Nothing was written.
    #[error("another process keeps the journal locked{}", place(run.as_ref(), *seq))]
    Busy {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// The database that keeps the journal does not answer. Nothing was written.
    #[error("the journal's database does not answer{}: {why}", place(run.as_ref(), *seq))]
    Unreached {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
        /// What happened.
        why: String,
    },
    /// A write failed, or its answer was lost: it may or may not have been written. Read to find
    /// out.
    #[error("it is unknown whether the write to the journal succeeded{}: {why}", place(run.as_ref(), *seq))]
    Unknown {
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
        /// What happened.
        why: String,
    },
    /// An earlier write failed with an unknown result. The store accepts no more writes until it
    /// is reopened, and this one was not written.
    #[error("an earlier write to the journal failed, so nothing was written{}: {why}", place(run.as_ref(), *seq))]
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
    #[error("the journal's file {} was deleted or replaced while in use; writing stopped{}", path.display(), place(run.as_ref(), *seq))]
    Lost {
        /// The file.
        path: PathBuf,
        /// The run.
        run: Option<RunId>,
        /// The entry.
        seq: Option<Seq>,
    },
    /// A later lease of the run is in force.
    #[error("another process has taken over run {run}; this one stopped writing")]
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
    /// The line is not a valid entry at this position.
    #[error("entry {} of run {run} cannot be stored: {why}", .seq.0)]
    Unfit {
        /// The run.
        run: RunId,
        /// The entry.
        seq: Seq,
        /// Why.
        why: String,
    },
    /// A text has a character that not every store can keep.
    #[error("the {what} contains a NUL character (U+0000), which cannot be stored")]
    Nul {
        /// The text.
        what: &'static str,
    },
    /// The run does not exist.
    #[error("there is no run {run}")]
    NoSuchRun {
        /// The run.
        run: RunId,
    },
    /// There is such a run already.
    #[error("run {run} already exists")]
    RunExists {
        /// The run.
        run: RunId,
    },
    /// The run that was asked for is there: the request was repeated.
    #[error("this request already created run {run}")]
    Repeated {
        /// The run.
        run: RunId,
    },
    /// The run has no such entry.
    #[error("run {run} has {}, but entry {} was requested", counted(.has.0, "entry"), .asked.0)]
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
    #[error("message {message} no longer exists")]
    NoSuchMessage {
        /// The message.
        message: MessageId,
    },
    /// A run cannot be claimed.
    #[error("cannot claim run {run}: its lock file {} cannot be used: {source}", path.display())]
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
        /// The database's error.
        source: Box<dyn error::Error + Send + Sync>,
    },
}

/// The damage of a journal.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreDamage {
    /// SQLite cannot read the file, or a value is not of its kind.
    #[error("{0}")]
    File(String),
    /// The manifest does not have its checksum.
    #[error("the checksum of its manifest is wrong")]
    Manifest,
    /// Runs are missing, or there are too many.
    #[error("found {}, expected {wants}", counted(.has, "run"))]
    Runs {
        /// How many there are.
        has: i64,
        /// How many there should be.
        wants: i64,
    },
    /// The run's row does not have its checksum.
    #[error("the checksum of its row is wrong")]
    Row,
    /// The entry is not there.
    #[error("the entry is missing")]
    Missing,
    /// The line does not match the digest in the next line.
    #[error("the line differs from the one written")]
    Line,
    /// An artifact is missing, or its content does not have its digest.
    #[error("artifact {0} is missing or damaged")]
    Artifact(Digest),
    /// Prompts are missing or do not have their checksum.
    #[error("its prompts differ from those written")]
    Prompts,
    /// A column has something else than the lines derive.
    #[error("the column `{column}` has {has}, but the entries give {derived}")]
    Column {
        /// The table and the column.
        column: &'static str,
        /// The stored value.
        has: String,
        /// The derived value.
        derived: String,
    },
    /// The columns beside a line have a wrong checksum.
    #[error("the checksum of its columns is wrong")]
    EntryColumns,
    /// A prompt with a valid checksum differs from the one that this build renders.
    #[error("{part} of the prompt for effect {index} differs from what this build renders")]
    Rendered {
        /// The effect, counted within the entry.
        index: u16,
        /// What differs.
        part: String,
    },
    /// The row of its last lease does not have its checksum.
    #[error("the checksum of its lease is wrong")]
    Lease,
    /// Its place in the queue does not have its checksum.
    #[error("the checksum of its queue entry is wrong")]
    Queue,
    /// Messages are missing or do not have their checksum.
    #[error("its messages differ from those written")]
    Messages,
}

fn place(run: Option<&RunId>, seq: Option<Seq>) -> String {
    match (run, seq) {
        (Some(run), Some(seq)) => format!(" at entry {} of run {run}", seq.0),
        (Some(run), None) => format!(" in run {run}"),
        (None, _) => String::new(),
    }
}

fn last_known(last: Option<&(RunId, Seq)>) -> String {
    last.map_or_else(String::new, |(run, seq)| format!(": it had entry {} of run {run}", seq.0))
}

impl StoreError {
    /// Returns a hint for people, in one sentence.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Open { .. } | Self::Folder { .. } => {
                "choose another location, or make this one writable".into()
            }
            Self::ReadOnly { path } => {
                format!("give write access to {} and its folder", path.display())
            }
            Self::OnlyRead { .. } => "free some disk space, or make the journal writable".into(),
            Self::NotOurs { .. } => "choose another file; this one is unchanged".into(),
            Self::TooNew { .. } => "use the build that wrote it, or a later one".into(),
            Self::Tables { .. } => "it is damaged, or another build wrote it: restore a backup, use that build, or choose another file"
                .into(),
            Self::Damaged { damage: StoreDamage::Rendered { .. }, .. } => {
                "replay the run with the build that ran it; if this is that build, restore a backup"
                    .into()
            }
            Self::Damaged { .. } => {
                "other runs are still readable; restore a backup, or remove the run"
                    .into()
            }
            Self::Behind { watermark, .. } => format!(
                "restore a backup, or remove {} to continue with the remaining entries",
                watermark.display()
            ),
            Self::Full { .. } => {
                "free some disk space first: even removing runs needs some. If the journal reached its own limit, raise `max_size` of `[journal]` or remove runs with `runs prune`"
                    .into()
            }
            Self::Busy { .. } => {
                "try again, stop the other process, or raise `busy` of `[journal]`".into()
            }
            Self::Unreached { .. } => {
                "check that the database runs and accepts connections, then try again".into()
            }
            Self::Lost { .. } => "restore a backup and resume the run; work started after the backup may run again"
                .into(),
            Self::Broken { .. } => "check the disk, then start again".into(),
            Self::Unknown { .. } => "check the disk, then resume the run".into(),
            Self::Conflict { .. } | Self::Fenced { .. } => "another process owns this run; `pointsman runs` shows its progress".into(),
            Self::Nul { .. } => "remove the character".into(),
            Self::NoSuchRun { .. } => "`pointsman runs` lists all runs".into(),
            _ => return None,
        })
    }

    /// Returns the damaged run, if this error is about damage and the run is known.
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
