//! Scripts for the form agent: main paths, faults, and the law that text never routes.

use alloc::{string::ToString, vec, vec::Vec};

use pointsman_kernel::{
    agent::{FaultClass, Order},
    chart::{Disposition, Per},
    event::{Event, Scope},
    job::Influence,
};
use serde_json::json;

use super::{CHART, Control, Field, FieldKind, Form, LeftWhy, Report, Task, text};
use crate::testing::{Driver, hostile_texts};

const PAGE: &[&str] = &["idle", "observe", "extract_fields", "plan", "fill"];

fn field(id: &str, kind: FieldKind) -> Field {
    Field { id: id.into(), kind, label: id.to_uppercase(), ..Field::default() }
}

fn control(label: &str) -> Control {
    Control { id: label.into(), label: label.into(), origin: None }
}

fn settled(page: &str) -> Report {
    Report::Settled { fingerprint: page.into(), origin: "https://a.test".into() }
}

const KEPT: Report = Report::Verified { kept: true, complaint: None };

fn active() -> Driver<Form> {
    let mut driver = Driver::<Form>::new(CHART, &[]);
    driver.begin(json!({"goal": "a job", "profile": {"name": "Ada"}}));
    driver.give("activate", json!({}));
    driver
}

fn at_fill(fields: Vec<Field>) -> Driver<Form> {
    let mut driver = active();
    driver.report(settled("one"));
    driver.report(Report::Fields(fields));
    driver
}

fn at_next_page() -> Driver<Form> {
    let mut driver = at_fill(vec![field("name", FieldKind::Text)]);
    driver.report(Report::Inserted);
    driver.report(KEPT);
    assert_eq!(driver.state(), "next_page");
    driver
}

#[test]
fn no_edge_is_open_to_the_model() {
    let driver = Driver::<Form>::new(CHART, &[]);
    assert!(driver.chart.authority_report().edges.is_empty());
    assert_eq!(driver.chart.certificate().per, Per::Run);
    for job in super::JOBS {
        assert!(job.outcomes.iter().all(|(_, influence)| *influence == Influence::None));
    }
}

#[test]
fn nothing_touches_the_page_before_a_person_says_so() {
    let mut driver = Driver::<Form>::new(CHART, &[]);
    driver.begin(json!({}));
    assert!(driver.running().is_empty());
    assert!(driver.try_give("activate", json!("go")).is_err(), "a body of another shape");
    assert_eq!(driver.state(), "idle");
}

#[test]
fn the_profile_is_typed_without_a_model_and_the_rest_is_asked_for() {
    let mut driver =
        at_fill(vec![field("name", FieldKind::Text), field("why", FieldKind::Textarea)]);
    let typed = |field: &str, value: &str| Order::Own {
        task: Task::Insert { field: field.into(), value: Some(value.into()) },
        interactions: 3,
    };
    assert_eq!(*driver.order(), typed("name", "Ada"));
    driver.report(Report::Inserted);
    driver.report(KEPT);
    assert!(matches!(driver.order(), Order::Model(_)));
    assert!(driver.run.data.prompt().contains("WHY"));
    driver.say("Because.\u{202e}\n\nTruly.");
    assert_eq!(*driver.order(), typed("why", "Because.\n\nTruly."));
    driver.report(Report::Inserted);
    driver.report(KEPT);
    driver.report(Report::Controls(vec![]));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    let rest = ["verify", "fill", "verify", "next_page", "complete"];
    assert_eq!(driver.states(), [PAGE, &rest].concat());
    assert_eq!(driver.run.data.filled, 2);
}

#[test]
fn a_page_without_fields_is_complete_and_so_is_one_without_any_for_us() {
    let mut driver = at_fill(vec![]);
    assert_eq!(driver.states(), ["idle", "observe", "extract_fields", "complete"]);
    driver = at_fill(vec![
        field("secret", FieldKind::Password),
        field("code", FieldKind::OneTimeCode),
        field("card", FieldKind::Card),
        field("cv", FieldKind::File),
        field("map", FieldKind::Unsupported),
        Field { holds_value: true, ..field("name", FieldKind::Text) },
    ]);
    assert_eq!(driver.states(), ["idle", "observe", "extract_fields", "plan", "complete"]);
    let why: Vec<_> = driver.run.data.left.iter().map(|left| left.why).collect();
    let never = LeftWhy::NeverFilled;
    assert_eq!(why, [never, never, never, never, LeftWhy::Unsupported, LeftWhy::HoldsValue]);
}

#[test]
fn an_invalid_value_is_filled_once_more_and_then_it_is_an_error() {
    let mut driver = at_fill(vec![field("mail", FieldKind::Text), field("fax", FieldKind::Text)]);
    let refused = || Report::Verified { kept: true, complaint: Some("no address".into()) };
    driver.say("ada");
    driver.report(Report::Inserted);
    driver.report(refused());
    assert!(driver.run.data.prompt().contains("no address"));
    driver.say("ada@a.test");
    driver.report(Report::Inserted);
    driver.report(KEPT);
    // The next field has its own second try.
    for _ in 0..2 {
        assert_eq!(driver.state(), "fill");
        driver.say("1");
        driver.report(Report::Inserted);
        driver.report(Report::Verified { kept: false, complaint: None });
    }
    assert_eq!(driver.ended(), Some(Disposition::Failed));
    assert_eq!(driver.state(), "error");
}

#[test]
fn pages_follow_each_other_and_one_that_comes_back_is_an_error() {
    let mut driver = at_next_page();
    driver.report(Report::Controls(vec![control("Save and continue"), control("Back")]));
    let press = Task::Press { control: "Save and continue".into() };
    assert_eq!(*driver.order(), Order::Own { task: press, interactions: 1 });
    driver.report(Report::Moved { fingerprint: "two".into() });
    assert_eq!(driver.state(), "observe");
    driver.report(settled("two"));
    driver.report(Report::Fields(vec![field("name", FieldKind::Text)]));
    driver.report(Report::Inserted);
    driver.report(KEPT);
    driver.report(Report::Controls(vec![control("Next")]));
    driver.report(Report::Moved { fingerprint: "two".into() });
    assert_eq!(driver.state(), "error");
    assert_eq!(driver.run.data.page, 2);
}

#[test]
fn twenty_pages_are_turned_and_not_one_more() {
    let mut driver = at_next_page();
    for page in 1..=21 {
        driver.report(Report::Controls(vec![control("Next")]));
        driver.report(Report::Moved { fingerprint: page.to_string() });
        if page == 21 {
            break;
        }
        driver.report(settled(&page.to_string()));
        driver.report(Report::Fields(vec![field("name", FieldKind::Text)]));
        driver.report(Report::Inserted);
        driver.report(KEPT);
    }
    assert_eq!(driver.state(), "error");
    assert_eq!(driver.run.data.page, 21);
}

#[test]
fn what_sends_or_pays_is_left_to_the_person() {
    let elsewhere = Control { origin: Some("https://b.test".into()), ..control("Next") };
    for controls in [
        vec![control("Submit application")],
        vec![control("Continue to payment")],
        vec![control("Next"), control("Continue")],
        vec![control("→")],
        vec![elsewhere],
    ] {
        let mut driver = at_next_page();
        driver.report(Report::Controls(controls.clone()));
        assert_eq!(driver.state(), "complete", "{controls:?}");
        assert_eq!(driver.run.data.handed_over.len(), controls.len());
    }
    // A required password is missing: the person goes on from here.
    let secret = Field { required: true, ..field("secret", FieldKind::Password) };
    let mut driver = at_fill(vec![field("name", FieldKind::Text), secret]);
    driver.report(Report::Inserted);
    driver.report(KEPT);
    driver.report(Report::Controls(vec![control("Next")]));
    assert_eq!(driver.state(), "complete");
}

#[test]
fn a_model_out_of_reach_is_asked_twice_and_its_text_is_kept() {
    let mut driver = at_fill(vec![field("why", FieldKind::Text)]);
    driver.fault(FaultClass::Unavailable, true);
    driver.wake();
    driver.say("because");
    driver.fault(FaultClass::Gone, true);
    assert_eq!(driver.state(), "error");
    let mut driver = at_fill(vec![field("why", FieldKind::Text)]);
    driver.say("because");
    driver.fault(FaultClass::Unavailable, true);
    driver.wake();
    assert!(matches!(driver.order(), Order::Own { .. }), "the text was written down");
}

#[test]
fn timeouts_and_misfits_end_in_error_and_cancelling_in_cancelled() {
    let mut driver = active();
    driver.wake();
    assert_eq!(driver.states(), ["idle", "observe", "error"]);
    assert!(driver.run.data.trouble.as_deref().is_some_and(|it| it.contains("too long")));
    let mut driver = active();
    driver.report(Report::Inserted);
    assert_eq!(driver.state(), "error");
    let mut driver = at_next_page();
    driver.cancel(Scope::Run);
    assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    assert!(driver.try_apply(Event::Woke).is_ok(), "an ended run ignores what is late");
}

#[test]
fn whatever_the_model_writes_the_route_is_the_same() {
    let kinds = [FieldKind::Text, FieldKind::Textarea, FieldKind::Select, FieldKind::Checkbox];
    for complain in [false, true] {
        let mut known: Option<Vec<_>> = None;
        let names: Vec<&str> = PAGE.to_vec();
        for text in hostile_texts(&names) {
            let required = kinds.map(|kind| Field { required: true, ..field("x", kind) });
            let mut driver = at_fill(required.to_vec());
            for at in 0..kinds.len() {
                driver.say(&text);
                driver.report(Report::Inserted);
                if complain && at == 1 {
                    driver.report(Report::Verified { kept: false, complaint: None });
                    driver.say(&text);
                    driver.report(Report::Inserted);
                }
                driver.report(KEPT);
            }
            driver.report(Report::Controls(vec![control("Next")]));
            driver.report(Report::Moved { fingerprint: "two".into() });
            let states: Vec<_> = driver.states().iter().map(ToString::to_string).collect();
            assert_eq!(*known.get_or_insert_with(|| states.clone()), states, "{text:?}");
        }
    }
}

#[test]
fn text_yields_to_the_field() {
    let one = |field: &Field, text: &str| text::usable(field, text);
    let line = Field { word_limit: Some(2), ..field("a", FieldKind::Text) };
    assert_eq!(one(&line, " one\ntwo three ").as_deref(), Some("one two"));
    let short = Field { char_limit: Some(3), ..field("a", FieldKind::Text) };
    assert_eq!(one(&short, "漢字漢字").as_deref(), Some("漢字漢"));
    let choice = Field { options: vec!["Yes, please".into()], ..field("a", FieldKind::Select) };
    assert_eq!(one(&choice, "yes please!").as_deref(), Some("Yes, please"));
    assert_eq!(one(&choice, "no"), None);
    assert_eq!(one(&field("a", FieldKind::Checkbox), "YES").as_deref(), Some("true"));
    assert_eq!(one(&field("a", FieldKind::Password), "hunter2"), None);
    assert_eq!(one(&line, "\0\u{feff} "), None);
}

#[test]
fn a_page_with_too_many_fields_keeps_two_hundred() {
    let many = (0..250).map(|at| field(&at.to_string(), FieldKind::Text)).collect();
    let mut driver = at_fill(many);
    for _ in 0..200 {
        driver.say("x");
        driver.report(Report::Inserted);
        driver.report(KEPT);
    }
    assert_eq!(driver.state(), "next_page");
    assert_eq!(driver.run.data.left.len(), 50);
}
