//! Faults of the disk and of the file: each is reported as such, and reads still work.

use std::{fs, path::Path, sync::Arc};

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{
    PruneOptions, SqliteOptions, SqliteStore, Store as _, StoreError, sqlite::InjectedFault,
};

use super::{Plain as _, Script, TempFolder, names, new_run};

fn open(folder: &TempFolder, options: &SqliteOptions) -> SqliteStore {
    SqliteStore::open_with(&folder.journal(), options).expect("the journal opens")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_journal_accepts_entries_again_when_space_is_free() {
    let folder = TempFolder::new("full");
    let store = Arc::new(open(
        &folder,
        &SqliteOptions { max_bytes: Some(400_000), ..SqliteOptions::default() },
    ));
    let mut old = Script::begin("old", &*store, 1).await;
    old.until(&*store, 100).await;
    old.end(&*store).await;
    // Many at once, so that what does not fit shares its transaction with what does.
    let tasks: Vec<_> = (0..16)
        .map(|at| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut script = Script::begin(&format!("run-{at}"), &*store, 2).await;
                loop {
                    let before = script.clone();
                    let next = script.next(&"words ".repeat(100));
                    match store.write(next).await {
                        Ok(()) => assert!(script.seq < Seq(2_000), "it never fills"),
                        Err(StoreError::Full { run: Some(run), seq: Some(seq) }) => {
                            assert_eq!((run, seq), (script.run.clone(), script.seq));
                            return before;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    let mut scripts = Vec::new();
    for task in tasks {
        scripts.push(task.await.expect("the task did not panic"));
    }
    for script in &scripts {
        assert_eq!(
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
            script.lines
        );
    }
    store
        .prune(PruneOptions { keep: Some(0), ..PruneOptions::default() })
        .await
        .expect("the store prunes");
    let mut next = scripts.remove(0);
    next.until(&*store, next.seq.0 + 1).await;
    drop(store);
    let store = folder.store();
    assert_eq!(
        store.reader().lines(&next.run, Seq(0)).expect("the journal lines are readable"),
        next.lines
    );
    assert_eq!(names(&store).len(), 16);
}

#[tokio::test]
async fn after_a_failed_flush_nothing_more_is_written() {
    // SQLite's codes for an I/O error at a flush and at a write.
    let (flush, write) = (0x040a, 0x030a);
    for (kept, code) in [(false, flush), (true, flush), (false, write)] {
        let folder = TempFolder::new("broken");
        let fault = Some(InjectedFault { commit: 3, code, kept });
        let store = open(&folder, &SqliteOptions { fault, ..SqliteOptions::default() });
        let mut script = Script::begin("one", &store, 1).await;
        script.until(&store, 2).await;
        let before = script.clone();
        let third = script.next("unsure");
        let error = store.write(third.clone()).await.expect_err("it is unsure");
        assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
        assert!(error.to_string().contains("at entry 3 of run one"), "{error}");
        for _ in 0..2 {
            let error = store.write(third.clone()).await.expect_err("no more is taken");
            assert!(matches!(error, StoreError::Broken { .. }), "{error}");
        }
        let other = Script::new("two").next("first");
        store.create(other.into(), new_run(2)).await.expect_err("no more is taken");
        store.send(&script.run, "hello").await.expect_err("no more is taken");
        let written = if kept { &script } else { &before };
        assert_eq!(store.reader().lines(&script.run, Seq(0)).expect("reads go on"), written.lines);
        drop(store);
        // A reopened store knows its content.
        let store = folder.store();
        assert_eq!(
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
            written.lines
        );
        let again = store.write(third).await;
        assert_eq!(again.is_ok(), !kept, "{again:?}");
    }
}

#[tokio::test]
async fn a_full_disk_at_the_flush_breaks_nothing() {
    let folder = TempFolder::new("full-flush");
    let fault = Some(InjectedFault { commit: 2, code: 13, kept: false });
    let store = open(&folder, &SqliteOptions { fault, ..SqliteOptions::default() });
    let mut script = Script::begin("one", &store, 1).await;
    let second = script.next("second");
    let error = store.write(second.clone()).await.expect_err("the disk is full");
    assert!(error.to_string().contains("nothing was written at entry 2 of run one"), "{error}");
    store.write(second).await.expect("there is room again");
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
}

#[tokio::test]
async fn waiting_for_another_writer_has_a_limit() {
    let folder = TempFolder::new("busy");
    let busy = std::time::Duration::from_millis(20);
    let store = open(&folder, &SqliteOptions { busy, ..SqliteOptions::default() });
    let mut script = Script::begin("one", &store, 1).await;
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").expect("the SQL runs");
    let second = script.next("second");
    let error = store.write(second.clone()).await.expect_err("the lock is taken");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert_eq!(store.reader().lines(&script.run, Seq(0)).expect("reads go on").len(), 1);
    other.execute_batch("ROLLBACK").expect("the SQL runs");
    store.write(second).await.expect("the entry is written");
}

#[tokio::test]
async fn waiting_for_a_writer_blocks_no_other_task() {
    let folder = TempFolder::new("busy-alone");
    let store = open(&folder, &SqliteOptions { inline_commit: true, ..SqliteOptions::default() });
    let mut script = Script::begin("one", &store, 1).await;
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").expect("the SQL runs");
    let second = store.write(script.next("second"));
    // On the same thread: if that were blocked, nothing would ever release the lock.
    let lets_go = async { other.execute_batch("ROLLBACK").expect("the SQL runs") };
    let (written, ()) = tokio::join!(second, lets_go);
    written.expect("it is written");
}

#[test]
fn many_can_open_a_new_journal_at_once() {
    let folder = TempFolder::new("first-use");
    for round in 0..100 {
        let path = folder.0.join(format!("{round}/journal.db"));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let opened = SqliteStore::open(&path).map(|store| names(&store).len());
                    assert!(matches!(opened, Ok(0)), "round {round}: {opened:?}");
                });
            }
        });
    }
}

#[test]
fn other_files_are_left_alone() {
    let folder = TempFolder::new("foreign");
    let text = folder.0.join("notes.txt");
    fs::write(&text, "not a database, and longer than a header would be".repeat(10))
        .expect("the file is written");
    let theirs = folder.0.join("other.db");
    let other = rusqlite::Connection::open(&theirs).expect("the database opens");
    other.execute_batch("CREATE TABLE theirs (a)").expect("the SQL runs");
    drop(other);
    for path in [text, theirs] {
        let before = fs::read(&path).expect("the file is readable");
        let error = SqliteStore::open(&path).expect_err("the store refuses the file");
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
        assert!(error.hint().is_some());
        assert!(
            fs::read(&path).expect("the file is readable") == before,
            "{} was changed",
            path.display()
        );
    }
}

#[test]
fn other_formats_and_tables_are_refused() {
    for (damage, told) in [
        ("PRAGMA user_version = 4", "store format 4"),
        ("PRAGMA user_version = 0", "are not those of format 3"),
        ("PRAGMA application_id = 7", "not a Pointsman journal"),
        ("CREATE INDEX more ON run (goal)", "are not those of format 3"),
        ("ALTER TABLE run RENAME COLUMN goal TO gaol", "are not those of format 3"),
        ("DROP INDEX ready", "are not those of format 3"),
        ("DROP TABLE letter", "are not those of format 3"),
        ("DELETE FROM book", "the checksum of its"),
    ] {
        let folder = TempFolder::new("formats");
        drop(folder.store());
        folder.raw().execute_batch(damage).expect("the SQL runs");
        let error = SqliteStore::open(&folder.journal())
            .expect_err("the store refuses the file")
            .to_string();
        assert!(error.contains(told), "{damage}: {error}");
    }
}

/// Makes a journal what the first format left.
pub(super) const LEASELESS: &str = "DROP TABLE lease; DROP TABLE listing; DROP TABLE blob;
    DROP TABLE queue; DROP TABLE request; PRAGMA user_version = 1";

/// Makes a journal what the second format left.
pub(super) const UNINDEXED: &str = "DROP INDEX ready; PRAGMA user_version = 2";

#[tokio::test]
async fn older_journal_is_upgraded_without_loss() {
    let folder = TempFolder::new("upgraded");
    let mut script = Script::begin("one", &folder.store(), 1).await;
    // As the first format left it.
    folder.raw().execute_batch(LEASELESS).expect("the SQL runs");
    let format = || -> i64 {
        let number = folder.raw().pragma_query_value(None, "user_version", |row| row.get(0));
        number.expect("it has one")
    };
    assert_eq!(format(), 1);
    let stores = std::thread::scope(|scope| {
        let new_run: Vec<_> = (0..4).map(|_| scope.spawn(|| folder.store())).collect();
        new_run.into_iter().map(|it| it.join().expect("it opens")).collect::<Vec<_>>()
    });
    assert_eq!(format(), 3);
    for store in stores {
        script.until(&store, script.seq.0 + 1).await;
        assert_eq!(
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
            script.lines
        );
    }
    // A file that is not a journal of that format is unchanged.
    folder.raw().execute_batch(LEASELESS).expect("the SQL runs");
    folder.raw().execute_batch("DROP TABLE letter").expect("the SQL runs");
    let error =
        SqliteStore::open(&folder.journal()).expect_err("the store refuses the file").to_string();
    assert!(error.contains("are not those of format 1"), "{error}");
    assert_eq!(format(), 1);
}

#[test]
fn unwritable_location_is_reported() {
    let folder = TempFolder::new("places");
    let file = folder.0.join("file");
    fs::write(&file, "").expect("the file is written");
    let error = SqliteStore::open(&file.join("journal.db")).expect_err("a file is no folder");
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    let error = SqliteStore::open(&folder.0).expect_err("a folder is no file");
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    let error = SqliteStore::open(Path::new("/proc/journal.db")).expect_err("nobody writes there");
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
}

#[tokio::test]
async fn a_journal_that_lost_its_end_is_not_taken_for_whole() {
    let folder = TempFolder::new("behind");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 1).await;
    drop(store);
    let older = fs::read(folder.journal()).expect("the file is readable");
    let store = folder.store();
    script.until(&store, 3).await;
    drop(store);
    for bytes in [&older[..], &[]] {
        fs::write(folder.journal(), bytes).expect("the file is written");
        let error = SqliteStore::open(&folder.journal()).expect_err("it is behind");
        assert!(error.to_string().contains("it had entry 3 of run one"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("journal.db.mark")));
    }
    // A user can still read the rest.
    fs::write(folder.journal(), &older).expect("the file is written");
    fs::remove_file(folder.0.join("deep/journal.db.mark"))
        .expect("the file existed and is removed");
    assert_eq!(
        folder
            .store()
            .reader()
            .lines(&script.run, Seq(0))
            .expect("the journal lines are readable")
            .len(),
        1
    );
    // And a removed journal starts over.
    fs::remove_file(folder.journal()).expect("the file existed and is removed");
    assert!(names(&folder.store()).is_empty());
}
