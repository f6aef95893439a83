//! Other frameworks on the same counter, each beside a raw flush of the same minute.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{counter::Counter, disk::Raw, micros};
use crate::{
    bench::median,
    components::{self, Python},
    place, process,
};

pub(super) const STEPS: u32 = 1_000;
const ROUNDS: usize = 3;
const CAP: Duration = Duration::from_mins(5);
/// Bytes of a raw record: about what each of them keeps of a step.
const RECORD: usize = 512;

/// One framework; microseconds per step.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) step: f64,
    /// A raw flush before and after.
    pub(super) raw: f64,
    /// How many raw flushes a step is worth, round by round.
    pub(super) ratio: f64,
}

/// The frameworks, installed.
pub(super) struct Peers {
    npm: PathBuf,
    python: Python,
}

/// How a framework is started, what it is called, and what keeps its steps.
const PEERS: [(&str, &str, &str); 4] = [
    ("langgraph-sync", "LangGraph", "SqliteSaver, sync"),
    ("langgraph-async", "LangGraph", "SqliteSaver, async"),
    ("burr", "Burr", "SQLitePersister"),
    ("xstate", "XState", "better-sqlite3, WAL FULL"),
];

impl Peers {
    /// Makes sure of all of them: one that is missing is an error.
    pub(super) fn ready() -> Result<Self> {
        let npm = components::npm_of_benches()?;
        Ok(Self { npm, python: components::python_of_benches()? })
    }

    /// Measures ourselves and all of them on the same counter.
    pub(super) fn measure(&self, folder: &Path) -> Result<Vec<Row>> {
        fs::create_dir_all(folder)?;
        let mut raw = Raw::open(&folder.join("raw"), RECORD)?;
        let mut rows = vec![row(&mut raw, |round| {
            let folder = folder.join(format!("ours-{round}"));
            fs::create_dir_all(&folder)?;
            Ok((format!("Pointsman {}", env!("CARGO_PKG_VERSION")), ours(&folder)?))
        })?];
        for (which, name, keeper) in PEERS {
            eprintln!("  {name}, {keeper}");
            rows.push(row(&mut raw, |round| {
                let folder = folder.join(format!("{which}-{round}"));
                fs::create_dir_all(&folder)?;
                let (version, step) = self.run(which, &folder)?;
                Ok((format!("{name} {version}, {keeper}"), step))
            })?);
        }
        Ok(rows)
    }

    /// Runs one of them, and returns its version and what a step took.
    fn run(&self, which: &str, folder: &Path) -> Result<(String, f64)> {
        if which == "xstate" {
            return xstate(&self.npm, folder);
        }
        let mut command = process::command(self.python.program());
        command.arg(place::script("py/peers.py")).arg(which);
        command.arg(folder).arg(STEPS.to_string());
        let reported = reported(command, &folder.join("report"), "us_per_step");
        reported.with_context(|| format!("{which} does not run"))
    }
}

/// Runs `XState` with better-sqlite3, and returns its version and what a step took.
pub(super) fn xstate(npm: &Path, folder: &Path) -> Result<(String, f64)> {
    let mut node = process::command("node");
    node.arg(place::script("js/counter.mjs")).arg(npm).arg(folder).arg(STEPS.to_string());
    reported(node, &folder.join("report"), "us_per_step").context("xstate does not run")
}

/// Runs a peer, and returns its version and the figure of this name that it prints.
pub(crate) fn reported(mut command: Command, file: &Path, figure: &str) -> Result<(String, f64)> {
    command.stdout(File::create(file)?);
    let ended = process::run(command, CAP).context("starting it")?;
    if !ended.well() {
        bail!("it failed ({ended:?}); what it said is above");
    }
    let said = fs::read_to_string(file)?;
    let said: Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    let version = said.get("version").and_then(Value::as_str).context("it prints its version")?;
    let figure = said.get(figure).and_then(Value::as_f64).context("it prints its figure")?;
    Ok((version.to_owned(), figure))
}

/// Measures a few rounds, each between two looks at the disk.
fn row(raw: &mut Raw, mut run: impl FnMut(usize) -> Result<(String, f64)>) -> Result<Row> {
    let (mut steps, mut raws, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut name = String::new();
    let mut before = raw.look()?;
    for round in 0..ROUNDS {
        let (called, step) = run(round)?;
        let after = raw.look()?;
        let flush = f64::midpoint(before, after);
        steps.push(step);
        raws.push(flush);
        ratios.push(step / flush);
        (before, name) = (after, called);
    }
    Ok(Row { name, step: median(&steps), raw: median(&raws), ratio: median(&ratios) })
}

/// Returns what a step of our own counter takes.
pub(super) fn ours(folder: &Path) -> Result<f64> {
    let mut counter = Counter::open(&folder.join("journal.db"))?;
    let mut took = Duration::ZERO;
    for _ in 0..STEPS {
        took += counter.step()?;
    }
    Ok(micros(took) / f64::from(STEPS))
}
