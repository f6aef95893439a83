//! A request for a run as data: a line of a file, or the body of an HTTP request.

use std::path::PathBuf;

use pointsman_kernel::id::Digest;
use pointsman_runtime::{
    config::milliseconds,
    store::{QueueOptions, RunId},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::{Answers, PreparedStart, StartArgs, StartMode};
use crate::{
    agents::AGENTS,
    chart::Source,
    contexts::{RunContexts, RunPlace},
    drive::Drive,
    report::Error,
};

/// A request for a run.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// A shipped agent or, on this machine, a chart file.
    pub(crate) agent: Option<String>,
    /// The text of a chart, instead of an agent.
    pub(crate) chart: Option<String>,
    /// The goal.
    pub(crate) goal: Option<String>,
    /// The folder to work in.
    #[schema(value_type = Option<String>)]
    pub(crate) dir: Option<PathBuf>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The address of the model's server.
    pub(crate) base_url: Option<String>,
    /// Slots of the chart, or keys of the agent's configuration.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub(crate) config: Map<String, Value>,
    /// Whether everything that would prompt is denied.
    #[serde(default)]
    pub(crate) unattended: bool,
    /// The concurrency key.
    pub(crate) key: Option<String>,
    /// The idempotency key.
    pub(crate) request: Option<String>,
    /// The priority in the queue.
    #[serde(default)]
    pub(crate) priority: i32,
    /// The minimum time to wait before it starts: `2h`.
    pub(crate) delay: Option<String>,
    /// The label that its worker must have.
    pub(crate) needs: Option<String>,
}

impl RunRequest {
    /// Queues the run, and returns its id. With `files`, the agent may be a chart file of this machine.
    pub(crate) async fn submit(self, contexts: &RunContexts, files: bool) -> Result<RunId, Error> {
        Ok(self.submit_chart(contexts, files).await?.0)
    }

    /// The same, and returns the digest of the requested chart, too: a run that an earlier request of
    /// the same name has started may have another one.
    pub(crate) async fn submit_chart(
        self,
        contexts: &RunContexts,
        files: bool,
    ) -> Result<(RunId, Digest), Error> {
        let place = RunPlace {
            dir: self.dir.clone().unwrap_or_else(|| ".".into()),
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            recorded: false,
        };
        let (mut queue, delay) = (self.queue(), self.delay_ms()?);
        let (request, asked) = (self.request.as_deref().map(Into::into), place.clone());
        // Settings, charts and profiles are read from the disk.
        let prepared = spawn_blocking(move || self.prepare(&asked, files)).await;
        let prepared =
            prepared.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))?;
        let engine = contexts.engine(place).await?;
        if delay > 0 {
            queue.not_before_ms = engine.store().now_ms().saturating_add(delay);
        }
        let digest = prepared.options.program.digest();
        let run = engine.submit(prepared.options, request, queue).await.map_err(Error::Session)?;
        Ok((run, digest))
    }

    /// Makes the run ready.
    fn prepare(&self, place: &RunPlace, files: bool) -> Result<PreparedStart, Error> {
        let (agent, source) = source(self.agent.as_deref(), self.chart.as_deref(), files)?;
        let mut config = Drive::at(place).config()?;
        let mut start = StartArgs::of(&source, self.config.clone());
        start.rules.unattended = self.unattended;
        let mode = StartMode { here: false, answers: Answers::Anyone };
        start.prepare(&agent, source, self.goal.as_deref(), None, &mut config, mode)
    }

    /// Returns how long the run waits at least.
    fn delay_ms(&self) -> Result<u64, Error> {
        let Some(text) = self.delay.as_deref() else { return Ok(0) };
        milliseconds(text).ok_or_else(|| Error::Time { text: text.into() })
    }

    fn queue(&self) -> QueueOptions {
        QueueOptions {
            key: self.key.as_deref().unwrap_or_default().into(),
            priority: self.priority,
            not_before_ms: 0,
            needs: self.needs.as_deref().map(Into::into),
        }
    }
}

/// Returns the chart that a request names or holds, with a name for messages. With `files`, the agent
/// may be a chart file of this machine.
pub(crate) fn source(
    agent: Option<&str>,
    chart: Option<&str>,
    files: bool,
) -> Result<(String, Source), Error> {
    match (agent, chart) {
        (None, Some(text)) => {
            let name = "the chart of the request".to_owned();
            Ok((name.clone(), Source { name, text: text.into() }))
        }
        (Some(agent), None) if files || AGENTS.chart(agent).is_some() => {
            Ok((agent.into(), Source::find(agent)?))
        }
        (Some(agent), None) => Err(Error::NoSuchChart { name: agent.into() }),
        _ => Err(Error::AgentOrChart),
    }
}
