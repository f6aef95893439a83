//! Which fields are filled, from which source, and which are left to the person.

use alloc::{vec, vec::Vec};

use pointsman_kernel::{agent::FaultClass, chart::Disposition};
use serde_json::json;

use super::{
    super::{
        Choice, FieldKind, FieldShape, Fill, FormReport, FormTask, SkipReason, Source, Status,
    },
    INSERTED, KEPT, active_with, answered, at_fill, at_fill_with, at_next_page, config, control,
    controls, field, fill, moved, name, settled, statuses, with,
};
use crate::form::Field;
use pointsman_kernel::agent::Order;

fn lefts(fields: Vec<Field>, config: serde_json::Value) -> Vec<Status> {
    statuses(&at_fill_with(config, fields))
}

#[test]
fn first_page_without_fields_is_not_a_form() {
    for (status, says) in [
        (None, "page 1: the page shows no form"),
        (Some(200), "page 1: the page shows no form"),
        (Some(403), "page 1: the page shows no form (HTTP 403)"),
        (Some(404), "page 1: the page shows no form (HTTP 404)"),
    ] {
        let mut driver = active_with(config());
        driver.report(status.map_or_else(|| settled("one"), |it| answered("one", it)));
        driver.report(FormReport::Fields(vec![]));
        assert_eq!((driver.state(), driver.ended()), ("error", Some(Disposition::Failed)));
        assert_eq!(driver.run.data.trouble.as_deref(), Some(says));
        let next = driver.run.data.next.as_deref();
        assert_eq!(next, Some("check the page with `pointsman fields https://a.test/apply`"));
    }
    // A page that is missing or broken is none, whatever it asks; one that wants a log-in is.
    for (status, state) in [(404, "error"), (500, "error"), (401, "fill"), (403, "fill")] {
        let mut driver = active_with(config());
        driver.report(answered("one", status));
        driver.report(FormReport::Fields(vec![name()]));
        assert_eq!(driver.state(), state, "{status}");
    }
}

#[test]
fn a_first_page_on_which_nothing_is_ours_is_the_persons() {
    let driver = at_fill(vec![
        field("secret", FieldShape::Password),
        field("code", FieldShape::Codes),
        Field { kind: FieldKind::CcNumber, fill: Fill::Never, ..field("card", FieldShape::Text) },
        field("cv", FieldShape::File),
        field("map", FieldShape::Unsupported),
        field("robot", FieldShape::Captcha),
        Field { holds_value: true, ..name() },
        Field { fill: Fill::Hidden, ..field("trap", FieldShape::Text) },
        Field { disabled: true, ..field("later", FieldShape::Text) },
        Field { kind: FieldKind::Tel, ..field("tel", FieldShape::Text) },
        Field { label: "I agree to the terms".into(), ..field("terms", FieldShape::Checkbox) },
        field("wants", FieldShape::Checkbox),
        field("age", FieldShape::Number),
    ]);
    assert_eq!(driver.states(), ["idle", "observe", "extract_fields", "plan", "handed_over"]);
    assert_eq!(driver.ended(), Some(Disposition::Denied));
    assert!(driver.run.data.why_handed_over.is_some() && driver.run.data.next.is_some());
    let left = [
        SkipReason::NeverFilled,
        SkipReason::NeverFilled,
        SkipReason::NeverFilled,
        SkipReason::NeverFilled,
        SkipReason::Unsupported,
        SkipReason::Captcha,
        SkipReason::HoldsValue,
        SkipReason::Disabled,
        SkipReason::NotInProfile,
        SkipReason::Consent,
        SkipReason::NotInProfile,
        SkipReason::NotInProfile,
    ];
    // Invisible fields do not count.
    assert_eq!(statuses(&driver), left.map(Status::Left));
}

#[test]
fn a_page_that_needs_nothing_of_us_is_passed() {
    // The first page is prefilled.
    let held = || Field { holds_value: true, required: true, ..name() };
    let driver = at_fill(vec![held(), Field { disabled: true, ..field("id", FieldShape::Text) }]);
    assert_eq!(driver.state(), "next_page");
    // One field that is left is enough for it not to be ours.
    let driver =
        at_fill(vec![held(), Field { kind: FieldKind::Tel, ..field("tel", FieldShape::Text) }]);
    assert_eq!(driver.state(), "handed_over");
    // A later page has fields, but none for us; or it has none at all.
    for fields in [
        vec![held()],
        vec![Field { kind: FieldKind::Tel, ..field("tel", FieldShape::Text) }],
        vec![],
    ] {
        let mut driver = at_next_page();
        driver.report(controls(vec![control("Next")]));
        driver.report(moved("two"));
        driver.report(settled("two"));
        driver.report(FormReport::Fields(fields));
        assert_eq!(driver.state(), "next_page");
    }
    // A later page that its server refuses is none.
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Next")]));
    driver.report(moved("two"));
    driver.report(answered("two", 400));
    driver.report(FormReport::Fields(vec![]));
    assert_eq!(driver.state(), "error");
}

#[test]
fn the_model_agrees_to_nothing() {
    let choice = |label: &str| Choice { label: label.into(), ..Choice::default() };
    let asks = |label: &str, shape, options: &[&str]| Field {
        label: label.into(),
        options: options.iter().map(|label| choice(label)).collect(),
        ..field("x", shape)
    };
    for field in [
        asks("Do you agree to the terms?", FieldShape::Radio, &["Yes", "No"]),
        asks("Our rules", FieldShape::Radio, &["I accept", "I do not"]),
        asks("Terms and conditions", FieldShape::Select, &["", "Yes"]),
        asks("Newsletter", FieldShape::Combobox, &["Daily", "Never"]),
        asks("Privacy policy", FieldShape::Listbox, &["Yes", "No"]),
        asks("I agree", FieldShape::Checkbox, &[]),
    ] {
        assert_eq!(
            lefts(vec![field.clone()], config()),
            [Status::Left(SkipReason::Consent)],
            "{field:?}"
        );
    }
    let heard = asks("How did you hear of us?", FieldShape::Radio, &["A friend", "The newsletter"]);
    assert_eq!(at_fill(vec![heard]).state(), "fill");
}

#[test]
fn sensitive_class_needs_permission_and_a_value() {
    let secret = || Field {
        kind: FieldKind::NewPassword,
        fill: Fill::Never,
        ..field("secret", FieldShape::Password)
    };
    let profile = |kinds: &[&str], allow: &[&str]| {
        with(json!({"profile": {"file": "/p", "kinds": kinds, "allow": allow}}))
    };
    let never = [Status::Left(SkipReason::NeverFilled)];
    assert_eq!(lefts(vec![secret()], profile(&["new-password"], &[])), never);
    assert_eq!(lefts(vec![secret()], profile(&[], &["password"])), never);
    assert_eq!(lefts(vec![secret()], profile(&["new-password"], &["card"])), never);
    let driver = at_fill_with(profile(&["new-password"], &["password"]), vec![secret()]);
    assert_eq!(driver.state(), "fill");
    // A captcha is in no class that could be allowed.
    let all = ["password", "one-time-code", "card", "file"];
    let robot = Field { label: "Why us".into(), ..field("robot", FieldShape::Captcha) };
    let answers = json!({"profile": {"file": "/p", "answers": ["Why us"], "allow": all}});
    assert_eq!(lefts(vec![robot], with(answers)), [Status::Left(SkipReason::Captcha)]);
}

#[test]
fn hidden_fields_are_never_filled() {
    let trap = Field { fill: Fill::Hidden, ..name() };
    let config = with(json!({"overwrite": true}));
    let driver = at_fill_with(config, vec![trap, Field { id: "shown".into(), ..name() }]);
    let rows: Vec<_> = driver.run.data.rows.iter().map(|row| row.field.as_str()).collect();
    assert_eq!(rows, ["shown"], "it is neither filled nor counted");
}

#[test]
fn existing_value_is_kept_unless_overwritten() {
    let held = || Field { holds_value: true, ..name() };
    assert_eq!(lefts(vec![held()], config()), [Status::Left(SkipReason::HoldsValue)]);
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
            Order::Own {
                task: FormTask::Insert { from: Source::Profile { key, .. }, .. }, ..
            } => Some(key.clone()),
            _ => None,
        }
    };
    let labelled = |label: &str| Field { label: label.into(), ..field("x", FieldShape::Text) };
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
    // An answer for a label counts before a value for a kind.
    let mail = Field { kind: FieldKind::Email, ..labelled("Why us") };
    assert_eq!(key(mail).as_deref(), Some("answers.Why us"));
    // An answer also agrees, where the person gave one.
    let config = with(json!({"profile": {"file": "/p", "answers": ["I agree"]}}));
    let agree = Field { label: "I agree".into(), ..field("x", FieldShape::Checkbox) };
    assert_eq!(at_fill_with(config, vec![agree]).state(), "fill");
}

#[test]
fn a_list_that_waits_for_another_field_is_filled_in_its_turn() {
    let late =
        Field { disabled: true, kind: FieldKind::Email, ..field("late", FieldShape::Select) };
    assert_eq!(at_fill(vec![late.clone()]).state(), "fill");
    // A field without a value, or one that is not a list, is skipped.
    let unknown = Field { kind: FieldKind::Tel, ..late };
    assert_eq!(lefts(vec![unknown], config()), [Status::Left(SkipReason::Disabled)]);
}

#[test]
fn without_a_model_only_the_profile_fills() {
    let config = with(json!({"writes": false}));
    let why = field("why", FieldShape::Textarea);
    assert_eq!(lefts(vec![why], config), [Status::Left(SkipReason::NotInProfile)]);
}

#[test]
fn the_order_is_that_of_the_page_and_does_not_change() {
    let fields: Vec<Field> = ["c", "a", "b"]
        .map(|id| Field { kind: FieldKind::Email, ..field(id, FieldShape::Text) })
        .into();
    let mut driver = at_fill(fields);
    let order = driver.run.data.order.clone();
    let mut filled = Vec::new();
    while driver.state() == "fill" {
        filled.push(driver.run.data.field().expect("a field is being filled").id.clone());
        assert_eq!(driver.run.data.order, order);
        fill(&mut driver);
    }
    assert_eq!(filled, ["c", "a", "b"]);
}

#[test]
fn unfillable_optional_field_is_skipped_and_reported() {
    let unfit = || super::unfit("none of the choices matches the value");
    let mut driver =
        at_fill(vec![name(), Field { kind: FieldKind::Email, ..field("m", FieldShape::Text) }]);
    driver.report(unfit());
    let origin = super::SITE.into();
    let verify = FormTask::Verify { field: name().into(), from: Source::Nothing, origin };
    assert_eq!(*driver.order(), Order::own(verify));
    driver.report(KEPT);
    assert_eq!(driver.state(), "fill");
    // The page has removed the other one.
    driver.fault(FaultClass::Invalid, false);
    driver.fault(FaultClass::Invalid, false);
    assert_eq!(driver.state(), "next_page");
    assert_eq!(statuses(&driver), [Status::Skipped, Status::Skipped]);
    let notes: Vec<_> = driver.run.data.rows.iter().map(|row| row.note.as_deref()).collect();
    assert_eq!(notes, [Some("none of the choices matches the value"), Some("the test says so")]);

    // Where the form wants it, or the person wants to know, that is an error.
    let mut driver = at_fill(vec![Field { required: true, ..name() }]);
    driver.report(unfit());
    assert_eq!(driver.state(), "error");
    assert_eq!(statuses(&driver), [Status::Failed]);
    let mut driver = at_fill_with(with(json!({"optional": "error"})), vec![name()]);
    driver.report(unfit());
    assert_eq!(driver.state(), "error");
    // A lost browser is not an optional field.
    let mut driver = at_fill(vec![name()]);
    driver.fault(FaultClass::Gone, false);
    assert_eq!(driver.state(), "error");
}

#[test]
fn repeatable_failure_is_retried_before_skipping() {
    let mut driver = at_fill(vec![name()]);
    driver.fault(FaultClass::Invalid, true);
    driver.wake();
    assert_eq!((driver.state(), driver.running().len()), ("fill", 1));
    driver.report(INSERTED);
    driver.report(KEPT);
    assert_eq!(statuses(&driver), [Status::Filled]);
}

#[test]
fn values_are_reported_only_without_redaction() {
    let told = |redact: bool| {
        let mut driver = at_fill_with(with(json!({"redact": redact})), vec![name()]);
        let value = Some("Ada".into());
        driver.report(FormReport::Inserted { digest: None, value, unfit: None, note: None });
        driver.report(KEPT);
        driver.run.data.rows[0].value.clone()
    };
    assert_eq!(told(false).as_deref(), Some("Ada"));
    assert_eq!(told(true), None);
}
