//! What a run accepts, ignores and rejects, decided before anything changes.

use alloc::string::String;

use thiserror::Error;

use crate::{
    agent::{Answer, BadBody, OrderKind, ToolResult},
    chart::{Charge, Chart, StateKind},
    event::{Event, Observed, Scope, UnansweredEffect},
    id::{At, Digest, EffectId, Seq},
    run::{Core, Item, ItemStatus},
};

/// Why an event came to nothing, as expected now and then.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum Late {
    /// This answer is no longer expected, or came before.
    #[error("this question is no longer open")]
    Answer,
    /// The answer was sent when it was too late.
    #[error("the answer was sent after the deadline")]
    Expired,
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// Nothing is due yet.
    #[error("no timer is due yet")]
    NotDue,
    /// It is so already.
    #[error("nothing would change")]
    Already,
}

/// Why an event was refused. Nothing has changed.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum Rejected {
    /// The entry's number is not the next one.
    #[error("expected entry {expected}, got entry {got}", got = .got.0, expected = .expected.0)]
    Gap {
        /// The next number.
        expected: Seq,
        /// The number that came.
        got: Seq,
    },
    /// Time ran backwards.
    #[error("the clock went back from {before} ms to {at} ms", before = .before.0, at = .at.0)]
    TimeFell {
        /// The time of the last event.
        before: At,
        /// The time that came.
        at: At,
    },
    /// The run has not begun.
    #[error("the run has not begun; its first event must be `begun`")]
    NotBegun,
    /// The run has begun already.
    #[error("the run has already begun")]
    BegunTwice,
    /// The run belongs to another chart, or to another version of it.
    #[error("the run belongs to the chart with digest {wants}, not {has}")]
    ChartDiffers {
        /// The digest that the run is bound to.
        wants: Digest,
        /// The digest of the given chart.
        has: Digest,
    },
    /// The run is in a state that the chart does not have.
    #[error("the run is in a state that this chart does not have")]
    OtherChart,
    /// The run has ended.
    #[error("the run has ended; fork it to continue")]
    Ended,
    /// The state does not wait for this event.
    #[error("state `{state}` does not wait for event {event}")]
    NotAwaited {
        /// The state.
        state: String,
        /// The event's number.
        event: u16,
    },
    /// No step ever asked for this effect.
    #[error("no step asked for effect {0}")]
    UnknownEffect(EffectId),
    /// The answer is of another kind than the question.
    #[error("effect {0} cannot be answered in this way")]
    WrongAnswer(EffectId),
    /// The chart does not offer this.
    #[error("the chart's `[any]` has no `{}`", .0.name())]
    NotOffered(Scope),
    /// The chart has no budget of this kind.
    #[error("the chart has no budget with `charge = \"{}\"`", .0.name())]
    Unlimited(Charge),
    /// The agent cannot read the body.
    #[error("invalid input: {0}")]
    Body(#[from] BadBody),
}

/// Returns nothing for an event to apply, or why to ignore it.
pub(super) fn admit<R>(
    chart: &Chart,
    core: &Core,
    seq: Seq,
    seen: &Observed<R>,
) -> Result<Option<Late>, Rejected> {
    if seq != core.next {
        return Err(Rejected::Gap { expected: core.next, got: seq });
    }
    if seen.at < core.now {
        return Err(Rejected::TimeFell { before: core.now, at: seen.at });
    }
    if core.has_begun() == matches!(seen.event, Event::Begun(_)) {
        return Err(if core.has_begun() { Rejected::BegunTwice } else { Rejected::NotBegun });
    }
    if core.ended.is_some() {
        return match seen.event {
            Event::Begun(_)
            | Event::Given { .. }
            | Event::Forked
            | Event::Granted { .. }
            | Event::Paused { .. }
            | Event::Resumed
            | Event::Lifted { .. } => Err(Rejected::Ended),
            Event::Answered { .. }
            | Event::ApprovalAnswered { .. }
            | Event::Woke
            | Event::Interrupted { .. }
            | Event::Cancelled { .. } => Ok(Some(Late::Ended)),
        };
    }
    match &seen.event {
        Event::Begun(begun) if begun.digest != chart.digest() => {
            Err(Rejected::ChartDiffers { wants: begun.digest, has: chart.digest() })
        }
        Event::Begun(_) | Event::Forked => Ok(None),
        Event::Given { event, .. } => awaited(chart, core, *event),
        Event::Answered { effect, answer, sent, .. } => match find(core, *effect)? {
            Some(ItemStatus::Working { kind, deadline, .. }) if answer.fits(kind) => {
                Ok(expired(*sent, deadline))
            }
            // The host found that the call cannot run. One that may have run is a person's
            // to decide over.
            Some(ItemStatus::Asking { again: false, expires, .. }) if has_done_nothing(answer) => {
                Ok(expired(*sent, expires))
            }
            Some(_) => Err(Rejected::WrongAnswer(*effect)),
            None => Ok(Some(Late::Answer)),
        },
        Event::ApprovalAnswered { effect, call, sent, .. } => match find(core, *effect)? {
            Some(ItemStatus::Asking { call: asked, expires, .. }) if asked == *call => {
                Ok(expired(*sent, expires))
            }
            Some(_) => Err(Rejected::WrongAnswer(*effect)),
            None => Ok(Some(Late::Answer)),
        },
        Event::Woke if core.wake.is_some_and(|wake| wake <= seen.at) => Ok(None),
        Event::Woke => Ok(Some(Late::NotDue)),
        Event::Cancelled { scope } => match scope {
            Scope::Turn if chart.any().cancel_turn.is_none() => Err(Rejected::NotOffered(*scope)),
            Scope::Shutdown if chart.any().shutdown.is_none() => Err(Rejected::NotOffered(*scope)),
            Scope::Run | Scope::Turn | Scope::Shutdown => Ok(None),
        },
        Event::Paused { by, .. } => {
            let stands = by.map_or(core.paused, |by| core.paused_by.contains(&by));
            Ok(stands.then_some(Late::Already))
        }
        Event::Resumed => Ok((!core.paused).then_some(Late::Already)),
        Event::Lifted { by } => Ok((!core.is_paused_by(*by)).then_some(Late::Already)),
        Event::Granted { charge, .. } => {
            let limited = is_limited(chart, *charge);
            if limited { Ok(None) } else { Err(Rejected::Unlimited(*charge)) }
        }
        Event::Interrupted { under_way, .. } => {
            under_way.iter().try_for_each(|unsure| interrupted(core, unsure))?;
            Ok(None)
        }
    }
}

/// Returns whether an answer was sent too late. When it is seen does not matter.
fn expired(sent: Option<At>, expires: At) -> Option<Late> {
    sent.is_some_and(|sent| sent >= expires).then_some(Late::Expired)
}

/// Returns whether an answer is a tool's failure that changed nothing.
const fn has_done_nothing<R>(answer: &Answer<R>) -> bool {
    matches!(answer, Answer::Tool(ToolResult { ok: false, mutated: false, .. }))
}

/// Returns whether a budget or the certificate limits the charge.
fn is_limited(chart: &Chart, charge: Charge) -> bool {
    matches!(charge, Charge::ModelCall | Charge::ToolCall)
        || chart.budgets().iter().any(|budget| budget.charge() == Some(charge))
}

/// Rejects an effect that was not in progress, or another call than the one that was.
fn interrupted(core: &Core, unsure: &UnansweredEffect) -> Result<(), Rejected> {
    let effect = unsure.effect;
    let at = place(&core.items, effect).ok_or(Rejected::UnknownEffect(effect))?;
    let item = core.items.get(usize::from(at)).ok_or(Rejected::UnknownEffect(effect))?;
    let fits = match (item.doing, &unsure.call) {
        (ItemStatus::Working { kind: OrderKind::Tool, .. }, Some(call)) => {
            item.call == Some(core.governor.key(call))
        }
        (ItemStatus::Working { kind, .. }, None) => kind != OrderKind::Tool,
        _ => false,
    };
    if fits { Ok(()) } else { Err(Rejected::WrongAnswer(effect)) }
}

fn awaited(chart: &Chart, core: &Core, event: u16) -> Result<Option<Late>, Rejected> {
    let state = chart.state(core.state).ok_or(Rejected::OtherChart)?;
    if let StateKind::Await { events, .. } = state.kind()
        && events.contains(&event)
    {
        return Ok(None);
    }
    Err(Rejected::NotAwaited { state: state.name().into(), event })
}

/// Returns what waits for an effect: nothing, if it is late.
fn find(core: &Core, effect: EffectId) -> Result<Option<ItemStatus>, Rejected> {
    if effect.seq >= core.next {
        return Err(Rejected::UnknownEffect(effect));
    }
    Ok(core.items.iter().map(|item| item.doing).find(|doing| waits_for(doing, effect)))
}

const fn waits_for(doing: &ItemStatus, waited: EffectId) -> bool {
    match doing {
        ItemStatus::Working { effect, .. } | ItemStatus::Asking { effect, .. } => {
            effect.seq.0 == waited.seq.0 && effect.index == waited.index
        }
        ItemStatus::Queued | ItemStatus::BackingOff { .. } | ItemStatus::Done => false,
    }
}

/// Returns the place of the item that waits for an effect.
pub(super) fn place(items: &[Item], effect: EffectId) -> Option<u16> {
    let at = items.iter().position(|item| waits_for(&item.doing, effect))?;
    u16::try_from(at).ok()
}
