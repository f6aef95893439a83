//! The open run: a window over its items, the selected step, and what is asked of the worker.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use pointsman_kernel::id::{EffectId, Seq};
use pointsman_runtime::{
    inspect::RunMoment,
    observe::Question,
    store::{RunId, RunRow},
};

use super::{finding::FindState, items::ItemRow, model::WatchRequest, outline::ChartOutline};

/// Entries of a page of items.
pub(crate) const ENTRIES: u64 = 128;
/// Pages that are kept on each side of the selected one.
const KEPT: u64 = 6;

/// What the larger part of the screen shows of the selected step.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum StepPane {
    /// What happened, whole: texts, calls, results, verdicts.
    #[default]
    Story,
    /// Why the step went the way it did.
    Why,
    /// The chart at that moment.
    Chart,
    /// What was used of the budgets and of the certificate.
    Budgets,
    /// The agent's data.
    Data,
    /// The prompts that the step led to.
    Prompt,
}

impl StepPane {
    pub(crate) const ALL: [Self; 6] =
        [Self::Story, Self::Why, Self::Chart, Self::Budgets, Self::Data, Self::Prompt];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Story => "story",
            Self::Why => "why",
            Self::Chart => "chart",
            Self::Budgets => "budgets",
            Self::Data => "data",
            Self::Prompt => "prompt",
        }
    }
}

/// Everything known about a run besides its items.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts {
    /// Its row.
    pub(crate) row: RunRow,
    /// Its status, in words.
    pub(crate) standing: String,
    /// Its open questions.
    pub(crate) questions: Vec<Question>,
    /// Answers that no process has taken yet.
    pub(crate) answers: BTreeMap<EffectId, bool>,
    /// The folder that it works in.
    pub(crate) folder: Option<PathBuf>,
}

/// The open run.
#[derive(Debug)]
pub(crate) struct RunModel {
    pub(crate) id: RunId,
    pub(crate) facts: Option<Box<RunFacts>>,
    pub(crate) outline: ChartOutline,
    /// Why its steps cannot be shown, where they cannot.
    pub(crate) unreadable: Option<String>,
    /// Its last entry.
    pub(crate) head: Seq,
    pages: BTreeMap<u64, Vec<ItemRow>>,
    asked_pages: BTreeSet<u64>,
    /// The selected item, or the last one before it.
    pub(crate) selected: (Seq, u16),
    /// Whether the newest item is selected whenever there is one.
    pub(crate) follows: bool,
    pub(crate) moment: Option<Box<RunMoment>>,
    asked_moment: Option<Seq>,
    /// How far the fold has come on its way to the selected step.
    pub(crate) reading: Option<Seq>,
    pub(crate) pane: StepPane,
    /// Whether the pane has the whole screen.
    pub(crate) zoomed: bool,
    /// The first row of the pane; nothing for where it begins by itself.
    pub(crate) top: Option<usize>,
    pub(crate) finding: Option<FindState>,
}

impl RunModel {
    pub(crate) const fn new(id: RunId) -> Self {
        Self {
            id,
            facts: None,
            outline: ChartOutline { states: Vec::new() },
            unreadable: None,
            head: Seq(0),
            pages: BTreeMap::new(),
            asked_pages: BTreeSet::new(),
            selected: (Seq(0), 0),
            follows: true,
            moment: None,
            asked_moment: None,
            reading: None,
            pane: StepPane::Story,
            zoomed: false,
            top: None,
            finding: None,
        }
    }

    /// Takes the number of the last entry. A view that follows the run goes to it.
    pub(crate) fn reach(&mut self, head: Seq) {
        self.head = self.head.max(head);
        if self.follows {
            self.selected = (self.head, u16::MAX);
        }
    }

    /// Takes a page of items.
    pub(crate) fn take_page(&mut self, page: u64, items: Vec<ItemRow>) {
        self.asked_pages.remove(&page);
        if let Some(last) = items.last() {
            self.reach(last.id.0);
        }
        self.pages.insert(page, items);
    }

    /// Takes the run as it was at a step.
    pub(crate) fn take_moment(&mut self, moment: Box<RunMoment>) {
        if self.asked_moment == Some(moment.seq) {
            (self.asked_moment, self.reading) = (None, None);
        }
        // One that was left meanwhile is not shown.
        if moment.seq == self.selected.0 {
            self.moment = Some(moment);
        }
    }

    /// Forgets what was asked: the answer was an error.
    pub(crate) fn forget(&mut self) {
        self.asked_pages.clear();
        (self.asked_moment, self.reading) = (None, None);
    }

    /// Returns the loaded items, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &ItemRow> {
        self.pages.values().flatten()
    }

    /// Returns the items around the selected one, this many rows in all, and its place among them.
    pub(crate) fn around(&self, rows: usize) -> (Vec<&ItemRow>, usize) {
        let items: Vec<&ItemRow> = self.items().collect();
        let upto = items.partition_point(|row| row.id <= self.selected);
        let at = upto.saturating_sub(1);
        let last = items.len().saturating_sub(rows);
        let first = at.saturating_sub(rows / 2).min(last);
        let shown = items.into_iter().skip(first).take(rows).collect();
        (shown, at.saturating_sub(first))
    }

    /// Selects an item.
    pub(crate) fn select(&mut self, item: (Seq, u16)) {
        let seq = Seq(item.0.0.clamp(1, self.head.0.max(1)));
        self.follows = false;
        self.selected = (seq, item.1);
        self.top = None;
    }

    /// Follows the newest item.
    pub(crate) fn follow(&mut self) {
        self.follows = true;
        self.top = None;
        self.reach(self.head);
    }

    /// Moves the selection by this many items, as far as they are loaded.
    pub(crate) fn step_items(&mut self, by: isize) {
        let items: Vec<(Seq, u16)> = self.items().map(|row| row.id).collect();
        let at = items.partition_point(|id| *id <= self.selected).saturating_sub(1);
        let to = at.saturating_add_signed(by).min(items.len().saturating_sub(1));
        let Some(item) = items.get(to).copied() else { return };
        self.select(item);
        // At the very end the next one is wanted, too.
        self.follows = by > 0 && item.0 == self.head && to + 1 == items.len();
    }

    /// Moves the selection by this many entries.
    pub(crate) fn step_entries(&mut self, by: i64) {
        let to = self.selected.0.0.saturating_add_signed(by);
        if to > self.head.0 || (by > 0 && to == self.head.0) {
            self.follow();
        } else {
            self.select((Seq(to.max(1)), 0));
        }
    }

    /// Returns what has to be asked of the worker for what is shown now.
    pub(crate) fn wants(&mut self) -> Vec<WatchRequest> {
        let seq = self.selected.0.0;
        if self.head.0 == 0 || seq == 0 {
            return Vec::new();
        }
        let page_of = |seq: u64| seq.saturating_sub(1) / ENTRIES;
        let here = page_of(seq);
        self.pages.retain(|page, _| page.abs_diff(here) <= KEPT);
        let last = page_of(self.head.0);
        let near = [here, page_of(seq.saturating_sub(ENTRIES / 2)), page_of(seq + ENTRIES / 2)];
        let mut wants = Vec::new();
        for page in near.into_iter().filter(|page| *page <= last) {
            // The last page grows with the run.
            let upto = self.head.0.min((page + 1) * ENTRIES);
            let has = self.pages.get(&page).and_then(|items| items.last()).map(|item| item.id.0.0);
            if has != Some(upto) && self.asked_pages.insert(page) {
                wants.push(WatchRequest::Page { run: self.id.clone(), page });
            }
        }
        let shown = self.moment.as_ref().map(|moment| moment.seq);
        let seq = Seq(seq);
        if self.unreadable.is_none() && shown != Some(seq) && self.asked_moment != Some(seq) {
            self.asked_moment = Some(seq);
            wants.push(WatchRequest::Moment { run: self.id.clone(), seq });
        }
        wants
    }
}
