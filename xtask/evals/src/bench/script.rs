//! Scripts: the events of whole runs, drawn once and stepped over and over.

use anyhow::{Context, Result, bail, ensure};
use pointsman_kernel::{
    StepResult,
    agent::{Agent, Answer, Fault, FaultClass, OrderKind, Reply, ToolCall, ToolResult},
    chart::{Chart, State, StateKind},
    effect::{Cause, StepOutput},
    event::{Event, Observed, RunConfig, Scope, Usage},
    governor::Permissions,
    id::{At, EffectId},
    run::{Core, ItemStatus, Run},
    step,
};
use serde_json::value::RawValue;

use super::agent::BenchAgent;
use crate::random::SplitMix64;

/// Events of one run at most; long enough for most runs to end.
const LONGEST: usize = 400;

/// The events of one run, and the way that it goes.
pub(crate) struct Script {
    pub(crate) events: Vec<Observed<()>>,
    /// The outcome of every transition but the first, for `XState`.
    pub(crate) names: Vec<String>,
    /// The state at the end.
    pub(crate) end: String,
}

/// Returns scripts of so many events in all, or a few more.
pub(crate) fn scripts<const N: usize>(
    chart: &Chart,
    draws: &mut SplitMix64,
    events: usize,
) -> Result<Vec<Script>> {
    let mut scripts: Vec<Script> = Vec::new();
    while scripts.iter().map(|script| script.events.len()).sum::<usize>() < events {
        scripts.push(script::<N>(chart, draws)?);
    }
    Ok(scripts)
}

/// Draws one run, up to its end or to the step in which a budget is used up: its
/// `else` is a transition that `XState` has no name for.
fn script<const N: usize>(chart: &Chart, draws: &mut SplitMix64) -> Result<Script> {
    let mut run = Run::<BenchAgent<N>>::new(chart);
    let mut out = StepOutput::default();
    let end = chart.state_name(chart.start()).to_owned();
    let mut script = Script { events: Vec::new(), names: Vec::new(), end };
    while run.core.ended.is_none() && script.events.len() < LONGEST {
        let seen = next(chart, &run.core, BenchAgent::<N>::DECL.name, draws)?;
        let (name, seq) = (seen.event.name(), run.core.next);
        let took = step(chart, &mut run, seq, seen.clone(), &mut out)?;
        ensure!(took == StepResult::Applied, "`{name}` was not applied ({took:?})");
        let mut names = Vec::new();
        for hop in &out.hops {
            match hop.by {
                Cause::Began => {}
                Cause::Outcome(outcome) => {
                    let way = chart.state(hop.from).and_then(|state| state.route(outcome));
                    names.push(way.context("a transition has an edge")?.name().to_owned());
                }
                Cause::Cancelled(scope) => names.push(scope.name().to_owned()),
                Cause::Beyond { .. } => return Ok(script),
                _ => bail!("the bench agent broke its declaration in `{}`", script.end),
            }
        }
        script.names.extend(names);
        chart.state_name(run.core.state).clone_into(&mut script.end);
        script.events.push(seen);
    }
    Ok(script)
}

/// Returns an event that the run applies: mostly an answer, now and then a fault,
/// a timeout or a person who stops it.
fn next(chart: &Chart, core: &Core, agent: &str, draws: &mut SplitMix64) -> Result<Observed<()>> {
    let soon = core.now.after(1 + draws.next() % 8);
    if !core.has_begun() {
        return Ok(Observed { at: At(0), event: begun(chart, draws)? });
    }
    if draws.one_in(256) {
        return Ok(Observed { at: soon, event: Event::Cancelled { scope: Scope::Run } });
    }
    let working: Vec<(EffectId, OrderKind)> = core
        .items
        .iter()
        .filter_map(|item| match item.doing {
            ItemStatus::Working { effect, kind, .. } => Some((effect, kind)),
            _ => None,
        })
        .collect();
    let woke = core.wake.map(|wake| Observed { at: wake.max(soon), event: Event::Woke });
    if let Some(woke) = woke.filter(|_| draws.one_in(64)) {
        return Ok(woke);
    }
    if let Some((effect, kind)) = draws.one_of(&working) {
        let answer = answer(*kind, draws)?;
        let usage = Usage::default();
        return Ok(Observed {
            at: soon,
            event: Event::Answered { effect: *effect, answer, usage, sent: None },
        });
    }
    if let Some(StateKind::Await { events, .. }) = chart.state(core.state).map(State::kind) {
        // The first event is the usual one.
        let place = if draws.one_in(8) { draws.below(events.len()) } else { 0 };
        let event = *events.get(place).context("an await state waits for something")?;
        let body = RawValue::from_string("{}".to_owned())?;
        return Ok(Observed { at: soon, event: Event::Given { event, body } });
    }
    core.wake
        .map(|wake| Observed { at: wake.max(soon), event: Event::Woke })
        .with_context(|| format!("a run of `{agent}` waits for nothing"))
}

fn begun(chart: &Chart, draws: &mut SplitMix64) -> Result<Event<()>> {
    Ok(Event::Begun(Box::new(RunConfig {
        chart: chart.name().to_owned(),
        version: chart.version(),
        digest: chart.digest(),
        seed: draws.next(),
        permissions: Permissions::allow_all(),
        tools: pointsman_agents::tools(),
        checks: false,
        queued: false,
        config: RawValue::from_string(draws.next().to_string())?,
        place: None,
    })))
}

/// Returns an answer of that kind, or a fault. The texts are empty: what an agent
/// makes of them is not the kernel's part. A reply proposes a call, or the governor
/// would have something to say about a model that only talks.
fn answer(kind: OrderKind, draws: &mut SplitMix64) -> Result<Answer<()>> {
    if draws.one_in(24) {
        return Ok(Answer::Fault(Fault {
            class: FaultClass::Unavailable,
            repeatable: true,
            hint_ms: None,
            message: String::new(),
        }));
    }
    Ok(match kind {
        OrderKind::Model => Answer::Model(Reply { calls: vec![proposed()?], ..Reply::default() }),
        OrderKind::Tool => Answer::Tool(ToolResult { ok: true, ..ToolResult::default() }),
        OrderKind::Own => Answer::Own(()),
        kind => bail!("the bench agent makes no order of kind {kind:?}"),
    })
}

fn proposed() -> Result<ToolCall> {
    let arguments = RawValue::from_string("{}".to_owned())?;
    Ok(ToolCall { id: String::new(), tool: "read".to_owned(), arguments })
}
