//! The agent: what it knows, what it orders, and what it makes of the answers. It decides and does
//! nothing itself.

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, Order, Settlement, Summary, ToolCall,
        Visit,
    },
    body::Body,
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, Governance, Influence, JobDecl, job_id},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use crate::tool::LABEL;

pub struct Beekeeper;

/// What the executor is asked. Two of these have the names of tasks of agents that ship.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    Extract { hive: String },
    Ask { question: String },
}

/// What it reports.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Frames(u32),
    Weather { fine: bool },
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Data {
    hive: String,
    frames: u32,
    labelled: bool,
}

#[derive(Deserialize)]
struct Config {
    hive: String,
}

const PLAIN: Influence = Influence::None;
const EXTRACT: JobDecl =
    JobDecl { name: "extract", outcomes: &[("counted", PLAIN)], ..JobDecl::RUN };
const ASK: JobDecl =
    JobDecl { name: "ask", outcomes: &[("fine", PLAIN), ("rain", PLAIN)], ..JobDecl::RUN };
const LABELS: JobDecl = JobDecl {
    name: "label",
    outcomes: &[("labelled", PLAIN)],
    governed: Governance::Own,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    calls: Some(LABEL),
    ..JobDecl::RUN
};
const JOBS: &[JobDecl] = &[EXTRACT, ASK, LABELS];
const EXTRACT_ID: JobId = job_id(JOBS, "extract");
const ASK_ID: JobId = job_id(JOBS, "ask");

impl Agent for Beekeeper {
    type Data = Data;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl = AgentDecl {
        name: "beekeeper",
        revision: "1",
        jobs: JOBS,
        own_tools: &[LABEL],
        ..AgentDecl::NONE
    };

    fn begin(data: &mut Data, config: &RawValue) -> Result<(), BadBody> {
        let config: Config = serde_json::from_str(config.get())?;
        data.hive = config.hive;
        Ok(())
    }

    fn receive(_: &mut Data, _: u16, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }

    fn items(_: &Data, _: u16) -> u16 {
        0
    }

    fn brief(data: &Data, visit: &Visit<'_>) -> Order<Task> {
        match visit.job {
            EXTRACT_ID => Order::own(Task::Extract { hive: data.hive.clone() }),
            ASK_ID => Order::own(Task::Ask { question: "Is it dry tomorrow?".into() }),
            _ => {
                let arguments = json!({ "hive": data.hive, "frames": data.frames });
                let arguments = Body::canonical(&arguments).into();
                Order::Tool(ToolCall { id: "label".into(), tool: LABEL.into(), arguments })
            }
        }
    }

    fn settle(data: &mut Data, _: &Visit<'_>, answer: Answer<Report>) -> Settlement<Task> {
        match answer {
            Answer::Own(Report::Frames(frames)) => {
                data.frames = frames;
                Settlement::Outcome(EXTRACT.outcome("counted"))
            }
            Answer::Own(Report::Weather { fine }) => {
                Settlement::Outcome(ASK.outcome(if fine { "fine" } else { "rain" }))
            }
            Answer::Tool(result) if result.ok => {
                data.labelled = true;
                Settlement::Outcome(LABELS.outcome("labelled"))
            }
            Answer::Fault(fault) => Settlement::Failed(fault),
            _ => Settlement::Failed(Fault {
                class: FaultClass::Contract,
                repeatable: false,
                hint_ms: None,
                message: "nothing else was ordered".into(),
            }),
        }
    }

    fn abandon(_: &mut Data, _: &Visit<'_>, _: &Abandoned) {}

    fn decide(_: &mut Data, _: &Visit<'_>) -> Outcome {
        Outcome(0)
    }

    fn result(data: &Data) -> Option<String> {
        data.labelled.then(|| format!("{} frames of {} are labelled", data.frames, data.hive))
    }

    fn describe_task(task: &Task) -> Option<String> {
        Some(match task {
            Task::Extract { hive } => format!("opens {hive}"),
            Task::Ask { question } => format!("asks the sky: {question}"),
        })
    }

    fn describe_report(report: &Report) -> Option<Summary> {
        Some(match report {
            Report::Frames(frames) => Summary::line(true, format!("{frames} frames are full")),
            Report::Weather { fine } => Summary::line(*fine, if *fine { "dry" } else { "rain" }),
        })
    }
}
