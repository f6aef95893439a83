//! The log: off unless it is asked for, on standard error or in a file.

use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt as _, sync::Arc};

use tracing_subscriber::{EnvFilter, fmt};

use crate::{
    paths::{self, Globals},
    report::{Error, coloured},
};

/// Starts logging, if the command line, the environment or the user's file ask for it.
pub(crate) fn start(globals: &Globals) -> Result<(), Error> {
    // The commands that need the file, and `doctor`, report its mistakes.
    let settled = paths::user().map(|config| config.log).unwrap_or_default();
    let Some(filter) = globals.log_filter().or(settled.filter) else { return Ok(()) };
    let filter = EnvFilter::try_new(&filter)
        .map_err(|source| Error::LogFilter { filter, why: source.to_string() })?;
    let json = paths::log_as_json()?.or(settled.json).unwrap_or(false);
    let builder = fmt().with_env_filter(filter).with_target(true);
    match globals.log_path().or(settled.file) {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
            let file =
                file.map_err(|source| Error::Write { path: path.display().to_string(), source })?;
            let builder = builder.with_ansi(false).with_writer(Arc::new(file));
            if json { builder.json().flatten_event(true).init() } else { builder.init() }
        }
        None if json => builder.json().flatten_event(true).with_writer(io::stderr).init(),
        None => builder.with_ansi(coloured()).with_writer(io::stderr).init(),
    }
    Ok(())
}
