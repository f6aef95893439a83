//! What a control looks like: by its role first, then by its tag and type.

use crate::form::{field::Shape, sight::Seen};

/// Returns the shape of a control.
pub(super) fn of(seen: &Seen) -> Shape {
    let native = matches!(seen.tag.as_str(), "input" | "textarea" | "select");
    let lists = matches!(seen.attribute("aria-autocomplete"), "list" | "both")
        || seen.attribute("aria-haspopup") == "listbox";
    match seen.role.as_str() {
        "combobox" if seen.tag != "select" => return Shape::Combobox,
        "listbox" if seen.tag != "select" => return Shape::Listbox,
        "checkbox" | "switch" => return Shape::Checkbox,
        "radio" => return Shape::Radio,
        _ => {}
    }
    if seen.editable {
        return Shape::Richtext;
    }
    match seen.role.as_str() {
        "textbox" | "searchbox" if !native && seen.attribute("aria-multiline") == "true" => {
            return Shape::Textarea;
        }
        "textbox" | "searchbox" if !native => return Shape::Text,
        "spinbutton" if !native => return Shape::Number,
        "slider" if !native => return Shape::Range,
        _ => {}
    }
    match (seen.tag.as_str(), seen.type_.as_str()) {
        ("textarea", _) => Shape::Textarea,
        ("select", _) => Shape::Select,
        ("input", "" | "text" | "email" | "tel" | "url" | "search") if lists => Shape::Combobox,
        ("input", "" | "text" | "email" | "tel" | "url" | "search") => Shape::Text,
        ("input", "password") => Shape::Password,
        ("input", "checkbox") => Shape::Checkbox,
        ("input", "radio") => Shape::Radio,
        ("input", "number") => Shape::Number,
        // The second is a library's, which says so itself.
        ("input", "range") | (_, "ui-slider") => Shape::Range,
        ("input", "date") => Shape::Date,
        ("input", "time") => Shape::Time,
        ("input", "datetime-local") => Shape::DatetimeLocal,
        ("input", "month") => Shape::Month,
        ("input", "week") => Shape::Week,
        ("input", "color") => Shape::Color,
        ("input", "file") => Shape::File,
        _ => Shape::Unsupported,
    }
}

/// Returns whether a shape takes words: what makes a container look like a form.
pub(super) const fn is_text_like(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::Text
            | Shape::Textarea
            | Shape::Richtext
            | Shape::Password
            | Shape::Number
            | Shape::Combobox
            | Shape::Date
            | Shape::Codes
    )
}
