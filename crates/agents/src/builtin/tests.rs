//! Scripts for users' charts: every builtin job, rendering, and what is refused.

use alloc::{string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{Agent as _, Answer, ChildEnd, FaultClass, Order, ToolCall, Visit},
    chart::{Certificate, Disposition, verify},
    event::Scope,
    governor::Permissions,
    job::{Child, Registry},
};
use serde_json::{Value, json};

use super::{Builtin, Data, MAX_SLOTS, Report, Task, render};
use crate::testing::{Driver, hostile_texts, raw};

/// A chart with these states between the usual ends.
fn chart(authority: &str, states: &str) -> String {
    alloc::format!(
        r#"
        chart = "own"
        version = 1
        start = "first"
        authority = "{authority}"
        [defaults]
        timeout = "10s"
        [any]
        cancel = "cancelled"
        {states}
        [state.done]
        final = "succeeded"
        [state.failed]
        final = "failed"
        [state.cancelled]
        final = "cancelled"
        "#
    )
}

fn begun(authority: &str, states: &str) -> Driver<Builtin> {
    let mut driver = Driver::<Builtin>::new(&chart(authority, states), &["search"]);
    driver.begin(json!({"goal": "find it", "slots": {"count": 3}}));
    driver
}

const REPLY: &str = r#"
    [state.first]
    run = "model.reply"
    with = { prompt = "Do: {goal} {{x}} {count} {nobody}", into = "draft" }
    on.completed = "done"
    on.failed = "failed"
"#;

#[test]
fn a_reply_goes_into_its_slot_and_routes_nothing() {
    for text in hostile_texts(&["first", "done", "failed"]) {
        let mut driver = begun("text", REPLY);
        driver.say(&text);
        assert_eq!(driver.states(), ["first", "done"]);
        assert_eq!(driver.run.data.text("draft"), text);
    }
    let mut driver = begun("text", REPLY);
    driver.fault(FaultClass::Unavailable, true);
    assert_eq!(driver.state(), "failed");
    assert_eq!(driver.run.data.text("error"), "the test says so");
}

const CHOOSE: &str = r#"
    [state.first]
    run = "model.choose"
    attempts = 2
    with = { prompt = "Which?", from = ["small", "Large"], into = "size" }
    on.chosen = "sorting"
    on.failed = "failed"
    [state.sorting]
    decide = "match"
    with = { slot = "size" }
    on.small = "done"
    on.Large = "failed"
    on.other = "cancelled"
"#;

#[test]
fn a_choice_is_one_of_the_list_or_a_failed_attempt() {
    for (reply, end) in [("small", "done"), ("  \"LARGE\". ", "failed")] {
        let mut driver = begun("choose", CHOOSE);
        driver.say("medium");
        assert_eq!(driver.state(), "first", "the second attempt");
        driver.say(reply);
        assert_eq!(driver.states(), ["first", "sorting", end]);
    }
    for text in hostile_texts(&["done", "sorting", "other"]) {
        let mut driver = begun("choose", CHOOSE);
        driver.say(&text);
        driver.say(&text);
        assert_eq!(driver.states(), ["first", "failed"], "{text:?}");
    }
    assert!(refused("text", CHOOSE), "a choice needs the authority to choose");
}

#[test]
fn a_match_never_takes_a_way_that_is_not_written() {
    let states = r#"
        [state.first]
        await = ["input", "input_closed"]
        on.input = "sorting"
        on.input_closed = "done"
        [state.sorting]
        decide = "match"
        with = { slot = "input" }
        on.yes = "done"
        on.other = "failed"
    "#;
    let mut texts = hostile_texts(&["first", "done", "sorting"]);
    texts.push("other".into());
    for text in texts {
        let mut driver = begun("choose", states);
        driver.give("input", json!({"text": text}));
        assert_eq!(driver.states(), ["first", "sorting", "failed"], "{text:?}");
    }
    let mut driver = begun("choose", states);
    assert!(driver.try_give("input", json!("yes")).is_err(), "a body of another shape");
    driver.give("input", json!({"text": " yes\n"}));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    let mut driver = begun("choose", states);
    driver.give("input_closed", json!(null));
    assert!(driver.run.data.input_closed);
}

const TOOL: &str = r#"
    [state.first]
    run = "tool.call"
    tools = ["search"]
    with = { tool = "search", args = { query = "{goal}", deep = { n = 1 } }, into = "found" }
    on.ok = "done"
    on.stuck = "failed"
    on.denied = "cancelled"
    on.failed = "failed"
"#;

#[test]
fn a_tool_call_is_rendered_judged_and_kept() {
    let mut driver = begun("propose", TOOL);
    let arguments = raw(&json!({"deep": {"n": 1}, "query": "find it"}));
    let call = ToolCall { id: "first".into(), tool: "search".into(), arguments };
    assert_eq!(*driver.order(), Order::Tool(call));
    driver.tool(true, "a line");
    assert_eq!((driver.state(), driver.run.data.text("found")), ("done", "a line".into()));
    let mut driver = begun("propose", TOOL);
    driver.tool(false, "no such index");
    assert_eq!(driver.state(), "failed");
    assert_eq!(driver.run.data.text("error"), "no such index");
    let mut driver = Driver::<Builtin>::new(&chart("propose", TOOL), &["search"]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({"goal": "x"}));
    assert!(driver.running().is_empty());
    driver.decide(false);
    assert_eq!(driver.state(), "cancelled");
    assert!(refused("choose", TOOL), "a call needs the authority to propose");
}

#[test]
fn a_person_a_program_and_a_page_answer_each_in_their_way() {
    let states = r#"
        [state.first]
        run = "ask.person"
        with = { question = "Run {goal}?", into = "said" }
        on.yes = "running"
        on.no = "cancelled"
        on.failed = "failed"
        [state.running]
        run = "shell"
        with = { command = ["{goal}", "{said}", "-n"], into = "output" }
        on.ok = "fetching"
        on.nonzero = "failed"
        on.failed = "failed"
        [state.fetching]
        run = "http"
        with = { url = "https://a.test/{count}", into = "page" }
        on.ok = "done"
        on.failed = "failed"
    "#;
    let yes = || Report::Answered { yes: true, text: "a b; {goal}".into() };
    let mut driver = begun("text", states);
    assert_eq!(*driver.order(), Order::own(Task::Ask { question: "Run find it?".into() }));
    driver.report(yes());
    // The program is the chart's, and what a person said stays one argument.
    let command = vec!["{goal}".into(), "a b; {goal}".into(), "-n".into()];
    assert_eq!(*driver.order(), Order::own(Task::Shell { command }));
    driver.report(Report::Exited { code: 0, output: "fine".into() });
    assert_eq!(*driver.order(), Order::own(Task::Http { url: "https://a.test/3".into() }));
    driver.report(Report::Fetched { status: 204, body: String::new() });
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    assert_eq!(driver.run.data.text("output"), "fine");

    let mut driver = begun("text", states);
    driver.report(yes());
    driver.report(Report::Exited { code: 2, output: String::new() });
    assert_eq!(driver.states(), ["first", "running", "failed"]);
    let mut driver = begun("text", states);
    driver.report(Report::Answered { yes: false, text: String::new() });
    assert_eq!(driver.state(), "cancelled");
    let mut driver = begun("text", states);
    driver.report(yes());
    driver.report(Report::Exited { code: 0, output: String::new() });
    driver.report(Report::Fetched { status: 404, body: String::new() });
    assert_eq!(driver.run.data.text("error"), "the status was 404");
    let mut driver = begun("text", states);
    driver.report(Report::Exited { code: 0, output: String::new() });
    assert_eq!(driver.state(), "failed", "a report that answers nothing asked");
}

#[test]
fn a_child_run_ends_well_or_not() {
    let states = r#"
        [state.first]
        run = "agent"
        with = { chart = "helper", goal = "part of {goal}", into = "part" }
        on.succeeded = "done"
        on.child_failed = "failed"
        on.failed = "cancelled"
    "#;
    let children = [Child { name: "helper", certificate: Certificate::default() }];
    let source = chart("propose", states);
    for (ended, state) in [
        (Disposition::Succeeded, "done"),
        (Disposition::Failed, "failed"),
        (Disposition::Stuck, "failed"),
        (Disposition::Cancelled, "failed"),
    ] {
        let mut driver = Driver::<Builtin>::with_children(&source, &[], &children);
        driver.begin(json!({"goal": "it"}));
        let Order::Child(child) = driver.order() else { panic!("a child is started") };
        assert_eq!(child.goal, "part of it");
        driver.answer_last(Answer::Child(ChildEnd { ended, result: "got it".into() }));
        assert_eq!((driver.state(), driver.run.data.text("part")), (state, "got it".into()));
    }
    assert!(refused("propose", states), "a child that nobody knows");
}

#[test]
fn time_and_cancel_end_a_job() {
    let mut driver = begun("text", REPLY);
    driver.wake();
    assert_eq!(driver.state(), "failed");
    assert_eq!(driver.run.data.text("error"), "it took too long");
    let mut driver = begun("text", REPLY);
    driver.forget_states();
    driver.cancel(Scope::Run);
    assert_eq!(driver.states(), ["cancelled"]);
}

#[test]
fn placeholders_are_filled_once() {
    let mut data = Data::default();
    data.put("goal", "{secret}");
    data.put("secret", "hidden");
    let fill = |text: &str| render::fill(text, &data);
    assert_eq!(fill("a {goal} b"), "a {secret} b", "what was filled in is not read again");
    assert_eq!(fill("{{goal}} }} {"), "{goal} } {");
    assert_eq!(fill("{nobody} { goal } {goal"), "{nobody} {secret} {goal");
    assert_eq!(fill("{{{goal}}}"), "{{secret}}");
    assert_eq!(fill(""), "");
}

#[test]
fn the_prompt_is_the_template_and_the_list() {
    let prompt = |driver: &Driver<Builtin>| {
        let state = driver.chart.state(driver.run.core.state).unwrap();
        let (job, at) = (super::REPLY_ID, driver.now);
        let visit = Visit { state, job, item: 0, attempt: 1, entered: at, now: at };
        driver.run.data.prompt(&visit)
    };
    assert_eq!(prompt(&begun("text", REPLY)), "Do: find it {x} 3 {nobody}");
    assert!(prompt(&begun("choose", CHOOSE)).ends_with("nothing else:\nsmall\nLarge"));
}

#[test]
fn a_choice_is_read_past_quotes_and_case() {
    let list: Vec<String> = vec!["a".into(), "A".into(), "b".into()];
    assert_eq!(render::named(&list, "A").as_deref(), Some("A"));
    assert_eq!(render::named(&list, "`B`.").as_deref(), Some("b"));
    assert_eq!(render::named(&list, "'a'"), None, "two are alike but for case");
    assert_eq!(render::named(&list, "a or b"), None);
}

#[test]
fn a_configuration_that_cannot_be_read_changes_nothing() {
    let mut data = Data::default();
    data.put("goal", "kept");
    let many: serde_json::Map<String, Value> =
        (0..MAX_SLOTS).map(|at| (alloc::format!("s{at}"), json!(at))).collect();
    for body in [json!("x"), json!({"gaol": "x"}), json!({"goal": 1}), json!({"slots": many})] {
        assert!(Builtin::begin(&mut data, &raw(&body)).is_err());
        assert_eq!(data.text("goal"), "kept");
    }
}

fn refused(authority: &str, states: &str) -> bool {
    let registry = Registry { agents: &[Builtin::DECL], tools: &["search"], children: &[] };
    verify(&chart(authority, states), &registry).is_err()
}
