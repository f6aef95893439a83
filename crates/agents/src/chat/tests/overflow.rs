//! Scripts for conversations that grow too long: summaries, refusals, fallbacks.

use pointsman_kernel::agent::ModelCall;

use super::*;
use crate::dialogue::{SUMMARY, well_formed};

/// Returns a conversation of turns with long outputs, in which a reply is due.
fn long(turns: usize, config: serde_json::Value) -> TestDriver<ChatAgent> {
    let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read", "edit"]);
    driver.begin(config);
    for turn in 0..turns {
        driver.give("user_input", json!({"text": format!("question {turn}")}));
        proposes(&mut driver, vec![call(&format!("file{turn}"), "read")]);
        driver.answer_last(result(true, false, &"line\n".repeat(300)));
        driver.say(&format!("answer {turn}"));
    }
    driver.give("user_input", json!({"text": "the last question"}));
    driver
}

fn small() -> serde_json::Value {
    json!({"limits": {"context_tokens": 4_000, "keep_turns": 4}})
}

fn asks_for_summary(driver: &TestDriver<ChatAgent>) -> bool {
    matches!(driver.order(), Order::Model(ModelCall { item: SUMMARY, .. }))
}

fn too_long(driver: &mut TestDriver<ChatAgent>) {
    driver.fault(FaultClass::TooLong, false);
}

/// Grows a conversation until a summary is asked for.
fn full() -> TestDriver<ChatAgent> {
    for turns in 1..20 {
        let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read", "edit"]);
        driver.begin(small());
        for turn in 0..turns {
            driver.give("user_input", json!({"text": format!("question {turn}")}));
            if asks_for_summary(&driver) {
                return driver;
            }
            driver.say(&"word ".repeat(400));
        }
    }
    panic!("no summary was asked for")
}

#[test]
fn the_oldest_turns_give_way_to_a_summary_that_the_model_writes() {
    let mut driver = full();
    let prompt = driver.prompt();
    assert!(prompt.tools.is_empty() && prompt.system.contains("condense"));
    let asked = driver.run.data.transcript.messages().len();
    driver.say("They asked four questions.");
    assert_eq!(driver.state(), "calling_llm", "the same attempt goes on");
    assert!(!asks_for_summary(&driver));
    let messages = driver.run.data.transcript.messages();
    assert_eq!(
        messages[0],
        TranscriptMessage::Summary { text: "They asked four questions.".into() }
    );
    assert!(messages.len() < asked, "something was left out");
    well_formed(&driver.prompt());
    driver.say("Here you are.");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.verdicts, [], "a summary is no turn of the model");
}

#[test]
fn failed_summary_is_replaced_by_a_mechanical_one() {
    let answers: [fn(&mut TestDriver<ChatAgent>); 4] = [
        |driver| driver.fault(FaultClass::Unavailable, false),
        |driver| driver.say(&"x".repeat(20_000)),
        |driver| driver.say("  "),
        |driver| too_long(driver),
    ];
    for answer in answers {
        let mut driver = full();
        answer(&mut driver);
        assert!(!asks_for_summary(&driver));
        let TranscriptMessage::Summary { text } = &driver.run.data.transcript.messages()[0] else {
            panic!("a summary stands first")
        };
        assert!(text.starts_with("- asked: question 0\n- said: word"), "{text}");
        driver.say("Here you are.");
        assert_eq!(driver.state(), WAITING);
    }
}

#[test]
fn a_fault_that_passes_costs_no_summary() {
    let mut driver = full();
    let fault = Fault {
        class: FaultClass::RateLimited,
        repeatable: true,
        hint_ms: Some(20_000),
        message: "slow down".into(),
    };
    let before = driver.run.data.transcript.clone();
    driver.answer_last(Answer::Fault(fault));
    assert!(driver.running().is_empty(), "nothing is asked before the provider is ready");
    assert_eq!(driver.run.data.transcript, before, "nothing is lost");
    assert!(driver.run.core.wake.unwrap().since(driver.now) >= 20_000);
    driver.wake();
    assert!(asks_for_summary(&driver), "the next attempt asks again");
    driver.say("They asked four questions.");
    assert!(!asks_for_summary(&driver));
    let messages = driver.run.data.transcript.messages();
    assert_eq!(
        messages[0],
        TranscriptMessage::Summary { text: "They asked four questions.".into() }
    );
    driver.say("Here you are.");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.verdicts, [], "a summary is no turn of the model");
}

#[test]
fn the_last_attempt_does_without_a_summary_that_keeps_failing() {
    let mut driver = full();
    for _ in 0..2 {
        assert!(asks_for_summary(&driver));
        driver.fault(FaultClass::Unavailable, true);
        driver.wake();
    }
    assert!(asks_for_summary(&driver));
    driver.fault(FaultClass::Unavailable, true);
    assert!(!asks_for_summary(&driver), "the same attempt asks for the reply");
    assert!(matches!(driver.run.data.transcript.messages()[0], TranscriptMessage::Summary { .. }));
    driver.say("Here you are.");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(ChatAgent::turn_error(&driver.run.data), None);
}

#[test]
fn a_summary_after_a_refusal_is_asked_for_again_too() {
    let mut driver = long(6, json!({}));
    too_long(&mut driver);
    assert!(asks_for_summary(&driver));
    driver.fault(FaultClass::Unavailable, true);
    driver.wake();
    assert!(asks_for_summary(&driver));
    driver.say("In short.");
    driver.say("Done.");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.run.data.context.asking, None);
}

#[test]
fn a_provider_that_refuses_gets_a_summary_and_then_less() {
    let mut driver = long(6, json!({}));
    assert!(!asks_for_summary(&driver), "by our own count there is room");
    too_long(&mut driver);
    assert!(asks_for_summary(&driver));
    driver.say("In short.");
    assert!(!asks_for_summary(&driver));
    let learnt = driver.run.data.context.too_long.expect("limit is remembered");
    driver.say("Done.");
    assert_eq!(driver.state(), WAITING);
    assert_eq!(driver.run.data.context.too_long, Some(learnt));
    let Some(TranscriptMessage::User { text }) =
        driver.run.data.transcript.messages().iter().rev().nth(1)
    else {
        panic!("the question stays word for word")
    };
    assert_eq!(text, "the last question");
}

#[test]
fn provider_that_rejects_three_times_ends_the_turn() {
    let mut driver = long(6, json!({}));
    too_long(&mut driver);
    driver.say("In short.");
    too_long(&mut driver);
    assert_eq!(driver.state(), WAITING, "an attempt has three questions");
    let error = ChatAgent::turn_error(&driver.run.data).unwrap();
    assert_eq!(error.kind, TurnErrorKind::Failed);
    // Short, and still rejected: there is nothing to leave out, so it is reported at once.
    let mut driver = asked();
    too_long(&mut driver);
    assert_eq!(driver.state(), WAITING);
    assert!(ChatAgent::turn_error(&driver.run.data).is_some());
}

#[test]
fn a_summary_that_hangs_is_done_without_in_the_next_attempt() {
    let mut driver = full();
    driver.wake();
    driver.wake();
    assert!(!asks_for_summary(&driver));
    let prompt = driver.prompt();
    well_formed(&prompt);
    let pointsman_kernel::prompt::PromptMessage::User(first) = &prompt.messages[0] else {
        panic!("a summary stands first")
    };
    assert!(first.contains("too long to be shown"), "{first}");
    driver.say("Here you are.");
    assert!(matches!(driver.run.data.transcript.messages()[0], TranscriptMessage::Summary { .. }));
}

#[test]
fn one_long_turn_is_shortened_too() {
    let mut driver = TestDriver::<ChatAgent>::new(&unlimited(CHART), &["read"]);
    driver.begin(json!({"limits": {"context_tokens": 8_000, "keep_turns": 2}}));
    driver.give("user_input", json!({"text": "read it all"}));
    for round in 0..40 {
        if asks_for_summary(&driver) {
            driver.say("So far so good.");
        }
        well_formed(&driver.prompt());
        let size: usize = driver.run.data.transcript.size();
        assert!(size < 60_000, "round {round}: {size}");
        proposes(&mut driver, vec![call(&format!("f{round}"), "read")]);
        driver.answer_last(result(true, false, &"0123456789\n".repeat(1_000)));
    }
    assert_eq!(driver.state(), "calling_llm");
    let asked = |message: &TranscriptMessage| {
        *message == TranscriptMessage::User { text: "read it all".into() }
    };
    assert!(driver.run.data.transcript.messages().iter().any(asked));
}
