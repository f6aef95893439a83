//! Where things are kept: journals with the user's state, indexes with the cache.

use std::{
    env,
    path::{Path, PathBuf},
};

use pointsman_runtime::{
    host,
    model::{self, Spec},
    session::Session,
    tool, watch,
};

use crate::report::Error;

/// Opens the journals of this user.
///
/// `POINTSMAN_JOURNAL` names another file; else it lies under the XDG state folder.
pub(crate) fn session() -> Result<Session, Error> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || set("HOME").ok_or(Error::NoHome);
    let journal = match set("POINTSMAN_JOURNAL") {
        Some(file) => file,
        None => match set("XDG_STATE_HOME") {
            Some(state) => state.join("pointsman/journal.db"),
            None => home()?.join(".local/state/pointsman/journal.db"),
        },
    };
    let cache = match set("XDG_CACHE_HOME") {
        Some(cache) => cache.join("pointsman"),
        None => home()?.join(".cache/pointsman"),
    };
    Session::open(&journal, &cache).map_err(Error::Session)
}

/// Returns how a run over a folder is hosted.
pub(crate) fn host(session: &Session, folder: &Path) -> host::Settings {
    host::Settings {
        model: model::Settings::new(Spec::quote()),
        tools: tool::Settings::over(folder, session.index(folder)),
        mcp: None,
        watch: Some(watch::Limits::default()),
    }
}
