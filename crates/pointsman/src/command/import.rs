//! `pointsman import`: exported runs become runs of this store.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use pointsman_runtime::{
    session::restore,
    store::{ExportError, import},
};
use serde_json::json;

use super::run::json_line;
use crate::{
    paths::Globals,
    report::{self, Error},
};

/// Import exported runs.
#[derive(Args, Debug)]
#[command(after_help = "\
Pointsman checks every byte and every step of an export before it stores the run. The run keeps its
id; an existing run with that id is never replaced. Exports include neither screenshots nor screen
hierarchies.

Examples:
  pointsman export RUN --out run.jsonl
  pointsman import run.jsonl --store postgres://db/pointsman
  pointsman export RUN | pointsman import - --store postgres://db/pointsman")]
pub(crate) struct Import {
    /// Files that `pointsman export` wrote; `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        for file in &self.files {
            let name = file.display().to_string();
            let unread = |source: io::Error| Error::Read { path: name.clone(), source };
            let from: Box<dyn Read> = if file == Path::new("-") {
                Box::new(io::stdin().lock())
            } else {
                Box::new(BufReader::new(File::open(file).map_err(unread)?))
            };
            let exported = import::read(from).map_err(|error| match error {
                ExportError::Read(source) => unread(source),
                ExportError::NotOurs => Error::NotExport { path: name.clone() },
                error => Error::Export(error),
            })?;
            let run = restore(session.agents(), &**session.store(), exported);
            let run = session.block_on(run).map_err(Error::Session)?;
            if self.json {
                json_line(&json!({ "run": run.as_str() }))?;
            } else {
                report::data(&format!("{run}\n"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
