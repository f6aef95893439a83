//! Where things are kept: journals with the user's state, indexes with the cache, and
//! settings in the user's file and the repository's.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{
    config::{self, Config, FILE, ResolvedConfig, milliseconds},
    session::Session,
    store::{SqliteOptions, Store},
};

use crate::{agents::AGENTS, report::Error, tokens::TokenFile};

/// Options of every command.
#[derive(Args, Debug)]
pub(crate) struct Globals {
    /// The journal file, which stores all runs [env: `POINTSMAN_JOURNAL`].
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) journal: Option<PathBuf>,
    /// The PostgreSQL database that stores all runs instead of a file [env: `POINTSMAN_STORE`].
    #[arg(
        long,
        value_name = "URL",
        global = true,
        value_parser = database,
        conflicts_with = "journal",
        help_heading = "Global options"
    )]
    pub(crate) store: Option<String>,
    /// A Redis server that notifies workers of queued runs at once [env: `POINTSMAN_REDIS`].
    #[arg(long, value_name = "URL", global = true, help_heading = "Global options")]
    pub(crate) redis: Option<String>,
    /// How long a lease in PostgreSQL lasts without renewal [env: `POINTSMAN_LEASE`] [default: 30s].
    #[arg(long, value_name = "TIME", global = true, value_parser = time, hide = true)]
    pub(crate) lease: Option<u64>,
    /// Log at this level, or by a filter such as `pointsman_runtime=debug` [env: `POINTSMAN_LOG`].
    #[arg(long, value_name = "LEVEL|FILTER", global = true, help_heading = "Global options")]
    pub(crate) log: Option<String>,
    /// Log to this file instead of standard error [env: `POINTSMAN_LOG_FILE`].
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) log_file: Option<PathBuf>,
}

/// Reads the address of a database.
fn database(text: &str) -> Result<String, &'static str> {
    let known = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    known.then(|| text.to_owned()).ok_or("write postgres://USER@HOST/DATABASE")
}

fn time(text: &str) -> Result<u64, &'static str> {
    let ms = milliseconds(text).filter(|ms| *ms >= 1_000);
    ms.ok_or("write a number and a unit, at least 1s")
}

/// Returns a variable that is set to something.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Returns whether each line of the log is a JSON object, if the environment says so.
pub(crate) fn log_as_json() -> Result<Option<bool>, Error> {
    match variable("POINTSMAN_LOG_FORMAT").as_deref() {
        None => Ok(None),
        Some("text") => Ok(Some(false)),
        Some("json") => Ok(Some(true)),
        Some(format) => Err(Error::LogFormat { format: format.into() }),
    }
}

/// Returns a variable that is set to a path.
fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns a folder of the user's: an XDG variable's, or one under the home.
fn folder(variable: &str, under_home: &str) -> Result<PathBuf, Error> {
    match path(variable) {
        Some(folder) => Ok(folder.join("pointsman")),
        None => Ok(path("HOME").ok_or(Error::NoHome)?.join(under_home).join("pointsman")),
    }
}

/// Returns the folder for caches.
pub(crate) fn cache() -> Result<PathBuf, Error> {
    folder("XDG_CACHE_HOME", ".cache")
}

/// Returns where the user's own settings are looked for.
pub(crate) fn user_file() -> Option<PathBuf> {
    Some(folder("XDG_CONFIG_HOME", ".config").ok()?.join(FILE))
}

/// Keeps a rule in the user's own settings, for every run from now on.
pub(crate) fn remember(rule: &Grant) -> Result<PathBuf, Error> {
    let file = user_file().ok_or(Error::NoHome)?;
    config::remember(&file, rule, None).map_err(Error::Config)?;
    Ok(file)
}

/// Returns the user's own settings.
pub(crate) fn user() -> Result<Config, Error> {
    Ok(ResolvedConfig::read(user_file(), None).map_err(Error::Config)?.config)
}

/// Returns the settings for work in a folder.
pub(crate) fn settled(folder: &Path) -> Result<ResolvedConfig, Error> {
    ResolvedConfig::read(user_file(), Some(folder)).map_err(Error::Config)
}

impl Globals {
    /// Returns the file that runs are kept in.
    pub(crate) fn journal(&self, config: &Config) -> Result<PathBuf, Error> {
        let named = self.journal.clone().or_else(|| path("POINTSMAN_JOURNAL"));
        match named.or_else(|| config.journal.path.clone()) {
            Some(file) => Ok(file),
            None => Ok(folder("XDG_STATE_HOME", ".local/state")?.join("journal.db")),
        }
    }

    /// Returns the file with the server's tokens: each journal has its own.
    pub(crate) fn tokens(&self, config: &Config) -> Result<TokenFile, Error> {
        if let Some(file) = &config.serve.tokens {
            return Ok(TokenFile::at(file.clone()));
        }
        let mut file = self.journal(config)?.into_os_string();
        file.push(".tokens");
        Ok(TokenFile::at(file.into()))
    }

    /// Returns the database that runs are kept in, if they are in none of the files of this machine.
    /// A journal that is named nearer wins over a database that is named farther away.
    pub(crate) fn database(&self, config: &Config) -> Option<String> {
        let file = || self.journal.is_none();
        let named = self.store.clone();
        let named = named.or_else(|| variable("POINTSMAN_STORE").filter(|_| file()));
        let settled = || config.journal.store.clone();
        named.or_else(|| settled().filter(|_| file() && path("POINTSMAN_JOURNAL").is_none()))
    }

    /// Returns whether there is nothing to look at yet: looking makes nothing.
    pub(crate) fn is_new(&self, config: &Config) -> Result<bool, Error> {
        Ok(self.database(config).is_none() && !self.journal(config)?.exists())
    }

    /// Opens the journals of this user.
    pub(crate) fn session(&self) -> Result<Session, Error> {
        self.session_with(&user()?)
    }

    /// Opens the journals that some settings name.
    pub(crate) fn session_with(&self, config: &Config) -> Result<Session, Error> {
        self.session_over(config, config.journal.options())
    }

    /// Opens the journals that some settings name, for a process that drives many runs: no entry is
    /// written on a thread that others need.
    pub(crate) fn shared_session(&self, config: &Config) -> Result<Session, Error> {
        let options = SqliteOptions { inline_commit: false, ..config.journal.options() };
        self.session_over(config, options)
    }

    fn session_over(&self, config: &Config, options: SqliteOptions) -> Result<Session, Error> {
        let (cache, journal) = (cache()?, self.journal(config)?);
        if let Some(url) = self.database(config) {
            let redis = self.redis.clone().or_else(|| variable("POINTSMAN_REDIS"));
            let usual = PostgresOptions::default();
            let named = || variable("POINTSMAN_LEASE").and_then(|text| time(&text).ok());
            let lease = self.lease.or_else(named).map_or(usual.lease, Duration::from_millis);
            // A lease is over before a request that takes longer is answered.
            let options =
                PostgresOptions { redis, lease, deadline: usual.deadline.min(lease), ..usual };
            let open = async {
                let store = PostgresStore::open(&url, options).await?;
                Ok(Arc::new(store) as Arc<dyn Store>)
            };
            return Session::over(AGENTS.clone(), "PostgreSQL", open, &journal, &cache)
                .map_err(Error::Session);
        }
        Session::open_with(AGENTS.clone(), &journal, &cache, &options).map_err(Error::Session)
    }

    /// Returns where the lines are kept that were typed at the prompt.
    pub(crate) fn history() -> Result<PathBuf, Error> {
        Ok(folder("XDG_STATE_HOME", ".local/state")?.join("history"))
    }

    /// Returns what to log, if anything.
    pub(crate) fn log_filter(&self) -> Option<String> {
        self.log.clone().or_else(|| variable("POINTSMAN_LOG"))
    }

    /// Returns the file to log to.
    pub(crate) fn log_path(&self) -> Option<PathBuf> {
        self.log_file.clone().or_else(|| path("POINTSMAN_LOG_FILE"))
    }
}
