//! What fields are called, what is around them, whether they are required.

use super::page::Page;
use crate::form::{Field, snapshot::ControlNames};

fn field(names: ControlNames, attributes: &str) -> Field {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, attributes, |seen| seen.names = names);
    page.read().fields.remove(0)
}

#[test]
fn names_are_taken_in_their_order() {
    let mut names = ControlNames {
        associated: "associated".into(),
        wrapping: "wrapping".into(),
        labelled_by: "labelled by".into(),
        before: "before".into(),
        aria: "aria".into(),
        title: "title".into(),
        placeholder: "placeholder".into(),
        ..ControlNames::default()
    };
    let label = |names: &ControlNames| field(names.clone(), "name=name").label;
    assert_eq!(label(&names), "associated");
    names.associated.clear();
    assert_eq!(label(&names), "wrapping");
    names.wrapping.clear();
    assert_eq!(label(&names), "labelled by");
    names.labelled_by.clear();
    assert_eq!(label(&names), "before");
    names.before.clear();
    assert_eq!(label(&names), "aria");
    names.aria.clear();
    assert_eq!(label(&names), "name");
    assert_eq!(field(names.clone(), "").label, "title");
    names.title.clear();
    assert_eq!(field(names.clone(), "").label, "placeholder");
    names.placeholder.clear();
    assert_eq!(field(names, "").label, "Unlabeled Field");
}

#[test]
fn checkbox_label_follows_and_line_label_precedes() {
    let names =
        ControlNames { before: "before".into(), after: "after".into(), ..ControlNames::default() };
    assert_eq!(field(names.clone(), "type=checkbox").label, "after");
    assert_eq!(field(names, "").label, "before");
}

#[test]
fn distant_text_is_not_a_label() {
    let names = ControlNames { before: "far".into(), before_level: 3, ..ControlNames::default() };
    assert_eq!(field(names, "name=own").label, "own");
}

#[test]
fn stars_and_colons_are_not_part_of_a_label() {
    let names = ControlNames { associated: "* Town: *".into(), ..ControlNames::default() };
    assert_eq!(field(names, "").label, "Town");
}

#[test]
fn every_sign_of_being_required_counts() {
    for attributes in [
        "required",
        "aria-required=true",
        "aria-required=1",
        "data-required=required",
        "aria-invalid=true",
    ] {
        assert!(field(ControlNames::default(), attributes).required, "{attributes}");
    }
    for label in ["Town *", "*Town", "Town (required)"] {
        let names = ControlNames { associated: label.into(), ..ControlNames::default() };
        assert!(field(names, "").required, "{label}");
    }
    for attributes in ["", "aria-required=false", "data-required=0", "aria-invalid=false"] {
        assert!(!field(ControlNames::default(), attributes).required, "{attributes}");
    }
}

#[test]
fn invalid_with_a_value_is_not_required() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "aria-invalid=true", |seen| seen.holds_value = true);
    assert!(!page.read().fields[0].required);
}

#[test]
fn one_required_radio_button_makes_its_group_required() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "type=radio name=way", |_| {});
    page.field(form, "type=radio name=way required", |_| {});
    assert!(page.read().fields[0].required);
}

#[test]
fn legends_and_descriptions_are_the_context() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let outer = page.place(form, "fieldset", "");
    page.sighting.places[outer].legend = "Delivery".into();
    let inner = page.place(outer, "div", "role=group");
    page.sighting.places[inner].label = "Address".into();
    page.sighting.places[inner].described = "Where you live".into();
    page.field(inner, "", |seen| {
        seen.names.associated = "Street".into();
        seen.names.described = "With the number".into();
        seen.names.table.column = "Home".into();
    });
    let context = &page.read().fields[0].context;
    assert_eq!(context, "Address · Where you live · Delivery · With the number · Home");
}

#[test]
fn attributes_that_name_a_field_are_kept_and_others_are_not() {
    let field = field(
        ControlNames::default(),
        "id=a name=b autocomplete=email data-x=1 class=c aria-label=d",
    );
    let kept: alloc::vec::Vec<&str> =
        field.attributes.keys().map(alloc::string::String::as_str).collect();
    assert_eq!(kept, ["autocomplete", "data-x", "id", "name"]);
}

#[test]
fn complaints_are_reported_with_their_field() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "", |seen| seen.complaints = alloc::vec!["Error: Too short".into()]);
    page.field(form, "", |seen| seen.message = "Please fill in this field.".into());
    page.field(form, "aria-invalid=true", |seen| seen.message = "No address.".into());
    page.sighting.alerts.push("Too short".into());
    page.sighting.alerts.push("There is a problem".into());
    let reading = page.read();
    let told: alloc::vec::Vec<(Option<&str>, &str)> =
        reading.complaints.iter().map(|it| (it.field.as_deref(), it.text.as_str())).collect();
    let id = |at: usize| Some(reading.fields[at].id.as_str());
    assert_eq!(
        told,
        [(id(0), "Too short"), (id(2), "No address."), (None, "There is a problem")],
        "what a browser has against an untouched field is not told"
    );
}
