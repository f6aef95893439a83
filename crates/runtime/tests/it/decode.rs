//! Answers of language models, read as strictly as their protocols allow.

mod anthropic;
mod chat;
mod errors;
mod gemini;
mod properties;
mod responses;

use pointsman_runtime::model::{
    Protocol,
    decode::{Decoded, Decoder, Head, ReplyPiece},
};
use serde_json::{Value, json};

/// Decodes a whole body, as it came with status 200.
fn decoded(protocol: Protocol, body: &str) -> Decoded {
    answered(protocol, body, 200)
}

fn answered(protocol: Protocol, body: &str, status: u16) -> Decoded {
    let mut decoder = Decoder::new(protocol);
    decoder.push(body.as_bytes());
    decoder.finish(&Head { status: Some(status), ..Head::default() })
}

/// Returns the pieces that a body yields.
fn pieces(protocol: Protocol, body: &str) -> Vec<ReplyPiece> {
    Decoder::new(protocol).push(body.as_bytes())
}

/// Returns the contract: what `pointsman decode --json` prints.
fn shown(decoded: &Decoded) -> Value {
    serde_json::to_value(decoded).expect("the value serialises")
}

fn calls(decoded: &Decoded) -> Value {
    shown(decoded)["tool_calls"].clone()
}

/// Makes an event stream of data lines.
fn events(data: &[&str]) -> String {
    data.iter().fold(String::new(), |text, data| text + "data: " + data + "\n\n")
}

/// Makes an event stream whose events are named by their type.
fn typed(data: &[&str]) -> String {
    data.iter().fold(String::new(), |text, data| {
        let node: Value = serde_json::from_str(data).expect("the text is valid JSON");
        let name = node["type"].as_str().expect("it has a type");
        format!("{text}event: {name}\ndata: {data}\n\n")
    })
}

#[test]
fn the_contract_has_these_fields_in_this_order() {
    let body = events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}}]}"#,
        r#"{"error":{"message":"no","type":"server_error"}}"#,
    ]);
    let text = serde_json::to_string(&decoded(Protocol::OpenAiChat, &body));
    assert_eq!(
        text.expect("it serialises"),
        r#"{"text":"","tool_calls":[{"id":"a","name":"f","arguments":""}],"stop":null,"#.to_owned()
            + r#""usage":{"input":null,"output":null},"complete":false,"error":{"#
            + r#""class":"unavailable","status":null,"code":"server_error","message":"no","#
            + r#""retryable":true,"retry_after_ms":null}}"#
    );
}

#[test]
fn protocols_are_named() {
    for protocol in Protocol::ALL {
        assert_eq!(protocol.as_str().parse(), Ok(protocol));
    }
    assert!("openai".parse::<Protocol>().is_err());
}

#[test]
fn an_empty_body_is_not_complete() {
    for protocol in Protocol::ALL {
        for body in ["", " \n", "\u{feff}", "[]", ": hello\n\n", "data: [DO", "{", "[{"] {
            let decoded = decoded(protocol, body);
            assert!(!decoded.complete, "{protocol} {body:?}");
            assert_eq!(decoded.error, None, "{protocol} {body:?}");
            let failure = decoded.failure().expect("it failed");
            assert!(failure.retryable && failure.class.as_str() == "truncated", "{failure:?}");
        }
    }
}

#[test]
fn a_foreign_end_ends_nothing() {
    let ends = [
        (Protocol::OpenAiChat, events(&["[DONE]"])),
        (Protocol::OpenAiResponses, typed(&[r#"{"type":"response.completed","response":{}}"#])),
        (Protocol::AnthropicMessages, typed(&[r#"{"type":"message_stop"}"#])),
        (Protocol::GeminiGenerate, events(&[r#"{"candidates":[{"finishReason":"STOP"}]}"#])),
    ];
    for protocol in Protocol::ALL {
        for (_, end) in ends.iter().filter(|(other, _)| *other != protocol) {
            assert!(!decoded(protocol, end).complete, "{protocol} {end}");
        }
    }
}

#[test]
fn a_call_without_id_gets_one_that_its_effect_makes_unique() {
    let part = r#"{"functionCall":{"name":"f","args":{}}}"#;
    let body = format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#);
    let call = &decoded(Protocol::GeminiGenerate, &body).tool_calls[0];
    assert_eq!(call.id, None);
    assert_eq!(call.id_within("7.0", 0), "call_7.0_0");
    assert_ne!(call.id_within("7.0", 0), call.id_within("8.0", 0));
    assert_eq!(calls(&decoded(Protocol::GeminiGenerate, &body))[0]["id"], json!(null));
}
