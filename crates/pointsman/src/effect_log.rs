//! Every effect that a worker starts, written down before it is carried out: for tests of a fleet.
//!
//! Only in builds with debug assertions. `POINTSMAN_EFFECT_LOG=FILE` appends a JSON line for each effect.
//! Effects then take a while longer, and so does every fourth set-up of a run: the moments in which a
//! worker is killed, or comes back too late.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::{agent::ToolCall, chart::Disposition, job::AgentDecl};
use pointsman_runtime::{
    clock::boot_ms,
    driver::DriverContext,
    effect::{
        CleanupFuture, EffectExecutor, EffectFuture, EffectTask, Permit, PrecheckFuture,
        ProgressSink,
    },
    store::RunId,
    watch::ResourceWatch,
};
use serde_json::json;

use crate::paths::variable;

/// How much longer an effect takes, between its end and the answer.
const LONGER: Duration = Duration::from_millis(30);
/// How long a slow set-up takes: longer than the leases of such tests.
const SLOW: Duration = Duration::from_millis(3_500);
const SLOW_EVERY: u64 = 4;

/// Has the effects of a run written down, if the environment names a file.
pub(crate) async fn follow(context: &mut DriverContext) {
    static LOG: OnceLock<Option<Arc<File>>> = OnceLock::new();
    static SET_UP: AtomicU64 = AtomicU64::new(0);
    let open = || {
        let file = variable("POINTSMAN_EFFECT_LOG")?;
        OpenOptions::new().append(true).create(true).open(file).ok().map(Arc::new)
    };
    let Some(log) = LOG.get_or_init(open) else { return };
    let executor = Arc::clone(&context.executor);
    context.executor = Arc::new(LoggedExecutor { executor, log: Arc::clone(log) });
    if SET_UP.fetch_add(1, Ordering::Relaxed).is_multiple_of(SLOW_EVERY) {
        tokio::time::sleep(SLOW).await;
    }
}

/// An executor whose effects are written down.
struct LoggedExecutor {
    executor: Arc<dyn EffectExecutor>,
    log: Arc<File>,
}

impl LoggedExecutor {
    /// Writes an effect down: in one write, so that lines of several workers do not mix.
    fn write(&self, permit: &Permit, task: &EffectTask) -> io::Result<()> {
        let task = match task {
            EffectTask::Tool(call) => call.tool.as_str(),
            EffectTask::Model(_) => "model",
            _ => "own",
        };
        let line = json!({
            "worker": std::process::id(),
            "run": permit.run.as_str(),
            "seq": permit.effect.seq.0,
            "index": permit.effect.index,
            "epoch": permit.epoch(),
            "again": permit.again,
            "task": task,
            "issued": permit.issued_ms(),
            "at": boot_ms(),
        });
        (&*self.log).write_all(format!("{line}\n").as_bytes())
    }
}

impl EffectExecutor for LoggedExecutor {
    fn model(&self) -> &str {
        self.executor.model()
    }

    fn provider(&self) -> Option<&str> {
        self.executor.provider()
    }

    fn watch(&self) -> Option<ResourceWatch> {
        self.executor.watch()
    }

    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture {
        if let Err(error) = self.write(&permit, &task) {
            tracing::error!(%error, "an effect is not written down");
        }
        let performing = self.executor.perform(permit, task, shown);
        Box::pin(async move {
            let done = performing.await;
            tokio::time::sleep(LONGER).await;
            done
        })
    }

    fn check(&self, run: &RunId, call: &ToolCall) -> Option<PrecheckFuture> {
        self.executor.check(run, call)
    }

    fn paused(&self, run: &RunId, paused: bool) {
        self.executor.paused(run, paused);
    }

    fn ended(&self, agent: &AgentDecl, run: &RunId, how: Disposition) -> CleanupFuture {
        self.executor.ended(agent, run, how)
    }
}
