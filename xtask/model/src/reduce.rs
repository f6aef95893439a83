//! Smaller charts: the shipped text with its large maxima lowered, so that loops
//! close within reach of an exhaustive search.
//!
//! States, edges, rules and resets stay as they are. What waits between attempts
//! is left to a provider's hint, and where time is a budget, every timeout is a
//! third of it: time then takes few values.

use anyhow::{Context, Result, anyhow};
use pointsman_agents::CHARTS;
use pointsman_kernel::chart::{Chart, verify};

/// What the line of a budget on time says.
const TIME: &str = r#"charge = "time""#;

/// Budgets that only cut the search short: the kernel's own properties check their maxima.
const COSTS: [&str; 3] = [r#"charge = "tool_call""#, r#"charge = "token""#, r#"charge = "money""#];
const MODEL_CALLS: &str = r#"charge = "model_call""#;

/// How far a chart is reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// What edges may spend, taps and actions outside the app.
    pub(crate) most: u64,
    /// Attempts of a state.
    pub(crate) attempts: u64,
    /// Items of a fan-out in progress at once; at most two are used.
    pub(crate) parallel: u64,
    /// Visits, where a budget counts them.
    pub(crate) steps: u64,
    /// Seconds, where a budget counts them; a third of them is every timeout then. Without
    /// them the budget is left out.
    pub(crate) seconds: Option<u64>,
    /// Calls of a model, where a budget counts them.
    pub(crate) calls: u64,
}

impl Reduction {
    /// Returns how far a chart of that name is reduced, for budgets of that size.
    pub(crate) fn of(chart: &str, most: u64) -> Self {
        let usual = Self { most, attempts: 2, parallel: 2, steps: 24, seconds: Some(90), calls: 6 };
        match chart {
            // One place for two items: one of them waits for it.
            "code" => Self { parallel: 1, seconds: None, ..usual },
            "chat" | "form" => Self { seconds: None, ..usual },
            _ => usual,
        }
    }

    /// Says what was reduced, for the output.
    pub(crate) fn about(self) -> String {
        let Self { most, attempts, parallel, steps, seconds, calls } = self;
        let time = seconds.map_or_else(
            || "no limit of time".into(),
            |seconds| format!("time ({seconds} s, timeouts a third of it)"),
        );
        format!(
            "reduced: every max at most {most}, but for steps ({steps}), model calls ({calls}) \
             and {time}; no limit of tool calls, tokens and money; attempts at most {attempts}; 2 items, {parallel} at once; \
             no waits but a provider's hint"
        )
    }

    /// Returns the shipped chart of that name, reduced and verified.
    pub(crate) fn chart(self, name: &str) -> Result<Chart> {
        let (_, text) = CHARTS
            .iter()
            .find(|(known, _)| *known == name)
            .with_context(|| format!("no chart named `{name}` ships"))?;
        verify(&self.text(text), &pointsman_agents::registry())
            .map_err(|refused| anyhow!("chart `{name}`, reduced, is refused: {refused:?}"))
    }

    fn text(self, text: &str) -> String {
        // Delays between attempts are jittered by the entry's number, which would distinguish
        // equal states; a hint always waits the same time.
        let costs = |line: &str| {
            COSTS.iter().any(|it| line.contains(it))
                || line.contains(TIME) && self.seconds.is_none()
        };
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("backoff"));
        let lines = lines.filter(|line| !costs(line));
        let timed = text.contains(TIME) && self.seconds.is_some();
        lines.map(|line| self.line(line, timed) + "\n").collect()
    }

    fn line(self, line: &str, timed: bool) -> String {
        let seconds = self.seconds.unwrap_or_default();
        if line.contains(TIME) {
            return replaced(line, "max = ", |_| format!("\"{seconds}s\""));
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        if timed && key == "timeout" {
            return format!("timeout = \"{}s\"", seconds / 3);
        }
        let max = if line.contains(r#"charge = "step""#) {
            self.steps
        } else if line.contains(MODEL_CALLS) {
            self.calls
        } else {
            self.most
        };
        let lowered = |line: &str, key, to: u64| {
            replaced(line, key, |value| {
                value.parse().map_or_else(|_| value.to_owned(), |was: u64| was.min(to).to_string())
            })
        };
        let line = lowered(line, "max = ", max);
        let line = match line.split_once('=') {
            Some((key, value)) if key.trim() == "attempts" => {
                format!("attempts ={}", lowered(&format!(" {value}"), " ", self.attempts))
            }
            _ => line,
        };
        let line = lowered(&line, "max_parallel = ", self.parallel);
        lowered(&line, "max_items = ", 2)
    }
}

/// Returns the line with the value after `key` replaced, if the line has the key.
fn replaced(line: &str, key: &str, with: impl Fn(&str) -> String) -> String {
    let Some((before, after)) = line.split_once(key) else { return line.to_owned() };
    let after = after.trim_start();
    let end = after.find([',', ' ', '}']).unwrap_or(after.len());
    let (value, rest) = after.split_at(end);
    format!("{before}{key}{}{rest}", with(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxima_are_lowered_and_nothing_else() {
        let reduction = Reduction { parallel: 1, ..Reduction::of("research", 2) };
        for (line, reduced) in [
            ("pages = { max = 20,  else = \"error\" }", "pages = { max = 2,  else = \"error\" }"),
            ("tries = { max = 1, else = \"error\" }", "tries = { max = 1, else = \"error\" }"),
            ("t = { max = \"5m\", charge = \"time\" }", "t = { max = \"90s\", charge = \"time\" }"),
            ("s = { max = 100,    charge = \"step\" }", "s = { max = 24,    charge = \"step\" }"),
            ("attempts = 3      # three", "attempts = 2      # three"),
            ("attempts  = 2", "attempts = 2"),
            (
                "run = \"a\", max_parallel = 4, max_items = 16 }",
                "run = \"a\", max_parallel = 1, max_items = 2 }",
            ),
            ("timeout = \"15s\"", "timeout = \"30s\""),
            ("on.timeout = \"error\"", "on.timeout = \"error\""),
        ] {
            let spaces = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(spaces(&reduction.line(line, true)), spaces(reduced));
        }
    }

    #[test]
    fn every_reduced_chart_is_a_chart() {
        for (name, _) in CHARTS {
            let chart = Reduction::of(name, 2).chart(name).unwrap();
            let smaller = chart.budgets().iter().all(|budget| {
                budget.max() <= 24 || budget.charge() == Some(pointsman_kernel::chart::Charge::Time)
            });
            assert!(smaller, "{name} keeps a large maximum");
        }
    }
}
