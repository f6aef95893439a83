//! `pointsman report`: what an exploration found, for CI and for people.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Args, ValueEnum};
use pointsman_agents::explore::map::MishapKind;

use crate::{
    findings, format,
    notify::note,
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Report what an exploration found.
#[derive(Args, Debug)]
#[command(after_help = "\
The report comes from the journal; no device is needed. JUnit XML has a test case for every screen
and a failure for every crash and hang, with the steps that lead there; a failed exploration is an
error. The HTML page is self-contained.

Exit codes: 0 no crash or hang was found, 1 the app crashed or hung, or the exploration failed,
2 the run is not an exploration.

Examples:
  pointsman report last --format html --out report.html
  pointsman report last --format junit --out junit.xml
  pointsman report 01m7h --format json | jq .coverage")]
pub(crate) struct ShowReport {
    /// The exploration: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// `JUnit` XML, for CI servers.
    Junit,
    /// One page with map, screens, crashes and timeline.
    Html,
    /// The whole report as JSON.
    Json,
}

impl ShowReport {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let found = findings::explored(&session, &self.run)?;
        let text = match self.format {
            Format::Junit => findings::junit(&found),
            Format::Html => findings::html(&found),
            Format::Json => format!("{}\n", format::json(&findings::json(&found).to_string())),
        };
        match &self.out {
            None => report::data(&text)?,
            Some(path) => {
                fs::write(path, text)
                    .map_err(|source| Error::Write { path: path.display().to_string(), source })?;
                note(&format!("written: {}", path.display()));
            }
        }
        let down = found.map.mishaps.iter().any(|it| it.kind != MishapKind::DeadEnd);
        Ok(ExitCode::from(u8::from(down || findings::failed(&found))))
    }
}
