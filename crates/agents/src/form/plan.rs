//! Which fields are filled, from where, and why the others are left to the person.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{
    config::FormConfig,
    field::{Field, FieldShape, Fill},
    kind::FieldKind,
    navigation,
    profile::{ANSWERS, ProfileKeys},
    text,
};

/// Why a field was left to the person.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// A password, a code, card data or a file: not without the profile's leave and value.
    NeverFilled,
    /// A test that its reader is a person.
    Captcha,
    /// It is invisible, or a trap.
    Hidden,
    /// Something that is not known.
    Unsupported,
    /// It already has a value.
    HoldsValue,
    /// The page has disabled it.
    Disabled,
    /// The profile has no value for it.
    NotInProfile,
    /// It agrees to something, which is the person's to do.
    Consent,
    /// The page has too many fields.
    TooMany,
    /// No text could be used.
    NoText,
    /// The page switched it off before it could be filled.
    SwitchedOff,
    /// A number of the person or of an account, or a security answer: only an answer under
    /// its label fills it.
    Private,
}

impl SkipReason {
    /// Returns whether a required field that was left so stands in the way.
    pub(super) const fn misses(self) -> bool {
        !matches!(self, Self::HoldsValue | Self::Hidden | Self::Disabled | Self::NoText)
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NeverFilled => "never filled unless the profile allows it",
            Self::Captcha => "only a person may solve it",
            Self::Hidden => "invisible",
            Self::Unsupported => "not a field that can be filled",
            Self::HoldsValue => "already has a value",
            Self::Disabled => "cannot be changed",
            Self::NotInProfile => "not in the profile",
            Self::Consent => "only you can agree",
            Self::TooMany => "the page has too many fields",
            Self::NoText => "no usable text",
            Self::SwitchedOff => "the page disabled it",
            Self::Private => "private: filled only from an answer under its label",
        })
    }
}

/// Returns why a field is not ours to fill, if it is not.
pub(super) fn kept_out(field: &Field, config: &FormConfig) -> Option<SkipReason> {
    let key = key(field, &config.profile);
    let allowed = field.class().is_none_or(|class| config.profile.allow.contains(&class));
    match (field.shape, field.fill) {
        (FieldShape::Captcha, _) => Some(SkipReason::Captcha),
        (_, Fill::Hidden) => Some(SkipReason::Hidden),
        (FieldShape::Unsupported, _) => Some(SkipReason::Unsupported),
        (_, Fill::Never) if field.class().is_none() => Some(SkipReason::NeverFilled),
        _ if !allowed || (field.class().is_some() && key.is_none()) => {
            Some(SkipReason::NeverFilled)
        }
        // A list may depend on another field: the executor waits for it.
        _ if field.disabled && (field.shape != FieldShape::Select || key.is_none()) => {
            Some(SkipReason::Disabled)
        }
        _ if field.holds_value && !config.overwrite => Some(SkipReason::HoldsValue),
        _ if key.is_some() => None,
        _ if field.is_private() => Some(SkipReason::Private),
        _ if agrees(field) => Some(SkipReason::Consent),
        _ if field.kind == FieldKind::None && config.writes && writable(field.shape) => None,
        _ => Some(SkipReason::NotInProfile),
    }
}

/// Returns whether filling a field could agree to something, by a box or by a choice. A line
/// of text agrees to nothing.
fn agrees(field: &Field) -> bool {
    let chosen = matches!(
        field.shape,
        FieldShape::Checkbox
            | FieldShape::Radio
            | FieldShape::Select
            | FieldShape::Combobox
            | FieldShape::Listbox
    );
    chosen && navigation::agrees(field)
}

/// Returns the profile's key for a field: an answer for its selector, else one for its label,
/// else a value of its kind.
pub(super) fn key(field: &Field, holds: &ProfileKeys) -> Option<String> {
    if holds.answers.contains(&field.selector) {
        return Some(format!("{ANSWERS}{}", field.selector));
    }
    let names = [
        Some(&field.label),
        Some(&field.placeholder),
        attribute(field, "name"),
        attribute(field, "id"),
    ];
    let names = names.into_iter().flatten().filter(|name| !name.trim().is_empty());
    for name in names {
        let answer = holds.answers.iter().find(|answer| answers(answer, name, &field.context));
        if let Some(answer) = answer {
            return Some(format!("{ANSWERS}{answer}"));
        }
    }
    // Where something else says that it is secret, a value of its kind is not what it wants.
    let trusted =
        field.secret.is_none_or(|it| it.class().is_some() && it.class() == field.kind.class());
    let held = trusted && field.kind != FieldKind::None && holds.kinds.contains(&field.kind);
    held.then(|| field.kind.token().to_string())
}

fn attribute<'a>(field: &'a Field, name: &str) -> Option<&'a String> {
    field.attributes.get(name)
}

/// An answer is for the field of its label; `Section > Label` also wants its section.
fn answers(answer: &str, name: &str, context: &str) -> bool {
    // One that names another field by its selector is not meant by its words.
    if is_selector(answer) {
        return answer == name;
    }
    if text::same_label(answer, name) {
        return true;
    }
    let Some((section, label)) = answer.rsplit_once('>') else { return false };
    text::same_label(label, name) && text::mentions(context, section)
}

/// Returns whether an answer is a selector as pages are read with them: steps by id, name,
/// mark or place.
fn is_selector(answer: &str) -> bool {
    let own = |step: &str| {
        let id = step.strip_prefix('#').and_then(|id| id.chars().next());
        let id = id.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '-' | '\\'))
            && (!step.contains(' ') || step.contains('\\'));
        let named =
            step.ends_with(']') && (step.contains("[name=\"") || step.starts_with("[data-"));
        id || named || step.contains(":nth-of-type(")
    };
    let bare = |step: &str| step.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let steps = || answer.split('>').map(str::trim).filter(|step| !step.is_empty());
    steps().any(own) && steps().all(|step| own(step) || bare(step))
}

/// Returns whether a model may write what goes into a field of this shape.
const fn writable(shape: FieldShape) -> bool {
    matches!(
        shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Richtext
            | FieldShape::Select
            | FieldShape::Radio
            | FieldShape::Combobox
            | FieldShape::Listbox
    )
}
