//! Pauses: a person's, the watch's, and those that a child shares with its parent; and messages to
//! a child.

use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use pointsman_kernel::{chart::Disposition, governor::Permissions, id::Seq};
use pointsman_runtime::{
    driver::RunStatus,
    engine::{Engine, EngineConfig, EngineError},
    model::{ModelSettings, Spec},
    observe::Notice,
    scheduler::{Scheduler, SchedulerOptions},
    session::{Delivery, StartOptions, Unattended},
    store::{QueueOptions, RunId, SqliteStore},
    timeline::TimelineKind,
    watch::ResourceLimits,
};
use serde_json::{Value, json};

use crate::{
    children::parent,
    session::{Says, TestSession, send},
};

/// A watch that always sees a shortage, pauses, and soon resumes anyway.
pub(crate) fn nervous() -> ResourceLimits {
    ResourceLimits {
        processor: None,
        memory: Some(0),
        disk_free: None,
        every: Duration::from_millis(1),
        longest: Duration::from_millis(1),
    }
}

#[test]
fn the_watch_does_not_undo_a_persons_pause() {
    let desk = TestSession::new("pause-watch");
    let journal = desk.session.journal().to_owned();
    let pauses = move |run: &RunId, notice: &Notice| {
        if matches!(notice.kind(), Some(TimelineKind::Transition { from: None, .. })) {
            send(&journal, run, &json!({ "paused": { "why": "tea" } }));
        }
    };
    let executor = desk.host_of(ModelSettings::new(Spec::quote()), Some(nervous()));
    let start = StartOptions { permissions: Permissions::allow_all(), ..TestSession::start(true) };
    let ran = desk.session.run(&executor, start, vec![Arc::new(pauses)], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!((outcome.status, &*outcome.state), (RunStatus::Waiting, "reading"));
    assert!(outcome.paused);
    // Resuming lifts the pause: the watch judges again, if there is one.
    let resumed = desk.session.resume(&executor, &outcome.run, Vec::new(), &mut Unattended);
    let resumed = resumed.unwrap_or_else(|error| panic!("it goes on: {error}"));
    assert_eq!(resumed.status, RunStatus::Ended(Disposition::Succeeded));
}

#[test]
fn ownerless_run_is_paused_at_once_and_resumed() {
    let desk = TestSession::new("pause-idle");
    let outcome = desk.run(&mut Unattended);
    assert_eq!((outcome.status, outcome.paused), (RunStatus::Asking, false));
    let paused = desk.session.pause(&outcome.run, "tea").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(paused, Delivery::Taken);
    let recalled = desk.session.recall(&outcome.run, None).unwrap_or_else(|e| panic!("{e}"));
    assert!(recalled.loaded.run.core().paused);
    // A pause that was not received yet is withdrawn, too.
    send(desk.session.journal(), &outcome.run, &json!({ "paused": { "why": "more tea" } }));
    let resumed = desk.resume(&outcome.run, &mut Says(true, 0));
    assert_eq!(resumed.status, RunStatus::Ended(Disposition::Succeeded));
    assert!(!resumed.paused);
}

#[test]
fn pausing_leaves_work_in_progress_to_resume() {
    let desk = TestSession::new("pause-interrupted");
    let start = StartOptions { permissions: Permissions::allow_all(), ..TestSession::start(true) };
    let ran = desk.session.run(&desk.executor(), start, Vec::new(), &mut Unattended);
    let whole = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    // A call was started with its first entry and not answered.
    let run = desk.session.fork(&whole.run, Some(Seq(1))).unwrap_or_else(|e| panic!("{e}"));
    desk.session.pause(&run, "tea").unwrap_or_else(|e| panic!("{e}"));
    let lines = desk
        .session
        .block_on(desk.session.store().lines(&run, Seq(0)))
        .expect("the store is readable");
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[1].contains("forked"), "{lines:#?}");
    assert!(lines[2].contains(r#""under_way":[]"#) && lines[3].contains("tea"), "{lines:#?}");
    let resumed = desk.resume(&run, &mut Unattended);
    assert_eq!(resumed.status, RunStatus::Ended(Disposition::Succeeded));
}

/// Waits until the journal of a run holds something.
pub(crate) fn until(store: &SqliteStore, run: &RunId, words: &str) {
    for _ in 0..6_000 {
        let lines = store.reader().lines(run, Seq(0)).unwrap_or_default();
        if lines.iter().any(|line| line.contains(words)) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("`{words}` never came: {:#?}", store.reader().lines(run, Seq(0)));
}

/// Who drives a run: a blocking session, a handle of an engine, or a worker with a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Caller {
    Session,
    Handle,
    Scheduler,
}

impl Caller {
    pub(crate) const ALL: [Self; 3] = [Self::Session, Self::Handle, Self::Scheduler];

    /// Returns the entry with which a run starts its first work: a queued one first waits for a worker.
    const fn starts(self) -> usize {
        if matches!(self, Self::Scheduler) { 2 } else { 1 }
    }

    /// Returns the child of the parent run.
    fn child(self, run: &RunId) -> RunId {
        format!("{run}-{}-0", self.starts()).parse().expect("the text is a run id")
    }

    /// Drives a parent run to its end, and names it once it has begun.
    fn drive(self, desk: &TestSession, settings: EngineConfig, begun: Sender<RunId>) -> RunId {
        if self == Self::Session {
            let watch = move |run: &RunId, notice: &Notice| {
                if matches!(notice.kind(), Some(TimelineKind::Transition { from: None, .. })) {
                    begun.send(run.clone()).expect("somebody hears");
                }
            };
            let (executor, watch) = (desk.host_from(settings), Arc::new(watch));
            let ran = desk.session.run(&executor, parent(), vec![watch], &mut Unattended);
            return ran.unwrap_or_else(|error| panic!("it runs: {error}")).run;
        }
        let (session, store) = (&desk.session, Arc::clone(desk.session.store()));
        let driven = session.block_on(async {
            let engine = engine(desk, settings).await?;
            if self == Self::Handle {
                let handle = engine.start(parent()).await?;
                begun.send(handle.run().clone()).expect("somebody hears");
                return Ok::<_, EngineError>(handle.wait().await?.run);
            }
            let run = engine.submit(parent(), None, QueueOptions::default()).await?;
            let poll = Duration::from_millis(20);
            let options = SchedulerOptions { poll, ..SchedulerOptions::default() };
            let (_scheduler, mut finished) = Scheduler::open(store, engine, options).await?;
            begun.send(run).expect("somebody hears");
            let finished = finished.recv().await.expect("the scheduler is open");
            finished.how.unwrap_or_else(|error| panic!("run {}: {error}", finished.run));
            Ok(finished.run)
        });
        driven.unwrap_or_else(|error| panic!("it runs: {error}"))
    }
}

/// Opens an engine over the journal of a desk.
pub(crate) async fn engine(
    desk: &TestSession,
    settings: EngineConfig,
) -> Result<Engine, EngineError> {
    let (agents, journal) = (Arc::new(pointsman_agents::all()), desk.session.journal().into());
    Engine::open(agents, Arc::clone(desk.session.store()), settings, journal).await
}

/// Runs a parent whose child waits for its model for an hour, and meanwhile says something.
/// Returns its desk and the run.
pub(crate) fn while_it_waits(
    caller: Caller,
    name: &str,
    watch: Option<ResourceLimits>,
    say: impl FnOnce(&Path, &RunId) + Send,
) -> (TestSession, RunId) {
    let desk = TestSession::new(name);
    std::fs::write(desk.work().join("a.md"), "The oven is lit at four.\n")
        .expect("the file is written");
    let script = desk.work().join("script.jsonl");
    let turn = json!({ "text": "Well.", "delay_ms": 3_600_000 });
    // An attempt that times out because the machine is busy is followed by another.
    std::fs::write(&script, format!("{turn}\n").repeat(3)).expect("the file is written");
    let settings = desk.settings(ModelSettings::new(Spec::script(&script)), watch);
    let (begun, hears) = mpsc::channel();
    let journal = desk.session.journal().to_owned();
    let run = thread::scope(|threads| {
        threads.spawn(move || {
            let run = hears.recv().expect("it begins");
            say(&journal, &run);
        });
        caller.drive(&desk, settings, begun)
    });
    (desk, run)
}

/// Returns the journal of a run.
pub(crate) fn journal_of(desk: &TestSession, run: &RunId) -> String {
    let lines = desk.session.block_on(desk.session.store().lines(run, Seq(0)));
    lines.expect("the store is readable").join("\n")
}

/// Runs such a parent and says something to it and to its child. Returns the parent's journal and
/// the child's.
pub(crate) fn while_the_child_waits(
    caller: Caller,
    name: &str,
    say: impl Fn(&Path, &RunId, &RunId) + Send,
) -> [String; 2] {
    let (desk, run) = while_it_waits(caller, name, None, move |journal, run| {
        say(journal, run, &caller.child(run));
    });
    [journal_of(&desk, &run), journal_of(&desk, &caller.child(&run))]
}

pub(crate) fn cancel() -> Value {
    json!({ "cancelled": { "scope": "run" } })
}

#[test]
fn a_child_is_paused_with_its_parent() {
    for caller in Caller::ALL {
        let [_, child] = while_the_child_waits(caller, "pause-child", |journal, run, child| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, child, "answered");
            send(journal, run, &json!({ "paused": { "why": "tea" } }));
            until(&store, child, r#""paused":{"why":"its parent is paused","by":"parent"}"#);
            send(journal, run, &json!("resumed"));
            until(&store, child, r#""lifted":{"by":"parent"}"#);
            send(journal, run, &cancel());
        });
        assert!(child.contains("cancelled"), "{caller:?}: it ends with its parent: {child}");
    }
}

#[test]
fn parent_does_not_lift_a_persons_pause() {
    for caller in Caller::ALL {
        let [parent, child] = while_the_child_waits(caller, "pause-both", |journal, run, child| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, child, "answered");
            let pause = json!({ "paused": { "why": "tea" } });
            send(journal, child, &pause);
            until(&store, child, r#""paused":{"why":"tea","by":"person"}"#);
            send(journal, run, &pause);
            until(&store, child, r#""by":"parent""#);
            send(journal, run, &json!("resumed"));
            until(&store, child, r#""lifted":{"by":"parent"}"#);
            // It is still paused, or this would be ignored.
            send(journal, child, &json!("resumed"));
            until(&store, child, r#""resumed""#);
            send(journal, run, &cancel());
        });
        // A build that does not know the author of a pause must refuse these lines.
        let format =
            |line: &&str| line.starts_with(if is_new(line) { r#"{"v":2,"# } else { r#"{"v":1,"# });
        let lines = parent.lines().skip(caller.starts()).chain(child.lines());
        assert_eq!(lines.clone().find(|line| !format(line)), None, "{caller:?}");
        let new = lines.filter(|line| is_new(line)).count();
        assert_eq!(new, 4, "{caller:?}\n{parent}\n{child}");
    }
}

fn is_new(line: &str) -> bool {
    line.contains(r#""event":{"paused""#) || line.contains(r#""event":{"lifted""#)
}

#[test]
fn message_cancels_a_child() {
    for caller in Caller::ALL {
        let [parent, child] = while_the_child_waits(caller, "cancel-child", |journal, _, child| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, child, "answered");
            send(journal, child, &cancel());
        });
        assert!(child.contains("cancelled"), "{caller:?}: {child}");
        assert!(parent.contains(r#""child":{"ended":"cancelled""#), "{caller:?}: {parent}");
    }
}
