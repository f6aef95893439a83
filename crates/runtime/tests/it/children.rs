//! Child runs: their own journal, one driver, and an end no later than the parent's.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use pointsman_kernel::{
    chart::Disposition,
    event::RunConfig,
    governor::{Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    driver::{Driver, DriverContext, PreparedRun, RunStatus},
    observe::Notice,
    session::{Delivery, StartOptions, Unattended},
    store::{RunId, SqliteStore, Store as _},
    timeline::TimelineKind,
};
use pointsman_testing::{
    script::begun,
    stand_in::{Mute, PARENT},
};
use serde_json::json;

use crate::session::{TestSession, send};

pub(crate) fn parent() -> StartOptions {
    let program = crate::program(PARENT);
    StartOptions {
        program,
        source: PARENT.into(),
        config: json!({ "goal": "When is the oven lit?" }).into(),
        words: Vec::new(),
        goal: "When is the oven lit?".into(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    }
}

#[test]
fn a_child_has_its_own_journal_and_its_calls_are_the_parents() {
    let desk = TestSession::new("session-child");
    std::fs::write(desk.work().join("a.md"), "The oven is lit at four.\n")
        .expect("the file is written");
    let program = crate::program(PARENT);
    let goal = "When is the oven lit?";
    let start = StartOptions {
        program,
        source: PARENT.into(),
        config: json!({ "goal": goal }).into(),
        words: Vec::new(),
        goal: goal.into(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    };
    let ran = desk.session.run(&desk.executor(), start, Vec::new(), &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert!(outcome.result.is_some_and(|text| text.contains("a.md:1")));
    let store = desk.session.store();
    let child: RunId = format!("{}-1-0", outcome.run).parse().expect("the text is a run id");
    let row = desk.session.block_on(store.run(&child)).expect("it is kept");
    assert_eq!(row.ended.as_deref(), Some("succeeded"));
    let lines =
        desk.session.block_on(store.lines(&outcome.run, Seq(0))).expect("the store is readable");
    let lines = lines.join("\n");
    assert!(lines.contains(r#""model_calls":2"#) && lines.contains(r#""tool_calls":1"#), "{lines}");
}

#[test]
fn child_of_another_owner_is_not_touched() {
    let desk = TestSession::new("session-child-held");
    let program = crate::program(PARENT);
    // The child's name is known beforehand but for its parent's: another process makes it and
    // claims it as soon as the parent is there.
    let journal = desk.session.journal().to_owned();
    let held = Arc::new(Mutex::new(None));
    let keeps = Arc::clone(&held);
    let watch = move |run: &RunId, notice: &Notice| {
        if matches!(notice.kind(), Some(TimelineKind::Transition { from: None, .. })) {
            let store = SqliteStore::open(&journal).expect("the journal opens");
            let (run, child) =
                (run.clone(), format!("{run}-1-0").parse().expect("the text is a run id"));
            let taken = std::thread::spawn(move || {
                let threads = tokio::runtime::Builder::new_current_thread().build();
                threads.expect("the runtime starts").block_on(async {
                    store
                        .fork(&run, Seq(1), RunId::clone(&child), 5)
                        .await
                        .expect("the run is forked");
                    store
                        .claim(&child)
                        .await
                        .expect("the store answers the claim")
                        .expect("no other owner holds the run")
                })
            });
            *keeps.lock().expect("no thread panicked while it held the lock") =
                Some(taken.join().expect("it is claimed"));
        }
    };
    let start = StartOptions {
        program,
        source: PARENT.into(),
        config: json!({ "goal": "What is it?" }).into(),
        words: Vec::new(),
        goal: "What is it?".into(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    };
    let ran = desk.session.run(&desk.executor(), start, vec![Arc::new(watch)], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert!(held.lock().expect("no thread panicked while it held the lock").is_some());
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Failed));
    let child: RunId = format!("{}-1-0", outcome.run).parse().expect("the text is a run id");
    let child = desk.session.block_on(desk.session.store().run(&child)).expect("the run exists");
    assert_eq!((child.seq, child.ended), (Seq(1), None), "nobody here has driven it");
}

#[test]
fn the_children_of_a_run_end_with_it() {
    let desk = TestSession::new("session-child-left");
    let program = crate::program(PARENT);
    // Cancelled as soon as the child is there.
    let journal = desk.session.journal().to_owned();
    let told = Mutex::new(false);
    let watch = move |run: &RunId, notice: &Notice| {
        let mut told = told.lock().expect("no thread panicked while it held the lock");
        if matches!(notice.kind(), Some(TimelineKind::Started { .. })) && !*told {
            *told = true;
            send(&journal, run, &json!({ "cancelled": { "scope": "run" } }));
        }
    };
    let start = StartOptions {
        program,
        source: PARENT.into(),
        config: json!({ "goal": "What is it?" }).into(),
        words: Vec::new(),
        goal: "What is it?".into(),
        permissions: Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true },
        seed: Some(7),
    };
    let ran = desk.session.run(&desk.executor(), start, vec![Arc::new(watch)], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert!(matches!(outcome.status, RunStatus::Ended(_)), "{:?}", outcome.status);
    let runs = desk.session.block_on(desk.session.store().runs()).expect("the store is readable");
    assert!(runs.iter().all(|row| row.ended.is_some()), "{runs:?}");
}

#[test]
fn child_resumes_with_its_original_chart() {
    let desk = TestSession::new("session-child-chart");
    std::fs::write(desk.work().join("a.md"), "The oven is lit at four.\n")
        .expect("the file is written");
    let (_, source) = pointsman_agents::CHARTS
        .iter()
        .find(|(name, _)| *name == "research")
        .expect("the agent ships");
    let older: String = source
        .lines()
        .map(|line| {
            if line.starts_with("version") { "version = 77\n".into() } else { format!("{line}\n") }
        })
        .collect();
    let journal = desk.session.journal().to_owned();
    // Another build started the child, and ended before its first answer.
    let began = move |run: &RunId, notice: &Notice| {
        if matches!(notice.kind(), Some(TimelineKind::Transition { from: None, .. })) {
            let child: RunId = format!("{run}-1-0").parse().expect("the text is a run id");
            let (journal, older) = (journal.clone(), older.clone());
            std::thread::spawn(move || begin(&journal, child, &older, || {}))
                .join()
                .expect("the thread did not panic");
        }
    };
    let executor = desk.executor();
    let ran = desk.session.run(&executor, parent(), vec![Arc::new(began)], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    let child: RunId = format!("{}-1-0", outcome.run).parse().expect("the text is a run id");
    let lines = desk
        .session
        .block_on(desk.session.store().lines(&child, Seq(0)))
        .expect("the store is readable");
    assert!(lines.iter().any(|line| line.contains("interrupted")), "{lines:#?}");
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded), "{lines:#?}");
}

/// The lease of a worker that was killed may last longer than its parent's.
#[test]
fn child_is_taken_over_once_its_owner_is_seen_to_be_lost() {
    let desk = TestSession::new("session-child-lost");
    std::fs::write(desk.work().join("a.md"), "The oven is lit at four.\n")
        .expect("the file is written");
    let journal = desk.session.journal().to_owned();
    let began = move |run: &RunId, notice: &Notice| {
        if matches!(notice.kind(), Some(TimelineKind::Transition { from: None, .. })) {
            let child: RunId = format!("{run}-1-0").parse().expect("the text is a run id");
            let (journal, (begins, began)) = (journal.clone(), mpsc::channel());
            std::thread::spawn(move || {
                let source = pointsman_agents::all().chart("research").expect("the chart ships");
                begin(&journal, child, source, || {
                    begins.send(()).expect("the observer waits");
                    std::thread::sleep(Duration::from_millis(300));
                });
            });
            began.recv().expect("the child begins");
        }
    };
    let executor = desk.executor();
    let ran = desk.session.run(&executor, parent(), vec![Arc::new(began)], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
}

/// Begins a run of another chart, does something while it is held, and drops it as it is.
fn begin(journal: &std::path::Path, id: RunId, source: &str, held: impl FnOnce()) {
    let program = crate::program(source);
    let permissions = Permissions { attended: false, ..Permissions::allow_all() };
    let goal = json!({ "goal": "When is the oven lit?" });
    let begun =
        RunConfig { tools: pointsman_agents::tools(), ..begun(&program, permissions, &goal) };
    let store = Arc::new(SqliteStore::open(journal).expect("the journal opens"));
    let context = DriverContext {
        agents: Arc::new(pointsman_agents::all()),
        store,
        executor: Arc::new(Mute),
        observers: Vec::new(),
    };
    let beginning = PreparedRun {
        id,
        program: Arc::new(program),
        source: source.into(),
        goal: "".into(),
        words: Vec::new(),
        begun,
    };
    let threads = tokio::runtime::Runtime::new().expect("the runtime starts");
    let driver = threads.block_on(Driver::begin(context, beginning));
    let driver = driver.unwrap_or_else(|error| panic!("{error}"));
    held();
    drop(driver);
}

#[test]
fn child_whose_owner_is_lost_a_moment_later_ends_with_its_parent() {
    let desk = TestSession::new("session-child-owned");
    let outcome = desk.run(&mut Unattended);
    let child: RunId = format!("{}-1-0", outcome.run).parse().expect("the text is a run id");
    let store = desk.session.store();
    let forked = desk.session.block_on(store.fork(&outcome.run, Seq(1), child.clone(), 5));
    forked.expect("it is made");
    let other = SqliteStore::open(desk.session.journal()).expect("the journal opens");
    let (claims, claimed) = mpsc::channel();
    let owner = std::thread::spawn(move || {
        let threads = tokio::runtime::Builder::new_current_thread().build();
        let lease = threads.expect("the runtime starts").block_on(other.claim(&child));
        let lease = lease.expect("the store answers the claim").expect("nobody has it");
        claims.send(()).expect("the test waits");
        std::thread::sleep(Duration::from_millis(300));
        drop(lease);
    });
    claimed.recv().expect("it is claimed");
    let delivery = desk.session.cancel(&outcome.run);
    assert_eq!(delivery.unwrap_or_else(|error| panic!("{error}")), Delivery::Taken);
    owner.join().expect("the thread did not panic");
    let runs = desk.session.block_on(store.runs()).expect("the store is readable");
    assert!(runs.iter().all(|row| row.ended.as_deref() == Some("cancelled")), "{runs:?}");
}

#[test]
fn children_end_with_an_ownerless_run() {
    let desk = TestSession::new("session-child-cancelled");
    let outcome = desk.run(&mut Unattended);
    let child: RunId = format!("{}-1-0", outcome.run).parse().expect("the text is a run id");
    // A child that was left open: as good as any is one that shares its parent's past.
    let store = desk.session.store();
    let forked = desk.session.block_on(store.fork(&outcome.run, Seq(1), child.clone(), 5));
    forked.expect("it is made");
    let open = desk.session.block_on(store.open_children(&outcome.run));
    assert_eq!(open.expect("readable"), [child]);
    let delivery = desk.session.cancel(&outcome.run);
    assert_eq!(delivery.unwrap_or_else(|error| panic!("{error}")), Delivery::Taken);
    let runs = desk.session.block_on(store.runs()).expect("the store is readable");
    assert!(runs.iter().all(|row| row.ended.as_deref() == Some("cancelled")), "{runs:?}");
}
