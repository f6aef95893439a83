//! What became of every field, and how a run is told of at its end.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{
    data::{Data, MAX_WORDS},
    field::{Field, Shape},
    kind::Kind,
    plan::Why,
    text,
};

/// What became of a field.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Row {
    /// The page, counted from 1.
    pub page: u32,
    /// The field's id.
    pub field: String,
    /// What it is called.
    pub label: String,
    /// What it looks like.
    #[serde(rename = "type")]
    pub shape: Shape,
    /// What it asks for.
    pub kind: Kind,
    /// Whether the form wants it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub required: bool,
    /// Where its value comes from.
    pub source: Origin,
    /// The profile's key, where it is the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What became of it.
    pub status: Status,
    /// What there is to say: the page's complaint, why a value does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was put in, where the run is configured to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// From the profile.
    Profile,
    /// A model wrote it.
    Model,
    /// From the person, who must give it yet.
    Person,
    /// It was there before.
    Kept,
}

/// What became of a field.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds the value.
    Filled,
    /// The page refused the value.
    Refused,
    /// It is optional, could not be filled, and was passed over.
    Skipped,
    /// It could not be filled, which ended the run.
    Failed,
    /// It was left as it is.
    Left(Why),
}

/// What came of sending the form.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Sent {
    /// What is written on the control that sends it.
    pub label: String,
    /// Whether the page took it.
    pub ok: bool,
    /// What the page said.
    pub says: String,
}

impl Row {
    pub(super) fn of(page: u32, field: &Field, source: Origin, status: Status) -> Self {
        Self {
            page,
            field: field.id.clone(),
            label: text::cut(&field.label, MAX_WORDS),
            shape: field.shape,
            kind: field.kind,
            required: field.required,
            source,
            key: None,
            status,
            note: None,
            value: None,
        }
    }

    pub(super) fn left(page: u32, field: &Field, why: Why) -> Self {
        let source = if why == Why::HoldsValue { Origin::Kept } else { Origin::Person };
        Self::of(page, field, source, Status::Left(why))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Profile => "profile",
            Self::Model => "model",
            Self::Person => "person",
            Self::Kept => "kept",
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filled => f.pad("filled"),
            Self::Refused => f.pad("refused"),
            Self::Skipped => f.pad("skipped"),
            Self::Failed => f.pad("failed"),
            Self::Left(Why::HoldsValue) => f.pad("kept"),
            Self::Left(_) => f.pad("left"),
        }
    }
}

impl Data {
    /// Returns how many fields were filled.
    pub fn filled(&self) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Filled).count()
    }

    /// Tells what the run came to, in a few lines.
    pub(super) fn told(&self) -> String {
        let mut lines = Vec::new();
        let count = self.rows.len();
        lines.push(format!("{} of {count} fields filled", self.filled()));
        lines.join("\n")
    }

    /// Tells what the run is at.
    pub(super) fn stage(&self) -> Option<String> {
        let field = self.field()?;
        let place = usize::from(self.cursor).saturating_add(1);
        let of = self.order.len();
        let label = text::line(&field.label, 60);
        Some(format!("page {}, field {place} of {of}: {label}", self.page).to_string())
    }
}
