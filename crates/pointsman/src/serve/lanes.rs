//! A run from above: its states and calls in a bounded number of spans, for a timeline to zoom in.
//!
//! Journal lines name states and events, so that nothing is folded. Of a long range only the start of
//! each span is read.

use std::sync::Arc;

use axum::{Json, extract::State};
use pointsman_kernel::{id::Seq, journal::Entry};
use pointsman_runtime::entry::event_name;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named, within},
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::report::Error;

/// Spans where nothing is said, and at most.
const SPANS: u64 = 300;
const MOST: u64 = 600;
/// Entries that are read of each span.
const READ: u64 = 48;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct LanesQuery {
    /// The first entry, from 1.
    #[param(minimum = 1)]
    #[serde(deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    from: Option<u64>,
    /// The last entry.
    #[param(minimum = 1)]
    #[serde(deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    to: Option<u64>,
    /// How many spans to return at most.
    #[param(minimum = 1, maximum = 600, default = 300)]
    #[serde(deserialize_with = "within::<1, 600, _, _>")]
    spans: Option<u64>,
}

/// An overview of a range of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunLanes {
    /// The run's last entry.
    head: u64,
    /// Whether every entry was read; otherwise only the start of each span was.
    whole: bool,
    /// The spans, in order.
    spans: Vec<LaneSpan>,
}

/// Consecutive entries.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct LaneSpan {
    /// The first entry.
    from: u64,
    /// The last entry.
    to: u64,
    /// When the first entry was written, in milliseconds since the run began.
    at: u64,
    /// The state after the last entry that was read; null if it is not known yet.
    state: Option<String>,
    /// Answers of models.
    models: u32,
    /// Results of tools, of child runs and of the agent's own tasks.
    tools: u32,
    /// Faults.
    faults: u32,
    /// Answers of people.
    people: u32,
}

/// Read an overview of a run: its states and calls, in a bounded number of spans.
#[utoipa::path(
    get,
    path = "/runs/{id}/lanes",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), LanesQuery),
    responses(
        (status = 200, description = "The spans", body = RunLanes),
        openapi::RunRefusal,
    )
)]
pub(super) async fn lanes(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<LanesQuery>,
) -> Result<Json<RunLanes>, HttpProblem> {
    let run = run_id(&id)?;
    let head = server.store().run(&run).await?.seq.0;
    let of = run.clone();
    let program =
        server.blocking(move |session| session.program(&of).map_err(Error::Session)).await?;
    let from = query.from.unwrap_or(1).clamp(1, head.max(1));
    let to = query.to.unwrap_or(head).clamp(from, head.max(from));
    let count = query.spans.unwrap_or(SPANS).clamp(1, MOST);
    let size = (to - from + 1).div_ceil(count);
    let mut found = RunLanes { head, whole: size <= READ, spans: Vec::new() };
    let (mut state, mut first) = (None, from);
    while first <= to {
        let last = first.saturating_add(size - 1).min(to);
        let read = usize::try_from((last - first + 1).min(READ)).unwrap_or(1);
        let lines = server.store().page(&run, Seq(first - 1), read).await?;
        let mut span = LaneSpan { from: first, to: last, ..LaneSpan::default() };
        for (place, line) in lines.iter().enumerate() {
            // A damaged line is reported where it is read.
            let Ok(entry) = Entry::read(line) else { continue };
            if place == 0 {
                span.at = entry.at.0;
            }
            span.count(event_name(line), entry.event.get());
            let entered = entry.hops.iter().filter_map(|hop| hop.to).next_back();
            state = entered.map(|id| program.state_name(id).to_owned()).or(state);
        }
        span.state.clone_from(&state);
        found.spans.push(span);
        first = last.saturating_add(1);
    }
    Ok(Json(found))
}

/// The event of an answer. Only the kind of the answer is read: its content may be long, and nothing
/// of it is shown here.
#[derive(Deserialize)]
struct AnsweredEvent {
    answered: Answered,
}

#[derive(Deserialize)]
struct Answered {
    answer: AnswerKind,
}

/// The kinds of the kernel's `Answer`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerKind {
    Model(IgnoredAny),
    Tool(IgnoredAny),
    Child(IgnoredAny),
    Own(IgnoredAny),
    Fault(IgnoredAny),
}

impl LaneSpan {
    fn count(&mut self, name: Option<&str>, event: &str) {
        match name {
            Some("answered") => {
                // A damaged line is reported where it is read.
                let Ok(event) = serde_json::from_str::<AnsweredEvent>(event) else { return };
                match event.answered.answer {
                    AnswerKind::Model(_) => self.models += 1,
                    AnswerKind::Tool(_) | AnswerKind::Child(_) | AnswerKind::Own(_) => {
                        self.tools += 1;
                    }
                    AnswerKind::Fault(_) => self.faults += 1,
                }
            }
            Some("approval_answered" | "given") => self.people += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::{
        agent::{Answer, ChildEnd, Fault, FaultClass, Reply, ToolResult},
        body::Body,
        chart::Disposition,
        event::{Event, Usage},
        id::EffectId,
    };

    use super::*;

    #[test]
    fn answers_are_counted_by_their_kind() {
        // A result may quote a journal line.
        let quoted = r#"{"answer":{"model":"#;
        let fault = Fault {
            class: FaultClass::Timeout,
            repeatable: true,
            hint_ms: None,
            message: quoted.into(),
        };
        let answers = [
            Answer::Model(Reply::default()),
            Answer::Tool(ToolResult { output: quoted.into(), ..ToolResult::default() }),
            Answer::Child(ChildEnd { ended: Disposition::Succeeded, result: quoted.into() }),
            Answer::Own(Body::default()),
            Answer::Fault(fault),
        ];
        let mut span = LaneSpan::default();
        for answer in answers {
            let (effect, usage) = (EffectId { seq: Seq(1), index: 0 }, Usage::default());
            let event = Event::Answered { effect, answer, usage, sent: None };
            let event = serde_json::to_string(&event).expect("an event is JSON");
            span.count(Some("answered"), &event);
        }
        assert_eq!((span.models, span.tools, span.faults), (1, 3, 1));
    }
}
