//! Checksums: whatever is changed in a row is found, and named.

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::StoreError;

use super::{Plain as _, Script, TempFolder, names};

/// Changes a run of five entries, and returns what reading says.
async fn after(name: &str, damage: &str) -> (String, Option<String>) {
    let folder = TempFolder::new(name);
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    script.until(&store, 5).await;
    let other = Script::begin("two", &store, 6).await;
    folder.raw().execute_batch(damage).expect("the SQL runs");
    let lines = match store.reader().lines(&script.run, Seq(0)) {
        Ok(lines) => {
            assert_eq!(lines, script.lines, "{damage}");
            "whole".into()
        }
        Err(error) => {
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            error.to_string()
        }
    };
    // Undamaged runs can be read, whatever happened to their neighbour.
    if !damage.contains("book") {
        assert_eq!(
            store.reader().lines(&other.run, Seq(0)).expect("the journal lines are readable"),
            other.lines
        );
    }
    (lines, store.runs().err().map(|error| error.to_string()))
}

#[tokio::test]
async fn every_column_of_a_run_is_sealed() {
    for set in [
        "agent = 'researcj'",
        "chart = ''",
        "source = zeroblob(32)",
        "goal = 'find It'",
        "created_ms = 4",
        "parent = 'two', parent_seq = 1",
        "seq = 4",
        "state = 'state4'",
        "ended = 'failed'",
        "wake = NULL",
        "prompts = 1",
        "link = zeroblob(32)",
        "fixed = zeroblob(16)",
        "tip = zeroblob(16)",
        "tip = zeroblob(3)",
    ] {
        let (lines, runs) =
            after("columns", &format!("UPDATE run SET {set} WHERE id = 'one'")).await;
        assert!(lines.contains("damaged in run one"), "{set}: {lines}");
        assert_eq!(runs, Some(lines), "{set}");
    }
}

#[tokio::test]
async fn a_changed_or_missing_entry_is_named() {
    for (damage, told) in [
        ("UPDATE entry SET line = replace(line, 'goes', 'gose') WHERE seq = 3 AND run = 'one'", 3),
        ("UPDATE entry SET line = replace(line, 'goes', 'gose') WHERE seq = 5 AND run = 'one'", 5),
        ("UPDATE entry SET line = NULL WHERE seq = 4 AND run = 'one'", 4),
        ("DELETE FROM entry WHERE seq = 1 AND run = 'one'", 1),
        ("DELETE FROM entry WHERE seq = 3 AND run = 'one'", 3),
        ("DELETE FROM entry WHERE seq = 5 AND run = 'one'", 5),
        ("DELETE FROM entry WHERE run = 'one'", 5),
        ("UPDATE entry SET seq = 9 WHERE seq = 2 AND run = 'one'", 2),
        ("UPDATE entry SET run = 'two' WHERE seq = 2 AND run = 'one'", 2),
        // Places that lead nowhere, round in a circle, past an entry or to another run.
        ("UPDATE entry SET follows = NULL WHERE seq = 4 AND run = 'one'", 3),
        ("UPDATE entry SET follows = 77 WHERE seq = 4 AND run = 'one'", 3),
        ("UPDATE entry SET follows = place WHERE seq = 4 AND run = 'one'", 3),
        ("UPDATE entry SET follows = follows - 1 WHERE seq = 4 AND run = 'one'", 3),
        ("UPDATE entry SET follows = 6 WHERE seq = 2 AND run = 'one'", 1),
        ("UPDATE run SET place = NULL WHERE id = 'one'", 5),
        ("UPDATE run SET place = 4 WHERE id = 'one'", 5),
        ("UPDATE run SET place = 6 WHERE id = 'one'", 5),
    ] {
        let (lines, runs) = after("entries", damage).await;
        assert!(lines.contains(&format!("at entry {told} of run one")), "{damage}: {lines}");
        assert_eq!(runs, None, "the list is whole");
    }
    // Nothing leads to what was added.
    let added = "INSERT INTO entry SELECT place + 2, place, run, 6, state, ended, wake, prompts, \
                 tip, line, artifact FROM entry WHERE seq = 5 AND run = 'one'";
    assert_eq!(after("added", added).await, ("whole".into(), None));
    let (_, runs) = after("lost", "DELETE FROM run WHERE id = 'one'").await;
    assert!(runs.is_some_and(|told| told.contains("found 1 run, expected 2")));
    let (_, runs) = after("book", "UPDATE book SET runs = 3").await;
    assert!(runs.is_some_and(|told| told.contains("the checksum of its")));
}

#[tokio::test]
async fn the_first_line_is_checked_by_itself_and_no_other_is_read() {
    // Its own checksum tells; what was changed in another line does not matter.
    for (damage, told) in [
        ("UPDATE entry SET line = replace(line, 'goes', 'gose') WHERE seq = 3", None),
        ("UPDATE entry SET line = NULL WHERE seq = 4", None),
        ("UPDATE entry SET line = replace(line, 'begins', 'begims') WHERE seq = 1", Some(1)),
        ("UPDATE entry SET line = NULL WHERE seq = 1", Some(1)),
        // Where the checksum does not fit, the chain tells.
        ("UPDATE entry SET tip = zeroblob(16) WHERE seq = 1", None),
        ("UPDATE entry SET state = 'else' WHERE seq = 1", None),
        ("DELETE FROM entry WHERE seq = 1", Some(1)),
        ("DELETE FROM entry WHERE seq = 3", Some(3)),
        ("UPDATE entry SET follows = NULL WHERE seq = 4", Some(3)),
        ("UPDATE run SET place = NULL", Some(5)),
    ] {
        let folder = TempFolder::new("first");
        let store = folder.store();
        let mut script = Script::begin("one", &store, 5).await;
        script.until(&store, 5).await;
        folder.raw().execute_batch(damage).expect(damage);
        match (store.reader().page(&script.run, Seq(0), 1), told) {
            (Ok(lines), None) => assert_eq!(lines, script.lines[..1], "{damage}"),
            (Err(StoreError::Damaged { seq, .. }), Some(_)) => {
                assert_eq!(seq.map(|seq| seq.0), told, "{damage}");
            }
            (read, _) => panic!("{damage}: {read:?}"),
        }
    }
}

#[tokio::test]
async fn page_after_an_entry_checks_its_link() {
    let folder = TempFolder::new("anchor");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    script.until(&store, 5).await;
    let damage = "UPDATE entry SET line = replace(line, 'goes', 'gose') WHERE seq = 3";
    folder.raw().execute_batch(damage).expect("the SQL runs");
    let error =
        store.reader().lines(&script.run, Seq(3)).expect_err("entry 4 follows another line");
    assert!(error.to_string().contains("at entry 3 of run one"), "{error}");
    assert_eq!(
        store.reader().lines(&script.run, Seq(4)).expect("the journal lines are readable"),
        script.lines[4..]
    );
}

#[tokio::test]
async fn a_snapshot_that_does_not_fit_is_none() {
    for damage in [
        "UPDATE snapshot SET body = '{\"a\":2}'",
        "UPDATE snapshot SET seq = 2",
        "UPDATE snapshot SET seq = 4",
        "UPDATE snapshot SET link = zeroblob(32)",
        "UPDATE snapshot SET seal = zeroblob(5)",
        "UPDATE entry SET line = replace(line, 'a', 'b') WHERE seq = 3",
    ] {
        let folder = TempFolder::new("snapshot");
        let store = folder.store();
        let mut script = Script::begin("one", &store, 5).await;
        script.until(&store, 2).await;
        let mut third = script.next("a");
        third.snapshot = Some("{\"a\":1}".into());
        let link = pointsman_kernel::id::Digest::of(third.line.as_bytes());
        store.write(third).await.expect("the entry is written");
        script.until(&store, 4).await;
        let kept = store
            .reader()
            .snapshot(&script.run)
            .expect("the snapshot is readable")
            .expect("there is one");
        assert_eq!((kept.seq, kept.link), (Seq(3), link));
        folder.raw().execute_batch(damage).expect("the SQL runs");
        assert_eq!(
            store.reader().snapshot(&script.run).expect("the snapshot is readable"),
            None,
            "{damage}"
        );
    }
}

#[tokio::test]
async fn a_run_that_cannot_be_found_is_damage_and_not_absence() {
    let folder = TempFolder::new("astray");
    let store = folder.store();
    let script = Script::begin("one", &store, 5).await;
    Script::begin("two", &store, 5).await;
    folder.raw().execute_batch("DELETE FROM run WHERE id = 'one'").expect("the SQL runs");
    let error = store.reader().run(&script.run).expect_err("it is lost");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(names(&TempFolder::new("empty").store()), Vec::<String>::new());
}
