//! The builtin jobs, as users' charts know them.

use pointsman_kernel::{
    id::{JobId, Outcome},
    job::{
        Charges, Governance, Influence, JobDecl, Param, ParamShape, Slot, SlotSource, TextOrigin,
        job_id,
    },
};

const fn needed(name: &'static str, shape: ParamShape) -> Param {
    Param { name, required: true, shape }
}

/// A text in which slots are filled.
const fn template(name: &'static str) -> Param {
    needed(name, ParamShape::Template)
}

/// The slot that gets the result, for jobs that may keep it to themselves.
const INTO: Param = Param { name: "into", required: false, shape: ParamShape::Into };

/// A person has a day where the chart says nothing, as with every other question.
const A_DAY: u64 = 24 * 60 * 60 * 1000;

const ASKS_MODEL: Charges = Charges { model_calls: 1, ..Charges::NONE };

/// A job that calls one tool, judged. The arguments may hold a model's text, and a
/// tool may refuse them.
const CALLS_TOOL: JobDecl = JobDecl {
    fails: Some(Influence::Proposal),
    governed: Governance::Calls,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    // A call that the chart has fixed is the chart's own doing.
    words: TextOrigin::Parameters,
    ..JobDecl::RUN
};

const REPLY: JobDecl = JobDecl {
    name: "model.reply",
    outcomes: &[("completed", Influence::None)],
    worst: ASKS_MODEL,
    with: &[template("prompt"), INTO],
    ..JobDecl::RUN
};
const CHOOSE: JobDecl = JobDecl {
    name: "model.choose",
    outcomes: &[("chosen", Influence::Choice)],
    // A reply that names nothing on the list is a failed attempt.
    fails: Some(Influence::Choice),
    worst: ASKS_MODEL,
    with: &[
        template("prompt"),
        needed("from", ParamShape::Choices),
        needed("into", ParamShape::Into),
    ],
    ..JobDecl::RUN
};
const TOOL: JobDecl = JobDecl {
    name: "tool.call",
    outcomes: &[("ok", Influence::Proposal)],
    with: &[
        needed("tool", ParamShape::Tool),
        Param { name: "args", required: false, shape: ParamShape::Arguments },
        INTO,
    ],
    ..CALLS_TOOL
};
const ASK: JobDecl = JobDecl {
    name: "ask.person",
    outcomes: &[("yes", Influence::None), ("no", Influence::None)],
    with: &[template("question"), INTO],
    words: TextOrigin::Others,
    usual_timeout: Some(A_DAY),
    person: true,
    ..JobDecl::RUN
};
const SHELL: JobDecl = JobDecl {
    name: "shell",
    outcomes: &[("ok", Influence::Proposal), ("nonzero", Influence::Proposal)],
    with: &[needed("command", ParamShape::Command), INTO],
    calls: Some("shell"),
    ..CALLS_TOOL
};
const HTTP: JobDecl = JobDecl {
    name: "http",
    outcomes: &[("ok", Influence::Proposal)],
    with: &[template("url"), INTO],
    calls: Some("http_get"),
    ..CALLS_TOOL
};
const CHILD: JobDecl = JobDecl {
    name: "agent",
    // How a child ends may be its own model's doing, as far as its chart lets it.
    outcomes: &[("succeeded", Influence::Proposal), ("child_failed", Influence::Proposal)],
    with: &[needed("chart", ParamShape::Text), template("goal"), INTO],
    ..JobDecl::RUN
};
const MATCH: JobDecl = JobDecl {
    name: "match",
    outcomes: &[("other", Influence::Choice)],
    open: Some(Influence::Choice),
    with: &[needed("slot", ParamShape::Slot)],
    words: TextOrigin::Parameters,
    ..JobDecl::DECIDE
};

pub(super) const JOBS: &[JobDecl] = &[REPLY, CHOOSE, TOOL, ASK, SHELL, HTTP, CHILD, MATCH];

/// The slots that every run has.
pub(super) const SLOTS: &[Slot] = &[
    Slot { name: "goal", filled: SlotSource::Start },
    Slot { name: "input", filled: SlotSource::Event },
    Slot { name: "error", filled: SlotSource::Error },
];

pub(super) const REPLY_ID: JobId = job_id(JOBS, "model.reply");
pub(super) const CHOOSE_ID: JobId = job_id(JOBS, "model.choose");
pub(super) const TOOL_ID: JobId = job_id(JOBS, "tool.call");
pub(super) const ASK_ID: JobId = job_id(JOBS, "ask.person");
pub(super) const SHELL_ID: JobId = job_id(JOBS, "shell");
pub(super) const HTTP_ID: JobId = job_id(JOBS, "http");
pub(super) const CHILD_ID: JobId = job_id(JOBS, "agent");

pub(super) const COMPLETED: Outcome = REPLY.outcome("completed");
pub(super) const CHOSEN: Outcome = CHOOSE.outcome("chosen");
pub(super) const TOOL_OK: Outcome = TOOL.outcome("ok");
pub(super) const YES: Outcome = ASK.outcome("yes");
pub(super) const NO: Outcome = ASK.outcome("no");
pub(super) const SHELL_OK: Outcome = SHELL.outcome("ok");
pub(super) const NONZERO: Outcome = SHELL.outcome("nonzero");
pub(super) const HTTP_OK: Outcome = HTTP.outcome("ok");
pub(super) const SUCCEEDED: Outcome = CHILD.outcome("succeeded");
pub(super) const CHILD_FAILED: Outcome = CHILD.outcome("child_failed");
pub(super) const OTHER: Outcome = MATCH.outcome("other");
