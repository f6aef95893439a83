//! A real client of the Agent Client Protocol, `acpx`, against `pointsman acp` and a
//! model that answers from a script.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

use crate::home::Home;

/// How long one command of the client may take, in seconds.
const TIMEOUT: &str = "60";

const WRITES: &str = r#"
[[turn]]
when = "Write it"
text = "I write it now."
[[turn.calls]]
tool      = "write"
arguments = { path = "note.txt", content = "hello" }

[[turn]]
when = "denied in the editor"
text = "Then I leave it."

[[turn]]
text = "It is written."
"#;

/// The client, in its own home.
struct Acpx {
    home: Home,
}

impl Acpx {
    fn new(name: &str, script: &str) -> Self {
        let home = Home::new(name);
        home.write("script.toml", script);
        home.write("work/readme.md", "# Work\n");
        Self { home }
    }

    fn program() -> PathBuf {
        let npm = std::env::var_os("POINTSMAN_NPM").expect("POINTSMAN_NPM names the packages");
        PathBuf::from(npm).join("node_modules/.bin/acpx")
    }

    /// Returns the command by which the client starts us.
    fn agent(&self) -> String {
        let script = self.home.path("script.toml");
        format!("{} acp --model script:{}", env!("CARGO_BIN_EXE_pointsman"), script.display())
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(Self::program())
            .args(["--cwd", &self.home.path("work").display().to_string()])
            .args(["--timeout", TIMEOUT, "--agent", &self.agent()])
            .args(arguments)
            .current_dir(self.home.path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path(""))
            .env("XDG_STATE_HOME", self.home.path("state"))
            .env("XDG_CACHE_HOME", self.home.path("cache"))
            .env("XDG_CONFIG_HOME", self.home.path("config"))
            .stdin(std::process::Stdio::null())
            .output()
            .expect("acpx starts: run `cargo xtask test --only acp`")
    }

    /// Runs one prompt and returns every message that went either way.
    fn dialogue(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(arguments);
        let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{text}{told}", output.status);
        let messages =
            text.lines().map(|line| serde_json::from_str(line).expect("the text is valid JSON"));
        messages.collect()
    }
}

/// Returns what the agent said, all of it.
fn said(dialogue: &[Value]) -> String {
    updates(dialogue, "agent_message_chunk")
        .filter_map(|update| update.pointer("/content/text")?.as_str())
        .collect()
}

fn updates<'a>(dialogue: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    let updates = dialogue.iter().filter_map(|message| message.pointer("/params/update"));
    updates.filter(move |update| update["sessionUpdate"] == kind)
}

fn stop_reason(dialogue: &[Value]) -> Option<&str> {
    dialogue.iter().find_map(|message| message.pointer("/result/stopReason")?.as_str())
}

fn statuses(dialogue: &[Value]) -> Vec<&str> {
    let updates = updates(dialogue, "tool_call_update");
    updates.filter_map(|update| update["status"].as_str()).collect()
}

fn asked(dialogue: &[Value]) -> usize {
    dialogue.iter().filter(|it| it["method"] == "session/request_permission").count()
}

#[test]
#[ignore = "needs acpx: cargo xtask test --only acp"]
fn an_approved_call_runs() {
    let acpx = Acpx::new("acpx-approve", WRITES);
    let dialogue = acpx.dialogue(&["--format", "json", "--approve-all", "exec", "Write it"]);
    assert_eq!(said(&dialogue), "I write it now.It is written.", "{dialogue:#?}");
    assert_eq!(asked(&dialogue), 1);
    assert_eq!(statuses(&dialogue), ["in_progress", "completed"]);
    assert_eq!(stop_reason(&dialogue), Some("end_turn"));
    let written =
        fs::read_to_string(acpx.home.path("work/note.txt")).expect("the file exists and is UTF-8");
    assert_eq!(written, "hello");
    // What the client saw is in the journal, and the journal replays.
    assert_eq!(acpx.home.pointsman(&["replay", "last"]).0, 0);
}

#[test]
#[ignore = "needs acpx: cargo xtask test --only acp"]
fn denied_call_does_not_run_and_the_model_learns_why() {
    let acpx = Acpx::new("acpx-deny", WRITES);
    // A denied call has its own exit code; the text counts.
    let output = acpx.run(&["--format", "json", "--deny-all", "exec", "Write it"]);
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let dialogue: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("the text is valid JSON"))
        .collect();
    assert_eq!(said(&dialogue), "I write it now.Then I leave it.", "{dialogue:#?}");
    assert_eq!(asked(&dialogue), 1);
    assert_eq!(statuses(&dialogue), ["failed"]);
    assert_eq!(stop_reason(&dialogue), Some("end_turn"));
    assert!(!acpx.home.path("work/note.txt").exists());
}

#[test]
#[ignore = "needs acpx: cargo xtask test --only acp"]
fn several_prompts_are_one_conversation() {
    let script = format!("{WRITES}\n[[turn]]\nwhen = \"And then\"\ntext = \"Nothing more.\"\n");
    let acpx = Acpx::new(
        "acpx-session",
        &script.replace(
            "[[turn]]\ntext = \"It is written.\"",
            "[[turn]]\nwhen = \"created `note.txt`\"\ntext = \"It is written.\"",
        ),
    );
    assert!(acpx.run(&["sessions", "new"]).status.success());
    let told = |prompt: &str| {
        // The client's own process stays between the prompts, and goes with the session.
        let output =
            acpx.run(&["--format", "quiet", "--approve-all", "--ttl", "60", "prompt", prompt]);
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    };
    assert_eq!(told("Write it").trim(), "I write it now.It is written.");
    assert_eq!(told("And then?").trim(), "Nothing more.");
    let listed = acpx.run(&["sessions", "list"]);
    let listed = String::from_utf8(listed.stdout).expect("the output is UTF-8");
    assert!(listed.contains("Write it") && listed.lines().count() == 1, "{listed}");
    assert!(acpx.run(&["sessions", "close"]).status.success());
}

#[test]
#[ignore = "needs acpx: cargo xtask test --only acp"]
fn invalid_set_up_is_reported_to_the_client() {
    let acpx = Acpx::new("acpx-bad", "[[turn]]\n");
    let output = acpx.run(&["--format", "json", "--approve-all", "exec", "Hello"]);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("script.toml:1") || text.contains("a turn has"), "{text}");
}
