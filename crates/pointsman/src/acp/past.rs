//! What the journal tells of a session: its conversation so far, its plan, what it still
//! waits for, and which sessions there are.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use agent_client_protocol::{
    Error,
    v1::schema::{
        ListSessionsResponse, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionInfo,
        SessionUpdate,
    },
};
use pointsman_kernel::{
    agent::{Answer, Order},
    body::Body,
    effect::{Effect, EffectKind},
    erased::{AnyRun, Stepped},
    event::Event,
    id::{EffectId, Seq},
    job::AgentDecl,
    journal::Entry,
};
use pointsman_runtime::{
    clock::written,
    driver::{fold_each, is_aside, listens, question, words},
    entry::event,
    observe::Notice,
    session::{Session, SessionError},
    store::{Filter, RunId, RunRow},
    visible::line,
};
use serde_json::Value;

use super::{
    due::Due,
    error,
    tell::{Teller, heard},
};

/// How the goal of a run begins that an editor began; its folder follows.
const GOAL: &str = "editor session in ";
/// Characters of a session's title.
const TITLE: usize = 80;

/// A session as its journal tells it.
pub(super) struct Past {
    /// The conversation.
    pub(super) updates: Vec<SessionUpdate>,
    /// Who told it, and knows what is still under way.
    pub(super) teller: Teller,
    /// The turns that are not over.
    pub(super) due: Due,
    /// The agent.
    pub(super) agent: AgentDecl,
    /// The phases of its plan.
    pub(super) plan: Vec<PlanEntry>,
}

/// Tells a session from its journal.
pub(super) fn recount(
    session: &Session,
    id: &RunId,
    mut teller: Teller,
) -> Result<Past, SessionError> {
    let recalled = session.recall(id, None)?;
    let (program, mut updates, mut asides) = (&recalled.program, Vec::new(), BTreeSet::new());
    let mut lines = recalled.lines.iter();
    fold_each(program, id, &recalled.lines, |_, run, stepped| {
        if let Some(event) = lines.next().and_then(|line| event(line)) {
            happened(&event, run, &mut teller, &asides, &mut updates);
        }
        updates.extend(ordered((program.agent(), run), stepped, &mut teller, &mut asides));
        if let Some(ended) = run.core().ended {
            updates.extend(teller.tell(&Notice::Ended(ended)));
        } else if !stepped.hops.is_empty() && listens(program, run.core()) {
            let error = run.turn_error().cloned();
            updates.extend(teller.tell(&Notice::Listens { error }));
        }
    })?;
    let run = &*recalled.loaded.run;
    let under_way = run.core().ended.is_none() && !listens(program, run.core());
    let words = session.waiting(id)?;
    Ok(Past {
        updates,
        teller,
        due: Due::of(words + usize::from(under_way), listens(program, run.core())),
        agent: *program.agent(),
        plan: plan(run),
    })
}

/// Tells what an event says that an editor shows.
fn happened(
    event: &Event<Body>,
    run: &dyn AnyRun,
    teller: &mut Teller,
    asides: &BTreeSet<EffectId>,
    updates: &mut Vec<SessionUpdate>,
) {
    match event {
        Event::Given { event: 0, .. } => updates.extend(words(event).map(|said| heard(&said))),
        Event::Answered { effect, answer, .. } => {
            let (effect, aside) = (*effect, asides.contains(effect));
            let (ok, output) = match answer {
                Answer::Fault(fault) => (false, Some(fault.message.as_str())),
                Answer::Tool(result) => (result.ok, Some(result.output.as_str())),
                Answer::Model(reply) => (true, Some(reply.text.as_str()).filter(|_| !aside)),
                _ => (true, None),
            };
            let output = output.map(Into::into);
            let summary = match answer {
                Answer::Own(report) => run.describe_report(report),
                _ => None,
            };
            let ok = ok && summary.as_ref().is_none_or(|it| it.ok);
            let what = summary.map_or_else(Box::default, |it| it.text.into());
            updates.extend(teller.tell(&Notice::Answered { effect, ok, what, output }));
        }
        Event::ApprovalAnswered { effect, granted, reason, .. } => {
            updates.extend(teller.decided(*effect, *granted, reason));
        }
        _ => {}
    }
}

/// Tells which calls a step started, asked for or stopped, and notes which questions to
/// the model serve the agent alone.
fn ordered(
    (agent, run): (&AgentDecl, &dyn AnyRun),
    stepped: &Stepped,
    teller: &mut Teller,
    asides: &mut BTreeSet<EffectId>,
) -> Vec<SessionUpdate> {
    let mut updates = Vec::new();
    for Effect { id, order: kind } in &stepped.effects {
        let effect = *id;
        match kind {
            EffectKind::Start(order) if is_aside(order, agent) => drop(asides.insert(effect)),
            EffectKind::Start(Order::Tool(call)) => {
                let call = Some(Box::new(call.clone()));
                let (attempt, what) = (1, Box::default());
                updates.extend(teller.tell(&Notice::Attempted { effect, attempt, what, call }));
            }
            EffectKind::Start(_) => {
                updates.extend(question(run, kind).map(|text| teller.asks(effect, &text)));
            }
            EffectKind::AskPerson(call) => updates.push(teller.asks_for(effect, call)),
            EffectKind::Stop(gone) => updates.extend(teller.tell(&Notice::Unsaid(*gone))),
            _ => {}
        }
    }
    updates
}

/// Returns the phases of a run that works by a plan.
pub(super) fn plan(run: &dyn AnyRun) -> Vec<PlanEntry> {
    let snapshot = run.snapshot().ok();
    let whole = snapshot.and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
    let plan = whole.as_ref().and_then(|whole| whole.pointer("/data/plan"));
    let list = |name: &str| plan.and_then(|plan| plan.get(name)?.as_array());
    let ended = list("records").map_or(&[][..], Vec::as_slice);
    let phases = list("phases").map_or(&[][..], Vec::as_slice);
    let entry = |(at, phase): (usize, &Value)| {
        let described = phase.get("description").and_then(Value::as_str).unwrap_or_default();
        let failed =
            ended.get(at).is_some_and(|it| it.get("succeeded") == Some(&Value::Bool(false)));
        let status = match at.cmp(&ended.len()) {
            std::cmp::Ordering::Less => PlanEntryStatus::Completed,
            std::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
            std::cmp::Ordering::Greater => PlanEntryStatus::Pending,
        };
        // The protocol knows no phase that ended badly.
        let text = if failed { format!("{described} (failed)") } else { described.into() };
        PlanEntry::new(text, PlanEntryPriority::Medium, status)
    };
    phases.iter().enumerate().map(entry).collect()
}

/// Returns the goal of a run that an editor begins in a folder.
pub(super) fn goal(folder: &Path) -> Box<str> {
    format!("{GOAL}{}", folder.display()).into()
}

/// Returns a page of the sessions that editors began and somebody spoke in.
pub(super) fn sessions(
    session: &Session,
    folder: Option<&Path>,
    cursor: Option<&str>,
    page: usize,
) -> Result<ListSessionsResponse, Error> {
    let after: usize = match cursor.map(str::parse) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => return Err(error::bad_params("the cursor is none that was given")),
    };
    let rows = session
        .block_on(session.store().all(&Filter::default()))
        .map_err(|error| error::session(&error.into()))?
        .runs;
    let begun = |row: RunRow| {
        let place = PathBuf::from(row.goal.strip_prefix(GOAL)?);
        let wanted = folder.is_none_or(|folder| folder == place) && row.seq.0 > 1;
        wanted.then_some((row, place))
    };
    let mut found = rows.into_iter().filter_map(begun).skip(after);
    let mut listed = Vec::new();
    for (row, place) in found.by_ref().take(page) {
        let lines = match session.block_on(session.store().lines(&row.id, Seq(0))) {
            Ok(lines) => lines,
            // One that is damaged must not hide the others.
            Err(error) => {
                tracing::warn!(run = %row.id, %error, "a session is not listed");
                continue;
            }
        };
        let title = lines.iter().find_map(|line| words(&event(line)?));
        let last = lines.last().and_then(|line| Some(Entry::read(line).ok()?.at.0));
        let updated = row.created_ms.saturating_add(last.unwrap_or(0));
        let info = SessionInfo::new(row.id.as_str().to_owned(), place)
            .title(title.map(|title| line(&title, TITLE)))
            .updated_at(written(updated));
        listed.push(info);
    }
    let more = found.next().is_some();
    Ok(ListSessionsResponse::new(listed).next_cursor(more.then(|| (after + page).to_string())))
}
