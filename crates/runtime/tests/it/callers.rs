//! Every kind of caller drives a run alike: its children end with it, and the watch pauses it.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::{
    chart::Disposition,
    event::{Event, Scope},
    id::Seq,
};
use pointsman_runtime::{
    driver::RunStatus,
    engine::EngineError,
    model::{ModelSettings, Spec},
    scheduler::{Scheduler, SchedulerOptions},
    session::{Delivery, Unattended},
    store::{QueueOptions, QueueStatus, RunId, SqliteStore, Store},
    watch::ResourceLimits,
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::{
    pausing::{Caller, cancel, engine, journal_of, nervous, until, while_it_waits},
    session::{TestSession, send},
};

const LIMIT: Duration = Duration::from_mins(1);

const CANCELLED: &str = r#""event":{"cancelled""#;

/// Leaves a child of a run behind: as good as any is one that shares its parent's past.
async fn leave_behind(store: &dyn Store, run: &RunId) -> RunId {
    let left: RunId = format!("{run}-1-9").parse().expect("the text is a run id");
    store.fork(run, Seq(1), left.clone(), 5).await.expect("the run is forked");
    left
}

#[test]
fn child_that_was_left_behind_ends_with_its_running_parent() {
    for caller in Caller::ALL {
        let (desk, run) = while_it_waits(caller, "left-behind", None, |journal, run| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, run, "begun");
            let threads = tokio::runtime::Runtime::new().expect("the runtime starts");
            let left = threads.block_on(leave_behind(&store, run));
            send(journal, run, &cancel());
            until(&store, &left, CANCELLED);
        });
        let runs = desk.session.block_on(desk.session.store().runs()).expect("it is readable");
        let open: Vec<_> = runs.iter().filter(|row| row.ended.is_none()).collect();
        assert!(open.is_empty() && runs.len() > 1, "{caller:?}, run {run}: {open:#?}");
    }
}

/// Has a run ask a person whom it does not find, and cancels it where it rests. Returns the run
/// and a child that was left behind meanwhile.
async fn cancel_at_rest(caller: Caller, desk: &TestSession) -> Result<(RunId, RunId), EngineError> {
    let store = Arc::clone(desk.session.store());
    let settings = desk.settings(ModelSettings::new(Spec::quote()), None);
    let (engine, start) = (engine(desk, settings).await?, TestSession::start(true));
    let cancelled = Event::Cancelled { scope: Scope::Run };
    if caller == Caller::Handle {
        let asking = engine.start(start).await?.wait().await?;
        assert_eq!(asking.status, RunStatus::Asking);
        let left = leave_behind(&*store, &asking.run).await;
        engine.send(&asking.run, &cancelled).await?;
        let ended = engine.resume(&asking.run).await?.wait().await?;
        assert_eq!(ended.status, RunStatus::Ended(Disposition::Cancelled));
        return Ok((asking.run, left));
    }
    let run = engine.submit(start, None, QueueOptions::default()).await?;
    let poll = Duration::from_millis(20);
    let options = SchedulerOptions { poll, ..SchedulerOptions::default() };
    let (_scheduler, mut finished) = Scheduler::open(Arc::clone(&store), engine, options).await?;
    let parked = async {
        loop {
            let row = store.run(&run).await.expect("the run exists");
            let status = row.queue.and_then(|place| place.status);
            if row.seq > Seq(1) && status == Some(QueueStatus::Waiting) {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, parked).await.expect("it is parked before the timeout");
    let left = leave_behind(&*store, &run).await;
    store.send(&run, &cancel().to_string()).await.expect("the message is sent");
    let finished = timeout(LIMIT, finished.recv()).await.expect("it ends before the timeout");
    let how = finished.expect("the scheduler is open").how;
    assert_eq!(how.ok(), Some(Disposition::Cancelled));
    Ok((run, left))
}

#[test]
fn child_that_was_left_behind_ends_with_its_parked_parent() {
    for caller in Caller::ALL {
        let desk = TestSession::new("left-at-rest");
        let session = &desk.session;
        let (run, left) = if caller == Caller::Session {
            let asking = desk.run(&mut Unattended);
            assert_eq!(asking.status, RunStatus::Asking);
            let left = session.block_on(leave_behind(&**session.store(), &asking.run));
            let delivery = session.cancel(&asking.run).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(delivery, Delivery::Taken);
            (asking.run, left)
        } else {
            let cancelled = session.block_on(cancel_at_rest(caller, &desk));
            cancelled.unwrap_or_else(|error| panic!("{caller:?}: {error}"))
        };
        for run in [run, left] {
            let row = session.block_on(session.store().run(&run)).expect("the run exists");
            assert_eq!(row.ended.as_deref(), Some("cancelled"), "{caller:?}, run {run}");
        }
    }
}

#[test]
fn every_callers_run_is_paused_by_the_watch_and_goes_on() {
    for caller in Caller::ALL {
        let limits = Some(nervous());
        let (desk, run) = while_it_waits(caller, "watched", limits, |journal, run| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, run, r#""lifted":{"by":"machine"}"#);
            send(journal, run, &cancel());
        });
        let journal = journal_of(&desk, &run);
        let machines = journal.lines().filter(|line| line.contains(r#""by":"machine"}"#));
        let pauses: Vec<bool> =
            machines.map(|line| line.contains(r#""event":{"paused""#)).collect();
        assert_eq!(pauses, [true, false], "{caller:?}: {journal}");
        assert!(journal.contains(CANCELLED), "{caller:?}: {journal}");
    }
}

#[test]
fn the_watch_undoes_no_persons_pause_while_work_is_in_progress() {
    // A queued run starts no work while the machine is short: a person's pause parks it.
    for caller in [Caller::Session, Caller::Handle] {
        let limits = ResourceLimits { longest: Duration::from_millis(200), ..nervous() };
        while_it_waits(caller, "watched-paused", Some(limits), |journal, run| {
            let store = SqliteStore::open(journal).expect("the journal opens");
            until(&store, run, r#""by":"machine"}"#);
            send(journal, run, &json!({ "paused": { "why": "tea" } }));
            until(&store, run, r#""paused":{"why":"tea","by":"person"}"#);
            until(&store, run, r#""lifted":{"by":"machine"}"#);
            // It is still paused, or this would be ignored.
            send(journal, run, &json!("resumed"));
            until(&store, run, r#""event":"resumed""#);
            send(journal, run, &cancel());
        });
    }
}
