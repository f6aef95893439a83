//! The jobs of the explore agent, as charts know them.

use pointsman_kernel::{
    id::{JobId, Outcome},
    job::{Charges, Influence, JobDecl, job_id},
};

const NONE: Influence = Influence::None;

/// Tap and type: what one action takes at most.
pub(super) const TOUCHES: u32 = 2;

const SESSION: JobDecl =
    JobDecl { name: "device.session", outcomes: &[("ready", NONE)], ..JobDecl::RUN };
const PROVISION: JobDecl =
    JobDecl { name: "app.provision", outcomes: &[("ready", NONE)], tasks: 2, ..JobDecl::RUN };
const LAUNCH: JobDecl = JobDecl {
    name: "app.launch",
    outcomes: &[("ready", NONE)],
    // A look whether it is in front, and the launch.
    tasks: 2,
    worst: Charges { actions: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const SETTLE: JobDecl =
    JobDecl { name: "screen.settle", outcomes: &[("quiet", NONE)], ..JobDecl::RUN };
const CAPTURE: JobDecl = JobDecl {
    name: "screen.capture",
    outcomes: &[("captured", NONE), ("elsewhere", NONE), ("crashed", NONE)],
    ..JobDecl::RUN
};
const ENUMERATE: JobDecl = JobDecl {
    name: "actions.enumerate",
    outcomes: &[("some", NONE), ("none", NONE)],
    ..JobDecl::DECIDE
};
const CHOOSE: JobDecl = JobDecl {
    name: "policy.choose",
    outcomes: &[("settled", NONE), ("open", NONE), ("restart", NONE), ("lost", NONE)],
    ..JobDecl::DECIDE
};
const ASK: JobDecl = JobDecl {
    name: "action.choose",
    outcomes: &[("chosen", Influence::Choice)],
    // A reply that names nothing on the list is a failed attempt.
    fails: Some(Influence::Choice),
    worst: Charges { model_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const PERFORM: JobDecl = JobDecl {
    name: "action.perform",
    outcomes: &[("done", NONE)],
    worst: Charges { interactions: TOUCHES, actions: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const COMPARE: JobDecl = JobDecl {
    name: "screen.compare",
    outcomes: &[("changed", NONE), ("unchanged", NONE), ("crashed", NONE), ("left_app", NONE)],
    ..JobDecl::RUN
};
const ASSESS: JobDecl = JobDecl {
    name: "progress.assess",
    outcomes: &[("progress", NONE), ("stall", NONE), ("loop", NONE)],
    ..JobDecl::DECIDE
};
const ROUTE: JobDecl = JobDecl {
    name: "exploration.route",
    outcomes: &[("go_on", NONE), ("switch", NONE), ("restart", NONE), ("explored", NONE)],
    ..JobDecl::DECIDE
};
const SWITCH: JobDecl =
    JobDecl { name: "policy.switch", outcomes: &[("switched", NONE)], ..JobDecl::DECIDE };
const RECOVER: JobDecl = JobDecl {
    name: "device.recover",
    outcomes: &[("recovered", NONE), ("relaunch", NONE), ("session_lost", NONE)],
    tasks: 2,
    worst: Charges { interactions: 1, actions: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
const RESTART: JobDecl = JobDecl {
    name: "app.restart",
    outcomes: &[("ready", NONE)],
    worst: Charges { actions: 1, ..Charges::NONE },
    ..JobDecl::RUN
};

pub(super) const JOBS: &[JobDecl] = &[
    SESSION, PROVISION, LAUNCH, SETTLE, CAPTURE, ENUMERATE, CHOOSE, ASK, PERFORM, COMPARE, ASSESS,
    ROUTE, SWITCH, RECOVER, RESTART,
];

pub(super) const SESSION_ID: JobId = job_id(JOBS, "device.session");
pub(super) const PROVISION_ID: JobId = job_id(JOBS, "app.provision");
pub(super) const LAUNCH_ID: JobId = job_id(JOBS, "app.launch");
pub(super) const SETTLE_ID: JobId = job_id(JOBS, "screen.settle");
pub(super) const CAPTURE_ID: JobId = job_id(JOBS, "screen.capture");
pub(super) const ENUMERATE_ID: JobId = job_id(JOBS, "actions.enumerate");
pub(super) const CHOOSE_ID: JobId = job_id(JOBS, "policy.choose");
pub(super) const ASK_ID: JobId = job_id(JOBS, "action.choose");
pub(super) const PERFORM_ID: JobId = job_id(JOBS, "action.perform");
pub(super) const COMPARE_ID: JobId = job_id(JOBS, "screen.compare");
pub(super) const ASSESS_ID: JobId = job_id(JOBS, "progress.assess");
pub(super) const ROUTE_ID: JobId = job_id(JOBS, "exploration.route");
pub(super) const RECOVER_ID: JobId = job_id(JOBS, "device.recover");
pub(super) const RESTART_ID: JobId = job_id(JOBS, "app.restart");

pub(super) const SESSION_READY: Outcome = SESSION.outcome("ready");
pub(super) const PROVISIONED: Outcome = PROVISION.outcome("ready");
pub(super) const LAUNCHED: Outcome = LAUNCH.outcome("ready");
pub(super) const QUIET: Outcome = SETTLE.outcome("quiet");
pub(super) const CAPTURED: Outcome = CAPTURE.outcome("captured");
pub(super) const ELSEWHERE: Outcome = CAPTURE.outcome("elsewhere");
pub(super) const DOWN: Outcome = CAPTURE.outcome("crashed");
pub(super) const SOME: Outcome = ENUMERATE.outcome("some");
pub(super) const NOTHING: Outcome = ENUMERATE.outcome("none");
pub(super) const SETTLED: Outcome = CHOOSE.outcome("settled");
pub(super) const OPEN: Outcome = CHOOSE.outcome("open");
pub(super) const AFRESH: Outcome = CHOOSE.outcome("restart");
pub(super) const LOST: Outcome = CHOOSE.outcome("lost");
pub(super) const CHOSEN: Outcome = ASK.outcome("chosen");
pub(super) const DONE: Outcome = PERFORM.outcome("done");
pub(super) const CHANGED: Outcome = COMPARE.outcome("changed");
pub(super) const UNCHANGED: Outcome = COMPARE.outcome("unchanged");
pub(super) const CRASHED: Outcome = COMPARE.outcome("crashed");
pub(super) const LEFT_APP: Outcome = COMPARE.outcome("left_app");
pub(super) const PROGRESS: Outcome = ASSESS.outcome("progress");
pub(super) const STALL: Outcome = ASSESS.outcome("stall");
pub(super) const LOOP: Outcome = ASSESS.outcome("loop");
pub(super) const GO_ON: Outcome = ROUTE.outcome("go_on");
pub(super) const CHANGE_POLICY: Outcome = ROUTE.outcome("switch");
pub(super) const START_AGAIN: Outcome = ROUTE.outcome("restart");
pub(super) const EXPLORED: Outcome = ROUTE.outcome("explored");
pub(super) const SWITCHED: Outcome = SWITCH.outcome("switched");
pub(super) const RECOVERED: Outcome = RECOVER.outcome("recovered");
pub(super) const RELAUNCH: Outcome = RECOVER.outcome("relaunch");
pub(super) const SESSION_LOST: Outcome = RECOVER.outcome("session_lost");
pub(super) const RESTARTED: Outcome = RESTART.outcome("ready");
