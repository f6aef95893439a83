//! An `XState` v5 machine config: `createMachine` takes it as it is.

use alloc::{format, string::String};

use serde_json::{Map, Value, json};

use super::{any, kind};
use crate::chart::{Chart, State};

/// Returns the chart as an `XState` machine config.
///
/// Every outcome or awaited event is an event of its state, and `[any]` is at the root. Budgets
/// are in descriptions: the export is the map, not the meter.
pub fn xstate(chart: &Chart) -> Value {
    let mut states = Map::new();
    for state in chart.states().iter().filter(|state| !state.is_label()) {
        let config = if state.is_final() {
            json!({ "type": "final" })
        } else {
            json!({ "description": kind(state), "on": on(chart, state) })
        };
        states.insert(state.name().into(), config);
    }
    let root: Map<String, Value> = any(chart)
        .map(|(event, to)| (event.into(), Value::from(format!(".{}", chart.state_name(to)))))
        .collect();
    json!({
        "id": chart.name(),
        "version": format!("{}", chart.version()),
        "initial": chart.state_name(chart.start()),
        "on": root,
        "states": states,
    })
}

fn on(chart: &Chart, state: &State) -> Map<String, Value> {
    let target = |edge: crate::chart::Edge| {
        let to = chart.state_name(edge.to);
        match edge.spend.and_then(|id| chart.budget(id)) {
            // `reenter` is not asked for: a chart's own loops are edges to siblings.
            Some(budget) => {
                json!({ "target": to, "description": format!("spends {}", budget.name()) })
            }
            None => json!({ "target": to }),
        }
    };
    let mut on: Map<String, Value> =
        state.routes().iter().map(|route| (route.name().into(), target(route.edge()))).collect();
    // Where it is not routed, a timeout is a failure.
    if let Some(route) = state.kernel_outcomes().timeout.and_then(|outcome| state.route(outcome)) {
        on.entry(String::from("timeout")).or_insert_with(|| target(route.edge()));
    }
    on
}
