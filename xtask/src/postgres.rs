//! A PostgreSQL of one's own, and a pooler before it: in a folder of their own and on free ports; what
//! the system runs is left alone.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask_set_up::{place::Scratch, process};

use crate::server::{Ready, Server, free_port};

/// How long a server may take until it answers: on a busy machine it is slow.
const ANSWERS: Duration = Duration::from_mins(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// A server with a cluster of its own. It ends with this value.
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    user: Option<User>,
    server: Option<Server>,
    scratch: Scratch,
}

/// A server beside it: the pooler, or Redis.
pub struct Beside {
    port: u16,
    _server: Server,
}

impl Beside {
    /// Returns the port that it listens on.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

/// An ordinary user of the system: the server refuses to run as root.
#[derive(Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl Postgres {
    /// Makes a cluster and starts it.
    pub fn start() -> Result<Self> {
        let mut postgres = Self::place()?;
        let data = postgres.data();
        let mut make = postgres.command(postgres.programs.join("initdb"));
        make.args(["--auth", "trust", "--username", "postgres", "--encoding", "UTF8"]);
        make.args(["--locale", "C", "--no-sync", "--pgdata"]).arg(&data).stdout(Stdio::null());
        if !process::run(make, ANSWERS).context("starting initdb")?.well() {
            bail!("a cluster cannot be made; what initdb said is above");
        }
        postgres.serve()?;
        Ok(postgres)
    }

    /// Starts a standby that every commit of this server waits for from now on.
    pub fn standby(&self) -> Result<Self> {
        let mut standby = Self::place()?;
        let mut copy = standby.command(self.programs.join("pg_basebackup"));
        copy.args(["--host", "127.0.0.1", "--port", &self.port.to_string()]);
        copy.args(["--username", "postgres", "--write-recovery-conf", "--wal-method", "stream"]);
        copy.args(["--no-sync", "--checkpoint", "fast", "--pgdata"]).arg(standby.data());
        if !process::run(copy, ANSWERS).context("starting pg_basebackup")?.well() {
            bail!("a standby cannot be made; what pg_basebackup said is above");
        }
        standby.serve()?;
        for sql in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
            let mut psql = self.command(self.programs.join("psql"));
            psql.args(["--quiet", "--no-psqlrc", "--host", "127.0.0.1", "--username", "postgres"]);
            psql.args(["--port", &self.port.to_string(), "--command", sql]).stdout(Stdio::null());
            if !process::run(psql, ANSWERS).context("starting psql")?.well() {
                bail!("the standby cannot be waited for; what psql said is above");
            }
        }
        Ok(standby)
    }

    /// Makes a standby the primary. The old one must have ended.
    pub fn promote(&self) -> Result<()> {
        let mut promote = self.command(self.programs.join("pg_ctl"));
        promote.args(["promote", "--silent", "--pgdata"]).arg(self.data());
        if !process::run(promote, ANSWERS).context("starting pg_ctl")?.well() {
            bail!("the standby cannot be promoted; what pg_ctl said is above");
        }
        Ok(())
    }

    /// Prepares the place of a cluster.
    fn place() -> Result<Self> {
        let (programs, scratch, port) = (programs()?, Scratch::new()?, free_port()?);
        let user =
            if fs::metadata("/proc/self")?.uid() == 0 { Some(postgres_user()?) } else { None };
        let postgres = Self { programs, port, user, server: None, scratch };
        let data = postgres.data();
        let folder = data.parent().context("it lies in a folder")?;
        if let Some(user) = user {
            chown(folder, Some(user.id), Some(user.group))?;
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        Ok(postgres)
    }

    fn data(&self) -> PathBuf {
        self.scratch.file("data")
    }

    /// Starts the server over its cluster, which may have been stopped.
    pub fn serve(&mut self) -> Result<()> {
        let data = self.data();
        let folder = data.parent().context("it lies in a folder")?;
        let mut serve = self.command(self.programs.join("postgres"));
        serve.arg("-D").arg(&data).args(["-p", &self.port.to_string(), "-k"]).arg(folder);
        serve.args(["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]);
        serve.args(["-c", "log_min_messages=fatal", "-c", "log_min_error_statement=panic"]);
        self.server = Some(Server::start(serve, self.port, Ready::Listens, ANSWERS)?);
        // It listens before it answers.
        let started = Instant::now();
        while !self.answers()? {
            if started.elapsed() >= ANSWERS {
                bail!("PostgreSQL does not answer after {} s", ANSWERS.as_secs());
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Stops the server as a crash would: nothing is written back, no client is told.
    pub fn crash(&mut self) -> Result<()> {
        self.stop("immediate")?;
        drop(self.server.take());
        Ok(())
    }

    fn stop(&self, mode: &str) -> Result<()> {
        let mut stop = self.command(self.programs.join("pg_ctl"));
        stop.args(["stop", "--mode", mode, "--silent", "--pgdata"]).arg(self.data());
        process::run(stop, ANSWERS).context("starting pg_ctl")?;
        Ok(())
    }

    /// Returns the port that it listens on.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the beginning of URLs of its databases.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}", self.port)
    }

    fn answers(&self) -> Result<bool> {
        let mut ask = process::command(self.programs.join("pg_isready"));
        ask.args(["--quiet", "--host", "127.0.0.1", "--port", &self.port.to_string()]);
        Ok(process::run(ask, ANSWERS).context("starting pg_isready")?.well())
    }

    /// Starts a pooler that gives every transaction whichever connection is free.
    pub fn pooler(&self) -> Result<Beside> {
        let port = free_port()?;
        let settings = self.scratch.file("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nauth_type = any\npool_mode = transaction\nunix_socket_dir =\n\
             default_pool_size = 4\nmax_client_conn = 200\nverbose = 0\nlog_connections = 0\n\
             log_disconnections = 0\nlog_stats = 0\n",
            self.port
        );
        fs::write(&settings, text).context("writing the pooler's settings")?;
        let mut serve = self.command("pgbouncer");
        serve.arg("--quiet").arg(&settings);
        Ok(Beside { port, _server: Server::start(serve, port, Ready::Listens, ANSWERS)? })
    }

    /// Starts Redis, which keeps nothing.
    pub fn redis(&self) -> Result<Beside> {
        self.redis_at(free_port()?)
    }

    /// Starts Redis on a port, again if it was there before.
    pub fn redis_at(&self, port: u16) -> Result<Beside> {
        let mut serve = self.command("redis-server");
        serve.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        serve.args(["--appendonly", "no"]).stdout(Stdio::null());
        Ok(Beside { port, _server: Server::start(serve, port, Ready::Listens, ANSWERS)? })
    }

    /// Returns a command that is run as an ordinary user.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let Some(user) = self.user else { return process::command(program.as_ref()) };
        let mut command = process::command("setpriv");
        command.args(["--reuid", &user.id.to_string(), "--regid", &user.group.to_string()]);
        command.args(["--clear-groups", "--"]).arg(program.as_ref());
        command
    }
}

impl Drop for Postgres {
    /// Its processes end in order, and none is killed while it can end by itself.
    fn drop(&mut self) {
        if self.server.is_none() {
            return;
        }
        if let Err(why) = self.stop("fast") {
            eprintln!("PostgreSQL was not stopped in order: {why}");
        }
        drop(self.server.take());
    }
}

/// Returns the folder with the programs of the latest version.
fn programs() -> Result<PathBuf> {
    let versions = fs::read_dir(VERSIONS).with_context(|| format!("reading {VERSIONS}"))?;
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for version in versions {
        let version = version?;
        let number = version.file_name().to_string_lossy().parse();
        let programs = version.path().join("bin");
        if let (Ok(number), true) = (number, programs.join("postgres").is_file()) {
            found.push((number, programs));
        }
    }
    let latest = found.into_iter().max().map(|(_, programs)| programs);
    latest.with_context(|| format!("there is no PostgreSQL in {VERSIONS}"))
}

/// Looks up the user that the package of PostgreSQL makes.
fn postgres_user() -> Result<User> {
    let users = fs::read_to_string("/etc/passwd").context("reading the list of users")?;
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let mut cells = line.context("there is no user `postgres`")?.split(':').skip(2);
    let mut number = || cells.next().and_then(|cell| cell.parse().ok());
    let (id, group) = (number(), number());
    Ok(User { id: id.context("it has a number")?, group: group.context("it has a group")? })
}
