//! Errors over HTTP: their classes, what can be retried, and when.

use pointsman_runtime::model::decode::{DecodeError, DecodeLimits, Decoder, ErrorClass, Head};

use super::{
    Protocol::{self, AnthropicMessages, GeminiGenerate, OpenAiChat, OpenAiResponses},
    answered, decoded, events,
};

fn error(protocol: Protocol, body: &str, status: u16) -> DecodeError {
    let decoded = answered(protocol, body, status);
    assert!(!decoded.complete, "{body}");
    decoded.error.expect("the reply has an error")
}

/// Checks what class the bodies of refusals are of; each says `m`.
fn classed(cases: &[(Protocol, u16, &str, ErrorClass)]) {
    for (protocol, status, body, class) in cases {
        let error = error(*protocol, body, *status);
        assert_eq!((error.class, error.status), (*class, Some(*status)), "{body}");
        assert_eq!(error.message, "m", "{body}");
        assert_eq!(error.retryable, class.retryable(), "{body}");
    }
}

#[test]
fn bodies_of_all_shapes_are_classed() {
    use ErrorClass::{
        Auth, ContentFilter, ContextLength, Invalid, Other, Overloaded, Quota, RateLimited,
        Unavailable,
    };
    classed(&[
        (
            OpenAiChat,
            400,
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            ContextLength,
        ),
        (
            OpenAiChat,
            400,
            r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
            ContextLength,
        ),
        (
            AnthropicMessages,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"m"}}"#,
            ContextLength,
        ),
        (
            OpenAiChat,
            400,
            r#"{"error":{"message":"m","code":"content_filter","status":400}}"#,
            ContentFilter,
        ),
        (
            OpenAiChat,
            400,
            r#"{"object":"error","message":"m","type":"invalid_request_error"}"#,
            Invalid,
        ),
        (OpenAiChat, 401, r#"{"detail":"m"}"#, Auth),
        (OpenAiChat, 402, r#"{"error":{"message":"m","code":402}}"#, Quota),
        (OpenAiChat, 404, r#"{"error":"m"}"#, Invalid),
        (OpenAiChat, 408, r#"{"message":"m"}"#, Unavailable),
        (OpenAiChat, 413, "m", ContextLength),
        (OpenAiChat, 422, r#"{"detail":[{"loc":["x"],"msg":"m"}]}"#, Invalid),
        (OpenAiChat, 429, r#"{"error":{"message":"m","type":"requests"}}"#, RateLimited),
        (OpenAiChat, 429, r#"{"error":{"message":"m","code":"insufficient_quota"}}"#, Quota),
        (OpenAiResponses, 400, r#"{"code":"invalid-argument","error":"m"}"#, Invalid),
        (OpenAiResponses, 500, r#"{"error":{"message":"m","type":"server_error"}}"#, Unavailable),
        (OpenAiResponses, 307, "m", Other),
        (
            AnthropicMessages,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"m"}}"#,
            Invalid,
        ),
        (
            AnthropicMessages,
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"m"}}"#,
            Auth,
        ),
        (
            AnthropicMessages,
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"m"}}"#,
            RateLimited,
        ),
        (
            AnthropicMessages,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            Overloaded,
        ),
        (
            AnthropicMessages,
            529,
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n",
            Overloaded,
        ),
        (
            GeminiGenerate,
            400,
            r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            Auth,
        ),
        (
            GeminiGenerate,
            429,
            r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]"#,
            RateLimited,
        ),
        (
            GeminiGenerate,
            503,
            r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#,
            Unavailable,
        ),
    ]);
}

#[test]
fn sentences_tell_classes_too() {
    let cases = [
        (400, "This model's maximum context length is 8192 tokens.", ErrorClass::ContextLength),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ErrorClass::ContextLength),
        (400, "Input tokens exceed the context window of this model.", ErrorClass::ContextLength),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ErrorClass::ContextLength,
        ),
        (
            400,
            "the request exceeds the available context size (4096 tokens), try increasing it",
            ErrorClass::ContextLength,
        ),
        (
            400,
            "prompt too long; exceeded max context length by 4 tokens",
            ErrorClass::ContextLength,
        ),
        (
            400,
            "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
            ErrorClass::ContextLength,
        ),
        (400, "Please reduce the length of the messages or completion.", ErrorClass::ContextLength),
        (400, "Your credit balance is too low.", ErrorClass::Quota),
        (429, "You exceeded your current quota.", ErrorClass::Quota),
        (429, "You exceeded your current quota. Please retry in 34.07s.", ErrorClass::RateLimited),
        (503, "The model is overloaded.", ErrorClass::Overloaded),
    ];
    for (status, message, class) in cases {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        assert_eq!(error(OpenAiChat, &body, status).class, class, "{message}");
    }
}

#[test]
fn a_number_is_a_status_only_where_it_can_be_one() {
    for (code, status) in [("\"1302\"", None), ("299", None), ("600", None), ("429", Some(429))] {
        let body = events(&[&format!(r#"{{"error":{{"code":{code},"message":"m"}}}}"#)]);
        let error = decoded(OpenAiChat, &body).error.expect("the reply has an error");
        assert_eq!((error.status, error.code.as_deref()), (status, Some(code.trim_matches('"'))));
    }
}

#[test]
fn the_time_to_wait_is_found() {
    let delay = r#"{"error":{"code":429,"message":"m","details":[{"retryDelay":"3.5s"}]}}"#;
    assert_eq!(error(GeminiGenerate, delay, 429).retry_after_ms, Some(3_500));
    let sentence = r#"{"error":{"message":"Please try again in 6m0s."}}"#;
    assert_eq!(error(OpenAiChat, sentence, 429).retry_after_ms, Some(360_000));
    let mut decoder = Decoder::new(OpenAiChat);
    decoder.push(sentence.as_bytes());
    let head = Head { status: Some(429), retry_after_ms: Some(2_000) };
    let error = decoder.finish(&head).error.expect("the reply has an error");
    assert_eq!(error.retry_after_ms, Some(2_000));
}

#[test]
fn a_body_that_is_not_json_is_quoted() {
    let page = "<html>\n  <h1>502 Bad Gateway</h1>\n</html>";
    let bad = error(OpenAiChat, page, 502);
    assert_eq!(
        (bad.class, bad.message.as_str()),
        (ErrorClass::Unavailable, "<html> <h1>502 Bad Gateway</h1> </html>")
    );
    assert_eq!(error(OpenAiChat, "", 500).message, "the response has no body");
    assert_eq!(error(OpenAiChat, "{cut", 500).message, "{cut");
    assert_eq!(error(OpenAiChat, "[cut", 500).message, "[cut");
    assert_eq!(error(OpenAiChat, &"x".repeat(5_000), 500).message.len(), 300);
}

#[test]
fn an_answer_of_another_kind_is_malformed() {
    for body in ["<html></html>", "{\"ok\":true}", "{]", "[1]", "upstream reset"] {
        for protocol in Protocol::ALL {
            let error = decoded(protocol, body).error.expect("the reply has an error");
            assert_eq!(error.class, ErrorClass::Malformed, "{protocol} {body}");
        }
    }
    let invalid: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    let mut decoder = Decoder::new(OpenAiChat);
    decoder.push(invalid);
    let error = decoder.finish(&Head::default()).error.expect("the reply has an error");
    assert_eq!(error.class, ErrorClass::Malformed);
}

#[test]
fn a_status_alone_is_enough_to_fail() {
    let reply = r#"{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}]}"#;
    assert!(answered(OpenAiChat, reply, 200).complete);
    assert!(!answered(OpenAiChat, reply, 500).complete);
}

#[test]
fn too_much_is_refused() {
    let chunk = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
    let body = events(&[chunk, chunk, chunk]);
    let within = |limits| {
        let mut decoder = Decoder::with_limits(OpenAiChat, limits);
        decoder.push(body.as_bytes());
        decoder.finish(&Head::default())
    };
    let short = within(DecodeLimits { body: 100, line: 1_000 });
    assert_eq!(short.text, "xx");
    let error = short.error.expect("it failed");
    assert_eq!((error.class, error.retryable), (ErrorClass::TooLarge, false));
    assert_eq!(error.code.as_deref(), Some("body_too_large"));
    let narrow = within(DecodeLimits { body: 1_000, line: 20 });
    assert_eq!(narrow.error.expect("it failed").code.as_deref(), Some("line_too_long"));
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"id":"N","function":{"name":"f"}}]}}]}"#;
    let many: String = (0..600).map(|n| events(&[&call.replace('N', &n.to_string())])).collect();
    let many = decoded(OpenAiChat, &many);
    assert_eq!(many.tool_calls.len(), 512);
    assert_eq!(many.error.expect("it failed").code.as_deref(), Some("too_many_calls"));
}
