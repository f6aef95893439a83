//! `pointsman runs`, `show`, `why`, `replay`, `export`, `resume`: runs that are kept.

use std::{fmt::Write as _, path::PathBuf, process::ExitCode};

use clap::Args;
use pointsman_kernel::{
    id::Seq,
    view::{Why, view, why},
};
use pointsman_runtime::{
    session::{Nobody, Recalled},
    store::RunId,
};
use serde_json::json;

use super::run::{finish, observers};
use crate::{
    place,
    report::{self, Error},
    words,
};

/// List the runs that are kept, the newest first.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  pointsman runs\n  pointsman runs --json")]
pub(crate) struct Runs {
    /// Print JSON, a line per run.
    #[arg(long)]
    json: bool,
}

/// Show a run's timeline.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  pointsman show RUN\n  pointsman show RUN --json")]
pub(crate) struct Show {
    /// The run.
    run: RunId,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Explain one step: why the run went where it went.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  pointsman why RUN 3\n  pointsman why RUN 3 --json")]
pub(crate) struct Explain {
    /// The run.
    run: RunId,
    /// The entry.
    entry: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Replay a run's journal and check every byte.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman replay RUN
  pointsman replay RUN --until 3

Exits with 0, or with 9 when the journal and this build disagree.")]
pub(crate) struct Replay {
    /// The run.
    run: RunId,
    /// Stop after this entry.
    #[arg(long)]
    until: Option<u64>,
}

/// Print a run's journal as it is: JSON lines whose chain anybody can check.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  pointsman export RUN > run.jsonl")]
pub(crate) struct Export {
    /// The run.
    run: RunId,
}

/// Go on with a run that was interrupted.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  pointsman resume RUN\n  pointsman resume RUN --in ~/src/project"
)]
pub(crate) struct Resume {
    /// The run.
    run: RunId,
    /// The folder to work in.
    #[arg(long = "in", value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Runs {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let mut text = String::new();
        for row in session.store().runs().map_err(Error::Store)? {
            let ended = row.ended.as_deref();
            // Writing to a string cannot fail.
            let _: std::fmt::Result = if self.json {
                let said = json!({
                    "run": row.id.as_str(), "agent": row.agent, "goal": row.goal,
                    "created_ms": row.created_ms, "entries": row.seq.0, "state": row.state,
                    "ended": ended,
                });
                writeln!(text, "{said}")
            } else {
                let how = ended.unwrap_or("not ended");
                writeln!(text, "{}  {:<10} {how:<10} {}", row.id, row.agent, row.goal)
            };
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns why each step of a run went where it went.
fn steps(recalled: &Recalled, run: &RunId) -> Result<Vec<Why>, Error> {
    let mut steps = Vec::new();
    let replayed = pointsman_runtime::driver::fold_each(
        &recalled.chart,
        run,
        &recalled.lines,
        |event, run, stepped| {
            let hops = &stepped.hops;
            steps.push(why(&recalled.chart, run.core(), event, hops, &stepped.verdicts));
        },
    );
    replayed.map_err(|error| Error::Session(error.into()))?;
    Ok(steps)
}

impl Show {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let recalled = session.recall(&self.run, None).map_err(Error::Session)?;
        let steps = steps(&recalled, &self.run)?;
        let view = view(&recalled.chart, recalled.loaded.run.core());
        if self.json {
            report::data(&format!("{}\n", json!({ "run": view, "steps": steps })))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("{} of {}\n", self.run, view.chart);
        for step in &steps {
            // Writing to a string cannot fail.
            let _: std::fmt::Result =
                write!(text, "{:>4} {:>9}  {}", step.seq.0, words::duration(step.at.0), step.event);
            for hop in &step.hops {
                let to = hop.to.as_deref().unwrap_or("the end");
                let _: std::fmt::Result = write!(text, "  → {to} ({})", hop.because);
            }
            text.push('\n');
        }
        let how = view.ended.map_or("not ended", words::disposition);
        let _: std::fmt::Result = writeln!(text, "{how}, in `{}`", view.seen_as);
        if let Some(result) = recalled.loaded.run.result() {
            let _: std::fmt::Result = writeln!(text, "\n{result}");
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let until = Some(Seq(self.entry));
        let recalled = session.recall(&self.run, until).map_err(Error::Session)?;
        let Some(step) = steps(&recalled, &self.run)?.pop() else { return Ok(ExitCode::SUCCESS) };
        if self.json {
            // A step is plain data.
            let text = serde_json::to_string(&step).unwrap_or_default();
            report::data(&format!("{text}\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text =
            format!("entry {} at {}: {}\n", step.seq.0, words::duration(step.at.0), step.event);
        // Writing to a string cannot fail.
        let mut line = |line: String| {
            let _: std::fmt::Result = writeln!(text, "{line}");
        };
        for hop in &step.hops {
            let to = hop.to.as_deref().unwrap_or("the end");
            let spent = hop.spent.as_ref().map_or(String::new(), |it| format!(", spending `{it}`"));
            line(format!("  {} → {to}: {}{spent}", hop.from, hop.because));
            for (outcome, to) in &hop.not_taken {
                line(format!("      not taken: {outcome} → {to}"));
            }
        }
        for verdict in &step.verdicts {
            line(format!("  governor: {} ({})", verdict.reason, verdict.advice));
        }
        for budget in &step.budgets {
            line(format!("  left of `{}`: {} of {}", budget.name, budget.left, budget.max));
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Replay {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let recalled = session.recall(&self.run, self.until.map(Seq)).map_err(Error::Session)?;
        let state = view(&recalled.chart, recalled.loaded.run.core()).state;
        let count = recalled.lines.len();
        report::data(&format!("{count} entries replayed, byte for byte: in `{state}`\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Export {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let recalled = session.recall(&self.run, None).map_err(Error::Session)?;
        let text: String = recalled.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Resume {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let session = place::session()?;
        let host = session.host(place::host(&session, &self.folder)).map_err(Error::Session)?;
        let outcome =
            session.resume(&host, &self.run, observers(), &mut Nobody).map_err(Error::Session)?;
        finish(&outcome, self.json)
    }
}
