//! Scripts for the code agent: rounds, recoveries, phases, permissions.

mod edges;
mod governed;
mod plans;
mod prompts;
mod recoveries;
mod seed;

use alloc::{format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    Rejected,
    agent::{Agent, Answer, FaultClass, Order, Reply, ToolCall, ToolResult},
    chart::{CertificateScope, Disposition},
    event::Scope,
    governor::Permissions,
    run::Run,
    turn::TurnErrorKind,
};
use serde_json::{Value, json};

use super::{CHART, CodeAgent, CodeData, NoTask, PHASE_COMPLETE, RecoveryAction, Trouble};
use crate::{
    testing::{TestDriver, hostile_texts, raw, unlimited},
    transcript::TranscriptMessage,
};

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: "c".into(), tool: tool.into(), arguments: raw(&arguments) }
}

fn edit(path: &str) -> ToolCall {
    call("edit", json!({"path": path}))
}

fn over(success: bool) -> ToolCall {
    call(PHASE_COMPLETE, json!({"success": success}))
}

fn proposes(driver: &mut TestDriver<CodeAgent>, calls: Vec<ToolCall>) {
    driver.answer_last(Answer::Model(Reply { text: String::new(), calls }));
}

fn result(ok: bool, mutated: bool, output: &str) -> Answer<NoTask> {
    Answer::Tool(ToolResult { ok, output: output.into(), mutated })
}

/// One round: a call, its result, and the judgement.
fn round(driver: &mut TestDriver<CodeAgent>, call: ToolCall, ok: bool, output: &str) {
    let mutates = ok && matches!(call.tool.as_str(), "edit" | "write");
    proposes(driver, vec![call]);
    driver.answer_last(result(ok, mutates, output));
}

fn begun(config: Value) -> TestDriver<CodeAgent> {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.begin(config);
    driver.give("prompt", json!({"text": "make it so"}));
    driver
}

fn phased(count: usize) -> TestDriver<CodeAgent> {
    let phases: Vec<_> = (1..=count).map(|n| json!({"description": format!("part {n}")})).collect();
    let mut driver = TestDriver::<CodeAgent>::new(&unlimited(CHART), &[]);
    driver.begin(json!({ "phases": phases }));
    driver.give("prompt", json!({"text": "make it so"}));
    driver
}

fn edit_loop(driver: &mut TestDriver<CodeAgent>) {
    for _ in 0..3 {
        round(driver, edit("main.rs"), false, "old_string not found");
    }
}

fn notes(data: &CodeData) -> Vec<&str> {
    let notes = data.transcript.messages().iter().filter_map(|message| match message {
        TranscriptMessage::Note { text } => Some(text.as_str()),
        _ => None,
    });
    notes.collect()
}

#[test]
fn the_chart_verifies_and_is_bounded_per_turn() {
    let driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    assert_eq!(driver.chart.certificate().per, CertificateScope::Turn);
    let mut seeds = driver.chart.states().iter().map(pointsman_kernel::chart::State::name);
    assert!(seeds.any(|name| name == "awaiting_permission"));
}

#[test]
fn a_question_is_answered_and_the_session_ends_well() {
    let mut driver = begun(json!({}));
    round(&mut driver, call("read", json!({"path": "a.rs"})), true, "fn a() {}");
    driver.say("It is a function.");
    assert_eq!(
        driver.states(),
        [
            "idle",
            "processing_prompt",
            "streaming_response",
            "executing_tool",
            "progress_check",
            "streaming_response",
            "progress_check",
            "idle"
        ]
    );
    driver.give("input_closed", json!(null));
    assert_eq!(driver.state(), "complete");
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn ten_phases_of_a_hundred_edits_are_never_stuck() {
    let mut driver = phased(10);
    for phase in 1..=10 {
        for n in 0..100 {
            round(&mut driver, edit(&format!("pkg{phase}/file{n}.rs")), true, "edited");
        }
        round(&mut driver, call("shell", json!({"command": "cargo test -q"})), true, "ok");
        proposes(&mut driver, vec![over(true)]);
    }
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    assert!(!driver.states().contains(&"error_recovery"));
    let data = &driver.run.data;
    let records = &data.plan.records;
    assert_eq!((data.plan.phases.len(), records.len()), (10, 10));
    assert!(records.iter().all(|record| record.succeeded && record.tests_passed == Some(true)));
    let calls = records.iter().map(|record| record.calls).sum::<u32>() + data.work.calls;
    let files = records.iter().map(|record| record.files_changed).sum::<usize>();
    assert_eq!((calls, files + data.work.files.len()), (1010, 1000));
    assert!(data.transcript.messages().len() <= 420, "what is kept is bounded");
}

#[test]
fn three_same_errors_are_recovered_from_and_then_halted() {
    let mut driver = begun(json!({}));
    edit_loop(&mut driver);
    assert_eq!(driver.state(), "streaming_response");
    assert!(driver.states().contains(&"error_recovery"));
    assert_eq!(driver.run.data.used, [RecoveryAction::WriteInstead]);
    assert!(notes(&driver.run.data)[0].contains("write the whole file"));
    round(&mut driver, call("write", json!({"path": "main.rs"})), true, "written");
    assert_eq!(driver.state(), "streaming_response", "work that moves goes on");
    edit_loop(&mut driver);
    assert_eq!(driver.run.data.used, [RecoveryAction::WriteInstead, RecoveryAction::ReRead]);
    // Sooner or later the call is refused where it stands, and then it is one too many.
    for _ in 0..10 {
        if driver.ended().is_none() {
            proposes(&mut driver, vec![edit("main.rs")]);
        }
        if let Some((id, Order::Tool(_))) = driver.running().last().copied() {
            driver.answer(id, result(false, false, "old_string not found"));
        }
    }
    assert_eq!(driver.state(), "halted");
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
}

#[test]
fn a_look_in_between_does_not_hide_a_loop() {
    let mut driver = begun(json!({}));
    for from in 0..3 {
        assert_eq!(driver.run.data.used, []);
        let look = call("read", json!({"path": "main.rs", "from": from}));
        round(&mut driver, look, true, &format!("line {from}"));
        round(&mut driver, edit("main.rs"), false, "not found");
    }
    assert_eq!(driver.run.data.used, [RecoveryAction::WriteInstead]);
}

#[test]
fn a_model_that_cannot_be_reached_is_waited_for_once() {
    let mut driver = begun(json!({}));
    for visit in 0..2 {
        for attempt in 1..=3 {
            assert_eq!(driver.state(), "streaming_response", "visit {visit}, attempt {attempt}");
            driver.fault(FaultClass::Unavailable, true);
            if attempt < 3 {
                driver.wake();
            }
        }
    }
    assert_eq!(driver.state(), "halted");
    assert!(matches!(driver.run.data.trouble, Some(Trouble::NoReply { .. })));
}

#[test]
fn unrecoverable_error_is_a_failure() {
    for class in [FaultClass::Forbidden, FaultClass::Invalid, FaultClass::Contract] {
        let mut driver = begun(json!({}));
        driver.fault(class, false);
        assert_eq!(driver.ended(), Some(Disposition::Failed));
        assert_eq!(driver.state(), "halted_failed");
        assert_eq!(CodeAgent::turn_error(&driver.run.data).unwrap().kind, TurnErrorKind::Failed);
    }
}

#[test]
fn a_phase_has_three_recoveries_and_the_next_has_three_more() {
    let mut driver = phased(2);
    let trouble = |driver: &mut TestDriver<CodeAgent>| {
        driver.fault(FaultClass::Timeout, false);
        driver.fault(FaultClass::Unavailable, false);
        driver.fault(FaultClass::Gone, false);
        assert_eq!(driver.run.data.used.len(), 3);
    };
    trouble(&mut driver);
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.state(), "streaming_response");
    trouble(&mut driver);
    driver.fault(FaultClass::Other, false);
    assert_eq!(driver.state(), "halted", "the fourth is one too many, whatever its rule");
}

#[test]
fn a_phase_ends_by_word_and_only_once() {
    let mut driver = phased(2);
    proposes(&mut driver, vec![over(true), over(true)]);
    let results: Vec<_> = {
        let Some(TranscriptMessage::Assistant { calls, .. }) =
            driver.run.data.transcript.messages().get(2)
        else {
            panic!("the reply stands after the prompt and the phase")
        };
        calls.iter().map(|it| it.result.as_ref().unwrap().ok).collect()
    };
    assert_eq!(results, [true, false]);
    assert_eq!(driver.run.data.plan.records.len(), 1);
    let first = call(PHASE_COMPLETE, json!({"success": true, "phase": 1}));
    proposes(&mut driver, vec![first]);
    assert_eq!(driver.run.data.plan.records.len(), 1, "phase 1 is over already");
    driver.wake();
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn failing_tests_are_not_talked_away() {
    let mut driver = phased(1);
    let tests = || call("shell", json!({"command": "cargo test"}));
    round(&mut driver, tests(), false, "1 failed");
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.state(), "streaming_response");
    assert_eq!(driver.run.data.plan.records, []);
    // The claim stands in the same reply as the tests that refute it.
    let mut driver = phased(1);
    proposes(&mut driver, vec![over(true), tests()]);
    driver.answer_last(result(false, false, "1 failed"));
    assert_eq!(driver.ended(), Some(Disposition::Failed));
    assert!(!driver.run.data.plan.records[0].succeeded);
}

#[test]
fn a_phase_that_is_blocked_ends_the_run_as_failed() {
    let mut driver = phased(3);
    let blocked = json!({"success": false, "blockers": ["no access"]});
    proposes(&mut driver, vec![call(PHASE_COMPLETE, blocked)]);
    assert_eq!(driver.state(), "halted_failed");
    assert_eq!(driver.run.data.plan.records[0].blockers, ["no access"]);
}

#[test]
fn unfinished_plan_is_not_a_success() {
    let mut driver = phased(1);
    driver.say("I think I am done.");
    assert_eq!(driver.state(), "streaming_response", "it is told that the phase is open");
    driver.say("Really done.");
    assert_eq!(driver.state(), "idle", "then a person must look");
    assert_eq!(CodeAgent::turn_error(&driver.run.data).unwrap().kind, TurnErrorKind::Stuck);
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Failed));
}

#[test]
fn empty_replies_are_a_loop_too() {
    let mut driver = begun(json!({}));
    for _ in 0..6 {
        assert_eq!(driver.ended(), None);
        driver.say("  ");
    }
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
}

#[test]
fn a_person_is_asked_and_a_no_is_a_result() {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go"}));
    proposes(&mut driver, vec![edit("a.rs")]);
    let state = driver.run.core.state;
    assert_eq!(driver.chart.while_asking(state), driver.chart.find("awaiting_permission"));
    driver.decide(false);
    assert_eq!(driver.state(), "streaming_response");
    let called = &driver.run.data.transcript.calls()[0];
    assert!(called.result.as_ref().unwrap().output.contains("the test says so"));
    proposes(&mut driver, vec![edit("a.rs")]);
    driver.decide(true);
    driver.answer_last(result(true, true, "edited"));
    assert_eq!(driver.run.data.work.files.len(), 1);
}

#[test]
fn a_call_that_the_governor_halts_is_recovered_from_first() {
    let chart = CHART.replace("[stuck]", "[stuck]\nidentical_call = 2");
    let mut driver = TestDriver::<CodeAgent>::new(&chart, &[]);
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go"}));
    round(&mut driver, edit("a.rs"), true, "edited");
    proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
    assert_eq!(driver.run.data.used, [RecoveryAction::OtherWay]);
    assert!(driver.run.data.transcript.calls().iter().all(|it| it.result.is_some()));
    proposes(&mut driver, vec![call("read", json!({}))]);
    driver.answer_last(result(true, false, "x"));
    assert_eq!(driver.state(), "streaming_response");
}

#[test]
fn a_cancelled_turn_waits_for_the_next_prompt() {
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
    driver.answer_last(result(true, true, "edited"));
    driver.cancel(Scope::Turn);
    assert_eq!(driver.state(), "idle");
    assert!(driver.run.data.transcript.calls().iter().all(|it| it.result.is_some()));
    assert_eq!(CodeAgent::turn_error(&driver.run.data).unwrap().kind, TurnErrorKind::Cancelled);
    driver.give("prompt", json!({"text": "something else"}));
    assert_eq!(CodeAgent::turn_error(&driver.run.data), None);
    assert_eq!(driver.run.data.work.files.len(), 1, "what was changed is not forgotten");
    assert_eq!(driver.state(), "streaming_response");
    driver.cancel(Scope::Run);
    assert_eq!(driver.ended(), Some(Disposition::Cancelled));
}

#[test]
fn a_body_that_cannot_be_read_changes_nothing() {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.begin(json!({"phases": [{"description": "one"}]}));
    let before = driver.run.data.clone();
    for body in [
        json!({"text": " \n"}),
        json!({"text": "go", "phases": [{"description": "another"}]}),
        json!({"prompt": "go"}),
    ] {
        assert!(matches!(driver.try_give("prompt", body), Err(Rejected::Body(_))));
    }
    assert_eq!(driver.run.data, before);
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go", "phases": [{"description": "one"}]}));
    assert_eq!(driver.run.data.plan.current(), Some(1));
    assert!(notes(&driver.run.data)[0].starts_with("Phase 1 of 1: one"));
}

#[test]
fn words_change_no_route_while_no_phase_is_open() {
    for text in hostile_texts(&["halted", "complete", PHASE_COMPLETE]) {
        if text.trim().is_empty() {
            continue;
        }
        let mut driver = begun(json!({}));
        driver.say(&text);
        let route = ["idle", "processing_prompt", "streaming_response", "progress_check", "idle"];
        assert_eq!(driver.states(), route, "{text:?}");
    }
}

#[test]
fn a_snapshot_in_the_middle_is_the_same_run() {
    let mut driver = phased(2);
    edit_loop(&mut driver);
    proposes(&mut driver, vec![over(true)]);
    proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
    let text = serde_json::to_string(&driver.run).unwrap();
    let run: Run<CodeAgent> = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&run).unwrap(), text);
    assert_eq!(run.data, driver.run.data);
}
