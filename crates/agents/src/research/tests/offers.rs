//! What a run is given: its tools, its limits, and the phrases that turn tools off.

use alloc::{string::String, vec::Vec};

use pointsman_kernel::chart::Disposition;
use serde_json::{Value, json};

use super::{FINISH, assembles, begun, search};
use crate::{
    research::{ResearchData, SEARCH, recount},
    testing::raw,
};

fn configured(config: &Value) -> Result<ResearchData, String> {
    let mut data = ResearchData::default();
    data.configure(&raw(config)).map_err(|error| error.0).map(|()| data)
}

fn offered(goal: &str) -> Vec<String> {
    let tools = json!([SEARCH, "search", "read"]);
    let data = configured(&json!({"goal": goal, "tools": tools})).unwrap();
    data.tools.tools().iter().map(|tool| tool.name.as_ref().into()).collect()
}

#[test]
fn a_goal_may_turn_tools_off() {
    for goal in ["No tools, please", "Explain it without tools.", "use no tools", "Don't use tools"]
    {
        assert!(offered(goal).is_empty(), "{goal}");
    }
    for goal in ["Do NOT search. Read a.md", "What does a.md say? No search!"] {
        assert_eq!(offered(goal), ["read"], "{goal}");
    }
    for goal in ["Please do not search, but read a.md", "Answer (without searching)."] {
        assert_eq!(offered(goal), ["read"], "{goal}");
    }
    for goal in ["Do not search for anything.", "Without a search at all, name it."] {
        assert_eq!(offered(goal), ["read"], "{goal}");
    }
    for goal in [
        "Who sets the points? Do not search the web.",
        "Don't search for synonyms, just tell me who sets the points",
        "Explain what happens to a run without tools",
        "List the states without tools.",
        "Without searching the web, who sets the points?",
        "Why are there no search results?",
        "Which tools are there?",
        "no tools here?",
        "Why does the registry say there are no tools?",
        "What happens where the goal says do not search",
        "Does a run end without tools?",
        "Find the rule that says \"do not use tools\" and quote it.",
        "List the states that have no tools.",
        "Compare runs without toolsets.",
    ] {
        assert_eq!(offered(goal).len(), 3, "{goal}");
    }
}

#[test]
fn answer_names_tools_disabled_by_the_goal() {
    let mut driver = begun(json!({"goal": "What is red? Do not search."}));
    driver.say(FINISH);
    assembles(&mut driver);
    let told = driver.run.data.result.clone().unwrap();
    assert!(told.ends_with(
        "(The documents were not searched: the goal says \u{201c}do not search\u{201d}.)"
    ));
}

#[test]
fn advice_names_the_phrase_that_disabled_the_search() {
    let mut driver = begun(json!({"goal": "What is red? Do not search."}));
    for _ in 0..3 {
        driver.say("I do not know.");
    }
    let told = recount::summary(&driver.run.data);
    assert!(
        told.ends_with(
            "next: leave out of the goal what turned the search off, or ask another model."
        ),
        "{told}"
    );
}

#[test]
fn without_tools_a_goal_is_thought_about() {
    for config in [
        json!({"goal": "What is 2 + 2?", "tools": false}),
        json!({"goal": "Explain it. Do NOT search."}),
        json!({"goal": "Explain it.", "tools": []}),
    ] {
        let mut driver = begun(config);
        assert_eq!(driver.state(), "deciding");
        driver.say(&search("two"));
        assert_eq!(driver.state(), "deciding", "a search is refused");
        assert!(driver.run.data.advice.lines().eq(["tools are off: finish"]));
        driver.say(FINISH);
        assembles(&mut driver);
        assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    }
}

#[test]
fn tools_without_a_search_are_decided_over_first() {
    let driver = begun(json!({"goal": "What does a.md say?", "tools": ["files.read"]}));
    assert_eq!(driver.states(), ["init", "deciding"]);
}

#[test]
fn tool_is_described_by_name_parameters_and_line() {
    let parameters = json!({
        "type": "object",
        "properties": {"lines": {"type": "string"}, "path": {"type": "string"}},
        "required": ["path"],
    });
    let read = json!({"name": "read", "about": "Reads\na file.", "parameters": parameters});
    let data = configured(&json!({"goal": "x", "tools": [read, SEARCH, "list"]})).unwrap();
    let lines: Vec<String> =
        data.tools.tools().iter().map(super::super::OfferedTool::line).collect();
    assert_eq!(lines[0], "- read(path, lines?): Reads a file.");
    assert!(lines[1].starts_with("- context.fts_search(query): finds passages"));
    assert_eq!(lines[2], "- list()");
}

#[test]
fn invalid_configuration_is_explained() {
    let many: Vec<String> = (0..65).map(|n| alloc::format!("t{n}")).collect();
    for (config, why) in [
        (json!({"goal": "x", "tools": "all"}), "`tools` must be true, false or a list"),
        (json!({"goal": "x", "tools": [1]}), "a tool is a name or"),
        (json!({"goal": "x", "tools": ["a b"]}), "`a b` is not a valid tool name"),
        (json!({"goal": "x", "tools": [{"about": "x"}]}), "`` is not a valid tool name"),
        (json!({"goal": "x", "tools": [{"name": "a", "run": "x"}]}), "not `run`"),
        (json!({"goal": "x", "tools": ["a", "a"]}), "names `a` twice"),
        (json!({"goal": "x", "tools": many}), "the limit is 64"),
        (json!({"goal": "x", "limits": {"tokens": 1}}), "unknown field `tokens`"),
        (json!({"goal": "x", "limits": {"prompt_tokens": 100}}), "set `limits.prompt_tokens` to"),
        (json!({"goal": "x".repeat(40_000)}), "shorten the goal"),
    ] {
        let error = configured(&config).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}
