//! `pointsman resume` and `pointsman fork`: going on with a run, or going another way.

use std::process::ExitCode;

use clap::Args;
use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    session::{Session, SessionError},
    store::RunId,
};
use serde_json::json;

use super::{answer::say, run::json_line};
use crate::{
    drive::{Drive, Waits},
    ending::finish,
    place::{self, Globals},
    report::{self, Error},
    tell::note,
    which::Which,
};

/// Go on with a run that was interrupted or paused, or that waited.
#[derive(Args, Debug)]
#[command(after_help = "\
What was under way when it was interrupted is not repeated blindly: each tool says what to do.
The run keeps the permissions that it was begun with, and works in the same folder with the same
model, unless `--dir` or `--model` says otherwise.

Examples:
  pointsman resume last
  pointsman resume RUN --dir ~/src/project --model openai:gpt-5-mini")]
pub(crate) struct Resume {
    /// The run: its id or the beginning of it, or `last`.
    run: Which,
    #[command(flatten)]
    drive: Drive,
}

/// Make a new run that shares another's entries up to one, and go on from there.
#[derive(Args, Debug)]
#[command(after_help = "\
Without `--at`, a run that has ended is forked before its last entry. The new run works where the
other one does, with the same model, unless `--dir` or `--model` says otherwise.

Examples:
  pointsman fork last --at 3
  pointsman fork RUN --at 3 --model anthropic:claude-sonnet-4-5
  pointsman fork RUN --no-run            only makes it, and prints its id")]
pub(crate) struct Fork {
    /// The run: its id or the beginning of it, or `last`.
    run: Which,
    /// The last entry that is shared.
    #[arg(long, value_name = "ENTRY")]
    at: Option<u64>,
    /// Do not go on with it.
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    drive: Drive,
}

impl Resume {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(session.store())?;
        let drive = self.drive.going_on(&session, &row.id)?;
        match go_on(&session, &drive, &row.id) {
            // Whoever drives it only has to hear that the pause is over.
            Err(Error::Session(SessionError::Held { .. })) if is_paused(&session, &row.id)? => {
                let posted = session.unpause(&row.id).map_err(Error::Session)?;
                say(&row, posted, "resumed", drive.json)
            }
            done => done,
        }
    }
}

impl Fork {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(session.store())?;
        let fork = || session.fork(&row.id, self.at.map(Seq)).map_err(Error::Session);
        if !self.no_run {
            // First, so that no fork is left behind where the folder is gone.
            let drive = self.drive.going_on(&session, &row.id)?;
            let child = fork()?;
            note(&format!("forked {} as {child}", row.id));
            return go_on(&session, &drive, &child);
        }
        let child = fork()?;
        if self.drive.json {
            json_line(&json!({ "run": child.as_str(), "forked": row.id.as_str() }))?;
        } else {
            report::data(&format!("{child}\n"))?;
            note(&format!("next: pointsman resume {child}"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn is_paused(session: &Session, run: &RunId) -> Result<bool, Error> {
    let recalled = session.recall(run, None).map_err(Error::Session)?;
    Ok(recalled.loaded.run.core().paused)
}

fn go_on(session: &Session, drive: &Drive, run: &RunId) -> Result<ExitCode, Error> {
    let settled = place::settled(drive.dir())?;
    let host = drive.host(session, &settled)?;
    let row = session.store().run(run).map_err(Error::Store)?;
    let mut audience = drive.audience(session, false, Waits::of(&row.agent))?;
    let observers = audience.observers.clone();
    let outcome =
        session.resume(&host, run, observers, &mut *audience.attendant).map_err(Error::Session)?;
    finish(session, &host, &outcome, audience, drive.json)
}
