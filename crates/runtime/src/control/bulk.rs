//! One action for all runs that a filter names.

mod fork;

use std::{collections::BTreeSet, future::Future, sync::Arc};

use pointsman_kernel::event::Event;
use tokio::{sync::Semaphore, task::JoinSet};

use super::RunControl;
use crate::{
    driver::written,
    session::{ApprovalDecision, Delivery, SessionError},
    store::{Filter, Page, QueueOptions, QueueStatus, RunId, RunRow, StoreError},
};

/// How many runs are listed at a time.
const ROWS: usize = 500;
/// How many runs are worked on at a time.
const AT_ONCE: usize = 16;

/// What is done to every run.
#[derive(Clone, Debug)]
pub enum BulkAction {
    /// Cancel the runs that have not ended.
    Cancel,
    /// Answer every open question.
    Decide {
        /// Whether with yes.
        granted: bool,
        /// Why, for the journals.
        reason: String,
    },
    /// Put the runs without an owner back into the queue, paused and quarantined ones included.
    Resume(ForkQueue),
    /// Fork each run: an open run at its last entry, an ended run before its end. A run that already
    /// has a fork there is skipped, so the action can be repeated after a failure: a fork that was made
    /// but not queued is queued.
    Fork {
        /// The queue that the forks enter; without one, they wait to be resumed.
        queue: Option<ForkQueue>,
    },
}

/// How runs enter the queue that were made before.
#[derive(Clone, Debug, Default)]
pub struct ForkQueue {
    /// Their key; each run's own if it is not given.
    pub key: Option<Box<str>>,
    /// How urgent they are.
    pub priority: i32,
    /// They are ready at this time at the earliest, in milliseconds since 1970.
    pub not_before_ms: u64,
}

impl ForkQueue {
    /// Returns how a run enters the queue, or a fork of it.
    pub fn options(&self, row: &RunRow) -> QueueOptions {
        let place = row.queue.as_ref();
        let own = || place.map(|place| place.key.clone()).unwrap_or_default();
        QueueOptions {
            key: self.key.clone().unwrap_or_else(own),
            priority: self.priority,
            not_before_ms: self.not_before_ms,
            needs: place.and_then(|place| place.needs.clone()),
        }
    }

    /// Refuses a key that not every store can keep. Check it before the first run is changed.
    pub fn check(&self) -> Result<(), StoreError> {
        let key = self.key.clone().unwrap_or_default();
        QueueOptions { key, ..QueueOptions::default() }.check()
    }
}

/// What became of an action.
#[derive(Debug, Default)]
pub struct BulkReport {
    /// The runs that it applies to: acted on, unless it was a dry run.
    pub runs: Vec<RunId>,
    /// The forks that were made, in the order of `runs`.
    pub forks: Vec<RunId>,
    /// The runs that are not forked again: each has a fork at the same entry.
    pub skipped: Vec<RunId>,
    /// The runs that could not be acted on, each with the reason.
    pub failed: Vec<(RunId, String)>,
}

impl RunControl {
    /// Does something to every run that a filter names, or only says to which. Children are left
    /// out: they follow their parents.
    pub async fn bulk(
        &self,
        filter: &Filter,
        action: &BulkAction,
        dry_run: bool,
    ) -> Result<BulkReport, SessionError> {
        self.bulk_among(filter, None, action, dry_run).await
    }

    /// The same, but only for those of these runs that the filter still names: for a caller who has
    /// seen which runs they are.
    pub async fn bulk_among(
        &self,
        filter: &Filter,
        among: Option<&BTreeSet<RunId>>,
        action: &BulkAction,
        dry_run: bool,
    ) -> Result<BulkReport, SessionError> {
        self.bulk_watched(filter, among, action, dry_run, &mut |_, _| {}).await
    }

    /// The same, and tells of each fork (the run, then its fork) as soon as it is made and queued.
    pub async fn bulk_watched(
        &self,
        filter: &Filter,
        among: Option<&BTreeSet<RunId>>,
        action: &BulkAction,
        dry_run: bool,
        forked: &mut (dyn FnMut(&RunId, &RunId) + Send),
    ) -> Result<BulkReport, SessionError> {
        if let BulkAction::Resume(queue) | BulkAction::Fork { queue: Some(queue) } = action {
            queue.check()?;
        }
        let is_meant = |run: &RunId| among.is_none_or(|runs| runs.contains(run));
        let mut report = BulkReport::default();
        if let BulkAction::Fork { queue } = action {
            let rows = self.rows_to_fork(filter, among, &mut report).await?;
            self.fork_all(filter, rows, queue.as_ref(), dry_run, forked, &mut report).await?;
            return Ok(report);
        }
        let mut page = Page::first(ROWS);
        loop {
            let listed = self.store.list(filter, &page).await?;
            for error in listed.damaged {
                if let Some(run) = error.run().filter(|&run| is_meant(run)).cloned() {
                    report.failed.push((run, error.to_string()));
                }
            }
            let meant = |row: &RunRow| is_meant(&row.id) && applies(action, row);
            let rows = listed.runs.into_iter().filter(meant).collect();
            self.act(action, rows, dry_run, &mut report).await?;
            match listed.next {
                Some(next) => page.after = Some(next),
                None => return Ok(report),
            }
        }
    }

    async fn act(
        &self,
        action: &BulkAction,
        rows: Vec<RunRow>,
        dry_run: bool,
        report: &mut BulkReport,
    ) -> Result<(), SessionError> {
        match action {
            BulkAction::Cancel | BulkAction::Resume(_) if dry_run => {
                report.runs.extend(rows.into_iter().map(|row| row.id));
            }
            BulkAction::Cancel => {
                let cancel = |control: Self, row: RunRow| async move {
                    settled(control.cancel(&row.id).await?).map(Some)
                };
                let done = self.each(rows, report, cancel).await;
                report.runs.extend(done.into_iter().map(|(run, ())| run));
            }
            BulkAction::Decide { granted, reason } => {
                let (granted, reason) = (*granted, Arc::<str>::from(&**reason));
                let decide = move |control: Self, row: RunRow| {
                    let reason = Arc::clone(&reason);
                    async move {
                        let questions = control.questions(&row.id).await?;
                        let decision =
                            ApprovalDecision { granted, reason: (*reason).into(), remember: None };
                        for question in questions.iter().filter(|_| !dry_run) {
                            settled(control.decide(&row.id, question, &decision).await?)?;
                        }
                        Ok((!questions.is_empty()).then_some(()))
                    }
                };
                let done = self.each(rows, report, decide).await;
                report.runs.extend(done.into_iter().map(|(run, ())| run));
            }
            BulkAction::Resume(queue) => {
                let queue = queue.clone();
                let resume = move |control: Self, row: RunRow| {
                    let options = queue.options(&row);
                    async move {
                        control.store.send(&row.id, &written(&Event::Resumed)).await?;
                        Ok(Some(options))
                    }
                };
                let sent = self.each(rows, report, resume).await;
                report.runs.extend(self.store.enqueue(&sent).await?);
            }
            // Forks look at all runs first.
            BulkAction::Fork { .. } => {}
        }
        Ok(())
    }

    /// Does something to runs, several at a time, and returns the results of those it applied to.
    async fn each<F, T: Send + 'static>(
        &self,
        rows: Vec<RunRow>,
        report: &mut BulkReport,
        action: impl Fn(Self, RunRow) -> F,
    ) -> Vec<(RunId, T)>
    where
        F: Future<Output = Result<Option<T>, SessionError>> + Send + 'static,
    {
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        let (mut tasks, mut done) = (JoinSet::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            let (run, slots) = (row.id.clone(), Arc::clone(&slots));
            let acting = action(self.clone(), row);
            tasks.spawn(async move {
                // The semaphore is never closed.
                let _slot = slots.acquire_owned().await;
                (run, acting.await)
            });
        }
        while let Some(acted) = tasks.join_next().await {
            match acted {
                Ok((run, Ok(Some(it)))) => done.push((run, it)),
                Ok((_, Ok(None))) => {}
                Ok((run, Err(error))) => report.failed.push((run, error.to_string())),
                Err(broken) => tracing::error!(%broken, "a task of a bulk action panicked"),
            }
        }
        done.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        done
    }
}

/// Returns whether an action can apply to a run, by its row alone.
fn applies(action: &BulkAction, row: &RunRow) -> bool {
    let open = row.ended.is_none();
    let leased = || row.queue.as_ref().and_then(|it| it.status) == Some(QueueStatus::Leased);
    let fits = match action {
        BulkAction::Cancel | BulkAction::Decide { .. } => open,
        BulkAction::Resume(_) => open && row.owner.is_none() && !leased(),
        BulkAction::Fork { .. } => true,
    };
    fits && !row.id.is_child()
}

/// A message that the run ignored is no success.
fn settled(delivery: Delivery) -> Result<(), SessionError> {
    match delivery {
        Delivery::Ignored(why) => Err(SessionError::Ignored { why }),
        _ => Ok(()),
    }
}
