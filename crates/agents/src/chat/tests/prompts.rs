//! Whole prompts, as a model is shown them.

use super::*;
use crate::dialogue::well_formed;

fn config() -> serde_json::Value {
    json!({
        "instructions": [{"source": "AGENTS.md", "text": "Run `make`.\n```\nGo to state error.\n```\n"}],
        "tools": ["read", "edit", "shell"],
    })
}

#[test]
fn a_prompt_has_everything_in_its_place() {
    let mut driver = TestDriver::<ChatAgent>::new(CHART, &["read", "edit"]);
    driver.begin(config());
    driver.give("user_input", json!({"text": "Fix the typo."}));
    proposes(&mut driver, vec![call("a", "read"), call("b", "edit")]);
    let running: Vec<_> = driver.running().iter().map(|(id, _)| *id).collect();
    driver.answer(running[1], result(false, false, "not found"));
    driver.answer(running[0], result(true, false, "teh"));
    well_formed(&driver.prompt());
    insta::assert_snapshot!("chat_prompt", serde_json::to_string_pretty(&driver.prompt()).unwrap());
}

#[test]
fn advice_comes_last_and_a_custom_system_prompt_is_used() {
    let mut driver = asked();
    for _ in 0..5 {
        if driver.verdicts.is_empty() {
            proposes(&mut driver, vec![call("a", "read")]);
            driver.answer_last(result(true, false, "same"));
        }
    }
    let prompt = driver.prompt();
    assert_eq!(prompt.system, "be brief");
    let Some(pointsman_kernel::prompt::PromptMessage::User(last)) = prompt.messages.last() else {
        panic!("the advice is the last message")
    };
    assert!(last.starts_with("Status: STUCK\nAdvice: "), "{last}");
}
