//! An exploration as its journal tells it: the map of an app, read back without a device.

use std::{collections::BTreeMap, path::PathBuf};

use pointsman_agents::explore::{
    Config, Report, Task,
    map::{Map, Reader},
};
use pointsman_kernel::{
    agent::{Answer, Order},
    effect::{Effect, EffectKind},
    event::Event,
    id::{EffectId, Seq},
    job::AgentDecl,
    journal::Entry,
};
use serde::Deserialize;

use super::{Session, SessionError};
use crate::{
    driver::fold_each,
    host::blobs,
    reproduce::{Options, ReproduceError, Reproducer, reproduce},
    store::{RunId, RunRow},
};

/// What a run found in an app.
#[derive(Debug)]
pub struct Exploration {
    /// The run.
    pub run: RunRow,
    /// What it was configured with.
    pub config: Config,
    /// What it found.
    pub map: Map,
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

impl Session {
    /// Makes happen again what went wrong in an exploration.
    pub fn reproduce(
        &self,
        exploration: &Exploration,
        options: &Options,
    ) -> Result<Vec<Reproducer>, ReproduceError> {
        self.block_on(reproduce(&exploration.config, &exploration.map, options))
    }

    /// Reads an exploration back; nothing if the run is not one.
    pub fn exploration(&self, id: &RunId) -> Result<Option<Exploration>, SessionError> {
        let run = self.store().run(id)?;
        if !explores(self.agents.decl(&run.agent)) {
            return Ok(None);
        }
        let (program, lines) = (self.program(id)?, self.store().lines(id, Seq(0))?);
        let mut read: Option<(Config, Reader)> = None;
        let mut open: BTreeMap<EffectId, Task> = BTreeMap::new();
        let (mut line, mut elapsed_ms) = (lines.iter(), 0);
        let loaded = fold_each(&program, id, &lines, |_, _, stepped| {
            let entry = line.next().and_then(|line| Entry::read(line).ok());
            if let Some(entry) = &entry {
                elapsed_ms = entry.at.0;
            }
            let event = entry.and_then(|entry| {
                Some((entry.at.0, serde_json::from_str::<Event<Report>>(entry.event.get()).ok()?))
            });
            match event {
                Some((_, Event::Begun(begun))) => {
                    let config = serde_json::from_str::<Config>(begun.config.get()).ok();
                    read = config.map(|config| {
                        let reader = Reader::new(&config);
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
        let (stopped, blobs) = (stopped.and_then(|it| it.stopped), blobs(self.journal(), id));
        Ok(read.map(|(config, reader)| {
            let map = reader.map();
            Exploration { run, config, map, stopped, blobs, elapsed_ms }
        }))
    }
}
