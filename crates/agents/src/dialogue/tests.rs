//! The law of every rendered history: whatever happened, each call has one result.

use alloc::{string::String, vec::Vec};

use pointsman_kernel::prompt::{Prompt, PromptMessage};

/// Fails unless every call is followed by its result, in request order, and by no other.
pub(crate) fn well_formed(prompt: &Prompt) {
    let mut open: Vec<String> = Vec::new();
    for message in &prompt.messages {
        match message {
            PromptMessage::Tool { id, .. } => {
                assert!(!open.is_empty(), "a result without a call: {id}");
                assert_eq!(open.remove(0), *id, "results stand in request order");
            }
            PromptMessage::Assistant { calls, .. } => {
                assert_eq!(open, Vec::<String>::new(), "calls without a result");
                open.extend(calls.iter().map(|call| call.id.clone()));
                let mut ids = open.clone();
                ids.sort();
                ids.dedup();
                assert_eq!(ids.len(), open.len(), "an id stands for one call");
            }
            _ => assert_eq!(open, Vec::<String>::new(), "calls without a result"),
        }
    }
    assert_eq!(open, Vec::<String>::new(), "calls without a result at the end");
    assert!(!prompt.system.is_empty() && !prompt.messages.is_empty());
}

mod histories {
    use alloc::{
        format,
        string::{String, ToString},
        vec::Vec,
    };

    use pointsman_kernel::{
        agent::{Agent, Answer, FaultClass, Order, Reply, ToolCall, ToolResult},
        event::Scope,
        run::ItemStatus,
    };
    use proptest::prelude::*;
    use serde_json::json;

    use super::well_formed;
    use crate::{
        chat::ChatAgent,
        code::CodeAgent,
        testing::{TestDriver, raw},
    };

    /// What happens next, as numbers that every state can make something of.
    fn script() -> impl Strategy<Value = Vec<(u8, u8)>> {
        proptest::collection::vec((any::<u8>(), any::<u8>()), 1..60)
    }

    fn calls(count: u8) -> Vec<ToolCall> {
        let call = |n: u8| ToolCall {
            id: format!("c{}", n % 3),
            tool: ["read", "edit", "shell", "phase_complete", "propose_plan"][usize::from(n % 5)]
                .into(),
            arguments: raw(&json!({"path": n.to_string(), "success": n.is_multiple_of(2)})),
        };
        (0..count).map(call).collect()
    }

    fn happens<A: Agent>(driver: &mut TestDriver<A>, event: &str, (what, how): (u8, u8))
    where
        A::Task: Clone,
    {
        if driver.ended().is_some() {
            return;
        }
        let asks =
            driver.run.core.items.iter().any(|it| matches!(it.doing, ItemStatus::Asking { .. }));
        let running = driver.running().last().map(|(id, order)| (*id, (*order).clone()));
        match (what % 8, running) {
            (0, _) => driver.cancel(Scope::Turn),
            (1, _) if driver.run.core.wake.is_some() => driver.wake(),
            (2, _) if asks => driver.decide(how.is_multiple_of(2)),
            (3, Some(_)) => {
                let class = [FaultClass::TooLong, FaultClass::Unavailable, FaultClass::Resource];
                driver.fault(class[usize::from(how % 3)], how.is_multiple_of(4));
            }
            (_, Some((id, Order::Model(_)))) => {
                let text =
                    if how.is_multiple_of(3) { format!("word {how}") } else { String::new() };
                driver.answer(id, Answer::Model(Reply { text, calls: calls(how % 5) }));
            }
            (_, Some((id, Order::Tool(_)))) => {
                let output = "out\n".repeat(usize::from(how) * 8);
                let result = ToolResult { ok: how > 99, output, mutated: how.is_multiple_of(2) };
                driver.answer(id, Answer::Tool(result));
            }
            (_, Some(_)) => driver.fault(FaultClass::Other, false),
            (_, None) if driver.state() == "idle" || driver.state().starts_with("waiting") => {
                driver.give(event, json!({"text": format!("say {how}")}));
            }
            (_, None) => {}
        }
        if matches!(driver.running().last(), Some((_, Order::Model(_)))) {
            well_formed(&driver.prompt());
        }
    }

    fn config() -> serde_json::Value {
        json!({"tools": ["read", "edit"], "limits": {"context_tokens": 3_000, "keep_turns": 2}})
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn of_chat_are_well_formed(script in script()) {
            let mut driver = TestDriver::<ChatAgent>::new(crate::chat::CHART, &[]);
            driver.begin(config());
            for it in script {
                happens(&mut driver, "user_input", it);
            }
        }

        #[test]
        fn of_code_are_well_formed(script in script()) {
            let mut driver = TestDriver::<CodeAgent>::new(crate::code::CHART, &[]);
            driver.begin(config());
            for it in script {
                happens(&mut driver, "prompt", it);
            }
        }
    }
}
