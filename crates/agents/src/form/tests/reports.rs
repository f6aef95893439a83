//! What a person is told at the end of a run.

use alloc::vec;

use insta::assert_snapshot;
use pointsman_kernel::{
    agent::{Agent, FaultClass},
    governor::{Level, Permissions},
};
use serde_json::json;

use super::{
    super::{CHART, Field, Fill, Form, Kind, Report, SUBMIT_TOOL, Shape},
    INSERTED, config, control, field, fill, name, settled, write,
};
use crate::testing::Driver;

fn filled(level: Level) -> Driver<Form> {
    let mut driver = Driver::<Form>::new(CHART, &[SUBMIT_TOOL]);
    driver.permissions =
        Permissions { otherwise: level, attended: false, ..Permissions::allow_all() };
    driver.begin(config());
    driver.give("activate", json!({}));
    driver.report(settled("one"));
    let labelled = |label: &str, field: Field| Field { label: label.into(), ..field };
    driver.report(Report::Fields(vec![
        labelled("Full name", Field { required: true, ..name() }),
        labelled("E-mail", Field { kind: Kind::Email, ..field("mail", Shape::Text) }),
        labelled("Why do you want to come?", field("why", Shape::Textarea)),
        labelled(
            "Password",
            Field { fill: Fill::Never, kind: Kind::NewPassword, ..field("pw", Shape::Password) },
        ),
        labelled("I accept the terms", field("terms", Shape::Checkbox)),
        labelled(
            "Town",
            Field { holds_value: true, kind: Kind::AddressLevel2, ..field("town", Shape::Text) },
        ),
    ]));
    fill(&mut driver);
    driver.report(super::unfit("the field takes 5 characters at most"));
    driver.report(super::KEPT);
    write(&mut driver, "Because.");
    driver.report(Report::Controls {
        controls: vec![control("Back"), control("Send application")],
        shot: Some("page-1.png".into()),
        fingerprint: "one".into(),
    });
    driver
}

#[test]
fn a_form_that_was_sent_is_reported() {
    let mut driver = filled(Level::Allow);
    driver.tool(true, "Thank you. We have your application.\n[screenshot page-2.png]");
    assert_snapshot!(Form::result(&driver.run.data).expect("a report"));
    let report = Form::report(&driver.run.data).expect("a report");
    assert_eq!(report["filled"], 2);
    assert_eq!(report["fields"][2]["source"], "model");
    assert_eq!(report["fields"][0]["key"], "name");
    assert_eq!(report["sent"]["ok"], true);
    assert_eq!(report["screenshots"], json!(["page-1.png", "page-2.png"]));
}

#[test]
fn a_form_that_was_left_to_the_person_is_reported() {
    let driver = filled(Level::Refuse);
    assert_snapshot!(Form::result(&driver.run.data).expect("a report"));
}

#[test]
fn a_form_that_failed_is_reported_with_the_field_and_the_reason() {
    let mut driver = super::at_fill(vec![Field { required: true, ..name() }]);
    driver.report(INSERTED);
    driver.fault(FaultClass::Gone, false);
    assert_snapshot!(Form::result(&driver.run.data).expect("a report"));
}

#[test]
fn progress_names_the_page_and_the_field() {
    let mut driver = super::at_fill(vec![name(), field("why", Shape::Text)]);
    assert_eq!(Form::stage(&driver.run.data).as_deref(), Some("page 1, field 1 of 2: NAME"));
    fill(&mut driver);
    assert_eq!(Form::stage(&driver.run.data).as_deref(), Some("page 1, field 2 of 2: WHY"));
}
