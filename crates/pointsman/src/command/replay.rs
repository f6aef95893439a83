//! `pointsman replay` and `pointsman export`: a run's journal, checked and taken along.

use std::{
    fs::File,
    io::{self, BufReader, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use pointsman_kernel::{id::Seq, view::view};
use pointsman_runtime::{
    driver::fold,
    session::{self, SessionError},
    store::{ExportError, export, import},
};
use serde_json::json;

use super::run::json_line;
use crate::{
    agents::AGENTS,
    format::{self, counted, grouped},
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Replay a run's journal, or an export of one, and check every byte.
#[derive(Args, Debug)]
#[command(after_help = "\
The command applies every entry again and compares the results with the journal: every prompt, and
after each entry the state, whether the run has ended, and the next wake-up. For an export it checks
only the entries, because exports contain no prompts.

Examples:
  pointsman replay last
  pointsman replay RUN --until 3
  pointsman replay run.jsonl             checks an export, without the journal

Exits with 0 when every byte is the same, with 9 otherwise.")]
pub(crate) struct Replay {
    /// The run, or a file that `export` wrote.
    #[arg(value_name = "RUN|FILE.jsonl")]
    what: String,
    /// Stop after this entry.
    #[arg(long, value_name = "ENTRY")]
    until: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Export a run as JSON Lines that anyone can verify.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman export last > run.jsonl
  pointsman export RUN --out run.jsonl
  pointsman replay run.jsonl")]
pub(crate) struct Export {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// Write to this new file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Replay {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let path = Path::new(&self.what);
        let is_file = path.extension().is_some() || path.components().count() > 1;
        let Same { run, entries, prompts, state } =
            if is_file { self.file(path)? } else { self.kept(globals)? };
        if self.json {
            let mut told =
                json!({ "run": run, "entries": entries, "state": state, "identical": true });
            if let (Some(told), Some(prompts)) = (told.as_object_mut(), prompts) {
                told.insert("prompts".into(), prompts.into());
            }
            json_line(&told)?;
        } else {
            let mut what = match entries {
                1 => "1 entry".into(),
                entries => format!("{} entries", grouped(entries)),
            };
            if let Some(prompts) = prompts.filter(|it| *it > 0) {
                what = format!("{what} and {}", counted(prompts, "prompt"));
            }
            report::data(&format!(
                "{what} replayed, identical byte for byte; the run is in `{state}`\n"
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn kept(&self, globals: &Globals) -> Result<Same, Error> {
        let which: RunArgument = self
            .what
            .parse()
            .map_err(|_| Error::NoSuchRun { typed: self.what.clone(), none: false })?;
        let session = globals.session()?;
        let row = which.find(&session)?;
        let replayed = session
            .block_on(session::replay(
                session.agents(),
                &**session.store(),
                &row.id,
                self.until.map(Seq),
            ))
            .map_err(|error| Error::Diverged(Box::new(Error::Session(error))))?;
        let recalled = &replayed.recalled;
        Ok(Same {
            run: row.id.to_string(),
            entries: many(recalled.lines.len()),
            prompts: Some(many(replayed.prompts)),
            state: view(&recalled.program, recalled.loaded.run.core()).state.into(),
        })
    }

    /// Checks an export: its own digests first, then every step of it.
    fn file(&self, path: &Path) -> Result<Same, Error> {
        let unread = |source: io::Error| Error::Read { path: self.what.clone(), source };
        let file = File::open(path).map_err(unread)?;
        let mut exported = import::read(BufReader::new(file)).map_err(|error| match error {
            ExportError::Read(source) => unread(source),
            ExportError::NotOurs => Error::NotExport { path: self.what.clone() },
            error => Error::Export(error),
        })?;
        if let Some(until) = self.until {
            let (wanted, has) =
                (usize::try_from(until).unwrap_or(usize::MAX), exported.lines.len());
            if wanted == 0 || wanted > has {
                let (run, asked) = (exported.run, Seq(until));
                return Err(Error::Session(SessionError::NoSuchEntry { run, has, asked }));
            }
            exported.lines.truncate(wanted);
        }
        let program = AGENTS
            .verify(&exported.source)
            .map_err(|why| Error::ForeignChart { path: self.what.clone(), why })?;
        let loaded = fold(&program, &exported.run, &exported.lines)
            .map_err(|error| Error::Session(error.into()))?;
        Ok(Same {
            run: exported.run.to_string(),
            entries: many(exported.lines.len()),
            prompts: None,
            state: view(&program, loaded.run.core()).state.into(),
        })
    }
}

/// A run that was replayed and is the same.
struct Same {
    run: String,
    entries: u64,
    /// Prompts that were rendered again; an export has none.
    prompts: Option<u64>,
    state: String,
}

fn many(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Export {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        let mut text = Vec::new();
        session.block_on(export(&**session.store(), &row.id, &mut text)).map_err(Error::Export)?;
        let Some(out) = self.out else {
            // In a pipe the bytes are unchanged: its digests cover them.
            match std::str::from_utf8(&text) {
                Ok(text) if io::stdout().is_terminal() => report::data(&format::json(text))?,
                _ => report::bytes(&text)?,
            }
            return Ok(ExitCode::SUCCESS);
        };
        let made =
            File::create_new(&out).and_then(|mut file| io::Write::write_all(&mut file, &text));
        made.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: out.clone(), unless: None },
            _ => Error::Write { path: out.display().to_string(), source },
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
