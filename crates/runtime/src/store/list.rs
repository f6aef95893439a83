//! Lists of runs: which, in what order, and how many at a time.

use std::cmp::Reverse;

use pointsman_kernel::chart::Disposition;
use serde::Deserialize;

use super::{QueuePlace, QueueStatus, RunId, RunRow, StoreError};

/// Which runs to list: those that match every condition.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// By their names.
    pub scope: RunScope,
    /// Their agent.
    pub agent: Option<Box<str>>,
    /// Their chart.
    pub chart: Option<Box<str>>,
    /// The state that they are in.
    pub state: Option<Box<str>>,
    /// Whether they have ended, and how.
    pub status: Option<StatusFilter>,
    /// Text in their goal, ignoring case.
    pub text: Option<Box<str>>,
    /// Made at this time or later, in milliseconds since 1970.
    pub from_ms: Option<u64>,
    /// Made before this time, in milliseconds since 1970.
    pub before_ms: Option<u64>,
    /// Their key in the queue.
    pub key: Option<Box<str>>,
    /// Their status in the queue.
    pub queue: Option<QueueStatus>,
    /// Not ended, and without an entry since this time, in milliseconds since 1970.
    pub idle_since_ms: Option<u64>,
}

/// Which runs are listed, by their names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum RunScope {
    /// All.
    #[default]
    All,
    /// Runs without a parent.
    Roots,
    /// The children of a run, and theirs.
    Descendants(RunId),
    /// Those whose ids begin with this.
    Prefix(Box<str>),
}

/// Whether a run has ended, and how.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StatusFilter {
    /// It has not ended.
    Open,
    /// It has ended.
    Ended,
    /// It has ended so.
    EndedAs(Disposition),
}

/// A part of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// The run that it follows, the newest first; without one it is the first page.
    pub after: Option<Cursor>,
    /// How many runs it has at most.
    pub limit: usize,
}

/// A position in the list of all runs. It stays valid when runs are added or removed.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Cursor {
    /// When the run was made, in milliseconds since 1970.
    pub made_ms: u64,
    /// The run.
    pub run: RunId,
}

/// The runs of a store, or a page of them.
#[derive(Debug, Default)]
pub struct RunList {
    /// The undamaged runs, newest first.
    pub runs: Vec<RunRow>,
    /// The damage: rows of runs, or the list itself. The other rows are intact.
    pub damaged: Vec<StoreError>,
    /// Where the next page begins, if there may be one.
    pub next: Option<Cursor>,
}

impl Page {
    /// Returns the first page.
    pub const fn first(limit: usize) -> Self {
        Self { after: None, limit }
    }
}

impl Filter {
    /// Returns whether a run is one of them.
    pub fn fits(&self, row: &RunRow) -> bool {
        let is =
            |wanted: &Option<Box<str>>, has: &str| wanted.as_deref().is_none_or(|it| it == has);
        let (id, made) = (row.id.as_str(), row.made_ms());
        let scope = match &self.scope {
            RunScope::All => true,
            RunScope::Roots => !row.id.is_child(),
            RunScope::Descendants(run) => {
                id.strip_prefix(run.as_str()).is_some_and(|rest| rest.starts_with('-'))
            }
            RunScope::Prefix(begin) => id.starts_with(&**begin),
        };
        let status = match self.status {
            None => true,
            Some(StatusFilter::Open) => row.ended.is_none(),
            Some(StatusFilter::Ended) => row.ended.is_some(),
            Some(StatusFilter::EndedAs(how)) => row.ended.as_deref() == Some(how.name()),
        };
        let says = |text: &str| row.goal.to_lowercase().contains(&text.to_lowercase());
        scope
            && status
            && is(&self.agent, &row.agent)
            && is(&self.chart, &row.chart)
            && is(&self.state, &row.state)
            && self.text.as_deref().is_none_or(says)
            && self.from_ms.is_none_or(|from| made >= from)
            && self.before_ms.is_none_or(|before| made < before)
            && (self.key.is_none() || is(&self.key, row.queue.as_ref().map_or("", |it| &it.key)))
            && self.queue.is_none_or(|status| status_of(row) == Some(status))
            && (self.idle_since_ms.is_none() || row.ended.is_none())
    }

    /// Returns whether a run whose last line this is has been idle for long enough: for stores.
    pub fn is_idle(&self, row: &RunRow, last: &str) -> bool {
        let Some(since) = self.idle_since_ms else { return true };
        let at = serde_json::from_str(last).map_or(0, |EntryTime { at }| at);
        row.created_ms.saturating_add(at) < since
    }

    /// Returns the page of these runs, given in any order.
    pub(super) fn page(&self, mut runs: Vec<RunRow>, page: &Page) -> RunList {
        let later = |row: &RunRow| page.after.as_ref().is_none_or(|after| row.cursor() < *after);
        runs.retain(|row| self.fits(row) && later(row));
        runs.sort_by_cached_key(|row| Reverse(row.cursor()));
        let more = runs.len() > page.limit;
        runs.truncate(page.limit);
        let next = runs.last().filter(|_| more).map(RunRow::cursor);
        RunList { runs, damaged: Vec::new(), next }
    }
}

fn status_of(row: &RunRow) -> Option<QueueStatus> {
    row.queue.as_ref().and_then(|QueuePlace { status, .. }| *status)
}

/// When an entry was written, in milliseconds since the first one.
#[derive(Deserialize)]
struct EntryTime {
    #[serde(default)]
    at: u64,
}
