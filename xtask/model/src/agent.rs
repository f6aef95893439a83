//! An agent whose every decision is the checker's: a shipped agent's declaration
//! over next to no data.
//!
//! Wherever an agent could decide, it draws. What it draws is laid out before the
//! step and what it asked for is known after it, so that the checker can go through
//! all that could have been drawn, one step for each.

use std::cell::RefCell;

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, ModelCall, Order, Settlement,
        ToolCall, Visit,
    },
    chart::AllowedTools,
    id::{JobId, Outcome},
    job::{AgentDecl, Governance, JobDecl},
};
use serde_json::value::RawValue;

use crate::shipped;

/// The tool that is called where the state allows all.
pub(crate) const TOOL: &str = "edit";
/// A tool that no list names: where a state has a list, it must never start.
pub(crate) const UNLISTED: &str = "unlisted";
/// The `path` of the call that needs approval, and of the one that does not.
pub(crate) const ASKED: &str = "b";
const FREE: &str = "a";
/// The only body that can be read.
pub(crate) const BODY: &str = "{}";

thread_local! {
    static LOT: RefCell<Lots> = const { RefCell::new(Lots { laid: Vec::new(), drawn: Vec::new() }) };
}

struct Lots {
    /// What will be drawn, in order; beyond its end, 0.
    laid: Vec<u8>,
    drawn: Vec<Draw>,
}

/// Something that was drawn, and from how many.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) chosen: u8,
    pub(crate) of: u8,
}

/// Does something with these draws laid out, and returns what was drawn.
pub(crate) fn drawing<T>(laid: &[u8], work: impl FnOnce() -> T) -> (T, Vec<Draw>) {
    LOT.with_borrow_mut(|lot| {
        lot.laid.clear();
        lot.laid.extend_from_slice(laid);
        lot.drawn.clear();
    });
    let done = work();
    (done, LOT.with_borrow_mut(|lot| std::mem::take(&mut lot.drawn)))
}

/// Returns the draws that come after these, as an odometer counts, or nothing
/// after the last.
pub(crate) fn following(mut drawn: Vec<Draw>) -> Option<Vec<u8>> {
    while drawn.pop_if(|last| last.chosen + 1 >= last.of).is_some() {}
    drawn.last_mut()?.chosen += 1;
    Some(drawn.iter().map(|draw| draw.chosen).collect())
}

fn draw(of: usize) -> u8 {
    let of = u8::try_from(of).unwrap_or(u8::MAX);
    if of < 2 {
        return 0;
    }
    LOT.with_borrow_mut(|lot| {
        let chosen = lot.laid.get(lot.drawn.len()).copied().unwrap_or(0).min(of - 1);
        lot.drawn.push(Draw { chosen, of });
        chosen
    })
}

/// The agent with the declaration of the `N`th shipped one.
pub(crate) struct DrawingAgent<const N: usize>;

impl<const N: usize> DrawingAgent<N> {
    fn job(id: JobId) -> Option<&'static JobDecl> {
        Self::DECL.jobs.get(id.index())
    }
}

impl<const N: usize> Agent for DrawingAgent<N> {
    /// The phase: 0 and 1 in turn.
    type Data = u32;
    type Task = ();
    type Report = ();

    const DECL: AgentDecl = shipped::decl(N);

    fn begin(_: &mut u32, config: &RawValue) -> Result<(), BadBody> {
        readable(config)
    }

    fn receive(_: &mut u32, _: u16, body: &RawValue) -> Result<(), BadBody> {
        readable(body)
    }

    /// Nothing, one, two, or one more than the chart takes.
    fn items(_: &u32, _: u16) -> u16 {
        u16::from(draw(4))
    }

    fn brief(_: &u32, visit: &Visit<'_>) -> Order<()> {
        match Self::job(visit.job) {
            Some(job) if job.worst.model_calls > 0 => {
                Order::Model(ModelCall { job: visit.job, item: visit.item })
            }
            Some(job) if job.worst.tool_calls > 0 && job.governed == Governance::Calls => {
                call(visit.state.tools()).map_or_else(|| Order::own(()), Order::Tool)
            }
            // It works by tasks of its own, and may come to a call.
            Some(job) if job.governed == Governance::Own && draw(2) == 1 => {
                call(visit.state.tools()).map_or_else(|| Order::own(()), Order::Tool)
            }
            job => {
                let worst = job.map(|job| job.worst).unwrap_or_default();
                let (interactions, actions) = (worst.interactions.min(1), worst.actions.min(1));
                Order::Own { task: (), interactions, actions }
            }
        }
    }

    fn settle(_: &mut u32, visit: &Visit<'_>, answer: Answer<()>) -> Settlement<()> {
        let Some(job) = Self::job(visit.job) else { return Settlement::Failed(unreadable()) };
        let from_model = match answer {
            Answer::Fault(fault) => return Settlement::Failed(fault),
            Answer::Model(_) => 1,
            _ => 0,
        };
        // A job that may order more does so as often as it likes: the kernel counts.
        let (outcomes, more) = (job.outcomes.len(), usize::from(job.tasks > 1));
        let drawn = draw(outcomes + more + from_model);
        if usize::from(drawn) < outcomes {
            Settlement::Outcome(Outcome(drawn))
        } else if usize::from(drawn) < outcomes + more {
            Settlement::Again(Order::own(()))
        } else {
            Settlement::Failed(unreadable())
        }
    }

    fn abandon(_: &mut u32, _: &Visit<'_>, _: &Abandoned) {}

    fn phase(phase: &u32) -> u32 {
        *phase
    }

    fn decide(phase: &mut u32, visit: &Visit<'_>) -> Outcome {
        let Some(job) = Self::job(visit.job) else { return Outcome(0) };
        let drawn = draw(job.outcomes.len());
        if job.name == "phase.advance" && drawn == 0 {
            *phase = 1 - (*phase).min(1);
        }
        Outcome(drawn)
    }
}

fn readable(body: &RawValue) -> Result<(), BadBody> {
    if body.get() == BODY { Ok(()) } else { Err(BadBody("not what was agreed".into())) }
}

const fn unreadable() -> Fault {
    Fault { class: FaultClass::Invalid, repeatable: true, hint_ms: None, message: String::new() }
}

/// Returns one of two calls, or one that the state's list does not name.
fn call(tools: &AllowedTools) -> Option<ToolCall> {
    let listed = match tools {
        AllowedTools::Only(list) => Some(list.first()?.to_string()),
        _ => None,
    };
    let (tool, path) = match (draw(2 + usize::from(listed.is_some())), listed) {
        (2, _) => (UNLISTED.to_owned(), FREE),
        (drawn, listed) => {
            (listed.unwrap_or_else(|| TOOL.to_owned()), if drawn == 0 { FREE } else { ASKED })
        }
    };
    let arguments = RawValue::from_string(format!(r#"{{"path":"{path}","query":"{path}"}}"#));
    Some(ToolCall { id: String::new(), tool, arguments: arguments.ok()? })
}
