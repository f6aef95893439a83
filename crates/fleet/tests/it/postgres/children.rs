//! Child runs whose owner was lost: their leases may outlive those of their parents.

use std::{fs, sync::Arc, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_kernel::{chart::Disposition, event::RunConfig, governor::Permissions};
use pointsman_runtime::{
    clock::new_run_id,
    control::RunControl,
    driver::{Driver, DriverContext, PreparedRun, RunStatus},
    engine::Engine,
    session::Delivery,
    store::{RunId, Store},
    tool::ToolSettings,
};
use pointsman_testing::{
    folder::TempFolder,
    script::{Script, begun, id},
    stand_in::{Mute, PARENT},
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::Fresh;

const LIMIT: Duration = Duration::from_mins(1);
const GOAL: &str = "When is the oven lit?";

/// Begins a run, up to its first effect.
async fn begin(store: &Arc<dyn Store>, run: &RunId, source: &str) -> Driver {
    let agents = Arc::new(pointsman_agents::all());
    let program = Arc::new(agents.verify(source).expect("the chart is sound"));
    let permissions = Permissions { attended: false, ..Permissions::allow_all() };
    let config = begun(&program, permissions, &json!({ "goal": GOAL }));
    let prepared = PreparedRun {
        id: run.clone(),
        program,
        source: source.into(),
        goal: GOAL.into(),
        words: Vec::new(),
        begun: RunConfig { tools: pointsman_agents::tools(), ..config },
    };
    let (store, executor) = (Arc::clone(store), Arc::new(Mute));
    let context = DriverContext { agents, store, executor, observers: Vec::new() };
    Driver::begin(context, prepared).await.expect("it begins")
}

/// Begins a run and its child for an owner that is killed: it gives nothing up, and the lease of the child
/// lasts for some milliseconds more. The child wrote an entry after the last renewal of both.
async fn begin_and_die(fresh: &Fresh, lasts_ms: u64) -> (RunId, RunId, [Driver; 2]) {
    let quiet = PostgresOptions { heartbeats: false, ..PostgresOptions::default() };
    let store: Arc<dyn Store> = Arc::new(fresh.open(quiet).await);
    let parent = new_run_id();
    let child: RunId = format!("{parent}-1-0").parse().expect("the text is a run id");
    let research = pointsman_agents::all().chart("research").expect("the chart ships");
    let owner = [begin(&store, &parent, PARENT).await, begin(&store, &child, research).await];
    let expire = format!(
        "UPDATE pointsman.run SET expires_ms = 0 WHERE id = '{parent}';
         UPDATE pointsman.run SET expires_ms = pointsman.now_ms() + {lasts_ms}
             WHERE id = '{child}'"
    );
    fresh.client().await.batch_execute(&expire).await.expect("one lease has expired");
    (parent, child, owner)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn parent_that_is_taken_over_waits_for_the_lease_of_its_child() {
    let fresh = Fresh::new().await;
    let folder = TempFolder::new("fleet-child");
    fs::write(folder.0.join("a.md"), "The oven is lit at four.\n").expect("the file is written");
    let (parent, child, killed) = begin_and_die(&fresh, 3_000).await;
    let (agents, work) = (pointsman_agents::all(), ToolSettings::within(&folder.0));
    let theirs = fresh.open(PostgresOptions::default()).await;
    let engine = Engine::builder(theirs).agents(agents).workspace(work);
    let engine = engine.build().await.expect("it is set up");
    let run = engine.resume(&parent).await.expect("nobody has it");
    let outcome = timeout(LIMIT, run.wait()).await.expect("it ends").expect("it is driven");
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    let row = engine.store().run(&child).await.expect("it is read");
    assert_eq!(row.ended.as_deref(), Some("succeeded"));
    drop(killed);
}

/// The cancelling process does not wait for this: the lease outlasts it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn child_whose_lease_lasts_longer_ends_with_its_parent() {
    let fresh = Fresh::new().await;
    let (parent, child, killed) = begin_and_die(&fresh, 5_000).await;
    let store: Arc<dyn Store> = Arc::new(fresh.open(PostgresOptions::default()).await);
    let control = RunControl::new(Arc::new(pointsman_agents::all()), Arc::clone(&store));
    let delivery = control.cancel(&parent).await.expect("it is cancelled");
    assert_eq!(delivery, Delivery::Taken);
    let ends = async {
        loop {
            let row = store.run(&child).await.expect("it is read");
            if let Some(ended) = row.ended {
                return ended;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    assert_eq!(&*timeout(LIMIT, ends).await.expect("it ends"), "cancelled");
    drop(killed);
}

/// The parent's task drives its children: while it hangs, no child continues.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn children_of_a_task_that_hangs_can_be_taken_over() {
    let fresh = Fresh::new().await;
    let hangs = Duration::from_millis(500);
    let usual = PostgresOptions::default;
    let ours = fresh.open(PostgresOptions { lease: hangs * 10, hangs, ..usual() }).await;
    let theirs = fresh.open(usual()).await;
    let mut held = Vec::new();
    for name in ["hangs", "hangs-1-0", "hangs-1-0-2-0"] {
        held.push(Script::create(name, &ours, 5).await.expect("it begins"));
    }
    // The only sign of life.
    let (_, parent) = held.first().expect("it is there");
    parent.pulse().expect("its owner gives signs").beat();
    let mut taken = Vec::new();
    for (script, _) in &held {
        let claimed = async {
            loop {
                if let Some(lease) = theirs.claim(&script.run).await.expect("it is asked") {
                    return lease;
                }
                sleep(Duration::from_millis(50)).await;
            }
        };
        let claimed = timeout(LIMIT, claimed).await;
        taken.push(claimed.unwrap_or_else(|_| panic!("the lease of {} is renewed", script.run)));
    }
    // In the process of the task that hangs, a new owner of the parent is none that hangs.
    drop(taken);
    theirs.settle().await;
    let again = ours.claim(&id("hangs")).await.expect("it is asked").expect("it is free");
    let child = ours.claim(&id("hangs-1-0")).await.expect("it is asked").expect("it is free");
    assert!(child.pulse().is_some_and(|pulse| !pulse.has_stopped()));
    drop((again, child, held));
}
