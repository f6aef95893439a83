//! Promises that hold when the program is killed or its journal disappears during a run.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{home::Home, served::Served};

/// A chart that asks a model twice, one question after the other.
pub(crate) const TWICE: &str = r#"
chart   = "twice"
version = 1
start   = "first"
authority = "text"

[any]
cancel = "cancelled"

[state.first]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "Say yes to {goal}." }
on.completed = "second"
on.failed = "failed"
on.timeout = "failed"

[state.second]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "Say it again." }
on.completed = "done"
on.failed = "failed"
on.timeout = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

#[test]
fn lost_journal_stops_the_run_before_its_next_effect() {
    for (way, ending) in [("delete", ""), ("rename over", ""), ("delete", "-wal")] {
        let home = Home::new("taken-away");
        home.write("twice.toml", TWICE);
        let journal = home.path("state/pointsman/journal.db");
        let target = home.path(&format!("state/pointsman/journal.db{ending}"));
        let served = Served::new(move |asked| {
            if asked > 1 {
                return;
            }
            assert!(journal.exists(), "there is a journal while it runs");
            let aside = journal.with_extension("aside");
            if way == "delete" {
                fs::remove_file(&target).expect("the file existed and is removed");
            } else {
                fs::copy(&journal, &aside).expect("the file is copied");
                fs::rename(&aside, &target).expect("the file is renamed");
            }
        });
        let model = ["--model", "openai-compatible:any"];
        let run = ["run", "twice.toml", "it", model[0], model[1]];
        let shown = home.with(&[("OPENAI_BASE_URL", &served.url)], &run);
        assert_eq!(shown.code, Some(10), "{way}{ending}: {}{}", shown.out, shown.err);
        assert!(shown.err.contains("was deleted or replaced while in use"), "{}", shown.err);
        assert_eq!(served.asked(), 1, "{way}{ending}: the second question was asked");
    }
}

/// Says what a run has spent, as `show` counts it.
fn model_calls(home: &Home) -> u64 {
    let shown = home.pointsman(&["show", "last", "--json"]).1;
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    shown["spent"]["model_calls"].as_u64().expect("it is counted")
}

fn certified(home: &Home, chart: &str) -> usize {
    let checked = home.pointsman(&["check", chart, "--json"]).1;
    let checked: Value = serde_json::from_str(&checked).expect("the text is valid JSON");
    let calls = checked["certificate"]["model_calls"].as_u64();
    usize::try_from(calls.unwrap_or_else(|| panic!("{checked}")))
        .expect("the number fits in a usize")
}

#[test]
fn kills_never_exceed_the_certified_model_calls() {
    let budget =
        "[budget]\nasking = { max = 3, charge = \"model_call\", else = \"failed\" }\n[any]";
    let retried = TWICE.replace("timeout = \"10m\"", "timeout = \"10m\"\nattempts = 2");
    let charts = [
        ("bare", TWICE.to_owned(), 2),
        ("attempts", retried.clone(), 4),
        ("budget", retried.replace("[any]", budget), 3),
    ];
    for (name, chart, permits) in charts {
        let home = Home::new(&format!("bounded-{name}"));
        home.write("twice.toml", &chart);
        assert_eq!(certified(&home, "twice.toml"), permits, "{name}");
        let model = ["--model", "openai-compatible:any"];
        // The first six requests are not answered before the program was killed.
        let (killed, kill) = mpsc::channel::<()>();
        let kill = Mutex::new(kill);
        let served = Served::new(move |asked| {
            if asked <= 6 {
                let _: Result<_, _> =
                    kill.lock().expect("no thread panicked while it held the lock").recv();
            }
        });
        let variables = [("OPENAI_BASE_URL", served.url.as_str())];
        let mut arguments = vec!["run", "twice.toml", "it"];
        let mut refused = None;
        for time in 1..=6 {
            arguments.extend(model);
            let asked = served.asked();
            let mut child = home.start(&variables, &arguments);
            let gone = waited(|| {
                served.asked() > asked
                    || child.try_wait().expect("the process can be polled").is_some()
            });
            assert!(gone, "{name}: neither did it ask nor end");
            drop(child.kill());
            let ended = child.wait_with_output().expect("the process ends");
            if let Some(code) = ended.status.code() {
                refused = Some((
                    time,
                    code,
                    String::from_utf8(ended.stderr).expect("the output is UTF-8"),
                ));
                break;
            }
            let _: Result<_, _> = killed.send(());
            arguments = vec!["resume", "last"];
        }
        let (time, code, told) = refused.expect("the calls come to an end");
        assert_eq!((time, code), (permits + 1, 4), "{name}: {told}");
        assert_eq!(served.asked(), permits, "{name}: {told}");
        assert_eq!(model_calls(&home), permits as u64, "{name}");
        assert!(told.contains("resume 0") && told.contains("--grant model_calls=1"), "{told}");
        // It is not lost: more can be granted, and the rest is done.
        for _ in 0..6 {
            let _: Result<_, _> = killed.send(());
        }
        let granted = ["resume", "last", "--grant", "model_calls=2", model[0], model[1]];
        let shown = home.with(&variables, &granted);
        assert_eq!(shown.code, Some(0), "{name}: {}{}", shown.out, shown.err);
        assert_eq!(served.asked(), permits + 2, "{name}");
        assert_eq!(model_calls(&home), permits as u64 + 2, "{name}");
        assert_eq!(home.pointsman(&["replay", "last"]).0, 0, "{name}");
        let stats = home.pointsman(&["stats"]).1;
        assert!(stats.contains(&format!("{} model calls", permits + 2)), "{name}: {stats}");
    }
}

#[test]
fn a_grant_names_something_that_is_counted() {
    let home = Home::new("grants");
    let (code, _, told) = home.pointsman(&["resume", "last", "--grant", "luck=3"]);
    assert!(code == 2 && told.contains("model_calls, tool_calls"), "{told}");
    for wrong in ["model_calls", "model_calls=0", "model_calls=-1", "model_calls=many"] {
        let (code, _, told) = home.pointsman(&["resume", "last", "--grant", wrong]);
        assert_eq!(code, 2, "{told}");
    }
}

/// Waits until something is so, for minutes if it must be.
pub(crate) fn waited(mut is: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_mins(5) {
        if is() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn recordings_and_logs_are_their_owners_alone() {
    let home = Home::new("private");
    let served = Served::new(|_| {});
    home.write("twice.toml", TWICE);
    let model = ["--model", "openai-compatible:any", "--record", "tape.jsonl"];
    let run = [&["run", "twice.toml", "it"][..], &model].concat();
    let variables = [
        ("OPENAI_BASE_URL", served.url.as_str()),
        ("POINTSMAN_LOG", "debug"),
        ("POINTSMAN_LOG_FILE", "log.txt"),
    ];
    let shown = home.with(&variables, &run);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    for file in ["tape.jsonl", "log.txt"] {
        let found = fs::metadata(home.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_run_that_another_process_drives_is_not_driven_twice() {
    let home = Home::new("driven");
    home.write("twice.toml", TWICE);
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let served = Served::new(move |_| {
        let _: Result<_, _> =
            wait.lock().expect("no thread panicked while it held the lock").recv();
    });
    let model = ["--model", "openai-compatible:any"];
    let variables = [("OPENAI_BASE_URL", served.url.as_str())];
    let mut child = home.start(&variables, &["run", "twice.toml", "it", model[0], model[1]]);
    assert!(waited(
        || served.asked() == 1 || child.try_wait().expect("the process can be polled").is_some()
    ));
    let shown = home.with(&variables, &["resume", "last", model[0], model[1]]);
    // Nothing is wrong with the journal: another command was meant.
    assert_eq!(shown.code, Some(2), "{}", shown.err);
    assert!(shown.err.contains("is owned by another process"), "{}", shown.err);
    assert!(shown.err.contains("hint: "), "{}", shown.err);
    for _ in 0..2 {
        let _: Result<_, _> = go.send(());
    }
    let ended = child.wait_with_output().expect("the process ends");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(served.asked(), 2);
}

#[test]
fn journal_at_its_size_limit_has_a_hint() {
    let home = Home::new("capped");
    home.settings("[journal]\nmax_size = \"64KiB\"\n");
    let goal = "points ".repeat(12_000);
    let (code, _, err) = home.pointsman(&["run", "note.toml", &goal, "--set", "tone=dry"]);
    assert_eq!(code, 10, "{err}");
    full(&err);
}

/// Checks that the message about a full disk names the remedy.
#[track_caller]
pub(crate) fn full(told: &str) {
    for part in [
        "the disk is full, or the journal has reached its size limit; nothing was written",
        "hint: free some disk space first",
        "raise `max_size` of `[journal]` or remove runs with `runs prune`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
