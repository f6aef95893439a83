//! `pointsman worker`: drive queued runs.

use std::{collections::BTreeSet, net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use pointsman_runtime::{
    config::milliseconds,
    metrics::RunMetrics,
    observe::{Log, Observer},
    scheduler::{FinishedRun, Scheduler, SchedulerOptions},
    session::Session,
    store::{ClaimLimits, Worker},
};
use serde_json::json;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::UnboundedReceiver,
};

use super::run::json_line;
use crate::{
    contexts::RunContexts,
    format,
    notify::note,
    paths::{self, Globals},
    report::Error,
    serve::{MetricsServer, ServeOptions},
};

/// The time between two looks whether the queue is empty.
const LOOKS: Duration = Duration::from_millis(200);

/// Drive queued runs until the process is stopped.
#[derive(Args, Debug)]
#[command(after_help = "\
A worker claims the runs that `pointsman submit` queues, several at a time, each in its own folder
and with its own model. Any number of workers can share a PostgreSQL database; with a journal file,
all workers run on one machine. Waiting runs do not count towards `--jobs`.

SIGTERM and Ctrl-C drain the worker: it claims and starts nothing more, waits for calls in progress,
and hands its runs over to other workers.

When a provider answers 429 with a retry time, no worker calls it until then, or for ten minutes if
that is shorter. A run that loses its worker five times without progress is quarantined: `pointsman
runs` lists it, `pointsman show RUN` says why, and `pointsman resume RUN --queue` gives it another
chance.

Examples:
  pointsman worker
  pointsman worker --store postgres://db/pointsman --jobs 16
  pointsman worker --jobs 2 --label gpu
  pointsman worker --limit key=5 --limit agent:code=2
  pointsman worker --metrics 127.0.0.1:9100
  pointsman worker --once")]
pub(crate) struct WorkerCommand {
    /// How many runs to drive at a time.
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// A label of this worker, for runs that need it. Every worker has the label `host:NAME`.
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// Drive at most N runs at a time across all workers: of each key (`key=N`), of one key
    /// (`key:NAME=N`), of each agent (`agent=N`) or of one agent (`agent:NAME=N`). May be repeated;
    /// give all workers the same limits.
    #[arg(long, value_name = "WHAT=N", value_parser = limit)]
    limit: Vec<Limit>,
    /// Exit when no queued run is ready or in progress.
    #[arg(long)]
    once: bool,
    /// How long to wait for calls in progress when the worker is stopped.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    drain: u64,
    /// Serve metrics at http://ADDR:PORT/metrics; port 0 means any free port. Tokens, TLS and limits
    /// are those of `serve`: without a token, the worker listens only on loopback.
    #[arg(long, value_name = "ADDR:PORT")]
    metrics: Option<SocketAddr>,
    /// Print a JSON line for every run that ends or fails.
    #[arg(long)]
    json: bool,
}

fn time(text: &str) -> Result<u64, &'static str> {
    milliseconds(text).ok_or("write a number and a unit, such as 60s")
}

/// A limit as it is typed: of an agent or of a key, by name or of each.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Limit {
    of_agent: bool,
    name: Option<String>,
    most: u32,
}

fn limit(text: &str) -> Result<Limit, &'static str> {
    const WRONG: &str = "write key=N, key:NAME=N, agent=N or agent:NAME=N";
    let (what, most) = text.rsplit_once('=').ok_or(WRONG)?;
    let (kind, name) = match what.split_once(':') {
        Some((kind, name)) => (kind, Some(name.to_owned())),
        None => (what, None),
    };
    let of_agent = match kind {
        "agent" => true,
        "key" => false,
        _ => return Err(WRONG),
    };
    Ok(Limit { of_agent, name, most: most.parse().map_err(|_| WRONG)? })
}

/// Returns limits as a store takes them.
fn limits(typed: &[Limit]) -> ClaimLimits {
    let mut limits = ClaimLimits::default();
    for Limit { of_agent, name, most } in typed {
        let (each, named) = if *of_agent {
            (&mut limits.each_agent, &mut limits.agents)
        } else {
            (&mut limits.each_key, &mut limits.keys)
        };
        match name {
            Some(name) => drop(named.insert(name.as_str().into(), *most)),
            None => *each = Some(*most),
        }
    }
    limits
}

/// Returns the labels of a worker on a host, each once: a store counts the runs of each label.
fn labels(typed: &[String], host: &str) -> Vec<Box<str>> {
    let host = format!("host:{host}");
    let all: BTreeSet<&str> = typed.iter().map(String::as_str).chain([host.as_str()]).collect();
    all.into_iter().map(Into::into).collect()
}

impl WorkerCommand {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log)];
        let mut contexts = RunContexts::new(&session, observers);
        let mut server = None;
        if let Some(listen) = self.metrics {
            let config = paths::user()?;
            let options = ServeOptions { listen, ..ServeOptions::of(&config.serve)? };
            let metrics = Arc::new(RunMetrics::new(session.agents()));
            contexts = contexts.with_metrics(&metrics);
            let started =
                MetricsServer::start(&session, &options, globals.tokens(&config)?, metrics)?;
            note(&format!("metrics at {}", started.url()));
            server = Some(started);
        }
        let worked = session.block_on(self.work(&session, contexts));
        if let Some(server) = server {
            session.block_on(server.stop());
        }
        worked.map(|()| ExitCode::SUCCESS)
    }

    async fn work(&self, session: &Session, contexts: RunContexts) -> Result<(), Error> {
        let failed = |source: std::io::Error| Error::Session(source.into());
        let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminations = signal(SignalKind::terminate()).map_err(failed)?;
        let host = pointsman_runtime::host_name();
        let labels = labels(&self.label, &host);
        let worker = Worker { labels, limits: limits(&self.limit) };
        let options = SchedulerOptions {
            jobs: self.jobs,
            worker: worker.clone(),
            ..SchedulerOptions::default()
        };
        let opened = Scheduler::open(Arc::clone(session.store()), contexts, options).await;
        let (scheduler, mut finished) = opened.map_err(Error::Store)?;
        note(&format!("worker on {host}: {} at a time", format::counted(self.jobs as u64, "run")));
        loop {
            tokio::select! {
                Some(run) = finished.recv() => self.tell(&run)?,
                _ = interrupts.recv() => break,
                _ = terminations.recv() => break,
                empty = is_empty(session, &scheduler, &worker), if self.once => if empty? { break },
            }
        }
        scheduler.drain(Duration::from_millis(self.drain)).await;
        self.tell_all(&mut finished)?;
        session.store().settle().await;
        Ok(())
    }

    fn tell_all(&self, finished: &mut UnboundedReceiver<FinishedRun>) -> Result<(), Error> {
        while let Ok(run) = finished.try_recv() {
            self.tell(&run)?;
        }
        Ok(())
    }

    /// Says how a run ended, or why it is no longer driven.
    fn tell(&self, finished: &FinishedRun) -> Result<(), Error> {
        let FinishedRun { run, how } = finished;
        match how {
            Ok(ended) if self.json => {
                json_line(&json!({ "run": run.as_str(), "disposition": ended.name() }))
            }
            Err(error) if self.json => {
                json_line(&json!({ "run": run.as_str(), "error": error.to_string() }))
            }
            Ok(ended) => {
                note(&format!("{}: run {run}", ended.name()));
                Ok(())
            }
            Err(error) => {
                note(&format::line(&error.to_string(), 400));
                Ok(())
            }
        }
    }
}

/// Returns whether there is nothing left to do for a worker: looks after a while.
async fn is_empty(
    session: &Session,
    scheduler: &Scheduler,
    worker: &Worker,
) -> Result<bool, Error> {
    tokio::time::sleep(LOOKS).await;
    if scheduler.driven() > 0 {
        return Ok(false);
    }
    let work = session.store().has_work(worker).await.map_err(Error::Store)?;
    Ok(!work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_label_counts_once() {
        let typed = ["gpu", "host:here", "gpu"].map(str::to_owned);
        let once: [Box<str>; 2] = ["gpu".into(), "host:here".into()];
        assert_eq!(labels(&typed, "here"), once);
    }
}
