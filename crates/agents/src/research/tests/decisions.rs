//! Reading decisions: tolerant of form, strict about the offer.

use alloc::{format, string::String, vec};

use pointsman_kernel::agent::{Answer, Reply, ToolCall};
use serde_json::json;

use super::{deciding, last_words, prompt, summarises};
use crate::{
    research::{Decision, SEARCH, ToolList, read},
    testing::raw,
};

fn offer(names: &[&str]) -> ToolList {
    ToolList::read(&json!(names)).unwrap()
}

fn shown(text: &str, offer: &ToolList) -> String {
    match read(text, offer) {
        Ok(Decision::Search { query }) => format!("search {query}"),
        Ok(Decision::Tool { tool, arguments }) => format!("{tool} {}", arguments.get()),
        Ok(Decision::Finish { text }) => format!("finish {text}"),
        Err(why) => format!("no: {why}"),
    }
}

#[test]
fn decisions_are_found_in_surrounding_text() {
    let offer = offer(&[SEARCH, "files.read", "t"]);
    for (text, expected) in [
        (r#"{"action":"finish","final":"a } b { \" } c"}"#, r#"finish a } b { " } c"#),
        (r#"Sure {really}! {"action":"finish","answer":"x"} Bye }"#, "finish x"),
        ("{\"action\":\"finish\",\"final\":\"no\"}\n```json\n{\"tool\":\"t\"}\n```", "t {}"),
        (r#"{"action":"Search","query":"a b"}"#, "search a b"),
        (r#"{"action":"tool","tool":"context/fts_search","args":{"q":"x"}}"#, "search x"),
        (r#"{"action":"look","tool_name":"files.read","args":[1]}"#, "files.read {}"),
        (r#"{"tool":"t","arguments":{"b":{"d":1,"c":2},"a":1}}"#, r#"t {"a":1,"b":{"c":2,"d":1}}"#),
        (r#"{"action":"tool","tool":"context.fts_search"}"#, "no: a search needs a `query`"),
        (r#"{"action":"finish"}"#, "no: to finish, give the answer as `final`"),
        (
            r#"{"action":"finish","final":"A red signal means stop (signals.md:3)."}"#,
            "no: that is the example: give the answer to the question itself",
        ),
        (r#"{"action":"fly"}"#, "no: there is no action `fly`"),
        (r#"{"action":"tool"}"#, "no: to use a tool, name it as `tool_name`"),
        (r#"{"thought":"hm"}"#, "no: the reply has no `action`"),
        (
            r#"{"action":"reason","tool":"t"}"#,
            "no: a decision is a search, a tool or the end, not a thought",
        ),
        (r#"[1, 2] {"action": "#, "no: no JSON object could be read in the reply"),
        ("```\nno json\n``` {\"action\":\"finish\",\"final\":\"é\"}", "finish é"),
        // An object that is not a decision comes before one that is.
        (r#"{"note": 1} {"action":"search","query":"x"}"#, "search x"),
        (r#"{"decision": {"action":"search","query":"x"}}"#, "search x"),
        // What was thought aloud does not count.
        (
            r#"<think>{"action":"finish","final":"no"}</think>{"action":"search","query":"x"}"#,
            "search x",
        ),
        // Lines broken within a string, and a tab.
        ("{\"action\":\"finish\",\n\"final\":\"one\ntwo\tthree\r\n\"}", "finish one\ntwo\tthree"),
        ("{\"tool\":\"t\",\"args\":\"{\\\"a\\\": \\\"1\n2\\\"}\"}", r#"t {"a":"1\n2"}"#),
        (
            "{\"action\":\"finish\",\"final\":\"a\x01b\"",
            "no: no JSON object could be read in the reply",
        ),
        // As a model writes that is held to the schema: every key, most of them empty.
        (
            r#"{"action":"tool","final":"","query":"","tool_name":"t","tool_params":"{\"a\": 1}"}"#,
            r#"t {"a":1}"#,
        ),
        (
            r#"{"action":"search","final":"","query":"x","tool_name":"none","tool_params":"{}"}"#,
            "search x",
        ),
        (r#"{"action":"search","query":"x","tool_name":"t"}"#, "search x"),
        (
            r#"{"action":"tool","tool_name":"none","tool_params":"{}"}"#,
            "no: to use a tool, name it as `tool_name`",
        ),
        (
            r#"{"action":"tool","tool_name":"t","tool_params":"a"}"#,
            "no: the arguments are no JSON object",
        ),
        // The action in the tool's place, and the other way round.
        (r#"{"action":"files_read","args":{"path":"a"}}"#, r#"files.read {"path":"a"}"#),
        (r#"{"action":"tool","tool_name":"search","args":{"query":"x"}}"#, "search x"),
        (r#"{"action":"tool","tool_name":"finish","args":{"final":"x"}}"#, "finish x"),
    ] {
        assert_eq!(shown(text, &offer), expected, "{text}");
    }
    assert!(read(&"{".repeat(100_000), &offer).is_err());
}

#[test]
fn unambiguous_tool_names_are_corrected() {
    let offer = offer(&["docs.read_file", "Docs/List", "a.b", "a_b"]);
    for (name, meant) in [
        ("docs.read_file", Some("docs.read_file")),
        ("docs_read_file", Some("docs.read_file")),
        ("docs/read-file", Some("docs.read_file")),
        ("docs__list", Some("Docs/List")),
        ("a.b", Some("a.b")),
        ("a_b", Some("a_b")),
        // Two could be meant.
        ("a/b", None),
        ("docs.read", None),
        ("", None),
    ] {
        assert_eq!(offer.find(name), meant, "{name}");
    }
}

#[test]
fn decision_for_an_unoffered_tool_is_invalid() {
    let search = r#"{"action":"search","query":"x"}"#;
    let shell = r#"{"action":"tool","tool_name":"shell","args":{"command":"ls"}}"#;
    let (all, other, none) = (offer(&[SEARCH]), offer(&["read"]), offer(&[]));
    assert_eq!(shown(shell, &all), "no: there is no tool `shell` here");
    assert_eq!(shown(search, &other), "no: the search is off here");
    assert_eq!(shown(search, &none), "no: tools are off: finish");
    assert_eq!(shown(shell, &none), "no: tools are off: finish");
    let long = json!({"action": "search", "query": "x".repeat(5_000)});
    assert!(shown(&format!("{long}"), &all).contains("longer than"));
    let long = json!({"tool": "read", "args": {"path": "x".repeat(5_000)}});
    assert!(shown(&format!("{long}"), &other).contains("longer than"));
}

#[test]
fn unknown_tool_is_explained_and_three_are_stuck() {
    let mut driver = deciding();
    let call = |tool: &str| {
        let arguments = raw(&json!({"command": "ls"}));
        let call = ToolCall { id: "x".into(), tool: tool.into(), arguments };
        Answer::Model(Reply { text: String::new(), calls: vec![call] })
    };
    driver.answer_last(call("shell"));
    assert_eq!(driver.state(), "deciding", "it was not called");
    driver.wake();
    let told = prompt(&driver);
    let advice =
        "Advice: there is no tool `shell` here. Allowed: search, tool (files.read), finish.";
    assert!(last_words(&told).ends_with(advice), "{}", last_words(&told));
    driver.answer_last(call("bash"));
    driver.wake();
    let told = prompt(&driver);
    assert!(last_words(&told).contains("`bash`") && !last_words(&told).contains("`shell`"));
    driver.answer_last(call("sh"));
    assert_eq!(driver.states(), ["stuck_decide"]);
    summarises(&mut driver);
    let summary = driver.run.data.summary.as_deref().unwrap();
    assert!(summary.contains("It stopped in `deciding`: there is no tool `sh` here."), "{summary}");
    assert!(summary.contains("Refused (2):\n- there is no tool `shell` here"), "{summary}");
}

#[test]
fn a_mangled_name_calls_the_tool_that_the_host_knows() {
    let mut driver = deciding();
    driver.say(
        r#"{"action": "tool", "tool_name": "files_read", "tool_params": "{\"path\": \"a\"}"}"#,
    );
    assert_eq!(driver.states(), ["acting"]);
    assert_eq!(driver.run.data.call.as_ref().unwrap().tool, "files.read");
}
