//! What became of a call that was begun and never answered.

use pointsman_kernel::agent::ToolResult;
use serde_json::{Value, json};

use super::{TestSession, call, result, wait};

fn probe(desk: &TestSession, tool: &str, arguments: Value) -> Option<ToolResult> {
    wait(desk.tools.probe(&call(tool, arguments))).map(result)
}

#[test]
fn a_write_is_seen_in_its_file() {
    let desk = TestSession::new("probe-write");
    let write = json!({ "path": "a.txt", "content": "new\n" });
    let said = probe(&desk, "write", write.clone()).expect("the probe gives a result");
    assert!(!said.ok && !said.mutated && said.output.contains("interrupted"), "{said:?}");
    desk.put("a.txt", "old\n");
    assert!(!probe(&desk, "write", write.clone()).expect("the probe gives a result").ok);
    desk.does("write", write.clone());
    let said = probe(&desk, "write", write.clone()).expect("the probe gives a result");
    assert!(said.ok && said.mutated, "{said:?}");
    // Only a reader that has seen the file knows its earlier content.
    assert!(said.output.contains("[content unknown -> "), "{said:?}");
    let mut seen = write;
    seen["digest"] = json!("0123456789abcdef");
    let said = probe(&desk, "write", seen).expect("the probe gives a result");
    assert!(said.output.contains("[content 0123456789abcdef -> "), "{said:?}");
}

#[test]
fn an_edit_is_seen_where_it_leaves_a_trace() {
    let desk = TestSession::new("probe-edit");
    for (old, new) in [("two", "2"), ("two\n", "two\nthen\n"), ("two\n", "")] {
        desk.put("a.txt", "one\ntwo\nthree\n");
        let edit = json!({ "path": "a.txt", "old": old, "new": new });
        let before = probe(&desk, "edit", edit.clone());
        assert!(before.is_none_or(|said| !said.ok), "{old:?} {new:?}");
        desk.does("edit", edit.clone());
        let after = probe(&desk, "edit", edit).expect("the probe gives a result");
        assert!(after.ok && after.mutated, "{old:?} {new:?}: {after:?}");
        assert!(after.output.contains("[content unknown -> "), "{after:?}");
    }
    desk.put("a.txt", "one\n");
    let edit = json!({ "path": "a.txt", "old": "two", "new": "2" });
    assert!(probe(&desk, "edit", edit).is_none(), "neither is there");
}

#[test]
fn other_tools_cannot_tell() {
    let desk = TestSession::new("probe-none");
    assert!(probe(&desk, "shell", json!({ "command": "true" })).is_none());
    assert!(probe(&desk, "git", json!({ "args": ["status"] })).is_none());
    assert!(probe(&desk, "write", json!({ "path": 1 })).is_none());
    assert!(probe(&desk, "nothing", json!({})).is_none());
}
