//! Step 5: orders that are on disk are started, asked or stopped.

use pointsman_kernel::{
    agent::{ChildRun, ModelCall, ToolCall},
    erased::Stepped,
    id::EffectId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use tokio::task::JoinHandle;

use super::Driver;
use crate::{
    observe::Notice,
    perform::{Done, Errand, Shown, Task},
    store::Committed,
};

/// Characters of a call that those who watch are told.
const SHOWN: usize = 120;

/// An effect, as a step orders it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    Start(Start),
    AskPerson(ToolCall),
    Stop(EffectId),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Start {
    Model(ModelCall),
    Tool(ToolCall),
    Child(ChildRun),
    Own { task: Value },
}

/// An order that an item waits for, with what does it.
pub(super) struct Working {
    pub(super) order: Order,
    task: Option<JoinHandle<()>>,
}

impl Working {
    /// An order that nobody works on: a question, or what was under way before a crash.
    pub(super) const fn idle(order: Order) -> Self {
        Self { order, task: None }
    }
}

impl Drop for Working {
    /// Stops what is under way: nobody waits for it any more.
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Driver {
    /// Starts, asks or stops: the entry that orders it is on disk.
    pub(super) fn start(&mut self, committed: &Committed, id: EffectId, order: Order) {
        match order {
            Order::Stop(effect) => {
                if self.open.remove(&effect).is_some() {
                    self.tell(&Notice::Unsaid(effect));
                }
            }
            Order::AskPerson(_) => {
                self.open.insert(id, Working::idle(order));
                if let Some(question) = self.questions().into_iter().find(|it| it.effect == id) {
                    self.tell(&Notice::Asked(question));
                }
            }
            Order::Start(start) => self.work(committed, id, start, false),
        }
    }

    /// Starts a task of which the entry is on disk, or starts it again.
    pub(super) fn work(&mut self, _: &Committed, id: EffectId, start: Start, again: bool) {
        let what: String = self.words(&start).chars().take(SHOWN).collect();
        let attempt = self.run.core().items.iter().find(|item| super::load::waits_for(item, id));
        let attempt = attempt.map_or(1, |item| item.attempt);
        self.tell(&Notice::Attempted { effect: id, attempt, what: what.into() });
        let errand = Errand { run: self.id.clone(), effect: id, again };
        let (saying, mut pieces) = tokio::sync::mpsc::unbounded_channel();
        let watched = !self.site.observers.is_empty();
        let shown = if watched { Shown::to(saying) } else { Shown::nobody() };
        let doing = self.site.performer.perform(errand, self.task(&start), shown);
        let (outbox, said) = (self.outbox.clone(), self.saying.clone());
        let task = tokio::spawn(async move {
            let mut doing = doing;
            let Done { answer, usage } = loop {
                tokio::select! {
                    biased;
                    Some(text) = pieces.recv() => drop(said.send((id, text))),
                    done = &mut doing => break done,
                }
            };
            let event = json!({ "answered": { "effect": id, "answer": answer, "usage": usage } });
            // Where nobody listens any more, the run is being put down.
            drop(outbox.send(event));
        });
        self.open.insert(id, Working { order: Order::Start(start), task: Some(task) });
    }

    fn task(&self, start: &Start) -> Task {
        match start {
            // Rendered from the run as it is now, which is how the step left it.
            Start::Model(call) => Task::Model(self.run.prompt(&self.chart, call)),
            Start::Tool(call) => Task::Tool(call.clone()),
            Start::Child(child) => Task::Child(child.clone()),
            Start::Own { task } => Task::Own(task.clone()),
        }
    }

    fn words(&self, start: &Start) -> String {
        match start {
            Start::Model(_) => format!("asks {}", self.site.performer.model()),
            Start::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
            Start::Child(child) => format!("runs {}", child.chart),
            Start::Own { task } => format!("does {}", name(task)),
        }
    }
}

/// Returns what a step orders.
pub(super) fn orders(stepped: &Stepped) -> Vec<(EffectId, Order)> {
    let read = |(id, order): &(EffectId, Box<RawValue>)| {
        // The kernel serialised it a moment ago.
        Some((*id, serde_json::from_str(order.get()).ok()?))
    };
    stepped.effects.iter().filter_map(read).collect()
}

/// Returns the name of a task of the agent's own: its tag.
fn name(task: &Value) -> &str {
    match task {
        Value::String(name) => name,
        Value::Object(map) => map.keys().next().map_or("something", String::as_str),
        _ => "something",
    }
}
