//! `pointsman migrate`: make or update the tables of a database.

use std::process::ExitCode;

use clap::Args;
use pointsman_fleet::PostgresStore;

use crate::{
    paths::{Globals, user},
    report::{self, Error},
};

/// Create or update the tables of a PostgreSQL database.
#[derive(Args, Debug)]
#[command(after_help = "\
Workers of the previous version can keep running. Give the address of the server itself, not of a
connection pooler.

Examples:
  pointsman migrate --store postgres://pointsman@db.example/pointsman")]
pub(crate) struct Migrate {}

impl Migrate {
    #[expect(clippy::unused_self, reason = "every command is run in the same way")]
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let url = globals.database(&user()?).ok_or(Error::NoDatabase)?;
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let threads = threads.map_err(|error| Error::Session(error.into()))?;
        let format = threads.block_on(PostgresStore::migrate(&url)).map_err(Error::Store)?;
        report::data(&format!("the tables have format {format}\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}
