//! `generateContent`.

use pointsman_runtime::model::decode::ErrorClass;
use serde_json::json;

use super::{Protocol::GeminiGenerate, calls, decoded, events, shown};

const ANSWERS: [&str; 4] = [
    r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":5}}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"Grüße "},{"text":"🚂"}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x": 0.10}}},{"functionCall":{"name":"f"}},{"functionCall":{"id":"c","name":"g","args":{}}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6,"thoughtsTokenCount":7}}"#,
];

/// A stream with everything in it: thoughts, text, three calls, usage. Lines end as
/// this provider ends them.
pub(super) fn full() -> String {
    events(&ANSWERS).replace('\n', "\r\n")
}

/// The same as one list, which is how it streams unless asked for events.
pub(super) fn list() -> String {
    format!("[{}\n]\n", ANSWERS.join(",\r\n"))
}

#[test]
fn a_stream_is_read_as_events_and_as_a_list() {
    for body in [full(), list()] {
        let decoded = decoded(GeminiGenerate, &body);
        assert_eq!(
            shown(&decoded),
            json!({
                "text": "Grüße 🚂",
                "tool_calls": [
                    {"id": null, "name": "f", "arguments": {"x": 0.1}},
                    {"id": null, "name": "f", "arguments": {}},
                    {"id": "c", "name": "g", "arguments": {}},
                ],
                "stop": "STOP",
                "usage": {"input": 5, "output": 6},
                "complete": true,
                "error": null,
            })
        );
        assert_eq!(decoded.usage.charged(), 18);
        assert_eq!(decoded.tool_calls[0].arguments.as_str(), r#"{"x":0.10}"#);
    }
}

#[test]
fn a_plain_body_is_read() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"Yes."}],"role":"model"},
        "finishReason":"MAX_TOKENS","index":0},{"content":{"parts":[{"text":"x"}]},"index":1}]}"#;
    let decoded = decoded(GeminiGenerate, body);
    assert_eq!((decoded.complete, decoded.text.as_str()), (true, "Yes."));
    assert_eq!(decoded.stop.as_deref(), Some("MAX_TOKENS"));
}

#[test]
fn without_a_reason_it_is_not_complete() {
    let cut = decoded(GeminiGenerate, &events(&ANSWERS[..3]));
    assert!(!cut.complete && cut.error.is_none());
    assert_eq!(calls(&cut).as_array().map(Vec::len), Some(3));
    let unclosed = list().trim_end().trim_end_matches(']').to_owned();
    assert!(!decoded(GeminiGenerate, &unclosed).complete);
}

#[test]
fn events_after_the_end_still_count() {
    let usage = r#"{"usageMetadata":{"promptTokenCount":50}}"#;
    let body = events(&[ANSWERS[3], usage]);
    let later = decoded(GeminiGenerate, &body);
    assert_eq!((later.complete, later.usage.input), (true, Some(50)));
    let error =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    let failed = decoded(GeminiGenerate, &events(&[ANSWERS[3], error]));
    assert!(!failed.complete);
    let error = failed.error.expect("it failed");
    assert_eq!((error.class, error.status), (ErrorClass::Overloaded, Some(503)));
}

#[test]
fn a_blocked_prompt_is_an_error() {
    let body =
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":2}}"#;
    let error = decoded(GeminiGenerate, body).error.expect("the reply has an error");
    assert_eq!((error.class, error.retryable), (ErrorClass::ContentFilter, false));
    assert_eq!(error.code.as_deref(), Some("SAFETY"));
}
