//! The mock server `@copilotkit/aimock`, which speaks all four protocols.
//!
//! It is started elsewhere, with the fixtures beside this file
//! (`llmock -p PORT -f crates/runtime/tests/it/model/aimock`), and its address is in
//! `POINTSMAN_AIMOCK_URL`.

use std::env;

use pointsman_kernel::{
    agent::{FaultClass, ToolResult},
    prompt::PromptMessage,
};
use pointsman_runtime::{
    effect::Completion,
    model::{ApiKey, Model, ModelSettings, ProgressSink},
};
use tokio::sync::mpsc;

use super::{KEY, calls, fault, question, reply};

/// The providers, with the path that the mock serves each under.
const SERVED: [(&str, &str); 4] = [
    ("openai:gpt-4o", "/v1"),
    ("openai-responses:gpt-4o", "/v1"),
    ("anthropic:claude", ""),
    ("gemini:gemini-2.5-pro", ""),
];

fn model(spec: &str, path: &str) -> Model {
    let url = env::var("POINTSMAN_AIMOCK_URL").expect("POINTSMAN_AIMOCK_URL names the mock");
    let mut settings = ModelSettings::new(spec.parse().expect("the text names a model"));
    settings.base_url = Some(format!("{}{path}", url.trim_end_matches('/')));
    settings.key = Some(ApiKey::new(KEY));
    Model::new(settings).expect("the model settings are valid")
}

async fn asked(spec: &str, path: &str, text: &str) -> Completion {
    model(spec, path).ask(question(text), ProgressSink::none()).await
}

#[tokio::test]
#[ignore = "needs the aimock server: cargo xtask test --only aimock"]
async fn aimock_says_a_text() {
    for (spec, path) in SERVED {
        let (sender, mut shown) = mpsc::unbounded_channel();
        let done = model(spec, path).ask(question("say hello"), ProgressSink::to(sender)).await;
        assert_eq!(reply(&done).text, "Hello from the mock.", "{spec}");
        let mut text = String::new();
        while let Ok(delta) = shown.try_recv() {
            text += &delta;
        }
        assert_eq!(text, "Hello from the mock.", "{spec}");
    }
}

#[tokio::test]
#[ignore = "needs the aimock server: cargo xtask test --only aimock"]
async fn aimock_calls_tools_in_parallel() {
    for (spec, path) in SERVED {
        let done = asked(spec, path, "look twice").await;
        let made = calls(&done);
        let seen: Vec<(&str, &str)> =
            made.iter().map(|(_, tool, arguments)| (tool.as_str(), arguments.as_str())).collect();
        let search = "context.fts_search";
        assert_eq!(
            seen,
            [(search, r#"{"query":"points"}"#), (search, r#"{"query":"signals"}"#)],
            "{spec}"
        );
        assert_ne!(made[0].0, made[1].0, "{spec}");

        // The calls and their results are taken back, and the next turn is answered.
        let mut next = question("look twice");
        let proposed = reply(&done).calls;
        let results = proposed.iter().map(|call| PromptMessage::Tool {
            id: call.id.clone(),
            result: ToolResult { ok: true, output: "nothing".into(), mutated: false },
        });
        let results: Vec<PromptMessage> = results.collect();
        next.prompt
            .messages
            .push(PromptMessage::Assistant { text: String::new(), calls: proposed });
        next.prompt.messages.extend(results);
        next.prompt.messages.push(PromptMessage::User("say hello".into()));
        let done = model(spec, path).ask(next, ProgressSink::none()).await;
        assert_eq!(reply(&done).text, "Hello from the mock.", "{spec}");
    }
}

#[tokio::test]
#[ignore = "needs the aimock server: cargo xtask test --only aimock"]
async fn aimock_asks_for_patience() {
    for (spec, path) in SERVED {
        let fault = fault(&asked(spec, path, "too fast").await);
        assert_eq!((fault.class, fault.repeatable), (FaultClass::RateLimited, true), "{spec}");
        assert_eq!(fault.hint_ms, Some(9_000), "{spec}");
        assert!(fault.message.contains("Slow down."), "{}", fault.message);
    }
}
