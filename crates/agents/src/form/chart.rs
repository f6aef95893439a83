//! The shipped chart of the agent, and how the configuration changes it.

use alloc::{
    format,
    string::{String, ToString},
};

/// The chart that ships with the agent.
pub const CHART: &str = include_str!("../../charts/form.toml");

/// Returns the chart with this many attempts per field, including the first, and these timeouts in
/// milliseconds. A run is bound to the chart that it was started with, so later settings do not
/// affect it.
pub fn chart_with(attempts_per_field: u16, timeouts: &[(&str, u64)]) -> String {
    let refills = format!("refills = {{ max = {}, ", attempts_per_field.max(1).saturating_sub(1));
    let mut state = "";
    let mut text = String::with_capacity(CHART.len());
    for line in CHART.lines() {
        if let Some(name) = line.strip_prefix("[state.").and_then(|it| it.strip_suffix(']')) {
            state = name;
        }
        let timeout = timeouts.iter().find(|(name, _)| *name == state);
        match (line.strip_prefix("refills = { max = "), timeout) {
            (Some(rest), _) => {
                let rest = rest.split_once(',').map_or("", |(_, rest)| rest.trim_start());
                text.push_str(&refills);
                text.push_str(rest);
            }
            (None, Some((_, ms))) if line.starts_with("timeout ") => {
                text.extend(["timeout = \"", &ms.to_string(), "ms\""]);
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}
