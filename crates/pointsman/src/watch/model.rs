//! Everything that is shown, and how messages change it. Pure: what is to be read is returned as
//! requests.

use crossterm::event::KeyEvent;
use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    inspect::RunMoment,
    observe::Question,
    store::{Change, RunId, RunRow},
};

use super::{
    answer::PendingAnswer,
    items::ItemRow,
    open_run::{RunFacts, RunModel},
    outline::ChartOutline,
    runs::{ListedRun, PAGE, RunsFilter, RunsModel},
};
use crate::{line::Ink, standing::RunStanding};

/// Milliseconds after which a list that has changed is read again.
const AGAIN_MS: u64 = 500;

/// Something happened.
#[derive(Debug)]
pub(crate) enum WatchMessage {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text was pasted.
    Pasted(String),
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// Time has passed: milliseconds since 1970.
    Tick(u64),
    /// The system asks the program to end.
    Leave,
    /// The store has changed.
    Changed(Change),
    /// The list.
    Listed {
        /// The runs.
        rows: Vec<ListedRun>,
        /// Whether there are more.
        more: bool,
        /// How many are damaged.
        damaged: usize,
    },
    /// How some runs stand.
    Standings(Vec<(RunRow, RunStanding)>),
    /// A run was opened, or looked at again.
    Facts {
        /// Everything known about it.
        facts: Box<RunFacts>,
        /// Its chart, where it was opened.
        outline: Option<ChartOutline>,
        /// Why its steps cannot be shown.
        unreadable: Option<String>,
    },
    /// Items of a run.
    Page {
        /// The run.
        run: RunId,
        /// Which page.
        page: u64,
        /// Its items.
        items: Vec<ItemRow>,
    },
    /// The run at a step.
    Moment {
        /// The run.
        run: RunId,
        /// How it was.
        moment: Box<RunMoment>,
    },
    /// The fold is on its way.
    Reading {
        /// The run.
        run: RunId,
        /// How far it is.
        at: Seq,
    },
    /// Hits of a search.
    Found {
        /// The run.
        run: RunId,
        /// The text.
        text: String,
        /// The hits since the last message.
        hits: Vec<(Seq, u16)>,
        /// The last entry that was searched.
        read: Seq,
        /// Whether that is all, so far.
        done: bool,
    },
    /// What became of an answer.
    Said {
        /// How that looks.
        ink: Ink,
        /// What it is, in words.
        text: String,
    },
    /// Something could not be read.
    Failed(String),
}

/// What the worker is to do.
#[derive(Clone, Debug)]
pub(crate) enum WatchRequest {
    /// List runs.
    List {
        /// Which.
        filter: RunsFilter,
        /// How many.
        limit: usize,
    },
    /// Open a run.
    Open(RunId),
    /// Look again at the status of the open run.
    Facts(RunId),
    /// Read a page of items.
    Page {
        /// The run.
        run: RunId,
        /// Which page.
        page: u64,
    },
    /// Read the run at a step.
    Moment {
        /// The run.
        run: RunId,
        /// The step.
        seq: Seq,
    },
    /// Search all items; an empty text ends the search.
    Find {
        /// The run.
        run: RunId,
        /// The text.
        text: String,
    },
    /// Answer a question.
    Answer {
        /// The run.
        run: RunId,
        /// The question.
        question: Box<Question>,
        /// Whether the answer is yes.
        granted: bool,
        /// The reason, if one was typed.
        reason: Option<String>,
    },
}

/// What lies over the screen.
#[derive(Clone, Debug)]
pub(crate) enum WatchDialog {
    /// The keys, from this row on.
    Help(usize),
    /// A filter of the list is typed.
    Filter(String),
    /// A text to find is typed.
    Find(String),
    /// A question is answered.
    Answer(Box<PendingAnswer>),
}

/// Everything that is shown.
#[derive(Debug)]
pub(crate) struct WatchModel {
    /// Where the runs are, for people.
    pub(crate) store: String,
    pub(crate) runs: RunsModel,
    pub(crate) open: Option<RunModel>,
    pub(crate) over: Option<WatchDialog>,
    /// What is said in the last row, until the next key.
    pub(crate) notice: Option<(Ink, String)>,
    pub(crate) now_ms: u64,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    /// Whether to leave.
    pub(crate) is_over: bool,
}

impl WatchModel {
    /// Begins with the list, or with a run; returns what to read first.
    pub(crate) fn begin(
        store: &str,
        size: (u16, u16),
        now_ms: u64,
        run: Option<RunId>,
    ) -> (Self, Vec<WatchRequest>) {
        let runs = RunsModel { limit: PAGE, selected: run.clone(), ..RunsModel::default() };
        let store = store.into();
        let mut model = Self {
            store,
            runs,
            open: None,
            over: None,
            notice: None,
            now_ms,
            size,
            is_over: false,
        };
        let mut requests = run.map(|run| model.open(run)).unwrap_or_default();
        requests.extend(model.list());
        (model, requests)
    }

    /// Takes a message, and returns what to read.
    pub(crate) fn update(&mut self, message: WatchMessage) -> Vec<WatchRequest> {
        let mut requests = match message {
            WatchMessage::Key(key) => self.key(key),
            WatchMessage::Pasted(text) => self.paste(&text),
            WatchMessage::Resized(columns, rows) => {
                self.size = (columns, rows);
                Vec::new()
            }
            WatchMessage::Tick(now_ms) => {
                self.now_ms = now_ms;
                let is_due = now_ms.saturating_sub(self.runs.asked_ms) >= AGAIN_MS;
                let lists = self.runs.changed && !self.runs.asked && is_due;
                if lists { self.list() } else { Vec::new() }
            }
            WatchMessage::Leave => {
                self.is_over = true;
                Vec::new()
            }
            WatchMessage::Changed(change) => self.changed(&change),
            told => {
                self.told(told);
                Vec::new()
            }
        };
        self.see();
        requests.extend(self.open.as_mut().map(RunModel::wants).unwrap_or_default());
        requests
    }

    /// Takes what the worker has read.
    fn told(&mut self, message: WatchMessage) {
        match message {
            WatchMessage::Listed { rows, more, damaged } => self.runs.take(rows, more, damaged),
            WatchMessage::Standings(standings) => self.runs.stand(standings),
            WatchMessage::Said { ink, text } => self.notice = Some((ink, text)),
            WatchMessage::Failed(why) => {
                self.notice = Some((Ink::Bad, why));
                self.runs.asked = false;
                self.open.iter_mut().for_each(RunModel::forget);
            }
            WatchMessage::Facts { facts, outline, unreadable } => {
                let Some(open) = self.open.as_mut().filter(|it| it.id == facts.row.id) else {
                    return;
                };
                open.reach(facts.row.seq);
                if let Some(outline) = outline {
                    open.outline = outline;
                    open.unreadable = unreadable;
                }
                open.facts = Some(facts);
            }
            WatchMessage::Page { run, page, items } => {
                if let Some(open) = self.of(&run) {
                    open.take_page(page, items);
                }
            }
            WatchMessage::Moment { run, moment } => {
                if let Some(open) = self.of(&run) {
                    open.take_moment(moment);
                }
            }
            WatchMessage::Reading { run, at } => {
                if let Some(open) = self.of(&run) {
                    open.reading = Some(at);
                }
            }
            WatchMessage::Found { run, text, hits, read, done } => {
                let Some(open) = self.of(&run) else { return };
                let from = open.selected;
                let finding = open.finding.as_mut().filter(|it| it.text == text);
                if let Some(hit) = finding.and_then(|it| it.add(hits, read, done, from)) {
                    open.select(hit);
                }
            }
            _ => {}
        }
    }

    fn of(&mut self, run: &RunId) -> Option<&mut RunModel> {
        self.open.as_mut().filter(|open| open.id == *run)
    }

    /// Takes a hint that something was written.
    fn changed(&mut self, change: &Change) -> Vec<WatchRequest> {
        self.runs.changed = true;
        let Some(open) = &mut self.open else { return Vec::new() };
        match change {
            Change::Entry { run, seq } if *run == open.id => open.reach(*seq),
            Change::Message { run } if *run == open.id => {}
            Change::Lagged => {}
            _ => return Vec::new(),
        }
        vec![WatchRequest::Facts(open.id.clone())]
    }

    /// Asks for the list.
    pub(crate) fn list(&mut self) -> Vec<WatchRequest> {
        match self.runs.filter() {
            Ok(filter) => {
                (self.runs.asked, self.runs.changed) = (true, false);
                self.runs.asked_ms = self.now_ms;
                vec![WatchRequest::List { filter, limit: self.runs.limit }]
            }
            Err(why) => {
                self.notice = Some((Ink::Bad, why));
                Vec::new()
            }
        }
    }

    /// Opens a run.
    pub(crate) fn open(&mut self, run: RunId) -> Vec<WatchRequest> {
        self.open = Some(RunModel::new(run.clone()));
        vec![WatchRequest::Open(run)]
    }

    /// Notes what the person has seen of a question.
    fn see(&mut self) {
        let room = super::view::answer_room(self.size);
        if let Some(WatchDialog::Answer(answer)) = &mut self.over {
            answer.see(room.0, room.1);
        }
    }
}
