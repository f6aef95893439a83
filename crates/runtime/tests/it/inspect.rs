//! A run at any of its entries, whichever was read before: the same as a fold up to it.

use std::sync::Arc;

use pointsman_kernel::{
    chart::Disposition,
    event::{Event, Pauser},
    id::Seq,
    run::Core,
    view::view,
};
use pointsman_runtime::{
    engine::EngineError,
    inspect::{Inspector, RunMoment},
    store::{MemoryStore, Store, import::Exported},
    timeline::{Projector, Spent},
};
use pointsman_testing::kept::{self, WrittenRun, corpus};
use serde_json::{Value, json};

async fn inspector(exported: &Exported) -> Inspector {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let agents = pointsman_agents::all();
    kept::keep(&*store, &agents, exported).await;
    Inspector::open(&agents, store, &exported.run).await.expect("it opens")
}

fn written(moment: &RunMoment) -> Value {
    serde_json::to_value(moment).expect("it serialises")
}

/// Checks a run at each entry against a separate fold, in an order that goes back and forth.
async fn check(exported: &Exported, every: u64, room: usize) {
    let mut inspector = inspector(exported).await.with_checkpoints(every, room);
    let program = Arc::new(pointsman_agents::all().verify(&exported.source).expect("it is fine"));
    let mut projector = Projector::new(program, exported.run.clone());
    let mut wanted = Vec::new();
    for line in &exported.lines {
        let (why, items) = projector.fold(line).expect("it is folded");
        let run = view(projector.program(), projector.loaded().run.core());
        wanted.push((json!(why), json!(items), json!(run)));
    }
    let last = wanted.len();
    let forth = 1..=last;
    let mixed = (1..=last).map(|at| (at * 7919) % last + 1);
    for at in forth.clone().chain(forth.rev()).chain(mixed) {
        let moment = inspector.at(Seq(at as u64)).await.expect("it is read");
        let (why, items, run) = &wanted[at - 1];
        let found = written(&moment);
        let place = || format!("{} at {at}", exported.run);
        assert_eq!(found["why"], *why, "{}", place());
        assert_eq!(found["items"], *items, "{}", place());
        assert_eq!(found["view"], *run, "{}", place());
        let visits: u64 = moment.taken.iter().filter(|it| it.to.is_some()).map(|it| it.count).sum();
        assert_eq!(visits, moment.view.visits, "{}: {:?}", place(), moment.taken);
        for bound in &moment.bounds {
            assert!(bound.used <= bound.max, "{}: {bound:?}", place());
        }
        assert!(inspector.checkpoints().1 <= room, "{}", place());
    }
    for (after, entries) in [(0, last), (last / 2, 3), (last, 1)] {
        let items = inspector.items(Seq(after as u64), entries).await.expect("they are read");
        let lines = wanted.iter().skip(after).take(entries);
        let expected: Vec<Value> =
            lines.flat_map(|(_, items, _)| items.as_array().cloned().unwrap_or_default()).collect();
        assert_eq!(json!(items), json!(expected), "{} after {after}", exported.run);
    }
}

#[tokio::test]
async fn every_kept_run_can_be_read_at_each_of_its_entries() {
    let runs = corpus("");
    for exported in &runs {
        check(exported, 4, usize::MAX).await;
    }
    assert!(runs.len() > 70, "{} runs", runs.len());
}

#[tokio::test]
async fn checkpoints_stay_within_their_room() {
    for exported in &corpus("explore-01") {
        check(exported, 1, 40_000).await;
        // Without room there are none, and everything can still be read.
        check(exported, 1, 0).await;
        let mut inspector = inspector(exported).await.with_checkpoints(1, usize::MAX);
        let last = Seq(exported.lines.len() as u64);
        inspector.at(last).await.expect("it is read");
        assert_eq!(inspector.checkpoints().0, exported.lines.len());
    }
}

#[tokio::test]
async fn a_moment_has_data_prompts_and_what_was_used() {
    let exported = corpus("research-01").remove(0);
    let mut inspector = inspector(&exported).await;
    let last = Seq(exported.lines.len() as u64);
    let (mut prompts, mut items) = (0, Vec::new());
    for seq in 1..=last.0 {
        let moment = inspector.at(Seq(seq)).await.expect("it is read");
        prompts += moment.prompts.len();
        items.extend(moment.items);
    }
    let end = inspector.at(last).await.expect("it is read");
    let spent = Spent::of(&items);
    assert_eq!(prompts as u64, spent.model_calls);
    let calls = end.bounds.iter().find(|it| it.name == "model_calls").expect("it is bounded");
    assert_eq!(calls.used, spent.model_calls);
    assert_eq!(end.view.ended.map(Disposition::name), Some("succeeded"));
    assert!(end.result.is_some());
    let data: Value = serde_json::from_str(end.data.get()).expect("it is JSON");
    assert!(data.as_object().is_some_and(|data| !data.is_empty()), "{data}");
    assert_eq!(end.taken.first().map(|it| it.from.is_none()), Some(true));
}

#[tokio::test]
async fn an_entry_that_is_not_there_is_named() {
    let exported = corpus("builtin-one-01").remove(0);
    let last = exported.lines.len();
    let mut inspector = inspector(&exported).await;
    for asked in [0, last + 1, last + 9] {
        let refused = inspector.at(Seq(asked as u64)).await;
        let Err(EngineError::NoSuchEntry { asked: named, .. }) = refused else {
            panic!("entry {asked}: {refused:?}");
        };
        assert_eq!(named.0, asked as u64);
    }
    // It can be read on.
    inspector.at(Seq(last as u64)).await.expect("it is there");
}

#[tokio::test]
async fn long_journal_is_replayed_in_parts() {
    let exported = corpus("explore-01").remove(0);
    let mut inspector = inspector(&exported).await;
    let last = Seq(exported.lines.len() as u64);
    let mut parts = 1;
    while !inspector.approach(last, 10).await.expect("it is read") {
        assert_eq!(inspector.seq().0, parts * 10);
        parts += 1;
    }
    assert_eq!(inspector.seq().0 + 1, last.0);
    assert!(parts > 2, "{parts} parts");
}

#[tokio::test]
async fn a_journal_of_thousands_of_entries_is_read_from_checkpoints() {
    let agents = pointsman_agents::all();
    let open = |_: &_, core: &Core| core.ended.is_none() && !core.paused;
    let mut run = WrittenRun::cut(&agents, corpus("chat-10").remove(0), open);
    while run.exported.lines.len() < 5_000 {
        run.write(Event::Paused { why: "a test".into(), by: Some(Pauser::Person) });
        run.write(Event::Resumed);
    }
    let mut inspector = inspector(&run.exported).await;
    let last = run.exported.lines.len() as u64;
    inspector.at(Seq(last)).await.expect("it is read");
    assert_eq!(inspector.checkpoints().0, 4, "one for every 1,024 entries");
    for seq in [3_000, 1, 1_025, last, 4_096] {
        assert_eq!(inspector.at(Seq(seq)).await.expect("it is read").seq.0, seq);
        // From the checkpoint before it, and not from the start.
        assert!(inspector.approach(Seq(seq), 1_024).await.expect("it is read"), "entry {seq}");
    }
}
