//! What a run of the form agent knows: its configuration, this page's fields, the cursor.
//!
//! Of pages that are done only their rows are kept, and no value unless the run is
//! configured to tell values.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::agent::{Fault, FaultClass};
use serde::{Deserialize, Serialize};

use super::{
    config::{FormConfig, OnOptional},
    ending::Ending,
    field::Field,
    plan::{self, SkipReason},
    report::{FieldRow, Status, Submission},
    task::Source,
    text,
};
use crate::answer;

/// Characters of a label, hint or complaint that are kept.
pub(super) const MAX_WORDS: usize = 1_000;

/// What a run knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct FormData {
    /// What the run was started with.
    pub config: FormConfig,
    /// The page, counted from 1.
    pub page: u32,
    /// What the page is called.
    pub title: String,
    /// The page's fields.
    pub fields: Vec<Field>,
    /// The fields to fill, by their place in `fields`; fixed while the page is filled.
    pub order: Vec<u16>,
    /// The field that is being filled, by its place in `order`.
    pub cursor: u16,
    /// What became of every field so far.
    pub rows: Vec<FieldRow>,
    /// The labels of the controls that were left to the person.
    pub handed_over: Vec<String>,
    /// Why they were.
    pub why_handed_over: Option<String>,
    /// The result of sending the form.
    pub sent: Option<Submission>,
    /// Pictures of the pages: paths of files.
    pub shots: Vec<String>,
    /// What stopped the run, without anything that was typed.
    pub trouble: Option<String>,
    /// How the run ended, where the form was not sent.
    pub ending: Option<Ending>,
    /// What the person may do next.
    pub next: Option<String>,
    /// The labels of the controls that were pressed to reach the next page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pressed: Vec<String>,
    /// The label of the control that is being pressed to reach the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressing: Option<String>,
    /// Whether the page was replaced by another document although nothing was pressed.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub by_itself: bool,
    /// Which document the page is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) document: String,
    /// The site on which the run may act: that of the first page.
    pub(super) origin: String,
    /// The site that the page is on.
    pub(super) site: String,
    /// The HTTP status of the page.
    pub(super) status: Option<u16>,
    /// What every page was known by that the run has seen.
    pub(super) seen: Vec<String>,
    /// Whether the page is read again, because it has shown other fields since.
    pub(super) again: bool,
    /// What has changed since a person was asked about this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<String>,
    /// What there is to say about whole pages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) remarks: Vec<String>,
    written: FreeText,
    remark: Option<String>,
    complaint: Option<String>,
    skipping: bool,
}

/// The text for the field under the cursor, where the profile has none.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum FreeText {
    /// The model has not been asked.
    #[default]
    NotYet,
    /// It wrote nothing that could be used, for this reason.
    Nothing(Option<String>),
    /// It wrote this.
    Text(String),
}

/// What a person says when they let the agent act.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Activation {
    goal: Option<String>,
}

impl FormData {
    pub(super) fn new(config: FormConfig) -> Self {
        Self { config, ..Self::default() }
    }

    pub(super) fn activate(&mut self, activation: Activation) {
        if let Some(goal) = activation.goal {
            self.config.goal = goal;
        }
    }

    /// Goes to the next field, and returns whether there is one.
    pub(super) fn next_field(&mut self) -> bool {
        if !self.skipping {
            let said = self.remark.take();
            match (self.source(), &self.written) {
                (Source::Nothing, FreeText::Nothing(Some(why))) => {
                    let why = why.clone();
                    self.note(Status::Left(SkipReason::NoText), Some(why));
                }
                (Source::Nothing, _) => self.note(Status::Left(SkipReason::NoText), said),
                (Source::Profile { .. } | Source::Written { .. }, _) => {
                    self.note(Status::Filled, said);
                }
            }
        }
        let next = self.cursor.saturating_add(1);
        let more = usize::from(next) < self.order.len();
        if more {
            self.start_field(next);
        } else {
            // Nothing is under the cursor while the way on is sought.
            self.cursor = next;
            self.skipping = false;
        }
        more
    }

    /// Keeps the page's complaint, so that the next text can take it into account.
    pub(super) fn complain(&mut self, kept: bool, complaint: Option<String>) {
        let unkept = || "the page did not keep the value".into();
        let said = complaint.map(|complaint| text::cut(complaint.trim(), MAX_WORDS));
        let said = said.or_else(|| (!kept).then(unkept));
        self.note(Status::Refused, said.clone());
        self.complaint = said;
        self.written = FreeText::NotYet;
    }

    /// Takes that a value was put in, or does not fit.
    pub(super) fn inserted(
        &mut self,
        value: Option<String>,
        unfit: Option<String>,
    ) -> Result<(), Fault> {
        let Some(unfit) = unfit else {
            let value = value.filter(|_| !self.config.redact);
            self.put_in(value);
            return Ok(());
        };
        // A text that does not fit counts as none: it must not route.
        if matches!(self.written, FreeText::Text(_)) {
            self.written = FreeText::Nothing(Some(text::cut(&unfit, MAX_WORDS)));
            return Ok(());
        }
        self.could_not(&answer::refused(FaultClass::Invalid, unfit))
    }

    /// Skips a field that cannot be filled, if the form does not require it.
    pub(super) fn could_not(&mut self, fault: &Fault) -> Result<(), Fault> {
        let required = self.field().is_none_or(|field| field.required);
        if required || self.config.optional == OnOptional::Error {
            return Err(answer::refused(fault.class, fault.message.clone()));
        }
        let (why, shot) = text::picture(&fault.message);
        self.picture(shot);
        self.note(Status::Skipped, Some(text::cut(&why, MAX_WORDS)));
        self.skipping = true;
        Ok(())
    }

    /// Skips a field that the page has disabled. Its row shows that the form must not be sent.
    pub(super) fn switched_off(&mut self) {
        let said = self.remark.take();
        self.note(Status::Left(SkipReason::SwitchedOff), said);
        self.skipping = true;
    }

    /// Keeps a remark about the field that is not a complaint.
    pub(super) fn remark(&mut self, said: Option<String>) {
        let Some(said) = said.map(|said| text::cut(said.trim(), MAX_WORDS)) else { return };
        let before = self.remark.take().filter(|before| *before != said);
        let all = before.map_or_else(|| said.clone(), |before| format!("{before}; {said}"));
        self.remark = Some(text::cut(&all, MAX_WORDS));
    }

    pub(super) const fn is_skipping(&self) -> bool {
        self.skipping
    }

    pub(super) fn start_field(&mut self, cursor: u16) {
        self.cursor = cursor;
        self.written = FreeText::NotYet;
        self.remark = None;
        self.complaint = None;
        self.skipping = false;
    }

    /// Returns the field under the cursor.
    pub fn field(&self) -> Option<&Field> {
        let at = self.order.get(usize::from(self.cursor))?;
        self.fields.get(usize::from(*at))
    }

    /// Returns the field under the cursor, for an order.
    pub(super) fn here(&self) -> Box<Field> {
        Box::new(self.field().cloned().unwrap_or_default())
    }

    /// Returns whether the model must be asked before anything is typed.
    pub(super) fn wants_text(&self) -> bool {
        self.written == FreeText::NotYet && self.known().is_none() && !self.skipping
    }

    /// Takes the model's text. The host decides whether it fits, because only the host may know
    /// the text. Without a text, the fault says why.
    pub(super) fn take_text(&mut self, written: &str, fault: Option<&str>) {
        let blank = written.trim().is_empty();
        self.written = if blank {
            FreeText::Nothing(fault.map(|why| text::cut(why, MAX_WORDS)))
        } else {
            FreeText::Text(text::cut(written, text::MAX_TYPED))
        };
    }

    /// Returns where the value for the field under the cursor is.
    pub(super) fn source(&self) -> Source {
        match (self.known(), &self.written) {
            (Some(key), _) => Source::Profile { file: self.config.profile.file.clone(), key },
            (None, FreeText::Text(text)) => Source::Written { text: text.clone() },
            (None, FreeText::NotYet | FreeText::Nothing(_)) => Source::Nothing,
        }
    }

    /// Returns where the value is that should be in the field: none, if it was skipped.
    pub(super) fn typed(&self) -> Source {
        if self.skipping { Source::Nothing } else { self.source() }
    }

    pub(super) fn known(&self) -> Option<String> {
        plan::key(self.field()?, &self.config.profile)
    }

    /// Returns what the page says about the last value, for the next text.
    pub(super) fn complaint(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}
