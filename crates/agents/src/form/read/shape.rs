//! What a control looks like: by its role first, then by its tag and type.

use crate::form::{field::FieldShape, snapshot::Control};

/// Returns the shape of a control.
pub(super) fn of(seen: &Control) -> FieldShape {
    let native = matches!(seen.tag.as_str(), "input" | "textarea" | "select");
    let lists = matches!(seen.attribute("aria-autocomplete"), "list" | "both")
        || seen.attribute("aria-haspopup") == "listbox";
    match seen.role.as_str() {
        "combobox" if seen.tag != "select" => return FieldShape::Combobox,
        "listbox" if seen.tag != "select" => return FieldShape::Listbox,
        "checkbox" | "switch" => return FieldShape::Checkbox,
        "radio" => return FieldShape::Radio,
        _ => {}
    }
    if seen.editable {
        return FieldShape::Richtext;
    }
    match seen.role.as_str() {
        "textbox" | "searchbox" if !native && seen.attribute("aria-multiline") == "true" => {
            return FieldShape::Textarea;
        }
        "textbox" | "searchbox" if !native => return FieldShape::Text,
        "spinbutton" if !native => return FieldShape::Number,
        "slider" if !native => return FieldShape::Range,
        _ => {}
    }
    match (seen.tag.as_str(), seen.type_.as_str()) {
        ("textarea", _) => FieldShape::Textarea,
        ("select", _) => FieldShape::Select,
        ("input", "" | "text" | "email" | "tel" | "url" | "search") if lists => {
            FieldShape::Combobox
        }
        ("input", "" | "text" | "email" | "tel" | "url" | "search") => FieldShape::Text,
        ("input", "password") => FieldShape::Password,
        ("input", "checkbox") => FieldShape::Checkbox,
        ("input", "radio") => FieldShape::Radio,
        ("input", "number") => FieldShape::Number,
        // The second is a library's, which says so itself.
        ("input", "range") | (_, "ui-slider") => FieldShape::Range,
        ("input", "date") => FieldShape::Date,
        ("input", "time") => FieldShape::Time,
        ("input", "datetime-local") => FieldShape::DatetimeLocal,
        ("input", "month") => FieldShape::Month,
        ("input", "week") => FieldShape::Week,
        ("input", "color") => FieldShape::Color,
        ("input", "file") => FieldShape::File,
        _ => FieldShape::Unsupported,
    }
}

/// Returns whether a shape takes words: what makes a container look like a form.
pub(super) const fn is_text_like(shape: FieldShape) -> bool {
    matches!(
        shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Richtext
            | FieldShape::Password
            | FieldShape::Number
            | FieldShape::Combobox
            | FieldShape::Date
            | FieldShape::Codes
    )
}
