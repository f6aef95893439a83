//! The journal store: order, conflicts, many runs at once, rejections.

mod artifacts;
mod checksums;
mod children;
mod conformance;
mod exports;
mod faults;
mod flips;
mod lists;
mod lost;
mod messages;
mod prunes;
mod queues;

use std::sync::Arc;

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use pointsman_runtime::store::{
    Append, Filter, MessageId, Page, RunId, RunRow, SqliteStore, Store as _, StoreError,
};
pub(crate) use pointsman_testing::folder::TempFolder;
use pointsman_testing::script::{Script, id, new_run, write};

/// What tests ask of a store besides.
pub(crate) trait Plain {
    /// Writes an entry under a lease that is claimed for it alone.
    async fn write(&self, append: Append) -> Result<(), StoreError>;
    /// Returns all runs, or the first damage.
    fn runs(&self) -> Result<Vec<RunRow>, StoreError>;
    fn has_message(&self, message: MessageId) -> Result<bool, StoreError>;
}

impl Plain for SqliteStore {
    async fn write(&self, append: Append) -> Result<(), StoreError> {
        write(self, append).await
    }

    fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let reader = self.reader();
        let listed = reader.list(&Filter::default(), &Page::first(usize::MAX))?;
        let mut damaged = reader.check()?.into_iter().chain(listed.damaged);
        damaged.next().map_or(Ok(listed.runs), Err)
    }

    fn has_message(&self, message: MessageId) -> Result<bool, StoreError> {
        Ok(self.reader().all_messages()?.iter().any(|found| found.id == message))
    }
}

fn names(store: &SqliteStore) -> Vec<String> {
    store.runs().expect("the runs are readable").iter().map(|row| row.id.to_string()).collect()
}

#[tokio::test]
async fn entries_survive_reopening() {
    let folder = TempFolder::new("survives");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let mut last = script.next("the last");
    last.ended = Some(Disposition::Stuck);
    last.snapshot = Some("{\"a\":1}".into());
    store.write(last.clone()).await.expect("the entry is written");
    let link = Digest::of(last.line.as_bytes());
    drop(store);

    let store = folder.store();
    let row = store.reader().run(&script.run).expect("the run exists");
    assert_eq!((row.seq, row.link, &*row.state, row.wake), (Seq(2), link, "state2", Some(20)));
    assert_eq!(row.ended.as_deref(), Some("stuck"));
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
    assert_eq!(
        store.reader().lines(&script.run, Seq(1)).expect("the journal lines are readable"),
        [&*last.line]
    );
    assert!(
        store
            .reader()
            .lines(&script.run, Seq(2))
            .expect("the journal lines are readable")
            .is_empty()
    );
    let error = store.reader().lines(&script.run, Seq(3)).expect_err("there is no entry 3");
    assert!(matches!(error, StoreError::NoSuchEntry { .. }), "{error}");
    let kept = store
        .reader()
        .snapshot(&script.run)
        .expect("the snapshot is readable")
        .expect("there is one");
    assert_eq!((kept.seq, kept.link, &*kept.body), (Seq(2), link, "{\"a\":1}"));
    assert_eq!(
        store.reader().chart_source(&script.run).expect("the chart text is readable"),
        "chart = \"research\""
    );
}

#[tokio::test]
async fn there_are_no_gaps_and_no_second_writer() {
    let folder = TempFolder::new("gaps");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let (mut ahead, mut rewritten, mut strange) =
        (script.clone(), Script::new("one"), Script::new("other"));
    ahead.next("skipped");
    for (wrong, wanted) in [(ahead.next("too soon"), 3), (rewritten.next("again"), 1)] {
        let error = store.write(wrong).await.expect_err("the store refuses the entry");
        assert!(
            matches!(error, StoreError::Conflict { at: Seq(1), wanted: Seq(w), .. } if w == wanted),
            "{error}"
        );
    }
    let error =
        store.write(rewritten.next("other past")).await.expect_err("the store refuses the entry");
    assert!(error.to_string().contains("does not follow the run's last entry"), "{error}");
    let error = store.write(strange.next("nobody")).await.expect_err("the store refuses the entry");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    let again = Script::new("one").next("again");
    let error = store.create(again.into(), new_run(9)).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::RunExists { .. }), "{error}");
    // A second process that resumes the same run loses the race, with an error.
    let second = folder.store();
    let next = script.next("next");
    second.write(next.clone()).await.expect("it is first");
    let error = store.write(next).await.expect_err("the store refuses the entry");
    assert!(matches!(error, StoreError::Conflict { at: Seq(2), .. }), "{error}");
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
}

#[tokio::test]
async fn invalid_journal_line_is_rejected() {
    let folder = TempFolder::new("unfit");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let good = script.next("good");
    for line in ["", "{}", "not JSON", &Script::new("one").next("entry 1").line] {
        let wrong = Append { line: line.to_owned().into(), ..good.clone() };
        let error = store.write(wrong).await.expect_err("the store refuses the entry");
        assert!(error.to_string().contains("entry 2 of run one cannot be stored"), "{error}");
    }
    store.write(good).await.expect("the good one is written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_runs_share_flushes_and_lose_nothing() {
    let folder = TempFolder::new("many");
    let store = Arc::new(folder.store());
    let tasks: Vec<_> = (0..64)
        .map(|at| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut script = Script::begin(&format!("run-{at}"), &*store, at).await;
                script.until(&*store, 20).await;
                // A rejection in the middle of a batch does not affect the others.
                let wrong = Script::new(script.run.as_str()).next("wrong");
                store.write(wrong).await.expect_err("the store refuses the entry");
                script.until(&*store, 40).await;
                script
            })
        })
        .collect();
    let mut scripts = Vec::new();
    for task in tasks {
        scripts.push(task.await.expect("the task did not panic"));
    }
    let runs = store.runs().expect("the runs are readable");
    assert_eq!(runs.len(), 64);
    assert!(runs.is_sorted_by(|left, right| left.created_ms >= right.created_ms));
    for script in scripts {
        assert_eq!(
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
            script.lines
        );
    }
}

#[test]
fn run_ids_are_plain() {
    for wrong in ["", "a b", "../x", "ü", &"x".repeat(65)] {
        assert!(wrong.parse::<RunId>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn pages_are_found_again_after_a_run_was_written_anew() {
    let folder = TempFolder::new("places");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    for at in 0..600 {
        store.write(script.next(&format!("entry {at}"))).await.expect("the entry is written");
    }
    let pages = |store: &SqliteStore| {
        for after in [550, 300, 0, 255, 256, 511, 512] {
            let page = store.reader().page(&script.run, Seq(after as u64), 20).expect("a page");
            assert_eq!(page, script.lines[after..after + 20], "after {after}");
        }
    };
    pages(&store);
    pages(&store);
    // Another run takes the place of its entries.
    store.remove(&script.run).await.expect("the store answers").expect("it is removed");
    Script::begin("other", &store, 6).await;
    let mut again = Script::begin("one", &store, 5).await;
    for at in 0..600 {
        store.write(again.next(&format!("entry {at}"))).await.expect("the entry is written");
    }
    pages(&store);
}

#[tokio::test]
async fn pages_are_found_where_two_runs_wrote_in_turn() {
    let folder = TempFolder::new("turns");
    let store = folder.store();
    let mut one = Script::begin("one", &store, 5).await;
    let mut other = Script::begin("other", &store, 6).await;
    for (script, entries) in
        [(0, 400), (1, 300), (0, 5), (1, 1), (0, 600), (1, 700), (0, 300), (1, 2), (0, 1)]
    {
        let script = if script == 0 { &mut one } else { &mut other };
        for at in 0..entries {
            let entry = script.next(&format!("entry {at}"));
            store.write(entry).await.expect("the entry is written");
        }
    }
    for script in [&one, &other] {
        for after in [0, 1, 250, 256, 300, 404, 511, 512, 700, 768, 900] {
            // A store that was just opened has no place in mind.
            for store in [&folder.store(), &store] {
                let page = store.reader().page(&script.run, Seq(after as u64), 20);
                let page = page.expect("a page");
                assert_eq!(page, script.lines[after..after + 20], "after {after}");
            }
        }
    }
}
