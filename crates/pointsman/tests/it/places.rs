//! Where a run resumes: in its own folder with its own model, wherever the command is typed.

use std::fs;

use serde_json::Value;

use crate::home::Home;

/// One answer of a script, after the tool.
const SCRIPT: &str = r#"{"text":"The script answers."}
"#;

/// Writes a file, which has to be asked for, and then has a model say something.
const CHART: &str = r#"
chart     = "both"
version   = 1
start     = "writing"
authority = "propose"

[any]
cancel = "cancelled"

[state.writing]
run     = "tool.call"
tools   = ["write"]
timeout = "10m"
with    = { tool = "write", args = { path = "note.txt", content = "{goal}" } }
on.ok     = "telling"
on.failed = "failed"
on.denied = "failed"
on.stuck  = "failed"

[state.telling]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "{goal}", into = "result" }
on.completed = "done"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// A run in `a` with a script, begun from the home, that waits for a yes.
fn waiting(name: &str) -> Home {
    let home = Home::new(name);
    home.write("chart.toml", CHART);
    home.write("script.jsonl", SCRIPT);
    for folder in ["a", "b"] {
        fs::create_dir_all(home.path(folder)).expect("the folder is created");
    }
    let model = "script:script.jsonl";
    let run = ["run", "chart.toml", "Hello", "--dir", "a", "--model", model];
    let (code, _, told) = home.pointsman(&run);
    assert_eq!(code, 3, "{told}");
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    home
}

#[test]
fn run_resumes_in_its_folder_with_its_model() {
    let home = waiting("place-resume");
    let shown = home.within("b", &["resume", "last"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert_eq!(shown.out, "The script answers.\n");
    assert!(home.path("a/note.txt").exists() && !home.path("b/note.txt").exists());
    let told = home.redacted(&shown.err);
    assert!(told.contains("folder HOME/a, model script:HOME/script.jsonl\n"), "{told}");

    let (_, out, _) = home.pointsman(&["show", "last"]);
    let told = home.redacted(&out);
    assert!(told.contains("folder HOME/a, model script:HOME/script.jsonl\n"), "{told}");
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    let dir = home.path("a").canonicalize().expect("the path exists");
    assert_eq!(shown["place"]["dir"].as_str(), dir.to_str());
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

#[test]
fn a_fork_works_where_the_other_run_does() {
    let home = waiting("place-fork");
    assert_eq!(home.pointsman(&["resume", "last"]).0, 0);
    fs::remove_file(home.path("a/note.txt")).expect("the file existed and is removed");
    // From the entry at which it asked: it asks again.
    let shown = home.within("b", &["fork", "last", "--at", "1"]);
    assert_eq!(shown.code, Some(3), "{}", shown.err);
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    assert_eq!(home.within("b", &["resume", "last"]).out, "The script answers.\n");
    assert!(home.path("a/note.txt").exists() && !home.path("b/note.txt").exists());
}

#[test]
fn options_override_the_recorded_folder_and_model() {
    let home = waiting("place-typed");
    home.write("other.jsonl", &SCRIPT.replace("script", "other"));
    let typed = ["resume", "last", "--dir", "b", "--model", "script:other.jsonl"];
    let (code, out, told) = home.pointsman(&typed);
    assert_eq!((code, out.as_str()), (0, "The other answers.\n"), "{told}");
    assert!(home.path("b/note.txt").exists() && !home.path("a/note.txt").exists());
}

#[test]
fn missing_folder_is_reported() {
    let home = waiting("place-gone");
    fs::remove_dir_all(home.path("a")).expect("the folder is removed");
    for command in ["resume", "fork"] {
        let (code, _, told) = home.pointsman(&[command, "last"]);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("which no longer exists") && told.contains("`--dir`"), "{told}");
    }
    let (_, out, _) = home.pointsman(&["runs", "--json"]);
    assert_eq!(out.lines().count(), 1, "no fork is left behind: {out}");
    assert_eq!(home.pointsman(&["resume", "last", "--dir", "b"]).0, 0);
}

#[test]
fn conversation_resumes_in_its_folder() {
    let home = Home::new("place-chat");
    fs::create_dir_all(home.path("b")).expect("the folder is created");
    let said = home.reading("What does a red signal mean?\n", &["chat", "--dir", "docs"]);
    assert!(said.out.contains("signals.md:3"), "{}{}", said.out, said.err);
    let resume = ["chat", "--all", "--resume", "last", "What does the pointsman set?"];
    let resumed = home.within("b", &resume);
    assert!(resumed.out.contains("points.md:3"), "{}{}", resumed.out, resumed.err);
    assert!(home.redacted(&resumed.err).contains("folder HOME/docs, model quote\n"));
}
