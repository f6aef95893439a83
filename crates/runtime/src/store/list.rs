//! Lists of runs: which, in what order, and how many at a time.

use std::cmp::Reverse;

use pointsman_kernel::chart::Disposition;

use super::{RunId, RunRow, StoreError};

/// Which runs are listed: those that everything said here is true of.
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
    /// What their goal contains, in whatever case.
    pub text: Option<Box<str>>,
    /// Made at this time or later, in milliseconds since 1970.
    pub from_ms: Option<u64>,
    /// Made before this time, in milliseconds since 1970.
    pub before_ms: Option<u64>,
}

/// Which runs are listed, by their names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum RunScope {
    /// All.
    #[default]
    All,
    /// Those that are nobody's children.
    Roots,
    /// The children of a run, and theirs.
    Descendants(RunId),
    /// Those whose names begin so.
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

/// A place in the list of all runs. It stays where it is, whatever is added or removed.
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
    /// Those that are whole, the newest first.
    pub runs: Vec<RunRow>,
    /// What is damaged: the rows of runs, or the list itself. The others are as they were
    /// written all the same.
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
    }

    /// Returns the page of these runs, in whatever order they come.
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
