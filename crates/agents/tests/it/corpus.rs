//! Journals that drivers of released formats wrote: exported once, replayed by every build,
//! never edited. CONTRIBUTING.md says when one may be replaced.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use pointsman_kernel::{
    id::{Digest, Seq},
    journal::Entry,
};
use serde::Deserialize;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// The first line of an export.
#[derive(Deserialize)]
struct Header {
    run: String,
    agent: String,
    source: String,
    #[serde(default)]
    forked: Option<(String, Seq)>,
}

/// The last line of an export.
#[derive(Deserialize)]
struct Trailer {
    link: Digest,
}

/// Returns what an event is called, and which answer it brings.
fn named(event: &str) -> String {
    let event: Value = serde_json::from_str(event).expect("text is valid JSON");
    let Some((name, body)) = event.as_object().and_then(|map| map.iter().next()) else {
        return event.as_str().unwrap_or_default().to_owned();
    };
    let answer = body.get("answer").and_then(|answer| answer.as_object()?.keys().next());
    answer.map_or_else(|| name.clone(), |answer| format!("{name} {answer}"))
}

#[test]
fn journals_of_earlier_drivers_replay() {
    let all = pointsman_agents::all();
    let (mut agents, mut events, mut runs) = (BTreeSet::new(), BTreeSet::new(), (0, 0, 0));
    for entry in fs::read_dir(folder()).expect("the corpus is there") {
        let path = entry.expect("folder is readable").path();
        let name = path.display();
        let text = fs::read_to_string(&path).expect("file is readable");
        let lines: Vec<&str> = text.lines().collect();
        let [head, lines @ .., tail] = &lines[..] else { panic!("{name} is cut off") };
        let header: Header = serde_json::from_str(head).expect("text is valid JSON");
        let trailer: Trailer = serde_json::from_str(tail).expect("text is valid JSON");
        let program = all.verify(&header.source);
        let program = program.unwrap_or_else(|refused| panic!("{name}: {refused:?}"));
        let (mut run, mut link) = (program.start(), Digest::default());
        for line in lines {
            let folded = run.fold(&program, link, line);
            link = folded.unwrap_or_else(|error| panic!("{name}: {error}")).1;
            events.insert(named(Entry::read(line).expect("entry is readable").event.get()));
        }
        assert_eq!(link, trailer.link, "{name}");
        agents.insert(header.agent);
        runs.0 += 1;
        runs.1 += usize::from(header.forked.is_some());
        runs.2 += usize::from(header.run.contains('-'));
    }
    // What the corpus was collected for is still in it.
    let (count, forks, children) = runs;
    assert!(count >= 70 && forks >= 10 && children >= 4, "{runs:?}");
    for agent in all.decls() {
        assert!(agents.contains(agent.name), "no run of `{}`", agent.name);
    }
    for event in [
        "begun",
        "given",
        "answered model",
        "answered tool",
        "answered child",
        "answered own",
        "answered fault",
        "approval_answered",
        "woke",
        "cancelled",
        "paused",
        "resumed",
        "interrupted",
        "forked",
        "granted",
    ] {
        assert!(events.contains(event), "no journal has `{event}`: {events:?}");
    }
}

/// Another crate of a build can switch on that JSON objects keep their order: the program has
/// one, for editors; a library user need not. The tier `sorted` replays all journals in a build
/// in which none does, and says so.
#[test]
fn journals_of_the_tier_sorted_meet_a_build_that_sorts_objects() {
    let sorts = json!({ "b": 1, "a": 2 }).to_string().starts_with("{\"a\"");
    assert!(sorts || env::var_os("POINTSMAN_SORTED").is_none(), "this build keeps the order");
}
