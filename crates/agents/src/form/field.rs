//! The fields of a form, as the agent knows them.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::kind::{FieldKind, SecretKind, SensitiveKind};

/// A field of a form.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Field {
    /// Known by this on its page: a digest of its path, the same in every scan.
    pub id: String,
    /// Where it is: CSS, with ` >>> ` where a shadow root or a frame lies between.
    pub selector: String,
    /// Its shape.
    #[serde(rename = "type")]
    pub shape: FieldShape,
    /// What it asks for.
    pub kind: FieldKind,
    /// What it asks for that only the person may give, where its kind does not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretKind>,
    /// Its name.
    pub label: String,
    /// What is around it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What it shows while it is empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub placeholder: String,
    /// Whether the form wants it.
    pub required: bool,
    /// What may be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What it takes.
    pub limits: FieldLimits,
    /// Its value, if the journal may contain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it holds a value already.
    pub holds_value: bool,
    /// Whether it is one to fill.
    pub fill: Fill,
    /// Whether the page has disabled it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub disabled: bool,
    /// `id`, `name`, `autocomplete` and every `data-*`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Its document, as the time of its loading in microseconds; 0 if unknown.
    #[serde(skip_serializing_if = "is_unknown")]
    pub document: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_unknown(document: &u64) -> bool {
    *document == 0
}

/// What a field looks like.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum FieldShape {
    /// A line.
    Text,
    /// Lines.
    Textarea,
    /// A native list with one or several choices.
    Select,
    /// A group with one choice.
    Radio,
    /// Yes or no.
    Checkbox,
    /// Formatted text.
    Richtext,
    /// A number.
    Number,
    /// A number on a slider.
    Range,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time, in no time zone.
    DatetimeLocal,
    /// A month of a year.
    Month,
    /// A week of a year.
    Week,
    /// A colour.
    Color,
    /// A line with a list that comes and goes.
    Combobox,
    /// A list made of other elements.
    Listbox,
    /// The boxes of a code, one character each, as one field.
    Codes,
    /// A line that hides its text.
    Password,
    /// A file.
    File,
    /// A test that its reader is a person.
    Captcha,
    /// Something else.
    #[default]
    Unsupported,
}

/// One of the things that may be chosen.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Choice {
    /// What the form sends for it.
    pub value: String,
    /// The text on it.
    pub label: String,
    /// Where it is, if it is a separate element: a radio button, an option of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Whether it cannot be chosen now.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub disabled: bool,
}

/// What a field takes, by what its page says about it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct FieldLimits {
    /// Words at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u32>,
    /// Characters at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<u32>,
    /// Characters at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_chars: Option<u32>,
    /// The least number, day or time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// The greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// How far apart numbers or times are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The regular expression that the value must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether several can be chosen.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub multiple: bool,
}

/// Whether a field is one to fill.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// It is.
    #[default]
    Yes,
    /// A password, a code, card data, a file or a captcha: not unless it is allowed.
    Never,
    /// It is invisible, or a trap.
    Hidden,
}

impl Field {
    /// Returns the class by which it is kept from being filled, if it is in one.
    pub const fn class(&self) -> Option<SensitiveKind> {
        if matches!(self.shape, FieldShape::File) {
            return Some(SensitiveKind::File);
        }
        if matches!(self.shape, FieldShape::Codes) {
            return Some(SensitiveKind::OneTimeCode);
        }
        if let Some(secret) = self.secret
            && let Some(class) = secret.class()
        {
            return Some(class);
        }
        match self.kind.class() {
            None if matches!(self.shape, FieldShape::Password) => Some(SensitiveKind::Password),
            class => class,
        }
    }

    /// Returns whether only an answer under its label may fill it.
    pub const fn is_private(&self) -> bool {
        matches!(self.secret, Some(secret) if secret.class().is_none())
    }

    /// Returns the choices that a fitted value names, one per line: by the value that the form
    /// sends, else by label. Unknown names are skipped.
    pub fn choices<'a>(&'a self, fitted: &str) -> Vec<&'a Choice> {
        let named = |name: &str| {
            let by_value = self.options.iter().find(|option| option.value == name);
            by_value.or_else(|| self.options.iter().find(|option| option.label == name))
        };
        if self.limits.multiple {
            return fitted.split('\n').filter_map(named).collect();
        }
        named(fitted).into_iter().collect()
    }

    /// Returns whether it takes one or several out of a list.
    pub const fn is_choice(&self) -> bool {
        matches!(self.shape, FieldShape::Select | FieldShape::Radio | FieldShape::Listbox)
            || (matches!(self.shape, FieldShape::Combobox) && !self.options.is_empty())
    }
}

impl FieldShape {
    /// Returns the word that JSON has for it.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Textarea => "textarea",
            Self::Select => "select",
            Self::Radio => "radio",
            Self::Checkbox => "checkbox",
            Self::Richtext => "richtext",
            Self::Number => "number",
            Self::Range => "range",
            Self::Date => "date",
            Self::Time => "time",
            Self::DatetimeLocal => "datetime-local",
            Self::Month => "month",
            Self::Week => "week",
            Self::Color => "color",
            Self::Combobox => "combobox",
            Self::Listbox => "listbox",
            Self::Codes => "codes",
            Self::Password => "password",
            Self::File => "file",
            Self::Captcha => "captcha",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for FieldShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.token())
    }
}
