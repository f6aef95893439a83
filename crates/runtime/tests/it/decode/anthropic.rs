//! Messages.

use pointsman_runtime::model::decode::ErrorClass;
use serde_json::json;

use super::{Protocol::AnthropicMessages, calls, decoded, shown, typed};

const START: &str = r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":20,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

/// A stream with everything in it: thinking, text, two calls, one of the provider's own.
pub(super) fn full() -> String {
    typed(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Grü"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ße 🚂"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"y\": 1234567890"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"1234567890}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}"#,
        STOP,
    ])
}

#[test]
fn a_stream_is_read() {
    let decoded = decoded(AnthropicMessages, &full());
    assert_eq!(
        shown(&decoded),
        json!({
            "text": "Grüße 🚂",
            "tool_calls": [
                {"id": "a", "name": "f", "arguments": {}},
                {"id": "b", "name": "g", "arguments": {"y": 12_345_678_901_234_567_890_u64}},
            ],
            "stop": "tool_use",
            "usage": {"input": 20, "output": 30},
            "complete": true,
            "error": null,
        })
    );
    assert_eq!(decoded.usage.charged(), 57);
}

#[test]
fn a_plain_body_is_read() {
    let body = r#"{"type":"message","content":[{"type":"text","text":"Yes."},
        {"type":"tool_use","id":"a","name":"f","input":{"x" : [1, 2.10]}},
        {"type":"tool_use","id":"b","name":"g","input":{}}],
        "stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let decoded = decoded(AnthropicMessages, body);
    assert!(decoded.complete, "{decoded:?}");
    assert_eq!(decoded.tool_calls[0].arguments.as_str(), r#"{"x":[1,2.10]}"#);
    assert_eq!(decoded.tool_calls[1].arguments.as_str(), "{}");
}

#[test]
fn arguments_that_come_at_once_are_kept() {
    let body = typed(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        STOP,
    ]);
    let found = calls(&decoded(AnthropicMessages, &body));
    assert_eq!(found, json!([{"id": "a", "name": "f", "arguments": {"x": 1}}]));
}

#[test]
fn arguments_that_were_cut_are_null_and_do_not_parse() {
    let full = full();
    let (cut, _) = full.split_once("1234567890}").expect("it is there");
    let decoded = decoded(AnthropicMessages, cut);
    assert!(!decoded.complete && decoded.error.is_none());
    assert_eq!(
        calls(&decoded),
        json!([{"id": "a", "name": "f", "arguments": {}}, {"id": "b", "name": "g", "arguments": null}])
    );
    let arguments = &decoded.tool_calls[1].arguments;
    assert_eq!(arguments.as_str(), "{\"y\": 1234567890");
    assert!(arguments.parsed().is_err());
}

#[test]
fn a_stream_needs_its_stop_and_its_reason() {
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    assert!(decoded(AnthropicMessages, &typed(&[START, delta, STOP])).complete);
    assert!(!decoded(AnthropicMessages, &typed(&[START, delta])).complete);
    assert!(!decoded(AnthropicMessages, &typed(&[START, STOP])).complete);
    let refused = delta.replace("end_turn", "refusal");
    let refused = decoded(AnthropicMessages, &typed(&[START, &refused, STOP]));
    assert_eq!((refused.complete, refused.stop.as_deref()), (true, Some("refusal")));
}

#[test]
fn an_error_in_a_stream_is_final() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let text =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"late"}}"#;
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let decoded = decoded(AnthropicMessages, &typed(&[START, error, text, delta, STOP]));
    assert_eq!((decoded.complete, decoded.text.as_str()), (false, ""));
    let error = decoded.error.expect("the reply has an error");
    assert_eq!((error.class, error.retryable), (ErrorClass::Overloaded, true));
    assert_eq!(error.code.as_deref(), Some("overloaded_error"));
}
