//! `pointsman graph`: a chart, or the map of an explored app, as a picture or as text for
//! other tools.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pointsman_kernel::{agents::Program, graph};

use crate::{
    appmap,
    chart::Source,
    draw::{self, Theme},
    error::ExploreError,
    findings, format,
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Draw a chart or an explored app, as SVG or for another tool.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman graph form --format svg > form.svg
  pointsman graph form --format svg --theme dark > form-dark.svg
  pointsman graph form > form.mmd
  pointsman graph form --format dot | dot -Tpdf > form.pdf
  pointsman graph form --format xstate > form.json
  pointsman graph last > map.svg                        the app that the newest run explored
  pointsman graph last --format json | jq .coverage")]
pub(crate) struct Graph {
    /// A shipped agent, a chart file, `-` for standard input, or an exploration: an id, a
    /// unique prefix of one, or `last`.
    #[arg(value_name = "CHART|RUN")]
    chart: String,
    /// The output format [default: mermaid for a chart, svg for a run].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The colours of an SVG.
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    theme: Theme,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A Mermaid state diagram; only for charts.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// An `XState` v5 machine config, as JSON; only for charts.
    Xstate,
    /// An SVG picture; needs no other program.
    Svg,
    /// Screens, edges and crashes as data; only for runs.
    Json,
}

impl Graph {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let text = match Source::find(&self.chart) {
            Err(Error::NoSuchChart { name }) => self.map(globals, name)?,
            source => self.chart(&source?.program()?)?,
        };
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn chart(&self, program: &Program) -> Result<String, Error> {
        Ok(match self.format.unwrap_or(Format::Mermaid) {
            Format::Mermaid => graph::mermaid(program),
            Format::Dot => graph::dot(program),
            Format::Xstate => format!("{:#}\n", graph::xstate(program)),
            Format::Svg => draw::svg(program, Some(program.agent()), self.theme),
            Format::Json => {
                return Err(Error::Explore(ExploreError::NoFormat {
                    what: "a chart",
                    format: "json",
                    instead: "mermaid, dot, xstate, svg",
                }));
            }
        })
    }

    /// Draws the app that a run explored. What names no run either is taken for a chart.
    fn map(&self, globals: &Globals, name: String) -> Result<String, Error> {
        let Ok(which) = name.parse::<RunArgument>() else {
            return Err(Error::NoSuchChart { name });
        };
        let session = globals.session()?;
        let found = match findings::explored(&session, &which) {
            Err(Error::NoSuchRun { typed, none }) if typed != "last" || !none => {
                return Err(Error::NoSuchChart { name });
            }
            found => found?,
        };
        let not = |format| ExploreError::NoFormat {
            what: "the map of an app",
            format,
            instead: "svg, dot, json",
        };
        Ok(match self.format.unwrap_or(Format::Svg) {
            Format::Svg => appmap::svg(&found, self.theme),
            Format::Dot => appmap::dot(&found),
            Format::Json => format!("{}\n", format::json(&appmap::json(&found).to_string())),
            Format::Mermaid => return Err(Error::Explore(not("mermaid"))),
            Format::Xstate => return Err(Error::Explore(not("xstate"))),
        })
    }
}
