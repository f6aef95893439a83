//! What can go wrong around an answer: status, size, silence, redirection, keys.

use std::time::Duration;

use pointsman_kernel::agent::FaultClass;
use pointsman_runtime::model::{ApiKey, Model, ModelError, ProgressSink, Protocol};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

use super::{
    KEY, PROVIDERS,
    answers::{events, text},
    ask, at, fault, kind, question, reply,
    server::{Served, Then, serve},
};

#[tokio::test]
async fn statuses_are_classed() {
    let cases = [
        (400, FaultClass::Contract, false),
        (401, FaultClass::Forbidden, false),
        (403, FaultClass::Forbidden, false),
        (404, FaultClass::Contract, false),
        (413, FaultClass::TooLong, false),
        (429, FaultClass::RateLimited, true),
        (500, FaultClass::Unavailable, true),
        (503, FaultClass::Unavailable, true),
        (529, FaultClass::Unavailable, true),
    ];
    for (spec, protocol) in PROVIDERS {
        for (status, class, repeatable) in cases {
            for body in ["{\"error\":{\"message\":\"no\"}}", "<html>no</html>", ""] {
                let server = serve(vec![Served::whole(status, body)]).await;
                let done = ask(at(spec, &server.url)).await;
                assert_eq!(kind(&done), (class, repeatable), "{protocol} {status} {body}");
            }
        }
    }
}

#[tokio::test]
async fn hints_in_headers_reach_the_fault() {
    let cases = [
        ("retry-after-ms", "1200", Some(1_200)),
        ("retry-after", "3", Some(3_000)),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("x-ratelimit-reset", "2", Some(2_000)),
        ("x-other", "2", None),
    ];
    for (name, value, hint) in cases {
        let server = serve(vec![Served::whole(429, "{}").with(name, value)]).await;
        assert_eq!(fault(&ask(at("ollama:m", &server.url)).await).hint_ms, hint, "{name}: {value}");
    }
}

#[tokio::test]
async fn an_answer_may_not_be_larger_than_allowed() {
    let body = text(Protocol::OpenAiChat);
    for (max_bytes, fits) in [(body.len(), true), (body.len() - 20, false), (1, false)] {
        let server = serve(vec![Served::pieces(body.as_bytes(), 50)]).await;
        let mut settings = at("ollama:m", &server.url);
        settings.max_bytes = max_bytes;
        let done = ask(settings).await;
        if fits {
            assert_eq!(reply(&done).text, "Hello there.");
        } else {
            assert_eq!(kind(&done), (FaultClass::Resource, false), "{max_bytes}");
            assert!(
                fault(&done).message.contains("`answer` of `[model]`"),
                "{}",
                fault(&done).message
            );
        }
    }
}

#[tokio::test]
async fn silence_has_a_limit() {
    for chunks in [vec![], vec![b"data: {\"choices\": []}\n\n".to_vec()]] {
        let answer = Served { status: 200, headers: vec![], chunks, then: Then::Hang };
        let server = serve(vec![answer]).await;
        let mut settings = at("ollama:m", &server.url);
        settings.idle_timeout = Duration::from_millis(50);
        assert_eq!(kind(&ask(settings).await), (FaultClass::Timeout, true));
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let url = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
    let mut settings = at("ollama:m", &url);
    settings.idle_timeout = Duration::from_millis(50);
    settings.connect_timeout = Duration::from_millis(50);
    assert_eq!(kind(&ask(settings).await), (FaultClass::Timeout, true));
    drop(listener);
}

#[tokio::test]
async fn refused_connection_names_the_address() {
    // No server listens there, and no other test gets that port.
    let place = "127.0.0.1:1";
    let fault = fault(&ask(at("ollama:m", &format!("http://{place}"))).await);
    assert_eq!((fault.class, fault.repeatable), (FaultClass::Unavailable, true));
    assert!(fault.message.contains(place), "{}", fault.message);
    assert!(fault.message.contains("is Ollama running?"), "{}", fault.message);
}

#[tokio::test]
async fn a_redirection_is_not_followed_and_takes_no_key_along() {
    let other = serve(vec![Served::whole(200, &text(Protocol::OpenAiChat))]).await;
    let target = format!("{}/v1/chat/completions?token=abc", other.url);
    for status in [301, 302, 307, 308] {
        let server = serve(vec![Served::whole(status, "").with("location", &target)]).await;
        let mut settings = at("openai-compatible:m", &server.url);
        settings.key = Some(ApiKey::new(KEY));
        let fault = fault(&ask(settings).await);
        assert!(!fault.repeatable, "{status}");
        assert!(fault.message.contains(&other.url), "{}", fault.message);
        assert!(!fault.message.contains("token"), "{}", fault.message);
    }
    assert!(other.seen.lock().expect("no thread panicked while it held the lock").is_empty());
}

#[tokio::test]
async fn invalid_utf8_spoils_the_reply() {
    let mut body = b"data: {\"choices\": [{\"delta\": {\"content\": \"\xff\"}}]}\n\n".to_vec();
    body.extend_from_slice(text(Protocol::OpenAiChat).as_bytes());
    let server = serve(vec![Served::pieces(&body, 9)]).await;
    assert_eq!(kind(&ask(at("ollama:m", &server.url)).await), (FaultClass::Invalid, true));
}

#[tokio::test]
async fn letters_that_were_cut_in_two_are_whole_again() {
    let said =
        json!({ "choices": [{ "delta": { "content": "żółć 🚂" }, "finish_reason": "stop" }] });
    let body = events(&[said]) + "data: [DONE]\n\n";
    let server = serve(vec![Served::pieces(body.as_bytes(), 1)]).await;
    assert_eq!(reply(&ask(at("ollama:m", &server.url)).await).text, "żółć 🚂");
}

#[tokio::test]
async fn dropping_the_question_closes_the_connection() {
    let chunks = vec![b"data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n".to_vec()];
    let answer = Served { status: 200, headers: vec![], chunks, then: Then::Hang };
    let mut server = serve(vec![answer]).await;
    let (sender, mut shown) = mpsc::unbounded_channel();
    let model = Model::new(at("ollama:m", &server.url)).expect("the model settings are valid");
    let asking = tokio::spawn(model.ask(question("hello"), ProgressSink::to(sender)));
    assert_eq!(shown.recv().await.as_deref(), Some("a"));
    asking.abort();
    assert_eq!(server.left.recv().await, Some(()));
}

#[tokio::test]
async fn each_provider_gets_its_key_its_path_and_nothing_else() {
    let expected = [
        ("openai:m", "authorization: bearer ", "post /chat/completions ", true),
        ("openai-compatible:m", "authorization: bearer ", "post /chat/completions ", true),
        ("openai-responses:m", "authorization: bearer ", "post /responses ", true),
        ("anthropic:m", "x-api-key: ", "post /v1/messages ", false),
        (
            "gemini:m",
            "x-goog-api-key: ",
            "post /v1beta/models/m:streamgeneratecontent?alt=sse ",
            false,
        ),
    ];
    for (spec, header, path, has_key) in expected {
        let server = serve(vec![Served::whole(500, "")]).await;
        let mut settings = at(spec, &server.url);
        settings.key = Some(ApiKey::new(KEY));
        drop(ask(settings).await);
        let (head, body) =
            server.seen.lock().expect("no thread panicked while it held the lock").remove(0);
        assert!(head.starts_with(path), "{spec}: {head}");
        assert!(head.contains(&format!("{header}{KEY}")), "{spec}: {head}");
        assert_eq!(head.contains("idempotency-key: run-1-effect-2"), has_key, "{spec}: {head}");
        assert_eq!(head.matches(KEY).count(), 1, "{spec}: {head}");
        assert!(!body.contains(KEY), "{spec}: {body}");
    }
}

#[tokio::test]
async fn an_address_may_carry_its_version_or_its_whole_path() {
    let cases = [
        ("openai-compatible:m", "/v1/", "post /v1/chat/completions "),
        ("openai-compatible:m", "/api/chat/completions", "post /api/chat/completions "),
        ("openai-responses:m", "/v1/responses/", "post /v1/responses "),
        ("anthropic:m", "/v1", "post /v1/messages "),
        ("anthropic:m", "/proxy", "post /proxy/v1/messages "),
        ("gemini:models/g", "/v1beta", "post /v1beta/models/g:streamgeneratecontent?alt=sse "),
        ("gemini:tunedModels/g", "", "post /v1beta/tunedmodels/g:streamgeneratecontent?alt=sse "),
        ("gemini:a?b", "", "post /v1beta/models/a%3fb:streamgeneratecontent?alt=sse "),
    ];
    for (spec, path, expected) in cases {
        let server = serve(vec![Served::whole(500, "")]).await;
        drop(ask(at(spec, &format!("{}{path}", server.url))).await);
        let (head, _) =
            server.seen.lock().expect("no thread panicked while it held the lock").remove(0);
        assert!(head.starts_with(expected), "{spec} {path}: {head}");
    }
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_is_not_quoted() {
    for (spec, protocol) in PROVIDERS {
        let refused = json!({ "error": { "message": format!("Incorrect API key: {KEY}") } });
        let said = text(protocol).replace("there.", &format!("{KEY}."));
        let answer =
            vec![Served::pieces(said.as_bytes(), 11), Served::whole(401, &refused.to_string())];
        let server = serve(answer).await;
        let mut settings = at(spec, &server.url);
        settings.key = Some(ApiKey::new(KEY));
        let shown = format!("{settings:?}");
        assert!(!shown.contains(KEY), "{shown}");
        let model = Model::new(settings).expect("the model settings are valid");
        assert!(!format!("{model:?}").contains(KEY), "{model:?}");
        let (sender, mut watched) = mpsc::unbounded_channel();
        let done = model.ask(question("hello"), ProgressSink::to(sender)).await;
        assert_eq!(reply(&done).text, "Hello [redacted].", "{protocol}");
        while let Ok(delta) = watched.try_recv() {
            assert!(!delta.contains(KEY), "{delta}");
        }
        let fault = fault(&model.ask(question("hello"), ProgressSink::none()).await);
        assert!(fault.message.contains("Incorrect API key: [redacted]"), "{}", fault.message);
    }
}

#[test]
fn a_client_for_https_can_be_built() {
    // The system's certificates are read here; missing ones are reported.
    let mut settings = at("openai:m", "https://api.openai.com/v1");
    settings.key = Some(ApiKey::new(KEY));
    match Model::new(settings) {
        Ok(model) => assert_eq!(model.name(), "openai:m"),
        Err(ModelError::Client(why)) => assert!(why.contains("certificates"), "{why}"),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_not_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let place = listener.local_addr().expect("a bound socket has an address");
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // The greeting is read first: a close with something unread would reset the rest.
            let mut greeting = [0; 4096];
            drop(stream.read(&mut greeting).await);
            drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await);
            while stream.read(&mut greeting).await.is_ok_and(|read| read > 0) {}
        }
    });
    if let Ok(model) = Model::new(at("openai-compatible:m", &format!("https://{place}"))) {
        let done = model.ask(question("hello"), ProgressSink::none()).await;
        assert_eq!(kind(&done), (FaultClass::Contract, false));
        let message = fault(&done).message;
        assert!(message.contains(&format!("https://{place} does not speak TLS")), "{message}");
    }
    server.abort();
}

#[tokio::test]
async fn unknown_model_and_rejected_key_have_the_right_hint() {
    let version = "most servers need /v1 at the end of the base URL";
    let name = "check the model's name: `openai-compatible:m`";
    for (path, hint, other) in
        [("", version, name), ("/v1", name, version), ("/v1/", name, version)]
    {
        let server = serve(vec![Served::whole(404, "{\"error\":\"no such model\"}")]).await;
        let told = fault(&ask(at("openai-compatible:m", &format!("{}{path}", server.url))).await);
        assert!(told.message.ends_with(hint), "{path}: {}", told.message);
        assert!(!told.message.contains(other), "{path}: {}", told.message);
    }
    for (spec, variable) in [
        ("openai-compatible:m", "OPENAI_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("gemini:m", "GEMINI_API_KEY"),
    ] {
        for key in [Some(ApiKey::new(KEY)), None] {
            let server = serve(vec![Served::whole(401, "{\"error\":{\"message\":\"no\"}}")]).await;
            let mut settings = at(spec, &server.url);
            let hint = match &key {
                Some(_) => format!("; check {variable}"),
                None => format!("; no key was sent: set {variable} in the environment"),
            };
            settings.key = key;
            let message = fault(&ask(settings).await).message;
            assert!(message.ends_with(&hint), "{spec}: {message}");
        }
    }
}
