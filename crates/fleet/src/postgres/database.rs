//! Connections to a server, and the meaning of a missing answer.

use std::{
    error::Error,
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod};
use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    clock::{Stopwatch, entropy},
    store::{RunId, StoreError},
};
use tokio::time::{sleep, timeout};
use tokio_postgres::{
    Client, Config, Error as SqlError, Row,
    config::{Host, TargetSessionAttrs},
    error::SqlState,
    types::{ToSql, Type},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls;

/// The parameters of a statement. Their types are given here, so that a statement needs no name: a
/// pooler may give the next one another connection.
pub(super) type Params<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// How often a statement that may be repeated is tried at least whose connection was lost: one that
/// was idle may be dead by now.
const REPEATS: u32 = 3;
/// How often a statement is run that the server undoes because of a deadlock.
const RUNS: u32 = 5;
/// The first pause between two tries to connect, and the longest: it doubles each time.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(800);
/// How long one try to connect to one host takes at most, unless the URL says otherwise: the next host
/// of a list must have its turn before a request ends.
const CONNECTS: Duration = Duration::from_secs(5);
/// When a connection counts as dead, unless the URL says otherwise: without an answer to a probe that
/// is sent after `IDLE` and then every `PROBES`, or with data that was not acknowledged for `SILENT`.
const IDLE: Duration = Duration::from_secs(10);
const PROBES: Duration = Duration::from_secs(5);
const PROBED: u32 = 3;
const SILENT: Duration = Duration::from_secs(15);
/// What the driver takes for the first of them when a URL says nothing.
const USUAL_IDLE: Duration = Duration::from_hours(2);

/// A server that is asked.
#[derive(Clone)]
pub(super) struct Database {
    pool: Pool,
    name: Arc<str>,
    /// The time limit of a statement, and of the wait for a connection.
    deadline: Duration,
    /// For how long connecting is tried again: a server that restarts is back soon.
    patience: Duration,
    /// Whether there was ever a connection. Before the first one, nothing is tried again: a wrong
    /// address is reported at once.
    connected: Arc<AtomicBool>,
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was done: there was no connection.
    Unreached(String),
    /// Nothing was done.
    Refused(Box<dyn Error + Send + Sync>),
    /// It may have been done or not.
    Unknown(String),
}

impl Failure {
    /// Returns the same once more: one statement can be about many runs.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Unreached(why) => Self::Unreached(why.clone()),
            Self::Refused(source) => Self::Refused(source.to_string().into()),
            Self::Unknown(why) => Self::Unknown(why.clone()),
        }
    }

    /// Returns it as an error of a write.
    pub(super) fn write(self, run: Option<&RunId>, seq: Option<Seq>) -> StoreError {
        let run = run.cloned();
        match self {
            Self::Unreached(why) => StoreError::Unreached { run, seq, why },
            Self::Refused(source) => StoreError::Other { run, seq, source },
            Self::Unknown(why) => StoreError::Unknown { run, seq, why },
        }
    }

    /// Returns it as an error of a read.
    pub(super) fn read(self, run: Option<&RunId>) -> StoreError {
        let (run, seq) = (run.cloned(), None);
        match self {
            Self::Refused(source) => StoreError::Other { run, seq, source },
            Self::Unreached(why) | Self::Unknown(why) => StoreError::Unreached { run, seq, why },
        }
    }
}

impl Database {
    /// Sets up connections; none is made before the first statement.
    pub(super) fn new(url: &str, most: usize, deadline: Duration) -> Result<Self, StoreError> {
        let unusable = |source: Box<dyn Error + Send + Sync>| StoreError::Open {
            path: PathBuf::from("the given database"),
            source,
        };
        let (mut config, tls) = tls::read(url).map_err(unusable)?;
        // Of several hosts, the primary.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("pointsman");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(deadline.min(CONNECTS));
        }
        notice_death(&mut config);
        let name = name(&config).into();
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config, MakeRustlsConnect::new(tls), manager);
        let pool = Pool::builder(manager).max_size(most.max(1)).build();
        let pool = pool.map_err(|error| unusable(error.into()))?;
        Ok(Self { pool, name, deadline, patience: deadline, connected: Arc::default() })
    }

    /// Returns the same server, asked with a shorter time limit.
    pub(super) fn within(&self, limit: Duration) -> Self {
        let (deadline, patience) = (self.deadline.min(limit), self.patience.min(limit));
        Self { deadline, patience, ..self.clone() }
    }

    /// Returns the same server. Connecting is tried again for this time at most.
    pub(super) fn patient(&self, limit: Duration) -> Self {
        Self { patience: self.patience.min(limit), ..self.clone() }
    }

    /// Returns the same server. Connecting is tried once: the caller asks again later, or must learn of
    /// a lost connection.
    pub(super) fn once(&self) -> Self {
        self.patient(Duration::ZERO)
    }

    /// Returns an error of opening it.
    pub(super) fn unusable(&self, source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError::Open { path: self.path(), source: source.into() }
    }

    /// Returns its name, without a password.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(&*self.name)
    }

    /// Returns a connection of the pool. A new one is tried again for a while if the server is away.
    pub(super) async fn connection(&self) -> Result<Object, Failure> {
        let waited = Stopwatch::start();
        let mut last = None;
        let tries = async {
            let mut pauses = Pauses::default();
            loop {
                let error = match self.pool.get().await {
                    Ok(connection) => {
                        self.connected.store(true, Ordering::Release);
                        return Ok(connection);
                    }
                    Err(error) => error,
                };
                let gives_up = !self.connected.load(Ordering::Acquire)
                    || !is_passing(&error)
                    || waited.elapsed() >= self.patience;
                if gives_up {
                    return Err(Failure::Unreached(unreached(&error)));
                }
                last = Some(unreached(&error));
                pauses.next().await;
            }
        };
        let got = timeout(self.deadline, tries).await;
        got.unwrap_or_else(|_| {
            let why = last.unwrap_or_else(|| "no connection was free in time".into());
            Err(Failure::Unreached(why))
        })
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
            Err(_) => return Err(self.no_answer(connection)),
        };
        // A connection with an open request must not return to the pool: it is closed.
        drop(Object::take(connection));
        Err(failure)
    }

    /// Returns the time limit of a request.
    pub(super) const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Closes a connection whose request has no answer within the limit.
    pub(super) fn no_answer(&self, connection: Object) -> Failure {
        drop(Object::take(connection));
        Failure::Unknown(format!("no answer within {} s", self.deadline.as_secs_f32()))
    }

    /// Runs one statement that changes nothing, again if its connection is lost.
    pub(super) async fn read(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        self.repeat(sql, params).await
    }

    /// Runs one statement that does nothing the second time, again if its connection is lost.
    pub(super) async fn repeat(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        let waited = Stopwatch::start();
        let mut pauses = Pauses::default();
        let mut tries = 1;
        loop {
            match self.write(sql, params).await {
                Err(Failure::Unknown(_)) if tries < REPEATS || waited.elapsed() < self.patience => {
                }
                answered => return answered,
            }
            // A pooler answers while its server is away.
            if tries >= REPEATS {
                pauses.next().await;
            }
            tries += 1;
        }
    }
}

/// Pauses between tries. They differ by chance, so that workers do not all try at the same time.
struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(PAUSE)
    }
}

impl Pauses {
    async fn next(&mut self) {
        sleep(jittered(self.0)).await;
        self.0 = self.0.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// Returns a time between half of this one and the whole.
pub(super) fn jittered(time: Duration) -> Duration {
    let half = time / 2;
    let most = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    half.saturating_add(Duration::from_millis(entropy().checked_rem(most).unwrap_or_default()))
}

/// Returns whether connecting may succeed soon: the server or its pooler is away, starts, stops or is
/// full. Wrong names and passwords stay wrong.
fn is_passing(error: &PoolError) -> bool {
    let PoolError::Backend(error) = error else { return false };
    let passes = |code: &SqlState| ["08", "53", "57P"].iter().any(|it| code.code().starts_with(it));
    error.code().is_none_or(passes)
}

/// Has dead connections noticed, where the URL does not say how.
fn notice_death(config: &mut Config) {
    if config.get_keepalives_idle() == USUAL_IDLE {
        config.keepalives_idle(IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(PROBES);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(PROBED);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENT);
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
pub(super) fn is_last_word(severity: &str) -> bool {
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

/// Returns why there is no connection, and what to do if that is known.
fn unreached(error: &PoolError) -> String {
    let why = told(error);
    tls::advice(error).map_or_else(|| why.clone(), |advice| format!("{why}. {advice}"))
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
