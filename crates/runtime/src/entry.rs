//! What the lines of a journal hold, for those who read them without a run.

use pointsman_kernel::{event::Begun, journal::Entry};
use serde::Deserialize;
use serde_json::Value;

use crate::store::{RunId, Store, StoreError};

/// Returns the event of a line.
pub(crate) fn event(line: &str) -> Option<Value> {
    serde_json::from_str(Entry::read(line).ok()?.event.get()).ok()
}

/// Returns the name of an event.
pub(crate) fn name(event: &Value) -> &str {
    match event {
        Value::String(name) => name,
        Value::Object(map) => map.keys().next().map_or("", |name| name),
        _ => "",
    }
}

/// Returns what a run was begun with, as its first entry says; nothing where this build
/// cannot read it.
pub(crate) fn begun(store: &Store, run: &RunId) -> Result<Option<Begun>, StoreError> {
    #[derive(Deserialize)]
    struct First {
        begun: Begun,
    }
    // Of a long run only this is wanted.
    let line = store.first_line(run)?;
    let first = Entry::read(&line)
        .ok()
        .and_then(|entry| serde_json::from_str::<First>(entry.event.get()).ok());
    Ok(first.map(|first| first.begun))
}
