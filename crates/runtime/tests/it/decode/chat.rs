//! Chat completions.

use pointsman_runtime::model::decode::{ErrorClass, ReplyPiece, TokenUsage};
use serde_json::json;

use super::{Protocol::OpenAiChat, calls, decoded, events, pieces, shown};

/// A stream with everything in it: comments, reasoning, text, two calls, usage.
pub(super) fn full() -> String {
    ": waiting\n\n".to_owned()
        + &events(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"reasoning":"Hm."},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Grüße, "}}],"usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"東京 🚂\n"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"list","arguments":"{\"in"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\":1}"}},{"index":0,"function":{"arguments":"\"x\"}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7}}"#,
            "[DONE]",
        ])
}

#[test]
fn a_stream_is_read() {
    let decoded = decoded(OpenAiChat, &full());
    assert_eq!(
        shown(&decoded),
        json!({
            "text": "Grüße, 東京 🚂\n",
            "tool_calls": [
                {"id": "a", "name": "read", "arguments": "{\"path\":\"x\"}"},
                {"id": "b", "name": "list", "arguments": "{\"in\":1}"},
            ],
            "stop": "tool_calls",
            "usage": {"input": 12, "output": 7},
            "complete": true,
            "error": null,
        })
    );
    assert_eq!(decoded.failure(), None);
    assert_eq!(decoded.tool_calls[0].arguments.parsed().expect("an object")["path"], "x");
}

#[test]
fn viewers_see_it_arrive() {
    let text = |text: &str| ReplyPiece::Text(text.into());
    let call = |call, id: &str, name: &str| ReplyPiece::CallStarted {
        call,
        id: Some(id.into()),
        name: name.into(),
    };
    let more = |call, delta: &str| ReplyPiece::Arguments { call, delta: delta.into() };
    let usage = TokenUsage { input: Some(12), output: Some(7), ..TokenUsage::default() };
    assert_eq!(
        pieces(OpenAiChat, &full()),
        [
            ReplyPiece::Reasoning("Hm.".into()),
            text("Grüße, "),
            text("東京 🚂\n"),
            call(0, "a", "read"),
            call(1, "b", "list"),
            more(1, "{\"in"),
            more(0, "{\"path\":"),
            more(1, "\":1}"),
            more(0, "\"x\"}"),
            ReplyPiece::Stopped("tool_calls".into()),
            ReplyPiece::Usage(usage),
        ]
    );
}

#[test]
fn a_plain_body_is_read() {
    let body = r#" {"choices":[{"index":1,"message":{"content":"other"}},{"index":0,"finish_reason":"tool_calls",
        "message":{"content":null,"refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}],
        "usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let decoded = decoded(OpenAiChat, body);
    assert!(decoded.complete, "{decoded:?}");
    assert_eq!(calls(&decoded), json!([{"id": "a", "name": "f", "arguments": "{}"}]));
    assert_eq!((decoded.text.as_str(), decoded.usage.charged()), ("", 7));
}

#[test]
fn every_call_of_a_plain_body_is_one_of_its_own() {
    let call = |name: &str| json!({"id": "a", "function": {"name": name, "arguments": "{}"}});
    let body = json!({"choices": [{
        "message": {"tool_calls": [call("read"), call("list"), call("list")]},
        "finish_reason": "tool_calls",
    }]});
    let decoded = decoded(OpenAiChat, &body.to_string());
    let names: Vec<&str> = decoded.tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["read", "list", "list"]);
    assert!(decoded.tool_calls.iter().all(|call| call.arguments.as_str() == "{}"));
}

#[test]
fn without_the_marker_or_a_stop_word_it_is_not_complete() {
    let chunk = r#"{"choices":[{"delta":{"content":"pong"},"finish_reason":"stop"}]}"#;
    let unmarked = decoded(OpenAiChat, &events(&[chunk]));
    assert_eq!((unmarked.complete, unmarked.stop.as_deref()), (false, Some("stop")));
    assert_eq!(unmarked.failure().map(|failure| failure.class), Some(ErrorClass::Truncated));
    let unstopped = events(&[r#"{"choices":[{"delta":{"content":"pong"}}]}"#, "[DONE]"]);
    assert!(!decoded(OpenAiChat, &unstopped).complete);
    assert!(decoded(OpenAiChat, &events(&[chunk, "[DONE]"])).complete);
    // The last line feeds are often lost, and then nothing is missing.
    assert!(decoded(OpenAiChat, events(&[chunk, "[DONE]"]).trim_end()).complete);
}

#[test]
fn imitators_number_calls_as_they_like() {
    let call = |index: &str, id: &str, arguments: &str| {
        let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
        let name = if id.is_empty() { "" } else { r#""name":"f","# };
        let function = format!(r#"{{{name}"arguments":{arguments}}}"#);
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{{index}{id}"function":{function}}}]}}}}]}}"#
        )
    };
    let zero = r#""index":0,"#;
    // Every call has index 0; no call has one; arguments are an object.
    for (index, more) in [(zero, zero), ("", "")] {
        let body = events(&[
            &call(index, "a", r#""{\"x\":""#),
            &call(more, "", r#""1}""#),
            &call(index, "b", r#"{ "x": 2.50 }"#),
        ]);
        let found = calls(&decoded(OpenAiChat, &body));
        assert_eq!(
            found,
            json!([
                {"id": "a", "name": "f", "arguments": "{\"x\":1}"},
                {"id": "b", "name": "f", "arguments": "{\"x\":2.50}"},
            ])
        );
    }
}

#[test]
fn arguments_that_were_cut_do_not_parse() {
    let body = events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ]);
    let decoded = decoded(OpenAiChat, &body);
    assert!(decoded.complete);
    assert_eq!(decoded.tool_calls[0].arguments.as_str(), "{\"x");
    assert!(decoded.tool_calls[0].arguments.parsed().is_err());
}

#[test]
fn refusals_and_thoughts_are_not_text() {
    let body = events(&[
        r#"{"choices":[{"delta":{"refusal":"I will "}}]}"#,
        r#"{"choices":[{"delta":{"refusal":"not."}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"No."}]},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let decoded = decoded(OpenAiChat, &body);
    assert_eq!((decoded.text.as_str(), decoded.refusal.as_deref()), ("No.", Some("I will not.")));
}

#[test]
fn the_first_error_is_final() {
    let said = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let stop = r#"{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}"#;
    let troubles = [
        (r#"{"error":{"message":"no","code":502}}"#, ErrorClass::Unavailable),
        (r#"{"error":"no"}"#, ErrorClass::Unavailable),
        (r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#, ErrorClass::Unavailable),
        ("{not json}", ErrorClass::Malformed),
        ("5", ErrorClass::Malformed),
    ];
    for (trouble, class) in troubles {
        let decoded = decoded(OpenAiChat, &events(&[said, trouble, stop, "[DONE]"]));
        assert!(!decoded.complete, "{trouble}");
        assert_eq!(decoded.text, "a", "{trouble}");
        assert_eq!(decoded.error.map(|error| error.class), Some(class), "{trouble}");
    }
    let field = events(&[said]) + "error: {\"message\":\"no\"}\n\n" + &events(&[stop, "[DONE]"]);
    assert!(decoded(OpenAiChat, &field).error.is_some());
}
