//! The explore agent: explores an app on a device. A model may pick from a list.
//!
//! Here is how its jobs are briefed and settled; they are declared in `decl`,
//! and what is decided from a run's data is in `data`.

mod actions;
mod data;
mod decl;
mod graph;
mod policy;
mod screen;
#[cfg(test)]
mod tests;
mod tree;

use alloc::string::String;

use pointsman_kernel::{
    agent::{Agent, Answer, BadBody, Fault, FaultClass, Forgone, ModelCall, Order, Settled, Visit},
    id::{JobId, Outcome},
    job::AgentDecl,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use actions::{Act, Candidate, Direction, Step};
pub use data::{App, Data};
pub use graph::{Graph, Node, Tried};
pub use policy::Policy;
pub use screen::{Screen, ScreenId, Widget};
pub use tree::{Bounds, Element, Platform, Tree};

use crate::answer;
use data::{Onward, Progress};
use decl::{
    ASK_ID, ASSESS_ID, CAPTURE_ID, CAPTURED, CHANGE_POLICY, CHANGED, CHOOSE_ID, CHOSEN, COMPARE_ID,
    CRASHED, DONE, ENUMERATE_ID, EXPLORED, GO_ON, JOBS, LAUNCH_ID, LAUNCHED, LEFT_APP, LOOP,
    NOTHING, OPEN, PERFORM_ID, PROGRESS, PROVISION_ID, PROVISIONED, QUIET, RECOVER_ID, RECOVERED,
    RELAUNCH, RESTART_ID, RESTARTED, ROUTE_ID, SESSION_ID, SESSION_LOST, SESSION_READY, SETTLE_ID,
    SETTLED, SOME, STALL, START_AGAIN, SWITCHED, TOUCHES, UNCHANGED,
};

/// The chart that ships with the agent.
pub const CHART: &str = include_str!("../charts/explore.toml");

/// Explores an app on a device.
#[derive(Clone, Copy, Debug)]
pub struct Explore;

/// What the device should do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Task {
    /// Open a session, or take up the one there is.
    Session,
    /// Look which version of the app is installed.
    Inspect(App),
    /// Install the app.
    Install(App),
    /// Bring the app to the front, starting it if need be.
    Launch(App),
    /// Stop the app and start it again.
    Restart(App),
    /// Wait until the screen stands still.
    Settle,
    /// Capture the screen.
    Capture,
    /// Do this.
    Perform {
        /// What.
        act: Act,
        /// Where.
        path: String,
        /// What to type.
        text: Option<String>,
    },
    /// Look whether session and app are still there.
    Check,
    /// Go back, and look whether the app is in front then.
    Return,
}

/// What the device reports.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Report {
    /// It was done.
    Done,
    /// The version of the app that is installed, if it is.
    Installed(Option<u64>),
    /// What is seen.
    Captured {
        /// The screen.
        screen: Screen,
        /// Whether the app still runs.
        running: bool,
    },
    /// How session and app are.
    Health {
        /// Whether the session answers.
        session: bool,
        /// Whether the app runs.
        running: bool,
        /// Whether it is in front.
        in_front: bool,
    },
    /// Whether going back has brought the app to the front.
    Returned {
        /// Whether it has.
        in_front: bool,
    },
}

impl Agent for Explore {
    type Data = Data;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl = AgentDecl { name: "explore", jobs: JOBS, ..AgentDecl::NONE };

    fn begin(data: &mut Data, config: &RawValue) -> Result<(), BadBody> {
        *data = Data::new(serde_json::from_str(config.get())?)?;
        Ok(())
    }

    fn receive(_data: &mut Data, _event: u16, _body: &RawValue) -> Result<(), BadBody> {
        Err(BadBody("the agent waits for no event".into()))
    }

    fn items(_data: &Data, _list: u16) -> u16 {
        0
    }

    fn brief(data: &Data, visit: &Visit<'_>) -> Order<Task> {
        match visit.job {
            SESSION_ID => Order::own(Task::Session),
            PROVISION_ID => Order::own(Task::Inspect(data.app.clone())),
            LAUNCH_ID => Order::own(Task::Launch(data.app.clone())),
            SETTLE_ID => Order::own(Task::Settle),
            CAPTURE_ID | COMPARE_ID => Order::own(Task::Capture),
            ASK_ID => Order::Model(ModelCall { job: visit.job, item: visit.item }),
            PERFORM_ID => perform(data),
            RECOVER_ID => Order::own(Task::Check),
            _ => Order::own(Task::Restart(data.app.clone())),
        }
    }

    fn settle(data: &mut Data, visit: &Visit<'_>, answer: Answer<Report>) -> Settled<Task> {
        let settled = match visit.job {
            ASK_ID => picked(data, answer),
            _ => answer::own(answer).and_then(|report| took(data, visit.job, report)),
        };
        settled.unwrap_or_else(Settled::Failed)
    }

    fn forgo(data: &mut Data, visit: &Visit<'_>, why: &Forgone) {
        // What could not be done or seen is not tried again.
        if let PERFORM_ID | COMPARE_ID = visit.job {
            data.bar();
        }
        data.give_up(why);
    }

    fn decide(data: &mut Data, visit: &Visit<'_>) -> Outcome {
        match visit.job {
            ENUMERATE_ID if data.enumerate() => SOME,
            ENUMERATE_ID => NOTHING,
            CHOOSE_ID if data.choose() => OPEN,
            CHOOSE_ID => SETTLED,
            ASSESS_ID => match data.assess() {
                Progress::Some => PROGRESS,
                Progress::Stall => STALL,
                Progress::Loop => LOOP,
            },
            ROUTE_ID => match data.route() {
                Onward::GoOn => GO_ON,
                Onward::Switch => CHANGE_POLICY,
                Onward::Restart => START_AGAIN,
                Onward::Explored => EXPLORED,
            },
            _ => {
                data.switch();
                SWITCHED
            }
        }
    }
}

fn perform(data: &Data) -> Order<Task> {
    let (chosen, text) = data.chosen();
    let interactions = if text.is_some() { TOUCHES } else { 1 };
    Order::Own { task: Task::Perform { act: chosen.act, path: chosen.path, text }, interactions }
}

fn picked(data: &mut Data, answer: Answer<Report>) -> Result<Settled<Task>, Fault> {
    if data.take_pick(&answer::model(answer)?.text) {
        return Ok(Settled::Outcome(CHOSEN));
    }
    Err(Fault {
        class: FaultClass::Invalid,
        repeatable: true,
        hint_ms: None,
        message: "the reply names nothing on the list".into(),
    })
}

fn took(data: &mut Data, job: JobId, report: Report) -> Result<Settled<Task>, Fault> {
    let outcome = match (job, report) {
        (SESSION_ID, Report::Done) => SESSION_READY,
        (PROVISION_ID, Report::Installed(version)) if data.wants_install(version) => {
            return Ok(Settled::Again(Order::own(Task::Install(data.app.clone()))));
        }
        (PROVISION_ID, Report::Installed(_) | Report::Done) => PROVISIONED,
        (LAUNCH_ID, Report::Done) => {
            data.start_over();
            LAUNCHED
        }
        (SETTLE_ID, Report::Done) => QUIET,
        (CAPTURE_ID, Report::Captured { running: false, .. }) => {
            return Err(answer::refused(FaultClass::Gone, "the app does not run"));
        }
        (CAPTURE_ID, Report::Captured { screen, .. }) => {
            data.look(screen);
            CAPTURED
        }
        (PERFORM_ID, Report::Done) => DONE,
        (COMPARE_ID, Report::Captured { screen, running }) => compared(data, &screen, running),
        (RECOVER_ID, Report::Health { session: false, .. }) => SESSION_LOST,
        (
            RECOVER_ID,
            Report::Health { running: false, .. } | Report::Returned { in_front: false },
        ) => RELAUNCH,
        (RECOVER_ID, Report::Health { in_front: false, .. }) => {
            return Ok(Settled::Again(Order::Own { task: Task::Return, interactions: 1 }));
        }
        (RECOVER_ID, Report::Health { .. } | Report::Returned { .. }) => RECOVERED,
        (RESTART_ID, Report::Done) => {
            data.start_over();
            RESTARTED
        }
        _ => return Err(answer::misfit()),
    };
    Ok(Settled::Outcome(outcome))
}

fn compared(data: &mut Data, screen: &Screen, running: bool) -> Outcome {
    if !running {
        data.crashes = data.crashes.saturating_add(1);
        data.bar();
        return CRASHED;
    }
    if !data.owns(screen) {
        data.bar();
        return LEFT_APP;
    }
    if data.compare(screen) { CHANGED } else { UNCHANGED }
}
