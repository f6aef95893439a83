//! Connections to a server, and the meaning of a missing answer.

use std::{error::Error, fmt, path::PathBuf, str::FromStr as _, sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{RunId, StoreError};
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::timeout;
use tokio_postgres::{
    Client, Config, Error as SqlError, Row,
    config::{Host, TargetSessionAttrs},
    error::SqlState,
    types::{ToSql, Type},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The parameters of a statement. Their types are given here, so that a statement needs no name: a
/// pooler may give the next one another connection.
pub(super) type Params<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// How often a read is tried whose connection was lost: one that was idle may be dead by now.
const READS: u32 = 3;
/// How often a statement is run that the server undoes because of a deadlock.
const RUNS: u32 = 5;

/// A server that is asked.
#[derive(Clone)]
pub(super) struct Database {
    pool: Pool,
    name: Arc<str>,
    deadline: Duration,
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was done.
    Refused(Box<dyn Error + Send + Sync>),
    /// It may have been done or not.
    Unknown(String),
}

impl Failure {
    /// Returns the same once more: one statement can be about many runs.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Refused(source) => Self::Refused(source.to_string().into()),
            Self::Unknown(why) => Self::Unknown(why.clone()),
        }
    }

    /// Returns it as an error of a write.
    pub(super) fn write(self, run: Option<&RunId>, seq: Option<Seq>) -> StoreError {
        let run = run.cloned();
        match self {
            Self::Refused(source) => StoreError::Other { run, seq, source },
            Self::Unknown(why) => StoreError::Unknown { run, seq, why },
        }
    }

    /// Returns it as an error of a read.
    pub(super) fn read(self, run: Option<&RunId>) -> StoreError {
        let source = match self {
            Self::Refused(source) => source,
            Self::Unknown(why) => why.into(),
        };
        StoreError::Other { run: run.cloned(), seq: None, source }
    }
}

impl Database {
    /// Sets up connections; none is made before the first statement.
    pub(super) fn new(url: &str, most: usize, deadline: Duration) -> Result<Self, StoreError> {
        let unusable = |source: Box<dyn Error + Send + Sync>| StoreError::Open {
            path: PathBuf::from("the given database"),
            source,
        };
        let mut config = Config::from_str(url).map_err(|error| unusable(error.into()))?;
        // Of several hosts, the primary.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("pointsman");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(deadline);
        }
        let name = name(&config).into();
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| unusable(error.into()))?
            .with_no_client_auth();
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config, MakeRustlsConnect::new(tls), manager);
        let pool = Pool::builder(manager).max_size(most.max(1)).build();
        let pool = pool.map_err(|error| unusable(error.into()))?;
        Ok(Self { pool, name, deadline })
    }

    /// Returns an error of opening it.
    pub(super) fn unusable(&self, source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError::Open { path: self.path(), source: source.into() }
    }

    /// Returns its name, without a password.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(&*self.name)
    }

    /// Returns a connection of the pool.
    pub(super) async fn connection(&self) -> Result<Object, Failure> {
        match timeout(self.deadline, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(Failure::Refused(told(&error).into())),
            Err(_) => Err(Failure::Refused("no connection was free in time".into())),
        }
    }

    /// Runs one statement, and again only if the server has undone it because of a deadlock.
    pub(super) async fn write(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        let connection = self.connection().await?;
        let failure = match timeout(self.deadline, settled(&connection, sql, params)).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => match error.as_db_error() {
                // A server that goes down may have committed before.
                Some(said) if !is_last_word(said.severity()) => {
                    return Err(Failure::Refused(told(&error).into()));
                }
                _ => Failure::Unknown(told(&error)),
            },
            Err(_) => {
                let seconds = self.deadline.as_secs_f32();
                Failure::Unknown(format!("no answer within {seconds} s"))
            }
        };
        // A connection with an open request must not return to the pool: it is closed.
        drop(Object::take(connection));
        Err(failure)
    }

    /// Runs one statement that changes nothing, again if its connection is lost.
    pub(super) async fn read(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        for _ in 1..READS {
            match self.write(sql, params).await {
                Err(Failure::Unknown(_)) => {}
                answered => return answered,
            }
        }
        self.write(sql, params).await
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({})", self.name)
    }
}

/// Runs a statement until it is no longer undone because of a deadlock. A claim and a release can
/// meet in one: each locks runs in an order of its own, and a claim locks a run before it sees that
/// another worker was faster.
async fn settled(client: &Client, sql: &str, params: Params<'_>) -> Result<Vec<Row>, SqlError> {
    for _ in 1..RUNS {
        match client.query_typed(sql, params).await {
            Err(error) if error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED) => {}
            answered => return answered,
        }
    }
    client.query_typed(sql, params).await
}

/// Returns whether a connection ends with an error of this severity.
fn is_last_word(severity: &str) -> bool {
    matches!(severity, "FATAL" | "PANIC")
}

/// Returns an error with its causes: the first one alone says little.
pub(super) fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        let why_text = why.to_string();
        if !text.contains(&why_text) {
            text = format!("{text}: {why_text}");
        }
        cause = why.source();
    }
    text
}

fn name(config: &Config) -> String {
    let host = |(at, host): (usize, &Host)| {
        let host = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        let ports = config.get_ports();
        let port = ports.get(at).or_else(|| ports.first()).copied().unwrap_or(5432);
        format!("{host}:{port}")
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    format!("postgres://{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}
