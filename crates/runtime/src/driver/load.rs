//! Going on with a run: its journal is folded, and what was under way is settled.

use std::{collections::BTreeMap, sync::Arc};

use pointsman_kernel::{
    agent::FaultClass,
    chart::Chart,
    erased::{AnyRun, Stepped},
    id::{Digest, EffectId, Seq},
    journal::Entry,
    run::{Core, Doing},
    tool::Recovery,
};
use serde_json::{Value, json, value::RawValue};
use tokio::sync::mpsc;

use super::{DriveError, Driver, Notice, Order, Start};
use crate::{
    clock::Clock,
    perform::{Done, Perform},
    store::{RunId, Store},
};

/// A run as its journal tells it.
pub struct Loaded {
    /// The run.
    pub run: Box<dyn AnyRun>,
    /// The digest of its last line.
    pub link: Digest,
    /// Orders that were started and not answered.
    open: BTreeMap<EffectId, Box<RawValue>>,
}

/// Folds a journal, line by line, strict about every byte.
pub fn fold(chart: &Chart, id: &RunId, lines: &[String]) -> Result<Loaded, DriveError> {
    fold_each(chart, id, lines, |_, _, _| {})
}

/// Folds a journal and shows each step: the event's name, the core after it, and what
/// the step put out.
pub fn fold_each(
    chart: &Chart,
    id: &RunId,
    lines: &[String],
    mut each: impl FnMut(&str, &Core, &Stepped),
) -> Result<Loaded, DriveError> {
    let row = pointsman_agents::ROWS.iter().find(|row| row.decl.name == chart.jobs());
    let row = row.ok_or_else(|| DriveError::NoAgent(chart.jobs().into()))?;
    let mut loaded =
        Loaded { run: (row.start)(chart), link: Digest::default(), open: BTreeMap::new() };
    for line in lines {
        let (stepped, link) = loaded
            .run
            .fold(chart, loaded.link, line)
            .map_err(|source| DriveError::Diverged { run: id.clone(), source })?;
        loaded.link = link;
        each(&event_name(line), loaded.run.core(), &stepped);
        loaded.open.extend(stepped.effects);
    }
    let waited = |effect: &EffectId| {
        loaded.run.core().items.iter().any(|item| match item.doing {
            Doing::Working { effect: working, .. } => working == *effect,
            _ => false,
        })
    };
    loaded.open.retain(|effect, _| waited(effect));
    Ok(loaded)
}

/// Returns the name of a line's event.
fn event_name(line: &str) -> String {
    let event =
        Entry::read(line).ok().and_then(|entry| serde_json::from_str(entry.event.get()).ok());
    match event {
        Some(Value::String(name)) => name,
        Some(Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

impl Driver {
    /// Goes on with a run where its journal ends.
    ///
    /// What was started and not answered is ambiguous: each tool's declaration says
    /// what to do with it, and nothing is repeated silently. Model calls and the
    /// host's own tasks are done again.
    pub fn resume(
        store: Arc<Store>,
        performer: Arc<dyn Perform>,
        chart: Arc<Chart>,
        id: RunId,
        watcher: Option<mpsc::UnboundedSender<Notice>>,
    ) -> Result<Self, DriveError> {
        let row = store.run(&id)?;
        let loaded = fold(&chart, &id, &store.lines(&id, Seq(0))?)?;
        let clock = Clock::new(row.created_ms, loaded.run.core().now);
        let Loaded { run, link, open } = loaded;
        let mut driver = Self::around(id, chart, run, store, performer, link, clock);
        driver.watcher = watcher;
        for (effect, order) in open {
            driver.recover(effect, &order);
        }
        Ok(driver)
    }

    fn recover(&mut self, effect: EffectId, order: &RawValue) {
        let Ok(Order::Start(start)) = serde_json::from_str::<Order>(order.get()) else { return };
        let again = match &start {
            Start::Tool(call) => {
                let tool = self.run.core().governor.tool(&call.tool);
                tool.is_some_and(|tool| tool.recovery == Recovery::Retry)
            }
            Start::Model(_) | Start::Own { .. } => true,
            Start::Child(_) => false,
        };
        if again {
            return self.work(effect, start);
        }
        let message =
            "it was started before the program stopped, and nobody knows whether it was done";
        let Done { answer, usage } = Done::fault(FaultClass::Other, false, message);
        let event = json!({ "answered": { "effect": effect, "answer": answer, "usage": usage } });
        drop(self.outbox.send(event));
    }
}
