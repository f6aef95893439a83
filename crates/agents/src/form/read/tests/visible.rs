//! What people see, and what lies in wait for robots.

use super::page::Page;
use crate::form::{
    Field, Fill,
    snapshot::{Control, Visibility},
};

fn read(attributes: &str, change: impl FnOnce(&mut Control)) -> Field {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, attributes, change);
    page.read().all().next().cloned().expect("page lists the field")
}

#[test]
fn every_way_of_hiding_hides() {
    let ways: [fn(&mut Control); 11] = [
        |seen| seen.sight.rendered = false,
        |seen| seen.sight.visible = false,
        |seen| seen.sight.opacity = 0.0,
        |seen| seen.sight.clipped = true,
        |seen| seen.sight.far = true,
        |seen| seen.sight.inert = true,
        |seen| seen.area.width = 0.0,
        |seen| seen.area.height = 1.0,
        |seen| seen.area.width = 3.0,
        |seen| seen.sight.opacity = 0.1,
        |seen| seen.sight.covered = true,
    ];
    for (nth, way) in ways.into_iter().enumerate() {
        let field = read("type=email", way);
        assert_eq!(field.fill, Fill::Hidden, "way {nth}");
        assert_eq!(field.kind.token(), "email", "what it asks for is told all the same");
    }
    assert_eq!(read("type=email", |_| {}).fill, Fill::Yes);
}

#[test]
fn a_box_under_a_drawn_label_can_be_seen() {
    let hide = |seen: &mut Control| seen.sight.opacity = 0.0;
    for kind in ["type=checkbox", "type=radio"] {
        let field = read(kind, |seen| {
            hide(seen);
            seen.names.label_seen = true;
        });
        assert_eq!(field.fill, Fill::Yes, "{kind}");
        let field = read(kind, |seen| {
            hide(seen);
            seen.stand_in = true;
        });
        assert_eq!(field.fill, Fill::Yes, "{kind}: a widget stands in for it");
        let field = read(kind, |seen| {
            hide(seen);
            seen.names.label_seen = true;
            seen.sight.parent_rendered = false;
        });
        assert_eq!(field.fill, Fill::Hidden, "{kind}: nothing around it is drawn");
    }
    let line = read("", |seen| {
        hide(seen);
        seen.names.label_seen = true;
    });
    assert_eq!(line.fill, Fill::Hidden, "a line needs to be seen itself");
}

#[test]
fn traps_are_not_filled_although_they_can_be_seen() {
    for attributes in ["name=honeypot", "id=hp_field", "class=ohnohoney", "name=url tabindex=-1"] {
        let field = read(attributes, |seen| {
            if attributes.contains("tabindex") {
                seen.sight =
                    Visibility { tabindex: Some(-1), aria_hidden: true, ..Visibility::default() };
            }
        });
        assert_eq!(field.fill, Fill::Hidden, "{attributes}");
    }
    for label in [
        "Leave this field empty",
        "If you are human, leave this blank",
        "Bitte nicht ausfüllen",
        "Ne pas remplir",
        "No rellenar",
        "Não preencher",
        "Не заполняйте это поле",
    ] {
        let field = read("autocomplete=off", |seen| seen.names.associated = label.into());
        assert_eq!(field.fill, Fill::Hidden, "{label}");
    }
}

#[test]
fn trap_marks_around_a_field_count() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let trap = page.place(form, "div", "class=form-honeypot");
    page.labelled(trap, "Website", "name=website");
    page.labelled(form, "Mail", "type=email");
    let reading = page.read();
    assert_eq!(reading.fields[0].fill, Fill::Hidden);
    assert_eq!(reading.fields[1].fill, Fill::Yes);
}

#[test]
fn custom_tab_order_is_not_a_trap() {
    let field = read("name=email", |seen| seen.sight.tabindex = Some(-1));
    assert_eq!(field.fill, Fill::Yes);
}

#[test]
fn secrets_cards_and_files_are_never_filled() {
    for attributes in [
        "type=password",
        "type=file",
        "autocomplete=cc-number",
        "autocomplete=one-time-code",
        "autocomplete=cc-csc type=password",
    ] {
        assert_eq!(read(attributes, |_| {}).fill, Fill::Never, "{attributes}");
    }
}

#[test]
fn read_only_fields_count_as_disabled() {
    assert!(read("", |seen| seen.read_only = true).disabled);
    assert!(read("", |seen| seen.disabled = true).disabled);
    assert!(!read("", |_| {}).disabled);
}
