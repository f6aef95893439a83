//! The table of failures in `docs/fleet.md`: each row names checks that exist.
//!
//! The last cell of a row has parts like "`chaos` kills workers: RULE, RULE; `fleet`: TEST". Rules are
//! those of the storm's checker; a test is named by its function, with spaces.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::tidy::{root, sources};

/// The checker of the `chaos` tier, and of `cargo xtask soak fleet`.
const CHECKER: &str = "xtask/src/chaos/check.rs";

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).expect("the file exists and is UTF-8")
}

/// Returns the cells of the table below a heading, row by row, without its head.
fn rows<'a>(document: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, after) = document.split_once(heading).expect("the heading is there");
    let table = after.lines().skip_while(|line| !line.starts_with('|'));
    let table = table.take_while(|line| line.starts_with('|')).skip(2);
    table.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Returns the rules that the checker of a storm reports.
fn rules(checker: &str) -> BTreeSet<&str> {
    let (_, after) = checker.split_once("fn rule(self)").expect("rules have names");
    let (names, _) = after.split_once("\n    }\n").expect("the function has an end");
    names.lines().filter_map(|line| line.split('"').nth(1)).collect()
}

/// Returns the names of the tests in a file, with spaces.
fn tests(text: &str) -> BTreeSet<String> {
    let mut is_test = false;
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        let name = line.trim_start_matches("async ").strip_prefix("fn ");
        if let Some((name, _)) = name.and_then(|it| it.split_once('(')) {
            if is_test {
                found.insert(name.replace('_', " "));
            }
            is_test = false;
        }
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    }
    found
}

/// Returns what a tier can name.
fn checks_of(tier: &str, files: &[(PathBuf, String)], storm: &BTreeSet<&str>) -> BTreeSet<String> {
    let of = |part: &str| {
        let files = files.iter().filter(|(path, _)| path.to_string_lossy().contains(part));
        files.flat_map(|(_, text)| tests(text)).collect()
    };
    match tier {
        "chaos" | "cargo xtask soak fleet" => storm.iter().map(|rule| (*rule).into()).collect(),
        "fleet" => of("postgres"),
        "model" => of("xtask/model/"),
        "unit" => of("/tests/"),
        _ => BTreeSet::new(),
    }
}

/// Returns what is wrong with the last cell of a row.
fn complaints(cell: &str, has: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for part in cell.split(';') {
        let tier = part.split('`').nth(1).unwrap_or_default();
        let Some((_, names)) = part.split_once(": ") else {
            wrong.push(format!("`{part}` names no check"));
            continue;
        };
        for name in names.split(',').map(str::trim) {
            if !has(tier, name) {
                wrong.push(format!("`{tier}` has no check \"{name}\""));
            }
        }
    }
    wrong
}

#[test]
fn every_failure_in_the_documents_names_a_check_that_exists() {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    let files: Vec<(PathBuf, String)> =
        found.into_iter().map(|it| (it.clone(), read(it))).collect();
    let (checker, document) = (read(CHECKER), read("docs/fleet.md"));
    let storm = rules(&checker);
    assert!(storm.len() > 10, "the rules were not found: {storm:?}");
    let tiers = ["chaos", "cargo xtask soak fleet", "fleet", "model", "unit"];
    let known = tiers.map(|tier| (tier, checks_of(tier, &files, &storm)));
    let has = |tier: &str, name: &str| {
        known.iter().any(|(known, checks)| *known == tier && checks.contains(name))
    };
    let rows = rows(&document, "\n## Failures\n");
    assert!(rows.len() > 10, "the table was not found: {rows:?}");
    let mut wrong = Vec::new();
    for row in &rows {
        let [failure, _, checks] = row.as_slice() else { panic!("a row has three cells: {row:?}") };
        wrong.extend(complaints(checks, has).into_iter().map(|it| format!("{failure}: {it}")));
    }
    // What a storm looks for without a failure to name it for would be in no guide.
    let cells: Vec<&str> = rows.iter().filter_map(|row| row.last().copied()).collect();
    for rule in storm {
        if !cells.iter().any(|cell| cell.contains(rule)) {
            wrong.push(format!("no row names the rule \"{rule}\""));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_check_that_does_not_exist_is_found() {
    let has = |tier: &str, name: &str| tier == "chaos" && name == "every run ends";
    assert!(complaints("`chaos` kills workers: every run ends", has).is_empty());
    let wrong = complaints("`chaos` kills: every run ends, no gap; `fleet`: every run ends", has);
    assert_eq!(
        wrong,
        ["`chaos` has no check \"no gap\"", "`fleet` has no check \"every run ends\""]
    );
    assert_eq!(complaints("`chaos` kills workers", has).len(), 1);
    let text = "#[test]\nfn it_holds() {}\nfn helper() {}\n#[tokio::test]\n#[ignore]\nasync fn so_does_this() {}";
    let names: Vec<String> = tests(text).into_iter().collect();
    assert_eq!(names, ["it holds", "so does this"]);
}
