//! What a run tells in the end: sources, and summaries of bounded size.

use alloc::{format, string::String, vec::Vec};

use insta::assert_snapshot;
use serde_json::json;

use super::{analyzing, assembles, begun, deciding, search, summarises};
use crate::research::{ResearchData, SEARCH, recount};

const FOUND: &str = "a.md:1: Signals are red or green.\na.md:12: A red signal means stop.\n\
    b/a.md:1: Nothing of the kind.\nc.md:3: short";

/// Returns the sources of an answer.
fn sources(answer: &str, output: &str) -> Vec<String> {
    let mut driver = begun(json!({"goal": "What is red?", "tools": [SEARCH, "files.read"]}));
    driver.tool(true, output);
    driver.say("Hm.");
    driver.say(&format!("{}", json!({"action": "finish", "final": answer})));
    assembles(&mut driver);
    let result = driver.run.data.result.clone().unwrap();
    let (told, sources) = result.split_once("\n\nSources:\n").unwrap_or((&result, ""));
    assert_eq!(told, answer);
    sources.lines().map(Into::into).collect()
}

#[test]
fn answer_is_followed_by_its_sources() {
    // Named, and not only a beginning of it: `a.md:1` is not `a.md:12` nor `b/a.md:1`.
    assert_eq!(sources("Stop (a.md:12).", FOUND), ["- a.md:12"]);
    assert_eq!(sources("See a.md:1.", FOUND), ["- a.md:1"]);
    // Quoted.
    assert_eq!(sources("It says: A red signal means stop.", FOUND), ["- a.md:12"]);
    // Only the file is named.
    assert_eq!(sources("It is told in a.md.", FOUND), ["- a.md:1", "- a.md:12"]);
    // Nothing is named: what was found.
    assert_eq!(sources("Stop.", FOUND).len(), 4);
    assert!(sources("Stop.", "no passage matches").is_empty());
    let many: Vec<String> = (0..40).map(|n| format!("a.md:{}: x", n / 2)).collect();
    let listed = sources("Stop.", &many.join("\n"));
    assert_eq!((listed.len(), listed[9].as_str()), (10, "- a.md:9"), "each once, ten at most");
}

#[test]
fn a_file_that_was_read_is_a_source() {
    let mut driver = begun(json!({"goal": "What is red?", "tools": ["files.read"]}));
    driver.say(r#"{"tool": "files.read", "args": {"path": "a.md"}}"#);
    driver.tool(true, "Red means stop.");
    driver.say(r#"{"action": "finish", "final": "Stop."}"#);
    assembles(&mut driver);
    assert_eq!(driver.run.data.result.as_deref(), Some("Stop.\n\nSources:\n- a.md"));
}

#[test]
fn stuck_summary_lists_calls_findings_and_rejections() {
    let mut driver = deciding();
    driver.say(&search("parser entry"));
    driver.tool(true, "main.rs:9: parse() calls the parser\nparser.rs:1: mod parser");
    driver.say("It is called from main.\nBut where?");
    driver.say(
        r#"{"action": "tool", "tool_name": "files.read", "tool_params": "{\"path\": \"x\"}"}"#,
    );
    driver.tool(false, "there is no file x");
    driver.say("It does not exist.");
    driver.say(r#"{"action": "tool", "tool_name": "shell"}"#);
    driver.say("Let me think.");
    driver.say("I give up.");
    summarises(&mut driver);
    assert_snapshot!(driver.run.data.summary.as_deref().unwrap());
}

#[test]
fn a_run_without_anything_has_something_to_tell() {
    let data = ResearchData::default();
    assert_snapshot!(recount::summary(&data));
}

#[test]
fn more_findings_than_are_kept_lose_the_oldest() {
    let chart = super::CHART.replace("decisions = { max = 20,", "decisions = { max = 200,");
    assert_ne!(chart, super::CHART);
    let mut driver = crate::testing::TestDriver::<super::ResearchAgent>::new(&chart, &[SEARCH]);
    driver.begin(json!({"goal": "Where?"}));
    for n in 1..=105 {
        driver.tool(true, &format!("a.md:{n}: text {n}"));
        driver.say(&format!("note {n}"));
        driver.say(&search(&format!("words {n}")));
    }
    let data = &driver.run.data;
    assert_eq!((data.findings.len(), data.forgotten), (100, 5));
    for (n, finding) in (6..).zip(&data.findings) {
        assert_eq!(finding.call.id, format!("call-{n}"));
        assert_eq!(finding.result.output, format!("a.md:{n}: text {n}"));
        assert_eq!(finding.analysis, format!("note {n}"));
    }
    assert_eq!(data.call.as_ref().unwrap().id, "call-106");
    assert_eq!(data.fruitless(), 0);
    let told = recount::summary(data);
    assert!(told.contains("Calls before the last 100: 5\nSearched (100):"), "{told}");
    // Searching in vain is still told and stopped.
    for n in 1..=6 {
        driver.tool(true, "no passage matches");
        driver.say("Nothing.");
        driver.say(&search(&format!("more {n}")));
    }
    assert_eq!((driver.state(), driver.run.data.fruitless()), ("deciding", 6));
}

#[test]
fn a_summary_is_bounded_and_always_the_same() {
    let mut driver = analyzing();
    let data = &mut driver.run.data;
    data.goal = "goal ".repeat(10_000);
    let one = data.findings[0].clone();
    for n in 0..100 {
        let mut more = one.clone();
        let lines: Vec<String> =
            (0..9).map(|m| format!("é{n}.md:{m}: {}", "é".repeat(900))).collect();
        more.result.output = lines.join("\n");
        more.analysis = "é".repeat(9_000);
        if n % 2 == 0 {
            more.call.tool = "other".into();
        }
        data.findings.push(more);
        data.turn_away(&crate::research::UnusableReply::NoSuchTool {
            tool: format!("é{n}").repeat(90),
        });
    }
    data.answer = Some("é".repeat(90_000));
    let told = recount::summary(data);
    assert!(told.len() < 16_000, "{}", told.len());
    assert!(told.contains("Best passages (901):") && told.contains("- and 893 more"), "{told}");
    assert_eq!(told, recount::summary(&data.clone()));
}

#[test]
fn skipped_files_are_reported() {
    let note = "1 file is larger than 2000 bytes and not searched: large.md";
    let mut driver = begun(json!({"goal": "What is red?"}));
    for _ in 0..2 {
        driver.tool(true, &format!("no passage matches\n[{note}]"));
        driver.say("Nothing.");
        driver.say(&search("red again"));
    }
    let told = recount::summary(&driver.run.data);
    assert!(told.contains(&format!("Not searched (1):\n- {note}\n")), "{told}");
}
