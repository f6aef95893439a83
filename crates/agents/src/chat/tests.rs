//! Scripts for the chat agent: turns, attempts, batches, hooks, cancels.

mod edges;
mod overflow;
mod prompts;
mod seed;

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    Rejected,
    agent::{Agent, Answer, Fault, FaultClass, Order, Reply, ToolCall, ToolResult},
    chart::{CertificateScope, Disposition},
    event::Scope,
    governor::{Grant, Level, Permissions},
};
use serde_json::json;

use super::{CHART, ChatAgent, ChatReport, ChatTask, CompletedTool, TurnErrorKind};
use crate::{
    testing::{TestDriver, hostile_texts, raw, unlimited},
    transcript::TranscriptMessage,
};

const WAITING: &str = "waiting_for_user_input";
const SORTED: [&str; 2] = ["processing_llm_response", "executing_tools"];

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments: raw(&json!({"path": id})) }
}

fn proposes(driver: &mut TestDriver<ChatAgent>, calls: Vec<ToolCall>) {
    driver.answer_last(Answer::Model(Reply { text: "let me see".into(), calls }));
}

fn result(ok: bool, mutated: bool, output: &str) -> Answer<ChatReport> {
    Answer::Tool(ToolResult { ok, output: output.into(), mutated })
}

fn ready() -> TestDriver<ChatAgent> {
    let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read", "edit"]);
    driver.begin(json!({"system": "be brief"}));
    driver
}

fn asked() -> TestDriver<ChatAgent> {
    let mut driver = ready();
    driver.give("user_input", json!({"text": "hello"}));
    driver
}

/// Returns a conversation with these calls in progress; only started ones are listed.
fn calling(calls: &[(&str, &str)]) -> TestDriver<ChatAgent> {
    let mut driver = asked();
    proposes(&mut driver, calls.iter().map(|(id, tool)| call(id, tool)).collect());
    driver.forget_states();
    driver
}

/// Returns the outputs of the last reply's calls, and fails if one has none.
fn outputs(driver: &TestDriver<ChatAgent>) -> Vec<String> {
    let calls = driver.run.data.transcript.calls();
    calls.iter().map(|it| it.result.as_ref().expect("run has a result").output.clone()).collect()
}

#[test]
fn the_chart_verifies_and_is_bounded_per_turn() {
    let driver = TestDriver::<ChatAgent>::new(CHART, &[]);
    assert_eq!(driver.chart.certificate().per, CertificateScope::Turn);
    let influenced: Vec<_> =
        driver.chart.authority_report().edges.iter().map(|edge| &*edge.outcome).collect();
    assert_eq!(influenced, ["failed", "tool_calls", "text_only", "stuck"]);
}

#[test]
fn a_text_reply_ends_the_turn() {
    let mut driver = asked();
    driver.say("hi");
    assert_eq!(driver.states(), [WAITING, "calling_llm", SORTED[0], WAITING]);
    assert_eq!(
        driver.run.data.transcript.messages(),
        [
            TranscriptMessage::User { text: "hello".into() },
            TranscriptMessage::Assistant { text: "hi".into(), calls: vec![] },
        ]
    );
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn results_keep_request_order() {
    let mut driver = calling(&[("a", "read"), ("b", "read")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[1], result(true, false, "second"));
    assert_eq!(driver.state(), "executing_tools", "one call is still under way");
    driver.answer(running[0], result(true, false, "first"));
    assert_eq!(driver.states(), ["calling_llm"]);
    assert_eq!(outputs(&driver), ["first", "second"]);
}

#[test]
fn a_mutation_runs_the_hook_with_every_tool_of_the_batch() {
    for (ok, answer) in [(true, true), (false, true)].map(|(ok, m)| (ok, result(ok, m, "x"))) {
        let mut driver = calling(&[("a", "read"), ("b", "edit")]);
        let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
        driver.answer(running[0], result(true, false, "seen"));
        driver.answer(running[1], answer);
        assert_eq!(driver.state(), "post_tools_hook");
        let completed_tools = [("read", true), ("edit", ok)]
            .map(|(name, succeeded)| CompletedTool { name: name.into(), succeeded })
            .into();
        assert_eq!(*driver.order(), Order::own(ChatTask::PostTools { completed_tools }));
        let actions: Vec<String> = ["committed 1 file".into()].into();
        driver.report(ChatReport::PostTools { action_taken: ok, actions: actions.clone() });
        assert_eq!(driver.state(), "calling_llm");
        assert_eq!(driver.run.data.hook_acted, Some(ok));
        assert_eq!(driver.run.data.hook_actions, actions);
    }
}

#[test]
fn a_hook_that_fails_or_hangs_does_not_stop_the_conversation() {
    for hangs in [false, true] {
        let mut driver = calling(&[("a", "edit")]);
        driver.answer_last(result(true, true, "done"));
        if hangs {
            driver.wake();
        } else {
            driver.fault(FaultClass::Other, true);
        }
        assert_eq!(driver.states(), ["post_tools_hook", "calling_llm"]);
        assert_eq!(driver.run.data.hook_acted, Some(false));
    }
}

#[test]
fn a_call_that_broke_off_may_have_changed_something() {
    let mut driver = calling(&[("a", "edit")]);
    driver.wake();
    assert_eq!(driver.state(), "post_tools_hook");
    let mut driver = calling(&[("a", "nonsense")]);
    driver.fault(FaultClass::Invalid, false);
    assert_eq!(driver.state(), "calling_llm", "it never ran");
    assert!(driver.run.data.error.is_none(), "a failed call is for the model to read");
}

#[test]
fn three_attempts_then_the_error_is_kept() {
    let mut driver = asked();
    for attempt in 1..=3 {
        assert_eq!(driver.run.core.items[0].attempt, attempt);
        driver.fault(FaultClass::Unavailable, true);
        if attempt < 3 {
            assert_eq!(
                driver.chart.between_attempts(driver.run.core.state),
                driver.chart.find("error")
            );
            driver.wake();
        }
    }
    assert_eq!(driver.states(), [WAITING, "calling_llm", WAITING]);
    assert_eq!(driver.run.data.error.as_ref().unwrap().kind, TurnErrorKind::Failed);
    assert_eq!(driver.run.data.transcript.messages().len(), 1, "the question stays");
    driver.give("user_input", json!({"text": "again"}));
    assert!(driver.run.data.error.is_none());
}

#[test]
fn a_fault_not_worth_repeating_ends_the_turn_at_once() {
    let mut driver = asked();
    let message: String = "no key".into();
    let fault = Fault {
        class: FaultClass::Forbidden,
        repeatable: false,
        hint_ms: None,
        message: message.clone(),
    };
    driver.answer_last(Answer::Fault(fault));
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.run.data.error.as_ref().unwrap().message, message);
    driver.give("input_closed", json!({}));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded), "the person closed it");
}

#[test]
fn a_cancelled_turn_leaves_a_result_for_every_call() {
    let calls: Vec<_> = (0..40).map(|n| format!("c{n}")).collect();
    let calls: Vec<_> = calls.iter().map(|id| (id.as_str(), "read")).collect();
    let mut driver = calling(&calls);
    assert_eq!(driver.running().len(), 8, "as many as the chart lets run at once");
    driver.answer_last(result(true, false, "kept"));
    driver.cancel(Scope::Turn);
    assert_eq!(driver.state(), WAITING);
    let outputs = outputs(&driver);
    assert_eq!(outputs.len(), 40);
    assert_eq!(outputs[7], "kept");
    assert_eq!(driver.run.data.error.as_ref().unwrap().kind, TurnErrorKind::Cancelled);
    driver.give("user_input", json!({"text": "never mind"}));
    driver.say("fine");
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn shutdown_and_cancel_work_from_every_state() {
    let states: [fn() -> TestDriver<ChatAgent>; 5] =
        [ready, asked, || calling(&[("a", "read")]), hooked, backing_off];
    for state in states {
        let mut driver = state();
        driver.cancel(Scope::Shutdown);
        assert_eq!(driver.state(), "shutting_down");
        assert_eq!(driver.ended(), Some(Disposition::Succeeded));
        let mut driver = state();
        driver.cancel(Scope::Run);
        assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    }
}

fn hooked() -> TestDriver<ChatAgent> {
    let mut driver = calling(&[("a", "edit")]);
    driver.answer_last(result(true, true, "x"));
    driver
}

fn backing_off() -> TestDriver<ChatAgent> {
    let mut driver = asked();
    driver.fault(FaultClass::RateLimited, true);
    driver
}

#[test]
fn denied_calls_are_results_and_the_turn_continues() {
    let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read"]);
    let grant = Grant { tool: "edit".into(), arguments: vec![], level: Level::Ask, until: None };
    driver.permissions = Permissions { rules: vec![grant], ..Permissions::allow_all() };
    driver.begin(json!(null));
    driver.give("user_input", json!({"text": "go"}));
    proposes(&mut driver, vec![call("a", "edit")]);
    driver.decide(false);
    assert_eq!(driver.state(), "calling_llm");
    assert!(outputs(&driver)[0].contains("the test says so"));
}

#[test]
fn a_turn_of_the_same_call_over_and_over_is_stopped() {
    let chart = CHART.replace("[any]", "[stuck]\nidentical_call = 3\n\n[any]");
    let mut driver = TestDriver::<ChatAgent>::new(&chart, &[]);
    driver.begin(json!({}));
    driver.give("user_input", json!({"text": "go"}));
    for _ in 0..2 {
        proposes(&mut driver, vec![call("a", "read")]);
        driver.answer_last(result(true, false, "same"));
    }
    proposes(&mut driver, vec![call("a", "read"), call("b", "read")]);
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.run.data.error.as_ref().unwrap().kind, TurnErrorKind::Stuck);
    assert_eq!(outputs(&driver).len(), 2);
}

/// Looks at the same thing over and over, until the governor ends the turn.
fn halted() -> TestDriver<ChatAgent> {
    let mut driver = asked();
    for _ in 0..20 {
        if driver.state() == WAITING {
            break;
        }
        proposes(&mut driver, vec![call("a", "read")]);
        let called = driver.running().into_iter().find(|(_, it)| matches!(it, Order::Tool(_)));
        if let Some((id, _)) = called {
            driver.answer(id, result(true, false, "same"));
        }
    }
    driver
}

#[test]
fn a_loop_is_warned_of_then_refused_then_halted() {
    let driver = halted();
    let levels: Vec<_> = driver.verdicts.iter().map(|verdict| verdict.level).collect();
    assert_eq!(levels, [Level::Warn, Level::Refuse, Level::Refuse, Level::Refuse, Level::Halt]);
    let data = &driver.run.data;
    assert_eq!(data.error.as_ref().unwrap().kind, TurnErrorKind::Stuck);
    assert!(data.advice.is_stuck());
    assert!(outputs(&driver)[0].contains("nothing new"), "each call has a result");
}

#[test]
fn halted_run_that_ends_is_stuck() {
    let mut driver = halted();
    driver.cancel(Scope::Shutdown);
    assert_eq!(driver.state(), "shutting_down");
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
    let mut driver = halted();
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
    // A person who says something starts afresh.
    let mut driver = halted();
    driver.give("user_input", json!({"text": "go another way"}));
    assert!(driver.run.data.advice.is_empty() && driver.run.data.error.is_none());
    driver.say("Gladly.");
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn a_halt_by_a_result_is_why_the_turn_ends() {
    let chart = CHART.replace("[any]", "[stuck]\nsame_error = 2\n\n[any]");
    let mut driver = TestDriver::<ChatAgent>::new(&chart, &[]);
    driver.begin(json!({}));
    driver.give("user_input", json!({"text": "go"}));
    for _ in 0..2 {
        proposes(&mut driver, vec![call("a", "edit")]);
        driver.answer_last(result(false, false, "not found"));
    }
    assert_eq!(driver.state(), WAITING);
    let error = driver.run.data.error.as_ref().unwrap();
    assert_eq!(error.kind, TurnErrorKind::Stuck);
    assert!(error.message.contains("same error"), "{}", error.message);
    assert_eq!(outputs(&driver), ["not found"], "the result stands");
}

#[test]
fn a_turn_has_fifty_rounds_and_the_next_has_fifty_more() {
    let mut driver = TestDriver::<ChatAgent>::new(&unlimited(CHART), &["read"]);
    driver.begin(json!({}));
    driver.give("user_input", json!({"text": "hello"}));
    for turn in 0..2 {
        for round in 0..=50 {
            assert_eq!(driver.state(), "calling_llm", "turn {turn}, round {round}");
            proposes(&mut driver, vec![call(&format!("{turn}-{round}"), "read")]);
            driver.answer_last(result(true, false, "x"));
        }
        assert_eq!(driver.state(), WAITING);
        let error = ChatAgent::turn_error(&driver.run.data).expect("turn ended with an error");
        assert_eq!(error.kind, TurnErrorKind::Budget);
        assert!(error.message.contains("50 for `rounds`"), "{}", error.message);
        if turn == 0 {
            driver.give("user_input", json!({"text": "go on"}));
        }
    }
}

#[test]
fn a_body_that_cannot_be_read_changes_nothing() {
    let mut driver = ready();
    for body in [json!("hello"), json!({"text": ""}), json!({"text": "a", "to": "error"})] {
        assert!(matches!(driver.try_give("user_input", body), Err(Rejected::Body(_))));
    }
    assert_eq!(driver.run.data.transcript.messages(), []);
    assert_eq!(driver.state(), WAITING);
}

#[test]
fn text_alone_never_starts_a_tool() {
    let driver = ready();
    let names: Vec<_> = driver.chart.states().iter().map(|state| state.name().to_owned()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    for text in hostile_texts(&names) {
        if text.trim().is_empty() {
            continue;
        }
        let mut driver = asked();
        driver.say(&text);
        assert_eq!(driver.states(), [WAITING, "calling_llm", SORTED[0], WAITING], "{text:?}");
    }
}
