//! `pointsman migrate`: make or update the tables of a database.

use std::process::ExitCode;

use clap::Args;
use pointsman_fleet::PostgresStore;

use crate::{
    paths::Globals,
    report::{self, Error},
};

/// Create or update the tables of a PostgreSQL database.
#[derive(Args, Debug)]
#[command(after_help = "\
Workers of the previous version keep running. Give the server's own address, not a pooler's.

Examples:
  pointsman migrate --store postgres://pointsman@db.example/pointsman")]
pub(crate) struct Migrate {}

impl Migrate {
    #[expect(clippy::unused_self, reason = "every command is run in the same way")]
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let url = globals.database().ok_or(Error::NoDatabase)?;
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let threads = threads.map_err(|error| Error::Session(error.into()))?;
        let format = threads.block_on(PostgresStore::migrate(&url)).map_err(Error::Store)?;
        report::data(&format!("the tables have format {format}\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}
