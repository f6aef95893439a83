//! What must hold after a step, judged from outside the kernel.

use pointsman_kernel::{
    agent::{Order, ToolCall},
    chart::{Budget, Chart, State},
    effect::{EffectKind, StepOutput},
    event::{Event, Observed},
    governor::Level,
    id::{Digest, EffectId},
    journal::{Entry, digest},
    replay::fold,
    run::{BudgetBalance, Core, ItemStatus, Run},
    step,
};

use super::{
    agent::{ASKED, DrawingAgent, UNLISTED, drawing},
    node::{BrokenProperty, Node},
    search::snapshot,
};

/// Closed effects that are remembered, to be answered once more.
const REMEMBERED: usize = 2;

/// Returns the first promise that a step has broken, and keeps the books of the
/// place that it has led to.
pub(crate) fn broken(
    chart: &Chart,
    core: &Core,
    node: &mut Node,
    seen: &Observed<()>,
    out: &StepOutput<()>,
) -> Option<BrokenProperty> {
    if !is_allowed(core, node, seen, out) {
        return Some(BrokenProperty::BeforeVerdict);
    }
    if !is_accounted_for(core, node, seen, out) {
        return Some(BrokenProperty::Orphaned);
    }
    let over = |(budget, purse): (&Budget, &BudgetBalance)| purse.left > budget.max();
    if chart.budgets().iter().zip(&core.balances).any(over) {
        return Some(BrokenProperty::OverMax);
    }
    if core.ended.is_some() {
        let leaves = core.wake.is_some() || !node.open.is_empty();
        return leaves.then_some(BrokenProperty::AfterTheEnd);
    }
    let waits = core.paused
        || core.wake.is_some()
        || !node.open.is_empty()
        || chart.state(core.state).is_some_and(State::is_await);
    (!waits).then_some(BrokenProperty::DeadEnd)
}

/// Returns whether every tool that was started might start: the rule over calls is
/// known here, and so is who was granted what.
fn is_allowed(core: &Core, node: &mut Node, seen: &Observed<()>, out: &StepOutput<()>) -> bool {
    if matches!(seen.event, Event::ApprovalAnswered { granted: true, .. }) {
        node.granted += 1;
    }
    let remembered =
        core.governor.permissions.rules.first().is_some_and(|rule| rule.level == Level::Allow);
    for effect in &out.effects {
        let EffectKind::Start(Order::Tool(call)) = &effect.order else { continue };
        if call.tool == UNLISTED {
            return false;
        }
        if is_asked_for(call) && !remembered {
            let Some(left) = node.granted.checked_sub(1) else { return false };
            node.granted = left;
        }
    }
    if !out.hops.is_empty() || remembered {
        node.granted = 0;
    }
    true
}

fn is_asked_for(call: &ToolCall) -> bool {
    call.arguments.get().contains(&format!("\"{ASKED}\""))
}

/// Returns whether what the run waits for is what was started or asked, and neither
/// answered nor stopped.
fn is_accounted_for(
    core: &Core,
    node: &mut Node,
    seen: &Observed<()>,
    out: &StepOutput<()>,
) -> bool {
    let waited: Vec<EffectId> =
        core.items.iter().filter_map(|item| waits_for(item.doing)).collect();
    let mut sound = true;
    if let Event::Answered { effect, .. } | Event::ApprovalAnswered { effect, .. } = &seen.event {
        sound &= close(node, *effect);
    }
    for effect in &out.effects {
        match effect.order {
            EffectKind::Stop(stopped) => sound &= close(node, stopped),
            EffectKind::AskPerson(_) => node.open.push((effect.id, true)),
            _ => node.open.push((effect.id, false)),
        }
    }
    // Only a timeout closes unanswered questions.
    if matches!(seen.event, Event::Woke) {
        let expired = node.open.iter().filter(|(id, asked)| *asked && !waited.contains(id));
        for (id, _) in expired.copied().collect::<Vec<_>>() {
            sound &= close(node, id);
        }
    }
    sound && waited.len() == node.open.len() && node.open.iter().all(|(id, _)| waited.contains(id))
}

/// Closes an effect, and returns whether it was open.
fn close(node: &mut Node, id: EffectId) -> bool {
    if node.closed.len() >= REMEMBERED {
        node.closed.remove(0);
    }
    node.closed.push(id);
    let was = node.open.iter().position(|(open, _)| *open == id);
    was.map(|at| node.open.remove(at)).is_some()
}

const fn waits_for(doing: ItemStatus) -> Option<EffectId> {
    match doing {
        ItemStatus::Working { effect, .. } | ItemStatus::Asking { effect, .. } => Some(effect),
        _ => None,
    }
}

/// Returns the calls of a model and of a tool that a step has started.
pub(crate) fn calls(out: &StepOutput<()>) -> (u64, u64) {
    out.effects.iter().fold((0, 0), |(models, tools), effect| match effect.order {
        EffectKind::Start(Order::Model(_)) => (models + 1, tools),
        EffectKind::Start(Order::Tool(_)) => (models, tools + 1),
        _ => (models, tools),
    })
}

/// Returns whether the journal of the way to a place gives the same run: written
/// down entry by entry, and folded back without ever being restored.
pub(crate) fn replays<const N: usize>(chart: &Chart, node: &Node) -> bool {
    let (mut written, mut folded) =
        (Run::<DrawingAgent<N>>::new(chart), Run::<DrawingAgent<N>>::new(chart));
    let (mut out, mut prev) = (StepOutput::default(), Digest::default());
    for link in node.way() {
        let (seq, seen) = (written.core.next, link.seen.clone());
        let Ok(event) = serde_json::value::to_raw_value(&seen.event) else { return false };
        let (at, v) = (seen.at, seen.event.format());
        let (took, _) =
            drawing(&link.laid, || step(chart, &mut written, seq, seen, &mut out).is_ok());
        let (hops, effects) = (out.hops.clone(), digest(&out));
        let entry = Entry { v, seq, at, event: &event, hops, effects, prev };
        let line = entry.line();
        let (next, _) = drawing(&link.laid, || fold(chart, &mut folded, &mut out, prev, &line));
        let Ok(next) = next else { return false };
        prev = next;
        if !took {
            return false;
        }
    }
    snapshot(&written) == *node.snapshot && snapshot(&folded) == *node.snapshot
}
