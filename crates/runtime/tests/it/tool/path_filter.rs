//! What a rule keeps from being read is not shown by tools that look at many files.

use std::sync::Arc;

use pointsman_kernel::{
    governor::{Grant, Level, Permissions},
    id::At,
};
use serde_json::json;

use super::{ProgressSink, TestSession, call, permit, result, wait};

fn rule(tool: &str, path: &str, level: Level) -> Grant {
    let arguments = vec![("path".into(), path.into())];
    Grant { tool: tool.into(), arguments, level, until: None }
}

fn desk(name: &str, rules: Vec<Grant>) -> TestSession {
    let mut desk = TestSession::new(name);
    desk.put("secrets/key", "the walrus sings\n");
    desk.put("secrets/public", "the walrus sings\n");
    desk.put("src/a", "the walrus sings\n");
    let permissions = Permissions { rules, ..Permissions::allow_all() };
    desk.tools = desk.tools.under(Arc::new(permissions));
    desk
}

const LEFT_OUT: &str = "[files hidden by a permission rule are left out]";

#[test]
fn a_rule_over_reading_holds_for_looking() {
    for level in [Level::Refuse, Level::Ask] {
        let open = rule("read", "secrets/public", Level::Allow);
        let desk = desk("veil", vec![open, rule("read", "./secrets/*", level)]);
        let said = desk.does("search", json!({ "query": "walrus" }));
        let found =
            format!("secrets/public:1: the walrus sings\nsrc/a:1: the walrus sings\n{LEFT_OUT}");
        assert_eq!(said, found);
        for path in ["secrets", "secrets/key", "./secrets//"] {
            let said = desk.does("search", json!({ "query": "walrus", "path": path }));
            assert!(!said.contains("key") && said.ends_with(LEFT_OUT), "{path}: {said}");
        }
        let said = desk.does("context.fts_search", json!({ "query": "walrus" }));
        assert!(said.contains("src/a:1") && said.contains("secrets/public:1"), "{said}");
        assert!(!said.contains("key") && said.ends_with(LEFT_OUT), "{said}");
        let said = desk.does("list", json!({}));
        assert!(said.contains("secrets/public") && !said.contains("key"), "{said}");
    }
}

#[test]
fn a_rule_over_the_tool_itself_holds_where_no_path_is_named() {
    let desk = desk("veil-own", vec![rule("search", "secrets/*", Level::Refuse)]);
    let said = desk.does("search", json!({ "query": "walrus" }));
    assert_eq!(said, format!("src/a:1: the walrus sings\n{LEFT_OUT}"));
    assert!(desk.does("list", json!({})).contains("secrets/key"));
}

#[test]
fn approved_files_are_shown() {
    let rules = vec![
        rule("search", "secrets/key", Level::Refuse),
        rule("search", "secrets/*", Level::Ask),
        rule("list", "*", Level::Ask),
    ];
    let desk = desk("veil-asked", rules);
    let said = desk.does("search", json!({ "query": "walrus", "path": "secrets" }));
    assert_eq!(said, format!("secrets/public:1: the walrus sings\n{LEFT_OUT}"));
    assert!(desk.does("list", json!({})).contains("secrets/key"));
    // Files elsewhere need their own approval.
    let said = desk.does("search", json!({ "query": "walrus" }));
    assert_eq!(said, format!("src/a:1: the walrus sings\n{LEFT_OUT}"));
}

#[test]
fn temporary_rules_do_not_show_files_in_searches() {
    let until = Some(At(5));
    let ends = Grant { until, ..rule("read", "*", Level::Allow) };
    let desk = desk("veil-until", vec![ends, rule("read", "src/*", Level::Refuse)]);
    assert!(!desk.does("list", json!({})).contains("src"));
    let all = Grant { arguments: Vec::new(), ..rule("read", "", Level::Refuse) };
    let shell =
        Grant { arguments: vec![("command".into(), "*".into())], ..rule("shell", "", Level::Ask) };
    let tools = desk
        .tools
        .under(Arc::new(Permissions { rules: vec![shell, all], ..Permissions::default() }));
    let desk = TestSession { tools, ..desk };
    let said = desk.does("search", json!({ "query": "walrus" }));
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn no_spelling_gets_past_a_rule_over_any_of_the_tools() {
    let desk = TestSession::new("spellings");
    desk.put("secrets/key", "SECRET\n");
    std::os::unix::fs::symlink("secrets", desk.root.join("alias")).expect("the link is created");
    let absolute = desk.root.join("secrets/key").display().to_string();
    let decls = desk.tools.decls();
    for tool in ["read", "write", "edit", "list", "search"] {
        let decl = decls.iter().find(|decl| &*decl.name == tool);
        let rules = vec![rule(tool, "secrets/*", Level::Refuse)];
        let permissions = Permissions { rules, ..Permissions::allow_all() };
        let arguments = |path: &str| match tool {
            "write" => json!({ "path": path, "content": "x" }),
            "edit" => json!({ "path": path, "old": "SECRET", "new": "x" }),
            "search" => json!({ "path": path, "query": "SECRET" }),
            _ => json!({ "path": path }),
        };
        let stops = |path: &str| {
            let call = call(tool, arguments(path));
            permissions.deciding(&call, decl, At(0)).is_some_and(|it| it.level == Level::Refuse)
        };
        for path in ["secrets/key", "./secrets/key", "secrets//key", "secrets/./key", "secrets"] {
            assert!(stops(path), "{tool} {path}");
        }
        // What no rule can know by its name, the tools do not take.
        for path in [absolute.as_str(), "alias/key", "alias", "src/../secrets/key"] {
            assert_eq!(stops(path), path.starts_with("src"), "{tool} {path}");
            let said = desk.refuses(tool, arguments(path));
            assert!(!said.contains("SECRET"), "{tool} {path}: {said}");
        }
    }
    assert_eq!(desk.text("secrets/key"), "SECRET\n");
}

#[test]
fn a_second_name_of_a_file_gets_past_no_rule_over_paths() {
    let link = |desk: &TestSession, from: &str, to: &str| {
        std::fs::hard_link(desk.root.join(from), desk.root.join(to)).expect("the link is created");
    };
    // What may not be read under one name may not be under another.
    let desk = desk("names", vec![rule("read", "secrets/*", Level::Refuse)]);
    link(&desk, "secrets/key", "notes.txt");
    let said = desk.refuses("read", json!({ "path": "notes.txt" }));
    assert!(said.contains("2 names") && !said.contains("walrus"), "{said}");
    for (tool, arguments) in [
        ("search", json!({ "query": "walrus" })),
        ("search", json!({ "query": "walrus", "path": "notes.txt" })),
        ("context.fts_search", json!({ "query": "walrus" })),
    ] {
        let said = desk.does(tool, arguments);
        assert!(!said.contains("notes.txt:") && said.ends_with(LEFT_OUT), "{tool}: {said}");
    }
    // What may be written in one folder may not be so by a name from another.
    let only =
        Permissions { rules: vec![rule("write", "src/*", Level::Allow)], ..Permissions::default() };
    link(&desk, "secrets/public", "src/public");
    let desk = TestSession { tools: desk.tools.under(Arc::new(only)), ..desk };
    let content = |path: &str| json!({ "path": path, "content": "new" });
    let said = desk.refuses("write", content("src/public"));
    assert!(said.contains("2 names"), "{said}");
    desk.does("write", content("src/fresh"));
    let kept = std::fs::read_to_string(desk.root.join("secrets/public"))
        .expect("the file exists and is UTF-8");
    assert_eq!(kept, "the walrus sings\n");
    // A rule that names the file allows it, and so does an approval; without path rules nothing is
    // hidden.
    let read = |rules: Vec<Grant>, otherwise: Level| {
        let permissions = Permissions { rules, otherwise, attended: true };
        let tools = desk.tools.under(Arc::new(permissions));
        wait(async {
            let call = call("read", json!({ "path": "notes.txt" }));
            result(tools.call(&call, &permit(), &ProgressSink::none()).await).output
        })
    };
    let deny = || rule("read", "secrets/*", Level::Refuse);
    assert!(
        read(vec![rule("read", "notes.txt", Level::Allow), deny()], Level::Allow)
            .contains("walrus")
    );
    assert!(read(vec![deny()], Level::Ask).contains("walrus"));
    assert!(read(vec![], Level::Allow).contains("walrus"));
    assert!(read(vec![deny()], Level::Allow).contains("2 names"));
}

#[test]
fn failed_edit_reveals_nothing_of_an_unreadable_file() {
    let old = json!({ "path": "secrets/key", "old": "the walrus sinks", "new": "x" });
    for level in [Level::Refuse, Level::Ask] {
        let desk = desk("edit-veil", vec![rule("read", "secrets/*", level)]);
        let said = desk.refuses("edit", old.clone());
        assert!(said.contains("was not found") && !said.contains("sings"), "{said}");
        // Of other files the nearest lines are shown.
        let said =
            desk.refuses("edit", json!({ "path": "src/a", "old": "the walrus sinks", "new": "x" }));
        assert!(said.contains("sings"), "{said}");
    }
}
