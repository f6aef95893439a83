//! An agent for measuring: a shipped agent's declaration over data of one number.
//!
//! It orders what the job declares and draws its outcomes, so that only the kernel's part is
//! measured.

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
use xtask_model::shipped;

use crate::{allocation::aside, random::mixed};

/// The bench agent with the declaration of the `N`th shipped agent.
pub(crate) struct BenchAgent<const N: usize>;

impl<const N: usize> BenchAgent<N> {
    fn job(id: JobId) -> Option<&'static JobDecl> {
        Self::DECL.jobs.get(id.index())
    }
}

impl<const N: usize> Agent for BenchAgent<N> {
    /// Where the draws stand.
    type Data = u64;
    type Task = u64;
    type Report = ();

    const DECL: AgentDecl = shipped::decl(N);

    fn begin(data: &mut u64, config: &RawValue) -> Result<(), BadBody> {
        *data = serde_json::from_str(config.get())?;
        Ok(())
    }

    fn receive(data: &mut u64, _: u16, _: &RawValue) -> Result<(), BadBody> {
        draw(data);
        Ok(())
    }

    fn items(data: &u64, _: u16) -> u16 {
        1 + (mixed(*data) & 3) as u16
    }

    fn brief(data: &u64, visit: &Visit<'_>) -> Order<u64> {
        match Self::job(visit.job) {
            Some(job) if job.worst.model_calls > 0 => {
                Order::Model(ModelCall { job: visit.job, item: visit.item })
            }
            Some(job) if job.worst.tool_calls > 0 && job.governed == Governance::Calls => {
                aside(|| call(*data, visit)).map_or_else(|| Order::own(*data), Order::Tool)
            }
            Some(job) => Order::Own {
                task: *data,
                interactions: job.worst.interactions.min(1),
                actions: job.worst.actions.min(1),
            },
            None => Order::own(*data),
        }
    }

    fn settle(data: &mut u64, visit: &Visit<'_>, answer: Answer<()>) -> Settlement<u64> {
        let drawn = draw(data);
        match (Self::job(visit.job), answer) {
            (_, Answer::Fault(fault)) => Settlement::Failed(fault),
            (Some(job), Answer::Model(_)) if job.tasks > 1 && drawn & 1 == 1 => {
                Settlement::Again(Order::own(drawn))
            }
            (Some(job), _) => Settlement::Outcome(one_of(job, drawn)),
            (None, _) => Settlement::Failed(Fault {
                class: FaultClass::Contract,
                repeatable: false,
                hint_ms: None,
                message: String::new(),
            }),
        }
    }

    fn abandon(data: &mut u64, _: &Visit<'_>, _: &Abandoned) {
        draw(data);
    }

    fn decide(data: &mut u64, visit: &Visit<'_>) -> Outcome {
        let drawn = draw(data);
        Self::job(visit.job).map_or(Outcome(0), |job| one_of(job, drawn))
    }
}

const fn draw(data: &mut u64) -> u64 {
    *data = data.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed(*data)
}

/// Returns one of a job's own outcomes.
fn one_of(job: &JobDecl, drawn: u64) -> Outcome {
    let count = u64::try_from(job.outcomes.len()).unwrap_or(1).max(1);
    Outcome(u8::try_from((drawn >> 8) % count).unwrap_or_default())
}

/// Returns a call that the state allows and that was not made before.
fn call(data: u64, visit: &Visit<'_>) -> Option<ToolCall> {
    let tool = match visit.state.tools() {
        AllowedTools::Only(list) => list.first()?.to_string(),
        _ => pointsman_agents::TOOLS.first()?.name.to_owned(),
    };
    let (attempt, item) = (visit.attempt, visit.item);
    let arguments = format!(r#"{{"attempt":{attempt},"item":{item},"path":"{data:x}"}}"#);
    let arguments = RawValue::from_string(arguments).ok()?;
    Some(ToolCall { id: String::new(), tool, arguments })
}
