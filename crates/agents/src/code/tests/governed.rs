//! Scripts for the governor over the code agent: loops, and real work.

use alloc::{string::ToString, vec::Vec};

use pointsman_kernel::{
    governor::{Level, Rule},
    tool::{ToolDecl, ToolEffect},
};

use super::*;

fn change(path: &str, old: &str, new: &str) -> ToolCall {
    call("edit", json!({"path": path, "old": old, "new": new}))
}

fn read(path: &str) -> ToolCall {
    call("read", json!({"path": path}))
}

fn tests() -> ToolCall {
    call("shell", json!({"command": "cargo test"}))
}

fn prompted(chart: &str, tools: Vec<ToolDecl>) -> TestDriver<CodeAgent> {
    let mut driver = TestDriver::<CodeAgent>::new(chart, &[]);
    driver.tools.extend(tools);
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "make it so"}));
    driver
}

/// The chart without recoveries, so that the first halt is the end.
fn strict() -> TestDriver<CodeAgent> {
    let chart = CHART.replace("recoveries  = { max = 3", "recoveries  = { max = 0");
    assert_ne!(chart, CHART);
    prompted(&chart, vec![])
}

/// The chart with every rule over repetition that the others leave out.
fn watchful(tools: Vec<ToolDecl>) -> TestDriver<CodeAgent> {
    let named = "[stuck]\nidentical_call = 3\nfailing_tool = 3\nsteps_in_state = 5";
    prompted(&CHART.replace("[stuck]", named), tools)
}

fn untroubled(driver: &TestDriver<CodeAgent>) {
    assert_eq!(driver.verdicts, [], "in state `{}`", driver.state());
}

#[test]
fn the_same_error_three_times_is_halted() {
    let mut driver = strict();
    for n in 1..=3 {
        assert_eq!(driver.ended(), None, "call {n}");
        round(&mut driver, edit("main.go"), false, "old_string not found");
    }
    assert_eq!(driver.state(), "halted");
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
    assert_eq!(driver.rules(), [Rule::SameError]);
    assert_eq!(driver.verdicts[0].evidence.len(), 3);
    let told = notes(&driver.run.data)[0];
    assert!(told.contains("`edit` on main.go: old_string not found"), "{told}");
}

#[test]
fn undoing_and_redoing_is_halted() {
    let x = || change("a.go", "1", "2");
    for other in [change("b.go", "1", "2"), change("a.go", "2", "1")] {
        let mut driver = strict();
        for (n, call) in [x(), other.clone(), x(), other].into_iter().enumerate() {
            assert_eq!(driver.ended(), None, "call {}", n + 1);
            round(&mut driver, call, true, "edited");
        }
        assert_eq!(driver.ended(), Some(Disposition::Stuck));
        assert_eq!(driver.rules(), [Rule::Oscillation]);
    }
}

#[test]
fn alternating_between_two_files_with_new_changes_is_work() {
    let mut driver = watchful(vec![]);
    for n in 0..20 {
        let (old, new) = (n.to_string(), (n + 1).to_string());
        round(&mut driver, change("a.go", &old, &new), true, "edited");
        round(&mut driver, change("b.go", &old, &new), true, "edited");
    }
    untroubled(&driver);
}

#[test]
fn a_thousand_edits_in_ten_phases_are_not_even_warned_of() {
    let mut driver = phased(10);
    for phase in 1..=10 {
        for n in 0..100 {
            // The words are the same each time; the deeds are not.
            let calls = vec![edit(&format!("pkg{phase}/file{n}.go"))];
            driver.answer_last(Answer::Model(Reply { text: "The next one.".into(), calls }));
            untroubled(&driver);
            driver.answer_last(result(true, true, "edited"));
            untroubled(&driver);
        }
        round(&mut driver, tests(), true, "ok");
        proposes(&mut driver, vec![over(true)]);
        untroubled(&driver);
    }
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn a_recovery_leads_on_and_the_next_phase_starts_afresh() {
    let mut driver = phased(2);
    edit_loop(&mut driver);
    assert!(notes(&driver.run.data)[1].contains("write the whole file"));
    round(&mut driver, call("write", json!({"path": "main.rs"})), true, "written");
    proposes(&mut driver, vec![over(true)]);
    let before = driver.verdicts.len();
    for _ in 0..2 {
        round(&mut driver, edit("main.rs"), false, "old_string not found");
    }
    assert_eq!(driver.verdicts.len(), before, "two errors in a new phase are two errors");
    round(&mut driver, call("write", json!({"path": "main.rs", "text": "2"})), true, "written");
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn halted_run_that_claims_success_is_stuck() {
    let mut driver = phased(1);
    edit_loop(&mut driver);
    proposes(&mut driver, vec![over(true)]);
    assert_eq!(driver.state(), "complete");
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
}

#[test]
fn editing_and_testing_is_work() {
    let mut driver = watchful(vec![]);
    for n in 0..20 {
        round(&mut driver, change("a.rs", &n.to_string(), "x"), true, "edited");
        round(&mut driver, tests(), false, &format!("{} failed", 20 - n));
    }
    untroubled(&driver);
    // The same test stays red, and each time something else is tried.
    let mut driver = watchful(vec![]);
    for n in 0..20 {
        round(&mut driver, edit(&format!("{n}.rs")), true, "edited");
        round(&mut driver, tests(), false, "1 failed; finished in 0.03s");
    }
    untroubled(&driver);
}

#[test]
fn waiting_and_paging_are_work() {
    let poll = ToolDecl { effect: ToolEffect::Poll, ..ToolDecl::read("job.status", &["job"]) };
    let mut driver = watchful(vec![poll]);
    for _ in 0..20 {
        round(&mut driver, call("job.status", json!({"job": 1})), true, "running");
    }
    untroubled(&driver);
    let mut driver = watchful(vec![ToolDecl::read("scroll", &[])]);
    for n in 0..20 {
        round(&mut driver, call("scroll", json!({})), true, &format!("page {n}"));
    }
    untroubled(&driver);
}

#[test]
fn reading_again_after_a_change_is_work() {
    let mut driver = watchful(vec![]);
    for n in 0..20 {
        round(&mut driver, read("a.rs"), true, &format!("text {n}"));
        round(&mut driver, change("a.rs", &n.to_string(), "x"), true, "edited");
        // What another call did not touch may be looked at as well.
        round(&mut driver, read("b.rs"), true, "the same as ever");
    }
    untroubled(&driver);
}

#[test]
fn advice_to_read_again_can_be_followed() {
    let mut driver = begun(json!({}));
    for _ in 0..2 {
        round(&mut driver, read("main.rs"), true, "text");
        round(&mut driver, edit("main.rs"), false, "not found");
    }
    assert_eq!(driver.rules(), [Rule::Oscillation], "a look and a failure, twice the same");
    assert_eq!(driver.run.data.used, [RecoveryAction::WriteInstead]);
    round(&mut driver, read("main.rs"), true, "text");
    round(&mut driver, call("write", json!({"path": "main.rs"})), true, "written");
    assert_eq!(driver.rules(), [Rule::Oscillation]);
    driver.say("Done.");
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn closing_the_input_does_not_make_a_success_of_a_halt() {
    let mut driver = prompted(CHART, vec![]);
    for _ in 0..3 {
        round(&mut driver, edit("main.go"), false, "old_string not found");
    }
    assert_eq!(driver.rules(), [Rule::SameError]);
    driver.say("I give up.");
    assert_eq!(driver.state(), "idle");
    driver.give("input_closed", json!(null));
    assert_eq!(driver.ended(), Some(Disposition::Stuck), "nothing was learnt since");
}

#[test]
fn a_warning_is_in_the_next_prompt_and_no_longer() {
    let mut driver = begun(json!({}));
    for _ in 0..3 {
        round(&mut driver, read("a.rs"), true, "text");
    }
    proposes(&mut driver, vec![read("a.rs")]);
    assert_eq!(driver.verdicts[0].level, Level::Warn);
    driver.answer_last(result(true, false, "text"));
    let advice = &driver.run.data.advice;
    assert!(advice.is_stuck() && advice.lines().next().unwrap().contains("`read`"));
    proposes(&mut driver, vec![read("b.rs")]);
    assert!(driver.run.data.advice.is_empty());
}

#[test]
fn the_same_words_again_are_recovered_from_once() {
    let mut driver = phased(1);
    driver.say("I am working on it.");
    driver.say("I am  working on IT.");
    assert_eq!(driver.rules(), [Rule::DuplicateMessage]);
    assert_eq!(driver.run.data.used, [RecoveryAction::OtherWay]);
    assert!(notes(&driver.run.data).last().unwrap().contains("say something new"));
    driver.say("I am working on it.");
    assert_eq!(driver.ended(), Some(Disposition::Stuck));
}

#[test]
fn an_answer_after_too_many_words_is_an_answer() {
    let mut driver = begun(json!({}));
    (0..3).for_each(|_| driver.say(""));
    assert_eq!(driver.rules(), [Rule::Monologue]);
    assert_eq!(driver.state(), "streaming_response");
    driver.say("It is a function.");
    assert_eq!(driver.state(), "idle");
}

#[test]
fn a_claim_that_is_refused_again_and_again_is_a_loop() {
    let mut driver = phased(1);
    round(&mut driver, tests(), false, "1 failed");
    for n in 1..=6 {
        assert_eq!(driver.ended(), None, "claim {n}");
        if driver.running().is_empty() {
            driver.wake();
        }
        proposes(&mut driver, vec![over(true)]);
    }
    assert_eq!(driver.ended(), Some(Disposition::Stuck), "two visits of three attempts");
    let refused = driver.run.data.transcript.calls()[0].result.as_ref().unwrap();
    assert!(refused.output.contains("the last tests failed"));
}

#[test]
fn replies_that_cannot_be_read_are_tried_again_and_then_stuck() {
    let nonsense = || vec![call("read", json!([1])), call("", json!({}))];
    let mut driver = begun(json!({}));
    proposes(&mut driver, nonsense());
    assert!(
        driver.run.data.advice.lines().eq(["a call needs the name of a tool and a JSON object"])
    );
    assert_eq!(driver.state(), "streaming_response");
    for _ in 0..5 {
        if driver.running().is_empty() {
            driver.wake();
        }
        proposes(&mut driver, nonsense());
    }
    assert_eq!(driver.ended(), Some(Disposition::Stuck), "two visits of three attempts");
    let mut driver =
        prompted(&CHART.replace("unparsable              = 8", "unparsable = 2"), vec![]);
    proposes(&mut driver, nonsense());
    driver.wake();
    proposes(&mut driver, nonsense());
    assert_eq!(driver.rules(), [Rule::Unparsable]);
    assert_eq!(driver.run.data.used, [RecoveryAction::OtherWay]);
}
