//! The builtin jobs, as users' charts know them.

use pointsman_kernel::{
    id::{JobId, Outcome},
    job::{Charges, Governed, Influence, JobDecl, Param, Shape, job_id},
};

const fn needed(name: &'static str) -> Param {
    Param { name, required: true, shape: Shape::Text }
}

const fn optional(name: &'static str) -> Param {
    Param { name, required: false, shape: Shape::Text }
}

const fn list(name: &'static str) -> Param {
    Param { name, required: true, shape: Shape::Texts }
}

const ASKS_MODEL: Charges = Charges { model_calls: 1, tool_calls: 0, interactions: 0 };

/// A job that calls one tool, judged. The arguments may hold a model's text, and a
/// tool may refuse them.
const CALLS_TOOL: JobDecl = JobDecl {
    fails: Some(Influence::Proposal),
    governed: Governed::Calls,
    worst: Charges { model_calls: 0, tool_calls: 1, interactions: 0 },
    ..JobDecl::RUN
};

const REPLY: JobDecl = JobDecl {
    name: "model.reply",
    outcomes: &[("completed", Influence::None)],
    worst: ASKS_MODEL,
    with: &[needed("prompt"), optional("into")],
    ..JobDecl::RUN
};
const CHOOSE: JobDecl = JobDecl {
    name: "model.choose",
    outcomes: &[("chosen", Influence::Choice)],
    // A reply that names nothing on the list is a failed attempt.
    fails: Some(Influence::Choice),
    worst: ASKS_MODEL,
    with: &[needed("prompt"), list("from"), needed("into")],
    ..JobDecl::RUN
};
const TOOL: JobDecl = JobDecl {
    name: "tool.call",
    outcomes: &[("ok", Influence::Proposal)],
    with: &[
        needed("tool"),
        Param { name: "args", required: false, shape: Shape::Any },
        optional("into"),
    ],
    ..CALLS_TOOL
};
const ASK: JobDecl = JobDecl {
    name: "ask.person",
    outcomes: &[("yes", Influence::None), ("no", Influence::None)],
    with: &[needed("question"), optional("into")],
    ..JobDecl::RUN
};
const SHELL: JobDecl = JobDecl {
    name: "shell",
    outcomes: &[("ok", Influence::Proposal), ("nonzero", Influence::Proposal)],
    with: &[list("command"), optional("into")],
    ..CALLS_TOOL
};
const HTTP: JobDecl = JobDecl {
    name: "http",
    outcomes: &[("ok", Influence::Proposal)],
    with: &[needed("url"), optional("into")],
    ..CALLS_TOOL
};
const CHILD: JobDecl = JobDecl {
    name: "agent",
    // How a child ends may be its own model's doing, as far as its chart lets it.
    outcomes: &[("succeeded", Influence::Proposal), ("child_failed", Influence::Proposal)],
    with: &[needed("chart"), needed("goal"), optional("into")],
    ..JobDecl::RUN
};
const MATCH: JobDecl = JobDecl {
    name: "match",
    outcomes: &[("other", Influence::Choice)],
    open: Some(Influence::Choice),
    with: &[needed("slot")],
    ..JobDecl::DECIDE
};

pub(super) const JOBS: &[JobDecl] = &[REPLY, CHOOSE, TOOL, ASK, SHELL, HTTP, CHILD, MATCH];

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
