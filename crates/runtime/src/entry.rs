//! The content of journal lines, for readers without a run.

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

/// Returns the name of a line's event, as in the journal.
pub fn event_name(line: &str) -> Option<&str> {
    name(Entry::read(line).ok()?.event.get())
}

/// Returns the name of an event.
pub(crate) fn name(event: &str) -> Option<&str> {
    // It is an object of one key, or a name alone: its first string is the name.
    event.split('"').nth(1)
}

/// Returns the beginning of a run from its first entry; nothing if this build cannot read it.
pub async fn begun(store: &dyn Store, run: &RunId) -> Result<Option<RunConfig>, StoreError> {
    // Of a long run only this is wanted.
    Ok(match event(&store.first_line(run).await?) {
        Some(Event::Begun(begun)) => Some(*begun),
        _ => None,
    })
}
