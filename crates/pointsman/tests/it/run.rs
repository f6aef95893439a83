//! Runs as people meet them, over a folder of documents that were not written for it.

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;

#[test]
fn research_answers_with_file_and_line() {
    let home = Home::new("run");
    assert_snapshot!(home.shown(&["run", "research", "Who sets the points?", "--dir", "docs"]));
}

#[test]
fn json_tells_everything_as_it_happens() {
    let home = Home::new("lines");
    let (code, out, err) =
        home.pointsman(&["run", "research", "What is a red signal?", "--dir", "docs", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("the text is valid JSON"))
        .collect();
    let (last, before) = lines.split_last().expect("the journal has lines");
    for line in before {
        assert!(line["event"].is_string() && line["run"] == last["run"], "{line}");
    }
    let events: Vec<&str> = before.iter().filter_map(|line| line["event"].as_str()).collect();
    for event in ["state", "attempt", "answer", "persisted", "ended"] {
        assert!(events.contains(&event), "{events:?}");
    }
    assert_eq!(last["disposition"], "succeeded");
    assert_eq!((&last["state"], &last["steps"]), (&"done".into(), &5.into()));
    assert!(last["elapsed_ms"].is_u64());
    assert!(last["result"].as_str().expect("the value is a string").contains("signals.md:3"));
}

#[test]
fn a_plan_writes_nothing() {
    let home = Home::new("plan");
    let plan = ["run", "research", "x", "--dry-run", "--allow", "shell:command=cargo *"];
    assert_snapshot!(home.shown(&[&plan[..], &["--deny", "git", "--unattended"]].concat()));
    let (code, out, _) = home.pointsman(&["run", "note.toml", "Hello", "--dry-run", "--json"]);
    assert_eq!(code, 0);
    let plan: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(plan["tools"]["writing"][0], "write");
    assert_eq!(plan["model"], "quote");
    assert!(!home.path("state").exists() && !home.path("cache").exists(), "a plan writes nothing");
}

#[test]
fn a_plan_is_refused_where_its_run_would_be() {
    let home = Home::new("planned");
    let long = "x".repeat(100_000);
    for more in [
        &["--set", "foo=1"][..],
        &["--model", "openai:x"],
        &["--model", "script:nowhere.toml"],
        &["--replay", "nowhere.jsonl", "--model", "ollama:x"],
        &["--set", "tools=[\"nope\"]"],
    ] {
        let run = [&["run", "research", "x", "--dir", "docs"][..], more].concat();
        let (code, _, told) = home.pointsman(&run);
        let plan = home.pointsman(&[&run[..], &["--dry-run"]].concat());
        assert_eq!((code, &plan), (2, &(2, String::new(), told)), "{more:?}");
    }
    let (code, out, _) = home.pointsman(&["run", "research", &long, "--dry-run"]);
    assert_eq!((code, out.as_str()), (2, ""));
    let plan = ["run", "code", "Mend it", "--dir", "docs", "--dry-run", "--json"];
    let (code, out, _) = home.pointsman(&plan);
    let plan: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    let offered = plan["offered"].as_array().expect("the value is a list");
    assert!(code == 0 && offered.contains(&"edit".into()), "{out}");
    assert_eq!(
        plan["dir"],
        home.path("docs").canonicalize().expect("the path exists").display().to_string()
    );
}

#[test]
fn impossible_runs_are_explained() {
    let home = Home::new("told");
    for (name, arguments) in [
        ("chat", &["run", "chat", "hello"][..]),
        ("no_goal", &["run", "research"]),
        ("no_folder", &["run", "research", "x", "--dir", "nowhere"]),
        ("no_model", &["run", "research", "x", "--model", "opnai:gpt"]),
        ("no_record", &["run", "research", "x", "--replay", "answers.jsonl"]),
        ("no_chart", &["run", "nowhere.toml", "x"]),
        ("no_key", &["run", "research", "x", "--model", "openai:gpt"]),
        ("no_server", &["run", "research", "x", "--mcp", "files"]),
        ("bad_set", &["run", "research", "x", "--set", "tools=17"]),
        ("set_goal", &["run", "research", "x", "--set", "goal=y"]),
        ("set_tool", &["run", "research", "x", "--set", r#"tools=["context.fts_search","nope"]"#]),
        ("bad_pair", &["run", "note.toml", "--set", "tone"]),
        ("no_slot", &["run", "note.toml", "x", "--set", "tne=dry"]),
        ("no_goal_for_a_chart", &["run", "note.toml", "--set", "tone=dry"]),
        ("no_run", &["show", "nosuchrun"]),
        ("no_id", &["show", "no such run"]),
        ("bad_log", &["runs", "--log", "a=b=c"]),
    ] {
        assert_snapshot!(format!("told_{name}"), home.shown(arguments));
    }
}

/// What was not searched or not found is never told as an answer.
#[test]
fn a_search_that_found_nothing_or_did_not_run_is_stuck() {
    let home = Home::new("nothing");
    let ran = |goal: &str, more: &[&str]| {
        let run = ["run", "research", goal, "--dir", "docs"];
        let (code, out, _) = home.pointsman(&[&run[..], more].concat());
        (code, out)
    };
    let (code, told) = ran("Where do zebras cross?", &[]);
    assert_eq!(code, 5, "{told}");
    assert!(
        told.contains("not found: no passage in these documents") && told.contains("Searched (1)")
    );
    assert!(told.contains("What to do next: check that the documents cover this"), "{told}");
    for (goal, more) in [
        ("Who sets the points?", &["--deny", "context.fts_search"][..]),
        ("Who sets the points?", &["--set", "tools=false"]),
        ("Who sets the points? Do not search.", &[]),
    ] {
        let (code, told) = ran(goal, more);
        assert_eq!(code, 5, "{told}");
        assert!(told.contains("nothing was searched") && !told.contains("no passage"), "{told}");
    }
    assert!(ran("Who sets the points? Do not search.", &[]).1.contains("the goal says"));
    // A question about it turns nothing off, and who wants to be asked is asked.
    assert_eq!(ran("Why are there no tools to set the points?", &[]).0, 0);
    let (code, out, err) = home.pointsman(&[
        "run",
        "research",
        "Who sets the points?",
        "--dir",
        "docs",
        "--ask",
        "context.fts_search",
    ]);
    assert_eq!(code, 3, "{out}{err}");
    assert!(err.contains("context.fts_search"), "{err}");
}

/// A user's first chart needs a model, and says so at once.
#[test]
fn a_new_chart_says_that_it_needs_a_model() {
    let home = Home::new("new-chart");
    assert_eq!(home.pointsman(&["init", "my-agent.toml"]).0, 0);
    assert_snapshot!(home.shown(&["run", "my-agent.toml", "What is a signal?"]));
    home.write("answers.jsonl", "{\"text\":\"A sign for trains.\"}\n{\"text\":\"good\"}\n");
    let with = ["run", "my-agent.toml", "What is a signal?", "--model", "script:answers.jsonl"];
    let (code, out, err) = home.pointsman(&with);
    assert_eq!((code, out.trim()), (0, "A sign for trains."), "{err}");
}

#[test]
fn script_replaces_a_model() {
    let home = Home::new("script");
    home.write(
        "answers.jsonl",
        "{\"text\":\"An old tale.\",\"usage\":{\"input\":10,\"output\":2}}\n",
    );
    home.write("tale.toml", TALE);
    let told = home.shown(&["run", "tale.toml", "Tell one", "--model", "script:answers.jsonl"]);
    assert_snapshot!(told);
    let (_, prompts, _) = home.pointsman(&["show", "last", "--prompts"]);
    assert!(prompts.contains("Tell: Tell one"), "{prompts}");
}

const TALE: &str = r#"
chart     = "tale"
version   = 1
start     = "telling"
authority = "text"
[any]
cancel = "cancelled"
[state.telling]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "Tell: {goal}", into = "result" }
on.completed = "done"
on.failed    = "failed"
[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;
