//! `submit` and `worker` over a journal file.

use std::fs;

use serde_json::{Value, json};

use crate::home::Home;

/// Returns the rows of `runs --json`, the newest first.
fn rows(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = home.pointsman(&[&["runs", "--json"], arguments].concat());
    assert_eq!(code, 0, "{err}");
    out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn submitted(home: &Home, arguments: &[&str]) -> String {
    let (code, out, err) = home.pointsman(&[&["submit"], arguments].concat());
    assert_eq!(code, 0, "{err}");
    out.trim().to_owned()
}

#[test]
fn worker_drives_queued_runs_in_their_own_folders() {
    let home = Home::new("queue");
    let first = submitted(&home, &["research", "Who sets the points?", "--dir", "docs"]);
    let second = submitted(&home, &["chat", "What means stop?", "--dir", "docs", "--key", "team"]);
    let rows_now = rows(&home, &[]);
    let place = |row: &Value| (row["run"].clone(), row["key"].clone(), row["queue"].clone());
    assert_eq!(place(&rows_now[0]), (json!(second), json!("team"), json!("ready")));
    assert_eq!(place(&rows_now[1]), (json!(first), json!(""), json!("ready")));
    let (code, out, err) = home.pointsman(&["worker", "--once", "--json"]);
    assert_eq!(code, 0, "{err}");
    for run in [&first, &second] {
        let ended = json!({ "run": run, "disposition": "succeeded" });
        let line = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|it| it == ended);
        assert!(out.lines().any(line), "{out}{err}");
    }
    let (_, out, _) = home.pointsman(&["show", &first]);
    assert!(out.contains("points.md:3"), "{out}");
}

#[test]
fn request_is_submitted_once() {
    let home = Home::new("queue_request");
    let ask = ["research", "Who?", "--dir", "docs", "--request", "order 7"];
    let first = submitted(&home, &ask);
    assert_eq!(submitted(&home, &ask), first);
    assert_eq!(rows(&home, &[]).len(), 1);
}

#[test]
fn queued_run_asks_and_continues() {
    let home = Home::new("queue_asks");
    let run = submitted(&home, &["note.toml", "Hello"]);
    for said in [&["approve", run.as_str()][..], &[]] {
        let (code, _, err) = home.pointsman(&["worker", "--once"]);
        assert_eq!(code, 0, "{err}");
        if !said.is_empty() {
            assert!(!home.path("note.txt").exists(), "nobody has agreed yet");
            assert_eq!(rows(&home, &[])[0]["queue"], "waiting");
            let (code, out, err) = home.pointsman(said);
            assert_eq!(code, 0, "{err}");
            assert!(out.contains("the next free worker continues run"), "{out}");
        }
    }
    assert_eq!(fs::read_to_string(home.path("note.txt")).expect("it is written"), "Hello, plain");
    assert_eq!(rows(&home, &[])[0]["disposition"], "succeeded");
}

#[test]
fn delayed_and_bound_runs_are_left_alone() {
    let home = Home::new("queue_later");
    let ask = ["research", "Who?", "--dir", "docs"];
    let later = submitted(&home, &[&ask[..], &["--delay", "2h"]].concat());
    let elsewhere = submitted(&home, &[&ask[..], &["--needs", "gpu"]].concat());
    let (code, out, err) = home.pointsman(&["worker", "--once", "--json", "--label", "gpu"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&elsewhere) && !out.contains(&later), "{out}");
    assert_eq!(rows(&home, &["--limit", "9"])[1]["queue"], "waiting");
}

#[test]
fn run_without_its_folder_is_deferred() {
    let home = Home::new("queue_folder");
    home.write("away/notes.md", "# Notes\n");
    let run = submitted(&home, &["research", "Who?", "--dir", "away"]);
    fs::rename(home.path("away"), home.path("moved")).expect("the folder is moved");
    let (code, _, err) = home.pointsman(&["worker", "--once"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("is not on this machine"), "{err}");
    assert_eq!(rows(&home, &[])[0]["queue"], "waiting");
    fs::rename(home.path("moved"), home.path("away")).expect("the folder is moved back");
    let mut tries = 0..60;
    while rows(&home, &[])[0]["disposition"].is_null() {
        assert!(tries.next().is_some(), "run {run} is never taken up again");
        let (code, _, err) = home.pointsman(&["worker", "--once"]);
        assert_eq!(code, 0, "{err}");
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}

#[test]
fn file_of_many_is_submitted_line_by_line() {
    let home = Home::new("queue_file");
    home.write(
        "runs.jsonl",
        concat!(
            r#"{"agent":"research","goal":"Who sets the points?","request":"a"}"#,
            "\n\n",
            r#"{"agent":"note.toml","goal":"Hello","config":{"tone":"dry"},"key":"notes"}"#,
            "\n",
            r#"{"agent":"research","colour":"red"}"#,
            "\n",
        ),
    );
    let (code, out, err) = home.pointsman(&["submit", "--file", "runs.jsonl", "--dir", "docs"]);
    assert_eq!((code, out.lines().count()), (2, 2), "{out}{err}");
    assert!(err.contains("line 4 of runs.jsonl") && err.contains("colour"), "{err}");
    // Not every store can keep such a goal.
    home.write("nul.jsonl", r#"{"agent":"research","goal":"a\u0000b"}"#);
    let (code, out, err) = home.pointsman(&["submit", "--file", "nul.jsonl", "--dir", "docs"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("line 1 of nul.jsonl") && err.contains("a NUL character"), "{err}");
    let rows = rows(&home, &[]);
    assert_eq!((&rows[0]["key"], &rows[0]["goal"]), (&json!("notes"), &json!("Hello")));
    assert_eq!(rows.len(), 2);
}

#[test]
fn filters_name_runs_for_every_bulk_command() {
    let home = Home::new("queue_bulk");
    for (key, goal) in [("a", "One"), ("a", "Two"), ("b", "Three")] {
        submitted(&home, &["note.toml", goal, "--key", key]);
    }
    let goals = |arguments: &[&str]| -> Vec<String> {
        let goal = |row: &Value| row["goal"].as_str().unwrap_or_default().to_owned();
        rows(&home, arguments).iter().map(goal).collect()
    };
    assert_eq!(goals(&["--key", "a"]), ["Two", "One"]);
    assert_eq!(goals(&["--status", "ready", "--text", "TH"]), ["Three"]);
    assert_eq!(goals(&["--status", "leased"]), [""; 0]);
    assert_eq!(goals(&["--older-than", "1d"]), [""; 0]);
    assert_eq!(goals(&["--chart", "note", "--state", "writing", "--newer-than", "1h"]).len(), 3);
    let said = |arguments: &[&str]| {
        let (code, out, err) = home.pointsman(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out.trim().to_owned()
    };
    assert_eq!(said(&["cancel", "--key", "b", "--dry-run"]), "1 run would be cancelled");
    assert_eq!(said(&["cancel", "--key", "b"]), "1 run cancelled");
    assert_eq!(said(&["cancel", "--key", "b"]), "0 runs cancelled");
    // Nothing asks yet.
    assert_eq!(said(&["approve", "--key", "a", "--dry-run"]), "0 runs would be approved");
    said(&["worker", "--once"]);
    assert_eq!(said(&["deny", "--key", "a", "--text", "one"]), "1 run denied");
    assert_eq!(said(&["approve", "--chart", "note", "--dry-run"]), "2 runs would be approved");
    assert_eq!(said(&["approve", "--text", "two"]), "1 run approved");
    said(&["worker", "--once"]);
    let ends = || -> Vec<Value> {
        rows(&home, &[]).iter().map(|row| row["disposition"].clone()).collect()
    };
    assert_eq!(ends(), ["cancelled", "succeeded", "denied"]);
    // What was cancelled is forked back, as it was before its end.
    assert_eq!(
        said(&["fork", "--status", "cancelled", "--queue", "--to-key", "c"]),
        "1 run forked and queued"
    );
    assert_eq!(goals(&["--key", "c", "--status", "ready"]), ["Three"]);
    let (code, _, err) = home.pointsman(&["resume", "--key", "c"]);
    assert!(code == 2 && err.contains("--queue"), "{err}");
    let (code, _, err) = home.pointsman(&["cancel"]);
    assert!(code == 2 && err.contains("RUN"), "{err}");
}

#[test]
fn paused_run_is_resumed_by_a_worker() {
    let home = Home::new("queue_resume");
    let run = submitted(&home, &["note.toml", "Hello", "--allow", "write"]);
    let (code, _, err) = home.pointsman(&["pause", &run]);
    assert_eq!(code, 0, "{err}");
    let worker = || home.pointsman(&["worker", "--once"]);
    assert_eq!(worker().0, 0);
    assert!(!home.path("note.txt").exists(), "it is paused");
    let (code, out, err) = home.pointsman(&["resume", &run, "--queue"]);
    assert_eq!((code, out.as_str()), (0, "1 run queued\n"), "{err}");
    assert_eq!(worker().0, 0);
    assert!(home.path("note.txt").exists(), "it went on");
}

#[test]
fn exported_run_is_imported_once() {
    let home = Home::new("queue_import");
    let (code, _, err) =
        home.pointsman(&["run", "research", "Who sets the points?", "--dir", "docs"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = home.pointsman(&["export", "last", "--out", "run.jsonl"]);
    assert_eq!(code, 0, "{err}");
    let import = ["import", "run.jsonl", "--journal", "other.db"];
    let (code, out, err) = home.pointsman(&import);
    assert_eq!(code, 0, "{err}");
    let (code, shown, err) = home.pointsman(&["replay", out.trim(), "--journal", "other.db"]);
    assert_eq!(code, 0, "{shown}{err}");
    let (code, again, _) = home.pointsman(&["export", "last", "--journal", "other.db"]);
    assert_eq!((code, again), (0, fs::read_to_string(home.path("run.jsonl")).expect("a file")));
    let (code, _, err) = home.pointsman(&import);
    assert!(code != 0 && err.contains("exists"), "{err}");
}

#[test]
fn limits_are_counted_over_the_queue() {
    let home = Home::new("queue_limits");
    for _ in 0..3 {
        submitted(&home, &["research", "Who sets the points?", "--dir", "docs", "--key", "k"]);
    }
    let (code, _, err) = home.pointsman(&["worker", "--once", "--limit", "key=1"]);
    assert_eq!(code, 0, "{err}");
    assert!(rows(&home, &[]).iter().all(|row| !row["disposition"].is_null()));
    let (code, _, err) = home.pointsman(&["worker", "--once", "--limit", "keys=1"]);
    assert!(code == 2 && err.contains("key:NAME=N"), "{err}");
}
