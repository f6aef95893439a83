//! A journal whose files are deleted, moved or replaced while it is in use: no lost entry is
//! acknowledged.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{SqliteOptions, SqliteStore, Store as _, StoreError};

use super::{Plain as _, Script, TempFolder, names};

/// Ways to take a file away from under the program.
const WAYS: [&str; 4] = ["delete", "move away", "rename another over it", "replace by a copy"];

/// Longer than a tick of any system's clock.
const TICK: Duration = Duration::from_millis(25);

fn take_away(way: &str, path: &Path) {
    let aside = path.with_extension("aside");
    match way {
        "delete" => fs::remove_file(path).expect("the file existed and is removed"),
        "move away" => fs::rename(path, aside).expect("the file is renamed"),
        "rename another over it" => {
            fs::write(&aside, b"").expect("the file is written");
            fs::rename(aside, path).expect("the file is renamed");
        }
        // The same bytes, and still not the file that is open.
        _ => {
            fs::copy(path, &aside).expect("the file is copied");
            fs::rename(aside, path).expect("the file is renamed");
        }
    }
}

fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[tokio::test]
async fn a_journal_that_was_taken_away_takes_no_more_entries() {
    for ending in ["", "-wal", "-shm"] {
        for (way, settled) in WAYS.iter().flat_map(|way| [(way, false), (way, true)]) {
            let folder = TempFolder::new("lost");
            let store = folder.store();
            let mut script = Script::begin("one", &store, 1).await;
            // A folder that has not changed for a while is trusted.
            if settled {
                tokio::time::sleep(TICK).await;
            }
            script.until(&store, 3).await;
            let path = beside(&folder.journal(), ending);
            take_away(way, &path);
            for text in ["next", "and again"] {
                let error = store.write(script.clone().next(text)).await.expect_err(way);
                assert!(matches!(error, StoreError::Lost { .. }), "{ending} {way}: {error}");
                let told = error.to_string();
                let place = path.canonicalize().unwrap_or_else(|_| path.clone());
                let name = place.file_name().expect("it has one").to_string_lossy().into_owned();
                assert!(told.contains(&name) && told.contains("at entry 4 of run one"), "{told}");
                assert!(error.hint().is_some_and(|hint| hint.contains("backup")), "{error:?}");
            }
            let post = store.send(&script.run, "hello").await.expect_err(way);
            assert!(matches!(post, StoreError::Lost { .. }), "{ending} {way}: {post}");
        }
    }
}

#[tokio::test]
async fn moved_journal_accepts_no_more_entries() {
    for up in [1, 2] {
        let folder = TempFolder::new("moved");
        let journal = folder.0.join("higher/deep/journal.db");
        let store = SqliteStore::open(&journal).expect("the journal opens");
        let (mut script, lease) = Script::create("one", &store, 1).await.expect("it begins");
        tokio::time::sleep(TICK).await;
        store.append(&lease, script.next("settled").into()).await.expect("the entry is appended");
        let moved = journal.ancestors().nth(up).expect("a folder");
        fs::rename(moved, folder.0.join("aside")).expect("the file is renamed");
        // Where folders above its own are moved, that is seen in the next tick.
        if up > 1 {
            tokio::time::sleep(TICK).await;
        }
        for text in ["next", "and again"] {
            let next = script.clone().next(text).into();
            let error = store.append(&lease, next).await.expect_err(text);
            assert!(matches!(error, StoreError::Lost { .. }), "{up}: {error}");
        }
        // It is whole where it is now: what was acknowledged can be read there.
        let there = folder.0.join(if up == 1 { "aside" } else { "aside/deep" });
        drop((store, lease));
        let store = SqliteStore::open(&there.join("journal.db")).expect("the journal opens");
        let lines =
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable");
        assert_eq!(lines.get(..2), script.lines.get(..2));
    }
}

#[tokio::test]
async fn intact_journal_works_through_links_and_relative_paths() {
    let folder = TempFolder::new("found");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 1).await;
    script.until(&store, 3).await;
    drop(store);
    let link = folder.0.join("link.db");
    std::os::unix::fs::symlink(folder.journal(), &link).expect("the link is created");
    let store = SqliteStore::open(&link).expect("the journal opens");
    script.until(&store, 6).await;
    // A second name for the same file takes nothing away.
    fs::hard_link(folder.journal(), folder.0.join("second.db")).expect("the link is created");
    script.until(&store, 9).await;
    drop(store);
    let dotted = folder.0.join("deep/../deep/./journal.db");
    let store = SqliteStore::open(&dotted).expect("the journal opens");
    script.until(&store, 12).await;
    assert_eq!(names(&store), ["one"]);
}

#[tokio::test]
async fn a_new_journal_in_the_place_of_a_lost_one_keeps_its_log() {
    let folder = TempFolder::new("newer");
    let old = folder.store();
    let mut script = Script::begin("old", &old, 1).await;
    script.until(&old, 5).await;
    for ending in ["", "-wal", "-shm", ".mark"] {
        drop(fs::remove_file(beside(&folder.journal(), ending)));
    }
    let new = folder.store();
    let mut other = Script::begin("new", &new, 2).await;
    other.until(&new, 5).await;
    let log = beside(&folder.journal(), "-wal");
    assert!(log.exists());
    drop(old);
    assert!(log.exists(), "the log of the new journal was removed by the process with the old one");
    other.until(&new, 8).await;
    drop(new);
    assert_eq!(names(&folder.store()), ["new"]);
}

#[tokio::test]
async fn files_beside_a_journal_are_private() {
    let folder = TempFolder::new("modes");
    let store = folder.store();
    let script = Script::begin("one", &store, 1).await;
    let lock = store
        .claim(&script.run)
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    let mut open =
        vec![folder.journal().parent().expect("the path has a parent folder").to_owned()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let mode = fs::metadata(&path).expect("the file exists").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
        seen += 1;
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .expect("the folder is readable")
                    .map(|it| it.expect("it is").path()),
            );
        }
    }
    // The folder, the journal, its log and index, the watermark, the holds and one of them.
    assert_eq!(seen, 7);
    drop(lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_store_leaves_no_log_file() {
    let folder = TempFolder::new("closed");
    let log = folder.0.join("deep/journal.db-wal");
    let options = SqliteOptions { poll: Duration::from_millis(1), ..SqliteOptions::default() };
    let open = || SqliteStore::open_with(&folder.journal(), &options).expect("the journal opens");
    let mut script = Script::begin("one", &open(), 1).await;
    script.until(&open(), 40).await;
    for round in 0..60 {
        let store = Arc::new(open());
        let changes = store.changes().await.expect("the store announces changes");
        script.until(&*store, script.seq.0 + 1).await;
        // Reads whose futures are dropped continue in the background.
        for _ in 0..4 {
            let (store, run) = (Arc::clone(&store), script.run.clone());
            let read = tokio::spawn(async move { store.page(&run, Seq(0), 9).await.map(drop) });
            tokio::task::yield_now().await;
            read.abort();
            drop(read.await);
        }
        tokio::time::sleep(Duration::from_micros(300 * (round % 7))).await;
        drop(changes);
        drop(Arc::into_inner(store).expect("nobody else has it"));
        assert!(!log.exists(), "round {round}");
    }
}
