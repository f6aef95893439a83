//! Long lines, prompts and forks: equal content is stored once and read back whole.

use pointsman_kernel::id::{EffectId, Seq};
use pointsman_runtime::store::{Append, NewPrompt, PruneOptions, Store as _, StoreError};

use super::{Plain as _, Script, TempFolder, id};

fn artifacts(folder: &TempFolder) -> (i64, i64) {
    let query = "SELECT count(*), sum(length(body)) FROM artifact";
    folder
        .raw()
        .query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("the query returns a row")
}

fn asking(script: &mut Script, parts: &[&str]) -> Append {
    let mut append = script.next("asks a model");
    let effect = EffectId { seq: append.seq, index: 3 };
    let parts = parts.iter().map(|part| (*part).to_owned()).collect();
    append.prompts = vec![NewPrompt { effect, parts }];
    append
}

#[tokio::test]
async fn a_long_line_is_an_artifact_and_comes_back_as_it_was() {
    let folder = TempFolder::new("long");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let long = "the same words over and over; ".repeat(400);
    store.write(script.next(&long)).await.expect("the entry is written");
    script.until(&store, 4).await;
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
    // The chart's source and the line, and the line is compressed.
    let (count, bytes) = artifacts(&folder);
    assert_eq!(count, 2);
    assert!(bytes < 2_000, "{bytes} bytes");

    folder
        .raw()
        .execute("UPDATE artifact SET body = zeroblob(9) WHERE size > 100", [])
        .expect("the SQL runs");
    let error =
        store.reader().lines(&script.run, Seq(0)).expect_err("the damage is reported").to_string();
    assert!(error.contains("entry 2 of run one: artifact"), "{error}");
    folder.raw().execute("DELETE FROM artifact WHERE size > 100", []).expect("the SQL runs");
    let error =
        store.reader().lines(&script.run, Seq(0)).expect_err("the damage is reported").to_string();
    assert!(error.contains("entry 2 of run one: artifact"), "{error}");
    // An impossible size must not be trusted.
    folder.raw().execute("UPDATE artifact SET size = 1 << 50", []).expect("the SQL runs");
    let error = store.reader().chart_source(&script.run).expect_err("it is damaged").to_string();
    assert!(error.contains("in run one: artifact"), "{error}");
}

#[tokio::test]
async fn prompts_are_kept_by_their_parts() {
    let folder = TempFolder::new("prompts");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    for parts in [&["system", "one"][..], &["system", "one", "two"], &["system"]] {
        store.write(asking(&mut script, parts)).await.expect("the entry is written");
        script.until(&store, script.seq.0 + 1).await;
    }
    let prompts = store.reader().prompts(&script.run).expect("the prompts are readable");
    let parts: Vec<Vec<&str>> =
        prompts.iter().map(|row| row.parts.iter().map(|part| &**part).collect()).collect();
    assert_eq!(parts, [vec!["system", "one"], vec!["system", "one", "two"], vec!["system"]]);
    let places: Vec<_> = prompts.iter().map(|row| (row.seq.0, row.effect.to_string())).collect();
    assert_eq!(places, [(2, "2.3".into()), (4, "4.3".into()), (6, "6.3".into())]);
    assert_eq!(artifacts(&folder).0, 4, "the source and three parts");

    let error = |damage: &str| {
        folder.raw().execute(damage, []).expect("the SQL runs");
        store.reader().prompts(&script.run).expect_err("it is damaged").to_string()
    };
    let told = error("UPDATE prompt SET effect_index = 4 WHERE seq = 4");
    assert!(told.contains("entry 4 of run one: its prompts"), "{told}");
    let told = error("DELETE FROM prompt WHERE seq = 4");
    assert!(told.contains("entry 4 of run one: its prompts"), "{told}");
    let told = error("DELETE FROM artifact WHERE digest IN (SELECT substr(parts, 33) FROM prompt)");
    assert!(told.contains("entry 2 of run one: artifact"), "{told}");
    // The journal itself is whole all the same.
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
}

#[tokio::test]
async fn a_fork_shares_the_past_and_goes_its_own_way() {
    let folder = TempFolder::new("fork");
    let store = folder.store();
    let mut parent = Script::begin("parent", &store, 5).await;
    store.write(asking(&mut parent, &["system", "hello"])).await.expect("the entry is written");
    store.write(parent.next(&"long ".repeat(500))).await.expect("the entry is written");
    parent.end(&store).await;
    let before = artifacts(&folder);

    store.fork(&parent.run, Seq(3), id("child"), 9).await.expect("the run is forked");
    assert_eq!(artifacts(&folder), before, "nothing is kept twice");
    let row = store.reader().run(&id("child")).expect("the run exists");
    assert_eq!((row.seq, &*row.state, row.ended, row.wake), (Seq(3), "state3", None, Some(30)));
    assert_eq!((row.created_ms, row.forked), (9, Some((parent.run.clone(), Seq(3)))));
    assert_eq!(
        store.reader().lines(&id("child"), Seq(0)).expect("the journal lines are readable"),
        parent.lines[..3]
    );
    assert_eq!(
        store.reader().prompts(&id("child")).expect("the prompts are readable"),
        store.reader().prompts(&parent.run).expect("the prompts are readable")
    );
    let mut child =
        Script { run: id("child"), seq: Seq(3), prev: row.link, lines: parent.lines[..3].to_vec() };
    child.until(&store, 6).await;
    assert_eq!(
        store.reader().lines(&child.run, Seq(0)).expect("the journal lines are readable"),
        child.lines
    );
    assert_eq!(
        store.reader().lines(&parent.run, Seq(0)).expect("the journal lines are readable"),
        parent.lines
    );
    // A fork at the end of an ended run has ended, too, until its next entry.
    store.fork(&parent.run, Seq(4), id("again"), 9).await.expect("the run is forked");
    assert_eq!(
        store.reader().run(&id("again")).expect("the run exists").ended.as_deref(),
        Some("succeeded")
    );

    for (from, at, to) in
        [("parent", 0, "x"), ("parent", 5, "x"), ("nobody", 1, "x"), ("parent", 1, "child")]
    {
        let error = store.fork(&id(from), Seq(at), id(to), 9).await.expect_err("it is refused");
        assert!(
            matches!(
                error,
                StoreError::NoSuchEntry { .. }
                    | StoreError::NoSuchRun { .. }
                    | StoreError::RunExists { .. }
            ),
            "{error}"
        );
    }
    assert_eq!(store.runs().expect("the runs are readable").len(), 3);
}

#[tokio::test]
async fn storing_a_damaged_text_again_repairs_it() {
    let folder = TempFolder::new("artifact-mended");
    let store = folder.store();
    Script::begin("one", &store, 5).await;
    let flipped = folder.raw().execute("UPDATE artifact SET body = zeroblob(length(body))", []);
    assert!(flipped.expect("it is done") > 0);
    assert!(store.reader().chart_source(&id("one")).is_err());
    Script::begin("two", &store, 6).await;
    assert_eq!(
        store.reader().chart_source(&id("two")).expect("the chart text is readable"),
        "chart = \"research\""
    );
    assert!(store.reader().chart_source(&id("one")).is_ok(), "it is the same text");
}

#[tokio::test]
async fn damaged_content_is_reported_and_its_blobs_stay() {
    let folder = TempFolder::new("blobs");
    let store = folder.store();
    let script = Script::begin("one", &store, 1).await;
    let picture = "a picture ".repeat(500);
    let digest =
        store.put_blob(&script.run, picture.as_bytes()).await.expect("the content is stored");
    let read = || store.reader().blob(&script.run, &digest, &(2..9));
    assert_eq!(read().expect("the file is readable"), b"picture");
    let references = "UPDATE blob SET digest = zeroblob(32)";
    folder.raw().execute_batch(references).expect("the SQL runs");
    assert!(matches!(read(), Err(StoreError::NoSuchBlob { .. })));
    let pruned = store
        .prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
        .await
        .expect("the store prunes");
    assert!(pruned.unswept && pruned.artifacts == 0, "{pruned:?}");
    let mend = "UPDATE blob SET digest = (SELECT digest FROM artifact WHERE size = 5000)";
    folder.raw().execute_batch(mend).expect("the SQL runs");
    assert_eq!(read().expect("it is all there"), b"picture");
    let change = "UPDATE artifact SET body = substr(body, 2) WHERE size = 5000";
    folder.raw().execute_batch(change).expect("the SQL runs");
    let error = read().expect_err("the damage is reported");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    // Storing it again repairs it.
    store.put_blob(&script.run, picture.as_bytes()).await.expect("the content is stored");
    assert_eq!(read().expect("the file is readable"), b"picture");
    store
        .remove(&script.run)
        .await
        .expect("the run is removed")
        .expect("no other owner holds the run");
    let left = folder.raw().query_row("SELECT count(*) FROM artifact", [], |row| row.get(0));
    assert_eq!(left, Ok(0_i64));
}
