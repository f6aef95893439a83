//! Reading answers: what was asked for, or the fault that fails the attempt.
//!
//! The kernel lets an answer through only if it is of the kind that was ordered;
//! a report of the wrong shape is still possible, and is the host's mistake.

use alloc::{format, string::String};

use pointsman_kernel::{
    agent::{Answer, ChildEnd, Fault, FaultClass, Forgone, Reply, ToolResult},
    chart::{Budget, Reset},
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

/// Returns the fault for a report that does not answer what was asked.
pub(crate) fn misfit() -> Fault {
    refused(FaultClass::Contract, "the report does not answer what was asked")
}

/// Returns a fault that trying again would not mend.
pub(crate) fn refused(class: FaultClass, message: impl Into<String>) -> Fault {
    Fault { class, repeatable: false, hint_ms: None, message: message.into() }
}

/// Says why nothing settled a job, in words for a person.
pub(crate) fn reason(why: &Forgone) -> String {
    match why {
        Forgone::Failed(fault) => fault.message.clone(),
        Forgone::TimedOut { message } if message.is_empty() => "it took too long".into(),
        Forgone::TimedOut { message } => format!("it took too long: {message}"),
        Forgone::Denied { reason } | Forgone::Stuck { reason } => reason.clone(),
        Forgone::Cancelled => "a person stopped it".into(),
        Forgone::Budget | _ => "a limit stopped it".into(),
    }
}

/// Returns why a turn has no answer, when nothing settled its work.
pub(crate) fn turn_error(why: &Forgone) -> TurnError {
    TurnError { kind: TurnErrorKind::of(why), message: reason(why) }
}

/// Returns why a turn has no answer, when a budget is used up.
pub(crate) fn used_up(budget: &Budget) -> TurnError {
    let mut message =
        format!("the chart's budget `{}` of {} is used up", budget.name(), budget.max());
    if budget.reset() == Some(Reset::Await) {
        message.push_str("; say something, and it is full again");
    }
    TurnError { kind: TurnErrorKind::Budget, message }
}

fn fault<R>(answer: Answer<R>) -> Fault {
    if let Answer::Fault(fault) = answer { fault } else { misfit() }
}
