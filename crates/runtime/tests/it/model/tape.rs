//! Answers that were recorded, and come again without a network.

use std::{env, fs, path::PathBuf};

use pointsman_kernel::{agent::FaultClass, chart::Disposition};
use pointsman_runtime::{
    driver::RunStatus,
    model::{ApiKey, Model, ModelError, ModelSettings, ProgressSink, Protocol},
};
use serde_json::json;

use super::{
    KEY, PROVIDERS,
    answers::{events, text},
    at, fault, kind, question,
    server::{Served, Then, serve},
};
use crate::session::TestSession;

/// Returns a file of this test alone.
fn file(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("pointsman-model-{}-{name}", std::process::id()));
    drop(fs::remove_file(&path));
    path
}

async fn all(settings: ModelSettings, times: usize) -> Vec<serde_json::Value> {
    let model = Model::new(settings).expect("the model settings are valid");
    let mut answers = Vec::new();
    for _ in 0..times {
        let done = model.ask(question("hello"), ProgressSink::none()).await;
        answers.push(serde_json::json!([done.answer, done.usage]));
    }
    answers
}

#[tokio::test]
async fn recorded_responses_replay_in_order() {
    for (spec, protocol) in PROVIDERS {
        let path = file(protocol.as_str());
        let body = text(protocol).replace("there.", "żółć.");
        let half = &body.as_bytes()[..body.len() / 2];
        let server = serve(vec![
            Served::whole(429, &format!("{{\"error\":{{\"message\":\"not {KEY}\"}}}}"))
                .with("retry-after", "2")
                .with("set-cookie", "private"),
            Served::pieces(half, 5).then(Then::Cut),
            Served::pieces(body.as_bytes(), 3),
        ])
        .await;
        let mut settings = at(spec, &server.url);
        settings.key = Some(ApiKey::new(KEY));
        settings.record = Some(path.clone());
        let live = all(settings, 3).await;
        let kept = fs::read_to_string(&path).expect("the file exists and is UTF-8");
        assert_eq!(kept.lines().count(), 3);
        assert!(!kept.contains(KEY) && !kept.contains("private"), "{kept}");

        // Another address, and no key: neither is part of the question.
        let mut settings = at(spec, "http://127.0.0.1:1");
        settings.replay = Some(path.clone());
        let model = Model::new(settings.clone()).expect("the model settings are valid");
        assert_eq!(model.name(), format!("{spec} (replayed)"));
        assert_eq!(all(settings, 3).await, live, "{protocol}");

        let asked = model.ask(question("something else"), ProgressSink::none()).await;
        assert_eq!(kind(&asked), (FaultClass::Gone, false));
        assert!(fault(&asked).message.contains("has no answer"), "{}", fault(&asked).message);
        for _ in 0..3 {
            drop(model.ask(question("hello"), ProgressSink::none()).await);
        }
        let over = model.ask(question("hello"), ProgressSink::none()).await;
        assert!(fault(&over).message.contains("no further answer"), "{}", fault(&over).message);
        fs::remove_file(&path).expect("the file existed and is removed");
    }
}

#[tokio::test]
async fn tape_stores_binary_chunks() {
    let path = file("bytes");
    let server = serve(vec![Served::pieces(b"data: \xff\xfe{}\n\n", 4)]).await;
    let mut settings = at("ollama:m", &server.url);
    settings.record = Some(path.clone());
    let live = all(settings.clone(), 1).await;
    settings.record = None;
    settings.replay = Some(path.clone());
    assert_eq!(all(settings, 1).await, live);
    fs::remove_file(&path).expect("the file existed and is removed");
}

/// A whole run with a busy provider and an unreadable decision: the second attempts follow a
/// delay, and their prompts contain its length.
#[tokio::test(flavor = "multi_thread")]
async fn a_whole_run_comes_again_from_its_tape() {
    let path = file("run");
    let says = |text: &str| {
        let said =
            json!({ "choices": [{ "delta": { "content": text }, "finish_reason": "stop" }] });
        Served::whole(200, &(events(&[said]) + "data: [DONE]\n\n"))
    };
    let server = serve(vec![
        Served::whole(429, r#"{"error":{"message":"slow down"}}"#).with("retry-after", "1"),
        says("It names a signal."),
        says("I would look further."),
        says(r#"{"action": "finish", "final": "Stop."}"#),
    ])
    .await;
    let mut live = at("openai-compatible:m", &server.url);
    live.record = Some(path.clone());
    let mut again = at("openai-compatible:m", "http://127.0.0.1:1");
    again.replay = Some(path.clone());
    for (name, model) in [("tape-live", live), ("tape-again", again)] {
        let run = move || {
            let desk = TestSession::new(name);
            fs::write(desk.work().join("a.md"), "A red signal means stop.")
                .expect("the file is written");
            desk.research(model, "What is a red signal?")
        };
        let outcome = tokio::task::spawn_blocking(run).await.expect("the task did not panic");
        assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded), "{name}");
        assert!(outcome.result.is_some_and(|told| told.starts_with("Stop.")), "{name}");
    }
    assert_eq!(
        server.seen.lock().expect("no thread panicked while it held the lock").len(),
        4,
        "all of it is on the tape"
    );
    fs::remove_file(&path).expect("the file existed and is removed");
}

#[test]
fn a_broken_tape_is_refused_with_its_line() {
    let path = file("broken");
    let line = |v: u32, chunk: &str| {
        format!(
            r#"{{"v":{v},"digest":"d","protocol":"openai-chat","status":200,"chunks":[{chunk}],"end":"closed"}}"#
        )
    };
    let good = line(1, r#""a""#) + "\n" + &line(2, r#""a""#);
    let cases = [
        (format!("{good}\n\n{{\"v\":1"), 4),
        (format!("{good}\n{}", line(3, r#""a""#)), 3),
        (line(1, r#"{"hex":"zz"}"#), 1),
        (good.replace("openai-chat", "telegraph"), 1),
    ];
    for (tape, expected) in cases {
        fs::write(&path, &tape).expect("the file is written");
        let mut settings = at("ollama:m", "http://127.0.0.1:1");
        settings.replay = Some(path.clone());
        match Model::new(settings) {
            Err(ModelError::Line { line, .. }) => assert_eq!(line, expected, "{tape}"),
            other => panic!("{other:?}"),
        }
    }
    fs::remove_file(&path).expect("the file existed and is removed");
}

#[tokio::test]
async fn unsaved_answer_is_reported() {
    let server = serve(vec![Served::whole(200, &text(Protocol::OpenAiChat))]).await;
    let mut settings = at("ollama:m", &server.url);
    settings.record = Some(PathBuf::from("/nowhere/at/all.jsonl"));
    assert!(matches!(Model::new(settings.clone()), Err(ModelError::File { .. })));
    // A device that is always full.
    settings.record = Some(PathBuf::from("/dev/full"));
    if let Ok(model) = Model::new(settings) {
        let done = model.ask(question("hello"), ProgressSink::none()).await;
        assert_eq!(kind(&done), (FaultClass::Resource, false));
        assert_eq!(done.usage.tokens, 10);
    }
}

#[tokio::test]
async fn replaying_needs_no_key() {
    let path = file("keyless");
    fs::write(&path, "").expect("the file is written");
    let mut settings = ModelSettings::new("anthropic:m".parse().expect("the text names a model"));
    settings.replay = Some(path.clone());
    let done = all(settings, 1).await;
    assert!(done[0].to_string().contains("has no answer"));
    fs::remove_file(&path).expect("the file existed and is removed");
}
