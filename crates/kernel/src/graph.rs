//! A chart as a picture in the languages of other tools. Pure text; no layout.

mod dot;
mod mermaid;
mod xstate;

use alloc::{string::String, vec::Vec};

pub use dot::dot;
pub use mermaid::mermaid;
pub use xstate::xstate;

use crate::{
    chart::{Authority, Chart, State, StateKind},
    id::StateId,
};

/// The outcomes that lead from one state to another at the same price, as one arrow.
struct Arrow<'c> {
    from: StateId,
    to: StateId,
    outcomes: Vec<&'c str>,
    spends: Option<&'c str>,
    /// Whether model output can bring one of them about.
    influenced: bool,
}

/// Returns the arrows of a chart, in the order of the file.
fn arrows(chart: &Chart) -> Vec<Arrow<'_>> {
    let mut arrows: Vec<Arrow<'_>> = Vec::new();
    for (from, state) in chart.state_ids().zip(chart.states()) {
        for route in state.routes() {
            let edge = route.edge();
            let spends = edge.spend.and_then(|id| chart.budget(id)).map(super::chart::Budget::name);
            let influenced = route.influence() != crate::job::Influence::None;
            let same = |arrow: &&mut Arrow<'_>| {
                (arrow.from, arrow.to, arrow.spends) == (from, edge.to, spends)
            };
            if let Some(arrow) = arrows.iter_mut().find(same) {
                arrow.outcomes.push(route.name());
                arrow.influenced |= influenced;
            } else {
                let outcomes = alloc::vec![route.name()];
                arrows.push(Arrow { from, to: edge.to, outcomes, spends, influenced });
            }
        }
    }
    arrows
}

impl Arrow<'_> {
    fn label(&self) -> String {
        let outcomes = self.outcomes.join(", ");
        match self.spends {
            Some(budget) => alloc::format!("{outcomes} / spends {budget}"),
            None => outcomes,
        }
    }
}

/// Returns the kind of a state, in a word.
const fn kind(state: &State) -> &'static str {
    match state.kind() {
        StateKind::Run(_) => "run",
        StateKind::Decide(_) => "decide",
        StateKind::Await { .. } => "await",
        StateKind::FanOut { .. } => "fan_out",
        StateKind::Final(_) => "final",
        StateKind::BetweenAttemptsOf(_) => "between_attempts_of",
        StateKind::WhileAsking(_) => "while_asking",
    }
}

/// Returns the entries of `[any]`.
fn any(chart: &Chart) -> impl Iterator<Item = (&'static str, StateId)> {
    let any = chart.any();
    [("cancel", Some(any.cancel)), ("cancel_turn", any.cancel_turn), ("shutdown", any.shutdown)]
        .into_iter()
        .filter_map(|(name, to)| Some((name, to?)))
}

const fn authority(chart: &Chart) -> &'static str {
    match chart.authority() {
        Authority::Text => "text",
        Authority::Choose => "choose",
        Authority::Propose => "propose",
    }
}
