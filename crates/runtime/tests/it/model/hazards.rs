//! Seven ways in which clients take a broken answer for a good one, each settled here.

use pointsman_kernel::{agent::FaultClass, event::Usage};
use pointsman_runtime::model::Protocol;
use serde_json::json;

use super::{
    PROVIDERS,
    answers::{called, events, text},
    ask, at, calls, fault, kind,
    server::{Served, Then, serve},
};

/// Returns an error in the middle of a stream, as each provider puts it.
fn trouble(protocol: Protocol) -> String {
    let error = json!({ "type": "rate_limit_error", "message": "slow down" });
    match protocol {
        Protocol::OpenAiChat => events(&[json!({ "error": error })]),
        Protocol::OpenAiResponses => events(&[json!({ "type": "response.failed", "response": {
            "status": "failed", "error": { "code": "rate_limit_exceeded", "message": "slow down" },
            "usage": { "input_tokens": 4, "output_tokens": 1 },
        } })]),
        Protocol::AnthropicMessages => events(&[json!({ "type": "error", "error": error })]),
        _ => events(&[
            json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down" } }),
        ]),
    }
}

/// Returns the events of a body, each with its blank line.
fn frames(body: &str) -> Vec<String> {
    body.split_inclusive("\n\n").map(str::to_owned).collect()
}

async fn kind_of(spec: &str, body: &str) -> (FaultClass, bool) {
    let server = serve(vec![Served::whole(200, body)]).await;
    kind(&ask(at(spec, &server.url)).await)
}

#[tokio::test]
async fn hazard_1_a_refused_request_keeps_its_status_and_its_hint() {
    for (spec, protocol) in PROVIDERS {
        let body = json!({ "error": { "type": "rate_limit_error", "message": "slow down" } });
        let answer = Served::whole(429, &body.to_string()).with("Retry-After", "7");
        let server = serve(vec![answer]).await;
        let fault = fault(&ask(at(spec, &server.url)).await);
        assert_eq!((fault.class, fault.repeatable), (FaultClass::RateLimited, true), "{protocol}");
        assert_eq!(fault.hint_ms, Some(7_000), "{protocol}");
        assert_eq!(fault.message, format!("{spec}: slow down (HTTP 429)"));
    }
}

#[tokio::test]
async fn hazard_2_stream_without_end_marker_is_not_a_reply() {
    for (spec, protocol) in PROVIDERS {
        let all = frames(&text(protocol));
        for kept in 0..all.len() {
            // The last event of chat completions is the marker alone.
            let cut = all[..kept].concat();
            let cut_off = (FaultClass::Unavailable, true);
            assert_eq!(kind_of(spec, &cut).await, cut_off, "{protocol}, {kept} events");
        }
    }
}

#[tokio::test]
async fn hazard_3_end_after_an_error_is_not_a_reply() {
    for (spec, protocol) in PROVIDERS {
        let mut all = frames(&text(protocol));
        all.insert(1, trouble(protocol));
        assert_eq!(
            kind_of(spec, &all.concat()).await,
            (FaultClass::RateLimited, true),
            "{protocol}"
        );
    }
}

#[tokio::test]
async fn hazard_4_after_an_event_that_is_not_json_nothing_counts() {
    for (spec, protocol) in PROVIDERS {
        for broken in ["data: {\"a\": \n\n", "data: \u{0}{]\n\n", "data: 7\n\n"] {
            let mut all = frames(&text(protocol));
            all.insert(1, broken.to_owned());
            let found = kind_of(spec, &all.concat()).await;
            assert_eq!(found, (FaultClass::Invalid, true), "{protocol}, {broken}");
        }
    }
}

#[tokio::test]
async fn hazard_5_non_object_arguments_spoil_the_reply() {
    for (spec, protocol) in PROVIDERS {
        for broken in ["{", "[]", "\"{}\"", "null", "{\"a\": tru"] {
            let is_gemini = protocol == Protocol::GeminiGenerate;
            if is_gemini && serde_json::from_str::<serde_json::Value>(broken).is_err() {
                // There arguments are part of the event, which would be broken itself.
                continue;
            }
            if is_gemini && broken == "null" {
                // No arguments at all.
                continue;
            }
            let body = called(protocol, "a", &[("read", "{}"), ("read", broken)]);
            let found = kind_of(spec, &body).await;
            assert_eq!(found, (FaultClass::Invalid, true), "{protocol}, {broken}");
        }
    }
}

#[tokio::test]
async fn hazard_6_ids_are_kept_and_made_unique_and_never_empty() {
    for (spec, protocol) in PROVIDERS {
        let body = called(protocol, "x", &[("read", "{}"), ("read", "{}"), ("read", "{}")]);
        let server = serve(vec![Served::whole(200, &body)]).await;
        let made = calls(&ask(at(spec, &server.url)).await);
        let mut ids: Vec<String> = made.into_iter().map(|(id, ..)| id).collect();
        if protocol != Protocol::GeminiGenerate {
            assert_eq!(ids[0], "x", "{protocol}");
        }
        assert!(ids.iter().all(|id| !id.is_empty()), "{protocol}: {ids:?}");
        let count = ids.len();
        assert_eq!(count, 3, "{protocol}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{protocol}: {ids:?}");
    }
    // Made-up ids differ from question to question.
    let body = called(Protocol::GeminiGenerate, "", &[("read", "{}")]);
    let server = serve(vec![Served::whole(200, &body)]).await;
    let model =
        pointsman_runtime::model::Model::new(at("gemini:m", &server.url)).expect("it is set up");
    let mut other = super::question("hello");
    other.key = "run-1-effect-3".into();
    let nobody = pointsman_runtime::model::ProgressSink::none;
    let first = calls(&model.ask(super::question("hello"), nobody()).await);
    let second = calls(&model.ask(other, nobody()).await);
    assert_ne!(first[0].0, second[0].0);
}

#[tokio::test]
async fn hazard_7_error_in_a_stream_is_classified_and_charged() {
    let cases = [
        ("insufficient_quota", FaultClass::Resource, false),
        ("authentication_error", FaultClass::Forbidden, false),
        ("overloaded_error", FaultClass::Unavailable, true),
        ("server_error", FaultClass::Unavailable, true),
        ("tool_use_failed", FaultClass::Invalid, true),
        ("context_length_exceeded", FaultClass::TooLong, false),
    ];
    for (code, class, repeatable) in cases {
        let usage =
            json!({ "usage": { "prompt_tokens": 5, "completion_tokens": 2 }, "choices": [] });
        let error = json!({ "error": { "code": code, "message": "no" } });
        let body = events(&[usage, error]);
        let server = serve(vec![Served::whole(200, &body)]).await;
        let done = ask(at("ollama:m", &server.url)).await;
        assert_eq!(kind(&done), (class, repeatable), "{code}");
        assert_eq!(done.usage, Usage { tokens: 7, ..Usage::default() }, "{code}");
    }
}

#[tokio::test]
async fn broken_connection_is_reported() {
    let body = text(Protocol::AnthropicMessages);
    let half = &body.as_bytes()[..body.len() / 2];
    let server = serve(vec![Served::pieces(half, 20).then(Then::Cut)]).await;
    let fault = fault(&ask(at("anthropic:m", &server.url)).await);
    assert_eq!((fault.class, fault.repeatable), (FaultClass::Unavailable, true));
    assert!(fault.message.contains("the connection broke"), "{}", fault.message);
}

#[tokio::test]
async fn truncated_reply_is_used_only_if_harmless() {
    let cut = |delta: serde_json::Value| {
        let choice = json!({ "delta": delta, "finish_reason": "length" });
        events(&[json!({ "choices": [choice] })]) + "data: [DONE]\n\n"
    };
    let call = json!([{ "index": 0, "id": "a", "function": { "name": "read" } }]);
    assert_eq!(
        kind_of("ollama:m", &cut(json!({ "tool_calls": call }))).await,
        (FaultClass::Invalid, true)
    );
    let thought = cut(json!({ "content": "", "reasoning_content": "hm, hm" }));
    let server = serve(vec![Served::whole(200, &thought)]).await;
    let silent = fault(&ask(at("ollama:m", &server.url)).await);
    assert_eq!((silent.class, silent.repeatable), (FaultClass::Invalid, true));
    assert!(silent.message.contains("raise `max_tokens` in `[model]`"), "{}", silent.message);
    let server = serve(vec![Served::whole(200, &cut(json!({ "content": "half a" })))]).await;
    assert_eq!(super::reply(&ask(at("ollama:m", &server.url)).await).text, "half a");
}

#[tokio::test]
async fn refusals_and_filters_are_not_replies() {
    let refusal =
        json!({ "choices": [{ "delta": { "refusal": "I will not." }, "finish_reason": "stop" }] });
    let body = events(&[refusal]) + "data: [DONE]\n\n";
    assert_eq!(kind_of("ollama:m", &body).await, (FaultClass::Invalid, false));
    let blocked = json!({ "candidates": [{ "content": { "parts": [{ "text": "a" }] }, "finishReason": "SAFETY" }] });
    assert_eq!(kind_of("gemini:m", &events(&[blocked])).await, (FaultClass::Invalid, false));
    // Responses end as incomplete, and only a field beside it says that a filter did it.
    for (reason, expected) in [
        (json!("content_filter"), Some((FaultClass::Invalid, false))),
        (json!("max_output_tokens"), None),
        (json!("something_new"), None),
        (json!(null), None),
    ] {
        let filtered = events(&[
            json!({ "type": "response.output_text.delta", "delta": "half a" }),
            json!({ "type": "response.incomplete", "response": {
                "status": "incomplete", "incomplete_details": { "reason": reason },
            } }),
        ]);
        let server = serve(vec![Served::whole(200, &filtered)]).await;
        let done = ask(at("openai-responses:m", &server.url)).await;
        match expected {
            Some(expected) => assert_eq!(kind(&done), expected, "{reason}"),
            None => assert_eq!(super::reply(&done).text, "half a", "{reason}"),
        }
    }
    let broken = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] });
    assert_eq!(kind_of("gemini:m", &events(&[broken])).await, (FaultClass::Invalid, true));
}

#[tokio::test]
async fn badly_ended_reply_is_a_fault() {
    for (word, expected) in [
        ("insufficient_system_resource", (FaultClass::Unavailable, true)),
        ("abort", (FaultClass::Unavailable, true)),
        ("error", (FaultClass::Unavailable, true)),
        ("OTHER", (FaultClass::Invalid, true)),
        ("MALFORMED_RESPONSE", (FaultClass::Invalid, true)),
        ("guardrail_intervened", (FaultClass::Invalid, false)),
    ] {
        let chat = text(Protocol::OpenAiChat).replace("\"stop\"", &format!("\"{word}\""));
        assert_eq!(kind_of("openai-compatible:m", &chat).await, expected, "{word}");
        let gemini = text(Protocol::GeminiGenerate).replace("\"STOP\"", &format!("\"{word}\""));
        assert_eq!(kind_of("gemini:m", &gemini).await, expected, "{word}");
    }
}
