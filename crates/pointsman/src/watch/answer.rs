//! The answer to an open question: all of the question, a reason, and when a yes counts.

use std::path::Path;

use pointsman_kernel::id::EffectId;
use pointsman_runtime::{observe::Question, store::RunId};

use crate::{dialogue, line::Line};

/// A question that is about to be answered.
#[derive(Clone, Debug)]
pub(crate) struct PendingAnswer {
    /// The run.
    pub(crate) run: RunId,
    /// The question.
    pub(crate) question: Question,
    /// Whether the answer is yes.
    pub(crate) granted: bool,
    /// The reason, as far as it is typed.
    pub(crate) reason: String,
    /// All that the question is about.
    pub(crate) about: Vec<Line>,
    /// The first row that is shown of it.
    pub(crate) top: usize,
    /// Whether all of it was on the screen.
    pub(crate) read: bool,
}

impl PendingAnswer {
    pub(crate) fn new(
        run: RunId,
        question: Question,
        granted: bool,
        folder: Option<&Path>,
    ) -> Self {
        let about = dialogue::about(&question, folder).into_iter();
        let about = about.skip_while(|line| line.text().is_empty()).collect();
        Self { run, question, granted, reason: String::new(), about, top: 0, read: false }
    }

    /// Returns the question's number.
    pub(crate) const fn effect(&self) -> EffectId {
        self.question.effect
    }

    /// Returns what it is about in rows of this many columns.
    pub(crate) fn rows(&self, columns: usize) -> Vec<Line> {
        self.about.iter().flat_map(|line| line.wrapped(columns)).collect()
    }

    /// Scrolls, within what there is.
    pub(crate) fn scroll(&mut self, rows: isize, columns: usize, room: usize) {
        let last = self.rows(columns).len().saturating_sub(room);
        self.top = self.top.saturating_add_signed(rows).min(last);
        self.see(columns, room);
    }

    /// Notes whether the end is on the screen.
    pub(crate) fn see(&mut self, columns: usize, room: usize) {
        self.read = self.read || room > 0 && self.top + room >= self.rows(columns).len();
    }
}
