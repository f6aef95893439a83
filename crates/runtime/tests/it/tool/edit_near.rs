//! `edit` without a match: what the model reads.

use serde_json::json;

use super::TestSession;

const TEXT: &str = "\
use std::io;

fn main() {
    let count = 1;
\tprint(count);
}

fn other(width: usize, height: usize) -> usize {
    width * height
}
";

#[track_caller]
fn told(old: &str, wanted: &str) {
    let desk = TestSession::new("edit-near");
    desk.put("a.rs", TEXT);
    let said = desk.refuses("edit", json!({ "path": "a.rs", "old": old, "new": "" }));
    assert!(said.contains(wanted), "{old:?}: {said}");
    assert_eq!(desk.text("a.rs"), TEXT);
}

#[test]
fn lines_that_differ_in_spaces_are_shown() {
    told(
        "fn main() {\n  let count = 1;\n  print(count);\n}",
        "Differences: indentation. Copy these lines of the file into `old`:\n     3\
         \tfn main() {\n     4\t    let count = 1;\n     5\t\tprint(count);\n     6\t}",
    );
    told("    let count  =  1;\n", "Differences: spaces within a line.");
    told("    let count = 1;  \n", "Differences: trailing spaces.");
    told("let\u{a0}count = 1;", "Differences: spaces within a line.");
    told("    width*height", "the most similar lines are");
}

#[test]
fn multiple_matches_are_counted() {
    let desk = TestSession::new("edit-near-several");
    desk.put("a", "\tx = 1\ny\n\tx = 1\n");
    let said = desk.refuses("edit", json!({ "path": "a", "old": "  x = 1", "new": "" }));
    assert!(said.contains("at 2 places") && said.contains("     3\t\tx = 1"), "{said}");
    desk.put("a", "one\ntwo");
    let said = desk.refuses("edit", json!({ "path": "a", "old": "two\n", "new": "" }));
    assert!(said.contains("line endings: the file's last line has none"), "{said}");
}

#[test]
fn the_nearest_block_is_shown_whole() {
    told(
        "fn other(width: u32, height: u32) -> u32 {\n    width * depth\n}",
        "the most similar lines are 8 to 10:\n     6\t}\n     7\t\n     8\tfn other(width: usize, \
         height: usize) -> usize {\n     9\t    width * height\n    10\t}",
    );
    let desk = TestSession::new("edit-unlike");
    desk.put("a.rs", TEXT);
    for old in ["unlike anything", "}}", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n"] {
        let said = desk.refuses("edit", json!({ "path": "a.rs", "old": old, "new": "x" }));
        assert!(!said.contains("nearest"), "{said}");
    }
}

#[test]
fn large_files_are_no_trouble() {
    let desk = TestSession::new("edit-large");
    // The same line over and over is the worst case for a search.
    let text = "    let value = compute(value, other);\n".repeat(30_000);
    desk.put("large", &text);
    let old = format!(
        "{}    let value = computed(value);",
        "let value = compute(value, other);\n".repeat(10_000)
    );
    let said = desk.refuses("edit", json!({ "path": "large", "old": old, "new": "" }));
    assert!(said.contains("the most similar lines") && said.len() < 20_000, "{}", said.len());
    let old = "let value = compute(value, other);\n".repeat(10_000);
    let said = desk.refuses("edit", json!({ "path": "large", "old": old, "new": "" }));
    assert!(said.contains("Differences: indentation") && said.len() < 20_000, "{}", said.len());
    desk.put("wide", "y ".repeat(500_000));
    let said = desk.refuses("edit", json!({ "path": "wide", "old": "y  y", "new": "" }));
    assert!(said.len() < 2000, "{}", said.len());
}
