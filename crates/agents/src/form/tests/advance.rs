//! After the last field: controls that are pressed, forms that are sent, and work for the person.

use alloc::{string::ToString, vec, vec::Vec};

use pointsman_kernel::{
    agent::Order,
    chart::Disposition,
    governor::{Level, Permissions},
};
use serde_json::{Value, json};

use super::{
    super::{
        ControlClass, ControlRole, Ending, Field, FieldShape, FormAgent, FormReport, FormTask,
        NavigationControl, SUBMIT_TOOL,
    },
    CHART, SITE, at_fill, at_next_page, config, control, controls, field, fill, moved, name,
    settled, with,
};
use crate::testing::TestDriver;

pub(super) const HANDED_OVER: (&str, Option<Disposition>) =
    ("handed_over", Some(Disposition::Denied));
const DENIED: Option<Ending> = Some(Ending::Denied);

#[test]
fn pages_are_filled_in_turn_and_a_repeated_page_is_an_error() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Save and continue"), control("Back")]));
    let (page, origin) = ("one".to_string(), SITE.to_string());
    let press = FormTask::Press { control: control("Save and continue").into(), page, origin };
    assert_eq!(*driver.order(), Order::touching(press, 1));
    driver.report(moved("two"));
    assert_eq!(driver.state(), "observe");
    driver.report(settled("two"));
    driver.report(FormReport::Fields(vec![name()]));
    fill(&mut driver);
    driver.report(controls(vec![control("Next")]));
    driver.report(FormReport::Moved {
        fingerprint: "two".into(),
        origin: "https://a.test".into(),
        complaint: Some("Enter your date of birth".into()),
        shot: None,
        document: "d2".into(),
    });
    assert_eq!(driver.state(), "error");
    assert_eq!(driver.run.data.page, 2);
    let trouble = driver.run.data.trouble.clone().unwrap_or_default();
    assert!(trouble.contains("Enter your date of birth"), "{trouble}");
}

#[test]
fn twenty_pages_are_turned_and_not_one_more() {
    let mut driver = at_next_page();
    for page in 1..=21 {
        driver.report(controls(vec![control("Next")]));
        driver.report(moved(&page.to_string()));
        if page == 21 {
            break;
        }
        driver.report(settled(&page.to_string()));
        driver.report(FormReport::Fields(vec![name()]));
        fill(&mut driver);
    }
    assert_eq!(driver.state(), "error");
    assert_eq!(driver.run.data.page, 21);
    let trouble = driver.run.data.trouble.as_deref();
    let told = "page 21: the limit of 20 for `pages` is reached (`--budget pages=…` changes it)";
    assert_eq!(trouble, Some(told));
}

#[test]
fn unsafe_controls_are_left_to_the_person() {
    let elsewhere = NavigationControl { origin: Some("https://b.test".into()), ..control("Next") };
    let stuck = NavigationControl { disabled: true, ..control("Next") };
    for (found, why) in [
        (
            vec![
                control("Next"),
                NavigationControl { selector: "2".into(), ..control("Continue") },
            ],
            "could lead to the next page",
        ),
        (vec![elsewhere], "another site"),
        (vec![stuck], "no control can be pressed"),
        (vec![control("Delete my account")], "undo or delete"),
        (vec![control("Submit"), control("Apply")], "2 controls"),
        (
            vec![NavigationControl { does: ControlRole::Button, ..control("Wibble") }],
            "no control clearly leads",
        ),
        (
            vec![NavigationControl { does: ControlRole::Link, ..control("Sign up") }],
            "no control clearly leads",
        ),
    ] {
        let mut driver = at_next_page();
        driver.report(controls(found.clone()));
        assert_eq!((driver.state(), driver.ended()), HANDED_OVER, "{found:?}");
        assert_eq!(driver.run.data.handed_over.len(), found.len());
        let said = driver.run.data.why_handed_over.clone().unwrap_or_default();
        assert!(said.contains(why), "{said} / {why}");
    }
}

#[test]
fn a_required_field_that_is_the_persons_stops_the_way_on() {
    for label in ["Next", "Submit"] {
        let secret = Field { required: true, ..field("secret", FieldShape::Password) };
        let mut driver = at_fill(vec![name(), secret]);
        fill(&mut driver);
        driver.report(controls(vec![control(label)]));
        assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
        let said = driver.run.data.why_handed_over.clone().unwrap_or_default();
        assert!(said.contains("SECRET"), "{said}");
    }
}

#[test]
fn a_captcha_stops_the_way_on_whether_it_is_required_or_not() {
    let mut driver = at_fill(vec![name(), field("robot", FieldShape::Captcha)]);
    fill(&mut driver);
    driver.report(controls(vec![control("Next")]));
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
    assert_eq!(driver.run.data.handed_over, ["Next"]);
}

#[test]
fn a_page_of_another_site_is_not_touched() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Next")]));
    driver.report(FormReport::Moved {
        fingerprint: "two".into(),
        origin: "https://b.test".into(),
        complaint: None,
        shot: None,
        document: "d2".into(),
    });
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
    let said = driver.run.data.why_handed_over.clone().unwrap_or_default();
    assert!(said.contains("https://b.test"), "{said}");
}

pub(super) fn permitted(level: Level, attended: bool) -> TestDriver<FormAgent> {
    let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
    driver.permissions = Permissions { otherwise: level, attended, ..Permissions::allow_all() };
    driver.begin(config());
    driver.give("activate", json!({}));
    driver.report(settled("one"));
    driver.report(FormReport::Fields(vec![name()]));
    fill(&mut driver);
    driver
}

#[test]
fn the_form_is_sent_by_a_call_that_permissions_settle() {
    let mut driver = permitted(Level::Allow, false);
    driver.report(controls(vec![control("Back"), control("Submit application")]));
    let Order::Tool(call) = driver.order() else { panic!("{:?}", driver.order()) };
    assert_eq!(call.tool, SUBMIT_TOOL);
    let arguments: Value = serde_json::from_str(call.arguments.get()).expect("text is valid JSON");
    let label = "Submit application";
    let expected = json!({
        "class": "send", "label": label, "origin": SITE, "page": "one", "selector": label,
    });
    assert_eq!(arguments, expected);
    driver.tool(true, "Thank you, Ada.\n[screenshot abc]");
    assert_eq!((driver.state(), driver.ended()), ("complete", Some(Disposition::Succeeded)));
    let sent = driver.run.data.sent.clone().expect("form was sent");
    assert!(
        sent.ok == Some(true) && sent.says == "Thank you, Ada." && sent.label == label,
        "{sent:?}"
    );
    assert_eq!(driver.run.data.shots, ["abc"]);
}

#[test]
fn a_form_that_is_not_taken_is_an_error_and_is_quoted() {
    let mut driver = permitted(Level::Allow, false);
    driver.report(controls(vec![control("Submit")]));
    driver.tool(false, "There is a problem: enter a valid e-mail address");
    assert_eq!((driver.state(), driver.ended()), ("error", Some(Disposition::Failed)));
    let trouble = driver.run.data.trouble.clone().unwrap_or_default();
    assert!(trouble.contains("enter a valid e-mail address"), "{trouble}");
}

#[test]
fn a_person_is_asked_before_the_form_is_sent() {
    let mut driver = permitted(Level::Ask, true);
    driver.report(controls(vec![control("Submit")]));
    assert!(driver.running().is_empty(), "nothing is sent before the answer");
    driver.decide(true);
    driver.tool(true, "");
    assert_eq!(driver.state(), "complete");
    let mut driver = permitted(Level::Ask, true);
    driver.report(controls(vec![control("Submit")]));
    driver.decide(false);
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
    assert_eq!(driver.run.data.sent, None);
    assert_eq!(driver.run.data.handed_over, ["Submit"]);
}

#[test]
fn form_is_not_sent_unattended_or_if_a_rule_denies() {
    for (level, attended) in [(Level::Ask, false), (Level::Refuse, true), (Level::Refuse, false)] {
        let mut driver = permitted(level, attended);
        driver.report(controls(vec![control("Submit")]));
        assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
        assert_eq!((driver.run.data.sent.clone(), driver.run.data.ending), (None, DENIED));
        assert!(driver.run.data.why_handed_over.is_some());
    }
}

#[test]
fn text_of_a_control_decides_its_effect() {
    use ControlClass::{Aside, Delete, Onward, Pay, Send, Sign, Unknown};
    for (label, class) in [
        ("Next", Onward),
        ("Save and continue", Onward),
        ("Next: your address →", Onward),
        ("Weiter", Onward),
        ("Suivant", Onward),
        ("Далее", Onward),
        ("次へ進む", Onward),
        ("下一步", Onward),
        ("다음", Onward),
        ("Continue to payment", Pay),
        ("Submit and continue", Send),
        ("Create account and continue", Send),
        ("Sign up and continue", Send),
        ("Subscribe & continue", Pay),
        ("Registrieren und weiter", Send),
        ("Valider et continuer", Send),
        ("提交并继续", Send),
        ("Speichern und weiter", Onward),
        ("Enregistrer et continuer", Onward),
        ("保存して次へ", Onward),
        ("Go to the next step", Onward),
        ("Save", Send),
        ("OK", Send),
        ("Go back", Aside),
        ("Save as draft", Aside),
        ("Send", Send),
        ("Sign up", Send),
        ("Log in", Send),
        ("Absenden", Send),
        ("Envoyer", Send),
        ("提交", Send),
        ("Pay £12.00", Pay),
        ("Jetzt kaufen", Pay),
        ("Zahlungspflichtig bestellen", Pay),
        ("Оплатить", Pay),
        ("Accept and send", Sign),
        ("Sign", Sign),
        ("Unterschreiben", Sign),
        ("Delete account", Delete),
        ("Cancel", Delete),
        ("Abbrechen", Delete),
        ("Back", Aside),
        ("Zurück", Aside),
        ("→", Unknown),
        ("Nextdoor", Unknown),
        ("", Unknown),
    ] {
        assert_eq!(control(label).class(), class, "{label}");
    }
}

#[test]
fn with_never_nothing_is_pressed_that_a_page_makes_for_sending() {
    let never = || with(json!({"sends": false}));
    for label in ["Submit", "Continue", "Create account and continue", "Wibble"] {
        let mut driver = super::at_fill_with(never(), vec![name()]);
        fill(&mut driver);
        driver.report(controls(vec![control("Back"), control(label)]));
        assert_eq!((driver.state(), driver.ended()), ("complete", Some(Disposition::Succeeded)));
        assert_eq!(driver.run.data.ending, Some(Ending::Unsent));
        assert_eq!(driver.run.data.handed_over, [label]);
        assert!(driver.verdicts.is_empty(), "nobody was asked");
    }
    // A button that only turns the page is pressed.
    let mut driver = super::at_fill_with(never(), vec![name()]);
    fill(&mut driver);
    driver
        .report(controls(vec![NavigationControl { does: ControlRole::Button, ..control("Next") }]));
    assert!(matches!(driver.order(), Order::Own { task: FormTask::Press { .. }, .. }));
    // What the form wants and has not is still missing.
    let secret = Field { required: true, ..field("secret", FieldShape::Password) };
    let mut driver = super::at_fill_with(never(), vec![name(), secret]);
    fill(&mut driver);
    driver.report(controls(vec![control("Submit")]));
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
}

#[test]
fn missing_required_field_is_reported_without_controls() {
    let secret = Field { required: true, ..field("secret", FieldShape::Password) };
    let mut driver = at_fill(vec![name(), secret]);
    fill(&mut driver);
    driver.report(controls(vec![]));
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
    // So is one that the page has too many fields for.
    let many = (0..201).map(|at| Field { required: true, id: at.to_string(), ..name() });
    let mut driver = at_fill(many.collect());
    while driver.state() == "fill" {
        fill(&mut driver);
    }
    driver.report(controls(vec![control("Send")]));
    assert_eq!((driver.state(), driver.ended()), HANDED_OVER);
}

#[test]
fn paying_and_signing_are_named_as_such() {
    for (label, class) in [("Pay now", "pay"), ("Accept and sign", "sign"), ("Wibble", "send")] {
        let mut driver = permitted(Level::Allow, false);
        driver.report(controls(vec![control(label)]));
        let Order::Tool(call) = driver.order() else { panic!("{:?}", driver.order()) };
        assert!(call.arguments.get().contains(&alloc::format!("\"class\":\"{class}\"")));
    }
}

#[test]
fn allowed_site_continues() {
    let mut driver = super::at_fill_with(with(json!({"sites": ["https://b.test"]})), vec![name()]);
    fill(&mut driver);
    let there = NavigationControl { origin: Some("https://b.test".into()), ..control("Next") };
    driver.report(controls(vec![there]));
    driver.report(FormReport::Moved {
        fingerprint: "two".into(),
        origin: "https://b.test".into(),
        complaint: None,
        shot: Some("two.png".into()),
        document: "d2".into(),
    });
    assert_eq!(driver.state(), "observe");
    assert_eq!(driver.run.data.shots, Vec::from(["two.png".to_string()]));
}
