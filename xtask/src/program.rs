//! The program itself, as its users start it: in a home of its own, with a limit.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use xtask_set_up::{place::Scratch, process};

/// A machine that is short of memory or disk pauses runs, which is not tested here: a small
/// `/dev/shm` alone would do it.
const NO_WATCH: &str =
    "[watch]\nmemory = 100\ndisk_free = \"1B\"\nevery = \"1h\"\nlongest = \"1s\"\n";

const BUILD_CAP: Duration = Duration::from_mins(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Builds the program from the current sources, and returns its path.
pub fn build(release: bool) -> Result<PathBuf> {
    let how = release.then_some("--release");
    let arguments = ["build", "--locked", "--package", "pointsman"].into_iter().chain(how);
    let built = process::run(process::cargo(arguments), BUILD_CAP).context("starting cargo")?;
    ensure!(built.well(), "the program cannot be built");
    let ourselves = env::current_exe().context("finding this very program")?;
    let target = ourselves.parent().and_then(Path::parent).context("a program lies in a folder")?;
    Ok(target.join(if release { "release" } else { "debug" }).join("pointsman"))
}

/// A home with nothing in it: no configuration, no journal, no keys.
pub struct Home {
    scratch: Scratch,
    program: PathBuf,
    /// Caches, which may be shared.
    cache: PathBuf,
}

/// What a command came to.
pub struct CommandOutput {
    /// How it ended; nothing if it took too long and was stopped.
    pub status: Option<ExitStatus>,
    /// What it wrote for programs.
    pub stdout: String,
    /// What it said to people.
    pub stderr: String,
    /// How long it ran.
    pub took: Duration,
}

impl CommandOutput {
    /// Returns the exit code; nothing if a signal or we ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Returns the signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }

    /// Returns the last line of the output, which must be JSON.
    pub fn last(&self) -> Result<Value> {
        let line = self.stdout.lines().rfind(|line| !line.trim().is_empty());
        let line = line.with_context(|| format!("nothing on standard output; {}", self.words()))?;
        serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))
    }

    /// Returns how it ended and the end of what it said to people.
    pub fn words(&self) -> String {
        let how = match self.status {
            Some(status) => status.to_string(),
            None => format!("still running after {} s", self.took.as_secs()),
        };
        let lines: Vec<&str> = self.stderr.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(12)..).unwrap_or_default();
        format!("{how}; it said:\n{}", tail.join("\n"))
    }
}

impl Home {
    /// Makes one within a folder, with a cache that others use too.
    pub fn sharing(folder: &Path, cache: &Path) -> Result<Self> {
        let ourselves = env::current_exe().context("finding this very program")?;
        Self::of(&ourselves.with_file_name("pointsman"), folder, cache)
    }

    /// Makes one for a program that lies elsewhere.
    pub fn of(program: &Path, folder: &Path, cache: &Path) -> Result<Self> {
        let scratch = Scratch::within(folder)?;
        if !program.is_file() {
            bail!("{} is not built: cargo build --package pointsman", program.display());
        }
        let home = Self { scratch, program: program.into(), cache: cache.into() };
        home.configure("")?;
        Ok(home)
    }

    /// Writes the person's own configuration.
    pub fn configure(&self, config: &str) -> Result<()> {
        let folder = self.file("config/pointsman");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("pointsman.toml"), format!("{NO_WATCH}\n{config}"))?;
        Ok(())
    }

    /// Returns a path in this home.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.file(name)
    }

    /// Returns the program with these arguments. Nothing of our own environment but the
    /// search path reaches it.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        self.placed(Command::new(&self.program), arguments)
    }

    /// Returns the same for a process that must not outlive the thread that starts it.
    pub fn child<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.program);
        self.placed(command, arguments)
    }

    fn placed<A: AsRef<OsStr>>(
        &self,
        mut command: Command,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        command.args(arguments).current_dir(self.file("")).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", self.file(""));
        command.env("XDG_CACHE_HOME", &self.cache);
        command.env("XDG_CONFIG_HOME", self.file("config"));
        command.env("XDG_STATE_HOME", self.file("state"));
        command.env("POINTSMAN_JOURNAL", self.file("journal.db")).env("NO_COLOR", "1");
        command
    }

    /// Runs the program with these arguments to its end, or to the end of its time.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        limit: Duration,
    ) -> Result<CommandOutput> {
        self.finish(self.command(arguments), limit)
    }

    /// Runs a command of this home.
    pub fn finish(&self, command: Command, limit: Duration) -> Result<CommandOutput> {
        let started = self.start(command)?;
        started.wait(limit)
    }

    /// Starts a command of this home; one at a time, because its words go to files.
    pub fn start(&self, mut command: Command) -> Result<RunningCommand> {
        let files = [self.file("stdout"), self.file("stderr")];
        let [out, err] = &files;
        command.stdin(Stdio::null()).stdout(File::create(out)?).stderr(File::create(err)?);
        let child = command.spawn().context("starting the program")?;
        Ok(RunningCommand { child, files, since: Instant::now() })
    }
}

/// A running command; dropping it kills the process.
pub struct RunningCommand {
    child: Child,
    files: [PathBuf; 2],
    since: Instant,
}

impl RunningCommand {
    /// Waits for its end, and stops it by its id once its time is up.
    pub fn wait(mut self, limit: Duration) -> Result<CommandOutput> {
        let mut status = self.child.try_wait()?;
        while status.is_none() && self.since.elapsed() < limit {
            thread::sleep(BETWEEN_LOOKS);
            status = self.child.try_wait()?;
        }
        self.told(status)
    }

    /// Returns whether it has ended by now.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Kills it by its id, unless it has ended by now.
    pub fn kill(mut self) -> Result<CommandOutput> {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.kill());
        let status = self.child.wait()?;
        self.told(Some(status))
    }

    fn told(mut self, status: Option<ExitStatus>) -> Result<CommandOutput> {
        let took = self.since.elapsed();
        self.stop();
        let read = |file: &PathBuf| Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned());
        let [stdout, stderr] = &self.files;
        let (stdout, stderr): (Result<String>, Result<String>) = (read(stdout), read(stderr));
        Ok(CommandOutput { status, stdout: stdout?, stderr: stderr?, took })
    }

    fn stop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.stop();
    }
}
