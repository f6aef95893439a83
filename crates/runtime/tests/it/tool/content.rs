//! What a file held and holds, as the governor sees it: edits that go back and forth.

use pointsman_kernel::{
    chart::StuckThresholds,
    governor::{GovernorMonitor, Level, Rule},
};
use serde_json::{Value, json};

use super::{TestSession, call, wait};

/// Edits files as a governor watches, and returns in which round it halts.
fn halted(name: &str, edits: &[Value]) -> Option<usize> {
    let desk = TestSession::new(name);
    desk.put("a.txt", "colour: red, size: 1\n");
    desk.put("b.txt", "shape: round, size: 1\n");
    let stuck = StuckThresholds { oscillation: Some(4), ..StuckThresholds::default() };
    let mut watch = GovernorMonitor::new(stuck, desk.tools.decls());
    edits.iter().zip(1..).find_map(|(edit, round)| {
        let tool = if edit.get("content").is_some() { "write" } else { "edit" };
        let edit = call(tool, edit.clone());
        assert_eq!(watch.propose(&edit), None);
        let result = wait(desk.call(
            &edit.tool,
            serde_json::from_str(edit.arguments.get()).expect("the text is valid JSON"),
        ));
        assert!(result.ok, "{}", result.output);
        let verdict = watch.observe(&edit, &result)?;
        assert_eq!((verdict.level, verdict.rule), (Level::Halt, Rule::Oscillation));
        Some(round)
    })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old": old, "new": new })
}

#[test]
fn alternating_file_is_detected_by_its_digests() {
    let edits = [
        edit("a.txt", "red", "blue"),
        edit("a.txt", "colour: blue", "colour: red"),
        edit("a.txt", "red,", "blue,"),
        json!({ "path": "a.txt", "content": "colour: red, size: 1\n" }),
    ];
    assert_eq!(halted("content-one", &edits), Some(4));
}

#[test]
fn two_files_that_go_back_and_forth_are_seen() {
    let (a, b) = ("a.txt", "b.txt");
    let edits = [
        edit(a, "red", "blue"),
        edit(b, "round", "square"),
        edit(a, ": blue", ": red"),
        edit(b, ": square", ": round"),
        edit(a, "red,", "blue,"),
        edit(b, "round,", "square,"),
        edit(a, "r: blue", "r: red"),
        edit(b, "e: square", "e: round"),
    ];
    assert_eq!(halted("content-two", &edits), Some(8));
}

#[test]
fn alternating_work_on_two_files_is_not_a_loop() {
    let edits: Vec<Value> = (1..40)
        .flat_map(|size| {
            let (old, new) = (format!("size: {size}"), format!("size: {}", size + 1));
            [edit("a.txt", &old, &new), edit("b.txt", &old, &new)]
        })
        .collect();
    assert_eq!(halted("content-work", &edits), None);
    // A word that comes and goes while the work continues elsewhere.
    let words = ["red", "blue", "red,", "blue,", "r: red", "r: blue", ": red", ": blue"];
    let edits: Vec<Value> = words
        .into_iter()
        .zip(1..)
        .flat_map(|(word, size)| {
            let (one, two) = if size % 2 == 1 { ("red", "blue") } else { ("blue", "red") };
            let (old, new) = (format!("size: {size}"), format!("size: {}", size + 1));
            [edit("a.txt", word, &word.replace(one, two)), edit("b.txt", &old, &new)]
        })
        .collect();
    assert_eq!(halted("content-elsewhere", &edits), None);
}
