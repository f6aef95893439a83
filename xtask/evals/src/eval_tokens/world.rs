//! Runs with the real search over this repository, and a persona for a model.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use anyhow::{Result, anyhow};
use pointsman_agents::research;
use pointsman_kernel::{
    chart::Disposition, event::RunConfig, governor::Permissions, prompt::Prompt,
};
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun, RunStatus},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{SqliteStore, Store},
    tool::{self, WorkspaceTools},
};
use pointsman_testing::script::begun;
use serde_json::json;

use super::persona::{Case, Persona};
use crate::place::{self, Scratch};

/// The documents, a search over them, and a journal that goes with it.
pub(crate) struct World {
    tools: WorkspaceTools,
    store: Arc<dyn Store>,
    threads: tokio::runtime::Runtime,
    /// Goes last: the journal is in it.
    _scratch: Scratch,
}

/// What a run came to.
pub(crate) struct RunResult {
    pub(crate) ended: Disposition,
    pub(crate) tokens: u64,
}

struct PersonaExecutor {
    case: &'static Case,
    persona: Persona,
    tools: WorkspaceTools,
    tokens: Arc<AtomicU64>,
}

impl World {
    pub(crate) fn new() -> Result<Self> {
        let scratch = Scratch::new()?;
        let settings =
            tool::ToolSettings::over(place::root().join("docs"), scratch.file("index.db"));
        let (tools, store) =
            (WorkspaceTools::open(settings)?, SqliteStore::open(&scratch.file("journal.db"))?);
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        Ok(Self { tools, store: Arc::new(store), threads, _scratch: scratch })
    }

    /// Runs a case to its end.
    pub(crate) fn run(
        &self,
        source: &str,
        case: &'static Case,
        persona: Persona,
    ) -> Result<RunResult> {
        let agents = pointsman_agents::all();
        let program = agents.verify(source).map_err(|_| anyhow!("the chart is refused"))?;
        let goal = json!({ "goal": case.goal });
        let begun = begun(&program, Permissions::allow_all(), &goal);
        let begun = RunConfig { tools: self.tools.decls(), ..begun };
        let tokens = Arc::new(AtomicU64::new(0));
        let played = PersonaExecutor {
            case,
            persona,
            tools: self.tools.clone(),
            tokens: Arc::clone(&tokens),
        };
        let context = DriverContext {
            agents: Arc::new(agents),
            store: Arc::clone(&self.store),
            executor: Arc::new(played),
            observers: Vec::new(),
        };
        let (source, goal) = (source.into(), case.goal.into());
        let beginning = PreparedRun {
            id: new_run_id(),
            program: Arc::new(program),
            source,
            goal,
            words: Vec::new(),
            begun,
        };
        let ended = self.threads.block_on(async {
            let mut driver = Driver::begin(context, beginning).await?;
            loop {
                match driver.status() {
                    RunStatus::Ended(ended) => return Ok(ended),
                    RunStatus::Moving => driver.turn().await?,
                    other => return Err(anyhow!("`{}` is {other:?}", case.goal)),
                }
            }
        })?;
        Ok(RunResult { ended, tokens: tokens.load(Ordering::SeqCst) })
    }
}

impl EffectExecutor for PersonaExecutor {
    fn model(&self) -> &str {
        self.persona.name()
    }

    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture {
        match task {
            EffectTask::Model(prompt) => {
                let reply = self.persona.reply(self.case, &prompt);
                let spent = estimate(&prompt) + tokens(reply.len());
                self.tokens.fetch_add(spent, Ordering::SeqCst);
                Box::pin(async move { Completion::text(&reply) })
            }
            EffectTask::Tool(call) => {
                let tools = self.tools.clone();
                Box::pin(async move { tools.call(&call, &permit, &shown).await })
            }
            EffectTask::Own(task) => {
                let done = match task.read() {
                    Ok(research::ResearchTask::Summarise { draft }) => {
                        research::ResearchReport::Summarised { text: draft }
                    }
                    Ok(research::ResearchTask::Assemble { text, .. }) => {
                        research::ResearchReport::Assembled { text }
                    }
                    _ => return Box::pin(std::future::pending()),
                };
                Box::pin(async move { Completion::own(&done) })
            }
            _ => Box::pin(std::future::pending()),
        }
    }
}

/// Estimates the tokens of a prompt, as a provider would be sent it.
fn estimate(prompt: &Prompt) -> u64 {
    // A message is plain data.
    let messages =
        prompt.messages.iter().map(|it| serde_json::to_string(it).map_or(0, |it| it.len()));
    tokens(prompt.system.len() + messages.sum::<usize>())
}

/// Four characters make a token, roughly.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
