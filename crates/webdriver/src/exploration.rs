//! An exploration as its journal tells it: the map of an app, read back without a device.

use std::{collections::BTreeMap, path::PathBuf};

use pointsman_agents::explore::{
    ExploreConfig, ExploreReport, ExploreTask, RecordingStep,
    map::{AppMap, MapReader},
};
use pointsman_kernel::{
    agent::{Answer, Order},
    effect::{Effect, EffectKind},
    event::Event,
    id::{EffectId, Seq},
    job::AgentDecl,
    journal::Entry,
};
use pointsman_runtime::{
    driver::fold_each,
    entry,
    session::{Session, SessionError},
    store::{RunId, RunRow},
};
use serde::Deserialize;

use crate::explore::blobs;

/// What a run found in an app.
#[derive(Debug)]
pub struct Exploration {
    /// The run.
    pub run: RunRow,
    /// Its configuration.
    pub config: ExploreConfig,
    /// What it found.
    pub map: AppMap,
    /// Why it stopped, where it says.
    pub stopped: Option<String>,
    /// Where its pictures and hierarchies are.
    pub blobs: PathBuf,
    /// Milliseconds that it took.
    pub elapsed_ms: u64,
}

/// The part of an exploration's report that says why it stopped.
#[derive(Deserialize)]
struct Stopped {
    stopped: Option<String>,
}

/// Returns whether an agent explores apps: it declares the job that opens a device.
pub fn explores(agent: &AgentDecl) -> bool {
    agent.job("device.session").is_some()
}

/// Reads an exploration back, by default all of it and else only up to an entry; nothing if the run is
/// not one.
pub fn read(
    session: &Session,
    id: &RunId,
    until: Option<Seq>,
) -> Result<Option<Exploration>, SessionError> {
    let run = session.block_on(session.store().run(id))?;
    if !explores(session.agents().decl(&run.agent)) {
        return Ok(None);
    }
    let program = session.program(id)?;
    let limit = until.map_or(usize::MAX, |until| usize::try_from(until.0).unwrap_or(usize::MAX));
    let lines = session.block_on(session.store().page(id, Seq(0), limit))?;
    let mut read: Option<(ExploreConfig, MapReader)> = None;
    let mut open: BTreeMap<EffectId, ExploreTask> = BTreeMap::new();
    let (mut line, mut elapsed_ms) = (lines.iter(), 0);
    let loaded = fold_each(&program, id, &lines, |_, _, stepped| {
        let entry = line.next().and_then(|line| Entry::read(line).ok());
        if let Some(entry) = &entry {
            elapsed_ms = entry.at.0;
        }
        let event = entry.and_then(|entry| {
            Some((
                entry.at.0,
                serde_json::from_str::<Event<ExploreReport>>(entry.event.get()).ok()?,
            ))
        });
        match event {
            Some((_, Event::Begun(begun))) => {
                let config = serde_json::from_str::<ExploreConfig>(begun.config.get()).ok();
                read = config.map(|config| {
                    let reader = MapReader::new(&config);
                    (config, reader)
                });
            }
            Some((at, Event::Answered { effect, answer: Answer::Own(report), .. })) => {
                let task = open.remove(&effect);
                if let (Some(task), Some((_, reader))) = (task, &mut read) {
                    reader.take(at, &task, &report);
                }
            }
            _ => {}
        }
        for Effect { id, order } in &stepped.effects {
            if let EffectKind::Start(Order::Own { task, .. }) = order
                && let Ok(task) = task.read()
            {
                open.insert(*id, task);
            }
        }
    })?;
    let stopped = loaded.run.report().and_then(|report| report.read::<Stopped>().ok());
    let (stopped, blobs) = (stopped.and_then(|it| it.stopped), blobs(session.journal(), id));
    Ok(read.map(|(config, reader)| {
        let map = reader.map();
        Exploration { run, config, map, stopped, blobs, elapsed_ms }
    }))
}

/// Returns the steps of a run through a recording, in order; none for a run on a device.
pub fn steps(session: &Session, run: &RunId) -> Result<Vec<RecordingStep>, SessionError> {
    let lines = session.block_on(session.store().lines(run, Seq(0)))?;
    let step = |line: &String| {
        // Most lines are about something else: they need not be taken apart.
        let event = line.contains("performed").then(|| entry::event(line)).flatten()?;
        let Event::Answered { answer: Answer::Own(report), .. } = event else { return None };
        match report.read() {
            Ok(ExploreReport::Performed { step, .. }) => step,
            _ => None,
        }
    };
    Ok(lines.iter().filter_map(step).collect())
}
