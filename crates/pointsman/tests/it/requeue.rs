//! `resume --queue` and `fork --queue`: runs that go back to the workers.

use serde_json::{Value, json};

use crate::home::Home;

/// Runs a command that must succeed, and returns what it prints and notes.
fn said(home: &Home, arguments: &[&str]) -> (String, String) {
    let (code, out, err) = home.pointsman(arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (out.trim().to_owned(), err)
}

/// Returns the rows of `runs --json`, the newest first.
fn rows(home: &Home) -> Vec<Value> {
    let (out, _) = said(home, &["runs", "--json", "--limit", "1000"]);
    out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn note(home: &Home) -> String {
    let run = said(home, &["submit", "note.toml", "Hello", "--allow", "write"]).0;
    said(home, &["worker", "--once"]);
    assert_eq!(rows(home)[0]["disposition"], "succeeded");
    run
}

#[test]
fn queued_fork_shares_the_entries_that_were_asked_for() {
    let home = Home::new("requeue_at");
    let run = note(&home);
    let (out, err) = said(&home, &["fork", &run, "--at", "1", "--queue", "--to-key", "k"]);
    assert_eq!(out, "1 run forked and queued");
    let fork = &rows(&home)[0];
    assert_eq!(fork["forked"], json!({ "run": run, "at": 1 }));
    assert_eq!((&fork["key"], &fork["queue"]), (&json!("k"), &json!("ready")));
    let id = fork["run"].as_str().expect("it has an id");
    assert!(err.contains(&format!("forked {run} as {id}")), "{err}");
    said(&home, &["worker", "--once"]);
    assert_eq!(rows(&home)[0]["disposition"], "succeeded");
    let (code, _, err) = home.pointsman(&["fork", &run, "--at", "9", "--queue"]);
    assert!(code == 2 && err.contains("entry 9 was requested"), "{err}");
}

#[test]
fn options_without_an_effect_on_a_queued_run_are_refused() {
    let home = Home::new("requeue_options");
    let run = note(&home);
    for refused in [
        &["fork", &run, "--queue", "--dir", "docs"][..],
        &["fork", &run, "--no-run", "--dir", "docs"],
        &["fork", "--status", "succeeded", "--queue", "--model", "quote"],
        &["resume", &run, "--queue", "--model", "quote"],
        &["resume", "--status", "open", "--queue", "--commit"],
    ] {
        let (code, _, err) = home.pointsman(refused);
        assert!(code == 2 && err.contains("only to a run that this command drives"), "{err}");
        assert!(err.contains("hint: leave it out"), "{err}");
    }
    for refused in [
        &["fork", "--status", "succeeded", "--at", "1"][..],
        &["fork", &run, "--no-run", "--queue"],
        &["fork", &run, "--queue", "--dry-run"],
        &["resume", &run, "--status", "open", "--queue"],
        &["resume", "--status", "open", "--queue", "--grant", "tokens=5"],
        &["cancel", &run, "--dry-run"],
    ] {
        let (code, _, err) = home.pointsman(refused);
        assert!(code == 2 && err.contains("Usage"), "{refused:?}: {err}");
    }
    assert_eq!(rows(&home).len(), 1, "nothing was done");
}

#[test]
fn queued_run_gets_its_grant_before_a_worker_takes_it() {
    let home = Home::new("requeue_grant");
    let run = said(&home, &["submit", "note.toml", "Hello", "--allow", "write"]).0;
    // The call in progress is lost with its worker, and the certificate permits no second one.
    let dies = home.with(&[("POINTSMAN_DIE_AT", "persisted:2")], &["worker", "--once"]);
    assert_ne!(dies.code, Some(0), "{}", dies.err);
    let refused = ["resume", &run, "--queue", "--grant", "interactions=1"];
    let (code, out, err) = home.pointsman(&refused);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("rejects the grant"), "{err}");
    let again = ["resume", &run, "--queue", "--grant", "tool_calls=1"];
    assert_eq!(said(&home, &again).0, "1 run queued");
    let shown = said(&home, &["show", &run]).0;
    assert!(shown.contains("granted 1 more tool call"), "{shown}");
    said(&home, &["worker", "--once"]);
    assert_eq!(rows(&home)[0]["disposition"], "succeeded");
}

#[test]
fn run_that_cannot_be_queued_is_an_error() {
    let home = Home::new("requeue_refused");
    let run = note(&home);
    let (code, out, err) = home.pointsman(&["resume", &run, "--queue"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("has already ended") && err.contains("hint: "), "{err}");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus");
    let child = said(&home, &["import", &format!("{corpus}/research-child-02.jsonl")]).0;
    let (code, out, err) = home.pointsman(&["resume", &child, "--queue"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("is a child of run") && err.contains("hint: "), "{err}");
    // As without `--queue`, a fork of a child is a run of its own.
    let (out, _) = said(&home, &["fork", &child, "--queue"]);
    assert_eq!(out, "1 run forked and queued");
    let fork = &rows(&home)[0];
    assert_eq!((&fork["forked"]["run"], &fork["queue"]), (&json!(child), &json!("ready")));
}

#[test]
fn bulk_fork_can_be_repeated() {
    let home = Home::new("requeue_repeated");
    let line = r#"{"agent":"note.toml","goal":"Hello","key":"slow"}"#;
    home.write("runs.jsonl", &format!("{line}\n").repeat(5));
    let runs = said(&home, &["submit", "--file", "runs.jsonl"]).0;
    let runs: Vec<&str> = runs.lines().collect();
    said(&home, &["cancel", "--key", "slow"]);
    // One fork was made and not queued, as by a process that died in between.
    let made = said(&home, &["fork", runs[0], "--no-run"]).0;
    let fork = ["fork", "--status", "cancelled", "--queue"];
    let dry = said(&home, &[&fork[..], &["--dry-run"]].concat()).0;
    assert_eq!(dry, "5 runs would be forked and queued");
    let (out, err) = said(&home, &fork);
    assert_eq!(out, "5 runs forked and queued");
    for run in &runs {
        assert!(err.contains(&format!("forked {run} as ")), "{err}");
    }
    assert!(err.contains(&format!("forked {} as {made}", runs[0])), "{err}");
    let count = || {
        let rows = rows(&home);
        (rows.len(), rows.iter().filter(|row| row["queue"] == "ready").count())
    };
    assert_eq!(count(), (10, 5));
    for again in [&fork[..], &[&fork[..], &["--json"]].concat()] {
        let (out, err) = said(&home, again);
        assert!(out.starts_with("0 runs") || out.contains(r#""forks":[]"#), "{out}");
        assert!(err.contains("5 runs skipped: already forked"), "{err}");
    }
    assert_eq!(count(), (10, 5));
    // A fork that fails stands for its run: only it is forked again.
    said(&home, &["cancel", &made]);
    let (out, err) = said(&home, &fork);
    assert_eq!(out, "1 run forked and queued");
    assert!(err.contains(&format!("forked {made} as ")), "{err}");
    assert_eq!(count(), (11, 5));
    // One run can still be forked as often as a person likes.
    assert_eq!(said(&home, &["fork", runs[1], "--queue"]).0, "1 run forked and queued");
    assert_eq!(count(), (12, 6));
}
