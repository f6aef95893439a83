//! The common part of commands that drive a run: set up the host, show progress, and ask a person.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use clap::Args;
use pointsman_kernel::{chart::Disposition, job::AgentDecl};
use pointsman_runtime::{
    config::{Config, McpConfig},
    engine::{ApprovedServers, EngineConfig},
    exit::Exit,
    local_executor::LocalExecutor,
    mcp::{self, McpError},
    model,
    observe::{ChildObservers, Log, Observer},
    session::{Approver, Session, Unattended},
    store::RunId,
};
use pointsman_webdriver::form::Forms;

use crate::{
    agents::{self, AGENTS},
    contexts::RunPlace,
    format,
    json_lines::JsonLines,
    live::Live,
    notify::{Blame, PlainNotices, note},
    paths::{self, variable},
    report::Error,
    telemetry,
    terminal_approver::{self, Absent, TerminalApprover},
};

/// How long a run may take to detach when the system asks the program to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// Folder, model and output of a run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Drive {
    /// The folder to work in [default: this one; on resume, the run's own].
    #[arg(long, value_name = "PATH")]
    pub(crate) dir: Option<PathBuf>,
    /// The model [env: `POINTSMAN_MODEL`] [default: quote; on resume, the run's own].
    #[arg(long, value_name = "PROVIDER:NAME")]
    model: Option<String>,
    /// The model server's address [env: `POINTSMAN_BASE_URL`].
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Append the model's raw responses to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Use the responses that `--record` wrote to this file; no network.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Approve and start this server of the folder's `.mcp.json`.
    #[arg(long, value_name = "NAME")]
    mcp: Vec<String>,
    /// Print events as JSON Lines; the last line is the result.
    #[arg(long)]
    pub(crate) json: bool,
    /// Commit the agent's changes to git after each step; `commit` in `[hooks]` makes it the default.
    #[arg(long)]
    pub(crate) commit: bool,
    /// Whether the model and its address come from the resumed run.
    #[arg(skip)]
    recorded: bool,
}

/// The observers of a run, and the person who is asked.
pub(crate) struct Audience {
    /// The observers.
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    /// The person who is asked.
    pub(crate) approver: Box<dyn Approver>,
    /// The live view, if there is one.
    pub(crate) live: Option<Arc<Live>>,
    /// Who remembers what went wrong last.
    pub(crate) blame: Arc<Blame>,
}

/// Whether what a run asks can wait for another time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Waits {
    /// It is in the journal, and so is all that the answer needs.
    Yes,
    /// It is about something that ends with this program, as a form's browser does.
    No,
}

impl Waits {
    /// Returns whether an agent's questions can.
    pub(crate) const fn of(agent: &AgentDecl) -> Self {
        if agent.questions_last { Self::Yes } else { Self::No }
    }
}

impl Drive {
    /// Returns the folder and model of runs.
    pub(crate) fn at(place: &RunPlace) -> Self {
        Self {
            dir: Some(place.dir.clone()),
            model: place.model.clone(),
            base_url: place.base_url.clone(),
            recorded: place.recorded,
            ..Self::default()
        }
    }

    /// Returns the folder to work in.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or_else(|| Path::new("."))
    }

    /// Resumes a run with its recorded folder and model, unless the command line names others.
    pub(crate) fn resuming(mut self, session: &Session, run: &RunId) -> Result<Self, Error> {
        let Some(place) = session.place(run).map_err(Error::Session)? else { return Ok(self) };
        if self.dir.is_none()
            && let Some(dir) = place.dir
        {
            if !dir.is_dir() {
                return Err(Error::NoFolder { run: run.to_string(), dir });
            }
            self.dir = Some(dir);
        }
        if self.model.is_none() {
            self.model = Some(place.model.into());
            self.base_url = self.base_url.or_else(|| place.base_url.map(Into::into));
            self.recorded = true;
        }
        let model = format::line(self.model.as_deref().unwrap_or("quote"), 100);
        note(&format!("folder {}, model {model}", self.dir().display()));
        Ok(self)
    }

    /// Refuses the options of a run that this command drives: a worker has others.
    pub(crate) fn not_for_workers(&self) -> Result<(), Error> {
        let given = [
            ("--dir", self.dir.is_some()),
            ("--model", self.model.is_some()),
            ("--base-url", self.base_url.is_some()),
            ("--record", self.record.is_some()),
            ("--replay", self.replay.is_some()),
            ("--mcp", !self.mcp.is_empty()),
            ("--commit", self.commit),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::NotForWorkers { option }),
            None => Ok(()),
        }
    }

    /// Returns the settings of the folder, with those of the environment and the command line.
    pub(crate) fn config(&self) -> Result<Config, Error> {
        Ok(self.over(paths::settled(self.dir())?.config))
    }

    /// Applies the environment and the command line to the settings.
    pub(crate) fn over(&self, settled: Config) -> Config {
        let mut config = settled.with_env(&variable);
        let model = &mut config.model;
        if self.recorded {
            model.base_url = None;
        }
        model.spec = self.model.clone().or_else(|| model.spec.take());
        model.base_url = self.base_url.clone().or_else(|| model.base_url.take());
        if self.commit {
            config.hooks.commit = Some(true);
        }
        config
    }

    /// Returns the MCP servers of the folder, and which of them are approved.
    pub(crate) fn servers(&self, config: &McpConfig) -> Result<Option<ApprovedServers>, Error> {
        let Some(file) = mcp::McpServerList::find(self.dir()) else {
            return match self.mcp.first() {
                Some(name) => Err(Error::NoServers { name: name.clone(), dir: self.dir().into() }),
                None => Ok(None),
            };
        };
        match mcp::McpServerList::read(&file) {
            Ok(servers) => {
                ApprovedServers::of(servers, config, &self.mcp).map(Some).map_err(Error::Mcp)
            }
            // A user of the folder need not correct a list that they do not use.
            Err(error) if self.mcp.is_empty() => {
                note(&format!("MCP servers are not used: {error}"));
                Ok(None)
            }
            Err(error) => Err(Error::Mcp(error)),
        }
    }

    /// Returns what an engine is set up with.
    pub(crate) fn engine(&self, cache: &Path, config: &Config) -> Result<EngineConfig, Error> {
        let mcp = self.servers(&config.mcp)?;
        let engine = config.engine(&AGENTS, self.dir(), cache, &variable).map_err(Error::Model)?;
        let (record, replay) = (self.record.clone(), self.replay.clone());
        let model = model::ModelSettings { record, replay, ..engine.model };
        let child_observers = ChildObservers(telemetry::observer().into_iter().collect());
        let tools = agents::equipped(engine.tools);
        Ok(EngineConfig { model, mcp, tools, child_observers, ..engine })
    }

    /// Returns what an engine is set up with that drives runs, and what fills forms for it.
    pub(crate) fn set_up(
        &self,
        session: &Session,
        config: &Config,
    ) -> Result<(EngineConfig, Forms), Error> {
        let mut engine = self.engine(session.cache(), config)?;
        let forms = agents::register(&mut engine, session.journal(), session.store(), config);
        Ok((engine, forms))
    }

    /// Sets the host up, and returns what fills forms for it.
    pub(crate) fn executor(
        &self,
        session: &Session,
        config: &Config,
    ) -> Result<(LocalExecutor, Forms), Error> {
        let (engine, forms) = self.set_up(session, config)?;
        let executor = session.executor(engine).map_err(Error::Session)?;
        for (name, why) in executor.refused() {
            let hint = why.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            let server = match why {
                // It says itself which file and which entry is meant.
                McpError::Entry { .. } => "an MCP server was skipped".into(),
                _ => format!("MCP server {}", format::line(name, 60)),
            };
            note(&format!("{server}: {why}{hint}"));
        }
        Ok((executor, forms))
    }

    /// Returns the observers and the approver.
    pub(crate) fn audience(
        &self,
        session: &Session,
        unattended: bool,
        waits: Waits,
    ) -> Result<Audience, Error> {
        let on_terminal =
            terminal_approver::is_there() && variable("TERM").is_none_or(|term| term != "dumb");
        let live = (on_terminal && !self.json).then(|| Arc::new(Live::new()));
        let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log)];
        match &live {
            Some(live) => observers.push(Arc::clone(live) as Arc<dyn Observer>),
            None if self.json => observers.push(Arc::new(JsonLines)),
            None => observers.push(Arc::new(PlainNotices::default())),
        }
        let blame = Arc::new(Blame::default());
        observers.push(Arc::clone(&blame) as Arc<dyn Observer>);
        observers.extend(others());
        let shows = live.is_some();
        let gone = move || {
            // The live line disappears too, without waiting for a thread that holds it.
            if shows {
                drop(write!(io::stderr(), "\r\x1b[J"));
            }
            std::process::exit(Exit::of(Disposition::Cancelled, None, false).code().into());
        };
        session.when_pressed(PATIENCE, gone).map_err(Error::Session)?;
        let approver: Box<dyn Approver> = if terminal_approver::is_there() && !unattended {
            let ending = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&ending);
            let ends = move || ends.store(true, Ordering::Relaxed);
            session.when_ending(ends).map_err(Error::Session)?;
            Box::new(TerminalApprover {
                live: live.clone(),
                folder: self.dir().into(),
                ending,
                waits,
            })
        } else if waits == Waits::Yes {
            Box::new(Unattended)
        } else {
            Box::new(Absent)
        };
        Ok(Audience { observers, approver, live, blame })
    }
}

/// Returns the observers of every run, besides those that show it.
pub(crate) fn others() -> Vec<Arc<dyn Observer>> {
    let others = telemetry::observer().into_iter();
    #[cfg(debug_assertions)]
    let others = {
        let die = crate::crash_point::CrashPoint::from_env();
        others.chain(die.map(|die| Arc::new(die) as Arc<dyn Observer>))
    };
    others.collect()
}
