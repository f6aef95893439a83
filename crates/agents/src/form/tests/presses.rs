//! Reports about a form that the site may have: only known facts.

use alloc::{format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{Agent as _, Answer, Fault, FaultClass, Order},
    governor::{Level, Permissions},
};
use proptest::prelude::*;
use serde_json::json;

use super::{
    super::{
        CHART, ControlRole, Field, FieldKind, FieldShape, FormAgent, FormReport, FormTask,
        NavigationControl, SUBMIT_TOOL,
    },
    INSERTED, KEPT, SITE, active_with, config, control, field, fill, name, with,
};
use crate::testing::TestDriver;

const LOOK: &str = "Check the site before you send it again.";

fn mail() -> Field {
    Field { kind: FieldKind::Email, ..field("mail", FieldShape::Text) }
}

fn script(label: &str) -> NavigationControl {
    NavigationControl { does: ControlRole::Button, ..control(label) }
}

fn settled(page: &str, document: &str) -> FormReport {
    let (fingerprint, origin, title) = (page.into(), SITE.into(), String::new());
    FormReport::Settled { fingerprint, origin, title, status: Some(200), document: document.into() }
}

fn surveyed(page: &str, document: &str, controls: Vec<NavigationControl>) -> FormReport {
    let (fingerprint, document) = (page.into(), document.into());
    FormReport::Controls { controls, shot: None, fingerprint, document, note: None }
}

fn moved(page: &str, document: &str) -> FormReport {
    let (fingerprint, origin, document) = (page.into(), SITE.into(), document.into());
    FormReport::Moved { fingerprint, origin, complaint: None, shot: None, document }
}

/// Fills the two fields of the first page, with or without `sends`.
fn filled(sends: bool) -> TestDriver<FormAgent> {
    let mut driver = active_with(with(json!({"sends": sends})));
    driver.report(settled("one", "d1"));
    driver.report(FormReport::Fields(vec![name(), mail()]));
    fill(&mut driver);
    fill(&mut driver);
    driver
}

/// Returns the last paragraph of the report.
fn end(driver: &TestDriver<FormAgent>) -> String {
    let told = FormAgent::result(&driver.run.data).expect("agent reports a result");
    told.rsplit_once("\n\n").map(|(_, end)| end.into()).expect("run has ended")
}

#[test]
fn sending_next_button_is_reported_as_pressed() {
    // A script sends the form; a control that the page made for sending does.
    for (sends, next) in [(false, script("Next")), (true, script("Next")), (true, control("Next"))]
    {
        let mut driver = filled(sends);
        driver.report(surveyed("one", "d1", vec![next]));
        driver.report(moved("thanks", "d2"));
        driver.report(settled("thanks", "d2"));
        driver.report(FormReport::Fields(vec![]));
        driver.report(surveyed("thanks", "d2", vec![]));
        assert_eq!(driver.state(), "complete");
        let wanted = format!(
            "There is no control to press.\n\
             `Next` was pressed: the site may have the filled-in values. {LOOK}"
        );
        assert_eq!(end(&driver), wanted);
        let report = FormAgent::report(&driver.run.data).expect("agent reports a result");
        assert_eq!((&report["pressed"], &report["by_itself"]), (&json!(["Next"]), &json!(false)));
    }
}

#[test]
fn unpressed_control_is_reported_as_not_pressed() {
    // Whether a page sent data on its own (when a field was left) cannot be seen.
    let mut driver = filled(false);
    driver.report(surveyed("one", "d1", vec![control("Next")]));
    assert_eq!(end(&driver), "As you asked, `Next` was not pressed.");
    assert!(!driver.run.data.by_itself);
}

#[test]
fn automatic_navigation_is_reported() {
    let by_itself = format!(
        "Another page loaded while the form was being filled: the site may have the filled-in \
         values. {LOOK}"
    );
    // It was sent while the last field was left, and the page thanks.
    let mut driver = filled(false);
    driver.report(surveyed("thanks", "d2", vec![]));
    driver.report(settled("thanks", "d2"));
    driver.report(FormReport::Fields(vec![]));
    assert_eq!(driver.state(), "error");
    let wanted = "Stopped at page 1: another page loaded, and it shows no form.";
    assert_eq!(end(&driver), format!("{by_itself}\n{wanted}"));
    assert!(driver.run.data.next.is_none(), "the form need not be looked for");
    // It shows the same form again.
    let mut driver = filled(false);
    driver.report(surveyed("one", "d2", vec![control("Send")]));
    let wanted = format!("As you asked, `Send` was not pressed.\n{by_itself}");
    assert_eq!(end(&driver), wanted);
    // It was reloaded once more, after the controls were listed.
    let mut driver = filled(false);
    driver.report(surveyed("more", "d1", vec![control("Send")]));
    driver.report(settled("more", "d2"));
    assert!(driver.run.data.by_itself);
    // New fields in the same document, and a requested page, do not count.
    let mut driver = filled(true);
    driver.report(surveyed("more", "d1", vec![control("Next")]));
    driver.report(settled("more", "d1"));
    driver.report(FormReport::Fields(vec![Field { holds_value: true, ..name() }]));
    driver.report(surveyed("more", "d1", vec![control("Next")]));
    driver.report(moved("two", "d2"));
    driver.report(settled("two", "d3"));
    assert!(!driver.run.data.by_itself);
}

#[test]
fn unknown_press_is_reported_as_unknown() {
    let fault = |class| {
        let message = "the page did not stand still".into();
        Answer::Fault(Fault { class, repeatable: false, hint_ms: None, message })
    };
    let pressing = || {
        let mut driver = filled(true);
        driver.report(surveyed("one", "d1", vec![script("Next")]));
        assert!(matches!(driver.order(), Order::Own { task: FormTask::Press { .. }, .. }));
        driver
    };
    let mut driver = pressing();
    driver.answer_last(fault(FaultClass::Timeout));
    let wanted = format!(
        "It is unknown whether `Next` was pressed: the site may have the filled-in values. {LOOK}"
    );
    assert!(end(&driver).starts_with(&wanted), "{}", end(&driver));
    // A host that touches no other site has pressed nothing.
    let mut driver = pressing();
    driver.answer_last(fault(FaultClass::Forbidden));
    assert!(!end(&driver).contains("pressed"), "{}", end(&driver));
}

#[test]
fn a_form_that_the_page_refused_may_be_there_all_the_same() {
    let mut driver = filled(true);
    driver.report(surveyed("one", "d1", vec![control("Send")]));
    driver.tool(false, "the site answered with HTTP 500");
    let wanted = "`Send` was pressed, but the page does not seem to have accepted the form: \
                  check the site before you send it again.\n\
                  The page says: the site answered with HTTP 500\n";
    assert!(end(&driver).starts_with(wanted), "{}", end(&driver));
}

/// What may be answered to whatever the agent has asked for.
fn answers() -> impl Strategy<Value = Answer<FormReport>> {
    let page = || prop_oneof![Just("one"), Just("two"), Just("three")];
    let document = || prop_oneof![Just(""), Just("d1"), Just("d2")];
    let label =
        prop_oneof![Just("Next"), Just("Send"), Just("Pay now"), Just("Back"), Just("Wibble")];
    let found = (label, any::<bool>())
        .prop_map(|(label, made)| if made { control(label) } else { script(label) });
    let class = prop_oneof![
        Just(FaultClass::Invalid),
        Just(FaultClass::Timeout),
        Just(FaultClass::Gone),
        Just(FaultClass::Forbidden),
    ];
    prop_oneof![
        4 => (page(), document()).prop_map(|(page, at)| Answer::Own(settled(page, at))),
        4 => prop_oneof![Just(vec![]), Just(vec![name()]), Just(vec![name(), mail()])]
            .prop_map(|fields| Answer::Own(FormReport::Fields(fields))),
        6 => Just(Answer::Own(INSERTED)),
        6 => Just(Answer::Own(KEPT)),
        6 => (page(), document(), prop::collection::vec(found, 0..3))
            .prop_map(|(page, at, found)| Answer::Own(surveyed(page, at, found))),
        6 => (page(), document()).prop_map(|(page, at)| Answer::Own(moved(page, at))),
        1 => class.prop_map(|class| {
            let message = "it failed".into();
            Answer::Fault(Fault { class, repeatable: false, hint_ms: None, message })
        }),
    ]
}

/// Whether an answer matches the question.
fn fits(order: &Order<FormTask>, answer: &Answer<FormReport>) -> bool {
    let Order::Own { task, .. } = order else { return false };
    let Answer::Own(report) = answer else { return true };
    matches!(
        (task, report),
        (FormTask::Settle { .. }, FormReport::Settled { .. })
            | (FormTask::Extract, FormReport::Fields(_))
            | (FormTask::Insert { .. }, FormReport::Inserted { .. })
            | (FormTask::Verify { .. }, FormReport::Verified { .. })
            | (FormTask::Survey, FormReport::Controls { .. })
            | (FormTask::Press { .. }, FormReport::Moved { .. })
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_report_says_that_a_form_was_not_sent_after_a_press(
        answers in prop::collection::vec(answers(), 1..120),
        taken in any::<bool>(),
        level in prop_oneof![Just(Level::Allow), Just(Level::Refuse)],
    ) {
        let mut driver = TestDriver::<FormAgent>::new(CHART, &[SUBMIT_TOOL]);
        driver.permissions =
            Permissions { otherwise: level, attended: false, ..Permissions::allow_all() };
        driver.begin(config());
        driver.give("activate", json!({}));
        let mut pressed = false;
        for answer in answers {
            if driver.ended().is_some() {
                break;
            }
            if matches!(driver.order(), Order::Tool(_)) {
                pressed = true;
                driver.tool(taken, "it says something");
                continue;
            }
            if fits(driver.order(), &answer) {
                let forbidden =
                    matches!(&answer, Answer::Fault(it) if it.class == FaultClass::Forbidden);
                let press = matches!(driver.order(), Order::Own { task: FormTask::Press { .. }, .. });
                pressed |= press && !forbidden;
                driver.answer_last(answer);
            }
        }
        let told = FormAgent::result(&driver.run.data).expect("agent reports a result").to_lowercase();
        for lie in ["not sent", "unsent", "nothing was pressed", "nothing was sent", "not taken"] {
            prop_assert!(!told.contains(lie), "{told}");
        }
        let over = driver.ended().is_some();
        if pressed && over && !told.contains("sent with") {
            prop_assert!(told.contains("check the site before you send it again"), "{told}");
        }
    }
}
