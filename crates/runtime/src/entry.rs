//! What the lines of a journal hold, for those who read them without a run.

use pointsman_kernel::{
    body::Body,
    event::{Event, RunConfig},
    journal::Entry,
};

use crate::store::{RunId, Store, StoreError};

/// Returns the event of a line.
pub fn event(line: &str) -> Option<Event<Body>> {
    serde_json::from_str(Entry::read(line).ok()?.event.get()).ok()
}

/// Returns what a run was begun with, as its first entry says; nothing where this build
/// cannot read it.
pub async fn begun(store: &dyn Store, run: &RunId) -> Result<Option<RunConfig>, StoreError> {
    // Of a long run only this is wanted.
    Ok(match event(&store.first_line(run).await?) {
        Some(Event::Begun(begun)) => Some(*begun),
        _ => None,
    })
}
