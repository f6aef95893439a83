//! Scripts for what the source document tests and shows, and for what its tests leave out.

use pointsman_kernel::{
    Late, StepResult,
    event::{Event, Usage},
    governor::{Level, Rule},
};

use super::*;

fn read(path: &str) -> ToolCall {
    call("read", json!({"path": path}))
}

#[test]
fn looking_at_many_files_is_work() {
    let mut driver = begun(json!({}));
    for n in 0..100 {
        round(&mut driver, read(&format!("{n}.rs")), true, &format!("text {n}"));
    }
    assert_eq!(driver.verdicts, [], "an audit changes nothing, and learns");
    driver.say("It is in order.");
    assert_eq!(driver.state(), "idle");
}

#[test]
fn few_varied_successes_are_not_a_loop() {
    let mut driver = begun(json!({}));
    for n in 0..5 {
        round(&mut driver, read("a.rs"), true, &format!("version {n}"));
        round(&mut driver, call("edit", json!({"path": "a.rs", "new": n})), true, "edited");
        let tests = call("shell", json!({"command": "cargo test"}));
        round(&mut driver, tests, false, &format!("{} failed", 5 - n));
    }
    assert_eq!(driver.verdicts, []);
}

#[test]
fn nothing_new_is_warned_of_and_never_recovered_from_by_itself() {
    let mut driver = begun(json!({}));
    for n in 0..10 {
        let path = ["a.rs", "b.rs", "c.rs"][n % 3];
        proposes(&mut driver, vec![read(path)]);
        if let Some((id, Order::Tool(_))) = driver.running().last().copied() {
            driver.answer(id, result(true, false, "the same as ever"));
        }
        let told = driver.verdicts.iter().any(|verdict| verdict.level == Level::Warn);
        if told {
            break;
        }
    }
    let levels: Vec<_> = driver.verdicts.iter().map(|verdict| verdict.level).collect();
    assert_eq!(levels.first(), Some(&Level::Warn), "it is told first");
    assert!(!driver.states().contains(&"error_recovery"));
    assert_eq!(driver.state(), "streaming_response");
}

#[test]
fn failures_without_words_are_failures_too() {
    let mut driver = begun(json!({}));
    for _ in 0..3 {
        round(&mut driver, edit("main.rs"), false, "");
    }
    assert_eq!(driver.rules(), [Rule::SameError]);
    assert_eq!(driver.run.data.used.len(), 1);
}

#[test]
fn the_reason_states_the_count_that_was_reached() {
    for times in [3, 4, 6] {
        let chart = CHART.replace("same_error              = 3", &format!("same_error = {times}"));
        let mut driver = TestDriver::<CodeAgent>::new(&chart, &[]);
        driver.begin(json!({}));
        driver.give("prompt", json!({"text": "go"}));
        for n in 0..times {
            assert_eq!(driver.rules(), [], "{n} of {times}");
            let unlike = call("edit", json!({"path": "main.rs", "old": n}));
            round(&mut driver, unlike, false, "old_string not found");
        }
        assert_eq!(driver.rules(), [Rule::SameError]);
        let reason = &driver.verdicts[0].reason;
        assert!(reason.contains(&format!("{times} times")), "{reason}");
        assert_eq!(driver.verdicts[0].evidence.len(), times);
    }
}

#[test]
fn a_phase_forgets_the_errors_and_keeps_the_files() {
    let mut driver = phased(2);
    round(&mut driver, edit("a.rs"), true, "edited");
    edit_loop(&mut driver);
    round(&mut driver, call("write", json!({"path": "main.rs"})), true, "written");
    proposes(&mut driver, vec![over(true)]);
    let data = &driver.run.data;
    assert!(data.used.is_empty() && data.progress.failures.is_empty() && data.advice.is_empty());
    assert_eq!(data.plan.records[0].files_changed, 2);
    round(&mut driver, edit("b.rs"), true, "edited");
    assert_eq!(driver.run.data.work.files.len(), 1);
}

#[test]
fn results_are_judged_in_the_order_of_the_requests() {
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![read("a.rs"), edit("b.rs"), read("c.rs")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    for (at, text) in [(2, "third"), (0, "first"), (1, "second")] {
        assert_eq!(driver.state(), "executing_tool");
        driver.answer(running[at], result(true, at == 1, text));
    }
    let calls = driver.run.data.transcript.calls();
    let outputs: Vec<_> = calls.iter().map(|it| &*it.result.as_ref().unwrap().output).collect();
    assert_eq!(outputs, ["first", "second", "third"]);
    assert_eq!((driver.run.data.work.calls, driver.run.data.work.files.len()), (3, 1));
}

#[test]
fn an_answer_after_its_batch_is_late_and_changes_nothing() {
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![edit("a.rs")]);
    let (effect, _) = driver.running()[0];
    driver.cancel(Scope::Turn);
    let before = driver.run.data.clone();
    let answer = result(true, true, "edited after all");
    let late = Event::Answered { effect, answer, usage: Usage::default(), sent: None };
    assert_eq!(driver.try_apply(late), Ok(StepResult::Ignored(Late::Answer)));
    assert_eq!(driver.run.data, before);
    assert_eq!(driver.state(), "idle");
}

#[test]
fn a_run_can_be_cancelled_in_every_state() {
    let idle = || {
        let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
        driver.begin(json!({}));
        driver
    };
    let streaming = || phased(2);
    let busy = || {
        let mut driver = begun(json!({}));
        proposes(&mut driver, vec![edit("a.rs"), read("b.rs")]);
        driver
    };
    let asking = || {
        let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
        driver.permissions = Permissions::ask_all();
        driver.begin(json!({}));
        driver.give("prompt", json!({"text": "go"}));
        proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
        driver
    };
    let backing_off = || {
        let mut driver = begun(json!({}));
        driver.fault(FaultClass::RateLimited, true);
        driver
    };
    let states: [fn() -> TestDriver<CodeAgent>; 5] = [idle, streaming, busy, asking, backing_off];
    for state in states {
        let mut driver = state();
        let from = String::from(driver.state());
        driver.cancel(Scope::Run);
        assert_eq!((driver.state(), driver.ended()), ("cancelled", Some(Disposition::Cancelled)));
        assert!(driver.running().is_empty(), "from `{from}`");
        let calls = driver.run.data.transcript.calls();
        assert!(calls.iter().all(|it| it.result.is_some()), "from `{from}`");
        let took = driver.try_give("prompt", json!({"text": "hello?"}));
        assert_eq!(took, Err(Rejected::Ended));
    }
}
