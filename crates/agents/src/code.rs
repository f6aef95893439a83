//! The `code` agent: long work in phases, with permissions, progress and recovery.

mod data;
mod evidence;
mod plan;
mod progress;
mod prompt;
mod proposal;
mod recovery;
mod report;
mod round;
#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, Agent, Answer, BadBody, ModelCall, Order, Settlement, Visit},
    chart::{Budget, State, StateKind},
    governor::Verdict,
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, ConversationStyle, Governance, Influence, JobDecl, job_id},
    prompt::Prompt,
    table::DataTable,
    tool::ToolOffer,
    turn::TurnError,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use data::CodeData;
pub use plan::{Claim, PHASE_COMPLETE, Phase, PhaseRecord, PhaseWork, Plan};
pub use progress::{CallFailure, WorkProgress};
pub use recovery::{RecoveryAction, Trouble};

use crate::{PLAN_TOOL, answer, dialogue::ReplyOutcome};
use {plan::Advance, progress::Judgement, recovery::RecoveryChoice};

/// The chart.
pub const CHART: &str = include_str!("../charts/code.toml");

const BUILD: JobDecl =
    JobDecl { name: "prompt.build", outcomes: &[("ready", Influence::None)], ..JobDecl::DECIDE };
const PROPOSE: JobDecl = JobDecl {
    name: "model.propose",
    outcomes: &[("calls", Influence::Proposal), ("text_only", Influence::Proposal)],
    // A reply in which nothing can be used fails the attempt.
    fails: Some(Influence::Proposal),
    governed: Governance::Turns,
    // A prompt that is too long, a summary of old turns, and the prompt again.
    tasks: 3,
    worst: Charges { model_calls: 3, ..Charges::NONE },
    ..JobDecl::RUN
};
const CALL: JobDecl = JobDecl {
    name: "tool.call",
    outcomes: &[("ok", Influence::None)],
    governed: Governance::Calls,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const ALL: JobDecl =
    JobDecl { name: "batch.all", outcomes: &[("joined", Influence::None)], ..JobDecl::JOIN };
const JUDGE: JobDecl = JobDecl {
    name: "progress.judge",
    outcomes: &[
        ("continue", Influence::Proposal),
        ("answered", Influence::Proposal),
        ("phase_complete", Influence::Proposal),
    ],
    ..JobDecl::DECIDE
};
const CHOOSE: JobDecl = JobDecl {
    name: "recovery.choose",
    outcomes: &[
        ("recover", Influence::None),
        ("give_up", Influence::None),
        ("broken", Influence::None),
    ],
    ..JobDecl::DECIDE
};
// Whether a phase is a success is what the model claims, where tests do not say otherwise.
const ADVANCE: JobDecl = JobDecl {
    name: "phase.advance",
    outcomes: &[
        ("next", Influence::Proposal),
        ("all_done", Influence::Proposal),
        ("blocked", Influence::Proposal),
    ],
    ..JobDecl::DECIDE
};

/// Every job of the agent.
pub const JOBS: &[JobDecl] = &[BUILD, PROPOSE, CALL, ALL, JUDGE, CHOOSE, ADVANCE];

const BUILD_ID: JobId = job_id(JOBS, "prompt.build");
const PROPOSE_ID: JobId = job_id(JOBS, "model.propose");
const ALL_ID: JobId = job_id(JOBS, "batch.all");
const JUDGE_ID: JobId = job_id(JOBS, "progress.judge");
const CHOOSE_ID: JobId = job_id(JOBS, "recovery.choose");

const READY: Outcome = BUILD.outcome("ready");
const CALLS: Outcome = PROPOSE.outcome("calls");
const TEXT_ONLY: Outcome = PROPOSE.outcome("text_only");
const OK: Outcome = CALL.outcome("ok");
const JOINED: Outcome = ALL.outcome("joined");
const CONTINUE: Outcome = JUDGE.outcome("continue");
const ANSWERED: Outcome = JUDGE.outcome("answered");
const PHASE_COMPLETED: Outcome = JUDGE.outcome("phase_complete");
const RECOVER: Outcome = CHOOSE.outcome("recover");
const GIVE_UP: Outcome = CHOOSE.outcome("give_up");
const BROKEN: Outcome = CHOOSE.outcome("broken");
const NEXT: Outcome = ADVANCE.outcome("next");
const ALL_DONE: Outcome = ADVANCE.outcome("all_done");
const BLOCKED: Outcome = ADVANCE.outcome("blocked");

/// The event that carries a person's prompt; the other one has no body.
const PROMPT: u16 = 0;

/// The `code` agent.
#[derive(Debug)]
pub struct CodeAgent;

/// The agent asks models and calls tools; it has no orders of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum NoTask {}

impl Agent for CodeAgent {
    type Data = CodeData;
    type Task = NoTask;
    type Report = NoTask;

    const DECL: AgentDecl = AgentDecl {
        name: "code",
        about: "coding work in phases, following a plan that you approve",
        revision: crate::SOURCES,
        jobs: JOBS,
        events: &["prompt", "input_closed"],
        lists: &["tool_calls"],
        conversation: Some(ConversationStyle::Planned),
        offer: ToolOffer::Names,
        own_tools: &[PLAN_TOOL],
        ..AgentDecl::NONE
    };

    fn begin(data: &mut CodeData, config: &RawValue) -> Result<(), BadBody> {
        data.configure(config)
    }

    fn receive(data: &mut CodeData, event: u16, body: &RawValue) -> Result<(), BadBody> {
        if event == PROMPT {
            return data.hear(body);
        }
        // Claims of an aborted turn are dropped.
        data.drop_claim();
        Ok(())
    }

    fn speaks(event: u16) -> bool {
        event == PROMPT
    }

    fn items(data: &CodeData, _list: u16) -> u16 {
        u16::try_from(data.batch.len()).unwrap_or(u16::MAX)
    }

    fn brief(data: &CodeData, visit: &Visit<'_>) -> Order<NoTask> {
        if visit.job == PROPOSE_ID {
            return ask(data.context.first(&data.setup, &data.transcript, visit.attempt));
        }
        Order::Tool(data.call(visit.item))
    }

    fn settle(
        data: &mut CodeData,
        visit: &Visit<'_>,
        answer: Answer<NoTask>,
    ) -> Settlement<NoTask> {
        let settled = if visit.job == PROPOSE_ID {
            let CodeData { setup, transcript, context, .. } = data;
            match context.hear(setup, transcript, visit, answer) {
                ReplyOutcome::Reply(reply) => data
                    .propose(reply)
                    .map(|()| if data.batch.is_empty() { TEXT_ONLY } else { CALLS }),
                ReplyOutcome::Again(item) => return Settlement::Again(ask(item)),
                ReplyOutcome::Failed(fault) => Err(fault),
            }
        } else {
            answer::tool(answer).map(|result| {
                data.record(visit.item, result);
                OK
            })
        };
        settled.map_or_else(Settlement::Failed, Settlement::Outcome)
    }

    fn abandon(data: &mut CodeData, visit: &Visit<'_>, why: &Abandoned) {
        if visit.job == PROPOSE_ID {
            data.model_forgone(why);
        } else {
            data.call_forgone(visit.item, why);
        }
    }

    fn used_up(data: &mut CodeData, state: &State, budget: &Budget) {
        let recovering = matches!(state.kind(), StateKind::Decide(job) if *job == CHOOSE_ID);
        data.used_up(recovering, budget);
    }

    fn advise(data: &mut CodeData, verdict: &Verdict) {
        data.advise(verdict);
    }

    fn phase(data: &CodeData) -> u32 {
        u32::try_from(data.plan.records.len()).unwrap_or(u32::MAX)
    }

    fn stage(data: &CodeData) -> Option<String> {
        data.plan.stage()
    }

    fn tables(data: &CodeData) -> Vec<DataTable> {
        data.plan.table(&data.work).into_iter().collect()
    }

    fn is_turn(data: &CodeData, visit: &Visit<'_>) -> bool {
        visit.job != PROPOSE_ID
            || !data.context.is_summary(&data.setup, &data.transcript, visit.attempt)
    }

    fn prompt(data: &CodeData, visit: &Visit<'_>) -> Prompt {
        prompt::render(data, visit)
    }

    fn result(data: &CodeData) -> Option<String> {
        report::of(data)
    }

    fn turn_error(data: &CodeData) -> Option<&TurnError> {
        data.error.as_ref()
    }

    fn decide(data: &mut CodeData, visit: &Visit<'_>) -> Outcome {
        match visit.job {
            BUILD_ID => {
                data.build(visit.now);
                READY
            }
            ALL_ID => {
                data.join(Some(visit.now));
                JOINED
            }
            JUDGE_ID => match data.judge() {
                Judgement::Continue => CONTINUE,
                Judgement::Answered => ANSWERED,
                Judgement::PhaseComplete => PHASE_COMPLETED,
            },
            CHOOSE_ID => match data.choose(visit.now) {
                RecoveryChoice::Recover(_) => RECOVER,
                RecoveryChoice::GiveUp => GIVE_UP,
                RecoveryChoice::Broken => BROKEN,
            },
            _ => match data.advance(visit.now) {
                Advance::Next => NEXT,
                Advance::AllDone => ALL_DONE,
                Advance::Blocked => BLOCKED,
            },
        }
    }
}

/// Asks the model for an item: a reply, or a summary.
const fn ask(item: u16) -> Order<NoTask> {
    Order::Model(ModelCall { job: PROPOSE_ID, item })
}
