//! `pointsman.toml`: the settings of a user and of a repository, and which of them may set what.
//!
//! A repository's file comes from the repository's authors. It may set harmless keys and make
//! others stricter. Keys that could harm the reader count only in the user's own file, the
//! environment and the command line.

mod budgets;
mod day;
mod engine;
mod keys;
mod permissions;
mod remember;
mod table;
mod tables;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_kernel::{agents::Agents, diagnostic::Span, job::AgentDecl};
use thiserror::Error;

pub use budgets::{BudgetConfig, BudgetsConfig};
pub use engine::Env;
pub use keys::{document, milliseconds};
pub use permissions::{Dated, PermissionsConfig, rule};
pub use remember::{remember, remember_commit};
pub use tables::{
    CommandLimitsConfig, ExploreConfig, FormConfig, HooksConfig, JournalConfig, LimitsConfig,
    LogConfig, McpConfig, ModelConfig, SandboxConfig, ServeConfig, Submit, TalkConfig, WatchConfig,
};

use crate::local_executor::Instructions;
use table::{Table, table};

/// The file's name.
pub const FILE: &str = "pointsman.toml";

/// The origin of a file, which decides what it may set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConfigOrigin {
    /// The user's own.
    User,
    /// Found next to the files that a run works on, and written by the same authors.
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
    #[error("the answer was not saved in {}: {why}", path.display())]
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

table! {
    /// The settings. A missing key has its default.
    Config;
    ["model"] model: ModelConfig;
    ["limits"] limits: LimitsConfig;
    ["permissions"] permissions: PermissionsConfig;
    ["sandbox"] sandbox: SandboxConfig;
    ["mcp"] mcp: McpConfig;
    ["watch"] watch: WatchConfig;
    ["journal"] journal: JournalConfig;
    ["log"] log: LogConfig;
    ["hooks"] hooks: HooksConfig;
    ["chat"] chat: TalkConfig;
    ["code"] code: TalkConfig;
    ["form"] form: FormConfig;
    ["explore"] explore: ExploreConfig;
    ["serve"] serve: ServeConfig;
    ["budget"] budgets: BudgetsConfig;
}

/// The settings for work in a folder, and the files that they come from.
#[derive(Clone, Debug, Default)]
pub struct ResolvedConfig {
    /// Both files, one over the other.
    pub config: Config,
    /// The user's file, if it is there.
    pub user: Option<PathBuf>,
    /// The repository's file, if it is there.
    pub repository: Option<PathBuf>,
}

impl ResolvedConfig {
    /// Reads the user's file, and under it the nearest one from a folder upwards.
    pub fn read(user: Option<PathBuf>, folder: Option<&Path>) -> Result<Self, ConfigError> {
        let mut settled = Self::default();
        if let Some(file) = user
            && let Some(config) = Config::read(&file, ConfigOrigin::User)?
        {
            settled = Self { config, user: Some(file), repository: None };
        }
        // A user's own folder may lie above the folder that is worked in.
        let found = folder.and_then(Config::find).filter(|it| settled.user.as_ref() != Some(it));
        if let Some(file) = found
            && let Some(config) = Config::read(&file, ConfigOrigin::Repository)?
        {
            settled.config = settled.config.under(config);
            settled.repository = Some(file);
        }
        Ok(settled)
    }
}

impl Config {
    /// Reads the text of a file; reports every mistake, in order.
    pub fn parse(text: &str, origin: ConfigOrigin) -> Result<Self, Vec<Problem>> {
        keys::read(text, origin)
    }

    /// Reads a file; one that is not there settles nothing.
    pub fn read(path: &Path, origin: ConfigOrigin) -> Result<Option<Self>, ConfigError> {
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

    /// Puts a repository's settings under a user's. A repository may set harmless keys. Protective
    /// keys may only become stricter, compared with the user's value or else the default.
    #[must_use]
    pub fn under(self, repository: Self) -> Self {
        Table::under(self, repository)
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

    /// Returns the settings for conversations with an agent.
    pub const fn talk(&self, agent: &AgentDecl) -> &TalkConfig {
        if agent.plans() { &self.code } else { &self.chat }
    }
}
