//! What a field is called, what is around it, and whether the form wants it.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use super::draft::LogicalField;
use crate::form::{
    field::FieldShape,
    snapshot::{Control, PageSnapshot},
};

/// What a field is called that nothing names.
pub(super) const UNNAMED: &str = "Unlabeled Field";
/// Text this many elements up is still taken as standing beside the field.
const BESIDE: u32 = 2;
/// Characters of a label that are kept.
const MOST: usize = 300;
/// Characters of context that are kept.
const MOST_CONTEXT: usize = 800;

/// Returns the name of a field: the label that points at it, the label around it, what
/// it is said to be labelled by, the text beside it, its `aria-label`, `name`, `title`,
/// placeholder. A group of radio buttons is named by the group.
#[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
pub(super) fn of(sighting: &PageSnapshot, logical: &LogicalField<'_>) -> String {
    let seen = logical.seen;
    if logical.shape == FieldShape::Radio
        && let Some(legend) = legend(sighting, seen)
    {
        return legend;
    }
    let names = &seen.names;
    let beside = match logical.shape {
        FieldShape::Checkbox if names.after_level <= BESIDE => names.after.as_str(),
        FieldShape::Checkbox => "",
        _ if names.before_level <= BESIDE => names.before.as_str(),
        _ => names.table.row.as_str(),
    };
    // The labels of a radio button name the choice, not the field.
    let own = if logical.shape == FieldShape::Radio {
        ["", "", ""]
    } else {
        [names.associated.as_str(), names.wrapping.as_str(), names.labelled_by.as_str()]
    };
    let rest = [
        names.aria.as_str(),
        seen.attribute("name"),
        names.title.as_str(),
        names.placeholder.as_str(),
    ];
    // Some pages write the name below its field; nothing else is left to go by.
    let below = if names.after_level <= 1 { names.after.as_str() } else { "" };
    let mut all = own.into_iter().chain([beside]).chain(rest).chain([below]);
    let first = all.find_map(|name| Some(tidy(name)).filter(|name| !name.is_empty()));
    first.unwrap_or_else(|| UNNAMED.to_string())
}

/// Returns the text at a radio button.
pub(super) fn of_choice(seen: &Control) -> String {
    let names = &seen.names;
    let value = seen.value.as_deref().unwrap_or_default();
    let all = [
        names.associated.as_str(),
        names.wrapping.as_str(),
        names.labelled_by.as_str(),
        names.after.as_str(),
        names.aria.as_str(),
        value,
        names.title.as_str(),
    ];
    all.into_iter().map(tidy).find(|name| !name.is_empty()).unwrap_or_default()
}

/// Returns the legend of the group around a field, innermost first.
fn legend(sighting: &PageSnapshot, seen: &Control) -> Option<String> {
    raw_legend(sighting, seen).map(|legend| tidy(&legend))
}

fn raw_legend(sighting: &PageSnapshot, seen: &Control) -> Option<String> {
    let mut around = sighting.around(seen.place).take(10);
    around.find_map(|(_, place)| {
        let legend = if place.legend.is_empty() { &place.label } else { &place.legend };
        let groups = !place.legend.is_empty()
            || matches!(place.role.as_str(), "group" | "radiogroup")
            || place.tag == "fieldset";
        (groups && !legend.is_empty()).then(|| legend.clone())
    })
}

/// Returns what is around a field: the legends of its groups, what describes them and
/// it, the heads of its row and column.
pub(super) fn context(sighting: &PageSnapshot, logical: &LogicalField<'_>) -> String {
    let seen = logical.seen;
    let mut parts: Vec<String> = Vec::new();
    for (_, place) in sighting.around(seen.place).take(10) {
        let groups =
            place.tag == "fieldset" || matches!(place.role.as_str(), "group" | "radiogroup");
        if groups {
            parts.extend([place.legend.clone(), place.label.clone(), place.described.clone()]);
        }
    }
    let names = &seen.names;
    parts.extend([names.described.clone(), names.table.column.clone(), names.table.row.clone()]);
    let own = of(sighting, logical);
    let mut context = String::new();
    for part in parts {
        let part = tidy(&part);
        if part.is_empty() || part == own || context.contains(&part) {
            continue;
        }
        if !context.is_empty() {
            context.push_str(" · ");
        }
        context.push_str(&part);
    }
    context.chars().take(MOST_CONTEXT).collect()
}

/// Returns whether the form wants a field.
pub(super) fn is_required(sighting: &PageSnapshot, logical: &LogicalField<'_>) -> bool {
    let says_yes = |value: &str| matches!(value, "true" | "1" | "required");
    let by_make = |seen: &Control| {
        let empty = !seen.holds_value && seen.checked != Some(true);
        seen.required
            || seen.attributes.contains_key("required")
            || says_yes(seen.attribute("aria-required"))
            || says_yes(seen.attribute("data-required"))
            || (seen.attribute("aria-invalid") == "true" && empty)
    };
    logical.members.iter().any(|member| by_make(member)) || is_starred(sighting, logical)
}

/// Returns whether a star or a word beside the name says that the form wants the field.
fn is_starred(sighting: &PageSnapshot, logical: &LogicalField<'_>) -> bool {
    let names = &logical.seen.names;
    let beside = if names.before_level <= BESIDE { names.before.as_str() } else { "" };
    let written = [&names.associated, &names.wrapping, &names.labelled_by];
    let own = written.into_iter().find(|text| !text.is_empty()).map_or(beside, String::as_str);
    let label = if logical.shape == FieldShape::Radio {
        raw_legend(sighting, logical.seen).unwrap_or_default()
    } else {
        own.to_string()
    };
    let folded = label.to_lowercase();
    let says =
        ["(required)", "(pflichtfeld)", "(obligatoire)", "(obligatorio)", "(obbligatorio)", "必須"];
    label.contains('*') || says.iter().any(|word| folded.contains(word))
}

/// Cuts a name to what it says: no stars and colons at its ends.
fn tidy(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '*' | ':' | '：');
    text.trim_matches(ends).chars().take(MOST).collect()
}
