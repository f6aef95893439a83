//! From page to page: automatic navigation, reading again, and pages that come back.

use alloc::{vec, vec::Vec};

use pointsman_kernel::{agent::Order, chart::Disposition, governor::Level};
use serde_json::json;

use super::{
    super::{
        ControlRole, Field, FieldKind, FieldShape, FormReport, FormTask, NavigationControl, Status,
    },
    advance::{HANDED_OVER, permitted},
    at, at_fill, at_fill_with, at_next_page, control, controls, field, fill, moved, name, settled,
    with, write,
};

#[test]
fn a_page_that_was_seen_before_is_a_bounce_too() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Next")]));
    driver.report(moved("two"));
    driver.report(settled("two"));
    driver.report(FormReport::Fields(vec![name()]));
    fill(&mut driver);
    driver.report(controls(vec![control("Next")]));
    driver.report(moved("one"));
    assert_eq!(driver.state(), "error");
}

#[test]
fn page_that_only_shows_answers_is_sent_if_permitted() {
    let check = |found: Vec<NavigationControl>| {
        let mut driver = permitted(Level::Allow, false);
        driver.report(controls(vec![control("Next")]));
        driver.report(moved("two"));
        driver.report(settled("two"));
        driver.report(FormReport::Fields(vec![]));
        driver.report(controls(found));
        driver
    };
    let link = |label: &str| NavigationControl { does: ControlRole::Link, ..control(label) };
    let driver = check(vec![link("Change"), link("Apply again"), control("Send")]);
    let Order::Tool(call) = driver.order() else { panic!("{:?}", driver.order()) };
    // It is unknown whether it sends this form: `--submit yes` does not cover it.
    assert!(call.arguments.get().contains("\"class\":\"unknown\""), "{call:?}");
    // A way on that is not made for sending is not looked at: it may lead anywhere.
    let driver = check(vec![
        link("Next"),
        NavigationControl { does: ControlRole::Button, ..control("Continue") },
    ]);
    assert_eq!((driver.state(), driver.ended()), ("complete", Some(Disposition::Succeeded)));
    let driver = check(vec![control("Search"), control("Send")]);
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
}

#[test]
fn a_page_that_goes_to_another_site_by_itself_is_not_filled() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Next")]));
    driver.report(moved("two"));
    driver.report(at("two", "https://b.test"));
    assert_eq!((driver.state(), driver.ended()), ("error", Some(Disposition::Failed)));
    let trouble = driver.run.data.trouble.clone().unwrap_or_default();
    assert!(trouble.contains("led to `https://b.test`, which is another site"), "{trouble}");
}

fn surveyed(fingerprint: &str, found: Vec<NavigationControl>) -> FormReport {
    FormReport::Controls {
        controls: found,
        shot: None,
        fingerprint: fingerprint.into(),
        document: alloc::string::String::new(),
        note: None,
    }
}

#[test]
fn fields_that_come_when_another_is_filled_are_filled_too() {
    let mail = || Field { kind: FieldKind::Email, ..field("mail", FieldShape::Text) };
    let held = |field: Field| Field { holds_value: true, ..field };
    let mut driver = at_fill(vec![name(), field("why", FieldShape::Text)]);
    fill(&mut driver);
    write(&mut driver, "Because.");
    driver.report(surveyed("more", vec![control("Send")]));
    assert_eq!(driver.state(), "observe");
    driver.report(settled("more"));
    // What a model wrote is not asked for again, even where the page has lost it.
    let fields = vec![held(name()), field("why", FieldShape::Text), mail()];
    driver.report(FormReport::Fields(fields));
    let Order::Own { task: FormTask::Insert { field: filled, .. }, .. } = driver.order() else {
        panic!("{:?}", driver.order())
    };
    assert_eq!(filled.id, "mail");
    fill(&mut driver);
    let rows: Vec<_> = driver.run.data.rows.iter().map(|row| (row.page, row.status)).collect();
    assert_eq!(rows, [(1, Status::Filled); 3]);
    // An unchanged page is not read a third time.
    driver.report(surveyed("one", vec![control("Send")]));
    let Order::Tool(call) = driver.order() else { panic!("{:?}", driver.order()) };
    assert!(call.arguments.get().contains("\"page\":\"one\""), "{call:?}");
}

#[test]
fn unchanged_page_read_again_continues() {
    let mut driver = at_fill_with(with(json!({"overwrite": true})), vec![name()]);
    fill(&mut driver);
    driver.report(surveyed("less", vec![control("Next")]));
    driver.report(settled("less"));
    driver.report(FormReport::Fields(vec![Field { holds_value: true, ..name() }]));
    assert_eq!(driver.state(), "next_page");
    driver.report(surveyed("less", vec![control("Next")]));
    driver.report(moved("two"));
    driver.report(settled("two"));
    assert_eq!(driver.run.data.page, 2);
    // A field that the page has emptied is filled again.
    let mut driver = at_next_page();
    driver.report(surveyed("more", vec![control("Next")]));
    driver.report(settled("more"));
    driver.report(FormReport::Fields(vec![name()]));
    assert_eq!(driver.state(), "fill");
}
