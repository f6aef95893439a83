//! Scripts for users' charts: every builtin job, rendering, and rejections.

use alloc::{string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{Agent as _, Answer, ChildEnd, FaultClass, Order, ToolCall, Visit},
    chart::{Certificate, Disposition, verify},
    event::Scope,
    governor::Permissions,
    job::{Child, Registry, ToolShape},
};
use serde_json::{Value, json};

mod checked;

use super::{BuiltinAgent, BuiltinData, BuiltinReport, BuiltinTask, MAX_SLOTS, render};
use crate::testing::{TestDriver, hostile_texts, raw};

/// A chart with these states between the usual ends.
fn chart(authority: &str, states: &str) -> String {
    alloc::format!(
        r#"
        chart = "own"
        version = 1
        start = "first"
        authority = "{authority}"
        slots = {{ count = 1 }}
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

fn begun(authority: &str, states: &str) -> TestDriver<BuiltinAgent> {
    let mut driver = TestDriver::<BuiltinAgent>::new(&chart(authority, states), &["search"]);
    driver.begin(json!({"goal": "find it", "slots": {"count": 3}}));
    driver
}

const REPLY: &str = r#"
    [state.first]
    run = "model.reply"
    with = { prompt = "Do: {goal} {{x}} {count}", into = "draft" }
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
    let mut driver = TestDriver::<BuiltinAgent>::new(&chart("propose", TOOL), &["search"]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({"goal": "x"}));
    assert!(driver.running().is_empty());
    driver.decide(false);
    assert_eq!(driver.state(), "cancelled");
}

#[test]
fn a_person_says_yes_or_no_and_a_word_with_it() {
    let states = r#"
        [state.first]
        run = "ask.person"
        with = { question = "Run {goal}?", into = "said" }
        on.yes = "done"
        on.no = "cancelled"
        on.failed = "failed"
    "#;
    for (yes, state) in [(true, "done"), (false, "cancelled")] {
        let mut driver = begun("text", states);
        assert_eq!(
            *driver.order(),
            Order::own(BuiltinTask::Ask { question: "Run find it?".into() })
        );
        driver.report(BuiltinReport::Answered { yes, text: "so be it".into() });
        assert_eq!((driver.state(), driver.run.data.text("said")), (state, "so be it".into()));
    }
    let mut driver = begun("text", states);
    driver.wake();
    assert_eq!(driver.state(), "failed", "a person has as long as the state");
}

const SHELL: &str = r#"
    [state.first]
    run = "shell"
    tools = ["shell"]
    with = { command = ["{goal}", "{goal}", "-n", "{count}; id"], into = "output" }
    on.ok = "done"
    on.nonzero = "fetching"
    on.failed = "failed"
    on.denied = "cancelled"
    on.stuck = "failed"
    [state.fetching]
    run = "http"
    tools = ["http_get"]
    with = { url = "https://a.test/{count}", into = "page" }
    on.ok = "done"
    on.failed = "failed"
    on.denied = "cancelled"
    on.stuck = "failed"
"#;

fn working() -> TestDriver<BuiltinAgent> {
    let mut driver =
        TestDriver::<BuiltinAgent>::new(&chart("propose", SHELL), &["shell", "http_get"]);
    driver.begin(json!({"goal": "find it", "slots": {"count": 3}}));
    driver
}

/// Returns a run whose program has ended badly, so that it fetches a page.
fn fetching() -> TestDriver<BuiltinAgent> {
    let mut driver = working();
    driver.tool(false, "exit code 2\nno such file");
    assert_eq!(driver.run.data.text("output"), "no such file");
    driver
}

fn call(id: &str, tool: &str, arguments: &Value) -> Order<BuiltinTask> {
    Order::Tool(ToolCall { id: id.into(), tool: tool.into(), arguments: raw(arguments) })
}

#[test]
fn a_program_is_a_judged_call_whose_words_no_shell_reads() {
    let mut driver = working();
    // The program is the chart's, and what fills an argument stays one argument.
    let command = json!({"command": "'{goal}' 'find it' -n '3; id'"});
    assert_eq!(*driver.order(), call("first", "shell", &command));
    driver.tool(true, "exit code 0\na\nb");
    assert_eq!((driver.state(), driver.run.data.text("output")), ("done", "a\nb".into()));
    let mut driver = working();
    driver.tool(false, "stopped by signal 9\n");
    assert_eq!(driver.state(), "fetching", "it ended, and not well");
    for never_ran in ["there is no sandbox here", "stopped after 5 ms, its time limit\nhalf"] {
        let mut driver = working();
        driver.tool(false, never_ran);
        assert_eq!((driver.state(), driver.run.data.text("error")), ("failed", never_ran.into()));
    }
}

#[test]
fn a_page_is_a_judged_call_and_its_status_counts() {
    let mut driver = fetching();
    let arguments = json!({"url": "https://a.test/3"});
    assert_eq!(*driver.order(), call("fetching", "http_get", &arguments));
    driver.tool(true, "200 from https://a.test/3, text/plain\nhello\nyou");
    assert_eq!((driver.state(), driver.run.data.text("page")), ("done", "hello\nyou".into()));
    for (said, error) in [
        ("404 from https://a.test/3, text/plain\nnot here", "the status was 404"),
        ("it took longer than 5 ms", "it took longer than 5 ms"),
    ] {
        let mut driver = fetching();
        driver.tool(false, said);
        assert_eq!((driver.state(), driver.run.data.text("error")), ("failed", error.into()));
    }
}

#[test]
fn a_request_that_is_wrong_is_not_repeated() {
    let states = SHELL.replace("tools = [\"http_get\"]", "tools = \"all\"\nattempts = 2");
    for (status, state) in
        [(400, "failed"), (404, "failed"), (408, "fetching"), (429, "fetching"), (503, "fetching")]
    {
        let mut driver = TestDriver::<BuiltinAgent>::new(&chart("propose", &states), &["shell"]);
        driver.begin(json!({"goal": "x"}));
        driver.tool(false, "exit code 1\n");
        driver.tool(false, &alloc::format!("{status} from https://a.test/, text/plain\n"));
        assert_eq!(driver.state(), state, "{status}");
    }
}

#[test]
fn a_program_and_a_page_need_permission_and_the_states_leave() {
    let mut driver =
        TestDriver::<BuiltinAgent>::new(&chart("propose", SHELL), &["shell", "http_get"]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({"goal": "x"}));
    assert!(driver.running().is_empty());
    driver.decide(false);
    assert_eq!(driver.state(), "cancelled");
    assert!(refused("propose", &SHELL.replace("tools = [\"shell\"]", "")), "it must say which");
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
        let mut driver = TestDriver::<BuiltinAgent>::with_children(&source, &[], &children);
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
    driver.fault(FaultClass::Timeout, false);
    let told = "it took too long: the test says so";
    assert_eq!((driver.state(), driver.run.data.text("error")), ("failed", told.into()));
    let mut driver = begun("text", REPLY);
    driver.forget_states();
    driver.cancel(Scope::Run);
    assert_eq!(driver.states(), ["cancelled"]);
}

#[test]
fn placeholders_are_filled_once() {
    let mut data = BuiltinData::default();
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
    let prompt = |driver: &TestDriver<BuiltinAgent>| {
        let state = driver.chart.state(driver.run.core.state).unwrap();
        let (job, at) = (super::REPLY_ID, driver.now);
        let visit = Visit { state, job, item: 0, attempt: 1, held: false, entered: at, now: at };
        driver.run.data.prompt(&visit)
    };
    assert_eq!(prompt(&begun("text", REPLY)), "Do: find it {x} 3");
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
    let mut data = BuiltinData::default();
    data.put("goal", "kept");
    let many: serde_json::Map<String, Value> =
        (0..MAX_SLOTS).map(|at| (alloc::format!("s{at}"), json!(at))).collect();
    for body in [json!("x"), json!({"gaol": "x"}), json!({"goal": 1}), json!({"slots": many})] {
        assert!(BuiltinAgent::begin(&mut data, &raw(&body)).is_err());
        assert_eq!(data.text("goal"), "kept");
    }
}

fn refused(authority: &str, states: &str) -> bool {
    let tools = &["search", "shell", "http_get"].map(ToolShape::named);
    let registry = Registry { agents: &[BuiltinAgent::DECL], tools, children: &[] };
    verify(&chart(authority, states), &registry).is_err()
}
