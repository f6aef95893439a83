//! How shipped tools run: on a thread that may block, or by a command in the sandbox, and always
//! with a limit.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::agent::{FaultClass, ToolResult};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    ToolContext, ToolFuture, WorkspaceTools,
    folder::FolderError,
    path_filter, sandbox,
    shared::{SharedTools, Stop},
    shell, stream,
};
use crate::effect::{Completion, ProgressSink};

/// Bytes of the lines below a file's own: where to continue, and its digest.
const SLACK: usize = 200;

/// What a tool says.
#[derive(Debug)]
pub(super) struct ToolOutput {
    pub(super) ok: bool,
    pub(super) output: String,
    pub(super) mutated: bool,
    /// Whether the machine is short of something: no model can do anything about that.
    pub(super) short: bool,
}

impl ToolOutput {
    /// It looked.
    pub(super) fn yes(output: impl Into<String>) -> Self {
        Self { ok: true, output: output.into(), mutated: false, short: false }
    }

    /// It changed something.
    pub(super) fn changed(output: impl Into<String>) -> Self {
        Self { ok: true, output: output.into(), mutated: true, short: false }
    }

    /// It could not write.
    pub(super) fn unwritten(error: &FolderError) -> Self {
        Self { short: error.is_shortage(), ..Self::no(error) }
    }

    /// It did not do it.
    pub(super) fn no(why: impl Display) -> Self {
        Self { ok: false, output: why.to_string(), mutated: false, short: false }
    }
}

impl WorkspaceTools {
    /// Runs a command in the sandbox.
    pub(super) async fn command(
        &self,
        limit: Duration,
        shown: &ProgressSink,
        ready: impl FnOnce(&SharedTools) -> Result<sandbox::Confined, ToolOutput> + Send + 'static,
    ) -> ToolOutput {
        match self.ready(ready).await {
            Ok(confined) => {
                let bytes = self.0.settings.limits.output_bytes;
                shell::run(confined, limit, bytes, shown).await
            }
            Err(said) => said,
        }
    }

    /// Prepares a command. The sandbox may have to be tested first, and the workspace is searched:
    /// both have a limit.
    pub(super) async fn ready(
        &self,
        ready: impl FnOnce(&SharedTools) -> Result<sandbox::Confined, ToolOutput> + Send + 'static,
    ) -> Result<sandbox::Confined, ToolOutput> {
        let (on, limits) = (Arc::clone(&self.0), &self.0.settings.limits);
        let limit = limits.look().saturating_add(Duration::from_millis(limits.sandbox_ms));
        let made = tokio::task::spawn_blocking(move || ready(&on));
        match tokio::time::timeout(limit, made).await {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => Err(ToolOutput::no(format!("the sandbox cannot be set up: {error}"))),
            Err(_) => {
                let ms = limit.as_millis();
                Err(ToolOutput::no(format!(
                    "the sandbox was not ready within {ms} ms; nothing ran"
                )))
            }
        }
    }
}

impl<'a> ToolContext<'a> {
    /// Works on the one file that the call names, unless rules over paths cannot tell which file
    /// that is. What changes files may have done so even where it took too long.
    pub(super) fn on_file<A: DeserializeOwned + Send + 'static>(
        self,
        arguments: Value,
        mutated: bool,
        work: impl FnOnce(&WorkspaceTools, A, &dyn Fn() -> bool) -> ToolOutput + Send + 'static,
    ) -> ToolFuture<'a> {
        let Self { tools, call, .. } = self;
        let decl = tools.toolbox().find(&call.tool).map(|tool| tool.decl());
        let why =
            arguments.get("path").and_then(Value::as_str).zip(decl).and_then(|(path, decl)| {
                path_filter::another_name(call, &decl, path, tools.folder(), tools.permissions())
            });
        match why {
            Some(why) => Box::pin(std::future::ready(done(ToolOutput::no(why)))),
            None => self.blocking(arguments, mutated, work),
        }
    }

    /// Does what blocks, on a thread for it, until it is done or has taken too long.
    pub(super) fn blocking<A: DeserializeOwned + Send + 'static>(
        self,
        arguments: Value,
        mutated: bool,
        work: impl FnOnce(&WorkspaceTools, A, &dyn Fn() -> bool) -> ToolOutput + Send + 'static,
    ) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments: A = match fitting(arguments) {
                Ok(arguments) => arguments,
                Err(done) => return done,
            };
            let tools = self.tools.clone();
            let stop = Stop(Arc::new(AtomicBool::new(false)));
            let stopped = Arc::clone(&stop.0);
            let working = tokio::task::spawn_blocking(move || {
                work(&tools, arguments, &|| !stopped.load(Ordering::Relaxed))
            });
            let limits = self.tools.limits();
            match tokio::time::timeout(limits.look(), working).await {
                Ok(Ok(mut said)) => {
                    // `read` cuts by lines, and says below them where to continue.
                    let slack = limits.output_bytes.saturating_add(SLACK);
                    if said.output.len() > slack {
                        said.output = stream::cut(&said.output, limits.output_bytes);
                    }
                    done(said)
                }
                Ok(Err(error)) => Completion::fault(FaultClass::Other, true, &error.to_string()),
                Err(_) => {
                    let ms = limits.look_ms;
                    let output =
                        format!("it took longer than {ms} ms and was stopped; request less");
                    done(ToolOutput { mutated, ..ToolOutput::no(output) })
                }
            }
        })
    }
}

/// Reads arguments that fit the schema; numbers that no machine holds do not.
pub(super) fn fitting<A: DeserializeOwned>(arguments: Value) -> Result<A, Completion> {
    serde_json::from_value(arguments)
        .map_err(|error| done(ToolOutput::no(format!("invalid arguments: {error}"))))
}

pub(super) fn done(ToolOutput { ok, output, mutated, short }: ToolOutput) -> Completion {
    if short {
        return Completion::fault(FaultClass::Resource, false, &output);
    }
    Completion::result(ToolResult { ok, output, mutated })
}
