//! The one projection: observers of a run and readers of its journal receive the same items, from
//! any entry on.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use pointsman_kernel::{agents::Agents, governor::Permissions, id::Seq};
use pointsman_runtime::{
    entry::event,
    model::{ModelSettings, Spec},
    observe::{Notice, Observer},
    session::{StartOptions, Unattended},
    store::{RunId, import},
    timeline::{Projector, Timeline, TimelineItem, TimelineKind},
};
use serde_json::Value;

use crate::session::{Says, TestSession};

fn json(items: &[TimelineItem]) -> Vec<Value> {
    items.iter().map(|item| serde_json::to_value(item).expect("the value serialises")).collect()
}

/// Returns an observer, and its items.
fn watching() -> (Arc<dyn Observer>, Arc<Mutex<Vec<TimelineItem>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&told);
    let observer = move |_: &RunId, notice: &Notice| {
        if let Notice::Item(item) = notice {
            keeps.lock().expect("no thread panicked while it held the lock").push(item.clone());
        }
    };
    (Arc::new(observer), told)
}

/// Reads the timeline of a run after an entry.
fn read(
    desk: &TestSession,
    agents: &Agents,
    run: &RunId,
    after: u64,
    page: usize,
) -> Vec<TimelineItem> {
    let store = Arc::clone(desk.session.store());
    desk.session.block_on(async {
        let opened = Timeline::open(agents, store, run, Seq(after)).await;
        let mut timeline = opened.unwrap_or_else(|error| panic!("it opens: {error}"));
        let mut items = Vec::new();
        loop {
            let next = timeline.next(page).await;
            match next.unwrap_or_else(|error| panic!("it is read: {error}")) {
                next if next.is_empty() => return items,
                next => items.extend(next),
            }
        }
    })
}

/// Compares the items that observers received with the journal, read from every entry on.
fn check(desk: &TestSession, run: &RunId, told: &Mutex<Vec<TimelineItem>>) {
    let told = json(&told.lock().expect("no thread panicked while it held the lock"));
    let all = read(desk, desk.session.agents(), run, 0, 2);
    // Only observers know the model's name.
    let named = |item: Value| {
        let text = item.to_string();
        let text = text.replace("asks quote (built in, no model)", "asks the model");
        serde_json::from_str::<Value>(&text).expect("the text is valid JSON")
    };
    assert_eq!(told.into_iter().map(named).collect::<Vec<_>>(), json(&all));
    let last = all.last().expect("it has items").seq.0;
    for after in 0..=last {
        let wanted: Vec<_> = all.iter().filter(|item| item.seq.0 > after).cloned().collect();
        let found = read(desk, desk.session.agents(), run, after, usize::MAX);
        assert_eq!(json(&found), json(&wanted), "after entry {after}");
    }
}

#[test]
fn live_items_equal_the_journals_items() {
    let desk = TestSession::new("timeline-live");
    let (observer, told) = watching();
    let start = TestSession::start(true);
    let ran = desk.session.run(&desk.executor(), start, vec![observer], &mut Says(true, 0));
    let run = ran.unwrap_or_else(|error| panic!("it runs: {error}")).run;
    check(&desk, &run, &told);
    let kinds = told.lock().expect("no thread panicked while it held the lock");
    let asked = |item: &&TimelineItem| matches!(item.kind, TimelineKind::Asked(_));
    let allowed = |it: &&TimelineItem| {
        matches!(it.kind, TimelineKind::ApprovalAnswered { granted: true, .. })
    };
    assert_eq!(kinds.iter().filter(asked).count(), kinds.iter().filter(allowed).count());
    assert!(matches!(kinds.last().map(|it| &it.kind), Some(TimelineKind::Ended { .. })));
}

#[test]
fn research_timeline_is_the_same_live_and_later() {
    let desk = TestSession::new("timeline-research");
    fs::write(desk.work().join("a.md"), "# Signals\n\nA signal box sets the points.\n")
        .expect("the file is written");
    let (observer, told) = watching();
    let source = pointsman_agents::all().chart("research").expect("the chart ships");
    let start = StartOptions {
        program: crate::program(source),
        source: source.into(),
        config: serde_json::json!({ "goal": "What sets the points?" }).into(),
        words: Vec::new(),
        goal: "What sets the points?".into(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    };
    let executor = desk.host_of(ModelSettings::new(Spec::quote()), None);
    let ran = desk.session.run(&executor, start, vec![observer], &mut Unattended);
    let run = ran.unwrap_or_else(|error| panic!("it runs: {error}")).run;
    check(&desk, &run, &told);
}

#[test]
fn a_run_whose_agent_is_not_known_gives_events_and_hops() {
    let desk = TestSession::new("timeline-raw");
    let run = desk.run(&mut Says(true, 0)).run;
    let whole = read(&desk, desk.session.agents(), &run, 0, usize::MAX);
    let events: Vec<&str> = whole.iter().filter_map(|item| item.kind.event()).collect();
    let raw = read(&desk, &Agents::new(), &run, 0, 1);
    let names: Vec<&str> = raw.iter().filter_map(|item| item.kind.event()).collect();
    assert_eq!(names, events);
    let hops = raw.iter().map(|item| match &item.kind {
        TimelineKind::Raw { hops, .. } => hops.len(),
        other => panic!("not raw: {other:?}"),
    });
    let taken = |it: &&TimelineItem| matches!(it.kind, TimelineKind::Transition { .. });
    assert_eq!(hops.sum::<usize>(), whole.iter().filter(taken).count());
    assert_eq!(read(&desk, &Agents::new(), &run, 2, usize::MAX).len(), raw.len() - 2);
}

/// Journals of all agents that earlier drivers wrote: every line has exactly one event, items are
/// numbered without a gap, and a reader that begins later finds the same.
#[test]
fn every_kept_journal_has_a_timeline_from_any_entry_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let agents = pointsman_agents::all();
    let mut runs = 0;
    for file in fs::read_dir(folder).expect("the corpus is there") {
        let path = file.expect("it can be listed").path();
        let name = path.display();
        let exported = import::read(fs::File::open(&path).expect("the file opens"));
        let exported = exported.unwrap_or_else(|error| panic!("{name}: {error}"));
        let verified = agents.verify(&exported.source);
        let program = Arc::new(verified.unwrap_or_else(|refused| panic!("{name}: {refused:?}")));
        let mut projector = Projector::new(Arc::clone(&program), exported.run.clone());
        let items = projector.fold_all(&exported.lines);
        let items = items.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (seq, entry) in (1..).zip(items.chunk_by(|one, next| one.seq == next.seq)) {
            assert!(entry.iter().all(|item| item.seq == Seq(seq)), "{name}: entry {seq}");
            assert!((0..).zip(entry).all(|(at, item)| item.index == at), "{name}: entry {seq}");
            let events: Vec<&str> = entry.iter().filter_map(|item| item.kind.event()).collect();
            let line =
                &exported.lines[usize::try_from(seq).expect("the number fits in a usize") - 1];
            let written = event(line).expect("it was folded");
            assert_eq!(events, [written.name()], "{name}: entry {seq}");
        }
        for item in &items {
            let written = serde_json::to_value(item).expect("the value serialises");
            assert_eq!(written["kind"], item.kind.name(), "{name}");
        }
        let last = items.last().map_or(0, |item| item.seq.0);
        assert_eq!(last, exported.lines.len() as u64, "{name}");
        let (first, rest) = exported.lines.split_at(exported.lines.len() / 2);
        let mut later = Projector::new(program, exported.run.clone());
        let before = later.fold_all(first).expect("the lines were folded before").len();
        let after = later.fold_all(rest).expect("the lines were folded before");
        assert_eq!(json(&after), json(&items[before..]), "{name}");
        runs += 1;
    }
    assert!(runs > 70, "{runs} runs");
}
