//! Step 5: orders that are on disk are started, asked or stopped.

use pointsman_agents::builtin::{Report, Task as Wanted};
use pointsman_kernel::{
    agent::{ChildRun, ModelCall, ToolCall},
    erased::Stepped,
    id::EffectId,
    prompt::Prompt,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use tokio::task::JoinHandle;

use super::Driver;
use crate::{
    observe::{Notice, Question},
    perform::{Done, Errand, Shown, Task},
    store::{Committed, KeptPrompt},
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

impl Order {
    /// Returns the question, where all that is ordered is a person's yes or no.
    pub(super) fn question(&self) -> Option<String> {
        let Self::Start(Start::Own { task }) = self else { return None };
        let Ok(Wanted::Ask { question }) = Wanted::deserialize(task) else { return None };
        Some(question)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Start {
    Model(ModelCall),
    Tool(ToolCall),
    Child(ChildRun),
    Own { task: Value },
}

impl Start {
    /// Returns what is to be done; a model's question comes with its prompt.
    pub(super) fn task(&self, prompt: Option<Prompt>) -> Task {
        match self {
            Self::Model(_) => Task::Model(prompt.unwrap_or_default()),
            Self::Tool(call) => Task::Tool(call.clone()),
            Self::Child(child) => Task::Child(child.clone()),
            Self::Own { task } => Task::Own(task.clone()),
        }
    }
}

/// An order of a step, with what a model is shown by it.
pub(super) struct Ordered {
    pub(super) id: EffectId,
    pub(super) order: Order,
    pub(super) prompt: Option<Prompt>,
}

impl Ordered {
    /// Returns the prompt as it is kept.
    pub(super) fn kept(&self) -> Option<KeptPrompt> {
        let parts = parts(self.prompt.as_ref()?);
        Some(KeptPrompt { effect: self.id, parts })
    }
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
    /// Returns what a step orders. Prompts are rendered from the run as it is now, which
    /// is how the step left it.
    pub(super) fn orders(&self, stepped: &Stepped) -> Vec<Ordered> {
        let read = |(id, order): &(EffectId, Box<RawValue>)| {
            // The kernel serialised it a moment ago.
            let order = serde_json::from_str(order.get()).ok()?;
            let prompt = match &order {
                Order::Start(Start::Model(call)) => Some(self.run.prompt(&self.chart, call)),
                _ => None,
            };
            Some(Ordered { id: *id, order, prompt })
        };
        stepped.effects.iter().filter_map(read).collect()
    }

    /// Starts, asks or stops: the entry that orders it is on disk.
    pub(super) fn start(&mut self, committed: &Committed, ordered: Ordered) {
        let Ordered { id, order, prompt } = ordered;
        match order {
            Order::Stop(effect) => {
                if self.open.remove(&effect).is_some() {
                    self.tell(&Notice::Unsaid(effect));
                }
            }
            Order::AskPerson(_) => self.ask(id, order),
            // No host can answer it; the state's timeout says how long a person has.
            Order::Start(Start::Own { .. }) if order.question().is_some() => self.ask(id, order),
            Order::Start(start) => {
                let task = start.task(prompt);
                self.work(committed, id, (start, task), false);
            }
        }
    }

    fn ask(&mut self, id: EffectId, order: Order) {
        self.open.insert(id, Working::idle(order));
        if let Some(question) = self.questions().into_iter().find(|it| it.effect == id) {
            self.tell(&Notice::Asked(question.clone()));
            self.decline(&question);
        }
    }

    /// Says no to a plain question of a run that was begun for nobody to attend. Calls
    /// are denied by the kernel itself.
    pub(super) fn decline(&self, question: &Question) {
        if question.call().is_none() && !self.run.core().governor.permissions.attended {
            // The other end is the driver's own.
            drop(self.outbox.send(answered(question.effect, false, "nobody is there to be asked")));
        }
    }

    /// Starts a task of which the entry is on disk, or starts it again.
    pub(super) fn work(
        &mut self,
        _: &Committed,
        id: EffectId,
        (start, task): (Start, Task),
        again: bool,
    ) {
        let what: String = self.words(&start).chars().take(SHOWN).collect();
        let attempt = self.run.core().items.iter().find(|item| super::load::waits_for(item, id));
        let attempt = attempt.map_or(1, |item| item.attempt);
        self.tell(&Notice::Attempted { effect: id, attempt, what: what.into() });
        let errand = Errand { run: self.id.clone(), effect: id, again };
        let (saying, mut pieces) = tokio::sync::mpsc::unbounded_channel();
        let watched = !self.site.observers.is_empty();
        let shown = if watched { Shown::to(saying) } else { Shown::nobody() };
        let doing = self.site.performer.perform(errand, task, shown);
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

    fn words(&self, start: &Start) -> String {
        match start {
            Start::Model(_) => format!("asks {}", self.site.performer.model()),
            Start::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
            Start::Child(child) => format!("runs {}", child.chart),
            Start::Own { task } => format!("does {}", name(task)),
        }
    }
}

/// Returns the event by which a person's yes or no to a plain question reaches the run.
pub(crate) fn answered(effect: EffectId, yes: bool, text: &str) -> Value {
    let report = Report::Answered { yes, text: text.into() };
    json!({ "answered": { "effect": effect, "answer": { "own": report } } })
}

/// Returns a prompt as it is kept: the system's word, each message, and at last the
/// tools and the schema. What prompts have in common is kept once.
fn parts(prompt: &Prompt) -> Vec<String> {
    let system = json!({ "system": prompt.system }).to_string();
    // A message is plain data.
    let messages = prompt.messages.iter().map(|it| serde_json::to_string(it).unwrap_or_default());
    let rest = json!({ "tools": prompt.tools, "schema": prompt.schema }).to_string();
    [system].into_iter().chain(messages).chain([rest]).collect()
}

/// Returns the name of a task of the agent's own: its tag.
fn name(task: &Value) -> &str {
    match task {
        Value::String(name) => name,
        Value::Object(map) => map.keys().next().map_or("something", String::as_str),
        _ => "something",
    }
}
