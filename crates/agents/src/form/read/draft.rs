//! Controls become fields: radio buttons one of a group, code boxes one of a row.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use super::{Lexicons, label, shape, visible};
use crate::form::{
    field::{Choice, FieldShape},
    snapshot::{Captcha, Control, ControlKind, PageSnapshot},
};

/// A field, and the controls that it is made of.
#[derive(Clone, Debug)]
pub(super) struct LogicalField<'a> {
    /// The control that stands for it: the first.
    pub(super) seen: &'a Control,
    /// All of them.
    pub(super) members: Vec<&'a Control>,
    /// Its shape.
    pub(super) shape: FieldShape,
    /// What may be chosen.
    pub(super) options: Vec<Choice>,
    /// Whether a person can see any part of it.
    pub(super) is_seen: bool,
    /// Whether it is there to catch robots.
    pub(super) is_trap: bool,
}

impl LogicalField<'_> {
    /// Returns the element around it.
    pub(super) fn place(&self) -> Option<usize> {
        self.seen.place
    }

    /// Returns its value, if the journal may contain it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
    pub(super) fn value(&self) -> Option<String> {
        match self.shape {
            FieldShape::Password | FieldShape::File | FieldShape::Captcha => None,
            FieldShape::Checkbox => self.seen.checked.map(|on| on.to_string()),
            FieldShape::Radio => {
                let on = self.members.iter().position(|member| member.checked == Some(true));
                on.and_then(|at| self.options.get(at)).map(|choice| choice.value.clone())
            }
            FieldShape::Codes => {
                let all: String =
                    self.members.iter().filter_map(|it| it.value.as_deref()).collect();
                Some(all).filter(|all| !all.is_empty())
            }
            _ => self.seen.value.clone().filter(|value| !value.is_empty()),
        }
    }

    /// Returns whether it has a value. An unchecked box, and a list that shows its first line,
    /// have none.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
    pub(super) fn holds_value(&self) -> bool {
        match self.shape {
            FieldShape::Checkbox => self.seen.checked == Some(true),
            FieldShape::Radio => self.members.iter().any(|member| member.checked == Some(true)),
            FieldShape::Codes => self.members.iter().any(|member| member.holds_value),
            FieldShape::Select => {
                let chosen = self.seen.options.iter().position(|option| option.selected);
                let said = self.seen.attributes.contains_key("data-selected");
                self.seen.holds_value && (said || chosen.is_some_and(|at| at > 0))
            }
            // Sliders and colours always show something.
            FieldShape::Range | FieldShape::Color => false,
            _ => self.seen.holds_value,
        }
    }
}

/// Makes fields of the controls of a page, in its order.
#[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
pub(super) fn logicals<'a>(
    sighting: &'a PageSnapshot,
    lexicons: &Lexicons,
) -> Vec<LogicalField<'a>> {
    let controls: Vec<&Control> =
        sighting.controls.iter().filter(|seen| seen.what == ControlKind::Field).collect();
    let mut used: Vec<bool> = controls.iter().map(|_| false).collect();
    let mut logicals = Vec::new();
    for at in 0..controls.len() {
        let (Some(seen), Some(false)) = (controls.get(at).copied(), used.get(at).copied()) else {
            continue;
        };
        let shape = shape::of(seen);
        let members: Vec<usize> = match shape {
            FieldShape::Radio => radio_group(sighting, &controls, at),
            FieldShape::Text | FieldShape::Number | FieldShape::Password => {
                code_boxes(sighting, &controls, at)
            }
            _ => Vec::from([at]),
        };
        let shape =
            if shape != FieldShape::Radio && members.len() > 1 { FieldShape::Codes } else { shape };
        for member in &members {
            if let Some(flag) = used.get_mut(*member) {
                *flag = true;
            }
        }
        let members: Vec<&Control> =
            members.iter().filter_map(|at| controls.get(*at).copied()).collect();
        logicals.push(LogicalField {
            seen,
            shape,
            options: options(shape, &members),
            is_seen: members.iter().any(|member| visible::is_seen(member)),
            is_trap: visible::is_trap(sighting, seen, lexicons),
            members,
        });
    }
    logicals
}

/// Radio buttons are one field if they share name and form, or a custom group.
fn radio_group(sighting: &PageSnapshot, controls: &[&Control], first: usize) -> Vec<usize> {
    let Some(seen) = controls.get(first) else { return Vec::new() };
    let name = seen.attribute("name");
    let group = group_of(sighting, seen);
    let form = sighting.form_of(seen);
    let same = |other: &&Control| {
        if shape::of(other) != FieldShape::Radio || sighting.form_of(other) != form {
            return false;
        }
        if name.is_empty() {
            other.attribute("name").is_empty()
                && group.is_some()
                && group_of(sighting, other) == group
        } else {
            other.attribute("name") == name
        }
    };
    let later = controls.iter().enumerate().skip(first.saturating_add(1));
    let mut all = Vec::from([first]);
    all.extend(later.filter(|(_, other)| same(other)).map(|(at, _)| at));
    all
}

fn group_of(sighting: &PageSnapshot, seen: &Control) -> Option<usize> {
    let mut around = sighting.around(seen.place);
    around
        .find(|(_, place)| place.role == "radiogroup" || place.tag == "fieldset")
        .map(|(at, _)| at)
}

/// Boxes in a row that take one character each are one code.
fn code_boxes(sighting: &PageSnapshot, controls: &[&Control], first: usize) -> Vec<usize> {
    let is_box = |seen: &&Control| seen.tag == "input" && seen.attribute("maxlength") == "1";
    let place = |seen: &Control, up: usize| sighting.around(seen.place).nth(up).map(|(at, _)| at);
    let Some(seen) = controls.get(first).filter(|seen| is_box(seen)) else {
        return Vec::from([first]);
    };
    let shared = |other: &Control| {
        (0..=2)
            .any(|up| place(seen, up).is_some_and(|outer| sighting.is_within(other.place, outer)))
    };
    let later = controls.iter().enumerate().skip(first.saturating_add(1));
    let row = later.take_while(|(_, other)| is_box(other) && shared(other)).map(|(at, _)| at);
    let mut all = Vec::from([first]);
    all.extend(row);
    // A single initial is not a code, and three boxes may be a date as well.
    if all.len() < 4 { Vec::from([first]) } else { all }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
fn options(shape: FieldShape, members: &[&Control]) -> Vec<Choice> {
    match shape {
        FieldShape::Radio => members.iter().map(|member| radio(member)).collect(),
        FieldShape::Codes => (1_u32..)
            .zip(members)
            .map(|(nth, member)| Choice {
                value: nth.to_string(),
                label: nth.to_string(),
                selector: Some(member.selector.clone()),
                disabled: member.disabled,
            })
            .collect(),
        _ => members.first().map(|seen| listed(seen)).unwrap_or_default(),
    }
}

fn radio(seen: &Control) -> Choice {
    let written = seen.value.clone().unwrap_or_default();
    let label = label::of_choice(seen);
    Choice {
        value: if written.is_empty() { label.clone() } else { written },
        label,
        selector: Some(seen.selector.clone()),
        disabled: seen.disabled,
    }
}

fn listed(seen: &Control) -> Vec<Choice> {
    let choice = |option: &crate::form::snapshot::ControlOption| Choice {
        value: option.value.clone(),
        label: option.label.clone(),
        selector: option.selector.clone(),
        disabled: option.disabled,
    };
    seen.options.iter().map(choice).collect()
}

/// Returns the captchas of a page, each once: a frame within its own box is the same one.
pub(super) fn captchas(sighting: &PageSnapshot) -> impl Iterator<Item = &Captcha> {
    let mut last: Option<&Captcha> = None;
    sighting.captchas.iter().filter(move |captcha| {
        let within = |outer: &Captcha| {
            outer.kind == captcha.kind || captcha.selector.starts_with(&outer.selector)
        };
        let again = last.is_some_and(within);
        if !again {
            last = Some(captcha);
        }
        !again
    })
}
