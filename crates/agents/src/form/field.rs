//! The fields of a form, and which of them are ours to fill.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// A field of a form.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Field {
    /// Known by this on its page.
    pub id: String,
    /// What it takes.
    pub kind: FieldKind,
    /// What it is called.
    pub label: String,
    /// What stands around it.
    pub context: String,
    /// What may be chosen.
    pub options: Vec<String>,
    /// Whether the form wants it.
    pub required: bool,
    /// Whether it holds a value already.
    pub holds_value: bool,
    /// Words at most.
    pub word_limit: Option<u32>,
    /// Characters at most.
    pub char_limit: Option<u32>,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldKind {
    /// A line.
    Text,
    /// Lines.
    Textarea,
    /// One of a list.
    Select,
    /// One of a group.
    Radio,
    /// Yes or no.
    Checkbox,
    /// Formatted text.
    Richtext,
    /// A password.
    Password,
    /// A code that is good once.
    OneTimeCode,
    /// A card's number, date or code.
    Card,
    /// A file.
    File,
    /// Something else.
    #[default]
    Unsupported,
}

/// A field that was left to the person.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Left {
    /// The page.
    pub page: u32,
    /// The field.
    pub field: String,
    /// Why.
    pub why: LeftWhy,
}

/// Why a field was left to the person.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftWhy {
    /// A password, a code, a card or a file: never filled.
    NeverFilled,
    /// A kind that is not known.
    Unsupported,
    /// Somebody has filled it.
    HoldsValue,
    /// The page has too many fields.
    TooMany,
    /// No text could be used.
    NoText,
}

impl Field {
    /// Returns why the field is not ours to fill, if it is not.
    pub(super) fn kept_out(&self) -> Option<LeftWhy> {
        match self.kind {
            FieldKind::Password | FieldKind::OneTimeCode | FieldKind::Card | FieldKind::File => {
                Some(LeftWhy::NeverFilled)
            }
            FieldKind::Unsupported => Some(LeftWhy::Unsupported),
            FieldKind::Text
            | FieldKind::Textarea
            | FieldKind::Select
            | FieldKind::Radio
            | FieldKind::Checkbox
            | FieldKind::Richtext => self.holds_value.then_some(LeftWhy::HoldsValue),
        }
    }
}
