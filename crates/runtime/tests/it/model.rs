//! Models, asked over a real connection to a server in this process.

mod aimock;
mod answers;
mod encode;
mod hazards;
mod script;
mod server;
mod settings;
mod tape;
mod transport;

use pointsman_kernel::{
    agent::{Answer, Fault, FaultClass, Reply},
    prompt::{Prompt, PromptMessage},
};
use pointsman_runtime::{
    effect::Completion,
    model::{Model, ModelRequest, ModelSettings, ProgressSink, Protocol},
    tool::ToolSpec,
};
use serde_json::json;

/// A key that is long enough to be taken for one.
const KEY: &str = "sk-test-0123456789";

/// The providers, with the protocols that they speak.
const PROVIDERS: [(&str, Protocol); 4] = [
    ("openai-compatible:m", Protocol::OpenAiChat),
    ("openai-responses:m", Protocol::OpenAiResponses),
    ("anthropic:m", Protocol::AnthropicMessages),
    ("gemini:m", Protocol::GeminiGenerate),
];

/// Returns settings for a model that is reached there.
fn at(spec: &str, base_url: &str) -> ModelSettings {
    let mut settings = ModelSettings::new(spec.parse().expect("the text names a model"));
    settings.base_url = Some(base_url.to_owned());
    settings
}

/// Returns a question with one tool, whose name no provider takes.
fn question(text: &str) -> ModelRequest {
    ModelRequest {
        prompt: Prompt {
            system: "Be brief.".into(),
            messages: vec![PromptMessage::User(text.into())],
            tools: vec!["context.fts_search".into()],
            schema: None,
            private: None,
        },
        tools: vec![ToolSpec {
            name: "context.fts_search".into(),
            about: "Searches.".into(),
            parameters: json!({ "type": "object", "properties": { "query": { "type": "string" } } }),
        }],
        key: "run-1-effect-2".into(),
    }
}

/// Asks, and returns the answer.
async fn ask(settings: ModelSettings) -> Completion {
    let model = Model::new(settings).expect("the model settings are valid");
    model.ask(question("hello"), ProgressSink::none()).await
}

fn reply(done: &Completion) -> Reply {
    let Answer::Model(reply) = &done.answer else { panic!("no reply: {done:?}") };
    reply.clone()
}

fn fault(done: &Completion) -> Fault {
    let Answer::Fault(fault) = &done.answer else { panic!("no fault: {done:?}") };
    fault.clone()
}

/// Returns a fault's class, and whether another attempt is worth it.
fn kind(done: &Completion) -> (FaultClass, bool) {
    let fault = fault(done);
    (fault.class, fault.repeatable)
}

/// Returns the calls of a reply: id, tool, arguments.
fn calls(done: &Completion) -> Vec<(String, String, String)> {
    let calls = reply(done).calls.into_iter();
    calls.map(|call| (call.id, call.tool, call.arguments.get().to_owned())).collect()
}
