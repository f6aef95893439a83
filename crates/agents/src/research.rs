//! The `research` agent: answers a question from a body of documents.

mod config;
mod data;
mod decision;
mod memory;
mod offer;
mod passage;
mod phrase;
mod prompt;
mod recount;
mod schema;
#[cfg(test)]
mod tests;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, ModelCall, Order, Reply, Settlement,
        Visit,
    },
    governor::Verdict,
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, Governance, Influence, JobDecl, job_id},
    prompt::Prompt,
    table::DataTable,
    tool::ToolOffer,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use config::PromptLimits;
pub use data::{FailureCause, Finding, JobFailure, ResearchData};
pub use decision::{Decision, UnusableReply, read};
pub use offer::{MAX_TOOLS, OfferedTool, SEARCH, ToolList};

use crate::answer;

/// The chart.
pub const CHART: &str = include_str!("../charts/research.toml");

const OPEN: JobDecl = JobDecl {
    name: "goal.open",
    outcomes: &[
        ("query", Influence::None),
        ("think", Influence::None),
        ("nothing", Influence::None),
    ],
    ..JobDecl::DECIDE
};
const DECIDE: JobDecl = JobDecl {
    name: "model.decide",
    outcomes: &[
        ("search", Influence::Proposal),
        ("act", Influence::Proposal),
        ("finish", Influence::Proposal),
    ],
    // A proposal that cannot be read fails the attempt.
    fails: Some(Influence::Proposal),
    governed: Governance::Turns,
    worst: Charges { model_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const CALL: JobDecl = JobDecl {
    name: "tool.call",
    outcomes: &[("ok", Influence::None)],
    governed: Governance::Calls,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const ANALYZE: JobDecl = JobDecl {
    name: "model.analyze",
    outcomes: &[("done", Influence::Proposal), ("conclude", Influence::Proposal)],
    worst: Charges { model_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const SUMMARY: JobDecl =
    JobDecl { name: "summary.write", outcomes: &[("done", Influence::None)], ..JobDecl::RUN };
const ASSEMBLE: JobDecl = JobDecl {
    name: "result.assemble",
    outcomes: &[("answered", Influence::None), ("gave_up", Influence::None)],
    ..JobDecl::RUN
};

/// Every job of the agent.
pub const JOBS: &[JobDecl] = &[OPEN, DECIDE, CALL, ANALYZE, SUMMARY, ASSEMBLE];

const DECIDE_ID: JobId = job_id(JOBS, "model.decide");
const CALL_ID: JobId = job_id(JOBS, "tool.call");
const ANALYZE_ID: JobId = job_id(JOBS, "model.analyze");
const SUMMARY_ID: JobId = job_id(JOBS, "summary.write");

const QUERY: Outcome = OPEN.outcome("query");
const THINK: Outcome = OPEN.outcome("think");
const NOTHING: Outcome = OPEN.outcome("nothing");
const TO_SEARCH: Outcome = DECIDE.outcome("search");
const TO_ACT: Outcome = DECIDE.outcome("act");
const TO_FINISH: Outcome = DECIDE.outcome("finish");
const OK: Outcome = CALL.outcome("ok");
const ANALYZED: Outcome = ANALYZE.outcome("done");
const CONCLUDED: Outcome = ANALYZE.outcome("conclude");
const WRITTEN: Outcome = SUMMARY.outcome("done");
const ANSWERED: Outcome = ASSEMBLE.outcome("answered");
const GAVE_UP: Outcome = ASSEMBLE.outcome("gave_up");

/// The `research` agent.
#[derive(Debug)]
pub struct ResearchAgent;

/// What the host does for the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchTask {
    /// Write down how far a run came that got stuck.
    Summarise {
        /// A usable text of what is known about it.
        draft: String,
    },
    /// Put the result together, with its sources.
    Assemble {
        /// The answer, or the summary of a run that has none.
        text: String,
        /// Whether it is an answer.
        answered: bool,
    },
}

/// What the host reports.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResearchReport {
    /// The summary is written.
    Summarised {
        /// The summary.
        text: String,
    },
    /// The result is put together.
    Assembled {
        /// The result.
        text: String,
    },
}

impl Agent for ResearchAgent {
    type Data = ResearchData;
    type Task = ResearchTask;
    type Report = ResearchReport;

    const DECL: AgentDecl = AgentDecl {
        name: "research",
        about: "an answer from documents, with file and line",
        revision: crate::SOURCES,
        jobs: JOBS,
        offer: ToolOffer::Described { most: MAX_TOOLS },
        ..AgentDecl::NONE
    };

    fn describe_task(task: &ResearchTask) -> Option<String> {
        let text = match task {
            ResearchTask::Summarise { .. } => "summarises the findings",
            ResearchTask::Assemble { .. } => "assembles the result",
        };
        Some(text.into())
    }

    fn begin(data: &mut ResearchData, config: &RawValue) -> Result<(), BadBody> {
        data.configure(config)
    }

    fn receive(_data: &mut ResearchData, _event: u16, _body: &RawValue) -> Result<(), BadBody> {
        Err(BadBody("the agent expects no event".into()))
    }

    fn items(_data: &ResearchData, _list: u16) -> u16 {
        0
    }

    fn brief(data: &ResearchData, visit: &Visit<'_>) -> Order<ResearchTask> {
        match visit.job {
            DECIDE_ID | ANALYZE_ID => Order::Model(ModelCall { job: visit.job, item: 0 }),
            CALL_ID => Order::Tool(data.next_call()),
            SUMMARY_ID => Order::own(ResearchTask::Summarise { draft: recount::summary(data) }),
            _ => {
                let (text, answered) = data.outcome();
                Order::own(ResearchTask::Assemble { text, answered })
            }
        }
    }

    fn settle(
        data: &mut ResearchData,
        visit: &Visit<'_>,
        answer: Answer<ResearchReport>,
    ) -> Settlement<ResearchTask> {
        let settled = match visit.job {
            DECIDE_ID => answer::model(answer).and_then(|reply| decided(data, visit, &reply)),
            CALL_ID => answer::tool(answer).map(|result| {
                data.found(result);
                OK
            }),
            ANALYZE_ID => answer::model(answer).map(|reply| analysed(data, reply)),
            _ => answer::own(answer).and_then(|report| reported(data, visit, report)),
        };
        settled.map_or_else(Settlement::Failed, Settlement::Outcome)
    }

    fn abandon(data: &mut ResearchData, visit: &Visit<'_>, why: &Abandoned) {
        match visit.job {
            CALL_ID => data.not_found(visit, why),
            // Without a model's summary, the run uses its own.
            SUMMARY_ID => data.give_up(recount::summary(data)),
            _ => data.stopped_by(visit, why),
        }
    }

    fn prompt(data: &ResearchData, visit: &Visit<'_>) -> Prompt {
        prompt::render(data, visit)
    }

    fn result(data: &ResearchData) -> Option<String> {
        data.result.clone()
    }

    fn tables(data: &ResearchData) -> Vec<DataTable> {
        recount::sources(data).into_iter().collect()
    }

    fn advise(data: &mut ResearchData, verdict: &Verdict) {
        data.hear(verdict);
    }

    fn decide(data: &mut ResearchData, _visit: &Visit<'_>) -> Outcome {
        if data.goal.trim().is_empty() {
            return NOTHING;
        }
        if !data.tools.searches() {
            return THINK;
        }
        data.plan_first_search();
        QUERY
    }
}

/// Takes a decision; one that cannot be read or used fails the attempt.
fn decided(data: &mut ResearchData, visit: &Visit<'_>, reply: &Reply) -> Result<Outcome, Fault> {
    data.advice.used();
    let offer = data.tools.within(visit.state.tools());
    let decision = decision::of(reply, &offer).and_then(|decision| data.admit(decision));
    match decision {
        Ok(Decision::Search { query }) => {
            data.plan_search(&query);
            Ok(TO_SEARCH)
        }
        Ok(Decision::Tool { tool, arguments }) => {
            data.plan_call(tool, arguments);
            Ok(TO_ACT)
        }
        Ok(Decision::Finish { text }) => {
            data.answer = Some(text);
            Ok(TO_FINISH)
        }
        Err(why) => {
            data.turn_away(&why);
            let class = FaultClass::Invalid;
            Err(Fault { class, repeatable: true, hint_ms: None, message: why.to_string() })
        }
    }
}

/// Takes an analysis: a note on the last finding, or the answer.
fn analysed(data: &mut ResearchData, reply: Reply) -> Outcome {
    if let Ok(Decision::Finish { text }) = decision::of(&reply, &data.tools) {
        data.answer = Some(text);
        return CONCLUDED;
    }
    data.analysed(reply.text);
    ANALYZED
}

fn reported(
    data: &mut ResearchData,
    visit: &Visit<'_>,
    report: ResearchReport,
) -> Result<Outcome, Fault> {
    match report {
        ResearchReport::Summarised { text } if visit.job == SUMMARY_ID => {
            data.give_up(text);
            Ok(WRITTEN)
        }
        ResearchReport::Assembled { text } if visit.job != SUMMARY_ID => {
            let (_, answered) = data.outcome();
            data.result = Some(text);
            Ok(if answered { ANSWERED } else { GAVE_UP })
        }
        ResearchReport::Summarised { .. } | ResearchReport::Assembled { .. } => {
            Err(answer::misfit())
        }
    }
}
