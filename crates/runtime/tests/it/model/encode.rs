//! Questions as each protocol writes them, over one conversation that has everything.

use insta::assert_snapshot;
use pointsman_kernel::{
    agent::{ToolCall, ToolResult},
    prompt::{Prompt, PromptMessage},
};
use pointsman_runtime::{
    model::{ModelRequest, ModelSettings, Proposals, Protocol, encode::encode},
    tool::ToolSpec,
};
use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};

fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    let arguments = RawValue::from_string(arguments.into()).expect("the text is valid JSON");
    ToolCall { id: id.into(), tool: tool.into(), arguments }
}

fn result(id: &str, ok: bool, output: &str) -> PromptMessage {
    let result = ToolResult { ok, output: output.into(), mutated: false };
    PromptMessage::Tool { id: id.into(), result }
}

/// Parallel calls, a failed one, an empty output, a duplicate id, two consecutive turns of a
/// person, an empty reply, and a tool that the prompt does not name.
fn rich() -> ModelRequest {
    let closed = json!({
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
        "additionalProperties": false,
    });
    let open = json!({ "type": "object", "properties": { "query": { "type": "string" } } });
    let tool = |name: &str, about: &str, parameters: &Value| ToolSpec {
        name: name.into(),
        about: about.into(),
        parameters: parameters.clone(),
    };
    ModelRequest {
        prompt: Prompt {
            system: "You answer from documents.\n".into(),
            messages: vec![
                PromptMessage::User("What is a point?".into()),
                PromptMessage::User("Be brief.".into()),
                PromptMessage::Assistant {
                    text: "I look.".into(),
                    calls: vec![
                        call("a", "context.fts_search", r#"{"query":"point"}"#),
                        call("b", "read", r#"{"path":"x.md"}"#),
                    ],
                },
                result("a", true, "x.md:3: a point is a switch"),
                result("b", false, "there is no x.md"),
                PromptMessage::Assistant {
                    text: String::new(),
                    calls: vec![call("a", "context.fts_search", r#"{"query":"switch"}"#)],
                },
                result("a", true, ""),
                PromptMessage::Assistant { text: String::new(), calls: vec![] },
                PromptMessage::User("Well?".into()),
            ],
            tools: vec!["context.fts_search".into(), "read".into()],
            private: None,
            schema: Some(json!({
                "type": "object",
                "properties": { "action": { "enum": ["tool", "finish"] } },
                "required": ["action"],
            })),
        },
        tools: vec![
            tool("context.fts_search", "Searches the documents.", &open),
            tool("read", "Reads a file.", &closed),
            tool("write", "Writes a file.", &closed),
        ],
        key: "k".into(),
    }
}

fn written(spec: &str, proposals: Proposals) -> String {
    let spec: pointsman_runtime::model::Spec = spec.parse().expect("the text names a model");
    let protocol = spec.provider().protocol().expect("it is reached over the wire");
    let mut settings = ModelSettings::new(spec);
    settings.proposals = proposals;
    settings.max_tokens = 100;
    settings.temperature = Some(0.5);
    settings.seed = Some(7);
    let encoded = encode(protocol, &rich(), &settings);
    serde_json::to_string_pretty(&encoded.body).expect("the value serialises")
}

#[test]
fn every_protocol_writes_tools() {
    for spec in ["openai:m", "openai-responses:m", "anthropic:m", "gemini:gemini-3-m"] {
        let name = spec.split(':').next().expect("it has a provider");
        assert_snapshot!(format!("tools_{name}"), written(spec, Proposals::Tools));
    }
}

#[test]
fn every_protocol_writes_a_schema() {
    for spec in ["ollama:m", "openai-responses:m", "anthropic:m", "gemini:m"] {
        let name = spec.split(':').next().expect("it has a provider");
        assert_snapshot!(format!("schema_{name}"), written(spec, Proposals::Schema));
    }
}

#[test]
fn request_form_follows_schema_and_tools() {
    let form = |proposals, schema: bool, tools: bool| {
        let mut question = rich();
        if !schema {
            question.prompt.schema = None;
        }
        if !tools {
            question.prompt.tools.clear();
        }
        let mut settings = ModelSettings::new("openai:m".parse().expect("the text names a model"));
        settings.proposals = proposals;
        let body = encode(Protocol::OpenAiChat, &question, &settings).body;
        (body.get("response_format").is_some(), body.get("tools").is_some())
    };
    assert_eq!(form(Proposals::Schema, true, true), (true, false));
    assert_eq!(form(Proposals::Tools, true, true), (false, true));
    // Where one of the two is missing the other one is asked for.
    assert_eq!(form(Proposals::Tools, true, false), (true, false));
    assert_eq!(form(Proposals::Schema, false, true), (false, true));
    assert_eq!(form(Proposals::Tools, false, false), (false, false));
}

#[test]
fn non_object_schema_is_described_in_words() {
    let mut question = rich();
    question.prompt.schema = Some(json!({ "type": "array" }));
    for protocol in Protocol::ALL {
        let settings = ModelSettings::new("openai:m".parse().expect("the text names a model"));
        let body = encode(protocol, &question, &settings).body.to_string();
        assert!(body.contains("Reply with JSON that fits this schema"), "{body}");
        assert!(!body.contains("json_schema") && !body.contains("tool_choice"), "{body}");
    }
}

#[test]
fn an_empty_prompt_is_still_a_question() {
    let question = ModelRequest { prompt: Prompt::default(), tools: vec![], key: String::new() };
    for protocol in Protocol::ALL {
        let settings = ModelSettings::new("openai:m".parse().expect("the text names a model"));
        let body = encode(protocol, &question, &settings).body.to_string();
        assert!(body.contains("Go on."), "{body}");
        assert!(!body.contains("\"\""), "no text is empty: {body}");
    }
}

/// Any message, with few ids and few texts, so that they collide.
fn any_message() -> impl Strategy<Value = PromptMessage> {
    let text = prop::sample::select(vec!["", " ", "a", "b\n"]);
    let id = prop::sample::select(vec!["", "x", "y", "é", "call_1"]);
    let tool = prop::sample::select(vec!["read", "context.fts_search", "no such"]);
    let calls = prop::collection::vec((id.clone(), tool), 0..3);
    prop_oneof![
        text.clone().prop_map(|text| PromptMessage::User(text.into())),
        (text.clone(), calls).prop_map(|(text, calls)| PromptMessage::Assistant {
            text: text.into(),
            calls: calls.into_iter().map(|(id, tool)| call(id, tool, "{}")).collect(),
        }),
        (id, any::<bool>(), text).prop_map(|(id, ok, text)| result(id, ok, text)),
    ]
}

proptest! {
    #[test]
    fn roles_alternate_and_every_call_is_answered_at_once(
        messages in prop::collection::vec(any_message(), 0..12),
        native in any::<bool>(),
    ) {
        let mut question = rich();
        question.prompt.messages = messages;
        let mut settings = ModelSettings::new("anthropic:m".parse().expect("the text names a model"));
        settings.proposals = if native { Proposals::Tools } else { Proposals::Schema };
        let body = encode(Protocol::AnthropicMessages, &question, &settings).body;
        let messages = body["messages"].as_array().expect("it has messages");
        let mut open: Vec<&str> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (at, message) in messages.iter().enumerate() {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            prop_assert_eq!(&message["role"], role);
            let blocks = message["content"].as_array().expect("it has blocks");
            prop_assert!(!blocks.is_empty());
            let answered: Vec<&str> =
                blocks.iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
            prop_assert_eq!(&answered, &open);
            open = blocks.iter().filter_map(|block| block["id"].as_str()).collect();
            for id in &open {
                prop_assert!(!id.is_empty() && id.is_ascii() && seen.insert(*id), "{}", id);
            }
            for block in blocks.iter().filter(|block| block["type"] == "text") {
                prop_assert!(!block["text"].as_str().unwrap_or_default().trim().is_empty());
            }
        }
        prop_assert!(open.is_empty());
        prop_assert_eq!(messages.len() % 2, 1, "a person has the last word");
    }
}
