//! `/api/v1/runs`: lists, one run, its timeline.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::{
    agents::Program,
    chart::Disposition,
    id::Seq,
    view::{BudgetView, view},
};
use pointsman_runtime::{
    driver::Loaded,
    entry::begun,
    store::{Cursor, Filter, Page, QueueStatus, RunRow, RunScope, StatusFilter},
    timeline::{TIMELINE_VERSION, Timeline, TimelineItem},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named, within},
    moments::{ReadProgress, reading},
    open_runs::Reached,
    openapi,
    problem::{HttpProblem, run_id},
    waiting::WaitName,
};
use crate::{json_lines::asked, run_object::RunObject};

/// Runs on a page where nothing is said, and at most.
const PAGE: usize = 20;
const MOST: usize = 1_000;
/// Entries that are not read again for the moment that a page shows with the run.
const FAR: u64 = 4_096;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Runs of this agent.
    agent: Option<Box<str>>,
    /// Runs of this chart.
    chart: Option<Box<str>>,
    /// Runs in this state.
    state: Option<Box<str>>,
    /// Runs that are `open` or `ended`, or that ended with this result.
    #[param(inline)]
    status: Option<StatusName>,
    /// Runs whose goal contains this text; case is ignored.
    text: Option<Box<str>>,
    /// Runs created at this time or later, in milliseconds since 1970.
    from_ms: Option<u64>,
    /// Runs created before this time, in milliseconds since 1970.
    before_ms: Option<u64>,
    /// Runs with this concurrency key.
    key: Option<Box<str>>,
    /// Runs with this status in the queue.
    #[param(inline)]
    queue: Option<QueueName>,
    /// Runs without a new entry since this time, in milliseconds since 1970.
    idle_since_ms: Option<u64>,
    /// Open runs that wait for a `person`'s answer, for a `message`, for a `worker` or for a `time`. A page can then
    /// have fewer runs than `limit`, and still a `next`.
    #[param(inline)]
    waiting: Option<WaitName>,
    /// The children of this run, at any depth.
    parent: Option<String>,
    /// Only runs that are not children.
    roots: bool,
    /// How many runs to return.
    #[param(minimum = 1, maximum = 1000, default = 20)]
    #[serde(default, deserialize_with = "within::<1, 1000, _, _>")]
    limit: Option<usize>,
    /// The `next` value of the previous page.
    cursor: Option<String>,
}

/// A filter: the runs that match all of its keys.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RunFilter {
    /// Runs of this agent.
    agent: Option<Box<str>>,
    /// Runs of this chart.
    chart: Option<Box<str>>,
    /// Runs in this state.
    state: Option<Box<str>>,
    /// Runs that are `open` or `ended`, or that ended with this result.
    status: Option<StatusName>,
    /// Runs whose goal contains this text; case is ignored.
    text: Option<Box<str>>,
    /// Runs created at this time or later, in milliseconds since 1970.
    from_ms: Option<u64>,
    /// Runs created before this time, in milliseconds since 1970.
    before_ms: Option<u64>,
    /// Runs with this concurrency key.
    key: Option<Box<str>>,
    /// Runs with this status in the queue.
    queue: Option<QueueName>,
    /// Runs without a new entry since this time, in milliseconds since 1970.
    idle_since_ms: Option<u64>,
    /// Open runs that wait for a `person`'s answer, for a `message`, for a `worker` or for a `time`.
    pub(super) waiting: Option<WaitName>,
    /// The children of this run, at any depth.
    parent: Option<String>,
    /// Only runs that are not children.
    roots: bool,
}

/// Whether a run has ended, and how.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatusName {
    Open,
    Ended,
    Succeeded,
    Failed,
    Budget,
    Stuck,
    Cancelled,
    Denied,
}

impl StatusName {
    pub(super) const fn filter(self) -> StatusFilter {
        StatusFilter::EndedAs(match self {
            Self::Open => return StatusFilter::Open,
            Self::Ended => return StatusFilter::Ended,
            Self::Succeeded => Disposition::Succeeded,
            Self::Failed => Disposition::Failed,
            Self::Budget => Disposition::Budget,
            Self::Stuck => Disposition::Stuck,
            Self::Cancelled => Disposition::Cancelled,
            Self::Denied => Disposition::Denied,
        })
    }
}

/// How a run waits for a worker.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum QueueName {
    Ready,
    Waiting,
    Leased,
    Quarantined,
}

impl QueueName {
    const fn status(self) -> QueueStatus {
        match self {
            Self::Ready => QueueStatus::Ready,
            Self::Waiting => QueueStatus::Waiting,
            Self::Leased => QueueStatus::Leased,
            Self::Quarantined => QueueStatus::Quarantined,
        }
    }
}

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunPage {
    /// The runs, the newest first.
    runs: Vec<RunObject>,
    /// The cursor of the next page; null on the last page.
    next: Option<String>,
    /// What is damaged and therefore missing.
    damaged: Vec<String>,
}

/// List runs, the newest first.
#[utoipa::path(
    get,
    path = "/runs",
    tag = "runs",
    params(ListQuery),
    responses(
        (status = 200, description = "A page of runs", body = RunPage),
    )
)]
pub(super) async fn list_runs(
    State(server): State<Arc<Server>>,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<RunPage>, HttpProblem> {
    let page = Page {
        after: query.cursor.as_deref().map(cursor).transpose()?,
        limit: query.limit.unwrap_or(PAGE).clamp(1, MOST),
    };
    let waiting = query.waiting;
    let filter = query.filter().read()?;
    let listed = match waiting {
        Some(wanted) => server.waiting_runs(filter, page, wanted).await?,
        None => server.store().list(&filter, &page).await?,
    };
    Ok(Json(RunPage {
        runs: listed.runs.iter().map(RunObject::of).collect(),
        next: listed.next.map(|next| format!("{}.{}", next.made_ms, next.run)),
        damaged: listed.damaged.iter().map(ToString::to_string).collect(),
    }))
}

impl ListQuery {
    fn filter(self) -> RunFilter {
        RunFilter {
            agent: self.agent,
            chart: self.chart,
            state: self.state,
            status: self.status,
            text: self.text,
            from_ms: self.from_ms,
            before_ms: self.before_ms,
            key: self.key,
            queue: self.queue,
            idle_since_ms: self.idle_since_ms,
            waiting: self.waiting,
            parent: self.parent,
            roots: self.roots,
        }
    }
}

impl RunFilter {
    /// Returns the filter as stores take it, which know nothing of `waiting`.
    pub(super) fn read(self) -> Result<Filter, HttpProblem> {
        // An empty value filters nothing, so it is no filter.
        let some = |value: Option<Box<str>>| value.filter(|value| !value.is_empty());
        let scope = match (self.parent, self.roots) {
            (Some(parent), _) => RunScope::Descendants(run_id(&parent).map_err(bad)?),
            (None, true) => RunScope::Roots,
            (None, false) => RunScope::All,
        };
        Ok(Filter {
            scope,
            agent: some(self.agent),
            chart: some(self.chart),
            state: some(self.state),
            status: self.status.map(StatusName::filter),
            text: some(self.text),
            from_ms: self.from_ms.filter(|from| *from > 0),
            before_ms: self.before_ms,
            key: some(self.key),
            queue: self.queue.map(QueueName::status),
            idle_since_ms: self.idle_since_ms,
        })
    }
}

/// A parameter that names no run is wrong itself.
fn bad(problem: HttpProblem) -> HttpProblem {
    problem.with_status(StatusCode::BAD_REQUEST)
}

fn cursor(text: &str) -> Result<Cursor, HttpProblem> {
    let parsed = text.split_once('.').and_then(|(made, run)| {
        Some(Cursor { made_ms: made.parse().ok()?, run: run.parse().ok()? })
    });
    parsed.ok_or_else(|| {
        let detail = "`cursor` must be the `next` value of an earlier page";
        HttpProblem::new(StatusCode::BAD_REQUEST, detail, "leave it out for the first page")
    })
}

/// A run with its state and its open questions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunDetail {
    #[serde(flatten)]
    row: RunObject,
    /// Whether it is paused.
    paused: bool,
    /// Milliseconds from its first entry to its last one.
    elapsed_ms: u64,
    /// What is left of its budgets.
    #[schema(value_type = Vec<Object>)]
    budgets: Vec<BudgetView>,
    /// What a person must answer.
    #[schema(value_type = Vec<Object>)]
    questions: Vec<Value>,
    /// Its result.
    result: Option<String>,
    /// The same as data, for agents whose result is more than text.
    #[schema(value_type = Option<Object>)]
    report: Option<Value>,
    /// Why its last turn has no answer.
    #[schema(value_type = Option<Object>)]
    error: Option<Value>,
    /// Its folder and model.
    #[schema(value_type = Option<Object>)]
    place: Option<Value>,
}

/// Read a run.
#[utoipa::path(
    get,
    path = "/runs/{id}",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The run", body = RunDetail),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn read_run(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
) -> Result<Response, HttpProblem> {
    let run = run_id(&id)?;
    let row = server.store().run(&run).await?;
    let begun = begun(&**server.store(), &run).await?.and_then(|begun| begun.place);
    let mut detail = RunDetail {
        row: RunObject::of(&row),
        paused: false,
        elapsed_ms: 0,
        budgets: Vec::new(),
        questions: Vec::new(),
        result: None,
        report: None,
        error: None,
        place: begun.and_then(|place| serde_json::from_str(place.get()).ok()),
    };
    if server.is_far_from_snapshot(&row).await? {
        // The page asks for a moment next: the same reading serves both.
        match server.reach(&run, row.seq.next()).await? {
            Reached::Ready(inspector) => detail.fill(inspector.program(), inspector.loaded()),
            Reached::Reading { read } => return Ok(reading(read, row.seq)),
        }
    } else {
        let store = Arc::clone(server.store());
        let timeline = Timeline::open(server.agents(), store, &run, row.seq).await?;
        if let (Some(loaded), Some(program)) = (timeline.loaded(), timeline.program()) {
            detail.fill(program, loaded);
        }
    }
    Ok(Json(detail).into_response())
}

impl Server {
    /// Returns whether many entries must be read to know how a run stands, by an agent that is known
    /// here: an imported run has no snapshot, and one of another build is not used.
    pub(super) async fn is_far_from_snapshot(&self, row: &RunRow) -> Result<bool, HttpProblem> {
        let known = || self.agents().decls().iter().any(|decl| decl.name == &*row.agent);
        if row.seq.0 < FAR || !known() {
            return Ok(false);
        }
        let snapshot = self.store().snapshot(&row.id).await?.map_or(Seq(0), |it| it.seq);
        Ok(row.seq.0.saturating_sub(snapshot.0) >= FAR)
    }
}

impl RunDetail {
    /// Adds what the fold of its journal says.
    fn fill(&mut self, program: &Program, loaded: &Loaded) {
        let view = view(program, loaded.run.core());
        self.paused = view.paused && view.ended.is_none();
        self.elapsed_ms = view.now.0;
        self.budgets = view.budgets;
        self.questions = loaded.questions().iter().map(asked).collect();
        self.result = loaded.run.result();
        self.report = loaded.run.report().and_then(|report| report.read().ok());
        self.error = loaded.run.turn_error().and_then(|error| serde_json::to_value(error).ok());
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TimelineQuery {
    /// The first entry, from 1.
    #[param(minimum = 1, default = 1)]
    #[serde(default, deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    from: Option<u64>,
    /// How many entries to read.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    #[serde(default, deserialize_with = "within::<1, 1000, _, _>")]
    limit: Option<usize>,
}

/// A part of a run's timeline.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TimelinePage {
    /// The run.
    run: String,
    /// The version of the items.
    version: u16,
    /// The items, which docs/timeline.md describes.
    #[schema(value_type = Vec<Object>)]
    items: Vec<TimelineItem>,
    /// The entry to continue from; it may not exist yet.
    next: u64,
}

/// Read a part of a run's timeline.
#[utoipa::path(
    get,
    path = "/runs/{id}/timeline",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), TimelineQuery),
    responses(
        (status = 200, description = "The items of the entries", body = TimelinePage),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn read_timeline(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<TimelineQuery>,
) -> Result<Json<TimelinePage>, HttpProblem> {
    let run = run_id(&id)?;
    let row = server.store().run(&run).await?;
    // A page past the end is empty.
    let after = Seq(query.from.unwrap_or(1).saturating_sub(1)).min(row.seq);
    let mut timeline =
        Timeline::open(server.agents(), Arc::clone(server.store()), &run, after).await?;
    let items = timeline.next(query.limit.unwrap_or(100).clamp(1, MOST)).await?;
    let next = timeline.seq().0.saturating_add(1);
    Ok(Json(TimelinePage { run: run.to_string(), version: TIMELINE_VERSION, items, next }))
}
