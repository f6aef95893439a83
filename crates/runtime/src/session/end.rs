//! Ending or pausing runs that nobody drives: one that is cancelled, and the children of one that has
//! ended. Nothing that was under way is done again.

use std::sync::Arc;

use pointsman_kernel::{
    agents::Agents,
    event::{Event, Scope},
};

use super::{SessionError, program};
use crate::{
    driver::{Driver, DriverContext},
    effect::{EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{Lease, RunId, Store},
};

/// Ends a run.
pub(super) async fn end(context: &DriverContext, lease: Lease) -> Result<(), SessionError> {
    let mut driver = taken_up(context, lease).await?;
    Ok(driver.give(Event::Cancelled { scope: Scope::Run }).await?)
}

/// Pauses a run.
pub(super) async fn pause(
    context: &DriverContext,
    lease: Lease,
    why: &str,
) -> Result<(), SessionError> {
    let program = Arc::new(program(&context.agents, &*context.store, lease.run()).await?);
    Driver::lay_aside(context.clone(), program, lease, why).await?;
    Ok(())
}

/// Ends the turn of a run that nobody drives, so that it listens.
pub(super) async fn settle(context: &DriverContext, lease: Lease) -> Result<(), SessionError> {
    let mut driver = taken_up(context, lease).await?;
    if !driver.listens() {
        driver.give(Event::Cancelled { scope: Scope::Turn }).await?;
    }
    Ok(())
}

async fn taken_up(context: &DriverContext, lease: Lease) -> Result<Driver, SessionError> {
    let program = Arc::new(program(&context.agents, &*context.store, lease.run()).await?);
    Ok(Driver::take_up(context.clone(), program, lease).await?)
}

/// Returns a context in which nobody acts or watches.
pub(super) fn idle(agents: &Arc<Agents>, store: &Arc<dyn Store>) -> DriverContext {
    let (agents, store) = (Arc::clone(agents), Arc::clone(store));
    DriverContext { agents, store, executor: Arc::new(Idle), observers: Vec::new() }
}

/// Ends the children of a run that has ended: an attempt that was stopped leaves one
/// behind, and nobody will ask for its answer. One that cannot be ended is told to the log
/// alone: how the run itself ended must not be lost over it.
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
