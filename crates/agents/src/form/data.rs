//! What a run of the form agent knows: its configuration, this page's fields, the cursor.
//!
//! Of pages that are done only their rows are kept, and no value unless the run is
//! configured to tell values.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::agent::{Fault, FaultClass, Forgone};
use serde::{Deserialize, Serialize};

use super::{
    config::{Config, OnOptional},
    field::Field,
    forward::{self, Control, Way},
    plan::{self, Why},
    report::{Origin, Row, Sent, Status},
    task::Source,
    text,
};
use crate::answer;

/// Fields of one page at most; the budget of the chart is no smaller.
const MAX_FIELDS: usize = 200;
/// Pictures that are kept at most.
const MAX_SHOTS: usize = 100;
/// Characters of a label, hint or complaint that are kept.
pub(super) const MAX_WORDS: usize = 1_000;

/// What a run knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Data {
    /// What the run was started with.
    pub config: Config,
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
    pub rows: Vec<Row>,
    /// The labels of the controls that were left to the person.
    pub handed_over: Vec<String>,
    /// Why they were.
    pub why_handed_over: Option<String>,
    /// What came of sending the form.
    pub sent: Option<Sent>,
    /// Pictures of the pages: artifacts.
    pub shots: Vec<String>,
    /// What stopped the run, without anything that was typed.
    pub trouble: Option<String>,
    origin: String,
    seen: Vec<String>,
    written: Written,
    complaint: Option<String>,
    skipping: bool,
}

/// The text for the field under the cursor, where the profile has none.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    /// The model has not been asked.
    #[default]
    NotYet,
    /// It wrote nothing that could be used.
    Nothing,
    /// It wrote this.
    Text(String),
}

/// What a person says when they let the agent act.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Activation {
    goal: Option<String>,
}

impl Data {
    pub(super) fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    pub(super) fn activate(&mut self, activation: Activation) {
        if let Some(goal) = activation.goal {
            self.config.goal = goal;
        }
    }

    /// Returns the page to open, before the first one is.
    pub(super) fn first_url(&self) -> Option<String> {
        self.config.url.clone().filter(|_| self.page == 0)
    }

    /// Takes a page that stands still. The person let the agent act on the site that they
    /// named, and on no other.
    pub(super) fn open_page(
        &mut self,
        fingerprint: &str,
        origin: &str,
        title: &str,
    ) -> Result<(), Fault> {
        if self.page == 0 {
            let named = self.config.url.as_deref();
            if named.is_some_and(|url| !forward::same_site(url, origin)) && !self.permits(origin) {
                let message = format!("the address led to `{origin}`, which is another site");
                return Err(answer::refused(FaultClass::Forbidden, message));
            }
            self.origin = text::cut(origin, MAX_WORDS);
        }
        self.page = self.page.saturating_add(1);
        self.title = text::cut(title, MAX_WORDS);
        self.seen.push(text::cut(fingerprint, MAX_WORDS));
        self.fields.clear();
        self.order.clear();
        self.start_field(0);
        Ok(())
    }

    /// Takes the fields of the page, and returns whether there are any.
    pub(super) fn take_fields(&mut self, fields: Vec<Field>) -> bool {
        self.fields.clear();
        for (at, mut field) in fields.into_iter().enumerate() {
            field.label = text::cut(&field.label, MAX_WORDS);
            field.context = text::cut(&field.context, MAX_WORDS);
            if at < MAX_FIELDS {
                self.fields.push(field);
            } else {
                self.row(Row::left(self.page, &field, Why::TooMany));
            }
        }
        !self.fields.is_empty()
    }

    /// Orders the page's fields as they stand, without those that are not ours to
    /// fill, and returns whether any is left.
    pub(super) fn plan(&mut self) -> bool {
        let mut rows = Vec::new();
        self.order.clear();
        for (at, field) in (0..).zip(&self.fields) {
            match plan::kept_out(field, &self.config) {
                None => {
                    self.order.push(at);
                    let known = plan::key(field, &self.config.profile).is_some();
                    let origin = if known { Origin::Profile } else { Origin::Model };
                    rows.push(Row::of(self.page, field, origin, Status::Planned));
                }
                Some(why) => rows.push(Row::left(self.page, field, why)),
            }
        }
        for row in rows {
            self.row(row);
        }
        self.start_field(0);
        !self.order.is_empty()
    }

    /// Goes to the next field, and returns whether there is one.
    pub(super) fn next_field(&mut self) -> bool {
        if !self.skipping {
            let status = match self.source() {
                Source::Nothing => Status::Left(Why::NoText),
                Source::Profile { .. } | Source::Written { .. } => Status::Filled,
            };
            self.note(status, None);
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

    /// Keeps what the page complains of, so that the next text can heed it.
    pub(super) fn complain(&mut self, kept: bool, complaint: Option<String>) {
        let unkept = || "the page did not keep what was put in".into();
        let said = complaint.map(|complaint| text::cut(complaint.trim(), MAX_WORDS));
        let said = said.or_else(|| (!kept).then(unkept));
        self.note(Status::Refused, said.clone());
        self.complaint = said;
        self.written = Written::NotYet;
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
        // Text that does not fit is no text: it must not be the text that routes.
        if matches!(self.written, Written::Text(_)) {
            self.written = Written::Nothing;
            return Ok(());
        }
        self.could_not(&answer::refused(FaultClass::Invalid, unfit))
    }

    /// Goes on without a field that cannot be filled, where the form does not want it.
    pub(super) fn could_not(&mut self, fault: &Fault) -> Result<(), Fault> {
        let required = self.field().is_none_or(|field| field.required);
        if required || self.config.optional == OnOptional::Error {
            return Err(answer::refused(fault.class, fault.message.clone()));
        }
        self.note(Status::Skipped, Some(text::cut(&fault.message, MAX_WORDS)));
        self.skipping = true;
        Ok(())
    }

    pub(super) const fn is_skipping(&self) -> bool {
        self.skipping
    }

    fn start_field(&mut self, cursor: u16) {
        self.cursor = cursor;
        self.written = Written::NotYet;
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
        self.written == Written::NotYet && self.known().is_none() && !self.skipping
    }

    /// Takes what the model wrote. Whether it fits is the host's to tell, who may be the
    /// only one to know it.
    pub(super) fn take_text(&mut self, written: &str) {
        let blank = written.trim().is_empty();
        self.written = if blank {
            Written::Nothing
        } else {
            Written::Text(text::cut(written, text::MAX_TYPED))
        };
    }

    /// Returns where the value for the field under the cursor is.
    pub(super) fn source(&self) -> Source {
        match (self.known(), &self.written) {
            (Some(key), _) => Source::Profile { file: self.config.profile.file.clone(), key },
            (None, Written::Text(text)) => Source::Written { text: text.clone() },
            (None, Written::NotYet | Written::Nothing) => Source::Nothing,
        }
    }

    /// Returns where the value is that should be in the field: none, if it was skipped.
    pub(super) fn typed(&self) -> Source {
        if self.skipping { Source::Nothing } else { self.source() }
    }

    pub(super) fn known(&self) -> Option<String> {
        plan::key(self.field()?, &self.config.profile)
    }

    pub(super) fn fingerprint(&self) -> String {
        self.seen.last().cloned().unwrap_or_default()
    }

    fn permits(&self, origin: &str) -> bool {
        origin == self.origin
            || self.config.sites.iter().any(|site| forward::same_site(site, origin))
    }

    /// Takes the page that a control led to, and returns whether it is one to go on with.
    pub(super) fn moved(
        &mut self,
        fingerprint: &str,
        origin: &str,
        complaint: Option<&str>,
    ) -> Result<bool, Fault> {
        if !origin.is_empty() && !self.permits(origin) {
            self.why_handed_over = Some(format!("the page led to another site, `{origin}`"));
            return Ok(false);
        }
        if self.seen.contains(&text::cut(fingerprint, MAX_WORDS)) {
            let says = complaint.map(|words| format!(", and says: {}", text::cut(words, 500)));
            let message = "the form came back after it was told to go on";
            let message = format!("{message}{}", says.unwrap_or_default());
            return Err(answer::refused(FaultClass::Invalid, message));
        }
        Ok(true)
    }

    /// Returns what to do with the controls of the page.
    pub(super) fn way<'a>(&self, controls: &'a [Control]) -> Way<'a> {
        let permitted = |origin: &str| self.permits(origin);
        forward::choose(controls, &permitted, self.misses_required())
    }

    /// Returns the required field that is not ours to fill, if there is one. A field for
    /// which the model had no text does not count: that would let its text route. A test
    /// that its reader is a person is wanted, whether the page says so or not.
    fn misses_required(&self) -> Option<&Field> {
        let left = |field: &&Field| {
            let why = plan::kept_out(field, &self.config);
            let wanted = field.required || why == Some(Why::Captcha);
            wanted && !field.holds_value && why.is_some_and(Why::misses)
        };
        self.fields.iter().find(left)
    }

    pub(super) fn hand_over(&mut self, controls: &[Control], why: String) {
        let labels = controls.iter().take(20).map(|control| text::cut(&control.label, MAX_WORDS));
        self.handed_over = labels.collect();
        self.why_handed_over = Some(why);
    }

    pub(super) fn about_to_send(&mut self, control: &Control) {
        self.sent = Some(Sent { label: text::cut(&control.label, 200), ..Sent::default() });
    }

    pub(super) fn sent(&mut self, ok: bool, says: &str) {
        let (says, shot) = text::picture(says);
        self.picture(shot);
        let sent = self.sent.get_or_insert_default();
        sent.ok = ok;
        sent.says = text::cut(&says, MAX_WORDS);
    }

    pub(super) fn picture(&mut self, shot: Option<String>) {
        if self.shots.len() < MAX_SHOTS {
            self.shots.extend(shot);
        }
    }

    pub(super) fn give_up(&mut self, why: &Forgone) {
        let reason = text::cut(&answer::reason(why), MAX_WORDS);
        if let (Forgone::Denied { .. }, Some(sent)) = (why, self.sent.take()) {
            self.handed_over = alloc::vec![sent.label];
            self.why_handed_over = Some(format!("the form was not sent: {reason}"));
            return;
        }
        let place = self
            .field()
            .map_or_else(String::new, |field| format!(", field `{}`", text::cut(&field.label, 80)));
        self.note(Status::Failed, Some(reason.clone()));
        self.trouble = Some(format!("page {}{place}: {reason}", self.page));
    }

    /// Returns what the page says of the last value, for the next text.
    pub(super) fn complaint(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}
