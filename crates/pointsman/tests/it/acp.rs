//! `pointsman acp` on its standard input and output: nothing else is on them, and it ends
//! when the editor does.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::home::Home;

/// Starts the command in a home.
pub(crate) fn start(home: &Home, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .arg("acp")
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path(""))
        .env("XDG_CONFIG_HOME", home.path("config"))
        .env("POINTSMAN_LOG", "info")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

#[test]
fn standard_output_has_only_protocol_messages() {
    let home = Home::new("acp-stdio");
    home.write("script.toml", "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n");
    let model = format!("script:{}", home.path("script.toml").display());
    let mut child = start(&home, &["--model", &model]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut answers = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut ask = |id: u64, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{message}").expect("the process reads its stdin");
    };
    let mut answer = || -> Value {
        let line = answers.next().expect("it answers").expect("the output is UTF-8");
        serde_json::from_str(&line).expect("it is a message")
    };
    ask(1, "initialize", json!({ "protocolVersion": 1 }));
    assert_eq!(answer()["result"]["agentInfo"]["name"], "pointsman");
    ask(2, "session/new", json!({ "cwd": "docs", "mcpServers": [] }));
    let refused = answer();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    ask(3, "session/new", json!({ "cwd": home.path("docs"), "mcpServers": [] }));
    let begun = answer();
    let session = begun["result"]["sessionId"].as_str().expect("the id is a string").to_owned();
    let prompt = json!([{ "type": "text", "text": "hello" }]);
    ask(4, "session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    ask(5, "session/set_mode", json!({ "sessionId": session, "modeId": "x" }));
    let unknown = answer();
    assert_eq!(unknown["error"]["code"], -32601, "what is not there says so: {unknown}");

    // The editor goes away in the middle of a turn.
    drop(stdin);
    let output = child.wait_with_output().expect("the process ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("state_transition"), "the log is on standard error: {told}");
    let (code, out, _) = home.pointsman(&["runs", "--json", "--journal", &journal(&home)]);
    assert_eq!(code, 0);
    assert!(out.contains(&session) && out.contains("calling_llm"), "it can be gone on with: {out}");
}

fn journal(home: &Home) -> String {
    home.path(".local/state/pointsman/journal.db").display().to_string()
}

#[test]
fn a_model_without_its_key_is_refused_with_a_hint() {
    let home = Home::new("acp-key");
    let mut child = start(&home, &["--model", "anthropic:claude-sonnet-4-5"]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut answers = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let params = json!({ "cwd": home.path("docs"), "mcpServers": [] });
    let mut refused = String::new();
    for (id, method, params) in
        [(1, "initialize", json!({ "protocolVersion": 1 })), (2, "session/new", params)]
    {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{message}").expect("the process reads its stdin");
        refused = answers.next().expect("it answers").expect("the output is UTF-8");
    }
    assert!(refused.contains("ANTHROPIC_API_KEY"), "{refused}");
    drop(stdin);
    assert!(child.wait().expect("the process ends").success());
}
