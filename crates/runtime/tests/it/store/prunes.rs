//! Pruning: by age, by count, never what lives or is held; the file shrinks.

use std::fs;

use pointsman_kernel::id::{EffectId, Seq};
use pointsman_runtime::store::{
    Filter, NewPrompt, Page, PruneOptions, PruneReport, Store as _, StoreError,
};

use super::{Plain as _, Script, TempFolder, id, names};

fn went(pruned: &PruneReport) -> Vec<&str> {
    pruned.runs.iter().map(|row| row.id.as_str()).collect()
}

#[tokio::test]
async fn prune_removes_only_ended_unprotected_runs() {
    let folder = TempFolder::new("prune");
    let store = folder.store();
    for (name, created, ends) in
        [("a", 1, true), ("b", 2, false), ("c", 3, true), ("d", 4, true), ("e", 9, true)]
    {
        let mut script = Script::begin(name, &store, created).await;
        if ends {
            script.end(&store).await;
        }
    }
    store.send(&id("a"), "never read").await.expect("the message is sent");
    let dry = PruneOptions { before_ms: Some(5), dry_run: true, ..PruneOptions::default() };
    assert_eq!(went(&store.prune(dry).await.expect("the store prunes")), ["d", "c", "a"]);
    let nothing = store.prune(PruneOptions::default()).await.expect("the store prunes");
    assert_eq!((names(&store).len(), nothing), (5, PruneReport::default()));

    let held = store
        .claim(&id("c"))
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    let by_age = PruneOptions { before_ms: Some(4), ..PruneOptions::default() };
    let pruned = store.prune(by_age).await.expect("the store prunes");
    assert_eq!((went(&pruned), &pruned.held[..]), (vec!["a"], &[id("c")][..]));
    assert_eq!(names(&store), ["e", "d", "c", "b"]);
    let error = store.reader().lines(&id("a"), Seq(0)).expect_err("it is gone");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    drop(held);
    let by_count = PruneOptions { keep: Some(2), ..PruneOptions::default() };
    assert_eq!(went(&store.prune(by_count).await.expect("the store prunes")), ["c"]);
    let both = PruneOptions { before_ms: Some(100), keep: Some(1), ..PruneOptions::default() };
    assert_eq!(went(&store.prune(both).await.expect("the store prunes")), ["d"]);
    assert_eq!(names(&store), ["e", "b"]);
}

#[tokio::test]
async fn unneeded_artifacts_are_swept_and_the_file_shrinks() {
    let folder = TempFolder::new("sweep");
    let store = folder.store();
    let mut script = Script::begin("big", &store, 1).await;
    for at in 0_u64..60 {
        // Digests do not compress, so the file grows.
        let words: Vec<String> = (0..200)
            .map(|more: u64| {
                pointsman_kernel::id::Digest::of(&(at * 200 + more).to_le_bytes()).to_string()
            })
            .collect();
        let mut next = script.next(&words.concat());
        if at < 2 {
            let effect = EffectId { seq: next.seq, index: 0 };
            next.prompts = vec![NewPrompt { effect, parts: vec!["hello".into()] }];
        }
        store.write(next).await.expect("the entry is written");
    }
    script.end(&store).await;
    store.fork(&script.run, Seq(3), id("child"), 2).await.expect("the run is forked");
    drop(store);
    let size = || fs::metadata(folder.journal()).expect("the file exists").len();
    let before = size();
    assert!(before > 400_000, "{before} bytes");

    let store = folder.store();
    let pruned = store
        .prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
        .await
        .expect("the store prunes");
    assert_eq!((went(&pruned), pruned.artifacts), (vec!["big"], 58));
    assert!(size() < before / 4, "{} of {before} bytes", size());
    assert_eq!(
        store.reader().lines(&id("child"), Seq(0)).expect("the journal lines are readable"),
        script.lines[..3]
    );
    assert_eq!(store.reader().prompts(&id("child")).expect("the prompts are readable").len(), 2);
    drop(store);
    let check: String = folder
        .raw()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the query returns a row");
    assert_eq!(check, "ok");
    assert_eq!(names(&folder.store()), ["child"]);
}

#[tokio::test]
async fn a_damaged_run_takes_nothing_of_others_with_it() {
    let folder = TempFolder::new("prune-damaged");
    let store = folder.store();
    let mut kept = Script::begin("kept", &store, 1).await;
    kept.until(&store, 4).await;
    let mut gone = Script::begin("gone", &store, 2).await;
    gone.until(&store, 3).await;
    gone.end(&store).await;
    // Its third entry says that it follows one of the other run.
    let damage = "UPDATE entry SET follows = 4 WHERE run = 'gone' AND seq = 3";
    folder.raw().execute_batch(damage).expect("the SQL runs");
    let pruned = store
        .prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
        .await
        .expect("the store prunes");
    assert!(went(&pruned).is_empty() && *pruned.damaged == [gone.run.clone()], "{pruned:?}");
    let removed =
        store.remove(&gone.run).await.expect("the run is removed").expect("it is not held");
    assert_eq!(removed.runs, [gone.run.clone()]);
    assert_eq!(
        store.reader().lines(&kept.run, Seq(0)).expect("the journal lines are readable"),
        kept.lines
    );
    let left = "SELECT count(*) FROM entry WHERE run = 'gone'";
    let left: i64 =
        folder.raw().query_row(left, [], |row| row.get(0)).expect("the query returns a row");
    assert_eq!(left, 0, "what bears its name is gone");
}

#[tokio::test]
async fn child_is_kept_while_its_parent_is_active() {
    let folder = TempFolder::new("prune-child");
    let store = folder.store();
    let mut parent = Script::begin("parent", &store, 1).await;
    for name in ["parent-1-0", "other-1-0", "parent-1-0-2-0"] {
        Script::begin(name, &store, 2).await.end(&store).await;
    }
    let all = PruneOptions { keep: Some(0), ..PruneOptions::default() };
    assert_eq!(went(&store.prune(all).await.expect("the store prunes")), ["other-1-0"]);
    parent.end(&store).await;
    assert_eq!(store.prune(all).await.expect("the store prunes").runs.len(), 3);
}

#[tokio::test]
async fn run_is_removed_in_any_state_without_affecting_others() {
    let folder = TempFolder::new("remove");
    let store = folder.store();
    let mut kept = Script::begin("kept", &store, 1).await;
    kept.until(&store, 3).await;
    for name in ["open", "open-1-0", "openly", "bad"] {
        let mut script = Script::begin(name, &store, 2).await;
        script.until(&store, 3).await;
        store.send(&script.run, "never read").await.expect("the message is sent");
    }
    let damage = "UPDATE run SET goal = 'lose it', place = NULL WHERE id = 'bad'";
    folder.raw().execute_batch(damage).expect("the SQL runs");
    assert!(store.reader().run(&id("bad")).is_err() && store.runs().is_err());
    let newest = Page::first(usize::MAX);
    let listed = store.reader().list(&Filter::default(), &newest).expect("the runs are listed");
    let broken: Vec<_> = listed.damaged.iter().map(StoreError::run).collect();
    assert_eq!((listed.runs.len(), broken), (4, vec![Some(&id("bad"))]));

    let held = store
        .claim(&id("open-1-0"))
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    assert_eq!(store.remove(&id("open")).await.expect("it can be asked"), None);
    drop(held);
    let removed = store
        .remove(&id("open"))
        .await
        .expect("the run is removed")
        .expect("no other owner holds the run");
    assert_eq!(removed.runs, [id("open"), id("open-1-0")]);
    let removed = store
        .remove(&id("bad"))
        .await
        .expect("the run is removed")
        .expect("no other owner holds the run");
    assert!(removed.runs == [id("bad")] && !removed.unswept);
    let error = store.remove(&id("bad")).await.expect_err("it is gone");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    assert_eq!(names(&store), ["openly", "kept"]);
    assert_eq!(
        store.reader().lines(&kept.run, Seq(0)).expect("the journal lines are readable"),
        kept.lines
    );
    assert_eq!(store.reader().messages(&id("openly")).expect("the messages are readable").len(), 1);
    let left = "SELECT (SELECT count(*) FROM entry) + (SELECT count(*) FROM letter)";
    let left: i64 =
        folder.raw().query_row(left, [], |row| row.get(0)).expect("the query returns a row");
    assert_eq!(left, 7, "nothing of the others is left behind");
}

#[tokio::test]
async fn damaged_reference_prevents_sweeping() {
    let folder = TempFolder::new("sweep-damaged");
    let store = folder.store();
    let mut kept = Script::begin("kept", &store, 1).await;
    let long = kept.next(&"long enough. ".repeat(200));
    store.write(long).await.expect("the entry is written");
    Script::begin("gone", &store, 2).await.end(&store).await;
    let change = "UPDATE entry SET artifact = x'00' WHERE run = 'kept' AND seq = 2";
    folder.raw().execute_batch(change).expect("the SQL runs");
    let pruned = store
        .prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
        .await
        .expect("the store prunes");
    assert!(went(&pruned) == ["gone"] && pruned.unswept, "{pruned:?}");
    let mend = "UPDATE entry SET artifact = (SELECT digest FROM artifact WHERE size > 2000)
                WHERE run = 'kept' AND seq = 2";
    folder.raw().execute_batch(mend).expect("the SQL runs");
    assert_eq!(
        store.reader().lines(&kept.run, Seq(0)).expect("the journal lines are readable"),
        kept.lines
    );
    assert_eq!(names(&store), ["kept"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn artifact_needed_during_a_sweep_stays() {
    let folder = TempFolder::new("sweep-race");
    let (ours, theirs) = (folder.store(), folder.store());
    let long = "the same for all. ".repeat(200);
    let prunes = async {
        for at in 0..60 {
            let mut script = Script::begin(&format!("ours{at}"), &ours, at).await;
            ours.write(script.next(&long)).await.expect("the entry is written");
            script.end(&ours).await;
            ours.prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
                .await
                .expect("the store prunes");
        }
    };
    let text = long.clone();
    let writes = tokio::spawn(async move {
        let mut scripts = Vec::new();
        for at in 0..60 {
            // Each entry has the text that is swept, or not, at this very moment.
            let mut script = Script::begin(&format!("theirs{at}"), &theirs, at).await;
            theirs.write(script.next(&text)).await.expect("the entry is written");
            scripts.push(script);
            theirs.remove(&id(&format!("theirs{}", at / 2))).await.ok();
        }
        scripts
    });
    prunes.await;
    let scripts = writes.await.expect("the task did not panic");
    for row in ours.runs().expect("the runs are readable") {
        let script = scripts.iter().find(|it| it.run == row.id).expect("it is theirs");
        assert_eq!(
            ours.reader().lines(&row.id, Seq(0)).expect("the journal lines are readable"),
            script.lines
        );
    }
}
