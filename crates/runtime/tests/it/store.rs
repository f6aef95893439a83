//! The journal store: order, conflicts, faults, many runs at once.

use std::{fs, path::PathBuf, sync::Arc};

use pointsman_kernel::{chart::Disposition, id::Seq};
use pointsman_runtime::store::{Append, Opening, RunId, Store, StoreError};

/// A folder that is removed again.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pointsman-rt-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("deep/journal.db")
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.journal()).expect("it opens")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn id(name: &str) -> RunId {
    name.parse().expect("it is an id")
}

fn append(run: &RunId, seq: u64) -> Append {
    Append {
        run: run.clone(),
        seq: Seq(seq),
        line: format!("{{\"run\":\"{run}\",\"seq\":{seq}}}"),
        state: format!("state{seq}").into(),
        ended: None,
        wake: Some(seq * 10),
        snapshot: None,
    }
}

fn opening(created_ms: u64) -> Opening {
    Opening {
        agent: "research".into(),
        chart: "research".into(),
        source: "chart = \"research\"".into(),
        goal: "find it".into(),
        created_ms,
        forked: None,
    }
}

async fn begun(store: &Store, name: &str, created_ms: u64) -> RunId {
    let run = id(name);
    store.begin(append(&run, 1), opening(created_ms)).await.expect("it begins").seq();
    run
}

#[tokio::test]
async fn what_was_written_is_read_and_survives_a_new_start() {
    let folder = Folder::new("survives");
    let store = folder.store();
    let run = begun(&store, "one", 5).await;
    let mut last = append(&run, 2);
    last.ended = Some(Disposition::Stuck);
    last.snapshot = Some("{\"a\":1}".into());
    let link = store.append(last.clone()).await.expect("it is written").link();
    assert_eq!(link, pointsman_kernel::id::Digest::of(last.line.as_bytes()));
    drop(store);

    let store = folder.store();
    let row = store.run(&run).expect("it is there");
    assert_eq!((row.seq, &*row.state, row.wake), (Seq(2), "state2", Some(20)));
    assert_eq!(row.ended.as_deref(), Some("stuck"));
    assert_eq!(store.lines(&run, Seq(0)).expect("readable").len(), 2);
    assert_eq!(store.lines(&run, Seq(1)).expect("readable"), [last.line]);
    let kept = store.snapshot(&run).expect("readable").expect("there is one");
    assert_eq!((kept.seq, &*kept.body), (Seq(2), "{\"a\":1}"));
    assert_eq!(store.chart_source(&run).expect("readable"), "chart = \"research\"");
}

#[tokio::test]
async fn there_are_no_gaps_and_no_second_writer() {
    let folder = Folder::new("gaps");
    let store = folder.store();
    let run = begun(&store, "one", 5).await;
    for wrong in [1, 3, 9] {
        let error = store.append(append(&run, wrong)).await.expect_err("it is refused");
        assert!(matches!(error, StoreError::Conflict { at: Seq(1), .. }), "{error}");
    }
    let error = store.append(append(&id("other"), 1)).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    // A second process that goes on with the same run loses the race, and is told.
    let second = folder.store();
    second.append(append(&run, 2)).await.expect("it is first").seq();
    let error = store.append(append(&run, 2)).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::Conflict { at: Seq(2), .. }), "{error}");
    assert_eq!(store.lines(&run, Seq(0)).expect("readable").len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_runs_share_flushes_and_lose_nothing() {
    let folder = Folder::new("many");
    let store = Arc::new(folder.store());
    let tasks: Vec<_> = (0..64)
        .map(|at| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let run = begun(&store, &format!("run-{at}"), at).await;
                for seq in 2..=40 {
                    store.append(append(&run, seq)).await.expect("it is written").seq();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("it does not panic");
    }
    let runs = store.runs().expect("readable");
    assert_eq!(runs.len(), 64);
    assert!(runs.is_sorted_by(|left, right| left.created_ms >= right.created_ms));
    for row in runs {
        let lines = store.lines(&row.id, Seq(0)).expect("readable");
        let expected: Vec<String> = (1..=40).map(|seq| append(&row.id, seq).line).collect();
        assert_eq!(lines, expected);
    }
}

#[tokio::test]
async fn pruning_removes_only_what_has_ended_and_is_old() {
    let folder = Folder::new("prune");
    let store = folder.store();
    for (name, created, ended) in [("old", 1, true), ("old-live", 2, false), ("new", 9, true)] {
        let run = begun(&store, name, created).await;
        let mut last = append(&run, 2);
        last.ended = ended.then_some(Disposition::Succeeded);
        store.append(last).await.expect("it is written").seq();
    }
    assert_eq!(store.prune(5).await.expect("it prunes"), 1);
    let left: Vec<String> =
        store.runs().expect("readable").iter().map(|row| row.id.to_string()).collect();
    assert_eq!(left, ["new", "old-live"]);
    assert!(store.lines(&id("old"), Seq(0)).expect("readable").is_empty());
}

#[test]
fn other_files_are_left_alone() {
    let folder = Folder::new("foreign");
    let path = folder.0.join("notes.txt");
    fs::write(&path, "not a database, and longer than a header would be".repeat(10))
        .expect("written");
    let error = Store::open(&path).expect_err("it is refused");
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");

    let path = folder.0.join("other.db");
    let other = rusqlite::Connection::open(&path).expect("it opens");
    other.execute_batch("CREATE TABLE theirs (a)").expect("it is made");
    drop(other);
    let error = Store::open(&path).expect_err("it is refused");
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
}

#[test]
fn a_later_format_is_refused() {
    let folder = Folder::new("later");
    drop(folder.store());
    let raw = rusqlite::Connection::open(folder.journal()).expect("it opens");
    raw.pragma_update(None, "user_version", 2).expect("it is set");
    drop(raw);
    let error = Store::open(&folder.journal()).expect_err("it is refused");
    assert!(error.to_string().contains("store format 2"), "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_told_and_names_the_run() {
    let folder = Folder::new("damaged");
    let store = folder.store();
    let run = begun(&store, "one", 5).await;
    for seq in 2..200 {
        store.append(append(&run, seq)).await.expect("it is written").seq();
    }
    drop(store);
    let mut bytes = fs::read(folder.journal()).expect("readable");
    assert!(bytes.len() > 3 * 4096, "the log was not written back: {}", bytes.len());
    for byte in &mut bytes[2 * 4096..] {
        *byte = 0xa5;
    }
    fs::write(folder.journal(), bytes).expect("written");
    match Store::open(&folder.journal()) {
        Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
        Ok(store) => {
            let error = store.lines(&run, Seq(0)).expect_err("it is damaged");
            assert!(error.to_string().contains("at run one"), "{error}");
        }
    }
}

#[test]
fn run_ids_are_plain() {
    for wrong in ["", "a b", "../x", "ü", &"x".repeat(65)] {
        assert!(wrong.parse::<RunId>().is_err(), "{wrong}");
    }
}
