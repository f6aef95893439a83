//! `pointsman check`: verify a chart and print its certificate.

use std::{fmt::Write as _, process::ExitCode};

use clap::Args;
use pointsman_kernel::chart::{
    AuthorityReport, Budget, Certificate, CertificateScope, Chart, RefusedChart,
};
use serde::Serialize;

use crate::{
    chart::Source,
    format::{self, duration, grouped, money},
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

#[derive(Serialize)]
struct Verdict<'a> {
    chart: &'a str,
    ok: bool,
    errors: Vec<Finding<'a>>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
    certificate: Option<Certificate>,
    authority: Option<&'a AuthorityReport>,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'a str,
    message: &'a str,
    line: usize,
    column: usize,
    hint: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let source = Source::find(&self.chart)?;
        match source.verify() {
            Ok(chart) if self.json => {
                let verdict = Verdict {
                    chart: chart.name(),
                    ok: true,
                    errors: Vec::new(),
                    more: 0,
                    certificate: Some(chart.certificate()),
                    authority: Some(chart.authority_report()),
                };
                report::data(&json(&verdict))?;
            }
            Ok(chart) => report::data(&told(&chart))?,
            Err(refused) if self.json => {
                let verdict = Verdict {
                    chart: &refused.chart,
                    ok: false,
                    errors: findings(&source, &refused),
                    more: refused.more,
                    certificate: None,
                    authority: None,
                };
                report::data(&json(&verdict))?;
                return Ok(ExitCode::from(8));
            }
            Err(refused) => return Err(Error::Refused { chart: source, refused }),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn findings<'a>(source: &Source, refused: &'a RefusedChart) -> Vec<Finding<'a>> {
    let located = refused.diagnostics.iter().map(|diagnostic| {
        let (line, column) = diagnostic.span.locate(&source.text);
        Finding {
            code: diagnostic.code.as_str(),
            message: &diagnostic.message,
            line,
            column,
            hint: &diagnostic.hint,
        }
    });
    located.collect()
}

fn json<T: Serialize>(value: &T) -> String {
    // Strings and numbers always serialise.
    let mut text = format::json(&serde_json::to_string(value).unwrap_or_default());
    text.push('\n');
    text
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
        writeln!(text, "`--budget NAME=AMOUNT` sets another limit for: {}", limits.join(", "))?;
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
