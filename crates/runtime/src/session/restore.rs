//! Importing a run: an export becomes a run of a store, entry by entry, after all of it was checked.

use std::sync::Arc;

use pointsman_kernel::{agents::Agents, id::Seq};

use super::SessionError;
use crate::{
    driver::{Derived, fold_each},
    store::{Append, EntryLine, NewRun, Release, RunId, Store, import::Exported},
};

/// Writes an exported run to a store, and returns its id. Every line is stepped again first, so that
/// nothing is written that this build would not have written. Nobody drives the run.
pub async fn restore(
    agents: &Agents,
    store: &dyn Store,
    exported: Exported,
) -> Result<RunId, SessionError> {
    let run = exported.run.clone();
    let chart = |why| SessionError::Chart { run: run.clone(), why };
    let program = agents.verify(&exported.source).map_err(chart)?;
    let mut derived = Vec::with_capacity(exported.lines.len());
    fold_each(&program, &run, &exported.lines, |_, folded, stepped| {
        derived.push(Derived::again(&program, folded, stepped));
    })?;
    let entries = (1..).map(Seq).zip(exported.lines).zip(derived).map(|((seq, line), derived)| {
        let Derived { state, ended, wake, prompts } = derived;
        let (line, run) = (EntryLine::from(line), run.clone());
        Arc::new(Append {
            run,
            seq,
            line,
            state,
            ended,
            wake,
            snapshot: None,
            prompts,
            message: None,
        })
    });
    let new_run = NewRun {
        agent: exported.agent,
        chart: exported.chart,
        source: exported.source,
        goal: exported.goal,
        created_ms: exported.created_ms,
        forked: exported.forked,
        messages: Vec::new(),
        request: None,
        queue: None,
    };
    let mut lease = None;
    for entry in entries {
        match &lease {
            Some(lease) => store.append(lease, entry).await?,
            None => lease = Some(store.create(entry, new_run.clone()).await?),
        }
    }
    if let Some(lease) = lease {
        store.release(lease, Release::Ready).await?;
    }
    Ok(run)
}
