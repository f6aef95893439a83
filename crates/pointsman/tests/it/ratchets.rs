//! Knowledge that belongs in one place and is still in several: how much of it each file has.
//! A figure may only be lowered, and a line with the figure 0 is removed.

use std::{collections::BTreeMap, fs};

use crate::tidy::{root, sources};

/// Files that name an agent, in the rooms that must know agents by their declarations. Some
/// only use the same word for something else.
const AGENTS: &[(&str, usize)] = &[
    // Another meaning: a kind of face, a font, a key of an answer, a part of an address, an operation.
    ("crates/pointsman/src/appmap/paint.rs", 2),
    ("crates/pointsman/src/command/dry.rs", 1),
    ("crates/pointsman/src/command/names.rs", 1),
    ("crates/pointsman/src/start/form.rs", 1),
    ("crates/pointsman/src/telemetry/names.rs", 1),
    ("crates/pointsman/src/draw/text.rs", 1),
    ("crates/runtime/src/model/decode/fault.rs", 3),
    ("crates/runtime/src/model/endpoint.rs", 2),
    ("crates/runtime/src/tool/shell/always.rs", 1),
    ("crates/webdriver/src/explore.rs", 1),
    // Sections of the settings.
    ("crates/runtime/src/config.rs", 4),
];

/// Files that name a tool: its own, and those that use the same word for something else.
const TOOLS: &[(&str, usize)] = &[
    // The tool's own.
    ("crates/runtime/src/tool/edit.rs", 1),
    ("crates/runtime/src/tool/git.rs", 2),
    ("crates/runtime/src/tool/http.rs", 1),
    ("crates/runtime/src/tool/list.rs", 1),
    ("crates/runtime/src/tool/read.rs", 1),
    ("crates/runtime/src/tool/search.rs", 1),
    ("crates/runtime/src/tool/shell.rs", 1),
    ("crates/runtime/src/tool/write.rs", 1),
    // Another meaning: a program, a word of a question, a right to files.
    ("crates/pointsman/src/command/doctor.rs", 3),
    ("crates/runtime/src/tool/fts/word.rs", 1),
    ("crates/runtime/src/tool/git/author.rs", 1),
    ("crates/runtime/src/tool/sandbox/landlock.rs", 2),
    ("crates/runtime/src/tool/shell/always.rs", 1),
];

/// Files of the driver, the engine and the stores whose public items take or give plain JSON.
const JSON: &[(&str, usize)] = &[];

/// Returns how often something is found in each source file of the rooms that act and of the
/// binary, tests left out.
fn found(count: impl Fn(&str) -> usize) -> BTreeMap<String, usize> {
    let mut paths = Vec::new();
    for room in ["crates/runtime/src", "crates/webdriver/src", "crates/pointsman/src"] {
        sources(&root().join(room), &mut paths);
    }
    assert!(paths.len() > 100, "the sources were not found");
    let mut found = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(root()).expect("it is below").display().to_string();
        if name.contains("tests") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("the file exists and is UTF-8");
        let count = count(text.split("\nmod tests {").next().unwrap_or_default());
        if count > 0 {
            found.insert(name, count);
        }
    }
    found
}

fn is_as_it_was(what: &str, known: &[(&str, usize)], found: &BTreeMap<String, usize>) {
    let known: BTreeMap<String, usize> =
        known.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    for (name, count) in found {
        let most = known.get(name).copied().unwrap_or(0);
        assert!(*count <= most, "{name} has {count} {what}, and may have {most}");
        assert!(*count >= most, "{name} has only {count} {what}: lower the figure {most} here");
    }
    for name in known.keys() {
        assert!(found.contains_key(name), "{name} has no {what}: remove its line here");
    }
}

fn named(text: &str, names: &[&str]) -> usize {
    names.iter().map(|name| text.matches(&format!("\"{name}\"")).count()).sum()
}

#[test]
fn agents_are_named_in_no_more_places() {
    let names: Vec<&str> = pointsman_agents::AGENTS.iter().map(|agent| agent.name).collect();
    is_as_it_was("names of agents", AGENTS, &found(|text| named(text, &names)));
}

#[test]
fn tools_are_named_in_no_more_places() {
    let names: Vec<&str> = pointsman_agents::TOOLS.iter().map(|tool| tool.name).collect();
    is_as_it_was("names of tools", TOOLS, &found(|text| named(text, &names)));
}

#[test]
fn the_driver_the_engine_and_the_stores_show_no_plain_json() {
    let shown = |text: &str| {
        let is_public = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("pub ") && line.contains("Value")
        };
        text.lines().filter(is_public).count()
    };
    let mut found = found(shown);
    found.retain(|name, _| {
        let rooms = ["driver", "engine", "executor", "journal", "session", "store", "task"];
        let room = name.strip_prefix("crates/runtime/src/").unwrap_or_default();
        rooms.iter().any(|it| room.starts_with(it))
    });
    is_as_it_was("public items with plain JSON", JSON, &found);
}
