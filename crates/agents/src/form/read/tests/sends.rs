//! Which control sends the form.

use super::page::Page;
use crate::form::snapshot::PressEffect;

fn sent_by(page: &Page) -> Option<alloc::string::String> {
    page.read().submit.map(|it| it.label)
}

fn form() -> (Page, usize) {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.labelled(form, "Mail", "type=email");
    page.labelled(form, "Name", "");
    (page, form)
}

#[test]
fn the_submit_control_sends() {
    let (mut page, form) = form();
    page.press(form, PressEffect::Button, "Show password");
    page.press(form, PressEffect::Submit, "Absenden");
    page.press(form, PressEffect::Link, "Forgot password?");
    assert_eq!(sent_by(&page).as_deref(), Some("Absenden"));
}

#[test]
fn other_ways_in_do_not_send() {
    let (mut page, form) = form();
    page.press(form, PressEffect::Submit, "Sign in with Google");
    page.press(form, PressEffect::Submit, "Cancel");
    page.press(form, PressEffect::Submit, "Sign in");
    assert_eq!(sent_by(&page).as_deref(), Some("Sign in"));
}

#[test]
fn a_mere_button_sends_where_it_says_so() {
    let (mut page, form) = form();
    page.press(form, PressEffect::Button, "Hilfe");
    page.press(form, PressEffect::Button, "Weiter");
    assert_eq!(sent_by(&page).as_deref(), Some("Weiter"));
}

#[test]
fn a_hidden_control_gives_way_to_one_that_is_seen() {
    let (mut page, form) = form();
    page.pressed(form, PressEffect::Submit, "Send", |seen| {
        seen.sight.rendered = false;
        seen.selector = "#hidden".into();
    });
    page.press(form, PressEffect::Submit, "Send");
    assert_ne!(page.read().submit.map(|it| it.selector).as_deref(), Some("#hidden"));
}

#[test]
fn a_reset_never_sends() {
    let (mut page, form) = form();
    page.press(form, PressEffect::Reset, "Send");
    assert_eq!(sent_by(&page), None);
}

#[test]
fn button_outside_sends_a_form_without_one() {
    let mut page = Page::new();
    let wrapper = page.place(0, "div", "");
    let form = page.place(wrapper, "form", "");
    page.labelled(form, "Mail", "type=email");
    page.labelled(form, "Name", "");
    page.press(wrapper, PressEffect::Button, "Continue");
    let reading = page.read();
    assert_eq!(reading.submit.map(|it| it.label).as_deref(), Some("Continue"));
    assert_eq!(reading.controls.len(), 1);
}

#[test]
fn a_control_that_names_the_form_belongs_to_it() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.labelled(form, "Mail", "type=email");
    let elsewhere = page.place(0, "div", "");
    page.pressed(elsewhere, PressEffect::Submit, "Send", |seen| seen.form = Some(form));
    assert_eq!(sent_by(&page).as_deref(), Some("Send"));
}
