//! Scripts for the research agent: searching, deciding, getting stuck, ending.

mod decisions;
mod offers;
mod prompts;
mod recounts;
mod scenarios;

use alloc::{
    format,
    string::{String, ToString},
    vec,
};

use pointsman_kernel::{
    Rejected,
    agent::{Agent, Answer, FaultClass, Order, Reply, ToolCall, Visit},
    chart::{CertificateScope, Disposition},
    event::Scope,
    governor::{Permissions, Rule},
    prompt::{Prompt, PromptMessage},
    run::Run,
    tool::ToolDecl,
};
use serde_json::{Value, json};

use super::{CHART, ResearchAgent, ResearchReport, ResearchTask, SEARCH};
use crate::testing::{TestDriver, hostile_texts, raw};

const FINISH: &str = r#"{"action": "finish", "final": "It is in main.rs."}"#;

fn search(query: &str) -> String {
    json!({"action": "tool", "tool_name": SEARCH, "args": {"query": query}}).to_string()
}

/// A run that may also read files.
fn begun(config: Value) -> TestDriver<ResearchAgent> {
    let mut driver = TestDriver::<ResearchAgent>::new(CHART, &[SEARCH, "files.read"]);
    driver.begin(config);
    driver
}

fn searching() -> TestDriver<ResearchAgent> {
    begun(json!({"goal": "Where is the parser?", "tools": [SEARCH, "files.read"]}))
}

fn analyzing() -> TestDriver<ResearchAgent> {
    let mut driver = searching();
    driver.tool(true, "parser.rs:1: mod parser");
    driver
}

fn deciding() -> TestDriver<ResearchAgent> {
    let mut driver = analyzing();
    driver.say("It names a parser module.");
    driver.forget_states();
    driver
}

/// Reports what the run asks to be written, as it stands.
fn assembles(driver: &mut TestDriver<ResearchAgent>) {
    let Order::Own { task: ResearchTask::Assemble { text, .. }, .. } = driver.order().clone()
    else {
        panic!("a result is to be put together")
    };
    driver.report(ResearchReport::Assembled { text });
}

fn summarises(driver: &mut TestDriver<ResearchAgent>) {
    let Order::Own { task: ResearchTask::Summarise { draft }, .. } = driver.order().clone() else {
        panic!("a summary is to be written")
    };
    driver.report(ResearchReport::Summarised { text: draft });
}

/// Returns the prompt of the call in progress, as a driver would render it.
fn prompt(driver: &TestDriver<ResearchAgent>) -> Prompt {
    let Order::Model(call) = driver.order() else { panic!("a model is asked") };
    let core = &driver.run.core;
    let state = driver.chart.state(core.state).expect("chart has the state");
    let attempt = core.items[0].attempt;
    let (job, item, entered, now) = (call.job, call.item, core.entered, core.now);
    ResearchAgent::prompt(
        &driver.run.data,
        &Visit { state, job, item, attempt, held: false, entered, now },
    )
}

/// Returns the last message of a prompt.
fn last_words(prompt: &Prompt) -> &str {
    let Some(PromptMessage::User(text)) = prompt.messages.last() else {
        panic!("the host speaks last")
    };
    text
}

fn query_of(driver: &TestDriver<ResearchAgent>) -> String {
    let Order::Tool(call) = driver.order() else { panic!("a tool is called") };
    assert_eq!(call.tool, SEARCH);
    call.arguments.get().into()
}

#[test]
fn the_chart_verifies_and_is_bounded_per_run() {
    let driver = TestDriver::<ResearchAgent>::new(CHART, &[SEARCH]);
    assert_eq!(driver.chart.certificate().per, CertificateScope::Run);
}

#[test]
fn the_goal_is_the_first_query_and_the_answer_is_the_result() {
    let mut driver = searching();
    assert_eq!(query_of(&driver), r#"{"query":"Where is the parser?"}"#);
    driver.tool(true, "parser.rs:1");
    driver.say("It names a file.");
    driver.say(&search("  parser \n entry "));
    assert_eq!(query_of(&driver), r#"{"query":"parser entry"}"#);
    driver.tool(true, "main.rs:9");
    driver.say("That is it.");
    driver.say(FINISH);
    assembles(&mut driver);
    assert_eq!(
        driver.states(),
        [
            "init",
            "searching",
            "analyzing",
            "deciding",
            "searching",
            "analyzing",
            "deciding",
            "finishing",
            "done"
        ]
    );
    assert_eq!(driver.run.data.result.as_deref(), Some("It is in main.rs."));
    assert_eq!(driver.run.data.findings.len(), 2);
    assert_eq!(driver.run.data.findings[1].analysis, "That is it.");
}

#[test]
fn a_goal_of_nothing_is_not_answered() {
    let mut driver = begun(json!({"goal": "  "}));
    assert_eq!(driver.state(), "finishing");
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
}

#[test]
fn an_analysis_may_conclude() {
    let mut driver = analyzing();
    driver.say(&format!("This settles it.\n```json\n{FINISH}\n```"));
    assert_eq!(driver.state(), "finishing");
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn any_other_tool_is_an_act() {
    let mut driver = deciding();
    let arguments = raw(&json!({"path": "a", "depth": 1}));
    let call = ToolCall { id: "x".into(), tool: "files.read".into(), arguments };
    driver.answer_last(Answer::Model(Reply { text: String::new(), calls: vec![call] }));
    assert_eq!(driver.state(), "acting");
    let Order::Tool(call) = driver.order() else { panic!("a tool is called") };
    assert_eq!(call.arguments.get(), r#"{"depth":1,"path":"a"}"#);
    driver.fault(FaultClass::Gone, false);
    assert_eq!(driver.state(), "analyzing", "an error is something to think about");
    assert!(!driver.run.data.findings[1].result.ok);
}

#[test]
fn three_unreadable_decisions_are_stuck_and_never_an_answer() {
    let mut driver = deciding();
    for text in ["", "I would say it is there.", r#"{"action": "dance"}"#] {
        assert_eq!(driver.state(), "deciding");
        driver.say(text);
    }
    assert_eq!(driver.state(), "stuck_decide");
    summarises(&mut driver);
    assembles(&mut driver);
    assert_eq!(driver.states(), ["stuck_decide", "finishing", "stuck"]);
    let result = driver.run.data.result.as_deref().unwrap();
    assert!(result.contains("Where is the parser?") && result.contains("parser module"));
    assert!(result.contains("there is no action `dance`"), "{result}");
}

#[test]
fn no_run_that_was_stuck_is_answered() {
    let stuck: [fn() -> TestDriver<ResearchAgent>; 3] = [
        || {
            let mut driver = searching();
            driver.wake();
            assert_eq!(driver.state(), "stuck_search");
            driver
        },
        || {
            let mut driver = analyzing();
            (0..3).for_each(|_| driver.fault(FaultClass::Unavailable, true));
            assert_eq!(driver.state(), "stuck_analyze");
            driver
        },
        || {
            let mut driver = deciding();
            driver.say(FINISH);
            // The time is up although the answer is known.
            driver.now = driver.now.after(300_000);
            driver.apply(pointsman_kernel::event::Event::Woke);
            assert_eq!(driver.state(), "stuck_decide");
            driver
        },
    ];
    for start in stuck {
        let mut driver = start();
        summarises(&mut driver);
        assembles(&mut driver);
        assert_eq!(driver.ended(), Some(Disposition::Stuck));
        let mut driver = start();
        driver.fault(FaultClass::Other, true);
        assert_eq!(driver.state(), "finishing", "without a summary there is the run's own");
        assembles(&mut driver);
        assert_eq!(driver.ended(), Some(Disposition::Stuck));
        assert!(driver.run.data.result.as_deref().unwrap().contains("No answer"));
    }
}

#[test]
fn warning_stays_in_the_prompt_until_the_next_decision() {
    let chart = CHART.replace("identical_call  = 3\n", "");
    let mut driver = TestDriver::<ResearchAgent>::new(&chart, &[SEARCH, "files.read"]);
    driver.tools.push(ToolDecl::read("files.read", &["path"]));
    driver.begin(json!({"goal": "Where?", "tools": ["files.read", SEARCH]}));
    driver.tool(true, "a");
    let look = |path: &str| json!({"tool": "files.read", "args": {"path": path}}).to_string();
    for _ in 0..4 {
        driver.say("Hm.");
        assert!(!driver.run.data.advice.is_stuck());
        driver.say(&look("a"));
        driver.tool(true, "text");
    }
    assert_eq!(driver.rules(), [Rule::NothingNew]);
    assert!(driver.run.data.advice.is_stuck(), "the analysis and the decision are told");
    driver.say("Hm.");
    assert!(driver.run.data.advice.lines().next().unwrap().contains("in this way before"));
    driver.say(&look("b"));
    assert!(driver.run.data.advice.is_empty());
}

#[test]
fn there_are_twenty_decisions() {
    let mut driver = analyzing();
    for n in 0..20 {
        driver.say("go on");
        assert_eq!(driver.state(), "deciding");
        let text = json!({"tool": "files.read", "args": {"page": n}}).to_string();
        driver.say(&text);
        driver.tool(true, &format!("page {n}"));
    }
    driver.say("go on");
    assert_eq!(driver.state(), "stuck_decide");
}

#[test]
fn a_search_that_is_not_permitted_ends_without_an_answer() {
    let mut driver = TestDriver::<ResearchAgent>::new(CHART, &[SEARCH]);
    driver.permissions = Permissions::default();
    driver.begin(json!({"goal": "Where?"}));
    assert_eq!(driver.states(), ["init", "searching", "finishing"]);
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
    assert!(driver.run.data.result.as_deref().unwrap().contains("not permitted"));
}

#[test]
fn a_report_for_another_job_is_a_failure() {
    let mut driver = deciding();
    driver.say(FINISH);
    driver.report(ResearchReport::Summarised { text: "no".into() });
    assert_eq!(driver.ended(), Some(Disposition::Failed));
}

#[test]
fn cancel_works_from_every_state() {
    for start in [searching, analyzing, deciding] {
        let mut driver = start();
        driver.cancel(Scope::Run);
        assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_refused() {
    let mut driver = TestDriver::<ResearchAgent>::new(CHART, &[SEARCH]);
    let begun = pointsman_kernel::event::RunConfig {
        chart: "research".into(),
        version: driver.chart.version(),
        digest: driver.chart.digest(),
        seed: 0,
        permissions: Permissions::allow_all(),
        tools: vec![],
        checks: false,
        queued: false,
        config: raw(&json!({"question": "Where?"})),
        place: None,
    };
    let took = driver.try_apply(pointsman_kernel::event::Event::Begun(begun.into()));
    assert!(matches!(took, Err(Rejected::Body(_))));
    assert!(driver.run.data.goal.is_empty());
}

#[test]
fn text_without_a_decision_is_always_a_failed_one() {
    for text in hostile_texts(&["finishing", "done"]) {
        let mut driver = deciding();
        (0..3).for_each(|_| driver.say(&text));
        assert_eq!(driver.states(), ["stuck_decide"], "{text:?}");
    }
}

#[test]
fn a_snapshot_in_the_middle_is_the_same_run() {
    let mut driver = deciding();
    driver.say(&search("parser entry"));
    let text = serde_json::to_string(&driver.run).unwrap();
    let run: Run<ResearchAgent> = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&run).unwrap(), text);
}
