//! The host of a run on this machine: its tools, its model, and the agents' own tasks.

use std::sync::Arc;

use pointsman_kernel::{agent::FaultClass, tool::ToolDecl};
use serde_json::{Value, json};

use crate::{
    model::quote,
    perform::{Doing, Done, Errand, Perform, Shown, Task},
    tool::Tools,
};

/// Carries orders out on this machine.
#[derive(Clone, Debug)]
pub struct Host {
    tools: Arc<Tools>,
}

impl Host {
    /// Returns a host with these tools and the built-in answerer.
    pub fn new(tools: Tools) -> Self {
        Self { tools: Arc::new(tools) }
    }

    /// Returns what the tools declare of themselves.
    pub fn decls(&self) -> Vec<ToolDecl> {
        pointsman_agents::tools()
    }
}

impl Perform for Host {
    fn model(&self) -> &'static str {
        "quote (built in, no model)"
    }

    fn perform(&self, _errand: Errand, task: Task, shown: Shown) -> Doing {
        let tools = Arc::clone(&self.tools);
        Box::pin(async move {
            match task {
                Task::Model(prompt) => {
                    let text = quote::answer(&prompt);
                    shown.show(&text);
                    Done::text(&text)
                }
                Task::Child(_) => Done::fault(FaultClass::Contract, false, "no child runs yet"),
                Task::Tool(call) => tools.call(&call).await,
                Task::Own(task) => own(&task),
            }
        })
    }
}

/// Does what an agent asks of its host. A task that no host knows is a fault: it would
/// otherwise be waited for until its timeout.
fn own(task: &Value) -> Done {
    let text = |pointer: &str| task.pointer(pointer).and_then(Value::as_str);
    if let Some(draft) = text("/summarise/draft") {
        return Done::own(json!({ "summarised": { "text": draft } }));
    }
    if let Some(text) = text("/assemble/text") {
        return Done::own(json!({ "assembled": { "text": text } }));
    }
    Done::fault(FaultClass::Contract, false, "this host cannot do that task")
}
