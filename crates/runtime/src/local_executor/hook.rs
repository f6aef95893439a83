//! What happens after a batch of tools that changed something: the user's own commands,
//! and a commit.
//!
//! A hook never stops a conversation. Its errors are logged and reported, and the conversation
//! continues.

mod commit;
mod index;
mod ledger;

use std::{sync::Weak, time::Duration};

use pointsman_agents::chat::{
    ChatAgent, ChatReport, ChatTask, CompletedTool,
    after::{FAILED, LOOKING, RAN},
};
use pointsman_kernel::{
    agent::{Fault, FaultClass},
    event::Usage,
};

use super::{Inner, LocalExecutor};
use crate::{
    effect::Permit,
    executor::{Executor, TaskFuture, TaskReport},
};
pub(super) use ledger::Accounts;

/// The variable with the batch's tools, for a command.
const COMPLETED: &str = "POINTSMAN_COMPLETED_TOOLS";
/// The default timeout of a command, in milliseconds.
const COMMAND_MS: u64 = 30_000;
/// Characters of a command's failure that are reported.
const TOLD: usize = 300;

/// What happens after tools.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hooks {
    /// Whether what `edit` and `write` have changed is committed to git. A person decides that.
    pub commit: bool,
    /// Bytes of the difference that a model is shown for a message.
    pub diff_bytes: usize,
    /// Milliseconds that a model has for a message.
    pub message_ms: u64,
    /// Commands, in their order. They run in the sandbox, before the commit.
    pub after_tools: Vec<AfterTools>,
}

impl Default for Hooks {
    fn default() -> Self {
        Self { commit: false, diff_bytes: 32 << 10, message_ms: 20_000, after_tools: Vec::new() }
    }
}

/// A command of the user's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AfterTools {
    /// The command line.
    pub run: String,
    /// The tools after which it runs; all of them if none is named. A `*` at the end of a name
    /// matches anything.
    pub when: Vec<String>,
    /// Milliseconds that it may take.
    pub timeout_ms: Option<u64>,
}

impl AfterTools {
    fn follows(&self, completed: &[CompletedTool]) -> bool {
        let fits = |name: &str| {
            self.when.iter().any(|wanted| match wanted.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => wanted == name,
            })
        };
        self.when.is_empty() || completed.iter().any(|tool| fits(&tool.name))
    }
}

/// Carries out the hooks of the host that it belongs to.
pub(super) struct AfterBatch(pub(super) Weak<Inner>);

impl Executor<ChatAgent> for AfterBatch {
    fn perform(&self, permit: Permit, task: ChatTask) -> TaskFuture<ChatReport> {
        let (executor, ChatTask::PostTools { completed_tools }) =
            (self.0.upgrade().map(LocalExecutor), task);
        Box::pin(async move {
            match executor {
                Some(executor) => Ok(after_tools(executor, permit, completed_tools).await),
                None => Err(Fault {
                    class: FaultClass::Other,
                    repeatable: false,
                    hint_ms: None,
                    message: "the host of this run has shut down".into(),
                }),
            }
        })
    }
}

/// Runs the hooks after a batch, and reports what they did.
async fn after_tools(
    executor: LocalExecutor,
    permit: Permit,
    completed: Vec<CompletedTool>,
) -> TaskReport<ChatReport> {
    let hooks = &executor.0.hooks;
    if hooks.commit || !hooks.after_tools.is_empty() {
        executor.load_record(&permit.run).await;
    }
    let (mut acted, mut actions) = (false, Vec::new());
    // Before the commands: what they change is theirs, and goes into the commit.
    let changes =
        if hooks.commit { commit::changes(&executor, &permit.run).await } else { Ok(Vec::new()) };
    let changes = changes.unwrap_or_else(|why| {
        actions.push(failed(LOOKING, &why));
        Vec::new()
    });
    let mut commanded = false;
    let known = serde_json::to_string(&completed).unwrap_or_default();
    for command in hooks.after_tools.iter().filter(|it| it.follows(&completed)) {
        let limit = Duration::from_millis(command.timeout_ms.unwrap_or(COMMAND_MS));
        let (ran, notes) =
            executor.0.tools.own_command(&command.run, (COMPLETED, &known), limit).await;
        let name = &command.run;
        commanded = true;
        match ran {
            Ok(()) => {
                acted = true;
                actions.push(format!("{RAN}{name}`"));
            }
            Err(why) => actions.push(failed(&format!("`{name}`"), &why)),
        }
        actions.extend(notes);
    }
    let mut usage = Usage::default();
    if !changes.is_empty() {
        let committed = commit::commit(&executor, &permit, &changes, commanded).await;
        usage = committed.usage;
        acted |= committed.made;
        actions.extend(committed.actions);
    }
    TaskReport { report: ChatReport::PostTools { action_taken: acted, actions }, usage }
}

/// Logs a failure, and returns it as a line of the report.
fn failed(what: &str, why: &str) -> String {
    let why: String = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let why: String = why.chars().take(TOLD).collect();
    tracing::warn!(hook = what, why, "a hook failed");
    format!("{what}{FAILED}{why}")
}
