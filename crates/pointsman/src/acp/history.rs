//! The journal of a session: its conversation so far, its plan, its open questions, and the list
//! of sessions.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use agent_client_protocol::{
    Error,
    v1::schema::{
        ListSessionsResponse, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionInfo,
        SessionUpdate,
    },
};
use pointsman_agents::code::Phase;
use pointsman_kernel::{erased::AnyRun, id::Seq, job::AgentDecl, journal::Entry};
use pointsman_runtime::{
    clock::written,
    driver::listens,
    entry::event,
    session::{Session, SessionError, plan_of},
    store::{Filter, RunId, RunRow},
    timeline::{Projector, TimelineKind, words},
    visible::line,
};

use super::{
    due::OpenTurns,
    error,
    updates::{UpdateBuilder, heard},
};

/// How the goal of a run begins that an editor began; its folder follows.
const GOAL: &str = "editor session in ";
/// Characters of a session's title.
const TITLE: usize = 80;

/// A session as its journal tells it.
pub(super) struct SessionHistory {
    /// The conversation.
    pub(super) updates: Vec<SessionUpdate>,
    /// The builder of the updates, which knows the work in progress.
    pub(super) teller: UpdateBuilder,
    /// The turns that are not over.
    pub(super) due: OpenTurns,
    /// The agent.
    pub(super) agent: AgentDecl,
    /// The phases of its plan.
    pub(super) plan: Vec<PlanEntry>,
}

/// Tells a session from its journal.
pub(super) fn recount(
    session: &Session,
    id: &RunId,
    mut teller: UpdateBuilder,
) -> Result<SessionHistory, SessionError> {
    let lines = session.block_on(session.store().lines(id, Seq(0)))?;
    let mut projector = Projector::new(Arc::new(session.program(id)?), id.clone());
    let mut updates = Vec::new();
    for item in projector.fold_all(&lines)? {
        match &item.kind {
            TimelineKind::Given { text: Some(said), .. } => updates.push(heard(said)),
            // Rulings, delays and pauses were shown when they mattered.
            TimelineKind::Verdict(_)
            | TimelineKind::Retrying { .. }
            | TimelineKind::Paused { .. }
            | TimelineKind::Lifted { .. }
            | TimelineKind::Resumed => {}
            kind => updates.extend(teller.happened(kind)),
        }
    }
    let (run, program) = (&*projector.loaded().run, projector.program());
    let under_way = run.core().ended.is_none() && !listens(program, run.core());
    let words = session.waiting(id)?;
    Ok(SessionHistory {
        updates,
        teller,
        due: OpenTurns::of(words + usize::from(under_way), listens(program, run.core())),
        agent: *program.agent(),
        plan: plan(run),
    })
}

/// Returns the phases of a run that works by a plan.
pub(super) fn plan(run: &dyn AnyRun) -> Vec<PlanEntry> {
    let plan = plan_of(run).unwrap_or_default();
    let entry = |(at, phase): (usize, &Phase)| {
        let status = match at.cmp(&plan.records.len()) {
            std::cmp::Ordering::Less => PlanEntryStatus::Completed,
            std::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
            std::cmp::Ordering::Greater => PlanEntryStatus::Pending,
        };
        // The protocol knows no phase that ended badly.
        let failed = plan.records.get(at).is_some_and(|record| !record.succeeded);
        let described = &phase.description;
        let text = if failed { format!("{described} (failed)") } else { described.clone() };
        PlanEntry::new(text, PlanEntryPriority::Medium, status)
    };
    plan.phases.iter().enumerate().map(entry).collect()
}

/// Returns the goal of a run that an editor begins in a folder.
pub(super) fn goal(folder: &Path) -> Box<str> {
    format!("{GOAL}{}", folder.display()).into()
}

/// Returns a page of the sessions that editors started and that have messages.
pub(super) fn sessions(
    session: &Session,
    folder: Option<&Path>,
    cursor: Option<&str>,
    page: usize,
) -> Result<ListSessionsResponse, Error> {
    let after: usize = match cursor.map(str::parse) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => return Err(error::bad_params("unknown cursor")),
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
