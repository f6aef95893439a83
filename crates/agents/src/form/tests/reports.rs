//! The report at the end of a run.

use alloc::{format, vec};

use insta::assert_snapshot;
use pointsman_kernel::{
    agent::{Agent, FaultClass},
    chart::Disposition,
    event::Scope,
    governor::{Level, Permissions},
};
use serde_json::json;

use super::{
    super::{CHART, Field, FieldKind, FieldShape, Fill, FormAgent, FormReport, SUBMIT_TOOL},
    INSERTED, config, control, field, fill, name, settled, write,
};
use crate::testing::TestDriver;

fn filled(level: Level) -> TestDriver<FormAgent> {
    let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    driver.permissions =
        Permissions { otherwise: level, attended: false, ..Permissions::allow_all() };
    driver.begin(config());
    driver.give("activate", json!({}));
    driver.report(settled("one"));
    let labelled = |label: &str, field: Field| Field { label: label.into(), ..field };
    driver.report(FormReport::Fields(vec![
        labelled("Full name", Field { required: true, ..name() }),
        labelled("E-mail", Field { kind: FieldKind::Email, ..field("mail", FieldShape::Text) }),
        labelled("Why do you want to come?", field("why", FieldShape::Textarea)),
        labelled(
            "Password",
            Field {
                fill: Fill::Never,
                kind: FieldKind::NewPassword,
                ..field("pw", FieldShape::Password)
            },
        ),
        labelled("I accept the terms", field("terms", FieldShape::Checkbox)),
        labelled(
            "Town",
            Field {
                holds_value: true,
                kind: FieldKind::AddressLevel2,
                ..field("town", FieldShape::Text)
            },
        ),
    ]));
    fill(&mut driver);
    driver.report(super::unfit("the field takes at most 5 characters"));
    driver.report(super::KEPT);
    write(&mut driver, "Because.");
    driver.report(FormReport::Controls {
        controls: vec![control("Back"), control("Send application")],
        shot: Some("page-1.png".into()),
        fingerprint: "one".into(),
        document: "d1".into(),
        note: None,
    });
    driver
}

#[test]
fn a_form_that_was_sent_is_reported() {
    let mut driver = filled(Level::Allow);
    driver.tool(true, "Thank you. We have your application.\n[screenshot page-2.png]");
    assert_snapshot!(FormAgent::result(&driver.run.data).expect("agent reports a result"));
    let report = FormAgent::report(&driver.run.data).expect("agent reports a result");
    assert_eq!(report["filled"], 2);
    assert_eq!(report["fields"][2]["source"], "model");
    assert_eq!(report["fields"][0]["key"], "name");
    assert_eq!(report["sent"]["ok"], true);
    assert_eq!(report["screenshots"], json!(["page-1.png", "page-2.png"]));
}

#[test]
fn a_form_that_was_left_to_the_person_is_reported() {
    let driver = filled(Level::Refuse);
    assert_snapshot!(FormAgent::result(&driver.run.data).expect("agent reports a result"));
}

#[test]
fn a_form_that_failed_is_reported_with_the_field_and_the_reason() {
    let mut driver = super::at_fill(vec![Field { required: true, ..name() }]);
    driver.report(INSERTED);
    driver.fault(FaultClass::Gone, false);
    assert_snapshot!(FormAgent::result(&driver.run.data).expect("agent reports a result"));
}

#[test]
fn unknown_result_of_a_form_is_reported_as_unknown() {
    // It was pressed, and then nothing came.
    let mut driver = filled(Level::Allow);
    driver.wake();
    assert_eq!(driver.state(), "error");
    let told = FormAgent::result(&driver.run.data).expect("agent reports a result");
    let (_, end) = told.split_once("page-1.png\n\n").expect("run has ended");
    assert_snapshot!(end);
    assert_eq!(
        FormAgent::report(&driver.run.data).expect("agent reports a result")["sent"]["ok"],
        json!(null)
    );
    // A host that another site rejected has pressed nothing.
    let mut driver = filled(Level::Allow);
    driver.fault(FaultClass::Forbidden, false);
    assert_eq!((driver.state(), &driver.run.data.sent), ("error", &None));
}

#[test]
fn unanswered_submit_question_sends_nothing() {
    let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    let permissions = Permissions { otherwise: Level::Ask, ..Permissions::allow_all() };
    driver.permissions = Permissions { attended: true, ..permissions };
    driver.begin(config());
    driver.give("activate", json!({}));
    driver.report(settled("one"));
    driver.report(FormReport::Fields(vec![name()]));
    fill(&mut driver);
    driver.report(super::controls(vec![control("Send")]));
    driver.cancel(Scope::Run);
    assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    assert_eq!(driver.run.data.sent, None);
    let told = FormAgent::result(&driver.run.data).expect("agent reports a result");
    assert!(told.contains("`Send` was not pressed: a person stopped it."), "{told}");
}

#[test]
fn report_of_an_unsent_form_says_what_to_do_next() {
    let end = |driver: &TestDriver<FormAgent>| {
        let told = FormAgent::result(&driver.run.data).expect("agent reports a result");
        told.rsplit_once("\n\n").map(|(_, end)| alloc::string::String::from(end))
    };
    // Nothing was to be sent.
    let never = super::with(json!({"sends": false}));
    let mut driver = super::at_fill_with(never, vec![name()]);
    fill(&mut driver);
    driver.report(super::controls(vec![control("Send")]));
    let unsent = "As you asked, `Send` was not pressed.";
    assert_eq!(end(&driver).as_deref(), Some(unsent));
    // Something is the person's.
    let agree = Field { required: true, ..field("I agree", FieldShape::Checkbox) };
    let mut driver = super::at_fill(vec![name(), agree]);
    fill(&mut driver);
    driver.report(super::controls(vec![control("Send")]));
    let unfinished = "Not finished: only you can fill `I AGREE`, which is required.\n\
                      Not pressed: `Send`\n\
                      Next: add an answer for `I AGREE` to the profile, or use `--visible`.";
    assert_eq!(end(&driver).as_deref(), Some(unfinished));
    // There is nothing to press.
    let mut driver = super::at_fill(vec![name()]);
    fill(&mut driver);
    driver.report(super::controls(vec![]));
    assert_eq!(end(&driver).as_deref(), Some("There is no control to press."));
    // The page has no form.
    let mut driver = super::active_with(config());
    driver.report(super::answered("one", 404));
    driver.report(FormReport::Fields(vec![]));
    let none = "Stopped at page 1: the page shows no form (HTTP 404).\n\
                Next: check the page with `pointsman fields https://a.test/apply`.";
    assert_eq!(end(&driver).as_deref(), Some(none));
}

#[test]
fn row_has_dialog_text_and_the_reason_for_no_text() {
    let mut driver = super::at_fill(vec![name(), field("why", FieldShape::Text)]);
    let said = |words: &str| Some(words.into());
    let note = said("a dialog said \"Hello\"");
    driver.report(FormReport::Inserted {
        digest: None,
        value: None,
        unfit: None,
        note: note.clone(),
    });
    driver.report(FormReport::Verified { kept: true, complaint: None, note });
    driver.say("Because.");
    driver.report(super::unfit("the field takes at most 5 characters"));
    driver.report(super::KEPT);
    let notes: vec::Vec<_> = driver.run.data.rows.iter().map(|row| row.note.as_deref()).collect();
    let unfit = "the field takes at most 5 characters";
    assert_eq!(notes, [Some("a dialog said \"Hello\""), Some(unfit)]);
    driver.report(super::controls(vec![]));
    let told = FormAgent::result(&driver.run.data).expect("agent reports a result");
    assert!(told.contains("filled: a dialog said \"Hello\""), "{told}");
    assert!(told.contains("no usable text: the field takes at most 5"), "{told}");
}

#[test]
fn failure_has_a_screenshot() {
    use pointsman_kernel::agent::{Answer, Fault};
    let mut driver = super::at_fill(vec![Field { required: true, ..name() }]);
    let message = "nothing on the page fits `#name` [screenshot /run/1 a.png]".into();
    let class = FaultClass::Invalid;
    driver.answer_last(Answer::Fault(Fault { class, repeatable: false, hint_ms: None, message }));
    let data = &driver.run.data;
    let trouble = "page 1, field `NAME`: nothing on the page fits `#name`";
    assert_eq!(data.trouble.as_deref(), Some(trouble));
    assert_eq!(data.shots, ["/run/1 a.png"]);
    assert_eq!(data.rows[0].note.as_deref(), Some("nothing on the page fits `#name`"));
}

#[test]
fn progress_names_the_page_and_the_field() {
    let mut driver = super::at_fill(vec![name(), field("why", FieldShape::Text)]);
    assert_eq!(FormAgent::stage(&driver.run.data).as_deref(), Some("page 1, field 1 of 2: NAME"));
    fill(&mut driver);
    assert_eq!(FormAgent::stage(&driver.run.data).as_deref(), Some("page 1, field 2 of 2: WHY"));
}

#[test]
fn a_run_that_reaches_its_limit_ends_as_budget_and_names_it() {
    let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    driver.begin(config());
    driver.give("activate", json!({}));
    driver.report(settled("one"));
    let many = (0..150).map(|at| field(&format!("f{at}"), FieldShape::Text)).collect();
    driver.report(FormReport::Fields(many));
    for _ in 0..100 {
        write(&mut driver, "x");
    }
    assert_eq!((driver.state(), driver.ended()), ("over_budget", Some(Disposition::Budget)));
    let trouble = driver.run.data.trouble.as_deref().unwrap_or_default();
    assert!(trouble.contains("the limit of 100 model calls is reached"), "{trouble}");
}
