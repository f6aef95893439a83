//! Scripts for plans that the model proposes, and for phases that end with evidence.

use pointsman_kernel::agent::Agent;

use super::*;
use crate::PLAN_TOOL;

fn plan(arguments: Value) -> ToolCall {
    call(PLAN_TOOL, arguments)
}

fn two_phases() -> Value {
    json!({"phases": [{"description": "tests"}, {"description": "fix", "expected_minutes": 5}]})
}

fn told(driver: &TestDriver<CodeAgent>) -> String {
    let calls = driver.run.data.transcript.calls();
    calls.iter().map(|it| it.result.as_ref().expect("run has a result").output.clone()).collect()
}

#[test]
fn approved_plan_opens_its_first_phase() {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({"tools": [PLAN_TOOL, "read"]}));
    driver.give("prompt", json!({"text": "go"}));
    assert!(driver.prompt().system.contains("propose a plan before you begin"));
    proposes(&mut driver, vec![plan(two_phases())]);
    driver.decide(true);
    driver.answer_last(result(true, false, "approved"));
    assert_eq!(driver.state(), "streaming_response");
    let data = &driver.run.data;
    assert_eq!(data.plan.current(), Some(1));
    assert_eq!(data.plan.phases[1].expected_ms, Some(300_000));
    assert!(notes(data)[0].starts_with("Phase 1 of 2: tests"));
    let prompt = driver.prompt();
    let offered: Vec<&str> = prompt.tools.iter().map(|name| &**name).collect();
    assert_eq!(offered, ["read", PHASE_COMPLETE], "there is one plan");
    proposes(&mut driver, vec![over(true)]);
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn denied_plan_is_dropped_and_the_model_reads_why() {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go"}));
    proposes(&mut driver, vec![plan(two_phases())]);
    driver.decide(false);
    assert!(driver.run.data.plan.phases.is_empty());
    assert!(told(&driver).contains("the test says so"));
    assert_eq!(driver.state(), "streaming_response");
}

#[test]
fn invalid_plan_is_rejected_without_a_prompt() {
    let many: Vec<_> = (0..=20).map(|_| json!({"description": "x"})).collect();
    let rows = [
        (json!({}), "this is not a plan"),
        (json!({"phases": "first this, then that"}), "this is not a plan"),
        (json!({"phases": [{"name": "x"}]}), "this is not a plan"),
        (json!({"phases": []}), "0 phases: give from 1 to 20"),
        (json!({ "phases": many }), "21 phases: give from 1 to 20"),
        (json!({"phases": [{"description": "a"}, {"description": " "}]}), "phase 2 has an empty"),
        (json!({"phases": [{"description": "a", "expected_minutes": -1}]}), "cannot take -1"),
    ];
    for (arguments, words) in rows {
        let mut driver = begun(json!({}));
        proposes(&mut driver, vec![plan(arguments.clone())]);
        assert!(told(&driver).contains(words), "{arguments}: {}", told(&driver));
        assert!(driver.run.data.plan.phases.is_empty());
        assert_eq!(driver.state(), "streaming_response", "it may try again");
    }
    // A second plan, in the same reply and later.
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![plan(two_phases()), plan(two_phases())]);
    driver.answer_last(result(true, false, "approved"));
    assert!(told(&driver).contains("one plan at a time"));
    proposes(&mut driver, vec![plan(two_phases())]);
    assert!(told(&driver).contains("there is already a plan"));
    assert_eq!(driver.run.data.plan.phases.len(), 2);
}

#[test]
fn as_many_phases_can_be_proposed_as_the_chart_has() {
    let driver = begun(json!({}));
    let phases = driver.chart.budgets().iter().find(|budget| budget.name() == "phases").unwrap();
    assert_eq!(phases.max(), super::super::proposal::MAX_PROPOSED as u64);
}

#[test]
fn a_phase_without_tests_is_recorded_as_one() {
    let mut driver = phased(1);
    round(&mut driver, edit("a.rs"), true, "edited");
    proposes(&mut driver, vec![over(true)]);
    assert!(told(&driver).contains("no tests were run"));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    assert_eq!(driver.run.data.plan.records[0].tests_passed, None);
    let report = CodeAgent::result(&driver.run.data).unwrap();
    assert!(report.contains("- 1 call, 1 file changed, no tests"), "{report}");
}

#[test]
fn test_runs_are_recognised_by_output() {
    let mut driver = phased(1);
    let tests = |line: &str| call("shell", json!({"command": line}));
    round(&mut driver, tests("pytest | tail -1"), true, "exit code 0\n1 failed, 2 passed in 1s");
    assert_eq!(driver.run.data.work.tests_passed, Some(false), "a pipe hides the status");
    round(&mut driver, tests("cd a && pytest"), true, "exit code 0\n3 passed in 1s");
    assert_eq!(driver.run.data.work.tests_passed, Some(true));
    round(&mut driver, tests("pytest b"), false, "exit code 5\nno tests ran in 0.01s");
    assert_eq!(driver.run.data.work.tests_passed, Some(true), "nothing was run, nothing shown");
}

/// Returns a run whose only phase was claimed to be over beside a call that still runs.
fn claimed() -> TestDriver<CodeAgent> {
    let mut driver = phased(1);
    proposes(&mut driver, vec![over(true), edit("a.rs")]);
    driver
}

#[test]
fn a_claim_ends_with_the_turn_that_it_was_made_in() {
    let mut driver = claimed();
    driver.cancel(Scope::Turn);
    driver.give("prompt", json!({"text": "no, not yet"}));
    driver.say("ok");
    assert_eq!(driver.ended(), None, "nobody said that it is over");
    assert_eq!(driver.run.data.plan.current(), Some(1));
    assert!(
        notes(&driver.run.data)
            .contains(&"The phase is still open: your report that it is complete was rejected.")
    );
    // The model may claim it again.
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    // Closing the input after a cancel is not an agreement either.
    let mut driver = claimed();
    driver.cancel(Scope::Turn);
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Failed));
    assert_eq!(driver.run.data.plan.records, []);
}

#[test]
fn a_claim_does_not_outlive_a_batch_that_was_halted() {
    let mut driver = phased(1);
    for _ in 0..2 {
        round(&mut driver, edit("main.rs"), false, "not found");
    }
    proposes(&mut driver, vec![over(true), edit("main.rs")]);
    driver.answer_last(result(false, false, "not found"));
    assert_eq!(driver.run.data.used, [RecoveryAction::WriteInstead]);
    round(&mut driver, call("write", json!({"path": "main.rs"})), true, "written");
    assert_eq!(driver.ended(), None, "the claim was about a batch that came to nothing");
    proposes(&mut driver, vec![over(true)]);
    assert!(told(&driver).starts_with("noted"), "{}", told(&driver));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}
