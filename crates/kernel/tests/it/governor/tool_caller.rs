//! An agent that does what its model says: a turn proposes calls, and they are made.

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, ModelCall, Order, Settlement,
        ToolCall, Visit,
    },
    governor::Verdict,
    id::{JobId, Outcome},
    job::{
        AgentDecl, Charges, Governance, Influence::None as Plain, JobDecl, Registry, ToolShape,
        job_id,
    },
    tool::{ToolDecl, ToolEffect},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The agent.
pub(super) struct ToolCaller;

/// What a run of it knows.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Data {
    /// The calls that the last turn proposed.
    calls: Vec<ToolCall>,
    phase: u32,
    /// How often the governor spoke.
    pub(super) advised: u32,
    /// What became of calls that were not made, by item.
    pub(super) forgone: Vec<(u16, String)>,
    /// How many items were settled since the last turn.
    pub(super) settled: u16,
}

const THINK: JobDecl = JobDecl {
    name: "think",
    outcomes: &[("call", Plain), ("talk", Plain), ("ask", Plain), ("done", Plain)],
    governed: Governance::Turns,
    worst: Charges { model_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};

const ACT: JobDecl = JobDecl {
    name: "act",
    outcomes: &[("done", Plain)],
    governed: Governance::Calls,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};

const JOBS: &[JobDecl] =
    &[THINK, ACT, JobDecl { name: "gather", outcomes: &[("done", Plain)], ..JobDecl::JOIN }];

const THINKING: JobId = job_id(JOBS, "think");

/// What the charts of these tests may name.
pub(super) const REGISTRY: Registry<'_> = Registry {
    agents: &[ToolCaller::DECL],
    tools: &[
        ToolShape::named("edit"),
        ToolShape::named("fetch"),
        ToolShape::named("read"),
        ToolShape::named("search"),
        ToolShape::named("shell"),
        ToolShape::named("tap"),
        ToolShape::named("wait"),
    ],
    children: &[],
};

/// What the tools declare; of `fetch` nothing is known.
pub(super) fn tools() -> Vec<ToolDecl> {
    let of = |name: &str, effect| ToolDecl { effect, ..ToolDecl::unknown(name) };
    vec![
        ToolDecl::write("edit", &["path"]).with_paths(&["path"]),
        ToolDecl::read("read", &["path"]).with_paths(&["path"]),
        ToolDecl { query: Some("q".into()), ..ToolDecl::read("search", &[]) }
            .with_paths(&["path"])
            .with_default("path", "\".\""),
        of("shell", ToolEffect::Command),
        of("tap", ToolEffect::Opaque),
        of("wait", ToolEffect::Poll),
    ]
}

impl Agent for ToolCaller {
    type Data = Data;
    type Task = ();
    type Report = ();

    const DECL: AgentDecl = AgentDecl {
        name: "clerk",
        jobs: JOBS,
        events: &["go"],
        lists: &["calls"],
        ..AgentDecl::NONE
    };

    fn begin(_: &mut Data, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }

    fn receive(_: &mut Data, _: u16, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }

    fn items(data: &Data, _: u16) -> u16 {
        u16::try_from(data.calls.len()).unwrap()
    }

    fn brief(data: &Data, visit: &Visit<'_>) -> Order<()> {
        match visit.job {
            THINKING => Order::Model(ModelCall { job: visit.job, item: visit.item }),
            _ => Order::Tool(data.calls[usize::from(visit.item)].clone()),
        }
    }

    fn settle(data: &mut Data, _: &Visit<'_>, answer: Answer<()>) -> Settlement<()> {
        match answer {
            Answer::Model(reply) if reply.text == "???" => Settlement::Failed(Fault {
                class: FaultClass::Invalid,
                repeatable: false,
                hint_ms: None,
                message: "not a word of it".into(),
            }),
            Answer::Model(reply) => {
                data.forgone.clear();
                data.settled = 0;
                data.phase += u32::from(reply.text == "next phase");
                data.calls = reply.calls;
                let name = match &*reply.text {
                    _ if !data.calls.is_empty() => "call",
                    "ask" => "ask",
                    "done" => "done",
                    _ => "talk",
                };
                Settlement::Outcome(THINK.outcome(name))
            }
            Answer::Fault(fault) => Settlement::Failed(fault),
            _ => {
                data.settled += 1;
                Settlement::Outcome(Outcome(0))
            }
        }
    }

    fn abandon(data: &mut Data, visit: &Visit<'_>, why: &Abandoned) {
        let name = match why {
            Abandoned::Denied { reason } => format!("denied: {reason}"),
            Abandoned::Stuck { reason } => format!("stuck: {reason}"),
            other => format!("{other:?}"),
        };
        data.forgone.push((visit.item, name));
    }

    fn advise(data: &mut Data, verdict: &Verdict) {
        assert!(!verdict.reason.is_empty());
        data.advised += 1;
    }

    fn phase(data: &Data) -> u32 {
        data.phase
    }

    fn decide(_: &mut Data, _: &Visit<'_>) -> Outcome {
        Outcome(0)
    }
}
