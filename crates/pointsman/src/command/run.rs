//! `pointsman run`: run an agent to its end.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::Args;
use pointsman_kernel::chart::{Chart, Per, Tools};
use pointsman_runtime::{
    driver::Standing,
    observe::{Notice, Observer},
    session::{Nobody, Outcome, Start, reads_only},
    store::RunId,
};
use serde_json::json;

use crate::{
    chart::Source,
    place,
    report::{self, Error},
    words::{self, disposition},
};

/// Run an agent to its end: progress on standard error, the result on standard output.
#[derive(Args, Debug)]
#[command(after_help = "\
So far `research` runs, with the built-in answerer `quote`: it searches the folder and quotes
the passages that match, with file and line. No model is asked and nothing is changed.

Examples:
  pointsman run research \"Where is the loop rule proved?\"
  pointsman run research \"Which tests replay journals?\" --in ~/src/project --json
  pointsman run research \"…\" --dry-run

Exit codes: 0 succeeded, 1 failed, 2 usage, 3 waiting for a person, 4 budget, 5 stuck,
6 cancelled, 7 denied, 8 chart refused, 10 store fault.")]
pub(crate) struct Run {
    /// The agent.
    agent: String,
    /// What it should do.
    goal: String,
    /// The folder to work in.
    #[arg(long = "in", value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Say what would run, and do nothing.
    #[arg(long = "dry-run")]
    only_plan: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let source = Source::find(&self.agent)?;
        let text = source.text.clone();
        let chart = source.chart()?;
        if chart.jobs() != "research" {
            return Err(Error::NotYet { agent: self.agent });
        }
        if self.only_plan {
            report::data(&plan(&chart))?;
            return Ok(ExitCode::SUCCESS);
        }
        let start = Start {
            chart,
            source: text.into(),
            config: json!({ "goal": self.goal }),
            goal: self.goal.into(),
            permissions: reads_only(false),
            seed: None,
        };
        let session = place::session()?;
        let host = session.host(place::host(&session, &self.folder)).map_err(Error::Session)?;
        let outcome =
            session.run(&host, start, observers(), &mut Nobody).map_err(Error::Session)?;
        finish(&outcome, self.json)
    }
}

/// Prints how a run stands, and returns the exit code that says so.
pub(crate) fn finish(outcome: &Outcome, json: bool) -> Result<ExitCode, Error> {
    let ended = match outcome.standing {
        Standing::Ended(ended) => Some(ended),
        _ => None,
    };
    let how = ended.map(disposition);
    if json {
        let said = json!({
            "run": outcome.run.as_str(),
            "ended": how,
            "result": outcome.result,
        });
        report::data(&format!("{said}\n"))?;
    } else {
        if let Some(result) = &outcome.result {
            report::data(&format!("{result}\n"))?;
        }
        let run = &outcome.run;
        let how = how.unwrap_or("waiting for a person");
        note(&format!("{how}: run {run} (pointsman show {run})"));
    }
    Ok(ExitCode::from(words::exit_code(ended)))
}

/// Returns who shows what happens, a line for each thing.
pub(crate) fn observers() -> Vec<Arc<dyn Observer>> {
    vec![Arc::new(|_: &RunId, notice: &Notice| match notice {
        Notice::StateChanged { from, to, reason, .. } => {
            let to = to.as_deref().unwrap_or("the end");
            let by = if from.is_some() { format!(" ({reason})") } else { String::new() };
            note(&format!("→ {to}{by}"));
        }
        Notice::Warned(verdict) | Notice::Stuck(verdict) => {
            note(&format!("  governor: {}", verdict.reason));
        }
        Notice::Attempted { what, .. } => note(&format!("  {what}")),
        Notice::Asked(question) => note(&format!("  asks for {}", question.call.tool)),
        Notice::Refused(why) => note(&format!("  refused: {why}")),
        _ => {}
    })]
}

fn note(line: &str) {
    // Where standard error is closed there is nobody to tell.
    drop(writeln!(io::stderr(), "{line}"));
}

/// Says what would run.
fn plan(chart: &Chart) -> String {
    let certificate = chart.certificate();
    let per = if certificate.per == Per::Turn { "turn" } else { "run" };
    let mut text = format!(
        "{} v{} would run over this folder, with the built-in answerer `quote`.\n\n\
         At the very worst, per {per}: {} state visits, {} model calls, {} tool calls, {}.\n\nTools:\n",
        chart.name(),
        chart.version(),
        words::grouped(certificate.steps),
        words::grouped(certificate.model_calls),
        words::grouped(certificate.tool_calls),
        words::duration(certificate.time_ms),
    );
    for state in chart.states() {
        let tools = match state.tools() {
            Tools::Only(list) => list.join(", "),
            Tools::All => "all that only look".into(),
            _ => continue,
        };
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "  {}: {tools}", state.name());
    }
    text
}
