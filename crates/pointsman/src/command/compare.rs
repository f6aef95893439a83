//! `pointsman compare`: two explorations of one app against each other.

use std::{fmt::Write as _, process::ExitCode};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::{
    error::ExploreError,
    findings::{
        self,
        compare::{Compared, Differs},
    },
    format,
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Characters of a line that are shown.
const MAX_LINE: usize = 400;

/// Compare two explorations of an app: list lost and new screens, transitions and crashes.
#[derive(Args, Debug)]
#[command(after_help = "\
A transition that the second run did not try counts as lost: give both runs the same budget,
policy and seed, or use `--fail-on crashes,screens`.

Exit codes: 0 no difference that `--fail-on` names, 1 at least one, 2 the runs cannot be compared.

Examples:
  pointsman compare 01m7h last
  pointsman compare 01m7h last --fail-on crashes --json")]
pub(crate) struct Compare {
    /// The older exploration: an id, a unique prefix of one, or `last`.
    before: RunArgument,
    /// The newer exploration.
    after: RunArgument,
    /// The differences that make the command fail.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT",
          default_values_t = [Difference::Crashes, Difference::Screens, Difference::Edges])]
    fail_on: Vec<Difference>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Difference {
    /// New crashes and hangs.
    Crashes,
    /// Lost screens.
    Screens,
    /// Lost transitions between screens.
    Edges,
}

impl Compare {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let before = findings::explored(&session, &self.before)?;
        let after = findings::explored(&session, &self.after)?;
        if before.map.app != after.map.app {
            let (one, two) = (before.map.app, after.map.app);
            return Err(Error::Explore(ExploreError::OtherApp { one, two }));
        }
        if let Some(empty) = [&before, &after].into_iter().find(|it| it.map.screens.is_empty()) {
            let (run, why) = (empty.run.id.to_string(), empty.stopped.clone());
            return Err(Error::Explore(ExploreError::NothingSeen { run, why }));
        }
        let compared = Compared::new(&before.map, &after.map);
        let fails = self.fail_on.iter().any(|what| match what {
            Difference::Crashes => !compared.crashes.new.is_empty(),
            Difference::Screens => !compared.screens.lost.is_empty(),
            Difference::Edges => !compared.edges.lost.is_empty(),
        });
        if self.json {
            report::json(&json!({
                "before": before.run.id.as_str(),
                "after": after.run.id.as_str(),
                "app": after.map.app,
                "screens": compared.screens,
                "edges": compared.edges,
                "crashes": compared.crashes,
                "failed": fails,
            }))?;
        } else {
            report::data(&told(&compared))?;
        }
        Ok(ExitCode::from(u8::from(fails)))
    }
}

fn told(compared: &Compared) -> String {
    let mut text = String::new();
    for (name, differs) in [
        ("crashes and hangs", &compared.crashes),
        ("screens", &compared.screens),
        ("edges", &compared.edges),
    ] {
        let Differs { lost, new, same } = differs;
        // Writing to a string cannot fail.
        let _: std::fmt::Result =
            writeln!(text, "{name}: {} lost, {} new, {same} in both", lost.len(), new.len());
        for (sign, lines) in [("-", lost), ("+", new)] {
            for line in lines {
                // An app's own words must not steer the terminal.
                let line = format::line(line, MAX_LINE);
                let _: std::fmt::Result = writeln!(text, "  {sign} {line}");
            }
        }
    }
    text
}
