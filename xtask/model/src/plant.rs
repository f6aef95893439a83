//! Bugs on purpose: the step, wrapped in one that breaks a promise. A checker that
//! finds nothing has to show that it could.

use clap::ValueEnum;
use pointsman_kernel::{
    Rejected, StepResult,
    agent::{Agent, Order},
    chart::Chart,
    effect::{Effect, EffectKind, StepOutput},
    event::{Event, Observed},
    id::{EffectId, Seq},
    run::{BudgetBalance, Run},
    step,
};

/// A bug that can be planted around the step.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum PlantedBug {
    /// What an edge spends is given back.
    Unmetered,
    /// A run that has ended can be cancelled.
    SecondTerminal,
    /// A call that a person is asked about starts with the question.
    EffectBeforeVerdict,
}

/// Applies one event, as the kernel does but for the planted bug.
pub(crate) fn planted<A: Agent>(
    plant: Option<PlantedBug>,
    chart: &Chart,
    run: &mut Run<A>,
    (seq, seen): (Seq, Observed<A::Report>),
    out: &mut StepOutput<A::Task>,
) -> Result<StepResult, Rejected> {
    let cancels = matches!(seen.event, Event::Cancelled { .. });
    if plant == Some(PlantedBug::SecondTerminal) && cancels {
        run.core.ended = None;
    }
    let took = step(chart, run, seq, seen, out);
    match plant {
        Some(PlantedBug::Unmetered) => {
            for budget in out.hops.iter().filter_map(|hop| hop.spent) {
                let max = chart.budget(budget).map_or(0, pointsman_kernel::chart::Budget::max);
                if let Some(purse) = run.core.balances.get_mut(budget.index()) {
                    *purse = BudgetBalance { left: max, closed: false };
                }
            }
        }
        Some(PlantedBug::EffectBeforeVerdict) => {
            let asked = out.effects.iter().filter_map(|effect| match &effect.order {
                EffectKind::AskPerson(call) => Some(call.clone()),
                _ => None,
            });
            let asked: Vec<_> = asked.collect();
            for call in asked {
                let index = u16::try_from(out.effects.len()).unwrap_or(u16::MAX);
                let order = EffectKind::Start(Order::Tool(call));
                out.effects.push(Effect { id: EffectId { seq, index }, order });
            }
        }
        Some(PlantedBug::SecondTerminal) | None => {}
    }
    took
}
