//! `POST /api/v1/runs/ID/…`: answers, cancel, pause, resume, fork and input.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use pointsman_kernel::{
    body::Body,
    chart::{Chart, StateKind},
    event::Event,
    id::Seq,
};
use pointsman_runtime::{
    control::{BulkAction, ForkQueue},
    driver::Loaded,
    session::{ApprovalDecision, Delivery, SessionError},
    store::{Filter, RunRow, RunScope},
    timeline::Timeline,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use utoipa::{IntoResponses, ToSchema};

use super::{
    Server,
    extract::{Given, MaybeGiven, Named},
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::{agents, answers, report::Error};

/// The result of a message to a run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SaidToRun {
    /// The run.
    run: String,
    /// The requested action.
    #[schema(example = "approved")]
    said: &'static str,
    /// Whether the run has received it; if not, it does so when a process next drives it.
    taken: bool,
}

type Said = Result<(StatusCode, Json<SaidToRun>), HttpProblem>;

/// Tells what became of a word: 200 where the run has taken it, else 202.
fn said(row: &RunRow, said: &'static str, delivery: Delivery) -> Said {
    let run = row.id.to_string();
    if let Delivery::Ignored(why) = delivery {
        return Err(Error::Ignored { run, why }.into());
    }
    let taken = delivery == Delivery::Taken;
    let status = if taken { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(SaidToRun { run, said, taken })))
}

impl Server {
    /// Returns a run that has not ended.
    async fn open_run(&self, id: &str) -> Result<RunRow, HttpProblem> {
        let row = self.store().run(&run_id(id)?).await?;
        match &row.ended {
            Some(how) => {
                let (run, how) = (row.id.to_string(), how.to_string());
                Err(Error::HasEnded { run, how }.into())
            }
            None => Ok(row),
        }
    }

    async fn answer(&self, id: &str, granted: bool, answer: AnswerBody) -> Said {
        let row = self.open_run(id).await?;
        let timeline =
            Timeline::open(self.agents(), Arc::clone(self.store()), &row.id, row.seq).await?;
        let open = timeline.loaded().map(Loaded::questions).unwrap_or_default();
        let open = answers::meant(&row, open, answer.question.as_deref(), self.store().now_ms())?;
        // All of them are looked at before the first is answered.
        let always = answer.always.as_deref();
        let rules = open.iter().map(|question| answers::remembered(question, always));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let word = if granted { "approved" } else { "denied" };
        let mut delivery = Delivery::Taken;
        for (question, remember) in open.iter().zip(rules) {
            // What goes with a yes or no is the person's own words, or nothing.
            let unsaid = || question.call().map_or(String::new(), |_| format!("{word} over HTTP"));
            let reason = answer.reason.clone().unwrap_or_else(unsaid);
            let decision = ApprovalDecision { granted, reason, remember };
            delivery = self.control.decide(&row.id, question, &decision).await?;
        }
        said(&row, word, delivery)
    }
}

/// An answer to questions.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AnswerBody {
    /// The question; by default all open ones.
    #[schema(example = "5.0")]
    question: Option<String>,
    /// The reason, which the journal keeps.
    reason: Option<String>,
    /// Only for `approve`: allow calls like this one for the rest of the run. `exact`, `tool`, or
    /// one of the question's rules.
    always: Option<String>,
}

/// What becomes of an answer.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
enum AnswerOutcome {
    /// The run has received the answer
    #[response(status = 200)]
    Taken(SaidToRun),
    /// The run receives the answer when a process next drives it
    #[response(status = 202)]
    Queued(SaidToRun),
}

/// Approve a pending tool call, or answer a question with yes.
#[utoipa::path(
    post,
    path = "/runs/{id}/approve",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    request_body = Option<AnswerBody>,
    responses(AnswerOutcome, openapi::ActionRefusal)
)]
pub(super) async fn approve(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    MaybeGiven(answer): MaybeGiven<AnswerBody>,
) -> Said {
    server.answer(&id, true, answer).await
}

/// Deny a pending tool call, or answer a question with no.
#[utoipa::path(
    post,
    path = "/runs/{id}/deny",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    request_body = Option<AnswerBody>,
    responses(AnswerOutcome, openapi::ActionRefusal)
)]
pub(super) async fn deny(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    MaybeGiven(answer): MaybeGiven<AnswerBody>,
) -> Said {
    server.answer(&id, false, AnswerBody { always: None, ..answer }).await
}

/// Cancel a run.
#[utoipa::path(
    post,
    path = "/runs/{id}/cancel",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The run has ended", body = SaidToRun),
        (status = 202, description = "The process that owns the run will cancel it", body = SaidToRun),
        openapi::RunRefusal,
    )
)]
pub(super) async fn cancel(State(server): State<Arc<Server>>, Named(id): Named<String>) -> Said {
    let row = server.open_run(&id).await?;
    let delivery = server.control.cancel(&row.id).await?;
    if delivery == Delivery::Taken {
        let run = row.id.clone();
        server
            .blocking(move |session| agents::forget(session, &run).map_err(Error::Session))
            .await?;
    }
    said(&row, "cancelled", delivery)
}

/// Why a run is paused.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PauseBody {
    /// The reason, which the journal keeps.
    reason: Option<String>,
}

/// Pause a run: work in progress continues, nothing new starts.
#[utoipa::path(
    post,
    path = "/runs/{id}/pause",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    request_body = Option<PauseBody>,
    responses(
        (status = 200, description = "The run is paused", body = SaidToRun),
        (status = 202, description = "The process that owns the run will pause it", body = SaidToRun),
        openapi::ActionRefusal,
    )
)]
pub(super) async fn pause(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    MaybeGiven(pause): MaybeGiven<PauseBody>,
) -> Said {
    let row = server.open_run(&id).await?;
    let reason = pause.reason.as_deref().unwrap_or("a person paused it");
    let delivery = server.control.pause(&row.id, reason).await?;
    said(&row, "paused", delivery)
}

/// Resume a paused, waiting or interrupted run: it is queued again if no process drives it.
#[utoipa::path(
    post,
    path = "/runs/{id}/resume",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The run continues", body = SaidToRun),
        (status = 202, description = "The run continues as soon as the server has a free slot", body = SaidToRun),
        openapi::RunRefusal,
    )
)]
pub(super) async fn resume(State(server): State<Arc<Server>>, Named(id): Named<String>) -> Said {
    let row = server.open_run(&id).await?;
    if row.owner.is_some() {
        // Its driver only has to hear that the pause is over.
        let delivery = server.control.unpause(&row.id).await?;
        return said(&row, "resumed", delivery);
    }
    if let Some(error) = Error::of_child(&row.id) {
        return Err(error.into());
    }
    let scope = RunScope::Prefix(row.id.as_str().into());
    let only = Filter { scope, ..Filter::default() };
    let action = BulkAction::Resume(ForkQueue::default());
    let report = server.control.bulk(&only, &action, false).await?;
    if report.runs.contains(&row.id) {
        return said(&row, "resumed", Delivery::Queued);
    }
    match report.failed.into_iter().find(|(run, _)| *run == row.id) {
        Some((run, why)) => Err(Error::Ignored { run: run.to_string(), why }.into()),
        None => Err(SessionError::Held { run: row.id }.into()),
    }
}

/// Where a run is forked, and how the fork is queued.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ForkBody {
    /// The last entry that the fork shares; by default the last one before the end.
    at: Option<u64>,
    /// Whether to only create the fork, and not to queue it.
    no_run: bool,
    /// Its concurrency key; by default the run's own.
    key: Option<String>,
    /// Its priority in the queue.
    priority: i32,
}

/// A fork.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ForkedRun {
    /// The new run.
    run: String,
    /// The run that it was forked from.
    forked: String,
}

/// Fork a run at an entry, and queue the fork.
#[utoipa::path(
    post,
    path = "/runs/{id}/fork",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    request_body = Option<ForkBody>,
    responses(
        (status = 201, description = "The fork", body = ForkedRun),
        openapi::ActionRefusal,
    )
)]
pub(super) async fn fork(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    MaybeGiven(fork): MaybeGiven<ForkBody>,
) -> Result<(StatusCode, Json<ForkedRun>), HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let queue =
        ForkQueue { key: fork.key.map(Into::into), priority: fork.priority, not_before_ms: 0 };
    queue.check()?;
    let (run, at) = (row.id.clone(), fork.at.map(Seq));
    let child =
        server.blocking(move |session| session.fork(&run, at).map_err(Error::Session)).await?;
    if !fork.no_run {
        let queued = server.store().enqueue(&[(child.clone(), queue.options(&row))]).await;
        // The fork must be known even if it cannot be queued: a second attempt would make another one.
        let forked = format!("run {} was forked as {child}", row.id);
        queued.map_err(|error| HttpProblem::from(error).after(&forked))?;
    }
    let forked = ForkedRun { run: child.to_string(), forked: row.id.to_string() };
    Ok((StatusCode::CREATED, Json(forked)))
}

/// A message to a run: text, or an event that its agent declares.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct InputBody {
    /// The text, for an agent that holds conversations.
    #[schema(example = "And in French?")]
    text: Option<String>,
    /// The name of an event; by default the agent's first one.
    event: Option<String>,
    /// The event's content.
    #[schema(value_type = Option<Object>)]
    body: Option<Value>,
}

/// Send a message to a run. A busy run receives it when it next waits for one.
#[utoipa::path(
    post,
    path = "/runs/{id}/input",
    tag = "actions",
    params(("id" = String, Path, description = "The run's id")),
    request_body = InputBody,
    responses(
        (status = 202, description = "The run receives it when it next waits for a message", body = SaidToRun),
        openapi::ActionRefusal,
    )
)]
pub(super) async fn input(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Given(input): Given<InputBody>,
) -> Said {
    let row = server.open_run(&id).await?;
    let unfit = |detail: String, hint: &str| {
        HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, detail, hint)
    };
    let events = server.agents().decl(&row.agent).events;
    if events.is_empty() {
        let (run, agent) = (row.id.to_string(), row.agent.to_string());
        return Err(Error::NoTalker { run, agent }.into());
    }
    let wanted = input.event.as_deref().or_else(|| events.first().copied()).unwrap_or_default();
    let Some((event, _)) = (0..).zip(events).find(|(_, name)| **name == wanted) else {
        let detail = format!("`{}` takes no event `{wanted}`", row.agent);
        return Err(unfit(detail, &format!("give one of: {}", events.join(", "))));
    };
    let content = match (input.text, input.body) {
        (Some(text), None) if text.trim().is_empty() => return Err(Error::NothingToSay.into()),
        (Some(text), None) => json!({ "text": text }),
        (None, Some(body)) => body,
        (None, None) if input.event.is_some() => Value::Null,
        (None, None) => return Err(unfit("the message is empty".into(), "give `text`")),
        (Some(_), Some(_)) => {
            return Err(unfit(
                "`text` and `body` cannot be used together".into(),
                "give one of them",
            ));
        }
    };
    let body: Box<RawValue> =
        if content.is_null() { Body::default() } else { Body::canonical(&content) }.into();
    // A run drops what it cannot read, so nobody would hear of it later.
    let timeline =
        Timeline::open(server.agents(), Arc::clone(server.store()), &row.id, row.seq).await?;
    if let (Some(program), Some(loaded)) = (timeline.program(), timeline.loaded()) {
        loaded.run.receives(event, &body).map_err(|why| {
            unfit(
                format!("`{}` cannot read this content of `{wanted}`: {why}", row.agent),
                "a message is `{\"text\": \"…\"}`; other events have the content that their agent describes",
            )
        })?;
        if !waits_for(program, event) {
            let detail = format!("no state of `{}` waits for `{wanted}`", row.chart);
            let hint = "the run takes no such message; `GET /api/v1/runs/ID/chart` shows its chart";
            return Err(HttpProblem::new(StatusCode::CONFLICT, detail, hint));
        }
    }
    // A busy run takes the message when it next waits for one, so there is no need to wait here.
    server.control.post(&row.id, &Event::Given { event, body }).await?;
    Ok((
        StatusCode::ACCEPTED,
        Json(SaidToRun { run: row.id.to_string(), said: "given", taken: false }),
    ))
}

/// Returns whether a run of a chart ever waits for an event.
fn waits_for(chart: &Chart, event: u16) -> bool {
    chart.states().iter().any(
        |state| matches!(state.kind(), StateKind::Await { events, .. } if events.contains(&event)),
    )
}
