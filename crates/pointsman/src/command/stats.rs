//! `pointsman stats`: figures over the runs that are kept.

use std::{fmt::Write as _, process::ExitCode};

use clap::Args;
use pointsman_runtime::stats::Stats;

use super::run::json_line;
use crate::{
    format::{self, counted, duration, grouped},
    paths::Globals,
    report::{self, Error},
};

/// Rows of each table.
const ROWS: usize = 15;

/// Print statistics over all runs, or over one agent's.
#[derive(Args, Debug)]
#[command(after_help = "\
The command reads and replays every run once.

Examples:
  pointsman stats
  pointsman stats research
  pointsman stats --json | jq .edges")]
pub(crate) struct ShowStats {
    /// Only runs of this agent or chart.
    agent: Option<String>,
    /// Print JSON with every row.
    #[arg(long)]
    json: bool,
}

impl ShowStats {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let agent = self.agent.as_deref();
        let stats = Stats::over(session.agents(), &**session.store(), agent);
        let stats = session.block_on(stats).map_err(Error::Store)?;
        if self.json {
            // Figures are plain data.
            json_line(&serde_json::to_value(&stats).unwrap_or_default())?;
        } else {
            report::data(&told(&stats))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn told(stats: &Stats) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _: std::fmt::Result = write(stats, &mut text);
    text
}

fn write(stats: &Stats, text: &mut String) -> std::fmt::Result {
    let ends: Vec<String> =
        stats.dispositions.iter().map(|(how, count)| format!("{count} {how}")).collect();
    let ends = if ends.is_empty() { "none ended yet".into() } else { ends.join(", ") };
    writeln!(text, "{}: {ends}", counted(stats.runs, "run"))?;
    let (whole, part) = (stats.stuck_per_mille / 10, stats.stuck_per_mille % 10);
    writeln!(text, "{whole}.{part} % of the ended runs were stuck")?;
    let saved = &stats.tokens_saved;
    if saved.runs > 0 {
        writeln!(
            text,
            "about {} saved: {} ended early, with up to {} unused",
            counted(saved.tokens, "token"),
            counted(saved.runs, "stuck run"),
            counted(saved.model_calls, "allowed model call"),
        )?;
    }
    let spent = &stats.spent;
    writeln!(
        text,
        "{}, {}, {}, cost: {}",
        counted(spent.model_calls, "model call"),
        counted(spent.tool_calls, "tool call"),
        counted(spent.tokens, "token"),
        format::money(spent.money)
    )?;
    if !stats.states.is_empty() {
        writeln!(
            text,
            "\n{:<32} {:>7} {:>10} {:>10} {:>10}",
            "TIME IN STATE", "VISITS", "MEDIAN", "P95", "TOTAL"
        )?;
        for stay in stats.states.iter().take(ROWS) {
            let name = format!("{}.{}", stay.chart, stay.state);
            let [median, p95, total] = [stay.median_ms, stay.p95_ms, stay.total_ms].map(duration);
            let visits = grouped(stay.visits);
            writeln!(text, "{name:<32} {visits:>7} {median:>10} {p95:>10} {total:>10}")?;
        }
        more(text, stats.states.len())?;
    }
    if !stats.edges.is_empty() {
        writeln!(text, "\n{:<56} {:>8}", "TRANSITION", "COUNT")?;
        for edge in stats.edges.iter().take(ROWS) {
            let from = edge.from.as_deref().unwrap_or("(start)");
            let to = edge.to.as_deref().unwrap_or("(end)");
            let way = format!("{}: {from} → {to} ({})", edge.chart, edge.reason);
            writeln!(text, "{way:<56} {:>8}", grouped(edge.count))?;
        }
        more(text, stats.edges.len())?;
    }
    if !stats.findings.is_empty() {
        writeln!(
            text,
            "\n{:<32} {:<18} {:>7} {:>8} {:>6}",
            "STUCK IN", "RULE", "WARNED", "STOPPED", "RUNS"
        )?;
        for found in stats.findings.iter().take(ROWS) {
            let place = format!("{}.{}", found.chart, found.state);
            let (rule, warned, stopped) = (&found.rule, found.warned, found.stopped);
            writeln!(text, "{place:<32} {rule:<18} {warned:>7} {stopped:>8} {:>6}", found.runs)?;
        }
        more(text, stats.findings.len())?;
    }
    if !stats.unreadable.is_empty() {
        let count = u64::try_from(stats.unreadable.len()).unwrap_or(u64::MAX);
        let runs = counted(count, "run");
        writeln!(text, "\nthis build cannot read {runs}:")?;
        for (run, why) in stats.unreadable.iter().take(ROWS) {
            writeln!(text, "  {run}: {why}")?;
        }
        more(text, stats.unreadable.len())?;
    }
    Ok(())
}

fn more(text: &mut String, rows: usize) -> std::fmt::Result {
    if rows > ROWS {
        writeln!(text, "… and {} more: `--json` has them all", rows - ROWS)?;
    }
    Ok(())
}
