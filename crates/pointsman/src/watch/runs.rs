//! The list of runs: which are shown, in what order, and which is selected.

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::store::{Filter, RunId, RunRow, StatusFilter};

use crate::standing::RunStanding;

/// Runs that are listed at once; more come when the selection nears the end.
pub(crate) const PAGE: usize = 500;

/// A run of the list.
#[derive(Clone, Debug)]
pub(crate) struct ListedRun {
    /// Its row.
    pub(crate) row: RunRow,
    /// Its status, once that is known.
    pub(crate) standing: Option<RunStanding>,
}

impl ListedRun {
    /// Returns whether it waits for a person.
    pub(crate) fn waits(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.waits)
    }
}

/// The list.
#[derive(Debug, Default)]
pub(crate) struct RunsModel {
    /// The filter, as it was typed.
    pub(crate) typed: String,
    /// The runs, in the order in which they are shown.
    pub(crate) rows: Vec<ListedRun>,
    /// The run that a person has selected; nothing for the first one.
    pub(crate) selected: Option<RunId>,
    /// Whether there are more.
    pub(crate) more: bool,
    /// How many runs have damaged rows; nothing before the list was read.
    pub(crate) damaged: Option<usize>,
    /// How many are asked for.
    pub(crate) limit: usize,
    /// Whether a list is on its way.
    pub(crate) asked: bool,
    /// When it was asked for last.
    pub(crate) asked_ms: u64,
    /// Whether something changed since.
    pub(crate) changed: bool,
}

/// What is asked of the store, and of the rows that it returns.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct RunsFilter {
    /// For the store.
    pub(crate) store: Filter,
    /// Whether only runs that wait for a person are wanted.
    pub(crate) waiting: bool,
}

impl RunsModel {
    /// Takes a list, and puts the runs that wait for a person first.
    pub(crate) fn take(&mut self, rows: Vec<ListedRun>, more: bool, damaged: usize) {
        (self.rows, self.more, self.damaged) = (rows, more, Some(damaged));
        self.asked = false;
        self.arrange();
    }

    /// Takes how some runs stand.
    pub(crate) fn stand(&mut self, standings: Vec<(RunRow, RunStanding)>) {
        for (row, standing) in standings {
            let found = self.rows.iter_mut().find(|it| it.row.id == row.id);
            if let Some(found) = found.filter(|it| it.row.seq == row.seq) {
                found.standing = Some(standing);
            }
        }
        self.arrange();
    }

    fn arrange(&mut self) {
        if self.filter().is_ok_and(|filter| filter.waiting) {
            self.rows.retain(|run| run.standing.is_none() || run.waits());
        }
        self.rows.sort_by_cached_key(|run| {
            (std::cmp::Reverse(run.waits()), std::cmp::Reverse(run.row.cursor()))
        });
    }

    /// Returns the place of the selected run; the first one where it is not listed.
    pub(crate) fn at(&self) -> usize {
        let selected = self.selected.as_ref();
        self.rows.iter().position(|run| Some(&run.row.id) == selected).unwrap_or(0)
    }

    /// Returns the selected run.
    pub(crate) fn current(&self) -> Option<&RunId> {
        self.rows.get(self.at()).map(|run| &run.row.id)
    }

    /// Moves the selection by this many rows. Near the end, more runs are wanted.
    pub(crate) fn step(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        let at = self.at().saturating_add_signed(rows).min(last);
        self.selected = self.rows.get(at).map(|run| run.row.id.clone());
        if self.more && at + PAGE / 10 > last {
            self.limit = self.rows.len() + PAGE;
            self.changed = true;
        }
    }

    /// Returns what the typed filter means, or which of its words means nothing.
    pub(crate) fn filter(&self) -> Result<RunsFilter, String> {
        let mut filter = RunsFilter::default();
        let mut words = Vec::new();
        for word in self.typed.split_whitespace() {
            let Some((key, value)) = word.split_once(':') else {
                words.push(word);
                continue;
            };
            let (store, value) = (&mut filter.store, Some(value.into()));
            match key {
                "agent" => store.agent = value,
                "chart" => store.chart = value,
                "state" => store.state = value,
                "is" => status(&mut filter, word)?,
                _ => words.push(word),
            }
        }
        if !words.is_empty() {
            filter.store.text = Some(words.join(" ").into());
        }
        Ok(filter)
    }
}

fn status(filter: &mut RunsFilter, word: &str) -> Result<(), String> {
    const ENDS: [Disposition; 6] = [
        Disposition::Succeeded,
        Disposition::Failed,
        Disposition::Cancelled,
        Disposition::Budget,
        Disposition::Stuck,
        Disposition::Denied,
    ];
    let wanted = word.trim_start_matches("is:");
    let ended = ENDS.into_iter().find(|it| it.name() == wanted);
    filter.store.status = Some(match (wanted, ended) {
        (_, Some(how)) => StatusFilter::EndedAs(how),
        ("open", _) => StatusFilter::Open,
        ("ended", _) => StatusFilter::Ended,
        ("waiting", _) => {
            filter.waiting = true;
            StatusFilter::Open
        }
        _ => {
            let ends = ENDS.map(Disposition::name).join(", ");
            return Err(format!(
                "`{word}`: write is:waiting, is:open, is:ended, or is: with one of {ends}"
            ));
        }
    });
    Ok(())
}
