//! `GET /api/v1/runs/{id}/next`: the next entry that matters as much as a reader wants, for steps that skip the
//! others.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::id::Seq;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named, within},
    moments::{ReadProgress, SEARCHED, reading},
    open_runs::Reached,
    openapi,
    problem::{HttpProblem, run_id},
    story::importance,
};

/// Entries that are read at once.
const PART: u64 = 512;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NextQuery {
    /// The first entry to look at.
    #[param(minimum = 1, default = 1)]
    #[serde(default, deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    from: Option<u64>,
    /// The least level of an item of the entry: 1 for mechanics, 2 for the story, 3 for turning points.
    #[param(minimum = 1, maximum = 3, default = 3)]
    #[serde(default, deserialize_with = "within::<1, 3, _, _>")]
    level: Option<u8>,
    /// Whether to search towards the first entry.
    #[serde(default)]
    back: bool,
}

/// The result of a search for the next entry.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NextEntry {
    /// The entry; null if none of the searched ones has the level.
    entry: Option<u64>,
    /// The entry to continue from. The search is complete once it is 0 or beyond `head`.
    next: u64,
    /// The run's last entry.
    head: u64,
}

/// Find the next entry of a level, a part of the journal at a time.
#[utoipa::path(
    get,
    path = "/runs/{id}/next",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), NextQuery),
    responses(
        (status = 200, description = "The entry, if there is one in this part", body = NextEntry),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn next_entry(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<NextQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (head, level) = (row.seq.0, query.level.unwrap_or(3));
    let from = query.from.unwrap_or(1).max(1);
    let mut found = NextEntry { entry: None, next: from, head };
    if query.back {
        found.next = from.min(head);
    }
    let mut searched = 0;
    while (1..=head).contains(&found.next) && searched < SEARCHED && found.entry.is_none() {
        // The part from its first entry on.
        let first =
            if query.back { found.next.saturating_sub(PART - 1).max(1) } else { found.next };
        let mut inspector = match server.reach(&row.id, Seq(first)).await? {
            Reached::Ready(inspector) => inspector,
            Reached::Reading { read } => return Ok(reading(read, Seq(first))),
        };
        let last = if query.back { found.next } else { head.min(first.saturating_add(PART - 1)) };
        let count = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let items = inspector.items(Seq(first - 1), count).await?;
        let mut fit = items.iter().filter(|it| importance(&it.kind) >= level).map(|it| it.seq.0);
        (found.entry, found.next) = if query.back {
            (fit.next_back(), first - 1)
        } else {
            (fit.next(), last.saturating_add(1))
        };
        searched += PART;
    }
    Ok(Json(found).into_response())
}
