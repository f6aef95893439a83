//! What a call must look like before anything runs.

use std::collections::BTreeMap;

use pointsman_agents::{TOOLS, form::SUBMIT_TOOL};
use pointsman_kernel::{
    job::ArgumentKind,
    tool::{Recovery, ToolEffect},
};
use serde_json::json;

use super::TestSession;

#[test]
fn the_specs_and_the_declarations_name_the_same_tools() {
    let desk = TestSession::new("specs");
    let specs: Vec<_> = desk.tools.specs().into_iter().map(|spec| spec.name).collect();
    let decls: Vec<_> = desk.tools.decls().into_iter().map(|decl| decl.name).collect();
    assert_eq!(specs, decls);
    // The tool that sends a form belongs to the form agent, and no model gets its description.
    let offered = TOOLS.iter().map(|tool| tool.name).filter(|name| *name != SUBMIT_TOOL);
    assert_eq!(specs.iter().map(AsRef::as_ref).collect::<Vec<_>>(), offered.collect::<Vec<_>>());
}

#[test]
fn check_knows_the_arguments_that_the_schemas_list() {
    let desk = TestSession::new("shapes");
    for spec in desk.tools.specs() {
        let tool = TOOLS.iter().find(|tool| *tool.name == *spec.name).expect("check knows it");
        let required = spec.parameters["required"].as_array().expect("the value is a list");
        let schema: BTreeMap<&str, (bool, &str)> = spec.parameters["properties"]
            .as_object()
            .expect("a table")
            .iter()
            .map(|(name, schema)| {
                let must = required.iter().any(|it| it.as_str() == Some(name));
                (name.as_str(), (must, schema["type"].as_str().expect("a type")))
            })
            .collect();
        let takes = tool.takes.expect("its arguments are known").iter();
        let known: BTreeMap<&str, (bool, &str)> = takes
            .map(|argument| {
                let kind = match argument.kind {
                    ArgumentKind::Text => "string",
                    ArgumentKind::Flag => "boolean",
                    ArgumentKind::Number => "integer",
                    _ => "array",
                };
                (argument.name, (argument.required, kind))
            })
            .collect();
        assert_eq!(known, schema, "{}", spec.name);
    }
}

#[test]
fn every_target_is_an_argument() {
    let desk = TestSession::new("targets");
    for (spec, decl) in desk.tools.specs().iter().zip(desk.tools.decls()) {
        for target in &decl.targets {
            assert!(spec.parameters["properties"].get(&**target).is_some(), "{decl:?}");
        }
    }
}

#[test]
fn every_tool_declares_its_recovery() {
    for decl in TestSession::new("recovery").tools.decls() {
        let (effect, recovery) = match &*decl.name {
            "write" | "edit" => (ToolEffect::Write, Recovery::Probe),
            "shell" | "git" => (ToolEffect::Command, Recovery::Ask),
            _ => (ToolEffect::Read, Recovery::Retry),
        };
        assert_eq!((decl.effect, decl.recovery), (effect, recovery), "{}", decl.name);
    }
}

#[test]
fn an_argument_that_does_not_fit_is_named() {
    let desk = TestSession::new("arguments");
    let said = desk.refuses("read", json!({ "path": 5 }));
    assert_eq!(
        said,
        "invalid arguments for `read`: `path`: value is not of type \"string\"\n\
         `read` takes `from` (integer, optional), `path` (string, required), `to` (integer, \
         optional)"
    );
    let said = desk.refuses("write", json!({ "path": "a" }));
    assert!(said.contains("\"content\" is a required property"), "{said}");
    let said = desk.refuses("list", json!({ "folder": "a" }));
    assert!(said.contains("'folder' was unexpected"), "{said}");
    let said = desk.refuses("read", json!({ "path": "a", "from": 0 }));
    assert!(said.contains("`from`"), "{said}");
    let said = desk.refuses("read", json!([1]));
    assert!(said.contains("not of type \"object\""), "{said}");
    let said = desk.refuses("read", json!({ "path": "a", "from": 1e30 }));
    assert!(said.contains("invalid arguments") || said.contains("no `a`"), "{said}");
}

#[test]
fn a_wrong_argument_is_not_repeated() {
    let desk = TestSession::new("masked");
    let long = "x".repeat(100_000);
    let said = desk.refuses("write", json!({ "path": 1, "content": long, "more": long }));
    assert!(said.len() < 1000, "{}", said.len());
}

#[test]
fn unknown_tool_error_lists_known_tools() {
    let said = TestSession::new("unknown").refuses("rm_rf", json!({}));
    assert_eq!(
        said,
        "there is no tool `rm_rf`; known: context.fts_search, edit, git, http_get, list, propose_plan, \
         read, search, shell, write"
    );
}

#[test]
fn a_workspace_that_is_not_there_is_an_error() {
    use pointsman_runtime::tool::{ToolSettings, WorkspaceTools};
    let error = WorkspaceTools::open(ToolSettings::over("/nowhere/at/all", "/nowhere/index.db"));
    let said = error.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.starts_with("the workspace /nowhere/at/all cannot be opened"), "{said}");
}

#[test]
fn a_plan_is_checked_and_approved() {
    let desk = TestSession::new("plan");
    let phase = json!({ "description": "Find it", "expected_minutes": 5 });
    let said =
        desk.does("propose_plan", json!({ "phases": [phase, { "description": "Mend it" }] }));
    assert_eq!(said, "approved");
    for wrong in [
        json!({ "phases": [] }),
        json!({ "phases": ["Find it"] }),
        json!({ "phases": [{ "description": "" }] }),
        json!({ "phases": [{ "description": "a", "expected_minutes": 0 }] }),
        json!({ "phases": [{ "description": "a", "why": "b" }] }),
        json!({}),
    ] {
        let said = desk.refuses("propose_plan", wrong);
        assert!(said.contains("invalid arguments") && said.contains("`phases`"), "{said}");
    }
}
