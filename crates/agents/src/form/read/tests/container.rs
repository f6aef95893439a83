//! Which part of a page is the form: every step of the ranking decides once.

use super::page::Page;
use crate::form::snapshot::PressEffect;

/// The labels of the fields that were taken as the form's.
fn chosen(page: &Page) -> alloc::vec::Vec<alloc::string::String> {
    page.read().fields.into_iter().map(|field| field.label).collect()
}

fn fill(page: &mut Page, place: usize, labels: &[&str]) {
    for label in labels {
        page.labelled(place, label, "");
    }
}

#[test]
fn fields_outside_the_form_come_last() {
    for aside in [
        "header",
        "nav",
        "footer",
        "aside",
        "div role=search",
        "div id=cookie-consent",
        "div class=search-box",
    ] {
        let (tag, attributes) = aside.split_once(' ').unwrap_or((aside, ""));
        let mut page = Page::new();
        let region = page.place(0, tag, attributes);
        let crowded = page.place(region, "form", "");
        fill(&mut page, crowded, &["one", "two", "three", "four"]);
        let form = page.place(0, "form", "");
        fill(&mut page, form, &["mail", "message"]);
        assert_eq!(chosen(&page), ["mail", "message"], "{aside}");
    }
}

#[test]
fn more_fields_win() {
    let mut page = Page::new();
    let small = page.place(0, "form", "");
    fill(&mut page, small, &["one", "two", "three"]);
    let large = page.place(0, "form", "");
    fill(&mut page, large, &["a", "b", "c", "d"]);
    assert_eq!(chosen(&page), ["a", "b", "c", "d"]);
}

#[test]
fn a_group_of_radio_buttons_counts_once() {
    let mut page = Page::new();
    let radios = page.place(0, "form", "");
    for _ in 0..9 {
        page.field(radios, "type=radio name=same", |seen| seen.names.wrapping = "choice".into());
    }
    let form = page.place(0, "form", "");
    fill(&mut page, form, &["a", "b"]);
    assert_eq!(chosen(&page), ["a", "b"]);
}

#[test]
fn of_as_many_fields_more_text_wins() {
    let mut page = Page::new();
    let boxes = page.place(0, "form", "");
    for label in ["x", "y", "z"] {
        page.labelled(boxes, label, "type=checkbox");
    }
    let form = page.place(0, "form", "");
    fill(&mut page, form, &["a", "b", "c"]);
    assert_eq!(chosen(&page), ["a", "b", "c"]);
}

#[test]
fn then_a_submit_control_decides() {
    let mut page = Page::new();
    let mute = page.place(0, "form", "");
    fill(&mut page, mute, &["one", "two", "three"]);
    let form = page.place(0, "form", "");
    fill(&mut page, form, &["a", "b", "c"]);
    page.press(form, PressEffect::Submit, "Send");
    assert_eq!(chosen(&page), ["a", "b", "c"]);
}

#[test]
fn then_being_a_form_decides() {
    let mut page = Page::new();
    let mere = page.place(0, "div", "");
    fill(&mut page, mere, &["one", "two", "three"]);
    let form = page.place(0, "form", "");
    fill(&mut page, form, &["a", "b", "c"]);
    assert_eq!(chosen(&page), ["a", "b", "c"]);
}

#[test]
fn then_the_larger_area_decides() {
    let mut page = Page::new();
    let small = page.place(0, "form", "");
    fill(&mut page, small, &["one", "two", "three"]);
    let large = page.place(0, "form", "");
    fill(&mut page, large, &["a", "b", "c"]);
    page.sighting.places[large].area.width = 900.0;
    assert_eq!(chosen(&page), ["a", "b", "c"]);
}

#[test]
fn then_the_earlier_one_is_taken() {
    let mut page = Page::new();
    let first = page.place(0, "form", "");
    fill(&mut page, first, &["one", "two", "three"]);
    let second = page.place(0, "form", "");
    fill(&mut page, second, &["a", "b", "c"]);
    assert_eq!(chosen(&page), ["one", "two", "three"]);
}

#[test]
fn few_fields_are_a_form_only_with_text_and_a_sign_of_one() {
    // One line without anything that makes it a form: the page itself is all there is.
    let mut page = Page::new();
    let mere = page.place(0, "div", "");
    page.labelled(mere, "lonely", "");
    assert_eq!(page.read().outside.len(), 0, "it is listed with the page");
    // The same line with a submit control is a form.
    page.press(mere, PressEffect::Submit, "Go");
    assert_eq!(chosen(&page), ["lonely"]);
    // Two lines need no such sign.
    let mut page = Page::new();
    let mere = page.place(0, "div", "");
    fill(&mut page, mere, &["a", "b"]);
    let other = page.place(0, "div", "");
    page.labelled(other, "box", "type=checkbox");
    assert_eq!(chosen(&page), ["a", "b"]);
}

#[test]
fn a_form_more_than_eight_elements_up_is_found_as_a_form() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let mut deep = form;
    for _ in 0..12 {
        deep = page.place(deep, "div", "");
    }
    page.labelled(deep, "deep", "");
    page.labelled(form, "flat", "");
    page.press(form, PressEffect::Submit, "Send");
    assert_eq!(chosen(&page), ["deep", "flat"]);
}

#[test]
fn two_forms_are_not_one_and_the_other_is_listed_outside() {
    let mut page = Page::new();
    let wrapper = page.place(0, "main", "");
    let first = page.place(wrapper, "form", "");
    fill(&mut page, first, &["one", "two", "three"]);
    let second = page.place(wrapper, "form", "");
    fill(&mut page, second, &["a"]);
    let reading = page.read();
    assert_eq!(reading.fields.len(), 3);
    assert_eq!(reading.outside.len(), 1);
    assert_eq!(reading.all().count(), 4);
}
