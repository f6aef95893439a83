//! Ending, pausing or granting runs without an owner: a cancelled run, and the children of an ended one.
//! Work in progress is not repeated.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::{
    agents::Agents,
    chart::Charge,
    event::{Event, Scope},
};

use super::{SessionError, program};
use crate::{
    clock::Stopwatch,
    driver::{Driver, DriverContext},
    effect::{EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{LOST, Lease, Release, RunId, Store},
};

/// Ends a run.
pub(crate) async fn end(context: &DriverContext, lease: Lease) -> Result<(), SessionError> {
    let mut driver = taken_up(context, lease).await?;
    Ok(driver.give(Event::Cancelled { scope: Scope::Run }).await?)
}

/// Pauses a run.
pub(crate) async fn pause(
    context: &DriverContext,
    lease: Lease,
    why: &str,
) -> Result<(), SessionError> {
    let program = Arc::new(program(&context.agents, &*context.store, lease.run()).await?);
    Driver::open_to_pause(context.clone(), program, lease, why).await?;
    Ok(())
}

/// Raises limits of a run.
pub(crate) async fn grant(
    context: &DriverContext,
    lease: Lease,
    grants: &[(Charge, u64)],
) -> Result<(), SessionError> {
    let program = Arc::new(program(&context.agents, &*context.store, lease.run()).await?);
    let driver = Driver::open_to_grant(context.clone(), program, lease, grants).await?;
    Ok(driver.release(Release::Ready).await?)
}

/// Ends the turn of a run without an owner, so that it awaits a message.
pub(super) async fn settle(context: &DriverContext, lease: Lease) -> Result<(), SessionError> {
    let mut driver = taken_up(context, lease).await?;
    if !driver.listens() {
        driver.give(Event::Cancelled { scope: Scope::Turn }).await?;
    }
    Ok(())
}

async fn taken_up(context: &DriverContext, lease: Lease) -> Result<Driver, SessionError> {
    let program = Arc::new(program(&context.agents, &*context.store, lease.run()).await?);
    Ok(Driver::open_to_end(context.clone(), program, lease).await?)
}

/// Returns a context without executor and observers.
pub(crate) fn idle(agents: &Arc<Agents>, store: &Arc<dyn Store>) -> DriverContext {
    let (agents, store) = (Arc::clone(agents), Arc::clone(store));
    DriverContext { agents, store, executor: Arc::new(Idle), observers: Vec::new() }
}

/// Ends the children of a run that has ended: a stopped attempt leaves a child behind, and its
/// answer is no longer needed. A failure is only logged: it must not hide how the run itself
/// ended.
pub(crate) async fn end_children(agents: &Arc<Agents>, store: &Arc<dyn Store>, id: &RunId) {
    let context = idle(agents, store);
    let children = context.store.open_children(id).await.unwrap_or_else(|error| {
        tracing::warn!(run = %id, %error, "the children of a run cannot be listed");
        Vec::new()
    });
    let owned = end_within(&context, children, LOST).await;
    if owned.is_empty() || context.store.lease_lasts().is_none() {
        return;
    }
    // The lease of an owner that was killed lasts a while longer: no other process waits for that.
    tokio::spawn(async move {
        for child in end_within(&context, owned, context.store.lost_after()).await {
            tracing::warn!(run = %child, "a child of a run has an owner and is not ended");
        }
    });
}

/// Ends runs, and returns those that have an owner until the time is over: it sees to them.
async fn end_within(context: &DriverContext, runs: Vec<RunId>, limit: Duration) -> Vec<RunId> {
    let waited = Stopwatch::start();
    let mut owned = Vec::new();
    for run in runs {
        let left = limit.saturating_sub(waited.elapsed());
        match end_claimed(context, &run, left).await {
            Ok(true) => {}
            Ok(false) => owned.push(run),
            Err(error) => tracing::warn!(%run, %error, "a child of a run cannot be ended"),
        }
    }
    owned
}

/// Returns whether the run had no owner, and was ended.
async fn end_claimed(
    context: &DriverContext,
    run: &RunId,
    limit: Duration,
) -> Result<bool, SessionError> {
    match context.store.claim_within(run, limit).await? {
        Some(lease) => end(context, lease).await.map(|()| true),
        None => Ok(false),
    }
}

/// Does nothing: for a run that is only to be ended.
struct Idle;

impl EffectExecutor for Idle {
    fn model(&self) -> &'static str {
        "nobody"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(std::future::pending())
    }
}
