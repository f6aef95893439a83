//! `shell`: a command line in the sandbox.

mod always;

use std::{ffi::OsStr, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use pointsman_agents::{EXITED, SIGNALLED};
use pointsman_kernel::governor::Grant;
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Arguments, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec, View, done, fitting,
    grant::{exactly, rules},
    limits::ToolLimits,
    process::{self, ProcessEnd, ProcessResult},
    sandbox::{Confined, GitAccess, SandboxError},
    schema::{spec, text, words},
    shared::SharedTools,
    toolchains,
};
use crate::effect::ProgressSink;

const NAME: &str = "shell";

/// Runs a command line.
pub(super) struct ShellTool;

impl Tool for ShellTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, limits: &ToolLimits) -> Option<ToolSpec> {
        let wait = json!({
            "type": "integer", "minimum": 1, "maximum": limits.shell_max_ms,
            "description": format!("Time limit in milliseconds; {} if left out.", limits.shell_ms),
        });
        Some(spec(
            NAME,
            "Runs a command with `sh -c` in a sandbox. The command may change the workspace, but \
             must not change .git. It has no network unless the settings allow it.",
            json!({
                "command": words("The command."),
                "timeout_ms": wait,
                "cwd": text("The folder to run it in, relative to the workspace root."),
            }),
            &["command"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let shell: Shell = match fitting(arguments) {
                Ok(shell) => shell,
                Err(done) => return done,
            };
            let ToolContext { tools, shown, .. } = calling;
            let limit = shell.limit(tools.limits());
            let running = tools.command(limit, shown, move |on| shell.confined(on));
            let (said, notes) = tools.watched(running).await;
            done(said.with(&notes))
        })
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let command = view.block("$ ", arguments.text("command")?);
        let cwd = arguments.text("cwd").filter(|cwd| !cwd.is_empty());
        Some(cwd.map_or_else(|| command.clone(), |cwd| format!("{command}\nin {}", view.line(cwd))))
    }

    fn title(&self, arguments: &Arguments) -> Option<String> {
        arguments.text("command").map(String::from)
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        let command = arguments.text("command").unwrap_or_default();
        let patterns = exactly(command).into_iter().chain(always::first_words(command));
        Some(rules(NAME, "command", patterns))
    }
}

/// The arguments of `shell`.
#[derive(Debug, Deserialize)]
pub(super) struct Shell {
    command: String,
    timeout_ms: Option<u64>,
    #[serde(default)]
    cwd: String,
}

impl Shell {
    /// Returns a command line over the whole workspace.
    pub(super) fn line(command: &str) -> Self {
        Self { command: command.into(), timeout_ms: None, cwd: String::new() }
    }

    /// Returns how long it may take.
    fn limit(&self, limits: &ToolLimits) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(limits.shell_ms).min(limits.shell_max_ms))
    }

    /// Returns the command, ready to run.
    pub(super) fn confined(&self, on: &SharedTools) -> Result<Confined, ToolOutput> {
        let folder = &on.folder;
        let cwd = folder.named(&self.cwd).map_err(ToolOutput::no)?;
        folder.folder(&cwd).map_err(ToolOutput::no)?;
        let program = ["sh", "-c", &self.command].map(OsStr::new);
        on.sandbox()
            .command(on.policy(), (folder, &cwd), GitAccess::Looks, &program)
            .map_err(refused)
    }
}

/// A command that was not started has changed nothing.
pub(super) fn refused(error: SandboxError) -> ToolOutput {
    match std::error::Error::source(&error) {
        Some(source) => ToolOutput::no(format!("{error}: {source}")),
        None => ToolOutput::no(error),
    }
}

/// Runs a confined command and describes its result.
pub(super) async fn run(
    confined: Confined,
    limit: Duration,
    bytes: usize,
    shown: &ProgressSink,
) -> ToolOutput {
    let ran = match process::run(confined, limit, bytes, shown).await {
        Ok(ran) => ran,
        Err(error) => return ToolOutput::no(format!("the command cannot be started: {error}")),
    };
    said(ran, limit, bytes)
}

fn said(ran: ProcessResult, limit: Duration, bytes: usize) -> ToolOutput {
    let (ok, mut how) = match &ran.end {
        ProcessEnd::Exited(status) => (status.success(), ended(*status)),
        ProcessEnd::TimeUp => {
            (false, format!("stopped after {} ms, its time limit", limit.as_millis()))
        }
        ProcessEnd::Limit(why) => (false, format!("stopped because {why}")),
    };
    if let ProcessEnd::Exited(status) = ran.end
        && let Some(limit) = limit_of(status)
    {
        how = format!("{how}\n{limit} stopped it");
    }
    if !ran.left.is_empty() {
        how = format!(
            "{how}\nthese processes could not be stopped and are still running: {}",
            ran.left
        );
    }
    let code = match &ran.end {
        ProcessEnd::Exited(status) => status.code(),
        ProcessEnd::TimeUp | ProcessEnd::Limit(_) => None,
    };
    let output = ran.output(bytes);
    let missing = toolchains::hint(code, &output);
    let said = ToolOutput { ok, ..ToolOutput::changed(format!("{how}\n{output}")) };
    said.with(missing.as_slice())
}

/// Returns the limit that ended a process, if its end says so. Shells, and bubblewrap, turn
/// a signal into a code.
fn limit_of(status: ExitStatus) -> Option<&'static str> {
    let signal = status.signal().or_else(|| status.code()?.checked_sub(128));
    match signal.and_then(Signal::from_named_raw) {
        Some(Signal::XCPU) => Some("its limit `cpu`"),
        Some(Signal::XFSZ) => Some("its limit `file`"),
        _ => None,
    }
}

/// Says how a process ended.
pub(super) fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("{EXITED}{code}"),
        (None, Some(signal)) => format!("{SIGNALLED}{signal}"),
        (None, None) => "ended".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::tool::process::ProcessResult;

    #[test]
    fn a_process_that_could_not_be_stopped_is_named() {
        let told = |left: &str| {
            let ran = ProcessResult::of(ProcessEnd::Exited(ExitStatus::from_raw(0)), left);
            said(ran, Duration::from_secs(1), 1_000).output
        };
        let told_left = told("sleep (4711), cat (4712)");
        let line =
            "these processes could not be stopped and are still running: sleep (4711), cat (4712)";
        assert!(told_left.lines().any(|it| it == line), "{told_left}");
        assert!(!told("").contains("could not be stopped"), "{}", told(""));
    }
}
