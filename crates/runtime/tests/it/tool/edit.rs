//! `edit`.

use serde_json::json;

use super::{Desk, wait};

const TEXT: &str = "fn main() {\n    let count = 1;\n    print(count);\n}\n";

#[test]
fn the_one_place_is_replaced() {
    let desk = Desk::new("edit");
    desk.put("a.rs", TEXT);
    let edit = json!({ "path": "a.rs", "old": "count = 1", "new": "count = 2" });
    let said = wait(desk.call("edit", edit));
    assert_eq!(said.output, "replaced 1 place in `a.rs`, at line 2");
    assert!(said.ok && said.mutated);
    assert_eq!(desk.text("a.rs"), TEXT.replace("count = 1", "count = 2"));
}

#[test]
fn several_places_need_a_word() {
    let desk = Desk::new("edit-all");
    desk.put("a.rs", TEXT);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "count", "new": "n" }));
    assert!(said.starts_with("`old` stands 2 times in `a.rs`, at lines 2, 3:"), "{said}");
    assert_eq!(desk.text("a.rs"), TEXT);
    let all = json!({ "path": "a.rs", "old": "count", "new": "n", "all": true });
    assert_eq!(desk.does("edit", all), "replaced 2 places in `a.rs`");
    assert_eq!(desk.text("a.rs"), TEXT.replace("count", "n"));
}

#[test]
fn what_is_not_there_is_told_with_the_nearest_lines() {
    let desk = Desk::new("edit-near");
    desk.put("a.rs", TEXT);
    let said =
        desk.refuses("edit", json!({ "path": "a.rs", "old": "  let count = 1;  ", "new": "" }));
    assert!(said.contains("the nearest lines are:\n     2\t    let count = 1;"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "unlike anything", "new": "" }));
    assert!(!said.contains("nearest"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let desk = Desk::with("edit-odd", |settings| settings.limits.file_bytes = 60);
    desk.put("a.rs", TEXT);
    desk.put("binary", [b'a', 0, b'b']);
    desk.put("latin", [b'a', 0xe9]);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "main", "new": "main" }));
    assert!(said.contains("the same"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "", "new": "x" }));
    assert!(said.contains("`old`"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "binary", "old": "a", "new": "x" }));
    assert!(said.contains("binary"), "{said}");
    let said = desk.refuses("edit", json!({ "path": "latin", "old": "a", "new": "x" }));
    assert!(said.contains("not UTF-8"), "{said}");
    let long = "x".repeat(60);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": "main", "new": long }));
    assert!(said.contains("and the limit is 60"), "{said}");
    assert_eq!(desk.text("a.rs"), TEXT);
}
