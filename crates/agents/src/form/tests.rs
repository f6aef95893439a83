//! Scripts for the form agent: main paths, faults, and the law that text never routes.

mod advance;
mod agreed;
mod asides;
mod boundary;
mod facts;
mod money;
mod pages;
mod plans;
mod presses;
mod profiles;
mod reports;

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use pointsman_kernel::{
    agent::{FaultClass, Order},
    chart::{CertificateScope, Disposition},
    event::{Event, Scope},
    job::Influence,
};
use serde_json::{Value, json};

use super::{
    CHART, ControlRole, Field, FieldKind, FieldShape, FormAgent, FormReport, FormTask,
    NavigationControl, SUBMIT_TOOL, SkipReason, Source, Status, ValueOrigin,
};
use crate::testing::{TestDriver, unlimited};

const PAGE: &[&str] = &["idle", "observe", "extract_fields", "plan", "fill"];
const FILE: &str = "/home/ada/profile.toml";

/// A field that a model may write for.
fn field(id: &str, shape: FieldShape) -> Field {
    Field {
        id: id.into(),
        selector: id.into(),
        shape,
        label: id.to_uppercase(),
        ..Field::default()
    }
}

/// A field whose value the profile has.
fn name() -> Field {
    Field { kind: FieldKind::Name, ..field("name", FieldShape::Text) }
}

fn control(label: &str) -> NavigationControl {
    NavigationControl {
        selector: label.into(),
        label: label.into(),
        does: ControlRole::Submit,
        ..NavigationControl::default()
    }
}

fn settled(page: &str) -> FormReport {
    at(page, SITE)
}

fn at(page: &str, origin: &str) -> FormReport {
    let (fingerprint, origin, title) = (page.into(), origin.into(), "Apply".into());
    FormReport::Settled { fingerprint, origin, title, status: None, document: String::new() }
}

/// A page that its server answers with a status.
fn answered(page: &str, status: u16) -> FormReport {
    let (fingerprint, origin, title) = (page.into(), SITE.into(), String::new());
    FormReport::Settled {
        fingerprint,
        origin,
        title,
        status: Some(status),
        document: String::new(),
    }
}

fn controls(controls: Vec<NavigationControl>) -> FormReport {
    let (fingerprint, document) = (String::new(), String::new());
    FormReport::Controls { controls, shot: None, fingerprint, document, note: None }
}

fn refused(kept: bool, complaint: Option<&str>) -> FormReport {
    FormReport::Verified { kept, complaint: complaint.map(String::from), note: None }
}

fn unfit(why: &str) -> FormReport {
    FormReport::Inserted { digest: None, value: None, unfit: Some(why.into()), note: None }
}

fn moved(page: &str) -> FormReport {
    FormReport::Moved {
        fingerprint: page.into(),
        origin: "https://a.test".into(),
        complaint: None,
        shot: None,
        document: String::new(),
    }
}

const INSERTED: FormReport =
    FormReport::Inserted { digest: None, value: None, unfit: None, note: None };
const KEPT: FormReport = FormReport::Verified { kept: true, complaint: None, note: None };
const SITE: &str = "https://a.test";

fn config() -> Value {
    json!({
        "goal": "a job",
        "url": "https://a.test/apply",
        "profile": {"file": FILE, "kinds": ["name", "email"], "answers": ["Why us"], "facts": true},
        "writes": true,
        "sends": true,
        "redact": true,
    })
}

fn with(more: Value) -> Value {
    let mut config = config();
    for (key, value) in more.as_object().expect("JSON has the expected type") {
        config[key.as_str()] = value.clone();
    }
    config
}

fn active_with(config: Value) -> TestDriver<FormAgent> {
    let mut driver = TestDriver::<FormAgent>::new(&unlimited(CHART), &[SUBMIT_TOOL]);
    driver.begin(config);
    driver.give("activate", json!({}));
    driver
}

fn at_fill_with(config: Value, fields: Vec<Field>) -> TestDriver<FormAgent> {
    let mut driver = active_with(config);
    driver.report(settled("one"));
    driver.report(FormReport::Fields(fields));
    driver
}

fn at_fill(fields: Vec<Field>) -> TestDriver<FormAgent> {
    at_fill_with(config(), fields)
}

/// Fills the field under the cursor from the profile.
fn fill(driver: &mut TestDriver<FormAgent>) {
    driver.report(INSERTED);
    driver.report(KEPT);
}

/// Fills it with a model's text.
fn write(driver: &mut TestDriver<FormAgent>, text: &str) {
    driver.say(text);
    fill(driver);
}

fn at_next_page() -> TestDriver<FormAgent> {
    let mut driver = at_fill(vec![name()]);
    fill(&mut driver);
    assert_eq!(driver.state(), "next_page");
    driver
}

fn statuses(driver: &TestDriver<FormAgent>) -> Vec<Status> {
    let told = driver.run.data.rows.iter().map(|row| row.status);
    told.filter(|status| *status != Status::Planned).collect()
}

#[test]
fn no_edge_is_open_to_the_model() {
    let driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    assert!(driver.chart.authority_report().edges.is_empty());
    assert_eq!(driver.chart.certificate().per, CertificateScope::Run);
    for job in super::JOBS {
        assert!(job.outcomes.iter().all(|(_, influence)| *influence == Influence::None));
    }
}

#[test]
fn nothing_touches_the_page_before_a_person_says_so() {
    let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    driver.begin(json!({}));
    assert!(driver.running().is_empty());
    assert!(driver.try_give("activate", json!("go")).is_err(), "a body of another shape");
    assert_eq!(driver.state(), "idle");
}

#[test]
fn the_profile_is_named_and_only_the_rest_is_asked_for() {
    let mut driver = at_fill(vec![name(), field("why", FieldShape::Textarea)]);
    let typed = |field: Field, from: Source| Order::Own {
        task: FormTask::Insert { field: field.into(), from, origin: SITE.into() },
        interactions: 3,
        actions: 0,
    };
    let from = Source::Profile { file: FILE.into(), key: "name".into() };
    assert_eq!(*driver.order(), typed(name(), from.clone()));
    driver.report(INSERTED);
    let verify = FormTask::Verify { field: name().into(), from, origin: SITE.into() };
    assert_eq!(*driver.order(), Order::own(verify));
    driver.report(KEPT);
    let prompt = driver.prompt();
    assert!(matches!(&prompt.messages[..], [it] if format_of(it).contains("WHY")), "{prompt:?}");
    driver.say("Because.\n\nTruly.");
    let from = Source::Written { text: "Because.\n\nTruly.".into() };
    assert_eq!(*driver.order(), typed(field("why", FieldShape::Textarea), from));
    fill(&mut driver);
    driver.report(controls(vec![]));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    let rest = ["verify", "fill", "verify", "next_page", "complete"];
    assert_eq!(driver.states(), [PAGE, &rest].concat());
    let sources: Vec<_> = driver.run.data.rows.iter().map(|row| (row.source, row.status)).collect();
    assert_eq!(
        sources,
        [(ValueOrigin::Profile, Status::Filled), (ValueOrigin::Model, Status::Filled)]
    );
}

fn format_of(message: &pointsman_kernel::prompt::PromptMessage) -> String {
    alloc::format!("{message:?}")
}

#[test]
fn the_prompt_names_the_profile_and_tells_nothing_of_it() {
    let driver = at_fill(vec![field("why", FieldShape::Textarea)]);
    let private = driver.prompt().private.expect("prompt has a private part");
    assert_eq!((private.file.as_str(), private.redact), (FILE, true));
    let plain = with(json!({"redact": false, "profile": {}}));
    let driver = at_fill_with(plain, vec![field("why", FieldShape::Textarea)]);
    assert_eq!(driver.prompt().private, None, "there is nothing to add and nothing to hide");
}

#[test]
fn the_first_page_is_opened_and_the_next_ones_are_waited_for() {
    let mut driver = active_with(config());
    let url = Some("https://a.test/apply".into());
    assert_eq!(*driver.order(), Order::own(FormTask::Settle { url }));
    driver.report(settled("one"));
    driver.report(FormReport::Fields(vec![name()]));
    fill(&mut driver);
    driver.report(controls(vec![control("Next")]));
    driver.report(moved("two"));
    assert_eq!(*driver.order(), Order::own(FormTask::Settle { url: None }));
}

#[test]
fn an_address_that_leads_to_another_site_is_an_error() {
    for (origin, fine) in [
        ("https://a.test", true),
        ("https://www.a.test", true),
        ("https://ok.test", true),
        ("http://a.test", false),
        ("https://a.test:8443", false),
        ("https://evil.test", false),
        ("null", false),
    ] {
        let mut driver = active_with(with(json!({"sites": ["https://ok.test"]})));
        driver.report(at("one", origin));
        assert_eq!(driver.state() == "extract_fields", fine);
        let trouble = driver.run.data.trouble.as_deref();
        assert_eq!(trouble.is_some_and(|it| it.contains("another site")), !fine, "{trouble:?}");
    }
    let mut driver = active_with(with(json!({"url": "http://127.0.0.1:8000/form"})));
    driver.report(at("one", "http://127.0.0.1:8000"));
    assert_eq!(driver.state(), "extract_fields");
}

#[test]
fn an_invalid_value_is_filled_once_more_and_then_it_is_an_error() {
    let mut driver = at_fill(vec![field("mail", FieldShape::Text), field("fax", FieldShape::Text)]);
    driver.say("ada");
    driver.report(INSERTED);
    driver.report(refused(true, Some("no address")));
    assert_eq!(statuses(&driver), [Status::Refused]);
    assert!(format_of(&driver.prompt().messages[0]).contains("no address"));
    write(&mut driver, "ada@a.test");
    // The next field has its own second try.
    for _ in 0..2 {
        assert_eq!(driver.state(), "fill");
        driver.say("1");
        driver.report(INSERTED);
        driver.report(refused(false, None));
    }
    assert_eq!(driver.ended(), Some(Disposition::Failed));
    assert_eq!(driver.state(), "error");
    assert_eq!(statuses(&driver), [Status::Filled, Status::Refused]);
    // The reason for stopping is reported, in the page's words if it has any.
    let trouble = driver.run.data.trouble.as_deref();
    assert_eq!(trouble, Some("page 1, field `FAX`: the page did not keep the value"));
}

#[test]
fn a_value_of_the_profile_is_put_in_again_as_it_is() {
    let mut driver = at_fill(vec![name()]);
    let order = driver.order().clone();
    driver.report(INSERTED);
    driver.report(refused(false, None));
    assert_eq!(*driver.order(), order);
}

#[test]
fn attempts_per_field_follow_the_configuration() {
    for attempts in 1..=5_u16 {
        let chart = super::chart_with(attempts, &[]);
        let mut driver = TestDriver::<FormAgent>::new(&chart, &[SUBMIT_TOOL]);
        driver.begin(config());
        driver.give("activate", json!({}));
        driver.report(settled("one"));
        driver.report(FormReport::Fields(vec![name(), name()]));
        fill(&mut driver);
        for _ in 0..attempts {
            assert_eq!(driver.state(), "fill", "of {attempts}");
            driver.report(INSERTED);
            driver.report(refused(false, None));
        }
        assert_eq!(driver.state(), "error", "after {attempts}");
    }
    let chart = super::chart_with(2, &[]);
    let chart = TestDriver::<FormAgent>::new(&chart, &[SUBMIT_TOOL]).chart.digest();
    assert_eq!(
        chart,
        TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]).chart.digest(),
        "the default"
    );
}

#[test]
fn timeouts_follow_the_configuration() {
    let chart = super::chart_with(2, &[("observe", 90_000), ("verify", 5_500)]);
    let driver = TestDriver::<FormAgent>::new(&chart, &[SUBMIT_TOOL]);
    let timeout = |state: &str| {
        let state = driver.chart.find(state).and_then(|id| driver.chart.state(id));
        match state.expect("value is present").kind() {
            pointsman_kernel::chart::StateKind::Run(work) => work.attempts.timeout,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([timeout("observe"), timeout("verify")], [90_000, 5_500]);
    assert_eq!(timeout("extract_fields"), 15_000);
}

#[test]
fn unreachable_model_is_asked_again_and_its_text_is_kept() {
    let mut driver = at_fill(vec![field("why", FieldShape::Text)]);
    driver.fault(FaultClass::Unavailable, true);
    driver.wake();
    driver.say("because");
    driver.fault(FaultClass::Gone, true);
    assert_eq!(driver.state(), "error");
    let mut driver = at_fill(vec![field("why", FieldShape::Text)]);
    driver.say("because");
    driver.fault(FaultClass::Unavailable, true);
    driver.wake();
    assert!(matches!(driver.order(), Order::Own { .. }), "the text was written down");
}

#[test]
fn timeouts_end_in_error_and_cancelling_in_cancelled() {
    let mut driver = active_with(config());
    driver.wake();
    assert_eq!(driver.states(), ["idle", "observe", "error"]);
    assert!(driver.run.data.trouble.as_deref().is_some_and(|it| it.contains("too long")));
    let mut driver = active_with(config());
    driver.report(INSERTED);
    assert_eq!(driver.state(), "error");
    let mut driver = at_next_page();
    driver.cancel(Scope::Run);
    assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    assert!(driver.try_apply(Event::Woke).is_ok(), "an ended run ignores what is late");
}

#[test]
fn a_page_with_too_many_fields_keeps_two_hundred() {
    let many = (0..250).map(|at| field(&at.to_string(), FieldShape::Text)).collect();
    let mut driver = at_fill(many);
    for _ in 0..200 {
        write(&mut driver, "x");
    }
    assert_eq!(driver.state(), "next_page");
    let left =
        statuses(&driver).iter().filter(|it| **it == Status::Left(SkipReason::TooMany)).count();
    assert_eq!(left, 50);
}

#[test]
fn every_acting_state_can_fail_without_revealing_values() {
    let mut stages: Vec<(&str, TestDriver<FormAgent>)> = vec![("observe", active_with(config()))];
    let mut driver = active_with(config());
    driver.report(settled("one"));
    stages.push(("extract_fields", driver));
    stages.push(("fill", at_fill(vec![name()])));
    let mut driver = at_fill(vec![name()]);
    driver.report(INSERTED);
    stages.push(("verify", driver));
    stages.push(("next_page", at_next_page()));
    for (state, mut driver) in stages {
        assert_eq!(driver.state(), state);
        driver.fault(FaultClass::Gone, false);
        assert_eq!((driver.state(), driver.ended()), ("error", Some(Disposition::Failed)));
        let trouble = driver.run.data.trouble.clone().unwrap_or_default();
        assert!(trouble.contains("the test says so"), "{state}: {trouble}");
    }
}
