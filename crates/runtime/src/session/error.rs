//! Errors of a session.

use pointsman_kernel::{chart::RefusedChart, id::Seq};
use thiserror::Error;

use crate::{
    driver::DriveError,
    local_executor::ExecutorError,
    plural::counted,
    store::{RunId, StoreError},
};

/// An error of a session.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be driven.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The host cannot be set up.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// The chart that the run was started with is refused by this build.
    #[error("this build refuses the chart of run {run}: {why}")]
    Chart {
        /// The run.
        run: RunId,
        /// The reason.
        why: RefusedChart,
    },
    /// Another process owns the run.
    #[error("run {run} is owned by another process")]
    Held {
        /// The run.
        run: RunId,
    },
    /// The configuration is not JSON.
    #[error("the configuration cannot be saved: {0}")]
    Config(#[from] serde_json::Error),
    /// The machine cannot run it.
    #[error("the program cannot start its threads: {0}")]
    Threads(#[from] std::io::Error),
    /// The task of the run panicked, which is a bug in the program.
    #[error("internal error (panic) in run {run}; see the log: {why}")]
    Broke {
        /// The run.
        run: RunId,
        /// Its own message.
        why: String,
    },
    /// The run did not take a message.
    #[error("the run ignored the message: {why}")]
    Ignored {
        /// Why.
        why: String,
    },
    /// A run that ended with its first entry has nothing before its end.
    #[error("run {run} ended in its first entry, so there is nothing to fork")]
    NothingToFork {
        /// The run.
        run: RunId,
    },
    /// A run that shares the end of another has ended, and cannot go another way.
    #[error("run {run} ended with entry {}; a fork at that entry would already have ended", .last.0 + 1)]
    ForkOfTheEnd {
        /// The run.
        run: RunId,
        /// The last entry before its end.
        last: Seq,
    },
    /// The entry does not exist.
    #[error("run {run} has {}, but entry {} was requested", counted(.has, "entry"), .asked.0)]
    NoSuchEntry {
        /// The run.
        run: RunId,
        /// Its entries.
        has: usize,
        /// The entry.
        asked: Seq,
    },
}
