//! `pointsman.toml`: what a user and a repository have settled, and which of them may
//! settle what.
//!
//! A repository's file comes from whoever wrote the repository. It may make things
//! stricter or set what is harmless; what could harm its reader counts only from the
//! user's own file, the environment and the command line.

mod budgets;
mod day;
mod engine;
mod explore;
mod form;
mod hooks;
mod keys;
mod order;
mod read;
mod remember;
mod sandbox;
mod under;

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use pointsman_kernel::{
    agents::Agents,
    diagnostic::Span,
    governor::{Grant, Level},
    id::At,
    job::AgentDecl,
};
use thiserror::Error;

pub use budgets::{BudgetConfig, BudgetsConfig};
pub use engine::Env;
pub use explore::ExploreConfig;
pub use form::{FormConfig, Submit};
pub use hooks::{HooksConfig, TalkConfig};
pub use keys::{document, milliseconds};
pub use remember::{remember, remember_commit};
pub use sandbox::{CommandLimitsConfig, SandboxConfig};

use crate::{host::Instructions, store, tool::Toolbox};

/// The file's name.
pub const FILE: &str = "pointsman.toml";

/// Returns whether a shipped tool only looks at the workspace: it may run unasked.
fn only_looks(tool: &str) -> bool {
    Toolbox::default().kind(tool).only_looks()
}

/// Where a file came from, which says what it may settle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The user's own.
    User,
    /// Found with the files that are worked on: whoever wrote them wrote it.
    Repository,
}

/// Something wrong in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// What.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Where.
    pub span: Span,
}

/// Why the configuration cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An answer cannot be remembered in a file.
    #[error("the answer is not written to {}: {why}", path.display())]
    Rule {
        /// The file.
        path: PathBuf,
        /// Why, and what to do about it.
        why: String,
    },
    /// A file has mistakes.
    #[error("{} has mistakes", path.display())]
    Mistakes {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// All of them, in the order of the file.
        problems: Vec<Problem>,
    },
}

/// What is settled. What is left out stays at its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `[model]`.
    pub model: ModelConfig,
    /// `[limits]`.
    pub limits: LimitsConfig,
    /// `[permissions]`.
    pub permissions: PermissionsConfig,
    /// `[sandbox]`.
    pub sandbox: SandboxConfig,
    /// `[mcp]`.
    pub mcp: McpConfig,
    /// `[watch]`.
    pub watch: WatchConfig,
    /// `[journal]`.
    pub journal: JournalConfig,
    /// `[log]`.
    pub log: LogConfig,
    /// `[hooks]`.
    pub hooks: HooksConfig,
    /// `[chat]`.
    pub chat: TalkConfig,
    /// `[code]`.
    pub code: TalkConfig,
    /// `[form]`.
    pub form: FormConfig,
    /// `[explore]`.
    pub explore: ExploreConfig,
    /// `[budget]`.
    pub budgets: BudgetsConfig,
}

/// What is settled for work in a folder, and by which files.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Both files, one over the other.
    pub config: Config,
    /// The user's file, if it is there.
    pub user: Option<PathBuf>,
    /// The repository's file, if it is there.
    pub repository: Option<PathBuf>,
}

impl Settled {
    /// Reads the user's file, and under it the nearest one from a folder upwards.
    pub fn read(user: Option<PathBuf>, folder: Option<&Path>) -> Result<Self, ConfigError> {
        let mut settled = Self::default();
        if let Some(file) = user
            && let Some(config) = Config::read(&file, Origin::User)?
        {
            settled = Self { config, user: Some(file), repository: None };
        }
        // A user's own folder may lie above the folder that is worked in.
        let found = folder.and_then(Config::find).filter(|it| settled.user.as_ref() != Some(it));
        if let Some(file) = found
            && let Some(config) = Config::read(&file, Origin::Repository)?
        {
            settled.config = settled.config.under(config);
            settled.repository = Some(file);
        }
        Ok(settled)
    }
}

/// `[model]`: who is asked, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// `use`: the model, as `PROVIDER:NAME`.
    pub spec: Option<String>,
    /// The server's address.
    pub base_url: Option<String>,
    /// Tokens of a reply.
    pub max_tokens: Option<u32>,
    /// How freely words are drawn.
    pub temperature: Option<f64>,
    /// Whether proposals come as the provider's own tool calls.
    pub native_tools: Option<bool>,
    /// Millionths of a currency unit per million tokens, read and written.
    pub prices: Option<(u64, u64)>,
    /// Milliseconds to reach the server.
    pub connect_ms: Option<u64>,
    /// Milliseconds that the server may be silent.
    pub idle_ms: Option<u64>,
    /// Bytes of an answer.
    pub answer_bytes: Option<u64>,
}

/// `[limits]`: how much a tool may take and say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LimitsConfig {
    /// Bytes of output that a call gives.
    pub output_bytes: Option<u64>,
    /// Bytes of the largest file.
    pub file_bytes: Option<u64>,
    /// Lines that `list` and `search` give.
    pub results: Option<u64>,
    /// Milliseconds for a look at files.
    pub look_ms: Option<u64>,
    /// Milliseconds for a command that asks for no time of its own.
    pub shell_ms: Option<u64>,
    /// Milliseconds that a command may ask for.
    pub shell_max_ms: Option<u64>,
    /// Milliseconds for a page.
    pub http_ms: Option<u64>,
    /// Bytes of a page.
    pub http_bytes: Option<u64>,
    /// Redirects that are followed.
    pub redirects: Option<u64>,
    /// Milliseconds for finding out which sandbox works.
    pub sandbox_ms: Option<u64>,
    /// Files and folders that a search for repositories looks at.
    pub repository_entries: Option<u64>,
    /// Milliseconds for such a search.
    pub repository_ms: Option<u64>,
}

/// `[permissions]`: what may run unasked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PermissionsConfig {
    /// For calls that no rule speaks of.
    pub otherwise: Option<Level>,
    /// The user's rules; the first that fits a call decides.
    pub rules: Vec<Dated>,
    /// A repository's rules, kept apart because they may only be stricter.
    pub repository: Vec<Dated>,
}

/// A rule of a file, and how long it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dated {
    /// The rule.
    pub grant: Grant,
    /// When it ends, in milliseconds since 1970.
    pub until_ms: Option<u64>,
}

impl Dated {
    /// Returns the rule for a run that begins now; nothing if its time is over.
    fn beginning(&self, now_ms: u64) -> Option<Grant> {
        let left = match self.until_ms {
            Some(until) => Some(At(until.checked_sub(now_ms).filter(|left| *left > 0)?)),
            None => None,
        };
        Some(Grant { until: left, ..self.grant.clone() })
    }
}

/// `[mcp]`: servers that offer tools.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct McpConfig {
    /// Servers that may be started, by name.
    pub approve: Vec<String>,
    /// Servers whose word on what their tools do is believed.
    pub believe: Vec<String>,
    /// Milliseconds that a call may take.
    pub call_ms: Option<u64>,
    /// Milliseconds that a server may take to start.
    pub start_ms: Option<u64>,
    /// Milliseconds that a connection to an address may take.
    pub connect_ms: Option<u64>,
    /// Milliseconds that a server may take to stop by itself.
    pub stop_ms: Option<u64>,
    /// Bytes of a result that are kept.
    pub output_bytes: Option<u64>,
    /// Tools that one server may offer.
    pub tools: Option<u64>,
}

/// `[watch]`: when runs pause because the machine is short of something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WatchConfig {
    /// Percent of the processors in use.
    pub cpu: Option<u8>,
    /// Percent of the memory in use.
    pub memory: Option<u8>,
    /// Bytes free on the journal's disk.
    pub disk_free: Option<u64>,
    /// Milliseconds between two looks.
    pub every_ms: Option<u64>,
    /// Milliseconds of the longest pause.
    pub longest_ms: Option<u64>,
}

/// `[journal]`: where runs are kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct JournalConfig {
    /// The file.
    pub path: Option<PathBuf>,
    /// Runs that `runs prune` keeps in any case.
    pub keep: Option<u64>,
    /// Milliseconds that another process is waited for that writes to it.
    pub busy_ms: Option<u64>,
    /// Bytes that it may grow to.
    pub max_bytes: Option<u64>,
}

impl JournalConfig {
    /// Returns how journals are opened. A command drives one run at a time, so its entries are
    /// written on its own thread.
    pub fn options(&self) -> store::Options {
        let usual = store::Options::default();
        let busy = self.busy_ms.map_or(usual.busy, Duration::from_millis);
        store::Options { busy, max_bytes: self.max_bytes, inline_commit: true, ..usual }
    }
}

/// `[log]`: what the program says of itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LogConfig {
    /// A level, or a filter such as `pointsman_runtime=debug`.
    pub filter: Option<String>,
    /// The file; standard error without one.
    pub file: Option<PathBuf>,
}

impl Config {
    /// Reads the text of a file; every mistake is told, in order.
    pub fn parse(text: &str, origin: Origin) -> Result<Self, Vec<Problem>> {
        read::config(text, origin)
    }

    /// Reads a file; one that is not there settles nothing.
    pub fn read(path: &Path, origin: Origin) -> Result<Option<Self>, ConfigError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ConfigError::Read { path: path.into(), source }),
        };
        match Self::parse(&text, origin) {
            Ok(config) => Ok(Some(config)),
            Err(problems) => Err(ConfigError::Mistakes { path: path.into(), text, problems }),
        }
    }

    /// Returns the nearest file from a folder upwards.
    pub fn find(folder: &Path) -> Option<PathBuf> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file())
    }

    /// Returns for which agents the workspace's instructions are read.
    pub fn instructions(&self, agents: &Agents) -> Instructions {
        let off = agents
            .conversational()
            .filter(|agent| self.talk(agent).instructions == Some(false))
            .map(|agent| agent.name.into());
        Instructions { off: off.collect() }
    }

    /// Returns what is set for conversations with an agent.
    pub const fn talk(&self, agent: &AgentDecl) -> &TalkConfig {
        if agent.plans() { &self.code } else { &self.chat }
    }
}

/// Returns a rule over every call of a tool.
pub fn rule(tool: &str, level: Level) -> Grant {
    Grant { tool: tool.into(), arguments: Vec::new(), level, until: None }
}
