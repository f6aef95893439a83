//! What open runs wait for: a condition of the list of runs that only their journals tell.

use std::{collections::BTreeSet, sync::Arc};

use pointsman_kernel::{
    agents::Program,
    event::Pauser,
    run::{Core, ItemStatus},
};
use pointsman_runtime::{
    driver::{Loaded, listens},
    store::{Filter, Page, QueueStatus, RunId, RunList, RunRow, StatusFilter},
    timeline::Timeline,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Server, open_runs::Reached, problem::HttpProblem};

/// Open runs that one request looks at.
const MOST: usize = 2_000;
/// Rows that are read from the store at once.
const ROWS: usize = 200;

/// What a run waits for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitName {
    /// A person's answer to a question.
    Person,
    /// A message, or an event from outside.
    Message,
    /// A process that drives it.
    Worker,
    /// A time: its next attempt, or its start.
    Time,
}

impl WaitName {
    /// Returns what a run waits for after its last entry.
    fn of(row: &RunRow, program: &Program, loaded: &Loaded) -> Option<Self> {
        let core = loaded.run.core();
        if !loaded.questions().is_empty() {
            return Some(Self::Person);
        }
        // A worker and the end of a closed time lift pauses of their own.
        let is_held = |by: &Pauser| !matches!(by, Pauser::Worker | Pauser::Gate);
        if core.paused && (core.paused_by.is_empty() || core.paused_by.iter().any(is_held)) {
            return None;
        }
        if core.paused_by.contains(&Pauser::Gate) {
            return Some(Self::Time);
        }
        if listens(program, core) {
            return Some(Self::Message);
        }
        let status = row.queue.as_ref().and_then(|place| place.status);
        if status == Some(QueueStatus::Waiting) || backs_off(core) {
            return Some(Self::Time);
        }
        let driven = row.owner.is_some() || status == Some(QueueStatus::Leased);
        (!driven).then_some(Self::Worker)
    }
}

/// Returns whether nothing is in progress, and the next attempt waits for its time.
fn backs_off(core: &Core) -> bool {
    let is = |of: fn(&ItemStatus) -> bool| core.items.iter().any(|item| of(&item.doing));
    is(|it| matches!(it, ItemStatus::BackingOff { .. }))
        && !is(|it| matches!(it, ItemStatus::Working { .. }))
}

impl Server {
    /// Returns a page of the runs that match a filter and wait for something. It can have fewer runs than a page
    /// has, and still a next one.
    pub(super) async fn waiting_runs(
        &self,
        filter: Filter,
        mut page: Page,
        wanted: WaitName,
    ) -> Result<RunList, HttpProblem> {
        let mut found = RunList::default();
        if filter.status.is_some_and(|status| status != StatusFilter::Open) {
            return Ok(found);
        }
        let filter = Filter { status: Some(StatusFilter::Open), ..filter };
        let limit = std::mem::replace(&mut page.limit, ROWS);
        let mut seen = 0;
        loop {
            let listed = self.store().list(&filter, &page).await?;
            found.damaged.extend(listed.damaged);
            for row in listed.runs {
                seen += 1;
                let cursor = row.cursor();
                if self.waits_for(&row).await? == Some(wanted) {
                    found.runs.push(row);
                }
                // The rest is for the next request.
                if found.runs.len() >= limit || seen >= MOST {
                    found.next = Some(cursor);
                    return Ok(found);
                }
            }
            let Some(next) = listed.next else { return Ok(found) };
            page.after = Some(next);
        }
    }

    /// Returns the filter for open runs, and those of them that wait for something; with `among`, only of these.
    pub(super) async fn among_waiting(
        &self,
        filter: Filter,
        among: Option<BTreeSet<RunId>>,
        wanted: WaitName,
    ) -> Result<(Filter, Option<BTreeSet<RunId>>), HttpProblem> {
        let mut found = BTreeSet::new();
        if filter.status.is_some_and(|status| status != StatusFilter::Open) {
            return Ok((filter, Some(found)));
        }
        let filter = Filter { status: Some(StatusFilter::Open), ..filter };
        let mut page = Page::first(ROWS);
        loop {
            let listed = self.store().list(&filter, &page).await?;
            for row in listed.runs {
                let is_meant = among.as_ref().is_none_or(|runs| runs.contains(&row.id));
                if is_meant && self.waits_for(&row).await? == Some(wanted) {
                    found.insert(row.id);
                }
            }
            let Some(next) = listed.next else { return Ok((filter, Some(found))) };
            page.after = Some(next);
        }
    }

    /// Returns what a run waits for. One that cannot be read, or not yet, waits for nothing.
    async fn waits_for(&self, row: &RunRow) -> Result<Option<WaitName>, HttpProblem> {
        match row.queue.as_ref().and_then(|place| place.status) {
            Some(QueueStatus::Ready) => return Ok(Some(WaitName::Worker)),
            Some(QueueStatus::Quarantined) => return Ok(None),
            _ => {}
        }
        if self.is_far_from_snapshot(row).await? {
            return Ok(match self.reach(&row.id, row.seq.next()).await {
                Ok(Reached::Ready(at)) => WaitName::of(row, at.program(), at.loaded()),
                Ok(Reached::Reading { .. }) | Err(_) => None,
            });
        }
        let store = Arc::clone(self.store());
        let Ok(now) = Timeline::open(self.agents(), store, &row.id, row.seq).await else {
            return Ok(None);
        };
        let waits = now.program().zip(now.loaded());
        Ok(waits.and_then(|(program, loaded)| WaitName::of(row, program, loaded)))
    }
}
