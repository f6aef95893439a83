//! Journals that drivers of released formats wrote: exported once, replayed by every build,
//! never edited. CONTRIBUTING.md says when one may be replaced.

use std::{collections::BTreeSet, fs, path::PathBuf};

use pointsman_kernel::journal::Entry;
use pointsman_runtime::{driver::fold, store::import};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// Returns what an event is called, and which answer it brings.
fn named(event: &str) -> String {
    let event: serde_json::Value = serde_json::from_str(event).expect("it is JSON");
    let Some((name, body)) = event.as_object().and_then(|map| map.iter().next()) else {
        return event.as_str().unwrap_or_default().to_owned();
    };
    let answer = body.get("answer").and_then(|answer| answer.as_object()?.keys().next());
    answer.map_or_else(|| name.clone(), |answer| format!("{name} {answer}"))
}

#[test]
fn journals_of_earlier_drivers_replay() {
    let (mut agents, mut events, mut runs) = (BTreeSet::new(), BTreeSet::new(), (0, 0, 0));
    for entry in fs::read_dir(folder()).expect("the corpus is there") {
        let path = entry.expect("it can be listed").path();
        let name = path.display();
        let file = fs::File::open(&path).expect("it can be read");
        let exported = import::read(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let loaded = fold(&crate::program(&exported.source), &exported.run, &exported.lines)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(loaded.link, exported.link, "{name}");
        for line in &exported.lines {
            events.insert(named(Entry::read(line).expect("it was read").event.get()));
        }
        agents.insert(exported.agent);
        let (all, forks, children) = runs;
        let child = exported.run.as_str().contains('-');
        runs = (
            all + 1,
            forks + usize::from(exported.forked.is_some()),
            children + usize::from(child),
        );
    }
    // What the corpus was collected for is still in it.
    let (all, forks, children) = runs;
    assert!(all >= 70 && forks >= 10 && children >= 4, "{runs:?}");
    for agent in pointsman_agents::AGENTS {
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
