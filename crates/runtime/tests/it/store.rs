//! The journal store: order, conflicts, many runs at once, what is refused.

mod artifacts;
mod children;
mod exports;
mod faults;
mod flips;
mod letters;
mod lost;
mod prunes;
mod seals;

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use pointsman_kernel::{
    chart::Disposition,
    id::{At, Digest, Seq},
    journal::{Entry, FORMAT},
};
use pointsman_runtime::store::{Append, Opening, RunId, Store, StoreError};
use serde_json::value::to_raw_value;

/// A folder that is removed again.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Makes one of its own, also where two tests give the same name.
    pub(crate) fn new(name: &str) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("pointsman-rt-{name}-{process}-{made}"));
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

    /// Opens the file as anybody could, to damage it.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.journal()).expect("it opens")
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

/// A run's journal as its driver would write it.
#[derive(Clone)]
struct Script {
    run: RunId,
    seq: Seq,
    prev: Digest,
    lines: Vec<String>,
}

impl Script {
    fn new(name: &str) -> Self {
        Self { run: id(name), seq: Seq(0), prev: Digest::default(), lines: Vec::new() }
    }

    /// Returns the next entry, with a text in its event.
    fn next(&mut self, text: &str) -> Append {
        self.seq = self.seq.next();
        let event = to_raw_value(&serde_json::json!({ "said": text })).expect("it is JSON");
        let line = Entry {
            v: FORMAT,
            seq: self.seq,
            at: At(self.seq.0 * 7),
            event: &event,
            hops: Vec::new(),
            effects: Digest::of(text.as_bytes()),
            prev: self.prev,
        }
        .line();
        self.prev = Digest::of(line.as_bytes());
        self.lines.push(line.clone());
        Append {
            run: self.run.clone(),
            seq: self.seq,
            line,
            state: format!("state{}", self.seq.0).into(),
            ended: None,
            wake: Some(self.seq.0 * 10),
            snapshot: None,
            prompts: Vec::new(),
            letter: None,
        }
    }

    async fn begin(name: &str, store: &Store, created_ms: u64) -> Self {
        let mut script = Self::new(name);
        let first = script.next("it begins");
        store.begin(first, opening(created_ms)).await.expect("it begins").seq();
        script
    }

    /// Writes entries until the run has so many.
    async fn until(&mut self, store: &Store, seq: u64) {
        while self.seq.0 < seq {
            let next = self.next("it goes on");
            store.append(next).await.expect("it is written").seq();
        }
    }

    async fn end(&mut self, store: &Store) {
        let mut last = self.next("it ends");
        last.ended = Some(Disposition::Succeeded);
        store.append(last).await.expect("it is written").seq();
    }
}

fn opening(created_ms: u64) -> Opening {
    Opening {
        agent: "research".into(),
        chart: "research".into(),
        source: "chart = \"research\"".into(),
        goal: "find it".into(),
        created_ms,
        letters: Vec::new(),
        forked: None,
    }
}

fn names(store: &Store) -> Vec<String> {
    store.runs().expect("readable").iter().map(|row| row.id.to_string()).collect()
}

#[tokio::test]
async fn what_was_written_is_read_and_survives_a_new_start() {
    let folder = Folder::new("survives");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let mut last = script.next("the last");
    last.ended = Some(Disposition::Stuck);
    last.snapshot = Some("{\"a\":1}".into());
    let link = store.append(last.clone()).await.expect("it is written").link();
    assert_eq!(link, Digest::of(last.line.as_bytes()));
    drop(store);

    let store = folder.store();
    let row = store.run(&script.run).expect("it is there");
    assert_eq!((row.seq, row.link, &*row.state, row.wake), (Seq(2), link, "state2", Some(20)));
    assert_eq!(row.ended.as_deref(), Some("stuck"));
    assert_eq!(store.lines(&script.run, Seq(0)).expect("readable"), script.lines);
    assert_eq!(store.lines(&script.run, Seq(1)).expect("readable"), [last.line]);
    assert!(store.lines(&script.run, Seq(2)).expect("readable").is_empty());
    let error = store.lines(&script.run, Seq(3)).expect_err("there is no entry 3");
    assert!(matches!(error, StoreError::NoSuchEntry { .. }), "{error}");
    let kept = store.snapshot(&script.run).expect("readable").expect("there is one");
    assert_eq!((kept.seq, kept.link, &*kept.body), (Seq(2), link, "{\"a\":1}"));
    assert_eq!(store.chart_source(&script.run).expect("readable"), "chart = \"research\"");
}

#[tokio::test]
async fn there_are_no_gaps_and_no_second_writer() {
    let folder = Folder::new("gaps");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let (mut ahead, mut rewritten, mut strange) =
        (script.clone(), Script::new("one"), Script::new("other"));
    ahead.next("skipped");
    for (wrong, wanted) in [(ahead.next("too soon"), 3), (rewritten.next("again"), 1)] {
        let error = store.append(wrong).await.expect_err("it is refused");
        assert!(
            matches!(error, StoreError::Conflict { at: Seq(1), wanted: Seq(w), .. } if w == wanted),
            "{error}"
        );
    }
    let error = store.append(rewritten.next("other past")).await.expect_err("it is refused");
    assert!(error.to_string().contains("does not follow the run's last line"), "{error}");
    let error = store.append(strange.next("nobody")).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    let again = Script::new("one").next("again");
    let error = store.begin(again, opening(9)).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::RunExists { .. }), "{error}");
    // A second process that goes on with the same run loses the race, and is told.
    let second = folder.store();
    let next = script.next("next");
    second.append(next.clone()).await.expect("it is first").seq();
    let error = store.append(next).await.expect_err("it is refused");
    assert!(matches!(error, StoreError::Conflict { at: Seq(2), .. }), "{error}");
    assert_eq!(store.lines(&script.run, Seq(0)).expect("readable"), script.lines);
}

#[tokio::test]
async fn a_line_that_is_no_entry_is_refused() {
    let folder = Folder::new("unfit");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    let good = script.next("good");
    for line in ["", "{}", "not JSON", &Script::new("one").next("entry 1").line] {
        let wrong = Append { line: line.to_owned(), ..good.clone() };
        let error = store.append(wrong).await.expect_err("it is refused");
        assert!(error.to_string().contains("entry 2 of run one cannot be kept"), "{error}");
    }
    store.append(good).await.expect("the good one is written").seq();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_runs_share_flushes_and_lose_nothing() {
    let folder = Folder::new("many");
    let store = Arc::new(folder.store());
    let tasks: Vec<_> = (0..64)
        .map(|at| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut script = Script::begin(&format!("run-{at}"), &store, at).await;
                script.until(&store, 20).await;
                // A refusal in the middle of a batch concerns nobody else.
                let wrong = Script::new(script.run.as_str()).next("wrong");
                store.append(wrong).await.expect_err("it is refused");
                script.until(&store, 40).await;
                script
            })
        })
        .collect();
    let mut scripts = Vec::new();
    for task in tasks {
        scripts.push(task.await.expect("it does not panic"));
    }
    let runs = store.runs().expect("readable");
    assert_eq!(runs.len(), 64);
    assert!(runs.is_sorted_by(|left, right| left.created_ms >= right.created_ms));
    for script in scripts {
        assert_eq!(store.lines(&script.run, Seq(0)).expect("readable"), script.lines);
    }
}

#[test]
fn run_ids_are_plain() {
    for wrong in ["", "a b", "../x", "ü", &"x".repeat(65)] {
        assert!(wrong.parse::<RunId>().is_err(), "{wrong}");
    }
}
