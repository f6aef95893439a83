//! Figures over many runs: every journal is read once, and every chart.

use std::sync::Arc;

use pointsman_kernel::governor::Permissions;
use pointsman_runtime::{
    clock::new_run_id,
    stats::{Stats, SummaryCache},
    store::StoreError,
};
use serde_json::Value;

use super::{World, begin_with, begun, context, research, to_the_end};
use crate::store::{Plain as _, TempFolder};

#[tokio::test]
async fn each_run_and_each_chart_is_read_once() {
    let folder = TempFolder::new("figures");
    let store = Arc::new(folder.store());
    let (shipped, source) = research();
    let other = format!("{source}\n# The same in other words.\n");
    let copy = Arc::new(crate::program(&other));
    let mut reads = Vec::new();
    for runs in [2, 12] {
        while store.runs().expect("the runs are readable").len() < runs {
            for program in [(Arc::clone(&shipped), source), (Arc::clone(&copy), other.as_str())] {
                let begun = begun(&program.0, Permissions::allow_all());
                let context = context(&store, &World::new(0));
                to_the_end(&mut begin_with(context, program, new_run_id(), begun).await).await;
            }
        }
        let before = store.reader().reads();
        let stats =
            Stats::over(&pointsman_agents::all(), &*store, None).await.expect("they are read");
        reads.push(store.reader().reads() - before);
        assert_eq!((stats.runs, stats.unreadable), (runs as u64, Vec::new()));
    }
    // The list, two charts, and each run.
    assert_eq!(reads, [3 + 2, 3 + 12]);
}

#[tokio::test]
async fn unchanged_runs_are_counted_from_the_kept_figures() {
    let folder = TempFolder::new("figures-kept");
    let store = Arc::new(folder.store());
    for _ in 0..3 {
        to_the_end(&mut super::begin(&store, &World::new(0), new_run_id()).await).await;
    }
    let (agents, file) = (pointsman_agents::all(), folder.0.join("kept.summaries"));
    let plain = Stats::over(&agents, &*store, None).await.expect("they are read");
    let mut reads = Vec::new();
    for known in [0, 3, 0] {
        let mut cache = SummaryCache::open(&file);
        assert_eq!(cache.len(), known);
        let before = store.reader().reads();
        let counted = Stats::with_cache(&agents, &*store, None, &mut cache).await;
        assert_eq!(counted.expect("they are read"), plain);
        reads.push(store.reader().reads() - before);
        cache.save().expect("the file is written");
        if known == 3 {
            // A damaged file counts as none.
            std::fs::write(&file, "{\"run\":").expect("the file is written");
        }
    }
    // The second time only the list and the chart are read.
    assert_eq!(reads[0], reads[2]);
    assert_eq!(reads[1], reads[0] - 3);
    // A run that changed is read again.
    to_the_end(&mut super::begin(&store, &World::new(0), new_run_id()).await).await;
    let mut cache = SummaryCache::open(&file);
    let counted = Stats::with_cache(&agents, &*store, None, &mut cache).await;
    assert_eq!(counted.expect("they are read").runs, 4);
}

#[tokio::test]
async fn kept_figures_of_another_revision_are_not_used() {
    let folder = TempFolder::new("figures-revision");
    let store = Arc::new(folder.store());
    to_the_end(&mut super::begin(&store, &World::new(0), new_run_id()).await).await;
    let (agents, file) = (pointsman_agents::all(), folder.0.join("kept.summaries"));
    let mut reads = Vec::new();
    let mut kept = Vec::new();
    // The kept figures are of this build; another one; and they were read again.
    for time in 0..4 {
        let mut cache = SummaryCache::open(&file);
        let before = store.reader().reads();
        let counted = Stats::with_cache(&agents, &*store, None, &mut cache).await;
        assert_eq!(counted.expect("they are read").runs, 1);
        reads.push(store.reader().reads() - before);
        cache.save().expect("the file is written");
        let text = std::fs::read_to_string(&file).expect("there is a file");
        let mut line: Value = serde_json::from_str(text.trim()).expect("it is JSON");
        kept.push(line["revision"].clone());
        if time == 1 {
            line["revision"] = "of another build".into();
            std::fs::write(&file, format!("{line}\n")).expect("the file is written");
        }
    }
    assert_eq!([reads[0] - reads[1], reads[2] - reads[1]], [1, 1], "{reads:?}");
    assert_eq!(reads[3], reads[1]);
    assert!(kept.iter().all(|revision| *revision == kept[0]), "{kept:?}");
}

#[tokio::test]
async fn a_run_that_is_damaged_hides_no_other_of_its_chart() {
    let folder = TempFolder::new("figures-damaged");
    let store = Arc::new(folder.store());
    let mut ids = Vec::new();
    for _ in 0..3 {
        let mut driver = super::begin(&store, &World::new(0), new_run_id()).await;
        to_the_end(&mut driver).await;
        ids.push(driver.id().clone());
    }
    let damage = "UPDATE entry SET line = replace(line, 'main.rs', 'moin.rs') WHERE run = ?1";
    let changed = folder.raw().execute(damage, [ids[1].as_str()]).expect("the SQL runs");
    assert!(changed > 0);
    let stats =
        Stats::over(&pointsman_agents::all(), &*store, None).await.expect("the others are read");
    assert_eq!(stats.runs, 2);
    let [(run, why)] = &*stats.unreadable else { panic!("{:?}", stats.unreadable) };
    assert!(**run == *ids[1].as_str() && why.contains("differs from the one written"), "{why}");
    // An unreadable chart is reported for each of its runs.
    let damage = "UPDATE artifact SET body = zeroblob(3) WHERE digest = (SELECT source FROM run)";
    assert_eq!(folder.raw().execute(damage, []).expect("the SQL runs"), 1);
    let stats =
        Stats::over(&pointsman_agents::all(), &*store, None).await.expect("the list is read");
    assert_eq!((stats.runs, stats.unreadable.len()), (0, 3));
    let source = store.reader().chart_source(&ids[0]);
    assert!(matches!(source, Err(StoreError::Damaged { .. })), "{source:?}");
}
