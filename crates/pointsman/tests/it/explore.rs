//! `run explore` on a recorded app, and `screen`: what people see, budgets, kills and errors.

mod app;

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::home::{Home, ProgressSink};
use app::App;

const RUN: [&str; 7] = ["run", "explore", "--app-graph", "app.jsonl", "--seed", "1", "--json"];
const SCREENS: [&str; 6] = ["about", "add", "detail", "home", "licences", "list"];

fn home(name: &str) -> Home {
    let home = Home::new(name);
    home.write("app.jsonl", &App::points().text());
    home
}

fn explore(home: &Home, variables: &[(&str, &str)], more: &[&str]) -> ProgressSink {
    home.with(variables, &[&RUN[..], more].concat())
}

/// Returns the last line that a run printed.
fn end(shown: &ProgressSink) -> Value {
    let last = shown.out.lines().last().expect("it says something");
    serde_json::from_str(last).expect("the text is valid JSON")
}

fn visited(end: &Value) -> BTreeSet<&str> {
    let visited = end["visited"].as_array().expect("the value is a list");
    visited.iter().filter_map(Value::as_str).collect()
}

#[test]
fn every_screen_of_a_small_app_is_found_under_each_policy() {
    for policy in ["auto", "bfs", "dfs", "max-coverage", "focused", "goal-oriented"] {
        let home = home(&format!("policy-{policy}"));
        let shown = explore(&home, &[], &["--policy", policy, "--budget", "actions=200"]);
        let end = end(&shown);
        let seen = visited(&end);
        for screen in SCREENS {
            assert!(seen.contains(screen), "{policy}: no {screen} in {end}");
        }
        assert_eq!(shown.code, Some(0), "{policy}: {end}");
        assert_eq!(end["screens"], json!(SCREENS.len()), "{policy}");
        assert!(end["stopped"].is_string() && end["edges"].is_u64(), "{policy}: {end}");
    }
}

#[test]
fn action_budget_permits_exactly_its_number() {
    let home = home("budget");
    for actions in [1, 2, 7] {
        let budget = format!("actions={actions}");
        let shown = explore(&home, &[], &["--budget", &budget, "--exhaust"]);
        let end = end(&shown);
        assert_eq!(end["trace"].as_array().map(Vec::len), Some(actions), "{end}");
        assert_eq!(shown.code, Some(4), "{end}");
    }
}

#[test]
fn run_killed_anywhere_resumes_as_if_undisturbed() {
    let whole = home("whole");
    let undisturbed = end(&explore(&whole, &[], &["--budget", "actions=12"]));
    let steps = undisturbed["steps"].as_u64().expect("the value is a number");
    assert!(steps > 30, "{undisturbed}");
    let mapped = map(&whole);
    let home = home("killed");
    for entry in (1..steps).step_by(7) {
        for moment in [format!("persisted:{entry}"), format!("attempted:{entry}")] {
            let dying = [("POINTSMAN_DIE_AT", moment.as_str())];
            let killed = explore(&home, &dying, &["--budget", "actions=12"]);
            // Not every entry starts an effect.
            if killed.code.is_some() && moment.starts_with("attempted") {
                continue;
            }
            assert_eq!(killed.code, None, "{moment}");
            let resumed = home.with(&[], &["resume", "last", "--json"]);
            let end = end(&resumed);
            assert_eq!(end["trace"], undisturbed["trace"], "{moment}");
            let again = map(&home);
            for part in ["screens", "edges", "crashes", "coverage"] {
                assert_eq!(again[part], mapped[part], "{moment}: {part}");
            }
            assert_eq!(resumed.code, Some(4), "{moment}: {end}");
        }
    }
}

/// Returns the map of the last run.
fn map(home: &Home) -> Value {
    let shown = home.with(&[], &["graph", "last", "--format", "json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    serde_json::from_str(&shown.out).expect("the text is valid JSON")
}

#[test]
fn a_finished_run_is_replayed_without_its_recording() {
    let home = home("replayed");
    let run = end(&explore(&home, &[], &["--budget", "actions=30"]));
    let drawn = |format: &str| home.with(&[], &["graph", "last", "--format", format]).out;
    let before = ["json", "svg", "dot"].map(drawn);
    fs::remove_file(home.path("app.jsonl")).expect("the file existed and is removed");
    let replayed = home.with(&[], &["replay", run["run"].as_str().expect("the id is a string")]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.err);
    assert!(format!("{}{}", replayed.out, replayed.err).contains("byte for byte"));
    assert!(before[0].contains("\"screens\""), "{}", before[0]);
    assert_eq!(["json", "svg", "dot"].map(drawn), before, "the map needs the journal alone");
}

#[test]
fn a_number_of_actions_leaves_the_limits_of_the_settings() {
    let home = home("settings-limits");
    home.settings("[budget.explore]\ntaps = 5000\nrestarts = 3\n");
    explore(&home, &[], &["--budget", "actions=30"]);
    let (_, shown, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    let budgets = shown["budgets"].as_array().expect("the value is a list");
    for (name, max) in [("taps", 5000), ("restarts", 3), ("actions", 30), ("rounds", 300)] {
        let budget = budgets.iter().find(|it| it["name"] == name).expect("the chart has it");
        assert_eq!(budget["max"], max, "{budget}");
    }
    let steps = budgets.iter().find(|it| it["name"] == "steps").expect("the chart has it");
    assert_eq!(steps["max"], 12 * 30, "a limit that is not set is raised");
}

#[test]
fn the_report_and_the_map_count_the_same() {
    let home = home("counts");
    for actions in [1, 2, 5, 9, 14, 30, 200] {
        let budget = format!("actions={actions}");
        let end = end(&explore(&home, &[], &["--budget", &budget]));
        let map = map(&home);
        for figure in ["screens", "activities", "edges", "actions", "actions_seen", "actions_tried"]
        {
            assert_eq!(end[figure], map["coverage"][figure], "{actions}: {figure} in {end}");
        }
    }
}

#[test]
fn the_same_seed_explores_the_same_way() {
    let trace =
        |name: &str| end(&explore(&home(name), &[], &["--budget", "actions=40"]))["trace"].take();
    assert_eq!(trace("seed-a"), trace("seed-b"));
}

#[test]
fn model_picks_from_the_list_when_the_policy_is_undecided() {
    let home = home("picks");
    home.write(
        "picks.toml",
        r#"
        [[turn]]
        when = """Goal: zebras
1. tap Button "Lines"
2. tap Button "About"
3. tap Button "Share"
4. back"""
        text = "2"
        "#,
    );
    let more = ["--policy", "goal-oriented", "--goal", "zebras", "--budget", "actions=200"];
    let picked = explore(&home, &[], &[&more[..], &["--model", "script:picks.toml"]].concat());
    let picked = end(&picked);
    assert_eq!(picked["trace"][0]["to"], json!("about"), "{picked}");
    // Afterwards the script has no answer, and the policy's own choice stands.
    assert_eq!((&picked["disposition"], &picked["screens"]), (&json!("succeeded"), &json!(6)));
    let alone = end(&explore(&home, &[], &more));
    assert_eq!(alone["trace"][0]["to"], json!("list"), "{alone}");
    // One word decides, and no model is asked.
    let clear = ["--policy", "goal-oriented", "--goal", "share it", "--budget", "actions=1"];
    let clear =
        end(&explore(&home, &[], &[&clear[..], &["--model", "script:picks.toml"]].concat()));
    assert_eq!(clear["trace"][0]["to"], json!("browser"), "{clear}");
}

#[test]
fn missing_or_wrong_options_are_explained() {
    let home = home("wrong");
    let said = |arguments: &[&str], code: i32| {
        let shown = home.with(&[], arguments);
        assert_eq!(shown.code, Some(code), "{arguments:?}: {}", shown.err);
        shown.err
    };
    let bare = said(&["run", "explore"], 2);
    assert!(bare.contains("needs a device") && bare.contains("--app-graph"), "{bare}");
    let lost = said(&["run", "explore", "--app-graph", "none.jsonl"], 2);
    assert!(lost.contains("cannot read") && lost.contains("none.jsonl"), "{lost}");
    home.write("bad.jsonl", "{\"type\":\"state\"}\n");
    let bad = said(&["run", "explore", "--app-graph", "bad.jsonl"], 2);
    assert!(bad.contains("bad.jsonl, line 1: "), "{bad}");
    let other = said(&["run", "research", "Why?", "--exhaust"], 2);
    assert!(other.contains("`--exhaust` is only for `explore`"), "{other}");
    home.write("setup.toml", "[[step]]\nact = \"sing\"\n");
    let setup = said(&["run", "explore", "--app-graph", "app.jsonl", "--setup", "setup.toml"], 2);
    assert!(setup.contains("setup.toml") && setup.contains("sing"), "{setup}");
    let caps =
        said(&["run", "explore", "--appium", "http://127.0.0.1:1", "--caps", "app.jsonl"], 2);
    assert!(caps.contains("app.jsonl"), "{caps}");
}

#[test]
fn a_screen_is_read_from_a_dump() {
    let home = home("screen");
    let line = App::points().text().lines().nth(2).map(str::to_owned).expect("a second screen");
    let state: Value = serde_json::from_str(&line).expect("the text is valid JSON");
    home.write("list.xml", state["hierarchy"].as_str().expect("a hierarchy"));
    let shown = home.with(&[], &["screen", "list.xml", "--json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let screen: Value = serde_json::from_str(&shown.out).expect("the text is valid JSON");
    assert_eq!((&screen["platform"], &screen["nodes"]), (&json!("android"), &json!(4)));
    assert_eq!(screen["package"], json!("org.example.points"));
    let labels: Vec<&Value> = screen["actions"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .filter(|action| action["kind"] == "tap")
        .map(|action| &action["label"])
        .collect();
    assert_eq!(labels, ["Line 1", "Line 2", "Add"]);
    assert_eq!(screen["actions"][0]["bounds"], json!([0, 100, 400, 180]));
    let table = home.with(&[], &["screen", "list.xml"]);
    assert!(table.out.contains("Line 1") && table.out.contains("coarse"), "{}", table.out);
    home.write("page.xml", "<html/>");
    let refused = home.with(&[], &["screen", "page.xml"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("page.xml: `<html>` is not the root"), "{}", refused.err);
}
