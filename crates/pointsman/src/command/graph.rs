//! `pointsman graph`: a chart as a picture, or as text for other tools.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pointsman_agents::AGENTS;
use pointsman_kernel::graph;

use crate::{
    chart::Source,
    draw::{self, Theme},
    report::{self, Error},
};

/// Draw a chart, as a picture or for another tool.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman graph form --format svg > form.svg
  pointsman graph form --format svg --theme dark > form-dark.svg
  pointsman graph form > form.mmd
  pointsman graph form --format dot | dot -Tpdf > form.pdf
  pointsman graph form --format xstate > form.json")]
pub(crate) struct Graph {
    /// A shipped agent, a chart file, or `-` for standard input.
    chart: String,
    /// The language of the picture.
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    /// The colours of an SVG picture.
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    theme: Theme,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A Mermaid state diagram.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// An `XState` v5 machine config, as JSON.
    Xstate,
    /// A picture, drawn here: no other program is needed.
    Svg,
}

impl Graph {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let chart = Source::find(&self.chart)?.chart()?;
        let text = match self.format {
            Format::Mermaid => graph::mermaid(&chart),
            Format::Dot => graph::dot(&chart),
            Format::Xstate => format!("{:#}\n", graph::xstate(&chart)),
            Format::Svg => {
                let agent = AGENTS.iter().find(|agent| agent.name == chart.jobs());
                draw::svg(&chart, agent, self.theme)
            }
        };
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
