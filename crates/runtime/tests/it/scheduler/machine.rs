//! The watch over the machine, for queued runs: nothing starts while the machine is short of something.

use std::path::Path;

use pointsman_runtime::watch::{ResourceLimits, ResourceWatch};

use super::*;

/// Works on a machine that is always short of memory, for at most this long at a time.
struct Short(Duration);

impl EffectExecutor for Short {
    fn model(&self) -> &'static str {
        "a script"
    }

    fn watch(&self) -> Option<ResourceWatch> {
        let limits = ResourceLimits {
            processor: None,
            memory: Some(0),
            disk_free: None,
            every: Duration::from_millis(1),
            longest: self.0,
        };
        Some(ResourceWatch::new(limits, Path::new(".")))
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(async { Completion::text("well said") })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_run_starts_nothing_while_the_machine_is_short() {
    let folder = TempFolder::new("scheduler-short");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(Short(Duration::from_millis(20))));
    let (chart, id) = (eager(), new_run_id());
    submit(&context, &program(&chart), &chart, &id).await;
    let (scheduler, _leaving) = open(&context, 1).await;
    // It stays with its worker until the watch lifts the pause: nothing else would wake it.
    reaches(&store, &id, 5).await;
    rested(&scheduler).await;
    assert_eq!(events(&store, &id), ["begun", "paused", "lifted", "lifted", "answered"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pause_of_another_machine_is_lifted() {
    let folder = TempFolder::new("scheduler-short-left");
    let store = Arc::new(folder.store());
    let short = context(&store, Arc::new(Short(Duration::from_hours(1))));
    let (chart, id) = (eager(), new_run_id());
    submit(&short, &program(&chart), &chart, &id).await;
    let (scheduler, _leaving) = open(&short, 1).await;
    reaches(&store, &id, 3).await;
    // As good as a machine that dies.
    drop(scheduler);

    let (_scheduler, _leaving) = open(&context(&store, Arc::new(World)), 1).await;
    reaches(&store, &id, 5).await;
    assert_eq!(events(&store, &id), ["begun", "paused", "lifted", "lifted", "answered"]);
}
