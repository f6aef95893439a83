//! Responses.

use pointsman_runtime::model::decode::ErrorClass;
use serde_json::json;

use super::{Protocol::OpenAiResponses, calls, decoded, events, shown, typed};

const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed","error":null,"output":[],"usage":{"input_tokens":9,"output_tokens":8}}}"#;

/// A stream with everything in it: reasoning, text, two calls, usage.
pub(super) fn full() -> String {
    typed(&[
        r#"{"type":"response.created","response":{"status":"in_progress","error":null}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hm."}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Grü"}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"ße"}"#,
        r#"{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Grüße"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Grüße"}]}}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc1","call_id":"a","name":"f","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","id":"fc2","call_id":"b","name":"g","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"y\":"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{}"}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{}"}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}"#,
        r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"b","name":"g","arguments":"{\"y\":2}"}}"#,
        COMPLETED,
    ])
}

#[test]
fn a_stream_is_read() {
    assert_eq!(
        shown(&decoded(OpenAiResponses, &full())),
        json!({
            "text": "Grüße",
            "tool_calls": [
                {"id": "a", "name": "f", "arguments": "{}"},
                {"id": "b", "name": "g", "arguments": "{\"y\":2}"},
            ],
            "stop": "completed",
            "usage": {"input": 9, "output": 8},
            "complete": true,
            "error": null,
        })
    );
}

/// A response as it stands at the end of a stream and in a plain body.
const RESPONSE: &str = r#"{"object":"response","status":"completed","error":null,"output":[
    {"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},
    {"type":"web_search_call","status":"completed"},
    {"type":"message","content":[{"type":"output_text","text":"Yes."},{"type":"refusal","refusal":"No."}]},
    {"type":"function_call","call_id":"a","name":"f","arguments":""}],
    "usage":{"input_tokens":1,"output_tokens":2}}"#;

#[test]
fn a_plain_body_is_read_and_so_is_a_stream_that_only_ends() {
    let response = RESPONSE.replace('\n', "");
    let ended = format!(r#"{{"type":"response.completed","response":{response}}}"#);
    for body in [RESPONSE.to_owned(), typed(&[&ended]), events(&[&ended])] {
        let decoded = decoded(OpenAiResponses, &body);
        assert!(decoded.complete, "{decoded:?}");
        assert_eq!((decoded.text.as_str(), decoded.refusal.as_deref()), ("Yes.", Some("No.")));
        assert_eq!(calls(&decoded), json!([{"id": "a", "name": "f", "arguments": "{}"}]));
        assert_eq!(decoded.usage.charged(), 3);
    }
}

#[test]
fn a_call_counts_when_it_is_done() {
    let full = full();
    let (cut, _) = full.rsplit_once("event: response.output_item.done").expect("it is there");
    let cut = decoded(OpenAiResponses, cut);
    assert_eq!(calls(&cut), json!([{"id": "a", "name": "f", "arguments": "{}"}]));
    assert!(!cut.complete && cut.error.is_none());
}

#[test]
fn incomplete_is_an_end_and_says_so() {
    let body = typed(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":48","status":"incomplete"}}"#,
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}"#,
    ]);
    let decoded = decoded(OpenAiResponses, &body);
    assert_eq!((decoded.complete, decoded.stop.as_deref()), (true, Some("incomplete")));
    assert!(decoded.tool_calls[0].arguments.parsed().is_err());
}

#[test]
fn failures_are_failures_in_every_shape() {
    let told = r#"{"code":"server_error","message":"boom"}"#;
    let failed =
        format!(r#"{{"type":"response.failed","response":{{"status":"failed","error":{told}}}}}"#);
    let bare = r#"{"type":"response.failed","response":{"status":"failed"}}"#;
    let flat = r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#;
    let plain = format!(r#"{{"object":"response","status":"failed","error":{told}}}"#);
    let shapes = [
        (typed(&[&failed]), ErrorClass::Unavailable, Some("failed")),
        (typed(&[bare]), ErrorClass::Unavailable, Some("failed")),
        (typed(&[flat, &failed]), ErrorClass::RateLimited, Some("failed")),
        (typed(&[flat, COMPLETED]), ErrorClass::RateLimited, Some("completed")),
        (plain, ErrorClass::Unavailable, Some("failed")),
    ];
    for (body, class, stop) in shapes {
        let decoded = decoded(OpenAiResponses, &body);
        assert!(!decoded.complete, "{body}");
        assert_eq!(decoded.stop.as_deref(), stop, "{body}");
        assert_eq!(decoded.error.expect("the reply has an error").class, class, "{body}");
    }
}

#[test]
fn work_in_the_background_is_not_complete() {
    for status in ["queued", "in_progress"] {
        let body = format!(r#"{{"object":"response","status":"{status}","output":[]}}"#);
        let decoded = decoded(OpenAiResponses, &body);
        assert_eq!((decoded.complete, decoded.stop.as_deref()), (false, Some(status)));
    }
}
