//! Rules that stop a call match every spelling of a path, and values that are not text.

use pointsman_kernel::governor::Level::{self, Allow, Ask, Refuse};

use super::permissions::{judged, may, rule};

#[test]
fn no_spelling_of_a_path_bypasses_a_rule_that_refuses_or_asks() {
    for level in [Refuse, Ask] {
        for pattern in ["secrets/*", "./secrets/*", "secrets//*", "secrets/./*"] {
            for tool in ["read", "edit", "search"] {
                let permissions = may(Allow, vec![rule(tool, &[("path", pattern)], level)]);
                let path =
                    |path: &str| judged(&permissions, tool, &format!(r#"{{"path":{path}}}"#));
                for spelling in [
                    r#""secrets/key""#,
                    r#""./secrets/key""#,
                    r#"".//secrets/./key""#,
                    r#""secrets//key""#,
                    r#""secrets/key/""#,
                    r#""secrets\/\u006bey""#,
                    r#""secrets""#,
                    r#""secrets/""#,
                    r#""./secrets/.""#,
                ] {
                    assert_eq!(path(spelling), level, "{tool} {pattern} {spelling}");
                }
                for other in [r#""src/key""#, r#""secretsx/key""#, r#""a/secrets/key""#, r#"".""#] {
                    assert_eq!(path(other), Allow, "{tool} {pattern} {other}");
                }
            }
        }
    }
    // An argument that is not a path is a text like any other.
    let permissions = may(Allow, vec![rule("shell", &[("command", "rm *")], Refuse)]);
    assert_eq!(judged(&permissions, "shell", r#"{"command":"./rm a"}"#), Allow);
}

#[test]
fn nested_and_parent_paths_are_matched() {
    let permissions = may(Allow, vec![rule("read", &[("path", "secrets/*")], Refuse)]);
    let judged = |arguments: &str| judged(&permissions, "read", arguments);
    let deep = ["[".repeat(70), "]".repeat(70)].concat();
    assert_eq!(judged(&format!(r#"{{"a":{deep},"path":"secrets/key"}}"#)), Refuse);
    assert_eq!(judged(&format!(r#"{{"a":{deep},"path":"src/key"}}"#)), Allow);
    assert_eq!(judged(r#"{"path":"src/../secrets/key"}"#), Refuse);
    assert_eq!(judged(r#"{"path":["src/a","./secrets/key"]}"#), Refuse);
    assert_eq!(judged(r#"{"path":["src/a","src/b"]}"#), Allow);
}

#[test]
fn parent_path_is_allowed_only_by_a_pattern_with_one() {
    let permissions = may(Refuse, vec![rule("read", &[("path", "docs/*")], Allow)]);
    let level = |path: &str| judged(&permissions, "read", &format!(r#"{{"path":"{path}"}}"#));
    assert_eq!((level("docs/a..b"), level("docs/../secrets/key")), (Allow, Refuse));
    let permissions = may(Refuse, vec![rule("read", &[("path", "../docs/*")], Allow)]);
    assert_eq!(judged(&permissions, "read", r#"{"path":"../docs/a"}"#), Allow);
    // It does not apply to anything but paths.
    let permissions = may(Refuse, vec![rule("shell", &[("command", "ls *")], Allow)]);
    assert_eq!(judged(&permissions, "shell", r#"{"command":"ls a/../b"}"#), Allow);
}

#[test]
fn allowing_rule_matches_a_path_only_as_written() {
    let permissions = may(Refuse, vec![rule("read", &[("path", "src/*")], Allow)]);
    let level = |path: &str| judged(&permissions, "read", &format!(r#"{{"path":"{path}"}}"#));
    assert_eq!(level("src/a.rs"), Allow);
    assert_eq!((level("./src/a.rs"), level("src")), (Refuse, Refuse));
}

/// What a rule over one argument says to a call.
fn level(tool: &str, pattern: &str, (rules, otherwise): (Level, Level), value: &str) -> Level {
    let permissions = may(otherwise, vec![rule(tool, &[("a", pattern)], rules)]);
    judged(&permissions, tool, &format!(r#"{{"a":{value}}}"#))
}

#[test]
fn values_that_are_not_text_are_matched_too() {
    for stop in [Refuse, Ask] {
        for (pattern, value, fits) in [
            ("push *", r#"["push", "--force"]"#, true),
            ("push *", r#"["pu\u0073h", "--force"]"#, true),
            ("push *", r#"["log", "push"]"#, false),
            ("*--force*", r#"["push", "--force"]"#, true),
            ("7", "7", true),
            ("7", "8", false),
            ("-*", "-1", true),
            ("true", "true", true),
            ("true", "false", false),
            ("null", "null", true),
            (r#"*"deep":true*"#, r#"{ "very": { "deep" : true } }"#, true),
            ("*1*", r#"[1, "a"]"#, true),
        ] {
            let wanted = if fits { stop } else { Allow };
            assert_eq!(level("tap", pattern, (stop, Allow), value), wanted, "{pattern} {value}");
        }
    }
}

#[test]
fn allowing_rule_matches_plain_texts_and_commands() {
    for (pattern, value, fits) in [
        ("log *", r#"["log", "-3"]"#, true),
        ("log *", r#"["log", "--grep", "a b"]"#, true),
        ("log", r#"["log"]"#, true),
        ("log *", r#"["log -3"]"#, false),
        ("log *", r#"["l\u006fg", "-3"]"#, false),
        ("log *", r#"["log", 3]"#, false),
        ("7", "7", false),
        ("true", "true", false),
        ("*a*", r#"{"a":1}"#, false),
    ] {
        let wanted = if fits { Allow } else { Refuse };
        let level = |tool| level(tool, pattern, (Allow, Refuse), value);
        assert_eq!((level("shell"), level("tap")), (wanted, Refuse), "{pattern} {value}");
    }
}

#[test]
fn missing_argument_has_the_tools_default() {
    for (pattern, stops) in [(".", true), ("*", true), ("src/*", false)] {
        let permissions = may(Allow, vec![rule("search", &[("path", pattern)], Refuse)]);
        for arguments in [r#"{"q":"x"}"#, r#"{"q":"x","path":null}"#, r#"{"q":"x","path":"./"}"#] {
            let wanted = if stops { Refuse } else { Allow };
            assert_eq!(judged(&permissions, "search", arguments), wanted, "{pattern} {arguments}");
        }
    }
    // Nothing stands for a command that is left out, and a rule that allows does not guess.
    let permissions = may(Allow, vec![rule("shell", &[("command", "*")], Refuse)]);
    assert_eq!(judged(&permissions, "shell", "{}"), Allow);
    let permissions = may(Refuse, vec![rule("search", &[("path", "*")], Allow)]);
    assert_eq!(judged(&permissions, "search", r#"{"q":"x"}"#), Refuse);
}
