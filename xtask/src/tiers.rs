//! `cargo xtask test`: the tiers, their caps, and what each of them needs.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use crate::{
    components, model,
    place::{self, Scratch},
    process,
};

const BUILD_CAP: Duration = Duration::from_mins(15);
/// Seconds that the search may spend on each chart.
const MODEL_SECONDS: &str = "20";
const LIST_CAP: Duration = Duration::from_mins(1);

/// The arguments that select the kernel's properties.
const PROPERTIES: [&str; 7] =
    ["test", "--locked", "--package", "pointsman-kernel", "--test", "it", "properties"];

/// A group of tests that runs as one child process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Tier {
    /// Every test of the workspace; needs nothing from outside.
    Unit,
    /// The kernel's properties, 10,000 cases each.
    Properties,
    /// The shipped charts against the real `XState`.
    Xstate,
    /// Every run of the shipped charts, reduced, within caps.
    Model,
}

impl Tier {
    const ALL: [Self; 4] = [Self::Unit, Self::Properties, Self::Xstate, Self::Model];

    const fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Properties => "properties",
            Self::Xstate => "xstate",
            Self::Model => "model",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Unit => "every test of the workspace; needs nothing from outside",
            Self::Properties => "the kernel's properties, 10,000 cases each",
            Self::Xstate => "the shipped charts against the real XState",
            Self::Model => "every run of the shipped charts, reduced, within caps",
        }
    }

    /// Returns how long it may take, compiling left out.
    const fn cap(self) -> Duration {
        Duration::from_secs(match self {
            Self::Unit => 300,
            Self::Properties => 600,
            Self::Xstate => 120,
            Self::Model => 180,
        })
    }

    /// Returns the build that it runs, if cargo has to make one.
    fn build(self) -> Option<Command> {
        match self {
            Self::Unit => Some(cargo(["test", "--workspace", "--locked", "--no-run"])),
            Self::Properties => {
                let mut build = cargo(PROPERTIES);
                build.arg("--no-run");
                Some(build)
            }
            Self::Xstate => None,
            Self::Model => Some(model::release("build")),
        }
    }

    fn command(self, ourselves: &Path) -> Command {
        match self {
            Self::Unit => {
                let mut tests = cargo(["test", "--workspace", "--locked"]);
                tests.env_remove("PROPTEST_CASES");
                tests
            }
            Self::Properties => {
                let mut tests = cargo(PROPERTIES);
                tests.env("PROPTEST_CASES", "10000");
                tests
            }
            Self::Xstate => {
                let mut tier = process::command(ourselves);
                tier.arg("xstate-tier");
                tier
            }
            Self::Model => {
                // What was built beside us, and not once more by cargo within the cap.
                let built = ourselves.ancestors().nth(2).unwrap_or(ourselves);
                let mut search = process::command(built.join("release").join("xtask"));
                search.args(["check-model", "--seconds", MODEL_SECONDS]);
                search
            }
        }
    }
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
    let installing = chosen.contains(&Tier::Xstate).then(|| thread::spawn(components::xstate));
    let built: Vec<Result<()>> = chosen.iter().map(|tier| build(*tier)).collect();
    let installed = installing.map_or_else(|| Ok(PathBuf::new()), join);
    println!("built and installed in {:.1} s", started.elapsed().as_secs_f64());
    let mut rows = Vec::new();
    for (tier, built) in chosen.into_iter().zip(built) {
        println!("\n== {}: {}", tier.name(), tier.about());
        let started = Instant::now();
        let result = built.and_then(|()| match &installed {
            Err(missing) if tier == Tier::Xstate => bail!("a component is missing: {missing:#}"),
            _ => run(tier, &ourselves),
        });
        if let Err(why) = &result {
            eprintln!("{}: {why:#}", tier.name());
        }
        rows.push((tier, started.elapsed(), result.is_ok()));
    }
    Ok(report(&rows))
}

/// Waits for what is being installed.
fn join(installing: thread::JoinHandle<Result<PathBuf>>) -> Result<PathBuf> {
    installing.join().unwrap_or_else(|_| Err(anyhow!("the installation broke off")))
}

/// Builds what a tier runs, so that its cap is for the tests alone.
fn build(tier: Tier) -> Result<()> {
    let Some(build) = tier.build() else { return Ok(()) };
    if !process::run(build, BUILD_CAP).context("starting cargo")?.well() {
        bail!("its tests do not build");
    }
    Ok(())
}

fn run(tier: Tier, ourselves: &Path) -> Result<()> {
    if tier == Tier::Properties {
        count_properties()?;
    }
    let ended = process::run(tier.command(ourselves), tier.cap()).context("starting a tier")?;
    match ended {
        process::Ended::Exited(status) if status.success() => Ok(()),
        process::Ended::Exited(status) => bail!("failed ({status})"),
        process::Ended::OverCap => bail!("took longer than {} s", tier.cap().as_secs()),
    }
}

/// Fails where no test is selected: a filter that matches nothing passes quietly.
fn count_properties() -> Result<()> {
    let scratch = Scratch::new()?;
    let log = scratch.file("properties");
    let mut list = cargo(PROPERTIES);
    list.args(["--quiet", "--", "--list"]).stdout(File::create(&log)?);
    if !process::run(list, LIST_CAP).context("starting cargo")?.well() {
        bail!("the properties cannot be listed");
    }
    let found = fs::read_to_string(&log)?.lines().filter(|line| line.ends_with(": test")).count();
    if found == 0 {
        bail!("no test of the kernel is a property");
    }
    println!("{found} properties");
    Ok(())
}

/// Prints the table, and returns whether all passed.
fn report(rows: &[(Tier, Duration, bool)]) -> bool {
    println!("\n{:<12}{:>9}{:>7}  result", "tier", "seconds", "cap");
    for (tier, took, passed) in rows {
        let result = if *passed { "passed" } else { "FAILED" };
        let (name, cap) = (tier.name(), tier.cap().as_secs());
        println!("{name:<12}{:>9.1}{cap:>7}  {result}", took.as_secs_f64());
    }
    let passed = rows.iter().filter(|(.., passed)| *passed).count();
    println!("{passed} passed, {} failed", rows.len() - passed);
    passed == rows.len()
}

/// Returns cargo, to be started at the workspace's root.
fn cargo(arguments: impl IntoIterator<Item = &'static str>) -> Command {
    let mut cargo = process::command(place::cargo());
    cargo.args(arguments).current_dir(place::root());
    cargo
}
