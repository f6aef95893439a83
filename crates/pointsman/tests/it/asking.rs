//! What needs a person: a call or a question waits, is approved, denied, cancelled, or
//! killed with its run.

use std::{fs, thread, time::Duration};

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::{Home, NOTE};

/// A chart that asks before it continues.
const SHIP: &str = r#"
chart     = "ship"
version   = 1
start     = "asking"
authority = "text"

[any]
cancel = "cancelled"

[state.asking]
run     = "ask.person"
timeout = "24h"
with    = { question = "Ship {goal}?", into = "result" }
on.yes    = "done"
on.no     = "denied"
on.failed = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.denied]
final = "denied"
[state.cancelled]
final = "cancelled"
"#;

fn waiting(home: &Home) {
    let (code, _, told) = home.pointsman(&["run", "note.toml", "Hello", "--set", "tone=dry"]);
    assert_eq!(code, 3, "{told}");
    assert!(!home.path("note.txt").exists(), "it must not have been written");
}

#[test]
fn a_call_waits_for_a_yes_and_then_runs() {
    let home = Home::new("approve");
    let asked = home.shown(&["run", "note.toml", "Hello", "--set", "tone=dry"]);
    assert_snapshot!("asked", asked);
    assert_snapshot!("show_asked", home.shown(&["show", "last"]));
    assert_snapshot!("approve_wrong", home.shown(&["approve", "last", "9.9"]));
    assert_snapshot!("approve", home.shown(&["approve", "last", "--reason", "looks fine"]));
    assert_snapshot!("resumed", home.shown(&["resume", "last"]));
    assert_eq!(
        fs::read_to_string(home.path("note.txt")).expect("the file exists and is UTF-8"),
        "Hello, dry"
    );
    assert_snapshot!("approve_nothing", home.shown(&["approve", "last"]));
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains("looks fine"), "the reason is kept: {out}");
}

#[test]
fn open_question_is_printed_completely() {
    let home = Home::new("approve-long");
    let goal = format!("{}last word", "word ".repeat(100));
    for shown in [home.shown(&["run", "note.toml", &goal]), home.shown(&["show", "last"])] {
        let (_, call) =
            shown.split_once("may the agent make this call?\n").expect("it does not fit in a line");
        assert!(call.contains("last word"), "{shown}");
    }
}

#[test]
fn a_question_of_the_chart_waits_for_a_yes_or_no() {
    let home = Home::new("question");
    home.write("ship.toml", SHIP);
    assert_snapshot!("question", home.shown(&["run", "ship.toml", "v2"]));
    assert_snapshot!("question_show", home.shown(&["show", "last"]));
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(shown["questions"][0]["text"], "Ship v2?");
    assert_eq!(home.pointsman(&["resume", "last"]).0, 3, "it is asked again");
    assert_snapshot!("question_approve", home.shown(&["approve", "last", "--reason", "go on"]));
    assert_snapshot!("question_resumed", home.shown(&["resume", "last"]));
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
    assert_eq!(home.pointsman(&["run", "ship.toml", "v3", "--json"]).0, 3);
    assert_eq!(home.pointsman(&["deny", "last"]).0, 0);
    assert_eq!(home.pointsman(&["resume", "last"]).0, 7);
    let (code, out, told) = home.pointsman(&["run", "ship.toml", "v4", "--unattended"]);
    assert_eq!((code, out.as_str()), (7, "no one can be asked: the run is unattended\n"), "{told}");
}

#[test]
fn a_call_that_is_denied_never_runs() {
    let home = Home::new("deny");
    waiting(&home);
    assert_snapshot!("deny", home.shown(&["deny", "last"]));
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert_eq!(code, 7, "{told}");
    assert!(!home.path("note.txt").exists());
}

#[test]
fn last_answer_counts_until_one_is_taken() {
    let home = Home::new("last-word");
    waiting(&home);
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    let (_, shown, _) = home.pointsman(&["show", "last"]);
    assert!(shown.contains("  answered with yes; next: pointsman resume "), "{shown}");
    let (code, _, told) = home.pointsman(&["deny", "last"]);
    assert_eq!((code, told.as_str()), (0, "replaces the earlier answer: approved\n"));
    let (_, shown, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    assert_eq!(shown["questions"][0]["answered"], false);
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert_eq!(code, 7, "{told}");
    assert!(!home.path("note.txt").exists(), "a call that was denied has run");

    waiting(&home);
    for word in ["deny", "deny", "approve"] {
        assert_eq!(home.pointsman(&[word, "last"]).0, 0);
    }
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert_eq!(code, 0, "{told}");
    assert!(home.path("note.txt").exists());

    home.write("ship.toml", SHIP);
    assert_eq!(home.pointsman(&["run", "ship.toml", "v2"]).0, 3);
    for word in ["approve", "deny", "deny"] {
        assert_eq!(home.pointsman(&[word, "last"]).0, 0);
    }
    let (_, shown, _) = home.pointsman(&["show", "last"]);
    assert!(shown.contains("  answered with no; next: pointsman resume "), "{shown}");
    assert_eq!(home.pointsman(&["resume", "last"]).0, 7);
}

#[test]
fn ownerless_run_is_cancelled_at_once() {
    let home = Home::new("cancel");
    waiting(&home);
    assert_snapshot!("cancel", home.shown(&["cancel", "last"]));
    let (_, out, _) = home.pointsman(&["runs", "--json"]);
    let row: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(row["disposition"], "cancelled");
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

#[test]
fn ownerless_run_is_paused_and_resumed() {
    let home = Home::new("pause");
    waiting(&home);
    assert_snapshot!("pause", home.shown(&["pause", "last"]));
    assert!(home.pointsman(&["show", "last"]).1.contains("\npaused, in `writing`"));
    let (_, out, _) = home.pointsman(&["pause", "last", "--json"]);
    assert!(out.contains(r#""said":"paused""#), "{out}");
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    assert_eq!(home.pointsman(&["resume", "last"]).0, 0);
    assert!(home.path("note.txt").exists());
    let (code, _, told) = home.pointsman(&["pause", "last"]);
    assert!(code == 2 && told.contains("has already ended"), "{told}");
}

#[test]
fn rules_decide_without_a_person() {
    let home = Home::new("rules");
    let run = |more: &[&str]| home.pointsman(&[&["run", "note.toml", "Hi"][..], more].concat()).0;
    assert_eq!(run(&["--unattended"]), 7);
    assert_eq!(run(&["--deny", "*"]), 7);
    assert_eq!(run(&["--allow", "*", "--deny", "write"]), 7);
    assert_eq!(run(&["--allow", "write:path=other.txt"]), 3);
    assert!(!home.path("note.txt").exists());
    assert_eq!(run(&["--allow", "write:path=*.txt", "--deny", "write"]), 0);
    assert!(home.path("note.txt").exists());
    home.settings("[permissions]\nrules = [{ allow = \"write\" }]\n");
    assert_eq!(run(&[]), 0);
    // A repository may be stricter than its reader, never looser.
    home.write("pointsman.toml", "[permissions]\nrules = [{ deny = \"write\" }]\n");
    assert_eq!(run(&[]), 7);
    home.write("pointsman.toml", "[permissions]\nrules = [{ allow = \"write\" }]\n");
    assert_eq!(run(&[]), 2);
}

#[test]
fn late_answer_is_rejected() {
    let home = Home::new("too-late");
    let chart = NOTE.replace("timeout = \"10m\"", "timeout = \"10m\"\nask_timeout = \"1ms\"");
    assert_ne!(chart, NOTE);
    home.write("late.toml", &chart);
    // It stops before the question; the timeout is not recorded yet.
    let run = ["run", "late.toml", "Hello", "--set", "tone=dry"];
    assert_eq!(home.with(&[("POINTSMAN_DIE_AT", "persisted:1")], &run).code, None);
    thread::sleep(Duration::from_millis(5));
    let (code, _, told) = home.pointsman(&["approve", "last"]);
    assert!(code == 2 && told.contains("too late: question"), "{told}");
    assert!(told.contains("continues the run as if the answer were no"), "{told}");
    assert_eq!(home.pointsman(&["resume", "last"]).0, 7);
    assert!(!home.path("note.txt").exists());
}

#[test]
fn repeated_question_says_it_may_have_been_done() {
    let home = Home::new("asked-again");
    let run = ["run", "shell.toml", "Hello", "--set", "tone=dry", "--allow", "shell"];
    let command = r#"args = { command = "true" }"#;
    let chart =
        NOTE.replace(r#"args = { path = "note.txt", content = "{goal}, {tone}" }"#, command);
    home.write("shell.toml", &chart.replace("\"write\"", "\"shell\""));
    let killed = home.with(&[("POINTSMAN_DIE_AT", "attempted:1")], &run);
    assert_eq!(killed.code, None, "{}", killed.err);
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert!(code == 3 && told.contains("asks to repeat"), "{told}");
    let again = "and may or may not have been done.\n  shell";
    assert!(told.contains(again), "{told}");
    assert!(home.pointsman(&["show", "last"]).1.contains(again));
    let (_, shown, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    assert_eq!(shown["questions"][0]["again"], true);
    // The chart is known by its name, too.
    assert!(home.pointsman(&["stats", "note"]).1.starts_with("1 run: "));
    assert!(home.pointsman(&["stats", "nope"]).1.starts_with("0 runs: "));
}

#[test]
fn killed_run_resumes() {
    let home = Home::new("killed");
    for moment in ["persisted:1", "attempted:1", "persisted:3", "attempted:4"] {
        let run = ["run", "research", "What does a red signal mean?", "--dir", "docs"];
        let killed = home.with(&[("POINTSMAN_DIE_AT", moment)], &run);
        assert_eq!(killed.code, None, "{moment}: {}", killed.err);
        let (code, out, told) = home.pointsman(&["resume", "last", "--dir", "docs"]);
        assert_eq!(code, 0, "{moment}: {told}");
        assert!(out.contains("signals.md:3"), "{moment}: {out}");
        assert_eq!(home.pointsman(&["replay", "last"]).0, 0, "{moment}");
    }
}

/// Two commands in a row, each of which needs approval.
fn two_commands(first: &str, second: &str) -> String {
    let call = |command: &str| format!("args = {{ command = \"{command}\" }}");
    let chart = NOTE
        .replace(r#"args = { path = "note.txt", content = "{goal}, {tone}" }"#, &call(first))
        .replace("\"write\"", "\"shell\"");
    let (head, state) = chart.split_once("[state.writing]").expect("there is one");
    let (state, rest) = state.split_once("[state.done]").expect("there is one");
    let next = state.replace(&call(first), &call(second));
    // Whatever the result of the first: no command runs in a home directory.
    let state = state
        .replace("on.ok     = \"done\"", "on.ok     = \"again\"")
        .replace("on.failed = \"failed\"", "on.failed = \"again\"");
    format!("{head}[state.writing]{state}[state.again]{next}[state.done]{rest}")
}

#[test]
fn always_means_this_very_call_unless_more_is_named() {
    let run = ["run", "two.toml", "Hello", "--set", "tone=dry"];
    // The same command, another one of the same kind, another one of any kind.
    let seconds = ["cargo test a", "cargo test b", "rm -f docs/points.md"];
    for (always, allowed) in [
        ("--always", [true, false, false]),
        ("--always=exact", [true, false, false]),
        ("--always=cargo test *", [true, true, false]),
        ("--always=shell:command=cargo test *", [true, true, false]),
        ("--always=tool", [true, true, true]),
    ] {
        for (second, allowed) in seconds.iter().zip(allowed) {
            let home = Home::new("always");
            home.write("two.toml", &two_commands("cargo test a", second));
            assert_eq!(home.pointsman(&run).0, 3);
            let (code, _, told) = home.pointsman(&["approve", "last", always]);
            assert_eq!(code, 0, "{always}: {told}");
            let asks = home.pointsman(&["resume", "last"]).0 == 3;
            let shown = home.pointsman(&["show", "last", "--json"]).1;
            let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
            assert_eq!(asks, shown["state"] == "again", "{always}, {second}: {shown}");
            assert_eq!(asks, !allowed, "{always}, {second}: {shown}");
        }
    }
}

#[test]
fn always_accepts_only_listed_rules() {
    let home = Home::new("always-listed");
    home.write("two.toml", &two_commands("cargo test a", "true"));
    home.pointsman(&["run", "two.toml", "Hello", "--set", "tone=dry"]);
    let (code, out, _) = home.pointsman(&["approve", "last", "--list-rules"]);
    let listed: Vec<&str> = out.lines().skip(1).map(str::trim).collect();
    let wanted = [
        "--always='shell:command=cargo test a'",
        "--always='shell:command=cargo test *'",
        "--always=tool",
    ];
    assert_eq!((code, &*listed), (0, &wanted[..]), "{out}");
    let (code, _, told) = home.pointsman(&["approve", "last", "--always=cargo *"]);
    assert!(code == 2 && told.contains("--always='shell:command=cargo test *'"), "{told}");
    // Nothing was answered.
    let shown = home.pointsman(&["show", "last", "--json"]).1;
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    let offered = shown["questions"][0]["always"].as_array().expect("the value is a list");
    assert_eq!(offered.len(), 2, "{shown}");
}

#[test]
fn rules_belong_to_a_named_run() {
    let home = Home::new("approve_filter");
    waiting(&home);
    for option in ["--list-rules", "--always"] {
        let (code, _, err) = home.pointsman(&["approve", "--chart", "note", option]);
        assert_eq!(code, 2, "{option}: {err}");
    }
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(!out.contains("approval_answered"), "nothing was approved: {out}");
}

#[test]
fn fork_inherits_no_remembered_rules() {
    let home = Home::new("always-fork");
    home.write("two.toml", &two_commands("true", "true"));
    home.pointsman(&["run", "two.toml", "Hello", "--set", "tone=dry"]);
    assert_eq!(home.pointsman(&["approve", "last", "--always=tool"]).0, 0);
    home.pointsman(&["resume", "last"]);
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let whole: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_ne!(whole["state"], "writing", "{whole}");
    // Shared up to the entry in which the yes was given: what it started is asked about, and
    // so is the next call.
    let (code, _, told) = home.pointsman(&["fork", "last", "--at", "2"]);
    assert_eq!(code, 3, "{told}");
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert_eq!(code, 3, "the second call ran unasked in a fork: {told}");
}
