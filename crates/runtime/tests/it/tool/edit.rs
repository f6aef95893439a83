//! `edit`: what is replaced, and what is unchanged.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::{TestSession, wait};

const TEXT: &str = "fn main() {\n    let count = 1;\n    print(count);\n}\n";

#[test]
fn the_one_place_is_replaced() {
    let desk = TestSession::new("edit");
    desk.put("a.rs", TEXT);
    let path = desk.root.join("a.rs");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640))
        .expect("the owner may set permissions");
    let edit = json!({ "path": "a.rs", "old": "count = 1", "new": "count = 2" });
    let said = wait(desk.call("edit", edit));
    let first = said.output.lines().next();
    assert_eq!(first, Some("replaced 1 place in `a.rs`, at line 2"));
    assert!(said.ok && said.mutated);
    assert_eq!(desk.text("a.rs"), TEXT.replace("count = 1", "count = 2"));
    let mode = fs::metadata(&path).expect("the file exists").permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
}

#[test]
fn several_places_need_a_word() {
    let desk = TestSession::new("edit-all");
    desk.put("a.rs", TEXT);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "count", "new": "n" }));
    assert!(said.starts_with("`old` was found 2 times in `a.rs`, at lines 2, 3:"), "{said}");
    assert_eq!(desk.text("a.rs"), TEXT);
    let all = json!({ "path": "a.rs", "old": "count", "new": "n", "all": true });
    assert!(desk.does("edit", all).starts_with("replaced 2 places in `a.rs`\n"));
    assert_eq!(desk.text("a.rs"), TEXT.replace("count", "n"));
}

#[test]
fn impossible_edits_are_rejected() {
    let desk = TestSession::with("edit-odd", |settings| settings.limits.file_bytes = 60);
    desk.put("a.rs", TEXT);
    desk.put("binary", [b'a', 0, b'b']);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "main", "new": "main" }));
    assert!(said.contains("the same"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "}\r\n", "new": "}\n" }));
    assert!(said.contains("line endings"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "", "new": "x" }));
    assert!(said.contains("`old`"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "binary", "old": "a", "new": "x" }));
    assert!(said.contains("binary"), "{said}");
    let long = "x".repeat(60);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "main", "new": long }));
    assert!(said.contains("the limit is 60"), "{said}");
    assert_eq!(desk.text("a.rs"), TEXT);
}

#[test]
fn line_ends_and_encodings_are_kept() {
    let desk = TestSession::new("edit-kept");
    let wide = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_be_bytes);
        [0xfe, 0xff].into_iter().chain(units).collect()
    };
    for (name, before, after) in [
        ("crlf", b"one\r\ntwo\r\nthree\r\n".to_vec(), b"one\r\n2\r\n2b\r\nthree\r\n".to_vec()),
        ("mixed", b"one\ntwo\r\nthree\n".to_vec(), b"one\n2\r\n2b\r\nthree\n".to_vec()),
        ("open", b"one\ntwo\nthree".to_vec(), b"one\n2\n2b\nthree".to_vec()),
        (
            "marked",
            b"\xef\xbb\xbfone\ntwo\nthree\n".to_vec(),
            b"\xef\xbb\xbfone\n2\n2b\nthree\n".to_vec(),
        ),
        ("latin", b"\xe9ne\ntwo\nthree\n".to_vec(), b"\xe9ne\n2\n2b\nthree\n".to_vec()),
        ("wide", wide("one\r\ntwo\r\nthree"), wide("one\r\n2\r\n2b\r\nthree")),
    ] {
        desk.put(name, before);
        assert!(desk.does("read", json!({ "path": name })).contains("     2\ttwo\n"), "{name}");
        let edit = json!({ "path": name, "old": "two\nthree", "new": "2\n2b\nthree" });
        desk.does("edit", edit);
        let bytes = fs::read(desk.root.join(name)).expect("the file is readable");
        assert_eq!(bytes, after, "{name}");
    }
    let edit = json!({ "path": "latin", "old": "2b", "new": "→" });
    let said = desk.refuses("edit", edit);
    assert!(said.contains("stored in Latin-1, which cannot encode `→`"), "{said}");
}

#[test]
fn a_file_that_has_changed_since_is_left_alone() {
    let desk = TestSession::new("edit-stale");
    desk.put("a.rs", TEXT);
    let read = desk.does("read", json!({ "path": "a.rs" }));
    let (_, digest) = read.rsplit_once("[content ").expect("it is told");
    let digest = digest.trim_end_matches("]\n");
    desk.put("a.rs", TEXT.replace("main", "other"));
    let edit = json!({ "path": "a.rs", "old": "count = 1", "new": "count = 2", "digest": digest });
    let said = desk.refuses("edit", edit);
    assert!(
        said.starts_with("`a.rs` has changed: `digest` is ") && said.contains(digest),
        "{said}"
    );
    let write = json!({ "path": "a.rs", "content": "new", "digest": digest });
    assert!(desk.refuses("write", write.clone()).contains("has changed: `digest` is"));
    fs::remove_file(desk.root.join("a.rs")).expect("the file existed and is removed");
    assert!(desk.refuses("write", write.clone()).contains("the file is missing"));
    desk.put("a.rs", TEXT);
    desk.does("write", write);
    assert_eq!(desk.text("a.rs"), "new");
}
