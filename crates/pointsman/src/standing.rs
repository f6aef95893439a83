//! The status of a run, in words: for lists.

use std::sync::Arc;

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    driver::listens,
    exit::Exit,
    session::Session,
    store::{QueueStatus, RunRow},
    timeline::Timeline,
};

/// The status of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RunStanding {
    /// The status in words.
    pub(crate) text: String,
    /// Whether a person has to answer a question.
    pub(crate) waits: bool,
}

/// Returns the status of a run. One that cannot be read is where it was.
pub(crate) fn status(session: &Session, row: &RunRow) -> RunStanding {
    if let Some(ended) = &row.ended {
        return RunStanding { text: counts(session, row, ended).into(), waits: false };
    }
    let told = |text: &str| RunStanding { text: text.into(), waits: false };
    match row.queue.as_ref().and_then(|place| place.status) {
        Some(QueueStatus::Quarantined) => return told("quarantined"),
        Some(QueueStatus::Ready) => return told("queued"),
        _ => {}
    }
    let waits = waits_for(session, row);
    let text = waits.map_or_else(|| format!("in {}", row.state), str::to_owned);
    RunStanding { text, waits: waits == Some(FOR_YOU) }
}

const FOR_YOU: &str = "waiting for you";

fn waits_for(session: &Session, row: &RunRow) -> Option<&'static str> {
    let now = at_end(session, row)?;
    let (program, loaded) = (now.program()?, now.loaded()?);
    if !loaded.questions().is_empty() {
        return Some(FOR_YOU);
    }
    match (listens(program, loaded.run.core()), program.agent().converses()) {
        (true, true) => Some("waiting for your message"),
        (true, false) => Some("waiting for an event"),
        (false, _) => None,
    }
}

/// Returns how a run counts that has ended: only a success may count as something else.
fn counts<'a>(session: &Session, row: &RunRow, ended: &'a str) -> &'a str {
    if ended != Disposition::Succeeded.name() {
        return ended;
    }
    let unasked = session.denied_unattended(&row.id).is_ok_and(|unasked| !unasked.is_empty());
    let converses = session.agents().decl(&row.agent).converses();
    let now = converses.then(|| at_end(session, row)).flatten();
    let error = now.as_ref().and_then(|now| now.loaded()?.run.turn_error());
    Exit::of(Disposition::Succeeded, error, unasked).name
}

/// Reads a run at its last entry, from its newest snapshot on.
fn at_end(session: &Session, row: &RunRow) -> Option<Timeline> {
    let (agents, store) = (session.agents(), Arc::clone(session.store()));
    session.block_on(Timeline::open(agents, store, &row.id, row.seq)).ok()
}
