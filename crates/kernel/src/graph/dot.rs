//! Graphviz DOT.

use alloc::string::String;
use core::fmt::Write;

use super::{any, arrows, authority, kind};
use crate::chart::{Chart, StateKind};

/// Returns the chart as a DOT digraph. Dashed arrows are those that model output can cause.
pub fn dot(chart: &Chart) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _: core::fmt::Result = write(chart, &mut text);
    text
}

fn write(chart: &Chart, text: &mut String) -> core::fmt::Result {
    let name = |id| chart.state_name(id);
    writeln!(text, "digraph \"{}\" {{", chart.name())?;
    writeln!(
        text,
        "  label=\"{} v{} (authority {})\";",
        chart.name(),
        chart.version(),
        authority(chart)
    )?;
    writeln!(text, "  node [shape=box, style=rounded];")?;
    writeln!(text, "  \"\" [shape=point];")?;
    writeln!(text, "  \"\" -> \"{}\";", name(chart.start()))?;
    for state in chart.states() {
        let look = match state.kind() {
            StateKind::Final(_) => ", peripheries=2",
            StateKind::Decide(_) => ", shape=diamond, style=solid",
            StateKind::Await { .. } => ", style=\"rounded,dashed\"",
            StateKind::FanOut { .. } => ", shape=box3d, style=solid",
            StateKind::Run(_) => "",
            StateKind::BetweenAttemptsOf(of) | StateKind::WhileAsking(of) => {
                let (label, of) = (state.name(), name(*of));
                writeln!(text, "  \"{label}\" [shape=note, style=solid];")?;
                writeln!(text, "  \"{of}\" -> \"{label}\" [style=dotted, arrowhead=none];")?;
                continue;
            }
        };
        writeln!(text, "  \"{}\" [tooltip=\"{}\"{look}];", state.name(), kind(state))?;
    }
    for arrow in arrows(chart) {
        let style = if arrow.influenced { ", style=dashed" } else { "" };
        let (from, to) = (name(arrow.from), name(arrow.to));
        writeln!(text, "  \"{from}\" -> \"{to}\" [label=\"{}\"{style}];", arrow.label())?;
    }
    writeln!(text, "  \"any\" [shape=plaintext];")?;
    for (event, to) in any(chart) {
        writeln!(text, "  \"any\" -> \"{}\" [label=\"{event}\", style=dotted];", name(to))?;
    }
    writeln!(text, "}}")
}
