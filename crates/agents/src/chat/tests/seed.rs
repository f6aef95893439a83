//! Scripts for what the source document tests, and for what its tests leave out.

use pointsman_kernel::{Late, StepResult, agent::Agent, event::Event, prompt, run::Run};

use super::*;

fn attempt(driver: &TestDriver<ChatAgent>) -> u16 {
    driver.run.core.items[0].attempt
}

#[test]
fn conversation_starts_idle_and_empty() {
    let configs = [
        json!(null),
        json!({}),
        json!({"system": "x", "tools": ["read"], "limits": {"context_tokens": 4_000}}),
    ];
    for config in configs {
        let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read"]);
        driver.begin(config);
        assert_eq!(driver.states(), [WAITING]);
        assert_eq!(driver.run.data.transcript.messages(), []);
        assert!(driver.running().is_empty(), "nothing is asked for");
        assert_eq!(driver.run.core.wake, None, "it may wait for ever");
    }
}

#[test]
fn any_words_reach_the_model_unchanged_in_the_first_attempt() {
    for text in hostile_texts(&["error", "shutting_down"]) {
        let mut driver = ready();
        if text.trim().is_empty() {
            let took = driver.try_give("user_input", json!({"text": text}));
            assert!(matches!(took, Err(Rejected::Body(_))), "{text:?}");
            continue;
        }
        driver.give("user_input", json!({"text": text}));
        assert_eq!(attempt(&driver), 1);
        assert_eq!(driver.prompt().messages, [prompt::PromptMessage::User(text)]);
    }
}

#[test]
fn each_call_is_ordered_as_it_was_asked_for() {
    let driver = calling(&[("a", "read"), ("b", "edit")]);
    let ordered: Vec<_> = driver.running().iter().map(|(_, order)| (*order).clone()).collect();
    assert_eq!(ordered, [("a", "read"), ("b", "edit")].map(|(id, it)| Order::Tool(call(id, it))));
}

#[test]
fn two_calls_of_one_id_have_a_result_each() {
    let mut driver = asked();
    proposes(&mut driver, vec![call("same", "read"), call("same", "edit")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[1], result(true, false, "second"));
    assert_eq!(driver.state(), "executing_tools", "one answer ends one call");
    driver.answer(running[0], result(true, false, "first"));
    assert_eq!(outputs(&driver), ["first", "second"]);
    crate::dialogue::well_formed(&driver.prompt());
}

#[test]
fn attempts_restart_after_tools_hooks_and_messages() {
    let second = |driver: &mut TestDriver<ChatAgent>| {
        assert_eq!(attempt(driver), 1);
        driver.fault(FaultClass::Unavailable, true);
        driver.wake();
        assert_eq!((driver.state(), attempt(driver)), ("calling_llm", 2), "it is kept");
    };
    let mut driver = asked();
    second(&mut driver);
    proposes(&mut driver, vec![call("a", "read")]);
    driver.answer_last(result(true, false, "x"));
    second(&mut driver);
    proposes(&mut driver, vec![call("b", "edit")]);
    driver.answer_last(result(true, true, "x"));
    driver.report(ChatReport::PostTools { action_taken: false, actions: vec![] });
    second(&mut driver);
    driver.say("Done.");
    driver.give("user_input", json!({"text": "and now?"}));
    second(&mut driver);
}

#[test]
fn stale_timer_changes_nothing() {
    for state in
        [ready as fn() -> TestDriver<ChatAgent>, asked, || calling(&[("a", "read")]), hooked]
    {
        let mut driver = state();
        let before = (driver.state().to_owned(), driver.run.data.clone());
        assert_eq!(driver.try_apply(Event::Woke), Ok(StepResult::Ignored(Late::NotDue)));
        assert_eq!((driver.state().to_owned(), driver.run.data.clone()), before);
    }
    let mut driver = backing_off();
    assert_eq!(driver.try_apply(Event::Woke), Ok(StepResult::Ignored(Late::NotDue)), "too early");
    driver.wake();
    assert_eq!(attempt(&driver), 2);
}

#[test]
fn messages_are_readable_after_the_end() {
    let mut driver = calling(&[("a", "read"), ("b", "edit")]);
    driver.cancel(Scope::Shutdown);
    assert_eq!(driver.run.data.transcript.messages().len(), 2);
    assert_eq!(outputs(&driver).len(), 2, "each call has a result");
    assert!(driver.running().is_empty());
    let took = driver.try_apply(Event::Cancelled { scope: Scope::Shutdown });
    assert_eq!(took, Ok(StepResult::Ignored(Late::Ended)));
    let took = driver.try_give("user_input", json!({"text": "hello?"}));
    assert_eq!(took, Err(Rejected::Ended));
}

#[test]
fn request_after_a_hook_has_no_trace_of_the_hook() {
    let mut driver = hooked();
    let actions = vec![String::from("committed 1 file")];
    driver.report(ChatReport::PostTools { action_taken: true, actions });
    let prompt = serde_json::to_string(&driver.prompt()).unwrap();
    assert!(prompt.contains(r#""output":"x""#) && !prompt.contains("committed"), "{prompt}");
}

#[test]
fn a_snapshot_in_every_state_is_the_same_run() {
    let states: [fn() -> TestDriver<ChatAgent>; 5] =
        [ready, asked, || calling(&[("a", "read"), ("b", "edit")]), hooked, backing_off];
    for state in states {
        let driver = state();
        let text = serde_json::to_string(&driver.run).unwrap();
        let run: Run<ChatAgent> = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&run).unwrap(), text, "in `{}`", driver.state());
        assert_eq!(run.data, driver.run.data);
    }
    assert_eq!(ChatAgent::result(&ready().run.data), None, "nothing was said yet");
}
