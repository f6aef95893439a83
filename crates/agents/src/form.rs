//! The form agent: fills web forms. The model may only write text.
//!
//! Here are its jobs and how each is settled. What a run knows is in `data`, the browser's
//! side in `task`, fields in `field` and `kind`, which of them are filled in `page` and
//! `plan`, what may be pressed in `forward`, how a run ends in `ending`, the person's side in
//! `profile`, and how a value is written so that a field takes it in `value`.

mod chart;
mod classify;
mod config;
mod data;
mod describe;
mod ending;
mod facts;
mod field;
mod kind;
mod navigation;
mod page;
mod plan;
mod profile;
mod read;
mod report;
mod sending;
mod snapshot;
mod task;
#[cfg(test)]
mod tests;
mod text;
mod value;

use alloc::{boxed::Box, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, ModelCall, Order, Settlement,
        Summary, Visit,
    },
    chart::{Budget, State, StateKind as Doing},
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, Governance, Influence, JobDecl, job_id},
    prompt::Prompt,
    table::DataTable,
};
use serde_json::value::RawValue;

pub use chart::{CHART, chart_with};
pub use classify::learnt;
pub use config::{FormConfig, OnOptional};
pub use data::FormData;
pub use ending::Ending;
pub use facts::Fact;
pub use field::{Choice, Field, FieldLimits, FieldShape, Fill};
pub use kind::{FieldKind, SecretKind, SensitiveKind};
pub use navigation::{ControlEffect as ControlClass, ControlRole, NavigationControl};
pub use plan::SkipReason;
pub use profile::{ANSWERS, Profile, ProfileKeys};
pub use read::{
    Complaint, FieldReading, Overlay, PageReader, PageReading, alone, aside, document, pressable,
    read, said_by,
};
pub use report::{FieldRow, Status, Submission, ValueOrigin};
pub use snapshot::{
    Area, Captcha, Control, ControlKind, ControlNames, ControlOption, EnclosingElement,
    PageSnapshot, PressEffect, TableHeaders, TextElement, TextKind, Visibility,
};
pub use task::{FormReport, FormTask, Source};
pub use text::is_unseen;
pub use value::{UnfitValue, fit, kept};

use crate::answer;
use page::PagePlan;
use sending::{anew, sent, submit};

/// The tool by which the form is sent. The agent calls it, never a model.
pub const SUBMIT_TOOL: &str = "form.submit";
/// How a fault begins that says that a control was not pressed, because it, its page or where
/// it leads is not what was agreed to. What has changed follows.
pub const NOT_PRESSED: &str = "it was not pressed, because the page has changed: ";

const SETTLE: JobDecl =
    JobDecl { name: "page.settle", outcomes: &[("ready", Influence::None)], ..JobDecl::RUN };
const EXTRACT: JobDecl = JobDecl {
    name: "form.extract",
    outcomes: &[("found", Influence::None), ("none", Influence::None)],
    ..JobDecl::RUN
};
const PLAN: JobDecl = JobDecl {
    name: "form.plan",
    outcomes: &[
        ("fillable", Influence::None),
        ("passed", Influence::None),
        ("nothing", Influence::None),
    ],
    ..JobDecl::DECIDE
};
const FILL: JobDecl = JobDecl {
    name: "form.fill",
    outcomes: &[("filled", Influence::None)],
    tasks: 2,
    worst: Charges { model_calls: 1, interactions: TOUCHES, ..Charges::NONE },
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
        ("sent", Influence::None),
        ("unsent", Influence::None),
        ("unsafe", Influence::None),
    ],
    governed: Governance::Own,
    tasks: 2,
    worst: Charges { tool_calls: 1, interactions: 1, ..Charges::NONE },
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
const PASSED: Outcome = PLAN.outcome("passed");
const NOTHING: Outcome = PLAN.outcome("nothing");
const FILLED: Outcome = FILL.outcome("filled");
const NEXT_FIELD: Outcome = VERIFY.outcome("next_field");
const LAST_FIELD: Outcome = VERIFY.outcome("last_field");
const INVALID: Outcome = VERIFY.outcome("invalid");
const NEW_PAGE: Outcome = ADVANCE.outcome("new_page");
const NO_MORE: Outcome = ADVANCE.outcome("no_more");
const SENT: Outcome = ADVANCE.outcome("sent");
const UNSENT: Outcome = ADVANCE.outcome("unsent");
const UNSAFE: Outcome = ADVANCE.outcome("unsafe");

/// Focus, type, leave: what inserting one value takes.
const TOUCHES: u32 = 3;

/// Fills web forms.
#[derive(Clone, Copy, Debug)]
pub struct FormAgent;

impl Agent for FormAgent {
    type Data = FormData;
    type Task = FormTask;
    type Report = FormReport;

    const DECL: AgentDecl = AgentDecl {
        name: "form",
        about: "a form on a web page, filled from your profile",
        revision: crate::SOURCES,
        jobs: JOBS,
        events: &["activate"],
        own_tools: &[SUBMIT_TOOL],
        commands: false,
        // They are about a page in a browser that ends with the process.
        questions_last: false,
        ..AgentDecl::NONE
    };

    fn describe_task(task: &FormTask) -> Option<String> {
        Some(describe::task(task))
    }

    fn describe_report(report: &FormReport) -> Option<Summary> {
        describe::report(report)
    }

    fn begin(data: &mut FormData, config: &RawValue) -> Result<(), BadBody> {
        *data = FormData::new(serde_json::from_str(config.get())?);
        Ok(())
    }

    fn receive(data: &mut FormData, _event: u16, body: &RawValue) -> Result<(), BadBody> {
        data.activate(serde_json::from_str(body.get())?);
        Ok(())
    }

    fn items(_data: &FormData, _list: u16) -> u16 {
        0
    }

    fn brief(data: &FormData, visit: &Visit<'_>) -> Order<FormTask> {
        match visit.job {
            SETTLE_ID => Order::own(FormTask::Settle { url: data.first_url() }),
            EXTRACT_ID => Order::own(FormTask::Extract),
            FILL_ID if data.wants_text() => {
                Order::Model(ModelCall { job: visit.job, item: visit.item })
            }
            FILL_ID => insert(data),
            VERIFY_ID => {
                let (field, from, origin) = (data.here(), data.typed(), data.site());
                Order::own(FormTask::Verify { field, from, origin })
            }
            _ => Order::own(FormTask::Survey),
        }
    }

    fn settle(
        data: &mut FormData,
        visit: &Visit<'_>,
        answer: Answer<FormReport>,
    ) -> Settlement<FormTask> {
        let settled = match visit.job {
            FILL_ID => filled(data, visit, answer),
            VERIFY_ID => verified(data, answer),
            _ => {
                if let Answer::Tool(result) = answer {
                    sent(data, result.ok, &result.output)
                } else {
                    let took = answer::own(answer).and_then(|it| took(data, visit.job, it));
                    took.or_else(|fault| anew(data, fault))
                }
            }
        };
        settled.unwrap_or_else(Settlement::Failed)
    }

    fn abandon(data: &mut FormData, visit: &Visit<'_>, why: &Abandoned) {
        data.give_up(why, visit.held);
    }

    fn used_up(data: &mut FormData, _state: &State, budget: &Budget) {
        data.used_up(budget);
    }

    fn prompt(data: &FormData, _visit: &Visit<'_>) -> Prompt {
        data.prompt()
    }

    fn result(data: &FormData) -> Option<String> {
        Some(data.told())
    }

    fn report(data: &FormData) -> Option<serde_json::Value> {
        Some(data.reported())
    }

    fn tables(data: &FormData) -> Vec<DataTable> {
        data.tables()
    }

    fn stage(data: &FormData) -> Option<String> {
        data.stage()
    }

    fn decide(data: &mut FormData, _visit: &Visit<'_>) -> Outcome {
        match data.plan() {
            PagePlan::Fillable => FILLABLE,
            PagePlan::Passed => PASSED,
            PagePlan::Nothing => NOTHING,
        }
    }
}

/// The text comes first and is written down; then it is typed.
fn filled(
    data: &mut FormData,
    visit: &Visit<'_>,
    answer: Answer<FormReport>,
) -> Result<Settlement<FormTask>, Fault> {
    if data.wants_text() {
        match answer::model(answer) {
            Ok(reply) => data.take_text(&reply.text, None),
            // An unusable model response is not a text, and routes no more than one.
            Err(fault) if fault.class == FaultClass::Invalid => {
                data.take_text("", Some(&fault.message));
            }
            Err(fault) => return Err(fault),
        }
        return Ok(Settlement::Again(insert(data)));
    }
    match answer::own(answer) {
        Ok(FormReport::Inserted { value, unfit, note, .. }) => {
            data.remark(note);
            data.inserted(value, unfit)?;
        }
        Ok(FormReport::SwitchedOff { note }) => {
            data.remark(note);
            data.switched_off();
        }
        Ok(_) => return Err(answer::misfit()),
        // The field is missing or rejects the text: if the form does not require it, the rest of
        // the form continues without it.
        Err(fault) if fault.class == FaultClass::Invalid && last_attempt(visit, &fault) => {
            data.could_not(&fault)?;
        }
        Err(fault) => return Err(fault),
    }
    Ok(Settlement::Outcome(FILLED))
}

fn last_attempt(visit: &Visit<'_>, fault: &Fault) -> bool {
    let more = matches!(visit.state.kind(), Doing::Run(work) if visit.attempt < work.attempts.max);
    !fault.repeatable || !more
}

fn verified(
    data: &mut FormData,
    answer: Answer<FormReport>,
) -> Result<Settlement<FormTask>, Fault> {
    let (kept, complaint) = match answer::own(answer) {
        Ok(FormReport::Verified { kept, complaint, note }) => {
            data.remark(note);
            (kept, complaint)
        }
        Ok(_) => return Err(answer::misfit()),
        // A field that was skipped need not be there to be looked at.
        Err(fault) if fault.class == FaultClass::Invalid && data.is_skipping() => (true, None),
        Err(fault) => return Err(fault),
    };
    let outcome = if (kept && complaint.is_none()) || data.is_skipping() {
        if data.next_field() { NEXT_FIELD } else { LAST_FIELD }
    } else {
        data.complain(kept, complaint);
        INVALID
    };
    Ok(Settlement::Outcome(outcome))
}

fn took(
    data: &mut FormData,
    job: JobId,
    report: FormReport,
) -> Result<Settlement<FormTask>, Fault> {
    let outcome = match (job, report) {
        (SETTLE_ID, FormReport::Settled { fingerprint, origin, title, status, document }) => {
            data.open_page(&fingerprint, &origin, &title, status)?;
            data.take_document(document);
            READY
        }
        (EXTRACT_ID, FormReport::Fields(fields)) => {
            if data.take_fields(fields)? {
                FOUND
            } else {
                NONE
            }
        }
        (_, FormReport::Controls { controls, shot, fingerprint, document, note }) => {
            data.picture(shot);
            data.take_document(document);
            data.remark_on_page(note);
            if data.is_another(&fingerprint) {
                NEW_PAGE
            } else {
                return Ok(advance(data, &controls));
            }
        }
        (_, FormReport::Moved { fingerprint, origin, complaint, shot, document }) => {
            data.picture(shot);
            data.went_on(document);
            if data.moved(&fingerprint, &origin, complaint.as_deref())? { NEW_PAGE } else { UNSAFE }
        }
        _ => return Err(answer::misfit()),
    };
    Ok(Settlement::Outcome(outcome))
}

fn advance(data: &mut FormData, controls: &[NavigationControl]) -> Settlement<FormTask> {
    let unsent = |data: &mut FormData, control| {
        data.hand_over(&[control], Ending::Unsent, None);
        Settlement::Outcome(UNSENT)
    };
    let sends = data.config.sends;
    match data.way(controls) {
        // What a page makes for sending may send, whatever is written on it.
        navigation::NextStep::Press(control) if !sends && control.does == ControlRole::Submit => {
            unsent(data, control)
        }
        navigation::NextStep::Press(control) => {
            let (page, origin) = (data.fingerprint(), data.site());
            data.about_to_go_on(control);
            let task = FormTask::Press { control: Box::new(control.clone()), page, origin };
            Settlement::Again(Order::touching(task, 1))
        }
        navigation::NextStep::Submit(control, _) if !sends => unsent(data, control),
        navigation::NextStep::Submit(control, class) => match submit(data, control, class) {
            Some(call) => Settlement::Again(Order::Tool(call)),
            None => Settlement::Failed(answer::misfit()),
        },
        navigation::NextStep::Nothing => {
            data.hand_over(&[], Ending::NoMore, None);
            Settlement::Outcome(NO_MORE)
        }
        navigation::NextStep::Persons(why, next) => {
            let all: Vec<&NavigationControl> = controls.iter().collect();
            data.hand_over(&all, Ending::Unsafe, Some((why, next)));
            Settlement::Outcome(UNSAFE)
        }
    }
}

fn insert(data: &FormData) -> Order<FormTask> {
    let (field, from, origin) = (data.here(), data.source(), data.site());
    let task = FormTask::Insert { field, from, origin };
    Order::touching(task, TOUCHES)
}
