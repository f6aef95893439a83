//! `cargo xtask test`: the tiers, their caps, and what each of them needs.

mod fleet;
mod ignored;
mod users;

use std::{
    env,
    fs::{self, File},
    io,
    path::Path,
    process::Command,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use crate::{
    chaos, code,
    components::{self, Installing, Need},
    kill, live,
    place::{self, Scratch},
    process, xstate,
};

const BUILD_CAP: Duration = Duration::from_mins(40);
/// Seconds that the search may spend on each chart.
const MODEL_SECONDS: &str = "20";
/// Lines that are repeated at the end for a failed test.
const FAILURE_LINES: usize = 40;
/// How often a tier's output is printed.
const FOLLOW: Duration = Duration::from_millis(100);
/// A build elsewhere may hold cargo's lock meanwhile.
const LIST_CAP: Duration = Duration::from_mins(10);

/// Builds what all tiers run: tests, examples, and the program itself. For one package
/// alone cargo would choose other features, and compile most of what it rests on once more.
/// Evaluations have no part in them.
const BUILD: [&str; 6] =
    ["test", "--workspace", "--exclude", "xtask-evals", "--locked", "--no-run"];
const UNIT: [&str; 6] =
    ["test", "--workspace", "--exclude", "xtask-evals", "--locked", "--no-fail-fast"];
const SORTED: [&str; 8] =
    ["test", "--package", "pointsman-agents", "--locked", "--test", "it", "--", "journals"];
/// Builds, and then runs, a program outside this workspace: it sees what a stranger would.
const STRANGER: [&str; 6] = [
    "--locked",
    "--quiet",
    "--manifest-path",
    "examples/sixth-agent/Cargo.toml",
    "--target-dir",
    "target/stranger",
];
/// The arguments that select the kernel's properties.
const PROPERTIES: [&str; 6] = ["test", "--workspace", "--locked", "--test", "it", "properties::"];

/// A group of tests that runs as one child process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Tier {
    /// Every test of the workspace; needs nothing from outside.
    Unit,
    /// The spelling of sources and documents.
    Typos,
    /// Journals in a build that sorts JSON objects.
    Sorted,
    /// A stranger's agent in a program of its own, stopped and resumed.
    Stranger,
    /// The kernel's properties, 10,000 cases each.
    Properties,
    /// The shipped charts against the real `XState`.
    Xstate,
    /// Every run of the shipped charts, reduced, and the protocol of leases, within caps.
    Model,
    /// The models' clients against a mock that speaks all four protocols.
    Aimock,
    /// The MCP client against real servers.
    Mcp,
    /// A real client of the Agent Client Protocol against `pointsman acp`.
    Acp,
    /// Tools in a real sandbox.
    Sandbox,
    /// Whole runs with a weak model and with one of random weights.
    Live,
    /// Whole runs killed at every boundary and at random moments, then resumed.
    Kill,
    /// A change to a repository, killed on the way, by a scripted model.
    Code,
    /// Forms of all kinds in a real browser.
    Browser,
    /// The explorer's driver against a real Appium server.
    Appium,
    /// The store of a fleet against a real PostgreSQL.
    Fleet,
    /// The HTTP server: fuzzed, driven by the Python examples, killed in a thousand runs.
    Serve,
    /// The inspector's page in a real browser, and its terminal view in tmux.
    Page,
    /// Spans, received and decoded.
    Telemetry,
    /// A fleet whose workers, server and connections are killed, stopped and cut.
    Chaos,
}

impl Tier {
    const ALL: [Self; 21] = [
        Self::Unit,
        Self::Typos,
        Self::Sorted,
        Self::Stranger,
        Self::Properties,
        Self::Xstate,
        Self::Model,
        Self::Aimock,
        Self::Mcp,
        Self::Acp,
        Self::Sandbox,
        Self::Live,
        Self::Kill,
        Self::Code,
        Self::Browser,
        Self::Appium,
        Self::Fleet,
        Self::Serve,
        Self::Page,
        Self::Telemetry,
        Self::Chaos,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Typos => "typos",
            Self::Sorted => "sorted",
            Self::Stranger => "stranger",
            Self::Properties => "properties",
            Self::Xstate => "xstate",
            Self::Model => "model",
            Self::Aimock => "aimock",
            Self::Mcp => "mcp",
            Self::Acp => "acp",
            Self::Sandbox => "sandbox",
            Self::Live => "live",
            Self::Kill => "kill",
            Self::Code => "code",
            Self::Browser => "browser",
            Self::Appium => "appium",
            Self::Fleet => "fleet",
            Self::Serve => "serve",
            Self::Page => "page",
            Self::Telemetry => "telemetry",
            Self::Chaos => "chaos",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Unit => "every test of the workspace; needs nothing from outside",
            Self::Typos => "the spelling of sources and documents",
            Self::Sorted => "every kept journal, replayed by a build that sorts JSON objects",
            Self::Stranger => "an agent in a program of its own, stopped and resumed",
            Self::Properties => "the kernel's properties, 10,000 cases each",
            Self::Xstate => "the shipped charts against the real XState",
            Self::Model => "every run of the shipped charts, and leases and appends, within caps",
            Self::Aimock => "the models' clients against a mock of four protocols",
            Self::Mcp => "the MCP client against real servers",
            Self::Acp => "a real client of the Agent Client Protocol against `pointsman acp`",
            Self::Sandbox => "tools in both sandboxes, as root and as an ordinary user",
            Self::Live => "whole runs with a weak model and with one of random weights",
            Self::Kill => "whole runs killed at every boundary and at random, then resumed",
            Self::Code => "a change to a repository, killed on the way, by a scripted model",
            Self::Browser => "forms of all kinds in a real browser",
            Self::Appium => "the explorer's driver against a real Appium server",
            Self::Fleet => "the store of a fleet against a real PostgreSQL and a pooler",
            Self::Serve => "the HTTP server, fuzzed, killed, and driven by the Python examples",
            Self::Page => {
                "the inspector's page in a real browser, its accessibility, and the view in tmux"
            }
            Self::Telemetry => "OpenTelemetry's spans, decoded by its own classes",
            Self::Chaos => "a fleet whose workers, server and connections are killed and cut",
        }
    }

    /// Returns how long it may take, compiling left out. A cap is there for what hangs: on
    /// a busy machine all of them take a few times as long as on a quiet one.
    const fn cap(self) -> Duration {
        Duration::from_secs(match self {
            Self::Live | Self::Browser | Self::Page | Self::Sandbox | Self::Appium => 1_800,
            Self::Unit | Self::Chaos | Self::Serve => 900,
            Self::Stranger => 240,
            Self::Typos => 60,
            Self::Sorted
            | Self::Properties
            | Self::Xstate
            | Self::Model
            | Self::Aimock
            | Self::Mcp
            | Self::Acp
            | Self::Kill
            | Self::Code
            | Self::Fleet
            | Self::Telemetry => 600,
        })
    }

    /// Returns what it needs from outside.
    const fn needs(self) -> &'static [Need] {
        match self {
            Self::Unit | Self::Sorted | Self::Stranger | Self::Properties | Self::Model => &[],
            Self::Typos => &[Need::Typos],
            Self::Xstate | Self::Aimock | Self::Mcp | Self::Acp => &[Need::Npm],
            Self::Sandbox | Self::Kill | Self::Code => &[Need::Sandbox],
            Self::Live => &[Need::Models, Need::Sandbox],
            Self::Browser => &[Need::Browser],
            Self::Page => &[Need::Browser, Need::Terminal],
            Self::Telemetry => &[Need::Spans, Need::Browser],
            Self::Appium => &[Need::Appium],
            Self::Fleet => &[Need::Postgres],
            Self::Chaos => &[Need::Postgres, Need::Sandbox],
            Self::Serve => &[Need::Http],
        }
    }

    /// Returns whether it waits most of the time, for devices, leases and timeouts: it runs beside the
    /// others and leaves them the processor.
    const fn waits(self) -> bool {
        matches!(self, Self::Appium | Self::Fleet | Self::Chaos)
    }

    /// Returns whether it runs what cargo has to build.
    const fn is_built(self) -> bool {
        !matches!(self, Self::Typos | Self::Xstate | Self::Model)
    }

    fn command(self, ourselves: &Path) -> Command {
        match self {
            Self::Unit => {
                let mut tests = process::cargo(UNIT);
                tests.env_remove("PROPTEST_CASES");
                tests
            }
            Self::Sorted => {
                let mut tests = process::cargo(SORTED);
                tests.env("POINTSMAN_SORTED", "1");
                tests
            }
            Self::Stranger => {
                let mut program = process::cargo(["run"]);
                program.args(STRANGER);
                program
            }
            Self::Properties => {
                let mut tests = process::cargo(PROPERTIES);
                tests.env("PROPTEST_CASES", "10000");
                tests
            }
            Self::Model => {
                let mut search = process::command(ourselves);
                search.args(["check-model", "--seconds", MODEL_SECONDS]);
                search
            }
            Self::Typos
            | Self::Xstate
            | Self::Aimock
            | Self::Mcp
            | Self::Acp
            | Self::Sandbox
            | Self::Live
            | Self::Kill
            | Self::Code
            | Self::Browser
            | Self::Appium
            | Self::Fleet
            | Self::Serve
            | Self::Page
            | Self::Telemetry
            | Self::Chaos => {
                let mut tier = process::command(ourselves);
                tier.args(["run-tier", self.name()]);
                tier
            }
        }
    }
}

/// Runs a tier that is code of ours, as the process that [`test()`] starts for it.
pub(crate) fn inner(tier: Tier) -> Result<bool> {
    match tier {
        Tier::Typos => typos(),
        Tier::Xstate => xstate::tier(),
        Tier::Aimock => ignored::aimock(),
        Tier::Mcp => ignored::mcp(),
        Tier::Acp => ignored::acp(),
        Tier::Sandbox => users::sandbox(),
        Tier::Live => live::tier(),
        Tier::Kill => kill::tier(),
        Tier::Code => code::tier(),
        Tier::Browser => ignored::browser(),
        Tier::Appium => ignored::appium(),
        Tier::Fleet => fleet::tier(),
        Tier::Serve => ignored::serve(),
        Tier::Page => ignored::page(),
        Tier::Telemetry => ignored::telemetry(),
        Tier::Chaos => chaos::tier(),
        Tier::Unit | Tier::Sorted | Tier::Stranger | Tier::Properties | Tier::Model => {
            bail!("cargo or another build runs it")
        }
    }
}

/// Checks the spelling of everything that `typos.toml` does not leave out.
fn typos() -> Result<bool> {
    let mut typos = process::command(components::typos()?);
    typos.args(["--format", "brief"]).current_dir(place::root());
    Ok(process::run(typos, Tier::Typos.cap()).context("starting typos")?.well())
}

/// Names the tiers.
#[expect(clippy::unnecessary_wraps, reason = "every command returns how it went")]
pub(crate) fn list() -> Result<bool> {
    for tier in Tier::ALL {
        println!("{:<12}{:>5} s  {}", tier.name(), tier.cap().as_secs(), tier.about());
    }
    Ok(true)
}

/// Runs the tiers that were asked for, or all, and returns whether all passed.
pub(crate) fn test(only: &[Tier]) -> Result<bool> {
    // Asked for now: a build may replace the file that we were started from.
    let ourselves = env::current_exe().context("finding this very program")?;
    let chosen: Vec<Tier> =
        Tier::ALL.into_iter().filter(|tier| only.is_empty() || only.contains(tier)).collect();
    let started = Instant::now();
    let needs = chosen.iter().flat_map(|tier| tier.needs().iter().copied());
    let installing = Installing::start(needs);
    let built = if chosen.iter().any(|tier| tier.is_built()) { build(&chosen) } else { Ok(()) };
    let installed = installing.join();
    println!("built and installed in {:.1} s", started.elapsed().as_secs_f64());
    let attempt = |tier: Tier, log: &Path| {
        let started = Instant::now();
        let result = match &built {
            Err(why) if tier.is_built() => Err(anyhow!("{why:#}")),
            _ => installed.has(tier.needs()).and_then(|()| run(tier, &ourselves, log)),
        };
        let failures = match &result {
            Err(_) if log.exists() => failures(&String::from_utf8_lossy(&fs::read(log)?)),
            _ => String::new(),
        };
        Ok(TierResult { tier, took: started.elapsed(), result, failures })
    };
    let mut results = in_two_lanes(&chosen, attempt)?;
    results.sort_by_key(|it| chosen.iter().position(|tier| *tier == it.tier));
    let passed = report(&results);
    println!("{:.1} min in all", started.elapsed().as_secs_f64() / 60.0);
    Ok(passed)
}

/// A tier that was run.
struct TierResult {
    tier: Tier,
    took: Duration,
    result: Result<()>,
    /// What its failed tests said: readers of a long log look at its end.
    failures: String,
}

impl TierResult {
    fn announce(tier: Tier) {
        println!("\n== {}: {}", tier.name(), tier.about());
    }

    fn complain(&self) {
        if let Err(why) = &self.result {
            eprintln!("{}: {why:#}", self.tier.name());
        }
    }
}

/// Runs the tiers, those that mostly wait beside the others. The output of those is shown once they
/// have ended, so that the lines of two tiers never mix.
fn in_two_lanes(
    chosen: &[Tier],
    attempt: impl Fn(Tier, &Path) -> Result<TierResult> + Sync,
) -> Result<Vec<TierResult>> {
    let (beside, front): (Vec<Tier>, Vec<Tier>) = chosen.iter().partition(|tier| tier.waits());
    let logs = Scratch::new()?;
    let log_of = |tier: Tier| logs.file(tier.name());
    let (ended, ends) = mpsc::channel();
    let show = |it: TierResult| -> Result<TierResult> {
        TierResult::announce(it.tier);
        let log = log_of(it.tier);
        if log.exists() {
            io::copy(&mut File::open(&log)?, &mut io::stdout())
                .context("showing a tier's output")?;
        }
        it.complain();
        Ok(it)
    };
    thread::scope(|scope| {
        let (attempt, log_of) = (&attempt, &log_of);
        scope.spawn(move || {
            for tier in beside {
                if ended.send(attempt(tier, &log_of(tier))).is_err() {
                    return;
                }
            }
        });
        let mut results = Vec::new();
        for tier in front {
            TierResult::announce(tier);
            let log = log_of(tier);
            let it = following(&log, || attempt(tier, &log))??;
            it.complain();
            results.push(it);
            for it in ends.try_iter() {
                results.push(show(it?)?);
            }
        }
        for it in ends {
            results.push(show(it?)?);
        }
        Ok(results)
    })
}

/// Prints a file while something writes it.
fn following<T>(log: &Path, write: impl FnOnce() -> T) -> Result<T> {
    let mut shown = File::create_new(log).and_then(|_| File::open(log)).context("making a log")?;
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let printing = scope.spawn(move || {
            loop {
                let last = end.recv_timeout(FOLLOW) != Err(RecvTimeoutError::Timeout);
                io::copy(&mut shown, &mut io::stdout())?;
                if last {
                    return Ok::<_, io::Error>(());
                }
            }
        });
        let written = write();
        drop(ended);
        let printed = printing.join().map_err(|_| anyhow!("the printing thread panicked"))?;
        printed.context("showing a tier's output")?;
        Ok(written)
    })
}

/// Builds what the tiers run, so that their caps are for the tests alone.
fn build(chosen: &[Tier]) -> Result<()> {
    if !process::run(process::cargo(BUILD), BUILD_CAP).context("starting cargo")?.well() {
        bail!("the tests do not build");
    }
    if chosen.contains(&Tier::Stranger) {
        let mut program = process::cargo(["build"]);
        program.args(STRANGER);
        if !process::run(program, BUILD_CAP).context("starting cargo")?.well() {
            bail!("examples/sixth-agent does not build");
        }
    }
    Ok(())
}

/// Runs a tier, and writes its output to a file.
fn run(tier: Tier, ourselves: &Path, log: &Path) -> Result<()> {
    if tier == Tier::Properties {
        println!("{} properties", count(process::cargo(PROPERTIES), &[])?);
    }
    let mut command = tier.command(ourselves);
    let log = File::create(log).context("making the file of a tier's output")?;
    command.stdout(log.try_clone()?).stderr(log);
    let ended = process::run(command, tier.cap()).context("starting a tier")?;
    match ended {
        process::ChildExit::Exited(status) if status.success() => Ok(()),
        process::ChildExit::Exited(status) => bail!("failed ({status})"),
        process::ChildExit::OverCap => bail!("took longer than {} s", tier.cap().as_secs()),
    }
}

/// Counts the tests that cargo would run, and fails where it would run none: a filter
/// that matches nothing passes quietly.
fn count(mut tests: Command, options: &[&str]) -> Result<usize> {
    let scratch = Scratch::new()?;
    let log = scratch.file("list");
    tests.args(["--", "--list"]).args(options).stdout(File::create(&log)?);
    if !process::run(tests, LIST_CAP).context("starting cargo")?.well() {
        bail!("the tests cannot be listed");
    }
    let found = fs::read_to_string(&log)?.lines().filter(|line| line.ends_with(": test")).count();
    if found == 0 {
        bail!("no test is selected");
    }
    Ok(found)
}

/// Returns the parts of a log in which failed tests say why; its last lines if there are none.
fn failures(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let is_part = |line: &&str| line.starts_with("---- ");
    let parts = lines.iter().enumerate().filter(|(_, line)| is_part(line)).map(|(at, _)| at);
    let parts = parts.map(|at| {
        let rest = lines.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|line| is_part(line) || *line == "failures:");
        at..(at + 1 + end.unwrap_or(rest.len()).min(FAILURE_LINES))
    });
    let mut parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        parts.push(lines.len().saturating_sub(FAILURE_LINES)..lines.len());
    }
    parts
        .into_iter()
        .flat_map(|part| &lines[part])
        .fold(String::new(), |all, line| all + line + "\n")
}

/// Prints the table, and returns whether all passed.
fn report(results: &[TierResult]) -> bool {
    println!("\n{:<12}{:>9}{:>7}  result", "tier", "seconds", "cap");
    for TierResult { tier, took, result, .. } in results {
        let result = if result.is_ok() { "passed" } else { "FAILED" };
        let (name, cap) = (tier.name(), tier.cap().as_secs());
        println!("{name:<12}{:>9.1}{cap:>7}  {result}", took.as_secs_f64());
    }
    for it in results.iter().filter(|it| !it.failures.is_empty()) {
        println!("\n{} failed:\n{}", it.tier.name(), it.failures);
    }
    let passed = results.iter().filter(|it| it.result.is_ok()).count();
    println!("{passed} passed, {} failed", results.len() - passed);
    passed == results.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_the_parts_of_failed_tests() {
        let log = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nwhy b\n\
                   ---- c stdout ----\nwhy c\n\nfailures:\n    b\n    c\n";
        let wants = "---- b stdout ----\nwhy b\n---- c stdout ----\nwhy c\n\n";
        assert_eq!(failures(log), wants);
        assert_eq!(failures("starting\nno server\n"), "starting\nno server\n");
    }
}
