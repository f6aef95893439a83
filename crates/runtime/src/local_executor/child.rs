//! Child runs: a run of another chart with its own journal and a derived id, so that the parent
//! finds it again after a crash.

use std::sync::Arc;

use pointsman_kernel::{
    agent::{ChildEnd, ChildRun, FaultClass},
    agents::{Agents, Program},
    chart::Disposition,
    event::{RunConfig, Usage},
    governor::{Grant, Permissions},
    id::{At, Seq},
    journal::body,
};
use serde_json::json;
use thiserror::Error;

use super::{LocalExecutor, rules::RulesError};
use crate::{
    driver::{DriveError, Driver, DriverContext, PreparedRun},
    effect::{Completion, Permit, ProgressSink},
    store::{NoRunId, RunId, StoreError},
    task::{RunTask, TaskEnd, Until},
    timeline::{Projector, Spent},
};

/// Why a child run failed.
#[derive(Debug, Error)]
enum ChildError {
    #[error("there is no chart `{0}`")]
    NoChart(String),
    #[error("this build refuses the chart `{0}`")]
    Refused(String),
    #[error("child runs are nested too deeply: {0}")]
    TooDeep(#[from] NoRunId),
    #[error("the child waits for a person in `{0}`, but a child run cannot ask anyone")]
    Waits(String),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("the child is owned by another process")]
    Held,
    #[error("the goal cannot be saved: {0}")]
    Goal(#[from] serde_json::Error),
}

/// Runs a child to its end and reports how it ended and what it cost.
pub(super) async fn run(
    executor: LocalExecutor,
    permit: Permit,
    child: ChildRun,
    shown: ProgressSink,
) -> Completion {
    match to_its_end(&executor, &permit, &child, shown).await {
        Ok((end, usage)) => Completion::child(end).costing(usage),
        Err(error) => Completion::fault(FaultClass::Other, false, &error.to_string()),
    }
}

async fn to_its_end(
    executor: &LocalExecutor,
    permit: &Permit,
    child: &ChildRun,
    shown: ProgressSink,
) -> Result<(ChildEnd, Usage), ChildError> {
    let id: RunId = permit.to_string().parse()?;
    let store = Arc::clone(&executor.0.store);
    let agents = &executor.0.agents;
    let context = DriverContext {
        agents: Arc::clone(agents),
        store: Arc::clone(&store),
        executor: Arc::new(executor.clone()),
        observers: executor.0.child_observers.0.clone(),
    };
    // Its last owner may have been lost with the parent's, and its lease may last longer: each entry has
    // extended that one alone.
    let driver = match store.claim_within(&id, store.lost_after()).await {
        // One that has begun keeps to the chart that it began with.
        Ok(lease) => {
            let lease = lease.ok_or(ChildError::Held)?;
            let source = store.chart_source(&id).await?;
            Driver::resume(context, program(agents, &source, child)?, lease).await?
        }
        Err(StoreError::NoSuchRun { .. }) => {
            let found = agents.chart(&child.chart);
            let source = found.ok_or_else(|| ChildError::NoChart(child.chart.clone()))?;
            let program = program(agents, source, child)?;
            let begun = RunConfig {
                chart: program.name().into(),
                version: program.version(),
                digest: program.digest(),
                // Derived, as the name is: the same child has the same waiting times.
                seed: u64::from_le_bytes(seed(&id)),
                permissions: permissions(executor, &permit.run).await?,
                tools: executor.decls_for(program.agent()),
                checks: true,
                queued: false,
                config: body(&json!({ "goal": child.goal }))?,
                place: Some(body(&executor.place_of(&id, program.agent()))?),
            };
            // A model wrote the goal. Its configuration has it unchanged; this one is for people.
            let goal = child.goal.replace('\0', "\u{fffd}").into();
            let source = source.into();
            Driver::begin(
                context,
                PreparedRun { id: id.clone(), program, source, goal, words: Vec::new(), begun },
            )
            .await?
        }
        Err(error) => return Err(error.into()),
    };
    // It is paused while its parent is, and takes messages as other runs do.
    let parent = executor.0.pauses.of(&permit.run);
    let task = RunTask::new(driver, Until::Waits).with_parent(parent, shown);
    let mut task = task.with_mailbox().await?;
    let rest = task.run().await?;
    if let TaskEnd::Ended(ended) = rest {
        let lines = store.lines(&id, Seq(0)).await?;
        let driver = task.driver();
        return Ok((end(driver, ended), usage(driver, &lines)?));
    }
    let driver = task.driver();
    let state = driver.program().state_name(driver.run().core().state).to_owned();
    Err(ChildError::Waits(state))
}

fn program(agents: &Agents, source: &str, child: &ChildRun) -> Result<Arc<Program>, ChildError> {
    agents.verify(source).map(Arc::new).map_err(|_| ChildError::Refused(child.chart.clone()))
}

fn seed(id: &RunId) -> [u8; 8] {
    let digest = pointsman_kernel::id::Digest::of(id.as_str().as_bytes());
    let mut seed = [0; 8];
    for (to, from) in seed.iter_mut().zip(digest.0) {
        *to = from;
    }
    seed
}

fn end(driver: &Driver, ended: Disposition) -> ChildEnd {
    ChildEnd { ended, result: driver.run().result().unwrap_or_default() }
}

/// Returns the parent's permissions, from its first entry; a child can ask no one.
async fn permissions(executor: &LocalExecutor, parent: &RunId) -> Result<Permissions, ChildError> {
    let permissions = executor.0.rules.of(&*executor.0.store, parent).await?;
    let store = &executor.0.store;
    let passed = store.now_ms().saturating_sub(store.run(parent).await?.created_ms);
    let rules = later(&permissions.rules, passed);
    Ok(Permissions { attended: false, rules, ..Permissions::clone(&permissions) })
}

/// Returns rules for a run that begins this many milliseconds later: each run counts its own time,
/// and the rules expire at the same moment.
fn later(rules: &[Grant], passed: u64) -> Vec<Grant> {
    let left = |rule: &Grant| match rule.until {
        Some(until) => {
            let left = until.0.checked_sub(passed).filter(|left| *left > 0)?;
            Some(Grant { until: Some(At(left)), ..rule.clone() })
        }
        None => Some(rule.clone()),
    };
    rules.iter().filter_map(left).collect()
}

/// Returns what a child has called and what it cost, failed calls included.
fn usage(driver: &Driver, lines: &[String]) -> Result<Usage, ChildError> {
    let mut projector = Projector::new(Arc::clone(driver.program()), driver.id().clone());
    let Spent { model_calls, tool_calls, tokens, money } = Spent::of(&projector.fold_all(lines)?);
    Ok(Usage { tokens, money, model_calls, tool_calls, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::governor::Level;

    use super::*;

    #[test]
    fn expiring_rules_expire_for_children_too() {
        let rule = |until: Option<u64>| Grant {
            tool: "http_get".into(),
            arguments: Vec::new(),
            level: Level::Allow,
            until: until.map(At),
        };
        let rules = [rule(None), rule(Some(100)), rule(Some(101)), rule(Some(3))];
        assert_eq!(later(&rules, 100), [rule(None), rule(Some(1))]);
        assert_eq!(later(&rules, 0), rules);
    }
}
