//! Runs as people meet them, over a folder of documents that nobody here wrote for it.

use std::{fs, path::Path, process::Command};

use insta::assert_snapshot;
use serde_json::Value;

use crate::Folder;

struct Home(Folder);

impl Home {
    fn new(name: &str) -> Self {
        let home = Folder::new(name);
        fs::create_dir_all(home.0.join("docs")).expect("it is made");
        let file = |name: &str, text: &str| fs::write(home.0.join("docs").join(name), text);
        file("signals.md", "# Signals\n\nA red signal means stop.\nA green one means go.\n")
            .expect("it is written");
        file("points.md", "# Points\n\nThe pointsman sets the points before the train comes.\n")
            .expect("it is written");
        Self(home)
    }

    fn pointsman(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .current_dir(&self.0.0)
            .env_clear()
            .env("POINTSMAN_JOURNAL", self.0.0.join("state/journal.db"))
            .env("XDG_CACHE_HOME", self.0.0.join("cache"))
            .env("HOME", &self.0.0)
            .output()
            .expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("it is text");
        let code = output.status.code().expect("it was not killed");
        (code, text(output.stdout), text(output.stderr))
    }

    /// Runs `research` and returns its id.
    fn research(&self, question: &str) -> String {
        let (code, out, shown) =
            self.pointsman(&["run", "research", question, "--in", "docs", "--json"]);
        assert_eq!(code, 0, "{out}{shown}");
        let said: Value = serde_json::from_str(&out).expect("it is JSON");
        said["run"].as_str().expect("it has an id").to_owned()
    }
}

#[test]
fn research_answers_with_file_and_line() {
    let home = Home::new("run");
    let (code, out, shown) =
        home.pointsman(&["run", "research", "Who sets the points?", "--in", "docs"]);
    assert_eq!(code, 0, "{shown}");
    assert_snapshot!(out);
    // The id is new each time.
    let progress: Vec<&str> = shown.lines().filter(|line| !line.starts_with("succeeded")).collect();
    assert_snapshot!(progress.join("\n"));
}

#[test]
fn a_run_is_kept_shown_explained_and_replayed() {
    let home = Home::new("kept");
    let run = home.research("What does a red signal mean?");
    let (_, listed, _) = home.pointsman(&["runs"]);
    assert!(listed.starts_with(&run) && listed.contains("succeeded"), "{listed}");
    let (_, shown, _) = home.pointsman(&["show", &run, "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    assert_eq!(shown["run"]["ended"], "succeeded");
    let visited: Vec<&Value> = shown["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|step| step["hops"].as_array().expect("a list"))
        .map(|hop| &hop["to"])
        .collect();
    assert_eq!(visited, ["init", "searching", "analyzing", "deciding", "finishing", "done"]);
    let (code, why, _) = home.pointsman(&["why", &run, "2"]);
    assert_eq!(code, 0);
    assert!(why.contains("searching → analyzing: ok"), "{why}");
    assert!(why.contains("not taken: timeout → stuck_search"), "{why}");
    let (code, replayed, _) = home.pointsman(&["replay", &run]);
    assert_eq!((code, replayed.as_str()), (0, "5 entries replayed, byte for byte: in `done`\n"));
    let (_, exported, _) = home.pointsman(&["export", &run]);
    assert_eq!(exported.lines().count(), 5);
    // A run that has ended stays as it is.
    let (code, _, _) = home.pointsman(&["resume", &run, "--in", "docs"]);
    assert_eq!(code, 0);
    assert_eq!(home.pointsman(&["export", &run]).1, exported);
}

#[test]
fn a_changed_journal_is_told_with_its_entry() {
    let home = Home::new("changed");
    let run = home.research("What does a green signal mean?");
    let journal = home.0.0.join("state/journal.db");
    change(&journal, b"red signal", b"rod signal");
    let (code, _, told) = home.pointsman(&["replay", &run]);
    assert_eq!(code, 9, "{told}");
    assert!(told.contains("entry "), "{told}");
}

/// Replaces bytes of the same length in every file of the journal.
fn change(journal: &Path, from: &[u8], to: &[u8]) {
    let mut changed = 0;
    for entry in fs::read_dir(journal.parent().expect("a folder")).expect("it is listed") {
        let path = entry.expect("it is listed").path();
        let mut bytes = fs::read(&path).expect("it is read");
        for at in 0..bytes.len().saturating_sub(from.len()) {
            if bytes[at..].starts_with(from) {
                bytes[at..at + to.len()].copy_from_slice(to);
                changed += 1;
            }
        }
        fs::write(&path, bytes).expect("it is written");
    }
    assert!(changed > 0, "the text was not found");
}

#[test]
fn what_cannot_be_done_is_told() {
    let home = Home::new("told");
    let (code, plan, _) = home.pointsman(&["run", "research", "x", "--dry-run"]);
    assert_eq!(code, 0);
    assert!(plan.contains("state visits"), "{plan}");
    assert!(!home.0.0.join("state").exists(), "a plan writes nothing");
    for (arguments, code, words) in [
        (&["run", "chat", "hello"][..], 2, "cannot be run yet"),
        (&["show", "nosuchrun"], 10, "`pointsman runs` lists them"),
        (&["show", "no such run"], 2, "is no run id"),
        (&["run", "research", "x", "--in", "nowhere"], 10, "cannot read nowhere"),
    ] {
        let (found, _, told) = home.pointsman(arguments);
        assert_eq!(found, code, "{arguments:?}: {told}");
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}
