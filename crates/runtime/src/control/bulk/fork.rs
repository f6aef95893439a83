//! Forks of all runs that a filter names, in batches, so that the action can be repeated.

use std::collections::{BTreeMap, BTreeSet};

use pointsman_kernel::id::Seq;

use super::{BulkAction, BulkReport, ForkQueue, ROWS, RunControl, applies};
use crate::{
    engine::{fork, fork_entry},
    session::SessionError,
    store::{Filter, Page, QueueOptions, RunId, RunRow, RunScope},
};

/// By how much the clocks of machines may differ: a fork seems to be older than its run if it was made
/// on another machine.
const CLOCKS_MS: u64 = 86_400_000;

/// A run that is to be forked.
struct ToFork {
    row: RunRow,
    /// A fork that was made earlier and never queued.
    made: Option<RunId>,
}

impl RunControl {
    /// Forks runs of a filter and queues each batch of forks. After a failed batch nothing more is
    /// forked.
    pub(super) async fn fork_all(
        &self,
        filter: &Filter,
        rows: Vec<RunRow>,
        queue: Option<&ForkQueue>,
        dry_run: bool,
        forked: &mut (dyn FnMut(&RunId, &RunId) + Send),
        report: &mut BulkReport,
    ) -> Result<(), SessionError> {
        let mut earlier = self.earlier_forks(filter, &rows).await?;
        let mut wanted = Vec::with_capacity(rows.len());
        for row in rows {
            match earlier.remove(&row.id) {
                None => wanted.push(ToFork { row, made: None }),
                Some(fork) if queue.is_some() && is_untouched(&fork) => {
                    wanted.push(ToFork { row, made: Some(fork.id) });
                }
                Some(_) => report.skipped.push(row.id),
            }
        }
        if dry_run {
            report.runs.extend(wanted.into_iter().map(|it| it.row.id));
            return Ok(());
        }
        let mut wanted = wanted.into_iter();
        loop {
            let batch: Vec<ToFork> = wanted.by_ref().take(ROWS).collect();
            if batch.is_empty() || !self.fork_batch(batch, queue, forked, report).await {
                return Ok(());
            }
        }
    }

    /// Forks some runs, then queues the forks. Returns whether they could be queued.
    async fn fork_batch(
        &self,
        batch: Vec<ToFork>,
        queue: Option<&ForkQueue>,
        forked: &mut (dyn FnMut(&RunId, &RunId) + Send),
        report: &mut BulkReport,
    ) -> bool {
        let mut options: BTreeMap<RunId, QueueOptions> = BTreeMap::new();
        if let Some(queue) = queue {
            options.extend(batch.iter().map(|it| (it.row.id.clone(), queue.options(&it.row))));
        }
        let mut made = Vec::with_capacity(batch.len());
        let mut rows = Vec::with_capacity(batch.len());
        for ToFork { row, made: earlier } in batch {
            match earlier {
                Some(fork) => made.push((row.id, fork)),
                None => rows.push(row),
            }
        }
        let forks = |control: Self, row: RunRow| async move {
            fork(&*control.store, &row.id, None).await.map(Some)
        };
        made.extend(self.each(rows, report, forks).await);
        let queued: Vec<(RunId, QueueOptions)> = made
            .iter()
            .filter_map(|(run, fork)| Some((fork.clone(), options.remove(run)?)))
            .collect();
        let entered =
            if queued.is_empty() { Ok(Vec::new()) } else { self.store.enqueue(&queued).await };
        let failed = entered.as_ref().err().map(ToString::to_string);
        let entered = entered.unwrap_or_default();
        for (run, fork) in made {
            if queue.is_none() || entered.contains(&fork) {
                forked(&run, &fork);
                report.runs.push(run);
                report.forks.push(fork);
            } else {
                let why = failed.as_deref().unwrap_or("it changed in the meantime");
                let why =
                    format!("forked as {fork}, which is not queued: {why}; repeat the command");
                report.failed.push((run, why));
            }
        }
        failed.is_none()
    }

    /// Lists all runs of a filter before the first is forked: forks may match it, too.
    pub(super) async fn rows_to_fork(
        &self,
        filter: &Filter,
        among: Option<&BTreeSet<RunId>>,
        report: &mut BulkReport,
    ) -> Result<Vec<RunRow>, SessionError> {
        let action = BulkAction::Fork { queue: None };
        let is_meant = |run: &RunId| among.is_none_or(|runs| runs.contains(run));
        let (mut rows, mut page) = (Vec::new(), Page::first(ROWS));
        loop {
            let listed = self.store.list(filter, &page).await?;
            for error in listed.damaged {
                if let Some(run) = error.run().filter(|&run| is_meant(run)).cloned() {
                    report.failed.push((run, error.to_string()));
                }
            }
            let meant = |row: &RunRow| is_meant(&row.id) && applies(&action, row);
            rows.extend(listed.runs.into_iter().filter(meant));
            match listed.next {
                Some(next) => page.after = Some(next),
                None => return Ok(rows),
            }
        }
    }

    /// Returns the forks that these runs already have at the entry where they would be forked. Of
    /// several forks of a run, one that is not untouched counts.
    async fn earlier_forks(
        &self,
        filter: &Filter,
        rows: &[RunRow],
    ) -> Result<BTreeMap<RunId, RunRow>, SessionError> {
        let mut earlier: BTreeMap<RunId, RunRow> = BTreeMap::new();
        let entries: BTreeMap<&RunId, Seq> =
            rows.iter().filter_map(|row| Some((&row.id, fork_entry(row)?))).collect();
        let Some(oldest) = rows.iter().map(RunRow::made_ms).min() else { return Ok(earlier) };
        // A fork has the agent, the chart and the goal of its run.
        let filter = Filter {
            scope: RunScope::Roots,
            agent: filter.agent.clone(),
            chart: filter.chart.clone(),
            text: filter.text.clone(),
            from_ms: Some(oldest.saturating_sub(CLOCKS_MS)),
            ..Filter::default()
        };
        let mut page = Page::first(ROWS);
        loop {
            let listed = self.store.list(&filter, &page).await?;
            for row in listed.runs {
                let Some((run, at)) = &row.forked else { continue };
                let is_known = earlier.get(run).is_some_and(|fork| !is_untouched(fork));
                if entries.get(run) == Some(at) && !is_known {
                    earlier.insert(run.clone(), row);
                }
            }
            match listed.next {
                Some(next) => page.after = Some(next),
                None => return Ok(earlier),
            }
        }
    }
}

/// Returns whether a fork is as it was made: open, never queued and never driven.
fn is_untouched(fork: &RunRow) -> bool {
    let shared = fork.forked.as_ref().map(|(_, at)| *at);
    fork.ended.is_none() && fork.owner.is_none() && fork.queue.is_none() && shared == Some(fork.seq)
}
