//! Ending, pausing or granting runs without an owner: a cancelled run, and the children of an ended one.
//! Work in progress is not repeated.

use std::sync::Arc;

use pointsman_kernel::{
    agents::Agents,
    chart::Charge,
    event::{Event, Scope},
};

use super::{SessionError, program};
use crate::{
    driver::{Driver, DriverContext},
    effect::{EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{Lease, Release, RunId, Store},
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
    let context = &idle(agents, store);
    let children = context.store.open_children(id).await.unwrap_or_else(|error| {
        tracing::warn!(run = %id, %error, "the children of a run cannot be listed");
        Vec::new()
    });
    for child in children {
        if let Err(error) = end_child(context, &child).await {
            tracing::warn!(run = %child, %error, "a child of a run cannot be ended");
        }
    }
}

async fn end_child(context: &DriverContext, child: &RunId) -> Result<(), SessionError> {
    // Another owner sees to it.
    match context.store.claim(child).await? {
        Some(lease) => end(context, lease).await,
        None => Ok(()),
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
