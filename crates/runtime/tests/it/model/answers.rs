//! Good answers of all four protocols, whole and in pieces of every size.

use pointsman_kernel::event::Usage;
use pointsman_runtime::model::{Model, Prices, ProgressSink, Protocol};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    PROVIDERS, at, calls, question, reply,
    server::{Served, serve},
};

/// Makes an event stream of data lines.
pub(crate) fn events(data: &[Value]) -> String {
    data.iter().fold(String::new(), |text, data| {
        let name = data["type"].as_str().map(|name| format!("event: {name}\n"));
        format!("{text}{}data: {data}\n\n", name.unwrap_or_default())
    })
}

/// Returns a stream that says "Hello there." and counts 7 tokens in and 3 out.
pub(crate) fn text(protocol: Protocol) -> String {
    match protocol {
        Protocol::OpenAiChat => {
            events(&[
                json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "Hello " } }] }),
                json!({ "choices": [{ "index": 0, "delta": { "content": "there." } }] }),
                json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
                json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } }),
            ]) + "data: [DONE]\n\n"
        }
        Protocol::OpenAiResponses => events(&[
            json!({ "type": "response.created", "response": {} }),
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello " }),
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "there." }),
            json!({ "type": "response.completed", "response": {
                "status": "completed", "usage": { "input_tokens": 7, "output_tokens": 3 },
            } }),
        ]),
        Protocol::AnthropicMessages => events(&[
            json!({ "type": "message_start", "message": { "usage": { "input_tokens": 7, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Hello " } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "there." } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 3 } }),
            json!({ "type": "message_stop" }),
        ]),
        _ => events(&[
            json!({ "candidates": [{ "content": { "parts": [{ "text": "Hello " }] } }] }),
            json!({ "candidates": [{ "content": { "parts": [{ "text": "there." }] }, "finishReason": "STOP" }],
                "usageMetadata": { "promptTokenCount": 7, "candidatesTokenCount": 3 } }),
        ]),
    }
}

/// Returns a stream with these calls: the tool's name as sent, and arguments.
pub(crate) fn called(protocol: Protocol, id: &str, calls: &[(&str, &str)]) -> String {
    let numbered = (0..).zip(calls.iter().copied());
    match protocol {
        Protocol::OpenAiChat => {
            let deltas = numbered.map(|(index, (name, arguments)): (u32, _)| {
                json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{
                    "index": index, "id": id, "function": { "name": name, "arguments": arguments },
                }] } }] })
            });
            let end =
                json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
            events(&deltas.chain([end]).collect::<Vec<_>>()) + "data: [DONE]\n\n"
        }
        Protocol::OpenAiResponses => {
            let items = numbered.map(|(index, (name, arguments)): (u32, _)| {
                json!({ "type": "response.output_item.done", "output_index": index, "item": {
                    "type": "function_call", "call_id": id, "name": name, "arguments": arguments,
                } })
            });
            let end =
                json!({ "type": "response.completed", "response": { "status": "completed" } });
            events(&items.chain([end]).collect::<Vec<_>>())
        }
        Protocol::AnthropicMessages => {
            let blocks = numbered.flat_map(|(index, (name, arguments)): (u32, _)| {
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
                [
                    json!({ "type": "content_block_start", "index": index, "content_block": block }),
                    json!({ "type": "content_block_delta", "index": index, "delta": delta }),
                    json!({ "type": "content_block_stop", "index": index }),
                ]
            });
            let end = [
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
                json!({ "type": "message_stop" }),
            ];
            events(&blocks.chain(end).collect::<Vec<_>>())
        }
        _ => {
            let parts = numbered.map(|(_, (name, arguments)): (u32, _)| {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                json!({ "functionCall": { "name": name, "args": arguments } })
            });
            let parts: Vec<Value> = parts.collect();
            events(&[
                json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] }),
            ])
        }
    }
}

#[tokio::test]
async fn text_arrives_whole_however_it_was_cut() {
    for (spec, protocol) in PROVIDERS {
        for size in [1, 7, 64, 100_000] {
            let server = serve(vec![Served::pieces(text(protocol).as_bytes(), size)]).await;
            let mut settings = at(spec, &server.url);
            settings.prices = Some(Prices { input: 1_000_000, output: 2_500_000 });
            let (sender, mut shown) = mpsc::unbounded_channel();
            let model = Model::new(settings).expect("the model settings are valid");
            let done = model.ask(question("hello"), ProgressSink::to(sender)).await;
            assert_eq!(reply(&done).text, "Hello there.", "{protocol} by {size}");
            // 7 tokens at 1 and 3 at 2.5 are 14.5 millionths, rounded up.
            assert_eq!(done.usage, Usage { tokens: 10, money: 15, ..Usage::default() });
            let mut deltas = Vec::new();
            while let Ok(delta) = shown.try_recv() {
                deltas.push(delta);
            }
            assert_eq!(deltas, ["Hello ", "there."], "{protocol} by {size}");
        }
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_order_and_their_tools_names() {
    for (spec, protocol) in PROVIDERS {
        let wanted = [
            ("context_fts_search", r#"{ "query": "b", "a": 1 }"#),
            ("context_fts_search", r#"{"query":"c"}"#),
            ("unheard.of", "{}"),
        ];
        let server = serve(vec![Served::whole(200, &called(protocol, "c1", &wanted))]).await;
        let done = super::ask(at(spec, &server.url)).await;
        let made = calls(&done);
        let seen: Vec<(&str, &str)> =
            made.iter().map(|(_, tool, arguments)| (tool.as_str(), arguments.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("context.fts_search", r#"{"a":1,"query":"b"}"#),
                ("context.fts_search", r#"{"query":"c"}"#),
                ("unheard.of", "{}"),
            ],
            "{protocol}"
        );
    }
}

#[tokio::test]
async fn a_plain_body_is_read_like_a_stream() {
    let body = json!({ "choices": [{ "message": { "content": "Hi." }, "finish_reason": "stop" }] });
    let server = serve(vec![Served::whole(200, &body.to_string())]).await;
    let done = super::ask(at("ollama:qwen3:8b", &server.url)).await;
    assert_eq!(reply(&done).text, "Hi.");
    let (head, sent) =
        server.seen.lock().expect("no thread panicked while it held the lock").remove(0);
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    assert!(sent.contains(r#""model":"qwen3:8b""#), "{sent}");
}

#[tokio::test]
async fn a_schema_is_answered_by_text_also_where_a_tool_carries_it() {
    let protocol = Protocol::AnthropicMessages;
    let body = called(protocol, "toolu_1", &[("reply", r#"{"final": "x", "action": "finish"}"#)]);
    let server = serve(vec![Served::whole(200, &body)]).await;
    let mut asked = question("hello");
    asked.prompt.schema = Some(json!({ "type": "object", "properties": {} }));
    let (sender, mut shown) = mpsc::unbounded_channel();
    let model = Model::new(at("anthropic:m", &server.url)).expect("the model settings are valid");
    let done = model.ask(asked, ProgressSink::to(sender)).await;
    assert_eq!(reply(&done).text, r#"{"action":"finish","final":"x"}"#);
    assert!(reply(&done).calls.is_empty());
    assert_eq!(shown.try_recv().as_deref(), Ok(r#"{"final": "x", "action": "finish"}"#));
}

#[tokio::test]
async fn data_after_the_end_is_not_awaited() {
    use super::server::Then;
    let body = text(Protocol::OpenAiChat);
    let server = serve(vec![Served::whole(200, &body).then(Then::Hang)]).await;
    assert_eq!(reply(&super::ask(at("ollama:m", &server.url)).await).text, "Hello there.");
}
