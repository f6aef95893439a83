//! A run as JSON: the same for `runs --json` and over HTTP.

use pointsman_runtime::store::RunRow;
use serde::Serialize;
use utoipa::ToSchema;

/// A run of the list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunObject {
    /// Its id.
    #[schema(example = "01jcz5v7k3w8x2")]
    run: String,
    /// Its agent.
    agent: Box<str>,
    /// Its chart.
    chart: Box<str>,
    /// Its goal.
    goal: Box<str>,
    /// When it was created, in milliseconds since 1970.
    created_ms: u64,
    /// How many entries it has.
    steps: u64,
    /// Its state.
    state: Box<str>,
    /// How it ended; null until then.
    disposition: Option<Box<str>>,
    /// The process that drives it.
    owner: Option<Box<str>>,
    /// Its concurrency key.
    key: Option<Box<str>>,
    /// How it waits in the queue: `ready`, `waiting`, `leased` or `quarantined`.
    queue: Option<&'static str>,
    /// Why it could not be driven the last time.
    fault: Option<Box<str>>,
    /// The run and entry that it was forked from.
    forked: Option<ForkOrigin>,
}

/// The run and entry that a run was forked from.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ForkOrigin {
    /// The run.
    run: String,
    /// The last entry that both share.
    at: u64,
}

impl RunObject {
    /// Returns a run of the list.
    pub(crate) fn of(row: &RunRow) -> Self {
        let (forked, place) = (row.forked.as_ref(), row.queue.as_ref());
        Self {
            run: row.id.to_string(),
            agent: row.agent.clone(),
            chart: row.chart.clone(),
            goal: row.goal.clone(),
            created_ms: row.made_ms(),
            steps: row.seq.0,
            state: row.state.clone(),
            disposition: row.ended.clone(),
            owner: row.owner.clone(),
            key: place.map(|place| place.key.clone()),
            queue: place.and_then(|place| Some(place.status?.name())),
            fault: place.and_then(|place| place.fault.clone()),
            forked: forked.map(|(run, at)| ForkOrigin { run: run.to_string(), at: at.0 }),
        }
    }
}
