//! The scripted model: the same answers every time, from a file.

use std::{env, fs, path::PathBuf};

use pointsman_kernel::{agent::FaultClass, event::Usage};
use pointsman_runtime::model::{Model, ModelError, ModelSettings, Prices, ProgressSink, Spec};
use tokio::sync::mpsc;

use super::{calls, fault, kind, question, reply};

/// Writes a script of this test alone.
fn script(name: &str, text: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("pointsman-script-{}-{name}", std::process::id()));
    fs::write(&path, text).expect("the file is written");
    path
}

const TOML: &str = r#"
[[turn]]
when = "weather"
text = "It rains."

[[turn]]
text = "I look."
calls = [{ tool = "context.fts_search", arguments = { query = "x", a = 1 } }, { tool = "read", id = "r" }]
usage = { input = 10, output = 5 }

[[turn]]
fault = { class = "rate_limited", message = "too fast", repeatable = true, hint_ms = 40 }
delay_ms = 1
"#;

const JSONL: &str = r#"
{"when": "weather", "text": "It rains."}
{"text": "I look.", "calls": [{"tool": "context.fts_search", "arguments": {"query": "x", "a": 1}}, {"tool": "read", "id": "r"}], "usage": {"input": 10, "output": 5}}

{"fault": {"class": "rate_limited", "message": "too fast", "repeatable": true, "hint_ms": 40}, "delay_ms": 1}
"#;

#[tokio::test]
async fn turns_are_taken_in_order_and_when_they_fit() {
    for (name, text) in [("a.toml", TOML), ("a.jsonl", JSONL)] {
        let path = script(name, text);
        let mut settings = ModelSettings::new(Spec::script(&path));
        settings.prices = Some(Prices { input: 1_000_000, output: 1_000_000 });
        let model = Model::new(settings).expect("it is a script");
        let (sender, mut shown) = mpsc::unbounded_channel();
        let first = model.ask(question("hello"), ProgressSink::to(sender)).await;
        assert_eq!(reply(&first).text, "I look.");
        assert_eq!(shown.recv().await.as_deref(), Some("I "));
        assert_eq!(first.usage, Usage { tokens: 15, money: 15, ..Usage::default() });
        let made = calls(&first);
        assert_eq!(made[0].1, "context.fts_search");
        assert_eq!(made[0].2, r#"{"a":1,"query":"x"}"#);
        assert_eq!((made[1].0.as_str(), made[1].2.as_str()), ("r", "{}"));
        assert_ne!(made[0].0, made[1].0);
        let second = model.ask(question("hello"), ProgressSink::none()).await;
        assert_eq!(kind(&second), (FaultClass::RateLimited, true));
        assert_eq!(fault(&second).hint_ms, Some(40));
        let waits = model.ask(question("hello"), ProgressSink::none()).await;
        assert!(
            fault(&waits).message.contains("no unused turn has a matching `when` (1 of 3 unused)")
        );
        let third = model.ask(question("the weather?"), ProgressSink::none()).await;
        assert_eq!(reply(&third).text, "It rains.");
        let over = fault(&model.ask(question("hello"), ProgressSink::none()).await);
        assert_eq!((over.class, over.repeatable), (FaultClass::Gone, false));
        assert!(over.message.contains("all 3 turns were used"), "{}", over.message);
        fs::remove_file(path).expect("the file existed and is removed");
    }
}

#[test]
fn a_wrong_script_is_refused_with_file_and_line() {
    let cases = [
        ("b.toml", "\n[[turn]]\ntxt = \"a\"\n", 3, "unknown field `txt`"),
        ("b.toml", "[[turn]]\ntext = \"a\"\n[[turn]]\nfault = { class = \"odd\" }\n", 4, "odd"),
        ("b.toml", "[[turn]]\ntext = \"a\"\n\n[[turn]]\n", 4, "a turn has"),
        ("b.toml", "text = 1", 1, "unknown field"),
        ("b.toml", "", 1, "no turn"),
        ("b.toml", "[[turn]]\ntext = \"a", 2, ""),
        ("b.jsonl", "{\"text\": \"a\"}\n{\"text\": 1}\n", 2, "invalid type"),
        ("b.jsonl", "{\"text\": \"a\"}\n\n{\"text\"", 3, "EOF"),
        (
            "b.jsonl",
            "{\"calls\": [{\"tool\": \"a\"}], \"fault\": {\"class\": \"other\"}}",
            1,
            "a turn has",
        ),
        ("b.jsonl", "{\"when\": \"\", \"text\": \"a\"}", 1, "`when` is empty"),
        ("b.jsonl", "{\"calls\": [{\"tool\": \"\"}]}", 1, "no `tool`"),
        ("b.jsonl", "{\"calls\": [{\"tool\": \"a\", \"arguments\": []}]}", 1, "expected a map"),
        (
            "b.jsonl",
            "{\"calls\": [{\"tool\": \"a\", \"id\": \"1\"}, {\"tool\": \"a\", \"id\": \"1\"}]}",
            1,
            "same `id`",
        ),
        ("b.jsonl", "{\"text\": \"a\", \"delay_ms\": 3600001}", 1, "delay_ms"),
    ];
    for (name, text, expected, words) in cases {
        let path = script(name, text);
        match Model::new(ModelSettings::new(Spec::script(&path))) {
            Err(ModelError::Line { line, why, .. }) => {
                assert_eq!(line, expected, "{text}: {why}");
                assert!(why.contains(words), "{text}: {why}");
            }
            other => panic!("{text}: {other:?}"),
        }
        fs::remove_file(path).expect("the file existed and is removed");
    }
    let missing = Model::new(ModelSettings::new(
        "script:/nowhere.toml".parse().expect("the text names a model"),
    ));
    assert!(matches!(missing, Err(ModelError::File { .. })));
}

#[tokio::test]
async fn quote_is_a_model_too() {
    let model = Model::new(ModelSettings::new(Spec::quote())).expect("it is built in");
    assert_eq!(model.name(), "quote (built in, no model)");
    // In a conversation it searches first.
    let done = model.ask(question("hello"), ProgressSink::none()).await;
    assert_eq!(reply(&done).calls[0].tool, "context.fts_search");
    let mut alone = question("hello");
    alone.prompt.tools.clear();
    let done = model.ask(alone, ProgressSink::none()).await;
    assert_eq!(kind(&done), (FaultClass::Invalid, false));
    assert!(fault(&done).message.contains("nothing was searched"), "{}", fault(&done).message);
}
