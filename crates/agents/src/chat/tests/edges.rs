//! Scripts for what comes at the wrong time: unknown, duplicate and late answers, input
//! while busy, cancels everywhere, a machine without room.
//!
//! Progress of a tool is shown and never an event, so there is nothing to refuse.

use pointsman_kernel::{
    Late, StepResult,
    chart::{Maximum, with_budgets},
    event::{Event, Usage},
    id::{EffectId, Seq},
};

use super::*;
use crate::dialogue::well_formed;

fn answered(effect: EffectId, answer: Answer<ChatReport>) -> Event<ChatReport> {
    Event::Answered { effect, answer, usage: Usage::default(), sent: None }
}

#[test]
fn unknown_duplicate_and_late_answers_change_nothing_and_say_so() {
    let mut driver = calling(&[("a", "read"), ("b", "read")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    let unknown = EffectId { seq: Seq(999), index: 0 };
    let took = driver.try_apply(answered(unknown, result(true, false, "x")));
    assert_eq!(took, Err(Rejected::UnknownEffect(unknown)));
    driver.answer(running[0], result(true, false, "first"));
    let took = driver.try_apply(answered(running[0], result(true, false, "twice")));
    assert_eq!(took, Ok(StepResult::Ignored(Late::Answer)));
    let wrong = Answer::Model(Reply::default());
    let took = driver.try_apply(answered(running[1], wrong));
    assert_eq!(took, Err(Rejected::WrongAnswer(running[1])));
    driver.answer(running[1], result(true, false, "second"));
    assert_eq!(driver.state(), "calling_llm");
    let took = driver.try_apply(answered(running[1], result(true, false, "late")));
    assert_eq!(took, Ok(StepResult::Ignored(Late::Answer)));
    assert_eq!(outputs(&driver), ["first", "second"]);
}

#[test]
fn message_waits_while_the_agent_is_busy() {
    for state in
        [asked as fn() -> TestDriver<ChatAgent>, || calling(&[("a", "read")]), hooked, backing_off]
    {
        let mut driver = state();
        let before = driver.run.data.clone();
        let took = driver.try_give("user_input", json!({"text": "and?"}));
        assert!(matches!(took, Err(Rejected::NotAwaited { .. })), "in `{}`", driver.state());
        assert_eq!(driver.run.data, before);
    }
}

#[test]
fn turn_can_be_cancelled_in_every_state() {
    let asking = || {
        let mut driver = TestDriver::<ChatAgent>::new(CHART, &["edit"]);
        driver.permissions = Permissions::ask_all();
        driver.begin(json!({}));
        driver.give("user_input", json!({"text": "go"}));
        proposes(&mut driver, vec![call("a", "edit"), call("b", "read")]);
        driver
    };
    let states: [fn() -> TestDriver<ChatAgent>; 6] =
        [ready, asked, || calling(&[("a", "read"), ("b", "edit")]), hooked, backing_off, asking];
    for state in states {
        let mut driver = state();
        let was = String::from(driver.state());
        driver.cancel(Scope::Turn);
        assert_eq!(driver.state(), WAITING);
        let kind = ChatAgent::turn_error(&driver.run.data).map(|error| error.kind);
        let cancelled = (was != WAITING).then_some(TurnErrorKind::Cancelled);
        assert_eq!(kind, cancelled, "what was cancelled in `{was}`");
        assert!(driver.running().is_empty(), "nothing goes on");
        driver.give("user_input", json!({"text": "once more"}));
        assert_eq!(ChatAgent::turn_error(&driver.run.data), None);
        well_formed(&driver.prompt());
        driver.say("Gladly.");
        assert_eq!(driver.state(), WAITING);
        assert_eq!(ChatAgent::result(&driver.run.data).as_deref(), Some("Gladly."));
    }
}

#[test]
fn a_machine_without_room_ends_the_turn_visibly() {
    let mut driver = calling(&[("a", "edit"), ("b", "read")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[1], result(true, true, "seen"));
    let message = String::from("no space left on device");
    let fault = Fault { class: FaultClass::Resource, repeatable: false, hint_ms: None, message };
    driver.answer(running[0], Answer::Fault(fault));
    assert_eq!(driver.state(), WAITING, "no hook, no further call");
    let error = ChatAgent::turn_error(&driver.run.data).unwrap();
    assert_eq!((error.kind, &*error.message), (TurnErrorKind::Failed, "no space left on device"));
    assert!(outputs(&driver)[0].contains("no space left"), "the model reads it too");
    driver.give("user_input", json!({"text": "there is room again"}));
    proposes(&mut driver, vec![call("c", "read")]);
    driver.answer_last(result(true, false, "x"));
    assert_eq!(driver.state(), "calling_llm", "the next batch is judged by itself");
}

#[test]
fn empty_reply_is_not_an_answer() {
    let mut driver = asked();
    for attempt in 1..=3 {
        assert_eq!(driver.run.core.items[0].attempt, attempt);
        driver.say(" \n");
        if attempt < 3 {
            driver.wake();
            let told = format!("{:?}", driver.prompt().messages.last());
            assert!(told.contains("was empty"), "{told}");
        }
    }
    assert_eq!(driver.state(), WAITING);
    let error = ChatAgent::turn_error(&driver.run.data).expect("turn ended with an error");
    assert_eq!((error.kind, &*error.message), (TurnErrorKind::Failed, "the reply was empty"));
    assert_eq!(driver.run.data.transcript.messages().len(), 1, "nothing was said");
    // A model that then finds words has answered.
    let mut driver = asked();
    driver.say("");
    driver.wake();
    driver.say("hi");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(ChatAgent::turn_error(&driver.run.data), None);
    assert_eq!(ChatAgent::result(&driver.run.data).as_deref(), Some("hi"));
}

#[test]
fn budget_that_interrupts_work_is_named() {
    let one = Maximum { budget: "model_calls", amount: "1", lowers: false };
    let chart = with_budgets(CHART, [one]).expect("chart has these budgets");
    let mut driver = TestDriver::<ChatAgent>::new(&chart, &[]);
    driver.begin(json!({}));
    driver.give("user_input", json!({"text": "go"}));
    proposes(&mut driver, vec![call("a", "read")]);
    driver.answer_last(result(true, false, "x"));
    assert_eq!(driver.state(), WAITING);
    let error = ChatAgent::turn_error(&driver.run.data).expect("turn ended with an error");
    assert_eq!(error.kind, TurnErrorKind::Budget);
    assert_eq!(
        error.message,
        "the limit of 1 model call is reached; a new message gets the full limit again (`--budget \
         model_calls=…` changes it)"
    );
}

#[test]
fn a_turn_that_went_on_has_no_error() {
    let mut driver = calling(&[("a", "edit")]);
    driver.fault(FaultClass::Other, false);
    driver.answer_last(Answer::Own(ChatReport::PostTools { action_taken: false, actions: vec![] }));
    driver.say("It could not be done.");
    assert_eq!(ChatAgent::turn_error(&driver.run.data), None);
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused_with_a_reason() {
    let long = "x".repeat(300_000);
    let rows = [
        (json!({"sytem": "x"}), "unknown field `sytem`"),
        (json!({"limits": {"context_tokens": 10}}), "`limits.context_tokens` is 10"),
        (json!({"limits": {"keep_turns": 0}}), "`limits.keep_turns` is 0"),
        (json!({"limits": {"turns": 1}}), "unknown field `turns`"),
        (json!({"tools": ["read", " "]}), "`tools[1]` is empty"),
        (json!({"tools": ["read", "read"]}), "`read` twice"),
        (
            json!({"instructions": [{"source": "", "text": "x"}]}),
            "`instructions[0]` has no `source`",
        ),
        (json!({"instructions": [{"source": "A", "text": long}]}), "half of"),
    ];
    for (config, words) in rows {
        let mut data = super::super::ChatData::default();
        let error = ChatAgent::begin(&mut data, &raw(&config)).unwrap_err();
        assert!(error.0.contains(words), "{config}: {error}");
        assert_eq!(data, super::super::ChatData::default());
    }
}
