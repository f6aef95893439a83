//! The form agent: fills web forms. The model may only write text.
//!
//! Here are its jobs and how each is settled; what a run knows is in `data`,
//! what may be typed in `text`, and what may be pressed in `forward`.

mod data;
mod field;
mod forward;
#[cfg(test)]
mod tests;
mod text;

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Agent, Answer, BadBody, Fault, FaultClass, Forgone, ModelCall, Order, Settled, Visit},
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, Influence, JobDecl, job_id},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use data::Data;
pub use field::{Field, FieldKind, Left, LeftWhy};
pub use forward::Control;

use crate::answer;

/// The chart that ships with the agent.
pub const CHART: &str = include_str!("../charts/form.toml");

const SETTLE: JobDecl =
    JobDecl { name: "page.settle", outcomes: &[("ready", Influence::None)], ..JobDecl::RUN };
const EXTRACT: JobDecl = JobDecl {
    name: "form.extract",
    outcomes: &[("found", Influence::None), ("none", Influence::None)],
    ..JobDecl::RUN
};
const PLAN: JobDecl = JobDecl {
    name: "form.plan",
    outcomes: &[("fillable", Influence::None), ("nothing", Influence::None)],
    ..JobDecl::DECIDE
};
const FILL: JobDecl = JobDecl {
    name: "form.fill",
    outcomes: &[("filled", Influence::None)],
    tasks: 2,
    worst: Charges { model_calls: 1, tool_calls: 0, interactions: TOUCHES },
    ..JobDecl::RUN
};
const VERIFY: JobDecl = JobDecl {
    name: "form.verify",
    outcomes: &[
        ("next_field", Influence::None),
        ("last_field", Influence::None),
        ("invalid", Influence::None),
    ],
    ..JobDecl::RUN
};
const ADVANCE: JobDecl = JobDecl {
    name: "form.advance",
    outcomes: &[
        ("new_page", Influence::None),
        ("no_more", Influence::None),
        ("unsafe", Influence::None),
        ("denied", Influence::None),
    ],
    tasks: 2,
    worst: Charges { model_calls: 0, tool_calls: 0, interactions: 1 },
    ..JobDecl::RUN
};

const JOBS: &[JobDecl] = &[SETTLE, EXTRACT, PLAN, FILL, VERIFY, ADVANCE];

const SETTLE_ID: JobId = job_id(JOBS, "page.settle");
const EXTRACT_ID: JobId = job_id(JOBS, "form.extract");
const FILL_ID: JobId = job_id(JOBS, "form.fill");
const VERIFY_ID: JobId = job_id(JOBS, "form.verify");

const READY: Outcome = SETTLE.outcome("ready");
const FOUND: Outcome = EXTRACT.outcome("found");
const NONE: Outcome = EXTRACT.outcome("none");
const FILLABLE: Outcome = PLAN.outcome("fillable");
const NOTHING: Outcome = PLAN.outcome("nothing");
const FILLED: Outcome = FILL.outcome("filled");
const NEXT_FIELD: Outcome = VERIFY.outcome("next_field");
const LAST_FIELD: Outcome = VERIFY.outcome("last_field");
const INVALID: Outcome = VERIFY.outcome("invalid");
const NEW_PAGE: Outcome = ADVANCE.outcome("new_page");
const NO_MORE: Outcome = ADVANCE.outcome("no_more");
const UNSAFE: Outcome = ADVANCE.outcome("unsafe");
const DENIED: Outcome = ADVANCE.outcome("denied");

/// Focus, type, leave: what inserting one value takes.
const TOUCHES: u32 = 3;

/// Fills web forms.
#[derive(Clone, Copy, Debug)]
pub struct Form;

/// What the browser should do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Task {
    /// Wait until the page has loaded and stands still.
    Settle,
    /// List the fields of the form.
    Extract,
    /// Focus the field, and type the value if there is one.
    Insert {
        /// The field's id.
        field: String,
        /// What to type; nothing leaves the field as it is.
        value: Option<String>,
    },
    /// Look whether the value was kept, and whether the page complains.
    Verify {
        /// The field's id.
        field: String,
        /// What should be there.
        value: Option<String>,
    },
    /// List the controls that could lead on.
    Survey,
    /// Press this one.
    Press {
        /// The control's id.
        control: String,
    },
}

/// What the browser saw.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Report {
    /// The page stands still.
    Settled {
        /// What the page is known by: its address and the fields it shows.
        fingerprint: String,
        /// Scheme, host and port.
        origin: String,
    },
    /// The fields of the form, in the order of the page.
    Fields(Vec<Field>),
    /// The value was typed.
    Inserted,
    /// What became of the value.
    Verified {
        /// Whether it is still there after leaving the field.
        kept: bool,
        /// What the page complains of.
        complaint: Option<String>,
    },
    /// The controls that could lead on.
    Controls(Vec<Control>),
    /// The page after the control was pressed.
    Moved {
        /// What it is known by.
        fingerprint: String,
    },
}

impl Agent for Form {
    type Data = Data;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl =
        AgentDecl { name: "form", jobs: JOBS, events: &["activate"], lists: &[] };

    fn begin(data: &mut Data, config: &RawValue) -> Result<(), BadBody> {
        *data = Data::new(serde_json::from_str(config.get())?);
        Ok(())
    }

    fn receive(data: &mut Data, _event: u16, body: &RawValue) -> Result<(), BadBody> {
        data.activate(serde_json::from_str(body.get())?);
        Ok(())
    }

    fn items(_data: &Data, _list: u16) -> u16 {
        0
    }

    fn brief(data: &Data, visit: &Visit<'_>) -> Order<Task> {
        match visit.job {
            SETTLE_ID => Order::own(Task::Settle),
            EXTRACT_ID => Order::own(Task::Extract),
            FILL_ID if data.wants_text() => {
                Order::Model(ModelCall { job: visit.job, item: visit.item })
            }
            FILL_ID => insert(data),
            VERIFY_ID => Order::own(Task::Verify { field: data.field_id(), value: data.value() }),
            _ => Order::own(Task::Survey),
        }
    }

    fn settle(data: &mut Data, visit: &Visit<'_>, answer: Answer<Report>) -> Settled<Task> {
        let settled = match visit.job {
            FILL_ID => filled(data, answer),
            _ => answer::own(answer).and_then(|report| took(data, visit.job, report)),
        };
        settled.unwrap_or_else(Settled::Failed)
    }

    fn forgo(data: &mut Data, _visit: &Visit<'_>, why: &Forgone) {
        data.give_up(why);
    }

    fn decide(data: &mut Data, _visit: &Visit<'_>) -> Outcome {
        if data.plan() { FILLABLE } else { NOTHING }
    }
}

/// The text comes first and is written down; then it is typed.
fn filled(data: &mut Data, answer: Answer<Report>) -> Result<Settled<Task>, Fault> {
    if data.wants_text() {
        data.take_text(&answer::model(answer)?.text);
        return Ok(Settled::Again(insert(data)));
    }
    let Report::Inserted = answer::own(answer)? else { return Err(answer::misfit()) };
    Ok(Settled::Outcome(FILLED))
}

fn took(data: &mut Data, job: JobId, report: Report) -> Result<Settled<Task>, Fault> {
    let outcome = match (job, report) {
        (SETTLE_ID, Report::Settled { fingerprint, origin }) => {
            data.open_page(fingerprint, origin);
            READY
        }
        (EXTRACT_ID, Report::Fields(fields)) => {
            if data.take_fields(fields) {
                FOUND
            } else {
                NONE
            }
        }
        (VERIFY_ID, Report::Verified { kept: true, complaint: None }) => {
            if data.next_field() {
                NEXT_FIELD
            } else {
                LAST_FIELD
            }
        }
        (VERIFY_ID, Report::Verified { complaint, .. }) => {
            data.complain(complaint);
            INVALID
        }
        (_, Report::Controls(controls)) => return Ok(advance(data, &controls)),
        (_, Report::Moved { fingerprint }) if data.has_seen(&fingerprint) => {
            let message = "the form came back after it was told to go on";
            return Err(answer::refused(FaultClass::Invalid, message));
        }
        (_, Report::Moved { .. }) => NEW_PAGE,
        _ => return Err(answer::misfit()),
    };
    Ok(Settled::Outcome(outcome))
}

fn advance(data: &mut Data, controls: &[Control]) -> Settled<Task> {
    match forward::choose(controls, data.origin(), data.misses_required()) {
        forward::Way::Press(control) => {
            let task = Task::Press { control: control.id.clone() };
            Settled::Again(Order::Own { task, interactions: 1 })
        }
        forward::Way::Nothing => Settled::Outcome(NO_MORE),
        forward::Way::Persons => {
            data.hand_over(controls);
            Settled::Outcome(UNSAFE)
        }
        forward::Way::Elsewhere => {
            data.hand_over(controls);
            Settled::Outcome(DENIED)
        }
    }
}

fn insert(data: &Data) -> Order<Task> {
    let task = Task::Insert { field: data.field_id(), value: data.value() };
    Order::Own { task, interactions: TOUCHES }
}
