//! `pointsman init`: a chart to start from, and the schema that editors read.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use crate::report::{self, Error};

const CHART: &str = include_str!("../../assets/agent.toml");
const SCHEMA: &str = include_str!("../../../../docs/chart.schema.json");
const SCHEMA_NAME: &str = "chart.schema.json";

/// Write a commented example chart and its JSON Schema.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman init                  writes agent.toml and chart.schema.json
  pointsman init agents/triage.toml")]
pub(crate) struct Init {
    /// The chart file to write.
    #[arg(default_value = "agent.toml")]
    file: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

impl Init {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new(""));
        let trouble = |path: &Path, source: io::Error| Error::Write {
            path: path.display().to_string(),
            source,
        };
        if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder).map_err(|source| trouble(folder, source))?;
        }
        self.write(&self.file, CHART)?;
        let schema = folder.join(SCHEMA_NAME);
        // The schema is ours: another chart of the same folder may have brought it.
        if fs::read_to_string(&schema).is_ok_and(|present| present == SCHEMA) {
            // It is there already.
        } else {
            self.write(&schema, SCHEMA)?;
        }
        let file = self.file.display();
        report::data(&format!(
            "wrote {file} and {}\nnext: pointsman check {file}\n",
            schema.display()
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), Error> {
        let mut options = OpenOptions::new();
        options.write(true);
        if self.force {
            options.create(true).truncate(true);
        } else {
            // Created, never opened: nothing of the user's is overwritten.
            options.create_new(true);
        }
        let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::Exists { path: path.into(), unless: Some("--force") }
            }
            _ => Error::Write { path: path.display().to_string(), source },
        })
    }
}
