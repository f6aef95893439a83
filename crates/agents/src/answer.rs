//! Reading answers: what was asked for, or the fault that fails the attempt.
//!
//! The kernel lets an answer through only if it is of the kind that was ordered;
//! a report of the wrong shape is still possible, and is the host's mistake.

use alloc::{format, string::String};

use pointsman_kernel::{
    agent::{Abandoned, Answer, ChildEnd, Fault, FaultClass, Reply, ToolResult},
    chart::{Budget, Charge, Reset},
    turn::{TurnError, TurnErrorKind},
};

/// Returns a report of the agent's own.
pub(crate) fn own<R>(answer: Answer<R>) -> Result<R, Fault> {
    if let Answer::Own(report) = answer { Ok(report) } else { Err(fault(answer)) }
}

/// Returns a model's reply.
pub(crate) fn model<R>(answer: Answer<R>) -> Result<Reply, Fault> {
    if let Answer::Model(reply) = answer { Ok(reply) } else { Err(fault(answer)) }
}

/// Returns a tool's result.
pub(crate) fn tool<R>(answer: Answer<R>) -> Result<ToolResult, Fault> {
    if let Answer::Tool(result) = answer { Ok(result) } else { Err(fault(answer)) }
}

/// Returns how a child ended.
pub(crate) fn child<R>(answer: Answer<R>) -> Result<ChildEnd, Fault> {
    if let Answer::Child(end) = answer { Ok(end) } else { Err(fault(answer)) }
}

/// Returns the fault for a report that does not match its task.
pub(crate) fn misfit() -> Fault {
    refused(FaultClass::Contract, "the report does not answer what was asked")
}

/// Returns a fault for which a retry is useless.
pub(crate) fn refused(class: FaultClass, message: impl Into<String>) -> Fault {
    Fault { class, repeatable: false, hint_ms: None, message: message.into() }
}

/// Says why nothing settled a job, in words for a person.
pub(crate) fn reason(why: &Abandoned) -> String {
    match why {
        Abandoned::Failed(fault) => fault.message.clone(),
        Abandoned::TimedOut { message } if message.is_empty() => "it took too long".into(),
        Abandoned::TimedOut { message } => format!("it took too long: {message}"),
        Abandoned::Denied { reason } | Abandoned::Stuck { reason } => reason.clone(),
        Abandoned::Cancelled => "a person stopped it".into(),
        Abandoned::Budget | _ => "a limit stopped it".into(),
    }
}

/// Returns why a turn has no answer, when nothing settled its work.
pub(crate) fn turn_error(why: &Abandoned) -> TurnError {
    TurnError { kind: TurnErrorKind::of(why), message: reason(why) }
}

/// Returns why a turn has no answer when a budget is used up: the limit, and how to continue.
pub(crate) fn used_up(budget: &Budget) -> TurnError {
    let (name, max) = (budget.name(), budget.max());
    let limit = match budget.charge() {
        Some(Charge::ModelCall) => counted(max, "model call"),
        Some(Charge::ToolCall) => counted(max, "tool call"),
        Some(Charge::Token) => counted(max, "token"),
        Some(Charge::Money) => {
            let cents = max.checked_div(10_000).unwrap_or_default();
            let (whole, part) = (cents.checked_div(100), cents.checked_rem(100));
            format!("a cost of {}.{:02}", whole.unwrap_or_default(), part.unwrap_or_default())
        }
        Some(Charge::Time) => {
            let seconds = max.checked_div(1_000).unwrap_or_default();
            match (seconds.checked_div(60), seconds.checked_rem(60)) {
                (Some(minutes), Some(0)) if minutes > 0 => format!("{minutes} min of work"),
                _ => format!("{seconds} s of work"),
            }
        }
        _ => format!("{max} for `{name}`"),
    };
    let again = if budget.reset() == Some(Reset::Await) {
        "; a new message gets the full limit again"
    } else {
        ""
    };
    let message =
        format!("the limit of {limit} is reached{again} (`--budget {name}=…` changes it)");
    TurnError { kind: TurnErrorKind::Budget, message }
}

pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn fault<R>(answer: Answer<R>) -> Fault {
    if let Answer::Fault(fault) = answer { fault } else { misfit() }
}
