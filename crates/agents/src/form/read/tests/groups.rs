//! Controls that are one field, and what each looks like.

use alloc::vec::Vec;

use super::page::Page;
use crate::form::{FieldShape, Fill};

fn shape(attributes: &str, tag: &str, editable: bool) -> FieldShape {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, attributes, |seen| {
        seen.tag = tag.into();
        seen.editable = editable;
        if tag != "input" {
            seen.type_.clear();
        }
    });
    page.read().fields[0].shape
}

#[test]
fn roles_decide_before_tags() {
    assert_eq!(shape("role=combobox", "div", false), FieldShape::Combobox);
    assert_eq!(shape("role=combobox", "input", false), FieldShape::Combobox);
    assert_eq!(shape("role=listbox", "ul", false), FieldShape::Listbox);
    assert_eq!(shape("role=checkbox", "span", false), FieldShape::Checkbox);
    assert_eq!(shape("role=switch", "button", false), FieldShape::Checkbox);
    assert_eq!(shape("role=radio", "span", false), FieldShape::Radio);
    assert_eq!(shape("role=textbox", "div", true), FieldShape::Richtext);
    assert_eq!(shape("role=textbox", "div", false), FieldShape::Text);
    assert_eq!(shape("role=spinbutton", "div", false), FieldShape::Number);
    assert_eq!(shape("role=slider", "div", false), FieldShape::Range);
}

#[test]
fn tags_and_types_decide_the_rest() {
    assert_eq!(shape("", "textarea", false), FieldShape::Textarea);
    assert_eq!(shape("", "select", false), FieldShape::Select);
    assert_eq!(shape("role=combobox", "select", false), FieldShape::Select);
    let types = [
        ("text", FieldShape::Text),
        ("email", FieldShape::Text),
        ("tel", FieldShape::Text),
        ("url", FieldShape::Text),
        ("search", FieldShape::Text),
        ("password", FieldShape::Password),
        ("checkbox", FieldShape::Checkbox),
        ("radio", FieldShape::Radio),
        ("number", FieldShape::Number),
        ("range", FieldShape::Range),
        ("date", FieldShape::Date),
        ("time", FieldShape::Time),
        ("datetime-local", FieldShape::DatetimeLocal),
        ("month", FieldShape::Month),
        ("week", FieldShape::Week),
        ("color", FieldShape::Color),
        ("file", FieldShape::File),
    ];
    for (name, expected) in types {
        assert_eq!(shape(&alloc::format!("type={name}"), "input", false), expected, "{name}");
    }
    assert_eq!(shape("aria-autocomplete=list", "input", false), FieldShape::Combobox);
}

#[test]
fn radio_buttons_of_one_name_and_form_are_one_field() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let set = page.place(form, "fieldset", "");
    page.sighting.places[set].legend = "How do you travel?".into();
    for (label, value) in [("By train", "t"), ("By bus", "b")] {
        page.field(set, "type=radio name=way", |seen| {
            seen.names.associated = label.into();
            seen.value = Some(value.into());
            seen.checked = Some(value == "b");
        });
    }
    page.labelled(form, "Other", "");
    let fields = page.read().fields;
    assert_eq!(fields.len(), 2);
    assert_eq!(fields[0].label, "How do you travel?");
    assert_eq!(fields[0].value.as_deref(), Some("b"));
    assert!(fields[0].holds_value);
    let options: Vec<(&str, &str)> =
        fields[0].options.iter().map(|it| (it.value.as_str(), it.label.as_str())).collect();
    assert_eq!(options, [("t", "By train"), ("b", "By bus")]);
    assert!(fields[0].options.iter().all(|it| it.selector.is_some()));
}

#[test]
fn radio_widgets_without_names_are_one_field_by_their_group() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    for _ in 0..2 {
        let group = page.place(form, "div", "role=radiogroup");
        for label in ["yes", "no"] {
            page.field(group, "role=radio", |seen| {
                seen.tag = "div".into();
                seen.names.after = label.into();
            });
        }
    }
    assert_eq!(page.read().fields.len(), 2);
}

#[test]
fn checkboxes_stay_apart_with_their_legend_as_context() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let set = page.place(form, "fieldset", "");
    page.sighting.places[set].legend = "Toppings".into();
    page.labelled(set, "Cheese", "type=checkbox name=top");
    page.labelled(set, "Olives", "type=checkbox name=top");
    let fields = page.read().fields;
    assert_eq!(fields.len(), 2);
    assert!(fields.iter().all(|field| field.context == "Toppings"));
}

#[test]
fn boxes_of_one_character_are_one_code() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    for _ in 0..6 {
        page.field(form, "maxlength=1 inputmode=numeric", |_| {});
    }
    page.labelled(form, "Initial", "maxlength=1 name=middle-initial");
    let fields = page.read().fields;
    // The box of the initial has another size, but is in the same row.
    assert_eq!(fields[0].shape, FieldShape::Codes);
    assert_eq!(fields[0].kind.token(), "one-time-code");
    assert_eq!(fields[0].fill, Fill::Never);
    assert!(fields[0].options.len() >= 6);
    assert_eq!(fields[0].limits.chars, u32::try_from(fields[0].options.len()).ok());
}

#[test]
fn three_boxes_are_not_a_code() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    for _ in 0..3 {
        page.field(form, "maxlength=1", |_| {});
    }
    assert_eq!(page.read().fields.len(), 3);
}

#[test]
fn a_captcha_is_a_field_that_is_never_filled() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.labelled(form, "Type the characters shown (captcha)", "name=captcha");
    page.labelled(form, "Mail", "type=email");
    for selector in [".g-recaptcha", ".g-recaptcha > iframe:nth-of-type(1)"] {
        page.sighting.captchas.push(crate::form::snapshot::Captcha {
            kind: "recaptcha".into(),
            selector: selector.into(),
            place: Some(form),
            seen: true,
            ..Default::default()
        });
    }
    let reading = page.read();
    let captchas: Vec<_> =
        reading.fields.iter().filter(|it| it.shape == FieldShape::Captcha).collect();
    assert_eq!(captchas.len(), 2, "the line and the widget, which is there once");
    assert!(captchas.iter().all(|it| it.fill == Fill::Never));
}

#[test]
fn a_list_that_shows_its_first_line_holds_nothing() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.list(form, "", &["Choose", "One"]);
    page.sighting.controls[0].holds_value = true;
    page.sighting.controls[0].options[0].selected = true;
    assert!(!page.read().fields[0].holds_value);
    page.sighting.controls[0].options[0].selected = false;
    page.sighting.controls[0].options[1].selected = true;
    assert!(page.read().fields[0].holds_value);
}
