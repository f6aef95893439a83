//! `GET /api/v1/runs/ID/events`: a run as server-sent events.
//!
//! Items of the timeline carry ids and are read from the journal, so a stream that was cut resumes
//! exactly. Text that a model is still writing carries none, and is dropped for a slow reader.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use pointsman_kernel::id::{EffectId, Seq};
use pointsman_runtime::{
    clock::Stopwatch,
    timeline::{Timeline, TimelineItem, TimelineKind},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use utoipa::IntoParams;

use super::{
    Server,
    extract::{Asked, Named, within},
    guard::{Access, Guard},
    hub::{Following, Signal},
    problem::{HttpProblem, run_id},
};

/// Entries that are read at a time.
const PAGE: usize = 64;
/// The header of a client that resumes a stream.
const LAST_EVENT_ID: &str = "last-event-id";
/// The time after which a client should reconnect, in milliseconds.
const RETRY: &str = "retry: 1000\n\n";

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowFrom {
    /// The first entry to send; `Last-Event-ID` overrides it.
    #[param(minimum = 1)]
    #[serde(default, deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    from: Option<u64>,
    /// Whether to send only `seq`, `index`, `at` and `kind` of each item, for clients that read the
    /// rest where they need it.
    #[serde(default)]
    brief: bool,
}

/// Follow a run as server-sent events.
///
/// `item` events are items of the timeline, with ids: reconnect with `Last-Event-ID`, and none is
/// lost or repeated. `delta` events are text that a model is still writing; `discard` and `lagged` say
/// that such text is discarded or incomplete. The stream ends with the run, and with `removed` if the
/// run is removed; it also ends when its token is revoked or expires. Status 204 means that the run
/// has ended and the client has every item.
#[utoipa::path(
    get,
    path = "/runs/{id}/events",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        FollowFrom,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client has"),
    ),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream", body = String),
        (status = 204, description = "The run has ended, and the client has every item"),
        (status = 404, response = super::openapi::NotFound),
    )
)]
pub(super) async fn follow(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(from): Asked<FollowFrom>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let last = match headers.get(LAST_EVENT_ID) {
        Some(value) => Some(EventId::read(value.as_bytes())?),
        None => None,
    };
    let run = run_id(&id)?;
    let row = server.store().run(&run).await?;
    let first = from.from.unwrap_or(1).max(1);
    let last = last.unwrap_or(EventId { seq: first - 1, index: u16::MAX });
    if last.seq > row.seq.0 {
        return Err(HttpProblem::new(
            StatusCode::BAD_REQUEST,
            format!("run {run} has no entry {}", last.seq),
            "give the id of an event that the stream has sent",
        ));
    }
    // From here on no change is missed: what is written before is read below.
    let signals = server.hub.follow(&run);
    let after = Seq(last.seq.saturating_sub(1));
    let timeline = Timeline::open(server.agents(), Arc::clone(server.store()), &run, after).await?;
    let mut follower = Follower {
        timeline,
        signals,
        ready: VecDeque::from([Bytes::from_static(RETRY.as_bytes())]),
        unread: true,
        ended: false,
        brief: from.brief,
        keep_alive: server.options.keep_alive,
        closing: server.closing.clone(),
        guard: Arc::clone(&server.guard),
        access,
        checked: Stopwatch::start(),
    };
    let resumed = headers.contains_key(LAST_EVENT_ID);
    follower.catch_up(last, resumed).await?;
    if resumed && follower.ended && follower.ready.len() == 1 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((head, Body::from_stream(events)).into_response())
}

/// The id of an event: an entry, and the place among its items.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct EventId {
    seq: u64,
    index: u16,
}

impl EventId {
    fn read(value: &[u8]) -> Result<Self, HttpProblem> {
        let parsed = std::str::from_utf8(value).ok().and_then(|text| {
            let (seq, index) = text.split_once('.')?;
            Some(Self { seq: seq.parse().ok().filter(|seq| *seq > 0)?, index: index.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            HttpProblem::new(
                StatusCode::BAD_REQUEST,
                "`Last-Event-ID` is not the id of an event",
                "give the id as the stream sent it, such as 12.0",
            )
        })
    }
}

/// Reads a run for one client, as fast as the client takes it.
struct Follower {
    timeline: Timeline,
    signals: Following,
    /// Events that are ready to be sent.
    ready: VecDeque<Bytes>,
    /// Whether the journal may have more.
    unread: bool,
    ended: bool,
    /// Whether only the names of items are sent.
    brief: bool,
    keep_alive: Duration,
    closing: watch::Receiver<bool>,
    guard: Arc<Guard>,
    access: Access,
    /// Runs since the access was last checked.
    checked: Stopwatch,
}

impl Follower {
    /// Reads up to the last event that the client has. Text of effects that are open there was cut
    /// off with the stream before.
    async fn catch_up(&mut self, last: EventId, resumed: bool) -> Result<(), HttpProblem> {
        let seen = if last.seq == 0 { Vec::new() } else { self.timeline.next(1).await? };
        if resumed {
            for effect in self.open() {
                self.push("discard", &json!({ "effect": effect.to_string() }));
            }
        }
        self.ended = seen.iter().any(is_end);
        self.take(seen.into_iter().filter(|item| item.index > last.index));
        if self.ended { Ok(()) } else { self.read().await }
    }

    /// Waits for the next event; nothing once the run has ended, the access has, or the server stops.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.checked.elapsed() >= self.keep_alive {
                self.checked = Stopwatch::start();
                if !self.guard.still_admits(&self.access) {
                    return None;
                }
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended || *self.closing.borrow() {
                return None;
            }
            if self.unread {
                if let Err(problem) = self.read().await {
                    if problem.status() == StatusCode::NOT_FOUND.as_u16() {
                        self.push("removed", &json!({}));
                        self.ended = true;
                        continue;
                    }
                    // The client learns it when it reconnects.
                    tracing::warn!(status = problem.status(), "a stream cannot continue");
                    return None;
                }
                continue;
            }
            tokio::select! {
                signal = self.signals.next() => self.heed(signal).await,
                () = tokio::time::sleep(self.keep_alive) => {
                    return Some(Bytes::from_static(b": still here\n\n"));
                }
                _ = self.closing.changed() => {}
            }
        }
    }

    async fn heed(&mut self, signal: Signal) {
        match signal {
            Signal::Changed => self.unread = true,
            Signal::Delta(effect, text) => {
                // The entry that started the effect comes first.
                if !self.open().contains(&effect) && self.read().await.is_err() {
                    // The next reading finds out why.
                    self.unread = true;
                    return;
                }
                // Text of an effect that was answered is part of the answer.
                if self.open().contains(&effect) {
                    let effect = effect.to_string();
                    self.push("delta", &json!({ "effect": effect, "text": &*text }));
                }
            }
            Signal::Discard(effect) => {
                self.push("discard", &json!({ "effect": effect.to_string() }));
            }
            Signal::Lagged => {
                self.unread = true;
                self.push("lagged", &json!({}));
            }
        }
    }

    /// Reads the next entries.
    async fn read(&mut self) -> Result<(), HttpProblem> {
        let items = self.timeline.next(PAGE).await?;
        self.unread = !items.is_empty();
        self.take(items);
        Ok(())
    }

    fn take(&mut self, items: impl IntoIterator<Item = TimelineItem>) {
        for item in items {
            self.ended |= is_end(&item);
            let id = format!("id: {}.{}\n", item.seq.0, item.index);
            self.ready.push_back(if self.brief {
                let (seq, index, at, kind) = (item.seq, item.index, item.at, item.kind.name());
                let brief = json!({ "seq": seq, "index": index, "at": at, "kind": kind });
                event(&id, "item", &brief)
            } else {
                event(&id, "item", &item)
            });
        }
    }

    fn push(&mut self, name: &str, data: &impl Serialize) {
        self.ready.push_back(event("", name, data));
    }

    fn open(&self) -> Vec<EffectId> {
        self.timeline.loaded().map(|loaded| loaded.open_effects().collect()).unwrap_or_default()
    }
}

const fn is_end(item: &TimelineItem) -> bool {
    matches!(item.kind, TimelineKind::Ended { .. })
}

/// Returns an event as it is sent. JSON has no line breaks.
fn event(id: &str, name: &str, data: &impl Serialize) -> Bytes {
    // Items are plain data.
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
}
