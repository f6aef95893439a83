//! Which fields are filled, from where, and what is left to the person.

use alloc::{vec, vec::Vec};

use pointsman_kernel::{agent::FaultClass, chart::Disposition};
use serde_json::json;

use super::{
    super::{Fill, Kind, Report, Shape, Source, Status, Task, Why},
    INSERTED, KEPT, at_fill, at_fill_with, config, field, fill, name, statuses, with,
};
use crate::form::Field;
use pointsman_kernel::agent::Order;

fn lefts(fields: Vec<Field>, config: serde_json::Value) -> Vec<Status> {
    statuses(&at_fill_with(config, fields))
}

#[test]
fn a_page_without_fields_is_complete_and_so_is_one_without_any_for_us() {
    let driver = at_fill(vec![]);
    assert_eq!(driver.states(), ["idle", "observe", "extract_fields", "complete"]);
    let driver = at_fill(vec![
        field("secret", Shape::Password),
        field("code", Shape::Codes),
        Field { kind: Kind::CcNumber, fill: Fill::Never, ..field("card", Shape::Text) },
        field("cv", Shape::File),
        field("map", Shape::Unsupported),
        field("robot", Shape::Captcha),
        Field { holds_value: true, ..name() },
        Field { fill: Fill::Hidden, ..name() },
        Field { disabled: true, ..name() },
        Field { kind: Kind::Tel, ..field("tel", Shape::Text) },
        Field { label: "I agree to the terms".into(), ..field("terms", Shape::Checkbox) },
        field("wants", Shape::Checkbox),
        field("age", Shape::Number),
    ]);
    assert_eq!(driver.states(), ["idle", "observe", "extract_fields", "plan", "complete"]);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    let left = [
        Why::NeverFilled,
        Why::NeverFilled,
        Why::NeverFilled,
        Why::NeverFilled,
        Why::Unsupported,
        Why::Captcha,
        Why::HoldsValue,
        Why::Hidden,
        Why::Disabled,
        Why::NotInProfile,
        Why::Consent,
        Why::NotInProfile,
        Why::NotInProfile,
    ];
    // Two fields have the id `name`, of which the last word counts.
    let whys: Vec<Status> = left.into_iter().map(Status::Left).collect();
    let by_id = [&whys[..6], &whys[8..]].concat();
    assert_eq!(statuses(&driver), by_id);
}

#[test]
fn a_class_is_filled_only_if_the_profile_allows_it_and_has_the_value() {
    let secret =
        || Field { kind: Kind::NewPassword, fill: Fill::Never, ..field("secret", Shape::Password) };
    let profile = |kinds: &[&str], allow: &[&str]| {
        with(json!({"profile": {"file": "/p", "kinds": kinds, "allow": allow}}))
    };
    let never = [Status::Left(Why::NeverFilled)];
    assert_eq!(lefts(vec![secret()], profile(&["new-password"], &[])), never);
    assert_eq!(lefts(vec![secret()], profile(&[], &["password"])), never);
    assert_eq!(lefts(vec![secret()], profile(&["new-password"], &["card"])), never);
    let driver = at_fill_with(profile(&["new-password"], &["password"]), vec![secret()]);
    assert_eq!(driver.state(), "fill");
    // A captcha is in no class that could be allowed.
    let all = ["password", "one-time-code", "card", "file"];
    let robot = Field { label: "Why us".into(), ..field("robot", Shape::Captcha) };
    let answers = json!({"profile": {"file": "/p", "answers": ["Why us"], "allow": all}});
    assert_eq!(lefts(vec![robot], with(answers)), [Status::Left(Why::Captcha)]);
}

#[test]
fn hidden_fields_are_never_filled_whatever_is_allowed() {
    let trap = Field { fill: Fill::Hidden, ..name() };
    let config = with(json!({"overwrite": true}));
    assert_eq!(lefts(vec![trap], config), [Status::Left(Why::Hidden)]);
}

#[test]
fn what_a_field_holds_is_kept_unless_it_is_to_be_overwritten() {
    let held = || Field { holds_value: true, ..name() };
    assert_eq!(lefts(vec![held()], config()), [Status::Left(Why::HoldsValue)]);
    let driver = at_fill_with(with(json!({"overwrite": true})), vec![held()]);
    assert_eq!(driver.state(), "fill");
}

#[test]
fn an_answer_is_found_by_label_placeholder_name_or_section() {
    let answers = ["Why us", "start_date", "Billing > City"];
    let config =
        || with(json!({"profile": {"file": "/p", "kinds": ["email"], "answers": answers}}));
    let key = |field: Field| {
        let driver = at_fill_with(config(), vec![field]);
        match driver.running().last()?.1 {
            Order::Own { task: Task::Insert { from: Source::Profile { key, .. }, .. }, .. } => {
                Some(key.clone())
            }
            _ => None,
        }
    };
    let labelled = |label: &str| Field { label: label.into(), ..field("x", Shape::Text) };
    assert_eq!(key(labelled("Why us?")).as_deref(), Some("answers.Why us"));
    assert_eq!(key(labelled("why us (optional)")).as_deref(), Some("answers.Why us"));
    assert_eq!(key(labelled("Why them")), None);
    let hinted = Field { placeholder: "Why us?".into(), ..labelled("Reason") };
    assert_eq!(key(hinted).as_deref(), Some("answers.Why us"));
    let mut called = labelled("Date");
    called.attributes.insert("name".into(), "start_date".into());
    assert_eq!(key(called).as_deref(), Some("answers.start_date"));
    let city = |section: &str| Field { context: section.into(), ..labelled("City") };
    assert_eq!(key(city("Billing address")).as_deref(), Some("answers.Billing > City"));
    assert_eq!(key(city("Delivery address")), None);
    // What is said of a label counts before what is known of a kind.
    let mail = Field { kind: Kind::Email, ..labelled("Why us") };
    assert_eq!(key(mail).as_deref(), Some("answers.Why us"));
    // An answer also agrees, where the person gave one.
    let config = with(json!({"profile": {"file": "/p", "answers": ["I agree"]}}));
    let agree = Field { label: "I agree".into(), ..field("x", Shape::Checkbox) };
    assert_eq!(at_fill_with(config, vec![agree]).state(), "fill");
}

#[test]
fn a_list_that_waits_for_another_field_is_filled_in_its_turn() {
    let late = Field { disabled: true, kind: Kind::Email, ..field("late", Shape::Select) };
    assert_eq!(at_fill(vec![late.clone()]).state(), "fill");
    // One that nothing is known for, or that is no list, is left.
    let unknown = Field { kind: Kind::Tel, ..late };
    assert_eq!(lefts(vec![unknown], config()), [Status::Left(Why::Disabled)]);
}

#[test]
fn without_a_model_only_the_profile_fills() {
    let config = with(json!({"writes": false}));
    let why = field("why", Shape::Textarea);
    assert_eq!(lefts(vec![why], config), [Status::Left(Why::NotInProfile)]);
}

#[test]
fn the_order_is_that_of_the_page_and_does_not_change() {
    let fields: Vec<Field> =
        ["c", "a", "b"].map(|id| Field { kind: Kind::Email, ..field(id, Shape::Text) }).into();
    let mut driver = at_fill(fields);
    let order = driver.run.data.order.clone();
    let mut filled = Vec::new();
    while driver.state() == "fill" {
        filled.push(driver.run.data.field().expect("one is filled").id.clone());
        assert_eq!(driver.run.data.order, order);
        fill(&mut driver);
    }
    assert_eq!(filled, ["c", "a", "b"]);
}

#[test]
fn an_optional_field_that_cannot_be_filled_is_skipped_and_said_so() {
    let unfit = || super::unfit("none of the choices is the value");
    let mut driver = at_fill(vec![name(), Field { kind: Kind::Email, ..field("m", Shape::Text) }]);
    driver.report(unfit());
    let origin = super::SITE.into();
    let verify = Task::Verify { field: name().into(), from: Source::Nothing, origin };
    assert_eq!(*driver.order(), Order::own(verify));
    driver.report(KEPT);
    assert_eq!(driver.state(), "fill");
    // The other one is gone from the page.
    driver.fault(FaultClass::Invalid, false);
    driver.fault(FaultClass::Invalid, false);
    assert_eq!(driver.state(), "next_page");
    assert_eq!(statuses(&driver), [Status::Skipped, Status::Skipped]);
    let notes: Vec<_> = driver.run.data.rows.iter().map(|row| row.note.as_deref()).collect();
    assert_eq!(notes, [Some("none of the choices is the value"), Some("the test says so")]);

    // Where the form wants it, or the person wants to know, that is an error.
    let mut driver = at_fill(vec![Field { required: true, ..name() }]);
    driver.report(unfit());
    assert_eq!(driver.state(), "error");
    assert_eq!(statuses(&driver), [Status::Failed]);
    let mut driver = at_fill_with(with(json!({"optional": "error"})), vec![name()]);
    driver.report(unfit());
    assert_eq!(driver.state(), "error");
    // A browser that is gone is nobody's optional field.
    let mut driver = at_fill(vec![name()]);
    driver.fault(FaultClass::Gone, false);
    assert_eq!(driver.state(), "error");
}

#[test]
fn what_may_be_tried_again_is_tried_before_it_is_skipped() {
    let mut driver = at_fill(vec![name()]);
    driver.fault(FaultClass::Invalid, true);
    driver.wake();
    assert_eq!((driver.state(), driver.running().len()), ("fill", 1));
    driver.report(INSERTED);
    driver.report(KEPT);
    assert_eq!(statuses(&driver), [Status::Filled]);
}

#[test]
fn values_are_told_only_where_nothing_is_redacted() {
    let told = |redact: bool| {
        let mut driver = at_fill_with(with(json!({"redact": redact})), vec![name()]);
        let value = Some("Ada".into());
        driver.report(Report::Inserted { digest: None, value, unfit: None, note: None });
        driver.report(KEPT);
        driver.run.data.rows[0].value.clone()
    };
    assert_eq!(told(false).as_deref(), Some("Ada"));
    assert_eq!(told(true), None);
}
