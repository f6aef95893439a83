//! A control that was not pressed because its page has changed: the person is asked again.

use alloc::{format, string::String, vec};

use pointsman_kernel::agent::{Agent as _, Answer, Fault, FaultClass, Order};
use serde_json::{Value, json};

use super::{
    super::{Field, FormAgent, FormReport, FormTask, NOT_PRESSED, NavigationControl},
    SITE, at_next_page, control, controls, name, settled,
};
use crate::testing::TestDriver;

fn not_pressed<R>(what: &str) -> Answer<R> {
    let message = format!("{NOT_PRESSED}{what}");
    Answer::Fault(Fault { class: FaultClass::Invalid, repeatable: false, hint_ms: None, message })
}

/// Returns the arguments of the pending call.
fn call(driver: &TestDriver<FormAgent>) -> Value {
    let Order::Tool(call) = driver.order() else { panic!("no call: {:?}", driver.order()) };
    serde_json::from_str(call.arguments.get()).expect("text is valid JSON")
}

fn read_again(driver: &mut TestDriver<FormAgent>, found: NavigationControl) {
    assert_eq!(driver.state(), "observe");
    driver.report(settled("one"));
    driver.report(FormReport::Fields(vec![Field { holds_value: true, ..name() }]));
    driver.report(controls(vec![found]));
}

#[test]
fn changed_control_is_read_again_and_asked_about_again() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Send")]));
    assert_eq!(
        (&call(&driver)["label"], &call(&driver)["changed"]),
        (&json!("Send"), &Value::Null)
    );
    driver.answer_last(not_pressed("`Send` says `Buy` now [screenshot one.png]"));
    assert!(driver.run.data.sent.is_none(), "nothing was sent");
    read_again(&mut driver, control("Buy"));
    let asked = call(&driver);
    assert_eq!((&asked["label"], &asked["class"]), (&json!("Buy"), &json!("pay")));
    assert_eq!(asked["changed"], "`Send` says `Buy` now");
    driver.tool(true, "Thank you");
    assert_eq!(driver.state(), "complete");
    assert_eq!(driver.run.data.page, 1, "it is the page that it was");
    let told: String = FormAgent::result(&driver.run.data).expect("agent reports a result");
    assert!(told.contains("one.png") && told.contains("`Buy`"), "{told}");
}

#[test]
fn a_next_that_was_not_pressed_is_looked_for_again() {
    let mut driver = at_next_page();
    driver.report(controls(vec![control("Next")]));
    driver.answer_last(not_pressed("it shows other fields"));
    read_again(&mut driver, control("Next"));
    assert!(matches!(driver.order(), Order::Own { task: FormTask::Press { .. }, .. }));
}

#[test]
fn a_page_that_changes_for_ever_ends_with_the_budget() {
    let mut driver = at_next_page();
    for _ in 0..40 {
        if driver.state() == "error" {
            return;
        }
        driver.report(controls(vec![control("Send")]));
        driver.answer_last(not_pressed("it shows other fields"));
        if driver.state() == "observe" {
            driver.report(settled("one"));
            driver.report(FormReport::Fields(vec![Field { holds_value: true, ..name() }]));
        }
    }
    panic!("it never ended");
}

#[test]
fn where_a_form_goes_is_a_part_of_the_call() {
    let mut driver = at_next_page();
    let here = NavigationControl { origin: Some(SITE.into()), ..control("Send") };
    driver.report(controls(vec![here]));
    assert_eq!(call(&driver)["target"], Value::Null, "that it stays is no news");
}
