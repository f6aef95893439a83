//! `pointsman check`: verify a chart and print its certificate.

use std::{fmt::Write as _, process::ExitCode};

use clap::Args;
use pointsman_kernel::chart::{Budget, CertificateScope, Chart};

use crate::{
    chart::Source,
    check::CheckReport,
    format::{duration, grouped, money},
    report::{self, Error},
};

/// Verify a chart: print its certificate, or every error in it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman check form
  pointsman check my-agent.toml
  pointsman check my-agent.toml --json | jq .certificate

Exits with 0, or with 8 when the chart is refused.")]
pub(crate) struct Check {
    /// A shipped agent, a chart file, or `-` for standard input.
    chart: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let source = Source::find(&self.chart)?;
        if self.json {
            let report = CheckReport::of(&source.text);
            // Strings and numbers always serialise.
            report::json(&serde_json::to_value(&report).unwrap_or_default())?;
            return Ok(ExitCode::from(if report.is_ok() { 0 } else { 8 }));
        }
        let program = source.program()?;
        report::data(&told(&program))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Tells people what was proved.
fn told(chart: &Chart) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _: std::fmt::Result = write(chart, &mut text);
    text
}

fn write(chart: &Chart, text: &mut String) -> std::fmt::Result {
    let certificate = chart.certificate();
    let per = match certificate.per {
        CertificateScope::Turn => "turn",
        _ => "run",
    };
    writeln!(text, "{} v{} is sound: every {per} ends.", chart.name(), chart.version())?;
    writeln!(text)?;
    writeln!(text, "Worst case per {per}:")?;
    writeln!(text, "  model calls   {:>12}", grouped(certificate.model_calls))?;
    writeln!(text, "  tool calls    {:>12}", grouped(certificate.tool_calls))?;
    let tokens = certificate.tokens.map_or_else(|| "no limit".into(), grouped);
    writeln!(text, "  tokens        {tokens:>12}")?;
    let cost = certificate.money.map_or_else(|| "no limit".into(), money);
    writeln!(text, "  cost          {cost:>12}")?;
    writeln!(text, "  time          {:>12}", duration(certificate.time_ms))?;
    writeln!(text, "  state visits  {:>12}", grouped(certificate.steps))?;
    if certificate.tokens.is_some() || certificate.money.is_some() {
        writeln!(text, "The call that reaches a token or cost limit still completes.")?;
    }
    let limits: Vec<&str> = chart.budgets().iter().map(Budget::name).collect();
    if !limits.is_empty() {
        writeln!(text, "`--budget NAME=AMOUNT` changes these limits: {}", limits.join(", "))?;
    }
    writeln!(text)?;
    let report = chart.authority_report();
    let level = serde_json::to_value(report.level).unwrap_or_default();
    let level = level.as_str().unwrap_or_default().to_owned();
    if report.edges.is_empty() {
        writeln!(text, "Authority `{level}`: no route depends on model output.")?;
        return Ok(());
    }
    writeln!(text, "Authority `{level}`: a model can cause only these routes:")?;
    let width = report.edges.iter().map(|edge| edge.from.len() + edge.outcome.len()).max();
    for edge in &report.edges {
        let way = format!("{} --{}-->", edge.from, edge.outcome);
        writeln!(text, "  {way:<width$} {}", edge.to, width = width.unwrap_or(0) + 6)?;
    }
    Ok(())
}
