//! What every command does that drives a run: set the host up, show what happens, and ask
//! who is there.

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
    config::{Config, LimitsConfig, ModelConfig},
    exit::Exit,
    host::{self, Approved, Host},
    mcp::{self, McpError, McpLimits},
    model::{self, Prices, Proposals, Spec},
    observe::{Log, Observer},
    session::{self, Attend, Nobody, Session},
    store::RunId,
    tool::{self, Author},
    watch,
};
use pointsman_webdriver::form::Forms;

use crate::{
    agents::{self, AGENTS},
    lines::Lines,
    live::Live,
    person::{self, Absent, Person},
    place::{self, Settled, variable},
    report::Error,
    tell::{Blame, Plain, note},
    words,
};

/// How long a run has to let go of itself when the system asks the program to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// Where a run works, and with what.
#[derive(Args, Clone, Debug)]
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
    /// Append the model's raw answers to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take the model's answers from a file that `--record` wrote; no network.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Approve and start this server of the folder's `.mcp.json`.
    #[arg(long, value_name = "NAME")]
    mcp: Vec<String>,
    /// Print JSON: an object per line for each event, the last one for the end.
    #[arg(long)]
    pub(crate) json: bool,
    /// Commit the agent's changes to git after each step; `[hooks] commit` does it always.
    #[arg(long)]
    pub(crate) commit: bool,
    /// Whether the model is that of a run that goes on: then so is its address.
    #[arg(skip)]
    recorded: bool,
}

/// Those who see what happens, and whoever is asked.
pub(crate) struct Audience {
    /// Who is told.
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    /// Who is asked.
    pub(crate) attendant: Box<dyn Attend>,
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
    /// Returns the folder to work in.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or_else(|| Path::new("."))
    }

    /// Goes on with a run: what nobody typed is as it was when the run began.
    pub(crate) fn going_on(mut self, session: &Session, run: &RunId) -> Result<Self, Error> {
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
        let model = words::line(self.model.as_deref().unwrap_or("quote"), 100);
        note(&format!("works in {} with {model}", self.dir().display()));
        Ok(self)
    }

    /// Returns whether anything names a model that writes: quoting is not writing.
    pub(crate) fn names_model(&self, config: &ModelConfig) -> bool {
        let named = self.model.clone().or_else(|| variable("POINTSMAN_MODEL"));
        named.or_else(|| config.spec.clone()).is_some_and(|spec| spec != "quote")
    }

    /// Returns which model is asked, and how.
    pub(crate) fn model(&self, config: &ModelConfig) -> Result<model::Settings, Error> {
        let named = self.model.clone().or_else(|| variable("POINTSMAN_MODEL"));
        let spec = match named.or_else(|| config.spec.clone()) {
            Some(text) => text.parse::<Spec>().map_err(Error::Model)?,
            None => Spec::quote(),
        };
        let settled = || variable("POINTSMAN_BASE_URL").or_else(|| config.base_url.clone());
        let base = self.base_url.clone().or_else(|| settled().filter(|_| !self.recorded));
        let env = |name: &str| variable(name);
        let mut settings =
            model::Settings::from_env(spec, base.as_deref(), &env).map_err(Error::Model)?;
        settings.max_tokens = config.max_tokens.unwrap_or(settings.max_tokens);
        settings.temperature = config.temperature.or(settings.temperature);
        settings.prices = config.prices.map(|(input, output)| Prices { input, output });
        if config.native_tools == Some(true) {
            settings.proposals = Proposals::Tools;
        }
        settings.connect_timeout = config.connect_ms.map_or(settings.connect_timeout, ms);
        settings.idle_timeout = config.idle_ms.map_or(settings.idle_timeout, ms);
        settings.max_bytes = config.answer_bytes.map_or(settings.max_bytes, count);
        settings.record.clone_from(&self.record);
        settings.replay.clone_from(&self.replay);
        Ok(settings)
    }

    /// Returns the MCP servers of the folder, and which of them are approved.
    pub(crate) fn servers(&self, config: &Config) -> Result<Option<Approved>, Error> {
        let Some(file) = mcp::Config::find(self.dir()) else {
            return match self.mcp.first() {
                Some(name) => Err(Error::NoServers { name: name.clone(), dir: self.dir().into() }),
                None => Ok(None),
            };
        };
        let servers = match mcp::Config::read(&file) {
            Ok(servers) => servers.believing(&config.mcp.believe),
            // Whoever works in a folder need not mend a list of which they want nothing.
            Err(error) if self.mcp.is_empty() => {
                note(&format!("no MCP server is used: {error}"));
                return Ok(None);
            }
            Err(error) => return Err(Error::Mcp(error)),
        };
        if let Some(error) = self.mcp.iter().find_map(|name| servers.unlisted(name)) {
            return Err(Error::Mcp(error));
        }
        // On the command line a name is enough: whoever types it sees what it is for.
        let mut names = servers.approved(&config.mcp.approve);
        names.extend(self.mcp.iter().cloned());
        if let Some((_, error)) =
            servers.wrong().find(|(name, _)| names.iter().any(|it| it == name))
        {
            return Err(Error::Mcp(error));
        }
        let (usual, wanted) = (McpLimits::default(), &config.mcp);
        let limits = McpLimits {
            call: wanted.call_ms.map_or(usual.call, ms),
            start: wanted.start_ms.map_or(usual.start, ms),
            connect: wanted.connect_ms.map_or(usual.connect, ms),
            stop: wanted.stop_ms.map_or(usual.stop, ms),
            output: wanted.output_bytes.map_or(usual.output, count),
            tools: wanted.tools.map_or(usual.tools, count),
            ..usual
        };
        Ok(Some(Approved { config: servers, names, limits }))
    }

    /// Returns what the tools over the folder keep to.
    pub(crate) fn tools(
        &self,
        (index, toolchains): (PathBuf, PathBuf),
        config: &Config,
    ) -> tool::Settings {
        let mut settings = tool::Settings::over(self.dir(), index);
        limit(&mut settings.limits, &config.limits);
        let (policy, wanted) = (&mut settings.sandbox, &config.sandbox);
        policy.network = wanted.network.unwrap_or(policy.network);
        policy.read_only.extend(wanted.read_only.iter().cloned());
        policy.writable.extend(wanted.writable.iter().cloned());
        policy.env.extend(wanted.env.iter().cloned());
        policy.bubblewrap = wanted.bubblewrap.clone();
        policy.landlock = wanted.landlock.unwrap_or(policy.landlock);
        policy.helper = Some(tool::sandbox::OWN_PROGRAM.into());
        policy.limits = wanted.limits.limits();
        policy.toolchains = wanted.toolchains.unwrap_or(true).then_some(toolchains);
        settings.toolbox = agents::toolbox();
        settings.author = Author::of_person(self.dir());
        settings.http_private = wanted.private_addresses.unwrap_or(settings.http_private);
        settings
    }

    /// Returns where commands keep the caches of toolchains.
    pub(crate) fn toolchains(&self) -> Result<PathBuf, Error> {
        Ok(session::toolchains(&place::cache()?, self.dir()))
    }

    /// Returns what happens after tools.
    pub(crate) fn hooks(&self, config: &Config) -> host::Hooks {
        let hooks = config.hooks.hooks();
        host::Hooks { commit: hooks.commit || self.commit, ..hooks }
    }

    /// Returns what a host is set up with.
    pub(crate) fn settings(
        &self,
        caches: (PathBuf, PathBuf),
        settled: &Settled,
    ) -> Result<host::Settings, Error> {
        let config = &settled.config;
        Ok(host::Settings {
            mcp: self.servers(config)?,
            watch: Some(watched(config)),
            hooks: self.hooks(config),
            instructions: config.instructions(&AGENTS),
            ..host::Settings::new(self.model(&config.model)?, self.tools(caches, config))
        })
    }

    /// Returns what a host is set up with that drives runs, and what fills forms for it.
    pub(crate) fn furnished(
        &self,
        session: &Session,
        settled: &Settled,
    ) -> Result<(host::Settings, Forms), Error> {
        let caches = (session.index(self.dir()), session.toolchains(self.dir()));
        let mut settings = self.settings(caches, settled)?;
        let forms = agents::register(&mut settings, session, &settled.config);
        Ok((settings, forms))
    }

    /// Sets the host up, and returns what fills forms for it.
    pub(crate) fn host(
        &self,
        session: &Session,
        settled: &Settled,
    ) -> Result<(Host, Forms), Error> {
        let (settings, forms) = self.furnished(session, settled)?;
        let host = session.host(settings).map_err(Error::Session)?;
        for (name, why) in host.refused() {
            let hint = why.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            let server = match why {
                // It says itself which file and which entry is meant.
                McpError::Entry { .. } => "an MCP server is left out".into(),
                _ => format!("MCP server {}", words::line(name, 60)),
            };
            note(&format!("{server}: {why}{hint}"));
        }
        Ok((host, forms))
    }

    /// Returns who sees what happens and who is asked.
    pub(crate) fn audience(
        &self,
        session: &Session,
        unattended: bool,
        waits: Waits,
    ) -> Result<Audience, Error> {
        let on_terminal = person::is_there() && variable("TERM").is_none_or(|term| term != "dumb");
        let live = (on_terminal && !self.json).then(|| Arc::new(Live::new()));
        let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log)];
        match &live {
            Some(live) => observers.push(Arc::clone(live) as Arc<dyn Observer>),
            None if self.json => observers.push(Arc::new(Lines)),
            None => observers.push(Arc::new(Plain::default())),
        }
        let blame = Arc::new(Blame::default());
        observers.push(Arc::clone(&blame) as Arc<dyn Observer>);
        observers.extend(others());
        let shows = live.is_some();
        let gone = move || {
            // The live line goes too. Nobody is waited for who holds it.
            if shows {
                drop(write!(io::stderr(), "\r\x1b[J"));
            }
            std::process::exit(Exit::of(Disposition::Cancelled, None, false).code().into());
        };
        session.when_pressed(PATIENCE, gone).map_err(Error::Session)?;
        let attendant: Box<dyn Attend> = if person::is_there() && !unattended {
            let ending = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&ending);
            let ends = move || ends.store(true, Ordering::Relaxed);
            session.when_ending(ends).map_err(Error::Session)?;
            Box::new(Person { live: live.clone(), folder: self.dir().into(), ending, waits })
        } else if waits == Waits::Yes {
            Box::new(Nobody)
        } else {
            Box::new(Absent)
        };
        Ok(Audience { observers, attendant, live, blame })
    }
}

/// Returns those who watch every run beside those who show it.
pub(crate) fn others() -> Vec<Arc<dyn Observer>> {
    #[cfg(debug_assertions)]
    if let Some(die) = crate::die::Die::from_env() {
        return vec![Arc::new(die)];
    }
    Vec::new()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn limit(limits: &mut tool::Limits, wanted: &LimitsConfig) {
    limits.output_bytes = wanted.output_bytes.map_or(limits.output_bytes, count);
    limits.file_bytes = wanted.file_bytes.unwrap_or(limits.file_bytes);
    limits.results = wanted.results.map_or(limits.results, count);
    limits.look_ms = wanted.look_ms.unwrap_or(limits.look_ms);
    limits.shell_ms = wanted.shell_ms.unwrap_or(limits.shell_ms);
    limits.shell_max_ms = wanted.shell_max_ms.unwrap_or(limits.shell_max_ms);
    limits.http_ms = wanted.http_ms.unwrap_or(limits.http_ms);
    limits.http_bytes = wanted.http_bytes.map_or(limits.http_bytes, count);
    limits.redirects = wanted.redirects.map_or(limits.redirects, count);
    limits.sandbox_ms = wanted.sandbox_ms.unwrap_or(limits.sandbox_ms);
    limits.repository_entries = wanted.repository_entries.map_or(limits.repository_entries, count);
    limits.repository_ms = wanted.repository_ms.unwrap_or(limits.repository_ms);
}

/// Returns when runs pause.
fn watched(config: &Config) -> watch::Limits {
    let (usual, wanted) = (watch::Limits::default(), &config.watch);
    watch::Limits {
        processor: wanted.cpu.or(usual.processor),
        memory: wanted.memory.or(usual.memory),
        disk_free: wanted.disk_free.or(usual.disk_free),
        every: wanted.every_ms.map_or(usual.every, ms),
        longest: wanted.longest_ms.map_or(usual.longest, ms),
    }
}
