//! What servers offer, and what rules over it mean.

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level, Permissions},
    id::At,
    tool::ToolEffect,
};
use serde_json::json;

use super::*;

fn tools(list: Value) -> Vec<Tool> {
    serde_json::from_value(list).unwrap()
}

fn names(names: &[&str], room: usize) -> Vec<String> {
    unique(names.iter().copied(), room)
}

#[test]
fn names_are_safe_and_unique_and_the_safe_ones_keep_theirs() {
    assert_eq!(names(&["a b", "a.b", "a_b", "a/b"], 9), ["a_b_2", "a_b_3", "a_b", "a_b_4"]);
    assert_eq!(names(&["", "é", "_"], 9), ["__2", "__3", "_"]);
    assert_eq!(names(&["abcdef", "abcdeg", "abcdeh"], 5), ["abcde", "abc_2", "abc_3"]);
}

#[test]
fn a_servers_word_counts_only_when_a_person_says_so() {
    let list = json!([
        {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": true}},
        {"name": "put", "inputSchema": {}, "annotations": {"idempotentHint": true}},
        {"name": "send", "inputSchema": {}}
    ]);
    let decls = |believed| {
        let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
        offered.into_iter().map(|offered| offered.decl).collect::<Vec<_>>()
    };
    let foreign = |name: &str| ToolDecl { foreign: true, ..ToolDecl::unknown(name) };
    let unknown = ["look", "put", "send"].map(|tool| foreign(&format!("mcp.s.{tool}")));
    assert_eq!(decls(false), unknown);
    let [look, put, send] = decls(true).try_into().unwrap();
    assert_eq!((look.effect, look.recovery), (ToolEffect::Read, Recovery::Retry));
    assert_eq!((put.effect, put.recovery), (ToolEffect::Write, Recovery::Retry));
    assert_eq!(send, foreign("mcp.s.send"));
}

/// Five ways for a server to describe the same tool.
fn schemas() -> [Value; 5] {
    let text = json!({"type": "string"});
    [
        json!({"type": "object"}),
        json!({"properties": {"path": text, "command": text}}),
        json!({"allOf": [{"properties": {"path": text, "command": text}}]}),
        json!({"properties": {"path": {"type": ["integer", "null"]}, "command": {"type": "number"}}}),
        json!({"$defs": {"t": text}, "patternProperties": {".*": {"$ref": "#/$defs/t"}}}),
    ]
}

/// Returns whether a rule matches a call of a tool with this schema.
fn fits(schema: &Value, level: Level, (name, pattern): (&str, &str), value: &str) -> bool {
    let list = json!([{"name": "t", "inputSchema": schema}]);
    let (offered, left_out) = offered("s", false, tools(list), &McpLimits::default());
    assert!(left_out.is_empty());
    let arguments = vec![(name.to_owned(), pattern.to_owned())];
    let rule = Grant { tool: "mcp.s.t".into(), arguments, level, until: None };
    let otherwise = if level == Level::Allow { Level::Ask } else { Level::Allow };
    let permissions = Permissions { otherwise, rules: vec![rule], attended: true };
    let arguments = serde_json::value::to_raw_value(&json!({ name: value })).unwrap();
    let call = ToolCall { id: "1".into(), tool: "mcp.s.t".into(), arguments };
    permissions.deciding(&call, Some(&offered[0].decl), At(0)).is_some()
}

#[test]
fn path_rule_of_an_mcp_tool_matches_every_spelling() {
    for schema in schemas() {
        for path in [
            "secrets/key",
            "./secrets/key",
            ".//secrets//./key",
            "a/../secrets/key",
            "a/b/../../secrets/key",
            "secrets/../secrets/key",
            "secrets\\key",
            ".\\secrets\\key",
            "a\\..\\secrets\\key",
            " secrets/key",
            "\tsecrets/key\n",
            "secrets",
            "secrets/",
        ] {
            let denied = fits(&schema, Level::Refuse, ("path", "secrets/*"), path);
            assert!(denied, "{path:?} is not denied with {schema}");
        }
        for path in ["src/../secrets/key", "src/..", "src/a/../../b", "./src/../x", "src\\..\\x"] {
            let allowed = fits(&schema, Level::Allow, ("path", "src/*"), path);
            assert!(!allowed, "{path:?} is allowed with {schema}");
        }
        for path in ["src/a", "src/a/b.rs", "src/a..b"] {
            assert!(fits(&schema, Level::Allow, ("path", "src/*"), path), "{path:?}");
            assert!(!fits(&schema, Level::Refuse, ("path", "secrets/*"), path), "{path:?}");
        }
    }
}

#[test]
fn command_rule_of_an_mcp_tool_allows_no_second_command() {
    let tricks = [
        "cargo test; rm -rf /",
        "cargo test;rm -rf /",
        "cargo test && rm -rf /",
        "cargo test &rm -rf /",
        "cargo test || rm -rf /",
        "cargo test | sh",
        "cargo test |& sh",
        "cargo test $(rm -rf /)",
        "cargo test `rm -rf /`",
        "cargo test ${x}",
        "cargo test $x",
        "cargo test $'\\n'rm",
        "cargo test > ~/.bashrc",
        "cargo test >> ~/.bashrc",
        "cargo test 2> ~/.bashrc",
        "cargo test &> ~/.bashrc",
        "cargo test < /etc/passwd",
        "cargo test <<< x",
        "cargo test << EOF",
        "cargo test <(rm)",
        "cargo test >(rm)",
        "cargo test (rm)",
        "cargo test\nrm -rf /",
        "cargo test\r\nrm -rf /",
        "cargo test\rrm -rf /",
        "cargo test\u{b}rm -rf /",
        "cargo test\u{c}rm -rf /",
        "cargo test\0rm -rf /",
        "cargo test\trm",
        "cargo test\u{85}rm -rf /",
        "cargo test\u{2028}rm -rf /",
        "cargo test\u{2029}rm -rf /",
        "cargo test \\\nrm",
        "cargo test \\; rm",
        "cargo test \"a\"; rm",
        "cargo\ttest",
        "cargo\u{a0}test",
        "RUSTC=evil cargo test",
        "env cargo test",
        " cargo test",
        "cargo",
        "cargotest",
        "./cargo test",
    ];
    assert!(tricks.len() >= 40);
    for schema in schemas() {
        for command in tricks {
            let allowed = fits(&schema, Level::Allow, ("command", "cargo *"), command);
            assert!(!allowed, "{command:?} is allowed with {schema}");
        }
        for command in ["cargo test", "cargo test --lib -- a::b", "cargo run ünïcode"] {
            assert!(fits(&schema, Level::Allow, ("command", "cargo *"), command), "{command}");
        }
        // A pattern may have such signs itself, and then a command must have the same.
        let piped = ("command", "cargo test * | tail");
        assert!(fits(&schema, Level::Allow, piped, "cargo test a | tail"));
        assert!(!fits(&schema, Level::Allow, piped, "cargo test a; b | tail"));
    }
}

#[test]
fn arguments_that_may_be_text_count_as_paths() {
    let list = json!([{"name": "look", "annotations": {"readOnlyHint": true}, "inputSchema": {
        "properties": {"path": {"type": "string"}, "paths": {"type": "array"}, "any": {},
            "some": {"type": ["null", "string"]}, "count": {"type": "integer"}}
    }}]);
    for believed in [false, true] {
        let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
        let mut paths = offered[0].decl.paths.clone();
        paths.sort();
        assert_eq!(paths, ["any", "path", "paths", "some"].map(Box::from));
    }
}

#[test]
fn defaults_of_arguments_are_declared() {
    let list = json!([{"name": "look", "annotations": {"readOnlyHint": true}, "inputSchema": {
        "properties": {"path": {"default": "."}, "deep": {"default": true}, "q": {}}
    }}]);
    for believed in [false, true] {
        let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
        let mut defaults = offered[0].decl.defaults.clone();
        defaults.sort();
        let wanted = [("deep", "true"), ("path", "\".\"")];
        assert_eq!(defaults, wanted.map(|(name, json)| (name.into(), json.into())));
    }
}

#[test]
fn arguments_that_do_not_fit_are_not_repeated() {
    let many: Vec<String> = (0..1000).map(|n| format!("value {n}")).collect();
    let list = json!([{"name": "put", "inputSchema": {"type": "object", "properties": {
        "text": {"maxLength": 10}, "kind": {"enum": many}
    }}}]);
    let (offered, _) = offered("s", false, tools(list), &McpLimits::default());
    let long = json!({ "text": "whole file ".repeat(1000), "kind": "none" });
    let said = offered[0].check(long.as_object().unwrap()).unwrap_err();
    assert!(!said.contains("whole file") && said.len() < 1000, "{said}");
    assert!(said.contains("at /text: ") && said.contains("at /kind: "), "{said}");
}

#[test]
fn invalid_arguments_are_explained() {
    let list = json!([{"name": "add", "description": "Adds numbers", "inputSchema": {
        "type": "object", "required": ["a", "b"],
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}}
    }}]);
    let limits = McpLimits { about: 4, ..McpLimits::default() };
    let (offered, _) = offered("s", false, tools(list), &limits);
    let add = offered.first().unwrap();
    assert_eq!(&*add.spec.about, "Adds");
    let check = |arguments: Value| add.check(arguments.as_object().unwrap());
    assert_eq!(check(json!({"a": 1, "b": 2.5})), Ok(()));
    let said = "invalid arguments: \"b\" is a required property; \
                at /a: value is not of type \"number\"";
    assert_eq!(check(json!({"a": "x"})), Err(said.into()));
}

#[test]
fn a_tool_whose_schema_cannot_be_used_is_left_out_alone() {
    let list = json!([
        {"name": "odd", "inputSchema": {"type": "nothing"}},
        {"name": "far", "inputSchema": {"$ref": "https://example.org/schema.json"}},
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "vast", "inputSchema": {"type": "object", "title": "x".repeat(200)}}
    ]);
    let limits = McpLimits { schema: 200, ..McpLimits::default() };
    let (offered, left_out) = offered("s", false, tools(list), &limits);
    assert_eq!(offered.iter().map(|tool| &*tool.original).collect::<Vec<_>>(), ["good"]);
    assert_eq!(
        left_out.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
        ["far", "odd", "vast"]
    );
}
