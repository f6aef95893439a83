//! Beside a run's own story: where another outcome would have led, and what a step changed.

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
    simulate::{SimulationError, simulate_from},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named},
    moments::{ReadProgress, reading},
    open_runs::Reached,
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::format;

/// Changes that one request returns.
const CHANGES: usize = 300;
/// Characters of a changed value.
const VALUE: usize = 400;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct WhatIfQuery {
    /// The outcomes, one per visit, separated by commas.
    #[param(example = "failed")]
    outcomes: String,
}

/// Where other outcomes would have led. Nothing is written.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WhatIfWalk {
    /// The states, beginning with the one before the entry.
    #[schema(value_type = Vec<String>)]
    visited: Vec<Box<str>>,
    /// How the run would have ended; null if it would not have ended.
    #[schema(value_type = Option<String>)]
    ended: Option<Disposition>,
    /// The outcome that could not have been taken.
    #[schema(value_type = Option<Object>)]
    rejected: Option<SimulationError>,
    /// The outcomes that are possible in the last of the states.
    options: Vec<WhatIfOption>,
}

/// A possible outcome.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WhatIfOption {
    /// Its name.
    outcome: String,
    /// The state that it leads to.
    to: String,
    /// The budget that it spends.
    spends: Option<String>,
}

/// Ask where other outcomes would have led, from the state and the budgets before an entry.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}/what-if",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
        WhatIfQuery,
    ),
    responses(
        (status = 200, description = "The states that would have been visited", body = WhatIfWalk),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn what_if(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
    Asked(query): Asked<WhatIfQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let before = Seq(entry.saturating_sub(1).max(1));
    if entry == 0 || before > row.seq {
        return Err(no_entry(&id, entry, row.seq));
    }
    let mut inspector = match server.reach(&row.id, before).await? {
        Reached::Ready(inspector) => inspector,
        Reached::Reading { read } => return Ok(reading(read, before)),
    };
    let moment = inspector.at(before).await?;
    let outcomes = query.outcomes.split(',').filter(|outcome| !outcome.is_empty());
    let program = inspector.program();
    let walk = simulate_from(program, &moment.view, outcomes);
    let options = walk.visited.last().map_or_else(Vec::new, |state| options(program, state));
    let (visited, ended, rejected) = (walk.visited, walk.ended, walk.rejected);
    Ok(Json(WhatIfWalk { visited, ended, rejected, options }).into_response())
}

fn no_entry(run: &str, entry: u64, head: Seq) -> HttpProblem {
    let detail = format!("run {run} has no entry {entry}");
    let hint = format!("entries are numbered from 1 to {}", head.0);
    HttpProblem::new(StatusCode::NOT_FOUND, detail, &hint)
}

fn options(program: &Program, name: &str) -> Vec<WhatIfOption> {
    let found = program.states().iter().find(|state| state.name() == name);
    let Some(found) = found else { return Vec::new() };
    let routes = found.routes();
    routes
        .iter()
        .map(|route| {
            let edge = route.edge();
            let spends = edge.spend.and_then(|id| program.budget(id));
            WhatIfOption {
                outcome: route.name().into(),
                to: program.state_name(edge.to).into(),
                spends: spends.map(|budget| budget.name().into()),
            }
        })
        .collect()
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct ChangesQuery {
    /// The entry to compare with; the one before if it is left out.
    with: Option<u64>,
    /// The run to compare with, such as the one that this run was forked from; this run if it is
    /// left out.
    run: Option<String>,
}

/// What differs between the data of two moments.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DataChanges {
    /// The differences, in the order of the data.
    changes: Vec<DataChange>,
    /// Whether there are more of them.
    more: bool,
}

/// A value that differs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DataChange {
    /// Where it is, as a JSON pointer.
    #[schema(example = "/plan/0/done")]
    path: String,
    /// The value of the moment to compare with; null if it has none there.
    before: Option<String>,
    /// The value of the entry; null if it has none there.
    after: Option<String>,
}

/// Compare the data after an entry with that after another one, of the same run or of another.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}/changes",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
        ChangesQuery,
    ),
    responses(
        (status = 200, description = "The differences", body = DataChanges),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn changes(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
    Asked(query): Asked<ChangesQuery>,
) -> Result<Response, HttpProblem> {
    let with = query.with.unwrap_or_else(|| entry.saturating_sub(1));
    let other = query.run.as_deref().unwrap_or(&id);
    let mut found = Vec::new();
    for (run, at) in [(other, with), (id.as_str(), entry)] {
        let row = server.store().run(&run_id(run)?).await?;
        if at > row.seq.0 || (at == 0 && run == id && entry == 0) {
            return Err(no_entry(run, at, row.seq));
        }
        // Before its first entry a run has no data.
        if at == 0 {
            found.push(Value::Null);
            continue;
        }
        match server.reach(&row.id, Seq(at)).await? {
            Reached::Ready(mut inspector) => {
                let data = inspector.at(Seq(at)).await?.data;
                found.push(serde_json::from_str(data.get()).unwrap_or_default());
            }
            Reached::Reading { read } => return Ok(reading(read, Seq(at))),
        }
    }
    let mut changes = Vec::new();
    if let [before, after] = &*found {
        compare("", Some(before), Some(after), &mut changes);
    }
    let more = changes.len() > CHANGES;
    changes.truncate(CHANGES);
    Ok(Json(DataChanges { changes, more }).into_response())
}

/// Collects the differences of two values, one more than are returned at most.
fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<DataChange>) {
    if before == after || found.len() > CHANGES {
        return;
    }
    match (before, after) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            let new = two.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                let key_path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(&key_path, one.get(key), two.get(key), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            for at in 0..one.len().max(two.len()) {
                compare(&format!("{path}/{at}"), one.get(at), two.get(at), found);
            }
        }
        (before, after) => {
            let text = |value: &Value| match value {
                Value::String(text) => format::line(text, VALUE),
                other => format::line(&other.to_string(), VALUE),
            };
            let (before, after) = (before.map(text), after.map(text));
            found.push(DataChange { path: format::line(path, VALUE), before, after });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(before: Value, after: Value) -> Vec<(String, Option<String>, Option<String>)> {
        let mut found = Vec::new();
        compare("", Some(&before), Some(&after), &mut found);
        found.into_iter().map(|it| (it.path, it.before, it.after)).collect()
    }

    #[test]
    fn changes_are_named_by_their_place() {
        let before = json!({ "a": 1, "list": [1, 2], "same": { "x": "y" }, "gone": true });
        let after = json!({ "a": 2, "list": [1, 3, 4], "same": { "x": "y" }, "a/b": "new" });
        let text = |it: &str| Some(it.to_owned());
        assert_eq!(
            compared(before, after),
            [
                ("/a".into(), text("1"), text("2")),
                ("/list/1".into(), text("2"), text("3")),
                ("/list/2".into(), None, text("4")),
                ("/gone".into(), text("true"), None),
                ("/a~1b".into(), None, text("new")),
            ]
        );
        assert_eq!(compared(json!(null), json!(null)), []);
    }

    #[test]
    fn many_changes_are_bounded() {
        let list: Vec<usize> = (0..10_000).collect();
        assert_eq!(compared(json!([]), json!(list)).len(), CHANGES + 1);
    }
}
