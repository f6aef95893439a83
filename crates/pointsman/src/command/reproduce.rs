//! `pointsman reproduce`: the shortest way to make happen again what an exploration found.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Args;
use pointsman_agents::explore::map::{AppMap, MishapKind};
use pointsman_webdriver::{
    exploration::Exploration,
    reproduce::{ReproduceOptions, Reproducer, reproduce},
    settings,
};
use serde_json::{Value, json};

use crate::{
    error::ExploreError,
    findings::{self, export},
    format,
    notify::note,
    paths::{self, Globals},
    report::{self, Error},
    run_argument::RunArgument,
};

/// Characters of a line that are shown.
const MAX_LINE: usize = 400;

/// Find the shortest steps to every crash, hang and dead end of an exploration.
#[derive(Args, Debug)]
#[command(after_help = "\
The command tries the shortest known steps first, then leaves out actions as long as the problem
still occurs. It never leaves out the app's start or the set-up steps. Then it repeats the shortest
steps and reports how often they reproduced the problem. Each try plays the recording with new
random choices, or restarts the app on the device.

Exit codes: 0 everything was reproduced, or there was nothing to reproduce, 1 a problem was not
reproduced, 2 the run is not an exploration or its device is unavailable, 4 the budget was used up.

Examples:
  pointsman reproduce last
  pointsman reproduce last --out crashes  writes a Maestro flow and a Python script for each problem
  pointsman reproduce last --tries 20 --budget actions=5000 --json")]
pub(crate) struct Reproduce {
    /// The exploration: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// How many times to verify the shortest sequence of steps [default: 5; 20 if an action had
    /// different results or the steps did not always work].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    tries: Option<u32>,
    /// Limit the actions for all problems together: `actions=N` [default: no total; each problem
    /// gets 60 actions for each of its known steps, at least 500 and at most 3000].
    #[arg(long, value_name = "actions=N", value_parser = budget)]
    budget: Option<u64>,
    /// Write a Maestro flow and a Python script for each problem into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn budget(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("actions=").and_then(|it| it.parse().ok());
    number
        .filter(|it| *it > 0)
        .ok_or_else(|| "write `actions=N` with a whole number of at least 1".into())
}

impl Reproduce {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let explored = findings::explored(&session, &self.run)?;
        let device = settings::device(&paths::user()?.explore);
        let options = ReproduceOptions { tries: self.tries, actions: self.budget, device };
        let found = reproduce(&explored.config, &explored.map, &options);
        let found = session.block_on(found);
        let found = found.map_err(|error| Error::Explore(ExploreError::Reproduce(error)))?;
        let files = match &self.out {
            Some(folder) => written(folder, &explored, &found)?,
            None => Vec::new(),
        };
        let map = &explored.map;
        if self.json {
            let found: Vec<Value> = found.iter().map(|it| data(map, it)).collect();
            let run = explored.run.id.as_str();
            report::json(&json!({ "run": run, "reproducers": found, "files": files }))?;
        } else {
            report::data(&told(map, &found))?;
            for file in &files {
                note(&format!("written: {file}"));
            }
        }
        let failed = found.iter().any(|it| it.held == 0);
        Ok(ExitCode::from(match failed {
            true if found.iter().any(|it| it.cut_short) => 4,
            failed => u8::from(failed),
        }))
    }
}

fn data(map: &AppMap, found: &Reproducer) -> Value {
    let moves = found.path.iter().filter_map(|at| map.moves.get(*at));
    let actions: Vec<_> = moves.map(|it| &it.action).collect();
    json!({
        "kind": found.mishap.kind,
        "screen": found.mishap.screen,
        "key": found.mishap.key,
        "path": actions,
        "length": found.path.len(),
        "seen_after": found.seen_after,
        "held": found.held,
        "tries": found.tries,
        "actions": found.actions,
        "cut_short": found.cut_short,
    })
}

fn told(map: &AppMap, found: &[Reproducer]) -> String {
    if found.is_empty() {
        return "No crash, hang or dead end was found; there is nothing to reproduce.\n".into();
    }
    let mut lines = Vec::new();
    for it in found {
        // An app's own words must not steer the terminal.
        let plain = |told: &str| format::line(told, MAX_LINE);
        lines.push(plain(&findings::told(map, &it.mishap)));
        let short =
            if it.cut_short { "; the budget was used up before the search ended" } else { "" };
        let length = it.path.len();
        let before = if it.seen_after == length {
            String::new()
        } else {
            format!(" instead of {}", it.seen_after)
        };
        lines.push(format!(
            "  reproduced in {} of {} tries, with {}{before}{short}",
            it.held,
            it.tries,
            format::counted(length.try_into().unwrap_or(u64::MAX), "action")
        ));
        let steps = findings::path(map, &it.path);
        lines
            .extend((1..).zip(steps).map(|(number, step)| format!("  {number}. {}", plain(&step))));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Writes what was found as a flow and a script each, and returns the files.
fn written(
    folder: &PathBuf,
    explored: &Exploration,
    found: &[Reproducer],
) -> Result<Vec<String>, Error> {
    let mut files = Vec::new();
    let wrong = |path: &PathBuf, source| Error::Write { path: path.display().to_string(), source };
    fs::create_dir_all(folder).map_err(|source| wrong(folder, source))?;
    let (map, config) = (&explored.map, &explored.config);
    // A way that never worked is nothing to hand on.
    for (number, it) in (1..).zip(found.iter().filter(|it| it.held > 0)) {
        let kind = match it.mishap.kind {
            MishapKind::Crash => "crash",
            MishapKind::NotResponding => "hang",
            MishapKind::DeadEnd => "dead-end",
        };
        for (end, text) in
            [("yaml", export::maestro(map, it)), ("py", export::python(map, config, it))]
        {
            let path = folder.join(format!("{number:02}-{kind}.{end}"));
            fs::write(&path, text).map_err(|source| wrong(&path, source))?;
            files.push(path.display().to_string());
        }
    }
    Ok(files)
}
