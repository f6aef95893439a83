//! A scripted agent of fixed size: answers name outcomes, so that a test decides every route.

use pointsman_kernel::run::{Core, ItemStatus};
use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, ChildRun, Fault, FaultClass, ModelCall, Order,
        Settlement, ToolCall, Visit,
    },
    chart::{Budget, State},
    governor::{Grant, Level},
    id::{Digest, EffectId, JobId, Outcome},
    job::{
        AgentDecl, Charges, Governance, Influence::None as Plain, JobDecl, Param, ParamShape,
        Registry, ToolShape, job_id,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Every tool that charts of these tests may allow.
pub(crate) const TOOLS: &[ToolShape<'_>] =
    &[ToolShape::named("read"), ToolShape::named("write"), ToolShape::named("erase")];

/// What the charts of these tests may name.
pub(crate) const REGISTRY: Registry<'_> =
    Registry { agents: &[ScriptedAgent::DECL], tools: TOOLS, children: &[] };

/// The agent.
pub(crate) struct ScriptedAgent;

/// Returns the call that a person is asked about by an effect.
pub(crate) fn asked(core: &Core, effect: EffectId) -> Digest {
    let asked = core.items.iter().find_map(|item| match item.doing {
        ItemStatus::Asking { effect: asking, call, .. } if asking == effect => Some(call),
        _ => None,
    });
    asked.unwrap_or_default()
}

/// The rule that `erase` is asked for.
pub(crate) fn ask_erase() -> Grant {
    Grant { tool: "erase".into(), arguments: Vec::new(), level: Level::Ask, until: None }
}

/// What a run of it knows.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Data {
    /// The outcomes of the next pure jobs, four bits each, the lowest first: below 8 one of the
    /// job's own, from 8 on those after its own.
    pub(crate) choose: u64,
    /// How long the list is.
    pub(crate) items: u16,
    /// The tool that each item calls, four bits each.
    pub(crate) tools: u64,
    /// What became of the last eight items: a byte each, see [`Note`].
    pub(crate) notes: u64,
    /// How many notes there were in all.
    pub(crate) noted: u32,
    /// How often a budget was reported as used up, and the amount of the last one.
    pub(crate) used_up: (u32, u64),
}

/// What one of the agent's own orders asks for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Task {
    pub(crate) attempt: u16,
    pub(crate) item: u16,
}

/// How the job should continue.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Report {
    /// End in this outcome, and let pure jobs end in those, if they are given.
    End(u8, Option<u64>),
    /// Order more.
    More,
}

const TWO: &[(&str, pointsman_kernel::job::Influence)] = &[("a", Plain), ("b", Plain)];
const THREE: &[(&str, pointsman_kernel::job::Influence)] =
    &[("a", Plain), ("b", Plain), ("c", Plain)];
const FOUR: &[(&str, pointsman_kernel::job::Influence)] =
    &[("a", Plain), ("b", Plain), ("c", Plain), ("d", Plain)];
const ONE: &[(&str, pointsman_kernel::job::Influence)] = &[("a", Plain)];

const fn charges(model_calls: u32, tool_calls: u32, interactions: u32) -> Charges {
    Charges { model_calls, tool_calls, interactions, actions: 0 }
}

/// The jobs: `runN` and `forkN` have N outcomes.
pub(crate) const JOBS: &[JobDecl] = &[
    JobDecl { name: "run1", outcomes: ONE, ..JobDecl::RUN },
    JobDecl { name: "run2", outcomes: TWO, ..JobDecl::RUN },
    JobDecl { name: "run4", outcomes: FOUR, ..JobDecl::RUN },
    JobDecl { name: "sure", outcomes: TWO, fails: None, ..JobDecl::RUN },
    JobDecl { name: "think", outcomes: TWO, worst: charges(1, 0, 0), ..JobDecl::RUN },
    JobDecl { name: "tap", outcomes: TWO, worst: charges(0, 0, 2), ..JobDecl::RUN },
    // Asks a model first and then does something of its own, within one attempt.
    JobDecl { name: "pair", outcomes: TWO, tasks: 2, worst: charges(1, 0, 0), ..JobDecl::RUN },
    JobDecl {
        name: "call",
        outcomes: TWO,
        governed: Governance::Calls,
        worst: charges(0, 1, 0),
        ..JobDecl::RUN
    },
    // Does something of its own first and then calls a tool.
    JobDecl {
        name: "then_call",
        outcomes: TWO,
        governed: Governance::Calls,
        tasks: 2,
        worst: charges(0, 1, 0),
        ..JobDecl::RUN
    },
    JobDecl { name: "turn", outcomes: TWO, governed: Governance::Turns, ..JobDecl::RUN },
    // Breaks its declaration: it calls a tool and is not governed.
    JobDecl { name: "rogue", outcomes: ONE, worst: charges(0, 1, 0), ..JobDecl::RUN },
    JobDecl {
        name: "child",
        outcomes: TWO,
        with: &[Param { name: "chart", required: true, shape: ParamShape::Text }],
        ..JobDecl::RUN
    },
    JobDecl { name: "fork1", outcomes: ONE, ..JobDecl::DECIDE },
    JobDecl { name: "fork2", outcomes: TWO, ..JobDecl::DECIDE },
    JobDecl { name: "fork3", outcomes: THREE, ..JobDecl::DECIDE },
    JobDecl { name: "join1", outcomes: ONE, ..JobDecl::JOIN },
    JobDecl { name: "join2", outcomes: TWO, ..JobDecl::JOIN },
];

const THINK: JobId = job_id(JOBS, "think");
const TAP: JobId = job_id(JOBS, "tap");
const PAIR: JobId = job_id(JOBS, "pair");
const CALL: JobId = job_id(JOBS, "call");
const ROGUE: JobId = job_id(JOBS, "rogue");
const CHILD: JobId = job_id(JOBS, "child");
const THEN_CALL: JobId = job_id(JOBS, "then_call");

/// What a note says, in its upper four bits; the lower four name the item.
#[derive(Clone, Copy)]
pub(crate) enum Note {
    Settled = 1,
    Failed,
    TimedOut,
    Denied,
    Stuck,
    Budget,
    Cancelled,
    Limit,
    Contract,
}

impl Data {
    fn note(&mut self, note: Note, item: u16) {
        self.notes = self.notes << 8 | (note as u64) << 4 | u64::from(item & 15);
        self.noted += 1;
    }

    /// Returns the notes since an earlier moment, the oldest first.
    pub(crate) fn notes_since(&self, earlier: u32) -> Vec<String> {
        const NAMES: [&str; 10] = [
            "?",
            "settled",
            "failed",
            "timed out",
            "denied",
            "stuck",
            "budget",
            "cancelled",
            "limit",
            "contract",
        ];
        let fresh = (self.noted - earlier).min(8);
        (0..fresh)
            .rev()
            .map(|at| self.notes >> (8 * at) & 255)
            .map(|note| format!("{}: {}", note & 15, NAMES[usize::try_from(note >> 4).unwrap()]))
            .collect()
    }

    fn take_choice(&mut self, job: JobId) -> Outcome {
        let own = u8::try_from(JOBS[job.index()].outcomes.len()).unwrap();
        let choice = u8::try_from(self.choose & 15).unwrap();
        self.choose >>= 4;
        Outcome(if choice < 8 { choice % own } else { choice - 8 + own })
    }

    fn call(&self, item: u16) -> ToolCall {
        let tool = self.tools >> (4 * (u32::from(item) % 16)) & 15;
        let tool = TOOLS.get(usize::try_from(tool).unwrap()).map_or("other", |tool| tool.name);
        let arguments = RawValue::from_string(r#"{"n":1}"#.to_owned()).unwrap();
        ToolCall { id: format!("call {item}"), tool: tool.to_owned(), arguments }
    }
}

/// Reads the answers that are texts: an outcome's number, or `more`.
fn report(text: &str) -> Report {
    text.parse().map_or(Report::More, |outcome| Report::End(outcome, None))
}

impl Agent for ScriptedAgent {
    type Data = Data;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl = AgentDecl {
        name: "toy",
        jobs: JOBS,
        events: &["go", "stop", "tune"],
        lists: &["items"],
        ..AgentDecl::NONE
    };

    fn begin(data: &mut Data, config: &RawValue) -> Result<(), BadBody> {
        Self::receive(data, 0, config)
    }

    fn receive(data: &mut Data, _: u16, body: &RawValue) -> Result<(), BadBody> {
        let given: Data = serde_json::from_str(body.get())?;
        let Data { notes, noted, used_up, .. } = *data;
        *data = Data { notes, noted, used_up, ..given };
        Ok(())
    }

    fn items(data: &Data, _: u16) -> u16 {
        data.items
    }

    fn brief(data: &Data, visit: &Visit<'_>) -> Order<Task> {
        let task = Task { attempt: visit.attempt, item: visit.item };
        match visit.job {
            THINK | PAIR => Order::Model(ModelCall { job: visit.job, item: visit.item }),
            TAP => Order::touching(task, 2),
            CALL | ROGUE => Order::Tool(data.call(visit.item)),
            CHILD => Order::Child(ChildRun { chart: "kid".into(), goal: String::new() }),
            _ => Order::own(task),
        }
    }

    fn settle(data: &mut Data, visit: &Visit<'_>, answer: Answer<Report>) -> Settlement<Task> {
        let report = match answer {
            Answer::Own(report) => report,
            Answer::Model(reply) => report(&reply.text),
            Answer::Tool(result) => report(&result.output),
            Answer::Child(end) => report(&end.result),
            Answer::Fault(fault) => return Settlement::Failed(fault),
            _ => Report::More,
        };
        match report {
            Report::End(outcome, choose) => {
                data.choose = choose.unwrap_or(data.choose);
                data.note(Note::Settled, visit.item);
                Settlement::Outcome(Outcome(outcome))
            }
            Report::More if visit.job == THEN_CALL => {
                Settlement::Again(Order::Tool(data.call(visit.item)))
            }
            Report::More => {
                Settlement::Again(Order::own(Task { attempt: visit.attempt, item: visit.item }))
            }
        }
    }

    fn abandon(data: &mut Data, visit: &Visit<'_>, why: &Abandoned) {
        let note = match why {
            Abandoned::Failed(Fault { class: FaultClass::Limit, .. }) => Note::Limit,
            Abandoned::Failed(Fault { class: FaultClass::Contract, .. }) => Note::Contract,
            Abandoned::TimedOut { .. } => Note::TimedOut,
            Abandoned::Denied { .. } => Note::Denied,
            Abandoned::Stuck { .. } => Note::Stuck,
            Abandoned::Budget => Note::Budget,
            Abandoned::Cancelled => Note::Cancelled,
            _ => Note::Failed,
        };
        data.note(note, visit.item);
    }

    fn used_up(data: &mut Data, _: &State, budget: &Budget) {
        data.used_up = (data.used_up.0 + 1, budget.max());
    }

    fn decide(data: &mut Data, visit: &Visit<'_>) -> Outcome {
        data.take_choice(visit.job)
    }
}
