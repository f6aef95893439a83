//! Runs that are kept: listed, shown, explained, replayed, forked, counted, removed.

use std::{fs, path::Path};

use insta::assert_snapshot;
use pointsman_kernel::id::Digest;
use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn a_run_is_kept_shown_explained_and_replayed() {
    let home = Home::new("kept");
    assert_snapshot!("no_runs", home.shown(&["runs"]));
    let run = home.research("What does a red signal mean?");
    let (start, _) = run.split_at(10);
    assert_snapshot!("runs", home.shown(&["runs"]));
    assert_snapshot!("show", home.shown(&["show", "last"]));
    assert_snapshot!("why", home.shown(&["why", start, "2"]));
    assert_snapshot!("why_last", home.shown(&["why", "last"]));
    assert_snapshot!("why_too_far", home.shown(&["why", start, "9"]));
    assert_snapshot!("replay", home.shown(&["replay", start]));
    assert_snapshot!("replay_part", home.shown(&["replay", start, "--until", "3", "--json"]));
    let (code, out, _) = home.pointsman(&["show", &run, "--json"]);
    assert_eq!(code, 0);
    let shown: Value = serde_json::from_str(&out).expect("it is one object");
    assert_eq!((&shown["id"], &shown["agent"]), (&run.as_str().into(), &"research".into()));
    assert_eq!((&shown["disposition"], &shown["state"]), (&"succeeded".into(), &"done".into()));
    assert!(shown["seed"].is_u64() && shown["forked"].is_null());
    assert_eq!(shown["entries"].as_array().map(Vec::len), Some(5));
    let history = shown["state_history"].as_array().expect("the value is a list");
    let visited: Vec<&Value> = history.iter().map(|hop| &hop["to"]).collect();
    assert_eq!(visited, ["init", "searching", "analyzing", "deciding", "finishing", "done"]);
    for hop in history {
        assert!(hop["step"].is_u64() && hop["ms"].is_u64() && hop["at"].is_u64(), "{hop}");
        assert!(hop["reason"].is_string(), "{hop}");
    }
    // A run that has ended stays as it is.
    let (_, exported, _) = home.pointsman(&["export", &run]);
    assert_eq!(home.pointsman(&["resume", &run, "--dir", "docs"]).0, 0);
    assert_eq!(home.pointsman(&["export", &run]).1, exported);
    assert_snapshot!("cancel_ended", home.shown(&["cancel", &run]));
}

#[test]
fn an_export_is_checked_by_itself() {
    let home = Home::new("export");
    home.research("What does a green signal mean?");
    let (code, exported, _) = home.pointsman(&["export", "last"]);
    assert_eq!(code, 0);
    assert_eq!(home.pointsman(&["export", "last", "--out", "run.jsonl"]).0, 0);
    assert_eq!(
        fs::read_to_string(home.path("run.jsonl")).expect("the file exists and is UTF-8"),
        exported
    );
    assert_snapshot!("export_exists", home.shown(&["export", "last", "--out", "run.jsonl"]));
    // No journal is needed for it.
    fs::remove_dir_all(home.path("state")).expect("the folder is removed");
    assert_snapshot!("replay_file", home.shown(&["replay", "run.jsonl"]));
    home.write("changed.jsonl", &exported.replacen("red signal", "rod signal", 1));
    assert_snapshot!("replay_changed", home.shown(&["replay", "changed.jsonl"]));
    assert_snapshot!("replay_file_too_far", home.shown(&["replay", "run.jsonl", "--until", "99"]));
    assert_eq!(home.pointsman(&["replay", "run.jsonl", "--until", "0"]).0, 2);
    assert_eq!(home.pointsman(&["replay", "run.jsonl", "--until", "2"]).0, 0);
    assert_snapshot!("replay_missing", home.shown(&["replay", "missing.jsonl"]));
}

#[test]
fn export_with_a_refused_chart_reports_the_reason() {
    let home = Home::new("foreign");
    home.research("What does a green signal mean?");
    let (_, exported, _) = home.pointsman(&["export", "last"]);
    // As a build would have written it that had another name for the agent.
    let (lines, trailer) = exported.trim_end().rsplit_once('\n').expect("it has lines");
    let parsed: Value = serde_json::from_str(trailer).expect("the text is valid JSON");
    let lines = lines.replacen(r#"jobs      = \"research\""#, r#"jobs      = \"inquiry\""#, 1);
    let lines = format!("{lines}\n");
    let digest = Digest::of(lines.as_bytes()).to_string();
    let old = parsed["digest"].as_str().expect("a digest is text");
    home.write("foreign.jsonl", &format!("{lines}{}\n", trailer.replace(old, &digest)));
    let (code, _, told) = home.pointsman(&["replay", "foreign.jsonl"]);
    assert_eq!(code, 9, "{told}");
    assert!(told.contains("this build refuses the chart in foreign.jsonl: "), "{told}");
    assert!(told.contains("`inquiry`") && told.contains("(PM0201)"), "{told}");
}

#[test]
fn changed_journal_is_reported_with_its_entry() {
    let home = Home::new("changed");
    let run = home.research("What does a green signal mean?");
    change(&home.path("state/pointsman"), b"begun", b"begum");
    let (code, _, told) = home.pointsman(&["replay", &run]);
    assert_eq!(code, 9, "{told}");
    assert!(told.contains("damaged"), "{told}");
}

#[test]
fn changed_column_is_reported_with_its_entry() {
    let home = Home::new("column");
    let run = home.research("What does a green signal mean?");
    // The row of the first entry: the run, its number, which takes no byte, and the state.
    let (was, is) = (format!("{run}searching"), format!("{run}analyzing"));
    change(&home.path("state/pointsman"), was.as_bytes(), is.as_bytes());
    let (code, out, told) = home.pointsman(&["replay", &run]);
    assert_eq!((code, out.as_str()), (9, ""), "{told}");
    let named =
        format!("damaged at entry 1 of run {run}: the column `entry.state` has `analyzing`");
    assert!(told.contains(&named) && told.contains("entries give `searching`"), "{told}");
    // The lines themselves are unchanged.
    assert_eq!(home.pointsman(&["show", &run]).0, 0);
}

#[test]
fn a_damaged_run_hides_no_other_and_can_be_removed() {
    let home = Home::new("damaged-row");
    let whole = home.research("What does a red signal mean?");
    let damaged = home.research("What does a green signal mean?");
    let newest = home.research("Who sets the points?");
    change(&home.path("state/pointsman"), b"What does a green", b"What does a grown");
    let (code, out, told) = home.pointsman(&["runs"]);
    assert!(code == 0 && out.contains(&whole) && out.contains(&newest), "{out}{told}");
    let named =
        format!("the journal is damaged in run {damaged}: the checksum of its row is wrong");
    assert!(told.contains(&named) && told.contains("runs remove"), "{told}");
    assert_eq!(home.pointsman(&["show", &whole]).0, 0);
    // The newest is found without a look at those before it.
    let (code, out, told) = home.pointsman(&["show", "last"]);
    assert!(code == 0 && out.starts_with(&newest) && !told.contains(&named), "{out}{told}");
    let (code, _, told) = home.pointsman(&["show", &damaged]);
    assert!(code != 0 && told.contains(&named), "{told}");
    let (code, out, _) = home.pointsman(&["stats"]);
    assert!(code == 0 && out.starts_with("2 runs: ") && out.contains(&named), "{out}");
    assert_eq!(home.pointsman(&["runs", "remove", &newest]).0, 0);
    // The remains of the newest run are not taken for an older one.
    let (code, _, told) = home.pointsman(&["show", "last"]);
    assert!(code != 0 && told.contains(&named), "{told}");
    let (code, out, told) = home.pointsman(&["runs", "remove", &damaged, &damaged]);
    assert_eq!((code, out), (0, format!("removed: run {damaged}\n")), "{told}");
    let (code, out, told) = home.pointsman(&["runs"]);
    assert!(code == 0 && out.contains(&whole) && told.is_empty(), "{out}{told}");
    assert_eq!(home.pointsman(&["runs", "remove", &damaged]).0, 2);
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

/// Replaces bytes of the same length in every file of the journal.
fn change(folder: &Path, from: &[u8], to: &[u8]) {
    let mut changed = 0;
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        let Ok(mut bytes) = fs::read(&path) else { continue };
        for at in 0..bytes.len().saturating_sub(from.len()) {
            if bytes[at..].starts_with(from) {
                bytes[at..at + to.len()].copy_from_slice(to);
                changed += 1;
            }
        }
        fs::write(&path, bytes).expect("the file is written");
    }
    assert!(changed > 0, "the text was not found");
}

#[test]
fn a_fork_shares_the_beginning_and_goes_its_own_way() {
    let home = Home::new("fork");
    let run = home.research("What does a red signal mean?");
    assert_snapshot!("fork", home.shown(&["fork", &run, "--at", "3", "--dir", "docs"]));
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!((&shown["forked"]["run"], &shown["forked"]["at"]), (&run.into(), &3.into()));
    let (code, made, _) = home.pointsman(&["fork", "last", "--no-run"]);
    assert_eq!(code, 0);
    let (_, listed, _) = home.pointsman(&["runs", "--json", "--limit", "1"]);
    let newest: Value = serde_json::from_str(&listed).expect("the text is valid JSON");
    assert_eq!(newest["run"], made.trim());
    assert_eq!(newest["disposition"], Value::Null);
    assert_snapshot!("fork_too_far", home.shown(&["fork", "last", "--at", "99"]));
    // Its clock continues from the fork; it is the newest all the same.
    let slow =
        "[[turn]]\ntext = 'Red means stop.'\ndelay_ms = 1500\n[[turn]]\nwhen = 'x'\ntext = ''\n";
    home.write("slow.toml", slow);
    let ask = ["run", "research", "What does a red signal mean?", "--dir", "docs"];
    home.pointsman(&[&ask[..], &["--model", "script:slow.toml"]].concat());
    let (_, listed, _) = home.pointsman(&["runs", "--json", "--limit", "1"]);
    let slow: Value = serde_json::from_str(&listed).expect("the text is valid JSON");
    home.research("Who sets the points?");
    let slow = slow["run"].as_str().expect("the id is a string");
    let (_, made, _) = home.pointsman(&["fork", slow, "--no-run"]);
    let (_, listed, _) = home.pointsman(&["runs", "--json", "--limit", "1"]);
    assert!(listed.contains(made.trim()), "{listed}");
    // Cut short enough, the beginning of an id fits them all.
    let (code, _, told) = home.pointsman(&["show", "0"]);
    assert!(code == 2 && told.contains("type a longer prefix"), "{told}");
}

#[test]
fn runs_are_counted_and_removed() {
    let home = Home::new("stats");
    home.research("What does a red signal mean?");
    home.research("Who sets the points?");
    let (_, out, _) = home.pointsman(&["stats", "research", "--json"]);
    let stats: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!((&stats["runs"], &stats["dispositions"]["succeeded"]), (&2.into(), &2.into()));
    assert_eq!((&stats["model_calls"], &stats["tool_calls"]), (&4.into(), &2.into()));
    let edge = |edge: &&Value| edge["from"] == "searching" && edge["to"] == "analyzing";
    let edges = stats["edges"].as_array().expect("the value is a list");
    assert_eq!(edges.iter().find(edge).expect("the transition was taken")["count"], 2);
    let (_, told, _) = home.pointsman(&["stats"]);
    assert!(told.starts_with("2 runs: 2 succeeded\n0.0 % of the ended runs"), "{told}");
    assert_snapshot!("stats_of_none", home.shown(&["stats", "chat"]));
    assert_snapshot!("runs_limit_0", home.shown(&["runs", "--limit", "0"]));
    assert_snapshot!("prune_which", home.shown(&["runs", "prune"]));
    assert_snapshot!("prune_plan", home.shown(&["runs", "prune", "--keep", "1", "--dry-run"]));
    assert_eq!(home.pointsman(&["runs", "--json"]).1.lines().count(), 2);
    assert_snapshot!("prune", home.shown(&["runs", "prune", "--keep", "1"]));
    assert_eq!(home.pointsman(&["runs", "--json"]).1.lines().count(), 1);
    assert_eq!(home.pointsman(&["runs", "prune", "--older-than", "30d"]).0, 0);
    assert_eq!(home.pointsman(&["runs", "--json"]).1.lines().count(), 1);
    assert_snapshot!("prune_bad_time", home.shown(&["runs", "prune", "--older-than", "soon"]));
}

#[test]
fn shared_entries_of_a_fork_count_once() {
    let home = Home::new("stats-fork");
    home.research("What does a red signal mean?");
    let stats = || {
        let (_, out, _) = home.pointsman(&["stats", "--json"]);
        serde_json::from_str::<Value>(&out).expect("the text is valid JSON")
    };
    let before = stats();
    assert_eq!((&before["model_calls"], &before["tool_calls"]), (&2.into(), &1.into()));
    // It repeats the result of the last entry, and nothing before it.
    assert_eq!(home.pointsman(&["fork", "last"]).0, 0);
    let after = stats();
    assert_eq!(after["runs"], 2);
    assert_eq!((&after["model_calls"], &after["tool_calls"]), (&2.into(), &1.into()));
    let searches = |stats: &Value| {
        let edges = stats["edges"].as_array().expect("the value is a list").clone();
        edges.iter().find(|it| it["to"] == "analyzing").expect("the transition was taken")["count"]
            .clone()
    };
    assert_eq!((searches(&before), searches(&after)), (1.into(), 1.into()));
    let (code, _, told) = home.pointsman(&["fork", "last", "--at", "7"]);
    assert!(code == 2 && told.contains("ended with entry 7"), "{told}");
    assert!(told.contains("`--at 6` or less"), "{told}");
}

#[test]
fn a_verdict_is_counted_where_the_call_was_judged() {
    let home = Home::new("stats-stuck");
    let search = r#"{"action":"tool","tool_name":"context.fts_search","args":{"query":"green"}}"#;
    let said = |phase: &str, text: &str| {
        let usage = json!({ "input": 100, "output": 20 });
        let when = format!("Current Phase: {phase}");
        let turn = json!({ "when": when, "text": text, "usage": usage });
        format!("{turn}\n")
    };
    let round = said("ANALYZING", "It is about signals.") + &said("DECIDING", search);
    home.write("script.jsonl", &round.repeat(3));
    let goal = "What does a red signal mean?";
    let model = "script:script.jsonl";
    let (code, _, told) =
        home.pointsman(&["run", "research", goal, "--dir", "docs", "--model", model]);
    assert_eq!(code, 5, "{told}");
    let (_, out, _) = home.pointsman(&["stats", "--json"]);
    let stats: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    let findings = stats["findings"].as_array().expect("the value is a list");
    let where_found: Vec<_> = findings.iter().map(|it| &it["state"]).collect();
    assert_eq!(where_found, ["searching"], "{findings:#?}");
    // It could have made as many calls as its certificate allows.
    let allowed = stats["costs"][0]["certificate"]["model_calls"].as_u64().expect("a number");
    let made = stats["model_calls"].as_u64().expect("a number");
    assert!(allowed > made && made > 0 && stats["tokens"] == made * 120, "{stats}");
    let left = allowed - made;
    let saved = json!({ "runs": 1, "model_calls": left, "tokens": left * 120 });
    assert_eq!(stats["tokens_saved"], saved);
    // No rule stopped a run that found nothing.
    let (code, _, told) = home.pointsman(&["run", "research", "Do zebras fly?", "--dir", "docs"]);
    assert_eq!(code, 5, "{told}");
    let (_, out, _) = home.pointsman(&["stats", "--json"]);
    let both: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!((&both["dispositions"]["stuck"], &both["tokens_saved"]), (&2.into(), &saved));
    let told = home.pointsman(&["stats"]).1;
    assert!(told.contains(" tokens saved: 1 stuck run ended early, with up to "), "{told}");
}

#[test]
fn files_beside_the_journal_are_removed_with_the_run() {
    let home = Home::new("beside");
    let ran = |question| home.research(question);
    let (pruned, removed) = (ran("What does a red signal mean?"), ran("Who sets the points?"));
    assert_eq!(home.pointsman(&["run", "note.toml", "Hello", "--set", "tone=dry"]).0, 3);
    let (_, runs, _) = home.pointsman(&["runs", "--json"]);
    let waits: Vec<Value> = runs
        .lines()
        .map(|line| serde_json::from_str(line).expect("the text is valid JSON"))
        .collect();
    let waits = waits.iter().find(|run| run["disposition"].is_null()).expect("it waits");
    let waits = waits["run"].as_str().expect("the id is a string").to_owned();
    let private = |run: &str| home.path(&format!("state/pointsman/forms/{run}.private"));
    let kept = |run: &str| {
        let pictures = home.path(&format!("state/pointsman/forms/{run}"));
        [pictures, private(run), home.path(&format!("state/pointsman/explore/{run}"))]
    };
    for folder in [&pruned, &removed, &waits].map(|run| kept(run)).as_flattened() {
        fs::create_dir_all(folder).expect("the folder is created");
        fs::write(folder.join("a.png"), "a picture").expect("the file is written");
    }
    let is_kept = |run: &str| kept(run).map(|it| it.exists());
    assert_eq!(home.pointsman(&["runs", "prune", "--keep", "1", "--dry-run"]).0, 0);
    assert_eq!(is_kept(&pruned), [true; 3], "a dry run removes nothing");
    assert_eq!(home.pointsman(&["runs", "prune", "--keep", "1"]).0, 0);
    assert_eq!((is_kept(&pruned), is_kept(&removed)), ([false; 3], [true; 3]));
    assert_eq!(home.pointsman(&["runs", "remove", &removed]).0, 0);
    assert_eq!((is_kept(&removed), is_kept(&waits)), ([false; 3], [true; 3]));
    // Nothing private outlives a run; what can be looked at stays with it.
    assert_eq!(home.pointsman(&["cancel", &waits]).0, 0);
    assert_eq!(is_kept(&waits), [true, false, true]);
}
