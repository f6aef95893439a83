//! Golden journals: written once, replayed by every build, never edited. CONTRIBUTING.md says
//! when one may be replaced.

use std::{fs, path::PathBuf};

use pointsman_kernel::{Late, StepResult, chart::Disposition, id::Digest, run::ItemStatus};
use serde_json::json;

use crate::world::World;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/journals")
}

#[test]
fn golden_journals_replay() {
    let (all, mut replayed) = (pointsman_agents::all(), 0);
    for entry in fs::read_dir(folder()).expect("the journals are there") {
        let path = entry.expect("folder is readable").path();
        let text = fs::read_to_string(&path).expect("file is readable");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("field has a name");
        let chart = name.split('-').next().unwrap_or_default();
        let program = all
            .verify(all.chart(chart).expect("chart ships with the agents"))
            .expect("chart is verified");
        let mut run = program.start();
        let mut prev = Digest::default();
        for line in text.lines() {
            let folded = run.fold(&program, prev, line);
            prev = folded.unwrap_or_else(|error| panic!("{name}: {error}")).1;
            replayed += 1;
        }
        assert!(run.core().ended.is_some(), "{name} does not end");
    }
    assert!(replayed > 60, "only {replayed} entries were found");
}

/// The place in the first entry is for resuming: no step uses it, and a first entry without it can
/// still be read.
#[test]
fn a_place_in_the_first_entry_decides_nothing() {
    for golden in fs::read_dir(folder()).expect("folder is readable") {
        let golden = fs::read_to_string(golden.expect("file is readable").path());
        assert!(!golden.expect("file is readable").contains("\"place\""), "older ones have none");
    }
    let config = json!({"goal": "Who sets the points?"});
    let without = World::begun("research", &config);
    let mut placed = World::new("research");
    let mut begun = placed.begin(&config);
    begun["begun"]["place"] = json!({"dir": "/a", "model": "quote", "later": [1]});
    placed.event(&begun).expect("run begins");
    assert_eq!(placed.open, without.open);
    let entry = |world: &World| {
        let line = world.lines.first().expect("run has begun");
        let entry: serde_json::Value = serde_json::from_str(line).expect("text is valid JSON");
        (entry["effects"].clone(), entry["hops"].clone())
    };
    assert_eq!(entry(&placed), entry(&without));
    let mut again = World::new("research");
    let line = placed.lines.first().expect("run has begun");
    assert!(line.contains(r#""later":[1]"#), "it is kept as it is: {line}");
    again.run.fold(&again.chart, Digest::default(), line).expect("entry replays");
}

/// The scripts that wrote the journals. They must still write the same bytes.
#[test]
fn the_scripts_still_write_the_golden_journals() {
    for (name, world) in scripts() {
        let golden = fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap_or_default();
        let written: String = world.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        assert!(written == golden, "{name} is not written as it was:\n{written}");
    }
}

#[test]
#[ignore = "writes new golden journals; for a new format or a new chart version only"]
fn write_golden_journals() {
    fs::create_dir_all(folder()).expect("the folder can be made");
    for (name, world) in scripts() {
        let text: String = world.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        fs::write(folder().join(format!("{name}.jsonl")), text).expect("file is writable");
    }
}

fn scripts() -> Vec<(&'static str, World)> {
    vec![
        ("chat-3-tools-and-hook", chat()),
        ("chat-3-paused-and-asked", chat_paused_and_asked()),
        ("code-2-two-phases", code()),
        ("code-2-recovers", code_recovers()),
        ("research-2-answered", research()),
        ("research-2-everything-fails", research_fails()),
        ("research-2-same-query", research_stuck()),
        ("form-4-two-pages", form()),
        ("explore-2-three-screens", explore()),
    ]
}

fn ended(world: World, disposition: Disposition) -> World {
    assert_eq!(world.run.core().ended, Some(disposition), "in `{}`", world.state());
    world
}

fn chat() -> World {
    let mut world = World::begun("chat", &json!({"system": "Be brief."}));
    world.given(0, &json!({"text": "Fix the typo in README."}));
    world.fault("rate_limited", true);
    world.wake();
    world.proposes(
        "",
        &[
            ("a", "read", json!({"path": "README"})),
            ("b", "edit", json!({"path": "README", "old": "teh", "new": "the"})),
        ],
    );
    world.tool(true, "teh readme", false);
    world.tool(true, "1 replacement", true);
    world.own(json!({"post_tools": {"action_taken": true}}));
    world.says("Fixed.");
    world.given(0, &json!({"text": "And the other one?"}));
    world.event(&json!({"cancelled": {"scope": "turn"}})).expect("event is applied");
    world.event(&json!({"cancelled": {"scope": "shutdown"}})).expect("event is applied");
    ended(world, Disposition::Succeeded)
}

/// Who paused, and when an answer was sent: lines of format 2 among others.
fn chat_paused_and_asked() -> World {
    let mut world = World::new("chat");
    let mut begun = world.begin(&json!({}));
    begun["begun"]["permissions"]["otherwise"] = json!("ask");
    world.event(&begun).expect("event is applied");
    world.given(0, &json!({"text": "Fix the typo in README."}));
    world.event(&json!({"paused": {"why": "memory", "by": "machine"}})).expect("event is applied");
    world.event(&json!({"paused": {"why": "tea", "by": "person"}})).expect("event is applied");
    let edit = json!({"path": "README", "old": "teh", "new": "the"});
    world.proposes("", &[("a", "edit", edit)]);
    world.event(&json!({"lifted": {"by": "person"}})).expect("event is applied");
    let lift = json!({"lifted": {"by": "machine"}});
    let lifted = world.event(&lift).expect("event is applied");
    assert_eq!(lifted.effects.len(), 1, "only now somebody is asked");
    assert_eq!(
        world.event(&lift).expect("event is applied").result,
        StepResult::Ignored(Late::Already)
    );
    let (effect, _) = world.open.remove(0);
    let asked = world.run.core().items.iter().find_map(|item| match item.doing {
        ItemStatus::Asking { call, expires, .. } => Some((call, expires)),
        _ => None,
    });
    let (call, expires) = asked.expect("a question is open");
    let mut answer = json!({"approval_answered": {
        "effect": effect, "call": call, "granted": true, "reason": "fine", "sent": expires,
    }});
    let late = world.event(&answer).expect("event is applied");
    assert_eq!(late.result, StepResult::Ignored(Late::Expired));
    answer["approval_answered"]["sent"] = json!(expires.0 - 1);
    world.event(&answer).expect("event is applied");
    world.tool(true, "1 replacement", true);
    world.own(json!({"post_tools": {"action_taken": true}}));
    world.says("Fixed.");
    world.event(&json!({"cancelled": {"scope": "shutdown"}})).expect("event is applied");
    ended(world, Disposition::Succeeded)
}

fn research() -> World {
    let mut world = World::begun("research", &json!({"goal": "Where is the parser?"}));
    world.tool(true, "src/parser.rs:1: //! The parser.", false);
    world.says("The parser seems to be a module.");
    world.says("I would like to look further.");
    world.wake();
    world.says(r#"{"action": "tool", "tool_name": "context.fts_search", "args": {"query": "parser entry"}}"#);
    world.event(&json!({"paused": {"why": "disk"}})).expect("event is applied");
    world.tool(true, "src/main.rs:9: parse()", false);
    world.event(&json!("resumed")).expect("event is applied");
    world.says("It is called from main.");
    world.says(r#"{"action": "finish", "final": "In src/parser.rs, called from src/main.rs:9."}"#);
    world.own(json!({"assembled": {"text": "In src/parser.rs, called from src/main.rs:9."}}));
    ended(world, Disposition::Succeeded)
}

fn research_fails() -> World {
    let mut world = World::begun("research", &json!({"goal": "Where is the parser?"}));
    world.fault("unavailable", true);
    // Three attempts without an answer, and the delays between them.
    while world.state() == "analyzing" {
        world.wake();
    }
    world.own(json!({"summarised": {"text": "Nothing was found."}}));
    world.own(json!({"assembled": {"text": "Nothing was found."}}));
    ended(world, Disposition::Stuck)
}

/// The governor halts the search: what it sees is the same on every replay.
fn research_stuck() -> World {
    let mut world = World::begun("research", &json!({"goal": "architecture"}));
    world.tool(true, "docs/layers.md:1: Architecture", false);
    world.says("It is about layers.");
    for query in ["execution", " Execution "] {
        world.says(&json!({"action": "search", "query": query}).to_string());
        if world.state() == "searching" {
            world.tool(true, "docs/layers.md:9: execution", false);
            world.says("It names an executor.");
        }
    }
    assert_eq!(world.state(), "stuck_search");
    world.own(json!({"summarised": {"text": "There is an executor."}}));
    world.own(json!({"assembled": {"text": "There is an executor."}}));
    ended(world, Disposition::Stuck)
}

fn code() -> World {
    let phases = json!({"phases": [{"description": "test"}, {"description": "fix"}]});
    let mut world = World::begun("code", &phases);
    world.given(0, &json!({"text": "Make it green."}));
    for phase in 0..2 {
        let path = json!({"path": format!("src/{phase}.rs"), "old": "a", "new": "b"});
        world.proposes("", &[("a", "edit", path)]);
        world.tool(true, "1 replacement", true);
        world.proposes("", &[("b", "shell", json!({"command": "cargo test"}))]);
        world.tool(true, "test result: ok", false);
        world.proposes("", &[("c", "phase.complete", json!({"success": true}))]);
    }
    ended(world, Disposition::Succeeded)
}

/// The governor halts an edit that fails and fails; writing the file helps.
fn code_recovers() -> World {
    let mut world = World::begun("code", &json!({"phases": [{"description": "fix"}]}));
    world.given(0, &json!({"text": "Make it green."}));
    for _ in 0..3 {
        let change = json!({"path": "main.go", "old": "a", "new": "b"});
        world.proposes("", &[("a", "edit", change)]);
        world.tool(false, "old_string not found", false);
    }
    world.proposes("", &[("b", "write", json!({"path": "main.go", "text": "b"}))]);
    world.tool(true, "written", true);
    world.proposes("", &[("c", "phase.complete", json!({"success": true}))]);
    ended(world, Disposition::Succeeded)
}

fn form() -> World {
    let profile = json!({"file": "/home/ada/profile.toml", "kinds": ["name"], "facts": true});
    let config = json!({
        "goal": "a job", "url": "https://a.example/apply", "profile": profile, "writes": true,
        "sends": true, "redact": true,
    });
    let mut world = World::begun("form", &config);
    world.given(0, &json!({}));
    let origin = "https://a.example";
    world.own(json!({"settled": {"fingerprint": "one", "origin": origin, "title": "Apply"}}));
    world.own(json!({"fields": [
        {"id": "f1", "selector": "#name", "type": "text", "kind": "name", "label": "Name", "required": true},
        {"id": "f2", "selector": "#why", "type": "textarea", "label": "Why us?", "limits": {"words": 50}},
        {"id": "f3", "selector": "#secret", "type": "password", "kind": "new-password", "label": "Password", "fill": "never"},
    ]}));
    world.own(json!({"inserted": {"digest": "aa"}}));
    world.own(json!({"verified": {"kept": true}}));
    world.says("kept:01");
    world.own(json!({"inserted": {"digest": "01"}}));
    world.own(json!({"verified": {"kept": false, "complaint": "too short"}}));
    world.says("kept:02");
    world.own(json!({"inserted": {"digest": "02"}}));
    world.own(json!({"verified": {"kept": true}}));
    let control = |label: &str| json!({"selector": label, "label": label, "does": "submit"});
    // A field has come since the page was read.
    world.own(json!({"controls": {"controls": [control("Next")], "fingerprint": "more"}}));
    world.own(json!({"settled": {"fingerprint": "more", "origin": origin, "status": 200}}));
    world.own(json!({"fields": [
        {"id": "f1", "selector": "#name", "type": "text", "kind": "name", "label": "Name", "holds_value": true},
        {"id": "f2", "selector": "#why", "type": "textarea", "label": "Why us?", "holds_value": true},
        {"id": "f4", "selector": "#nick", "type": "text", "kind": "name", "label": "Called"},
    ]}));
    world.own(json!({"inserted": {"digest": "aa", "note": "a dialog said \"Hello\""}}));
    world.own(json!({"verified": {"kept": true}}));
    world.own(json!({"controls": {
        "controls": [control("Next"), control("Back")], "shot": "s1", "fingerprint": "more",
    }}));
    world.own(json!({"moved": {"fingerprint": "two", "origin": origin, "shot": "s2"}}));
    world.own(json!({"settled": {"fingerprint": "two", "origin": origin, "title": "Check"}}));
    world.own(json!({"fields": [
        {"id": "f1", "selector": "#name", "type": "text", "kind": "name", "label": "Your name"},
    ]}));
    world.own(json!({"inserted": {"digest": "aa"}}));
    world.own(json!({"verified": {"kept": true}}));
    world.own(json!({"controls": {"controls": [control("Submit application")]}}));
    world.tool(true, "Thank you.\n[screenshot s3]", true);
    ended(world, Disposition::Succeeded)
}

fn explore() -> World {
    let mut world =
        World::begun("explore", &json!({"app": {"package": "app"}, "goal": "look around"}));
    // Three screens, each with a button to the next; the last has none.
    let screen = |at: usize| {
        let button = |at: usize| {
            json!({
                "ordinal": 0, "key": format!("Button#b{at}"), "row": 1, "class": "Button",
                "label": "next", "acts": ["tap"],
            })
        };
        let widgets: Vec<_> = Some(at).filter(|at| *at < 2).into_iter().map(button).collect();
        json!({"captured": {
            "screen": {
                "package": "app", "activity": format!("screen{at}"), "coarse": format!("c{at}"),
                "fine": format!("f{at}"), "nodes": 1, "widgets": widgets,
            },
            "running": true,
        }})
    };
    let mut at = 0;
    while world.run.core().ended.is_none() {
        let (_, effect) = world.open[0].clone();
        let task = effect.pointer("/start/own/task").expect("effect is a task of the agent");
        if task == "capture" || task == "verify" {
            world.own(screen(at));
        } else if task.get("inspect").is_some() {
            world.own(json!({"installed": 1}));
        } else if task == "session" || task == "settle" {
            world.own(json!("done"));
        } else {
            let back = task.pointer("/perform/act") == Some(&json!("back"));
            at = match task {
                _ if task == "wait" => at,
                _ if task.get("perform").is_some() && !back => (at + 1).min(2),
                _ => 0,
            };
            world.own(json!({"performed": {}}));
        }
    }
    world
}
