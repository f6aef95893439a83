//! Scripts for what comes at the wrong time, and for cancels in every state.

use pointsman_kernel::{
    Late, StepResult,
    event::{Event, Usage},
    id::{EffectId, Seq},
};

use super::*;
use crate::dialogue::well_formed;

fn busy() -> TestDriver<CodeAgent> {
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
    driver
}

fn asking() -> TestDriver<CodeAgent> {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.permissions = Permissions::ask_all();
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go"}));
    proposes(&mut driver, vec![edit("a.rs"), edit("b.rs")]);
    driver
}

fn idle() -> TestDriver<CodeAgent> {
    let mut driver = TestDriver::<CodeAgent>::new(CHART, &[]);
    driver.begin(json!({}));
    driver
}

fn backing_off() -> TestDriver<CodeAgent> {
    let mut driver = begun(json!({}));
    driver.fault(FaultClass::RateLimited, true);
    driver
}

#[test]
fn unknown_duplicate_and_late_answers_change_nothing_and_say_so() {
    let mut driver = busy();
    let answered = |effect| Event::Answered {
        effect,
        answer: result(true, true, "x"),
        usage: Usage::default(),
        sent: None,
    };
    let unknown = EffectId { seq: Seq(999), index: 0 };
    assert_eq!(driver.try_apply(answered(unknown)), Err(Rejected::UnknownEffect(unknown)));
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[0], result(true, true, "edited"));
    let before = driver.run.data.clone();
    assert_eq!(driver.try_apply(answered(running[0])), Ok(StepResult::Ignored(Late::Answer)));
    assert_eq!(driver.run.data, before);
}

#[test]
fn prompt_is_rejected_while_the_agent_is_busy() {
    for state in [busy, asking, backing_off] {
        let mut driver = state();
        let took = driver.try_give("prompt", json!({"text": "and?"}));
        assert!(matches!(took, Err(Rejected::NotAwaited { .. })), "in `{}`", driver.state());
    }
}

#[test]
fn turn_can_be_cancelled_in_every_state() {
    let open = || phased(2);
    let recovering = || {
        let mut driver = begun(json!({}));
        edit_loop(&mut driver);
        driver
    };
    let states: [fn() -> TestDriver<CodeAgent>; 6] =
        [idle, busy, asking, backing_off, open, recovering];
    for state in states {
        let mut driver = state();
        let was = String::from(driver.state());
        driver.cancel(Scope::Turn);
        assert_eq!(driver.state(), "idle");
        let kind = CodeAgent::turn_error(&driver.run.data).map(|error| error.kind);
        let cancelled = (was != "idle").then_some(TurnErrorKind::Cancelled);
        assert_eq!(kind, cancelled, "what was cancelled in `{was}`");
        assert!(driver.running().is_empty(), "nothing goes on");
        driver.give("prompt", json!({"text": "once more"}));
        well_formed(&driver.prompt());
        driver.say("Gladly.");
        assert_eq!(driver.ended(), None);
    }
}

#[test]
fn a_change_that_failed_half_way_is_still_a_change() {
    let mut driver = begun(json!({}));
    proposes(&mut driver, vec![edit("a.rs"), call("read", json!({"path": "b.rs"}))]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[1], result(true, false, "seen"));
    driver.answer(running[0], result(false, true, "half done"));
    let files: Vec<&str> = driver.run.data.work.files.iter().map(String::as_str).collect();
    assert_eq!((files, driver.run.data.work.calls), (vec!["a.rs"], 2));
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused_with_a_reason() {
    let rows = [
        (json!({"phase": []}), "unknown field `phase`"),
        (json!({"tests": ["cargo test", ""]}), "`tests[1]` is empty"),
        (json!({"phases": [{"description": ""}]}), "phase 1 of the plan has no `description`"),
        (json!({"limits": {"keep_turns": 5000}}), "`limits.keep_turns` is 5000"),
    ];
    for (config, words) in rows {
        let mut data = CodeData::default();
        let error = CodeAgent::begin(&mut data, &raw(&config)).unwrap_err();
        assert!(error.0.contains(words), "{config}: {error}");
        assert_eq!(data, CodeData::default());
    }
}
