//! Mermaid's `stateDiagram-v2`.

use alloc::string::String;
use core::fmt::Write;

use super::{any, arrows, authority};
use crate::chart::{Chart, StateKind};

/// Returns the chart as a Mermaid state diagram.
pub fn mermaid(chart: &Chart) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _: core::fmt::Result = write(chart, &mut text);
    text
}

fn write(chart: &Chart, text: &mut String) -> core::fmt::Result {
    let name = |id| chart.state_name(id);
    writeln!(text, "---")?;
    writeln!(
        text,
        "title: {} v{} (authority {})",
        chart.name(),
        chart.version(),
        authority(chart)
    )?;
    writeln!(text, "---")?;
    writeln!(text, "stateDiagram-v2")?;
    writeln!(text, "    [*] --> {}", name(chart.start()))?;
    for arrow in arrows(chart) {
        writeln!(text, "    {} --> {} : {}", name(arrow.from), name(arrow.to), arrow.label())?;
    }
    for (id, state) in chart.state_ids().zip(chart.states()) {
        match state.kind() {
            StateKind::Final(_) => writeln!(text, "    {} --> [*]", state.name())?,
            StateKind::BetweenAttemptsOf(of) => {
                writeln!(
                    text,
                    "    note right of {} : seen as {} between attempts",
                    name(*of),
                    name(id)
                )?;
            }
            StateKind::WhileAsking(of) => {
                writeln!(
                    text,
                    "    note right of {} : seen as {} while a person decides",
                    name(*of),
                    name(id)
                )?;
            }
            StateKind::Run(_)
            | StateKind::Decide(_)
            | StateKind::Await { .. }
            | StateKind::FanOut { .. } => {}
        }
    }
    for (event, to) in any(chart) {
        writeln!(text, "    note left of {} : from any state on {event}", name(to))?;
    }
    Ok(())
}
