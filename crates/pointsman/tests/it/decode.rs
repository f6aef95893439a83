//! Recorded answers of models, as the command shows them.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::{TempFolder, pointsman_in, stdout};

const STREAM: &str = "\
: a comment

data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning\":\"Hm.\"}}]}

data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Looking.\"}}]}

data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\": \"}}]}}]}

data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"a.md\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}

data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":7}}

data: [DONE]

";

const LIMITED: &str = r#"{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}"#;

const THOUGHT: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"functionCall":{"name":"read","args":{"path": "a.md", "line": 12345678901234567890123}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6,"thoughtsTokenCount":7}}"#;

/// Shows a body with these arguments, as people read it and as programs do.
fn shown(name: &str, body: &str, arguments: &[&str]) -> String {
    let folder = TempFolder::new(name);
    fs::write(folder.0.join("body"), body).expect("the file is written");
    let arguments = [&["decode", "body", "--protocol"], arguments].concat();
    let told = pointsman_in(&folder.0, &arguments);
    told + "\n" + &pointsman_in(&folder.0, &[arguments, vec!["--json"]].concat())
}

#[test]
fn a_complete_reply() {
    assert_snapshot!(shown("decode-complete", STREAM, &["openai-chat"]));
    assert_snapshot!(shown("decode-thought", THOUGHT, &["gemini-generate"]));
}

#[test]
fn a_reply_that_was_cut() {
    let (cut, _) = STREAM.split_once("a.md").expect("it is there");
    assert_snapshot!(shown("decode-cut", cut, &["openai-chat"]));
}

#[test]
fn an_error_over_http() {
    let limited = ["openai-responses", "--http-status", "429", "--retry-after", "1.5"];
    assert_snapshot!(shown("decode-limited", LIMITED, &limited));
    assert_snapshot!(shown(
        "decode-page",
        "<h1>Bad</h1>",
        &["openai-chat", "--http-status", "502"]
    ));
}

#[test]
fn trouble_with_the_command_line() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let missing = pointsman_in(here, &["decode", "--protocol", "openai-chat", "no/such/file"]);
    assert_snapshot!(missing);
    assert_snapshot!(pointsman_in(here, &["decode", "--protocol", "smoke", "-"]));
    let soon = ["decode", "--protocol", "openai-chat", "-", "--retry-after", "soon"];
    assert_snapshot!(pointsman_in(here, &soon));
}

#[test]
fn help_has_examples() {
    assert!(stdout(&["decode", "--help"]).contains("Examples:\n"));
}

#[test]
fn standard_input_is_read() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // It is empty here: nothing was answered, and nothing is complete.
    let shown = pointsman_in(here, &["decode", "--protocol", "openai-chat", "-", "--json"]);
    assert!(shown.starts_with("exit 1\n"), "{shown}");
    assert!(shown.contains("\"complete\":false,\"error\":null}"), "{shown}");
}
