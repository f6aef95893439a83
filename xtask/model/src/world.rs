//! Everything that can happen to a run next, and everything that must not count.

use pointsman_kernel::{
    agent::{Answer, ChildEnd, Fault, FaultClass, OrderKind, Reply, ToolCall, ToolResult},
    chart::{Charge, Chart, Disposition, State, StateKind},
    event::{Event, Observed, Pauser, RunConfig, Scope, Usage},
    governor::{Grant, Level, Permissions},
    id::{At, Digest, EffectId, Seq},
    run::{Core, ItemStatus},
    tool::ToolDecl,
};
use serde_json::value::RawValue;

use super::agent::{ASKED, BODY, TOOL};

/// How long a provider asks to wait: as long as a chart allows unless it says else.
const HINT_MS: u64 = 60_000;
/// Who pauses runs here.
const PAUSER: Pauser = Pauser::Machine;
const SCOPES: [Scope; 3] = [Scope::Run, Scope::Turn, Scope::Shutdown];

/// Returns the first event of a run: calls of one kind are asked for.
pub(crate) fn begun(chart: &Chart) -> Observed<()> {
    let query = ToolDecl { query: Some("query".into()), ..ToolDecl::read("", &["path"]) };
    let event = Event::Begun(Box::new(RunConfig {
        chart: chart.name().to_owned(),
        version: chart.version(),
        digest: chart.digest(),
        seed: 0,
        permissions: Permissions {
            otherwise: Level::Allow,
            rules: vec![rule(Level::Ask)],
            attended: true,
        },
        tools: vec![
            ToolDecl::write(TOOL, &["path"]),
            ToolDecl { name: "context.fts_search".into(), ..query },
        ],
        checks: false,
        queued: false,
        config: raw(BODY),
        place: None,
    }));
    Observed { at: At(0), event }
}

/// Returns every event that a run must take where it stands.
pub(crate) fn offers(chart: &Chart, core: &Core) -> Vec<Observed<()>> {
    if !core.has_begun() {
        return vec![begun(chart)];
    }
    if core.ended.is_some() {
        return Vec::new();
    }
    let mut offers = Vec::new();
    let mut offer = |at, event| offers.push(Observed { at, event });
    for item in &core.items {
        match item.doing {
            ItemStatus::Working { effect, kind, .. } => {
                for (answer, usage) in answers(chart, kind) {
                    offer(core.now, Event::Answered { effect, answer, usage, sent: None });
                }
                // It may come at the last moment, before the clock is looked at.
                for answer in [answer(kind), fault(true)] {
                    let last = core.wake.unwrap_or(core.now).max(core.now);
                    offer(last, answered(effect, answer));
                }
            }
            ItemStatus::Asking { effect, call, .. } => {
                for (granted, remember) in
                    [(true, None), (true, Some(rule(Level::Allow))), (false, None)]
                {
                    offer(core.now, approval(effect, call, granted, remember));
                }
            }
            _ => {}
        }
    }
    if let Some(wake) = core.wake {
        offer(wake.max(core.now), Event::Woke);
    }
    if let Some(StateKind::Await { events, .. }) = chart.state(core.state).map(State::kind) {
        for event in events {
            offer(core.now, Event::Given { event: *event, body: raw(BODY) });
        }
    }
    for scope in SCOPES.into_iter().filter(|scope| is_offered(chart, *scope)) {
        offer(core.now, Event::Cancelled { scope });
    }
    if core.paused {
        offer(core.now, Event::Resumed);
        offer(core.now, Event::Lifted { by: PAUSER });
    } else {
        offer(core.now, paused(Some(PAUSER)));
    }
    offers
}

/// Returns every event that a run must ignore or refuse where it stands, each with
/// the number under which it comes.
pub(crate) fn misfits(chart: &Chart, core: &Core, closed: &[EffectId]) -> Vec<(Seq, Observed<()>)> {
    let mut misfits = Vec::new();
    let mut misfit = |event| misfits.push((core.next, Observed { at: core.now, event }));
    if !core.has_begun() {
        misfit(Event::Woke);
        misfit(Event::Cancelled { scope: Scope::Run });
        return misfits;
    }
    let own = |effect| answered(effect, Answer::Own(()));
    for effect in closed {
        misfit(own(*effect));
        misfit(answered(*effect, fault(false)));
        misfit(approval(*effect, Digest::default(), true, None));
    }
    misfit(own(EffectId { seq: core.next, index: 0 }));
    misfit(begun(chart).event);
    let ended = core.ended.is_some();
    for scope in SCOPES.into_iter().filter(|scope| ended || !is_offered(chart, *scope)) {
        misfit(Event::Cancelled { scope });
    }
    if ended || core.paused {
        misfit(paused(None));
        misfit(paused(Some(PAUSER)));
    }
    if ended || !core.paused {
        misfit(Event::Resumed);
        misfit(Event::Lifted { by: PAUSER });
    }
    // Only the author lifts a pause.
    misfit(Event::Lifted { by: Pauser::Person });
    if core.wake.is_none_or(|wake| wake > core.now) {
        misfit(Event::Woke);
    }
    let awaited = match chart.state(core.state).map(State::kind) {
        Some(StateKind::Await { events, .. }) => &**events,
        _ => &[],
    };
    for event in 0..4 {
        misfit(Event::Given {
            event,
            body: raw(if awaited.contains(&event) { "0" } else { BODY }),
        });
    }
    for item in &core.items {
        match item.doing {
            ItemStatus::Working { effect, kind, .. } => {
                misfit(answered(effect, misfitting(kind)));
                misfit(approval(effect, Digest::default(), true, None));
            }
            ItemStatus::Asking { effect, call, expires, .. } => {
                misfit(approval(effect, Digest::default(), true, Some(rule(Level::Allow))));
                misfit(sent_at(approval(effect, call, true, None), expires));
                misfit(answered(effect, fault(false)));
            }
            _ => {}
        }
    }
    // What would be taken is not, under another number or from the past.
    let cancelled = || Event::Cancelled { scope: Scope::Run };
    misfits.push((core.next.next(), Observed { at: core.now, event: cancelled() }));
    if let Some(before) = core.now.0.checked_sub(1) {
        misfits.push((core.next, Observed { at: At(before), event: cancelled() }));
    }
    misfits
}

fn is_offered(chart: &Chart, scope: Scope) -> bool {
    match scope {
        Scope::Turn => chart.any().cancel_turn.is_some(),
        Scope::Shutdown => chart.any().shutdown.is_some(),
        _ => true,
    }
}

/// Returns every answer that an order of that kind can have.
fn answers(chart: &Chart, kind: OrderKind) -> Vec<(Answer<()>, Usage)> {
    let mut answers = vec![answer(kind)];
    match kind {
        OrderKind::Tool => answers.push(Answer::Tool(ToolResult { ok: false, ..result() })),
        // Words that came before, and no deeds.
        OrderKind::Model => {
            answers.push(Answer::Model(Reply { text: "x".to_owned(), calls: Vec::new() }));
        }
        _ => {}
    }
    let outside = chart.budgets().iter().any(|it| it.charge() == Some(Charge::OutsideApp));
    let outside = outside.then(|| Usage { outside_app: 1, ..Usage::default() });
    let usages: Vec<Usage> = [Some(Usage::default()), outside].into_iter().flatten().collect();
    let well = answers.into_iter().flat_map(|answer| {
        usages.iter().map(move |usage| (answer.clone(), *usage)).collect::<Vec<_>>()
    });
    let faults = [fault(true), fault(false)].into_iter();
    well.chain(faults.map(|fault| (fault, Usage::default()))).collect()
}

fn answer(kind: OrderKind) -> Answer<()> {
    match kind {
        // A reply without words repeats none, and one with a call acts.
        OrderKind::Model => Answer::Model(Reply { text: String::new(), calls: vec![proposal()] }),
        OrderKind::Tool => Answer::Tool(result()),
        OrderKind::Child => {
            Answer::Child(ChildEnd { ended: Disposition::Succeeded, result: String::new() })
        }
        _ => Answer::Own(()),
    }
}

/// Returns an answer that an order of that kind cannot have.
fn misfitting(kind: OrderKind) -> Answer<()> {
    answer(if kind == OrderKind::Own { OrderKind::Model } else { OrderKind::Own })
}

fn proposal() -> ToolCall {
    ToolCall { id: String::new(), tool: TOOL.to_owned(), arguments: raw(BODY) }
}

/// A tool says the same thing each time: repetition is what the rules are for.
fn result() -> ToolResult {
    ToolResult { ok: true, output: "x".to_owned(), mutated: false }
}

fn fault(repeatable: bool) -> Answer<()> {
    Answer::Fault(Fault {
        class: FaultClass::Unavailable,
        repeatable,
        hint_ms: repeatable.then_some(HINT_MS),
        message: String::new(),
    })
}

fn answered(effect: EffectId, answer: Answer<()>) -> Event<()> {
    Event::Answered { effect, answer, usage: Usage::default(), sent: None }
}

fn approval(effect: EffectId, call: Digest, granted: bool, remember: Option<Grant>) -> Event<()> {
    let (reason, sent) = (String::new(), None);
    Event::ApprovalAnswered { effect, call, granted, reason, remember, sent }
}

/// Returns an approval that came as a message.
fn sent_at(event: Event<()>, at: At) -> Event<()> {
    match event {
        Event::ApprovalAnswered { effect, call, granted, reason, remember, .. } => {
            let sent = Some(at);
            Event::ApprovalAnswered { effect, call, granted, reason, remember, sent }
        }
        event => event,
    }
}

const fn paused(by: Option<Pauser>) -> Event<()> {
    Event::Paused { why: String::new(), by }
}

/// The rule over the calls that are asked for, and what a person makes of it.
fn rule(level: Level) -> Grant {
    let arguments = vec![("path".to_owned(), ASKED.to_owned())];
    Grant { tool: "*".to_owned(), arguments, level, until: None }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_default()
}
