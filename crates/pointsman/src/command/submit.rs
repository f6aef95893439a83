//! `pointsman submit`: queue runs for workers.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use pointsman_runtime::{
    config::milliseconds,
    engine::Engine,
    session::Session,
    store::{Change, QueueOptions, RunId},
};
use serde_json::json;

use super::run::json_line;
use crate::{
    chart::Source,
    contexts::{RunContexts, RunPlace},
    drive::Drive,
    ending::conclude,
    notify::note,
    paths::Globals,
    piped_input::{self, FirstMessage, PipedLimits},
    report::{self, Error},
    start::{Answers, RunRequest, StartArgs, StartMode},
};

/// Queue a run for a worker, and print its id.
#[derive(Args, Debug)]
#[command(after_help = "\
`pointsman worker` drives queued runs: on this machine with a journal file, on any machine with
`--store`. Every worker that may drive the run needs the run's folder at the same path; `--needs
host:NAME` binds a run to one machine.

A run with a question waits for `pointsman approve` or `pointsman deny`; you can run either on any
machine.

Examples:
  pointsman submit research \"Where is the loop rule proved?\"
  pointsman submit code \"Make the tests pass\" --dir ~/src/project --store postgres://db/pointsman
  pointsman submit code \"Port the parser\" --key team-a --priority 2 --request ticket-1234
  pointsman submit research \"Summarise the news\" --delay 2h
  pointsman submit research \"Which tests replay journals?\" --wait
  pointsman submit --file runs.jsonl           one request per line

A line of FILE is a JSON object: `agent` (or `chart`, the text of a chart), `goal`, `dir`, `model`,
`base_url`, `config`, `unattended`, `key`, `request`, `priority`, `delay`, `needs`. Options on
the command line are the defaults for all lines.

Exit codes: 0 queued; with `--wait`, those of `pointsman run`.")]
pub(crate) struct Submit {
    /// A shipped agent, or a chart file.
    #[arg(value_name = "AGENT|CHART.toml", required_unless_present = "file")]
    agent: Option<String>,
    /// The goal; `-` reads it from standard input.
    goal: Option<String>,
    /// The folder to work in [default: this one].
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// The model [env: `POINTSMAN_MODEL`] [default: quote].
    #[arg(long, value_name = "PROVIDER:NAME")]
    model: Option<String>,
    /// The model server's address [env: `POINTSMAN_BASE_URL`].
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    #[command(flatten)]
    queue: QueueArgs,
    /// A name for this request: submitting it again does not start a second run.
    #[arg(long, value_name = "ID", help_heading = "Queue")]
    request: Option<String>,
    /// Queue a run for each line of this file; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "goal", "request", "wait"])]
    file: Option<PathBuf>,
    /// Wait until the run ends, print its result, and exit with its exit code.
    #[arg(long)]
    wait: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    start: StartArgs,
}

/// How a run waits in the queue.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct QueueArgs {
    /// The concurrency key: keys take turns, and workers can limit each.
    #[arg(long, value_name = "KEY", help_heading = "Queue")]
    key: Option<String>,
    /// The priority: each level moves the run ahead as if it had already waited a minute longer.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_hyphen_values = true,
        help_heading = "Queue"
    )]
    priority: i32,
    /// Wait at least this long before the run starts: `90s`, `2h`.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Queue")]
    delay: Option<u64>,
    /// Only workers with this label may drive the run; `host:NAME` means one machine.
    #[arg(long, value_name = "LABEL", help_heading = "Queue")]
    needs: Option<String>,
}

fn time(text: &str) -> Result<u64, &'static str> {
    milliseconds(text).ok_or("write a number and a unit, such as 90s or 2h")
}

impl QueueArgs {
    /// Returns them as a store takes them whose clock shows this time.
    pub(super) fn options(&self, now_ms: u64) -> QueueOptions {
        QueueOptions {
            key: self.key.as_deref().unwrap_or_default().into(),
            priority: self.priority,
            not_before_ms: self.delay.map_or(0, |delay| now_ms.saturating_add(delay)),
            needs: self.needs.as_deref().map(Into::into),
        }
    }
}

impl Submit {
    pub(crate) fn run(mut self, globals: &Globals) -> Result<ExitCode, Error> {
        if let Some(file) = self.file.take() {
            return self.many(&file, globals);
        }
        let agent = self.agent.take().unwrap_or_default();
        let place = RunPlace {
            dir: self.dir.take().unwrap_or_else(|| ".".into()),
            model: self.model.take(),
            base_url: self.base_url.take(),
            recorded: false,
        };
        let mut config = Drive::at(&place).config()?;
        let source = Source::find(&agent)?;
        if self.goal.as_deref() == Some("-") {
            let limits = PipedLimits::of(&config.chat);
            let opening = FirstMessage::of(None, piped_input::read(limits)?);
            self.goal = Some(opening.ok_or(Error::NothingToSay)?.text);
        }
        let mode = StartMode { here: false, answers: Answers::Anyone };
        let goal = self.goal.as_deref();
        let prepared = self.start.prepare(&agent, source, goal, None, &mut config, mode)?;
        let session = globals.session_with(&config)?;
        let contexts = RunContexts::new(&session, Vec::new());
        let engine: Engine = session.block_on(contexts.engine(place))?;
        let request = self.request.as_deref().map(Into::into);
        let run =
            engine.submit(prepared.options, request, self.queue.options(session.store().now_ms()));
        let run = session.block_on(run).map_err(Error::Session)?;
        if !self.wait {
            self.tell(&run)?;
            return Ok(ExitCode::SUCCESS);
        }
        note(&format!("waiting for run {run}"));
        session.block_on(ended(&session, &run))?;
        let summary = session.summary(&run).map_err(Error::Session)?;
        conclude(&session, &summary, self.json, true)
    }
}

impl Submit {
    fn tell(&self, run: &RunId) -> Result<(), Error> {
        if self.json {
            return json_line(&json!({ "run": run.as_str() }));
        }
        report::data(&format!("{run}\n"))
    }

    /// Queues a run for each line of a file. The first line that is refused ends it; with `request`
    /// in each line it can be submitted again.
    fn many(&self, file: &Path, globals: &Globals) -> Result<ExitCode, Error> {
        let failed = |source| Error::Read { path: file.display().to_string(), source };
        let lines: Box<dyn BufRead> = if file == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(File::open(file).map_err(failed)?))
        };
        let session = globals.session()?;
        let contexts = RunContexts::new(&session, Vec::new());
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(failed)?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |why: String| Error::Line { path: file.into(), number, why };
            let request: RunRequest =
                serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
            let request = self.filled(request);
            let run = session.block_on(request.submit(&contexts, true));
            self.tell(&run.map_err(|error| wrong(report::whole(&error)))?)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns a request with what it leaves out as on the command line.
    fn filled(&self, request: RunRequest) -> RunRequest {
        let QueueArgs { key, priority, delay, needs } = self.queue.clone();
        RunRequest {
            dir: request.dir.or_else(|| self.dir.clone()),
            model: request.model.or_else(|| self.model.clone()),
            base_url: request.base_url.or_else(|| self.base_url.clone()),
            key: request.key.or(key),
            priority: if request.priority == 0 { priority } else { request.priority },
            delay: request.delay.or_else(|| delay.map(|ms| format!("{ms}ms"))),
            needs: request.needs.or(needs),
            unattended: request.unattended || self.start.rules.unattended,
            ..request
        }
    }
}

/// Waits until a run has ended.
async fn ended(session: &Session, run: &RunId) -> Result<(), Error> {
    let store = session.store();
    let mut changes = store.changes().await.map_err(Error::Store)?;
    loop {
        if store.run(run).await.map_err(Error::Store)?.ended.is_some() {
            return Ok(());
        }
        loop {
            match changes.next().await {
                Change::Entry { run: other, .. } | Change::Message { run: other }
                    if other != *run => {}
                _ => break,
            }
        }
    }
}
