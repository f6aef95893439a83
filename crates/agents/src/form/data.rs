//! What a run of the form agent knows: the profile, this page's fields, the cursor.
//!
//! Of pages that are done only ids and counts are kept, never what was typed.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use pointsman_kernel::agent::Forgone;
use serde::{Deserialize, Serialize};

use super::{
    field::{Field, Left, LeftWhy},
    forward::Control,
    text,
};
use crate::answer;

/// Fields of one page at most; the budget of the chart is no smaller.
const MAX_FIELDS: usize = 200;
/// Fields that are reported as left out at most, over all pages.
const MAX_LEFT: usize = 500;
/// Characters of a label, hint or complaint that are kept.
const MAX_WORDS: usize = 1_000;

/// What a run knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Data {
    /// What the form is filled for, in the person's words.
    pub goal: String,
    /// Values by label: typed as they are, without a model.
    pub profile: BTreeMap<String, String>,
    /// The page, counted from 1.
    pub page: u32,
    /// The page's fields.
    pub fields: Vec<Field>,
    /// The fields to fill, by their place in `fields`; fixed while the page is filled.
    pub order: Vec<u16>,
    /// The field that is being filled, by its place in `order`.
    pub cursor: u16,
    /// Fields filled so far.
    pub filled: u32,
    /// Fields that were left to the person, and why.
    pub left: Vec<Left>,
    /// The labels of the controls that were left to the person.
    pub handed_over: Vec<String>,
    /// What stopped the run, without anything that was typed.
    pub trouble: Option<String>,
    origin: String,
    seen: Vec<String>,
    written: Written,
    complaint: Option<String>,
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

/// What a run is configured with.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    goal: String,
    profile: BTreeMap<String, String>,
}

/// What a person says when they let the agent act.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Activation {
    goal: Option<String>,
}

impl Data {
    pub(super) fn new(config: Config) -> Self {
        Self { goal: config.goal, profile: config.profile, ..Self::default() }
    }

    pub(super) fn activate(&mut self, activation: Activation) {
        if let Some(goal) = activation.goal {
            self.goal = goal;
        }
    }

    pub(super) fn open_page(&mut self, fingerprint: String, origin: String) {
        // The person let the agent act on the first page's site, and on no other.
        if self.page == 0 {
            self.origin = origin;
        }
        self.page = self.page.saturating_add(1);
        self.seen.push(text::cut(&fingerprint, MAX_WORDS));
        self.fields.clear();
        self.order.clear();
        self.start_field(0);
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
                self.leave(field.id, LeftWhy::TooMany);
            }
        }
        !self.fields.is_empty()
    }

    /// Orders the page's fields as they stand, without those that are not ours to
    /// fill, and returns whether any is left.
    pub(super) fn plan(&mut self) -> bool {
        let mut left = Vec::new();
        self.order.clear();
        for (at, field) in (0..).zip(&self.fields) {
            match field.kept_out() {
                None => self.order.push(at),
                Some(why) => left.push((field.id.clone(), why)),
            }
        }
        for (field, why) in left {
            self.leave(field, why);
        }
        self.start_field(0);
        !self.order.is_empty()
    }

    /// Goes to the next field, and returns whether there is one.
    pub(super) fn next_field(&mut self) -> bool {
        if self.value().is_some() {
            self.filled = self.filled.saturating_add(1);
        } else {
            self.leave(self.field_id(), LeftWhy::NoText);
        }
        let next = self.cursor.saturating_add(1);
        let more = usize::from(next) < self.order.len();
        if more {
            self.start_field(next);
        }
        more
    }

    /// Keeps what the page complains of, so that the next text can heed it.
    pub(super) fn complain(&mut self, complaint: Option<String>) {
        self.complaint = complaint.map(|complaint| text::cut(&complaint, MAX_WORDS));
        self.written = Written::NotYet;
    }

    fn start_field(&mut self, cursor: u16) {
        self.cursor = cursor;
        self.written = Written::NotYet;
        self.complaint = None;
    }

    /// Returns the field under the cursor.
    pub fn field(&self) -> Option<&Field> {
        let at = self.order.get(usize::from(self.cursor))?;
        self.fields.get(usize::from(*at))
    }

    pub(super) fn field_id(&self) -> String {
        self.field().map(|field| field.id.clone()).unwrap_or_default()
    }

    /// Returns whether the model must be asked before anything is typed.
    pub(super) fn wants_text(&self) -> bool {
        self.known().is_none() && self.written == Written::NotYet
    }

    /// Takes what the model wrote. Text that cannot be used is no text.
    pub(super) fn take_text(&mut self, written: &str) {
        let usable = self.field().and_then(|field| text::usable(field, written));
        self.written = usable.map_or(Written::Nothing, Written::Text);
    }

    /// Returns what belongs into the field under the cursor.
    pub(super) fn value(&self) -> Option<String> {
        match &self.written {
            Written::Text(text) => Some(text.clone()),
            Written::NotYet | Written::Nothing => self.known(),
        }
    }

    fn known(&self) -> Option<String> {
        let field = self.field()?;
        let named = |(label, _): &(&String, &String)| text::same(label, &field.label);
        let (_, value) = self.profile.iter().find(named)?;
        text::usable(field, value)
    }

    pub(super) fn has_seen(&self, fingerprint: &str) -> bool {
        let fingerprint = text::cut(fingerprint, MAX_WORDS);
        self.seen.contains(&fingerprint)
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns whether the form wants a field that is not ours to fill. A field for
    /// which the model had no text does not count: that would let its text route.
    pub(super) fn misses_required(&self) -> bool {
        let left = |field: &Field| field.kept_out().is_some_and(|why| why != LeftWhy::HoldsValue);
        self.fields.iter().any(|field| field.required && !field.holds_value && left(field))
    }

    pub(super) fn hand_over(&mut self, controls: &[Control]) {
        let labels = controls.iter().take(20).map(|control| text::cut(&control.label, MAX_WORDS));
        self.handed_over = labels.collect();
    }

    pub(super) fn give_up(&mut self, why: &Forgone) {
        let place = format!("page {}, field `{}`", self.page, self.field_id());
        self.trouble = Some(format!("{place}: {}", text::cut(&answer::reason(why), MAX_WORDS)));
    }

    fn leave(&mut self, field: String, why: LeftWhy) {
        if self.left.len() < MAX_LEFT {
            self.left.push(Left { page: self.page, field, why });
        }
    }

    /// Renders the question to the model: the field, and nothing about the route.
    pub fn prompt(&self) -> String {
        self.field().map_or_else(String::new, |field| {
            text::prompt(&self.goal, field, self.complaint.as_deref())
        })
    }
}
