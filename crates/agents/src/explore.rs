//! The explore agent: explores an app on a device. A model may pick from a list.
//!
//! Here is how its jobs are briefed and settled; they are declared in `decl`,
//! and what is decided from a run's data is in `data`.

mod actions;
mod budgets;
mod config;
mod data;
mod decl;
mod field;
mod foreground;
mod graph;
pub mod map;
mod plan;
mod policy;
mod read;
mod reduce;
mod report;
mod screen;
mod setup;
mod shape;
mod task;
#[cfg(test)]
mod tests;
mod tree;
mod variant;
mod worth;

use alloc::string::String;

use pointsman_kernel::{
    agent::{Agent, Answer, BadBody, Fault, FaultClass, Forgone, ModelCall, Order, Settled, Visit},
    chart::{Budget, State},
    id::{JobId, Outcome},
    job::AgentDecl,
    prompt::Prompt,
};
use serde_json::value::RawValue;

pub use actions::{Act, Candidate, Direction, MAX_CANDIDATES, offers};
pub use budgets::raised;
pub use config::{Config, Permissions, Place, Preset};
pub use data::{Crash, Data};
pub use field::sample;
pub use graph::{Coverage, Graph, Node, Tried};
pub use policy::Policy;
pub use reduce::Reduction;
pub use report::Tally;
pub use screen::{Change, Dialog, Field, Front, Screen, ScreenId, Widget};
pub use task::{App, Report, Step, Target, Task};
pub use tree::{Bounds, Element, Platform, Tree};

use crate::answer;
use data::{Choice, Onward, Progress};
use decl::{
    AFRESH, ASK_ID, ASSESS_ID, CAPTURE_ID, CAPTURED, CHANGE_POLICY, CHANGED, CHOOSE_ID, CHOSEN,
    COMPARE_ID, CRASHED, DONE, DOWN, ELSEWHERE, ENUMERATE_ID, EXPLORED, GO_ON, JOBS, LAUNCH_ID,
    LAUNCHED, LEFT_APP, LOOP, LOST, NOTHING, OPEN, PERFORM_ID, PROGRESS, PROVISION_ID, PROVISIONED,
    QUIET, RECOVER_ID, RECOVERED, RELAUNCH, RESTART_ID, RESTARTED, ROUTE_ID, SESSION_ID,
    SESSION_LOST, SESSION_READY, SETTLE_ID, SETTLED, SOME, STALL, START_AGAIN, SWITCHED, TOUCHES,
    UNCHANGED,
};

/// The chart that ships with the agent.
pub const CHART: &str = include_str!("../charts/explore.toml");

/// Explores an app on a device.
#[derive(Clone, Copy, Debug)]
pub struct Explore;

impl Agent for Explore {
    type Data = Data;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl = AgentDecl {
        name: "explore",
        about: "a mobile app, explored for screens, crashes and dead ends",
        revision: crate::SOURCES,
        jobs: JOBS,
        ..AgentDecl::NONE
    };

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
            PROVISION_ID => Order::own(Task::Inspect(data.app().clone())),
            SETTLE_ID => Order::own(Task::Settle),
            LAUNCH_ID | CAPTURE_ID => Order::own(Task::Capture),
            COMPARE_ID => Order::own(Task::Verify),
            ASK_ID => Order::Model(ModelCall { job: visit.job, item: visit.item }),
            PERFORM_ID => perform(data),
            RECOVER_ID => Order::own(Task::Check),
            _ => action(Task::Restart(data.app().clone()), 0),
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

    fn used_up(data: &mut Data, _state: &State, budget: &Budget) {
        data.tally.used_up(budget);
    }

    fn prompt(data: &Data, _visit: &Visit<'_>) -> Prompt {
        data.prompt()
    }

    fn result(data: &Data) -> Option<String> {
        Some(data.told())
    }

    fn report(data: &Data) -> Option<serde_json::Value> {
        Some(data.reported())
    }

    fn decide(data: &mut Data, visit: &Visit<'_>) -> Outcome {
        match visit.job {
            ENUMERATE_ID if data.enumerate() => SOME,
            ENUMERATE_ID => NOTHING,
            CHOOSE_ID => match data.choose() {
                Choice::Settled => SETTLED,
                Choice::Open => OPEN,
                Choice::Restart => AFRESH,
                Choice::Lost => LOST,
            },
            ASSESS_ID => match data.assess() {
                Progress::Some => PROGRESS,
                Progress::Stall => STALL,
                Progress::Loop => LOOP,
            },
            ROUTE_ID => match data.route() {
                Onward::GoOn => GO_ON,
                Onward::Switch => CHANGE_POLICY,
                Onward::Restart => START_AGAIN,
                Onward::Explored => {
                    data.tally.explored();
                    EXPLORED
                }
            },
            _ => {
                data.switch();
                SWITCHED
            }
        }
    }
}

/// An order that counts as one action.
const fn action(task: Task, interactions: u32) -> Order<Task> {
    Order::Own { task, interactions, actions: 1 }
}

fn perform(data: &Data) -> Order<Task> {
    let (chosen, text) = data.chosen();
    let Candidate { act, target, direction, .. } = chosen;
    match act {
        Act::Wait => action(Task::Wait, 0),
        Act::Launch => action(Task::Launch(data.app().clone()), 0),
        Act::Tap | Act::Text | Act::Swipe | Act::LongPress | Act::Back | Act::Restart => {
            let touches = if text.is_some() { TOUCHES } else { 1 };
            action(Task::Perform { act, target, direction, text }, touches)
        }
    }
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
    data.tally.count(&report);
    let outcome = match (job, report) {
        (SESSION_ID, Report::Done) => SESSION_READY,
        (PROVISION_ID, Report::Installed(version)) if data.wants_install(version) => {
            return Ok(Settled::Again(Order::own(Task::Install(data.app().clone()))));
        }
        (PROVISION_ID, Report::Installed(_) | Report::Done) => PROVISIONED,
        (LAUNCH_ID, Report::Captured { screen, running }) => {
            if !data.attaches(&screen, running) {
                return Ok(Settled::Again(action(Task::Launch(data.app().clone()), 0)));
            }
            data.start_over();
            LAUNCHED
        }
        (LAUNCH_ID, Report::Performed { .. } | Report::Done) => {
            data.start_over();
            LAUNCHED
        }
        (SETTLE_ID, Report::Done) => QUIET,
        (CAPTURE_ID, Report::Captured { screen, .. }) => match screen.front(&data.app().package) {
            Front::CrashDialog => {
                data.crash(&screen);
                DOWN
            }
            Front::Elsewhere => {
                data.look(screen);
                ELSEWHERE
            }
            Front::App | Front::SystemDialog => {
                data.look(screen);
                CAPTURED
            }
        },
        (PERFORM_ID, Report::Performed { .. } | Report::Done) => {
            data.acted();
            DONE
        }
        (COMPARE_ID, Report::Captured { screen, running }) => compared(data, &screen, running),
        (RECOVER_ID, Report::Health { session: false, .. }) => SESSION_LOST,
        (RECOVER_ID, Report::Health { running: false, .. }) => RELAUNCH,
        (RECOVER_ID, Report::Health { in_front: false, .. }) => match data.way_back() {
            Act::Restart => RELAUNCH,
            Act::Tap
            | Act::Text
            | Act::Swipe
            | Act::LongPress
            | Act::Back
            | Act::Wait
            | Act::Launch => {
                return Ok(Settled::Again(perform(data)));
            }
        },
        (RECOVER_ID, Report::Performed { .. }) => {
            data.acted();
            RECOVERED
        }
        (RECOVER_ID, Report::Health { .. } | Report::Done) => RECOVERED,
        (RESTART_ID, Report::Performed { .. } | Report::Done) => {
            data.start_over();
            RESTARTED
        }
        _ => return Err(answer::misfit()),
    };
    Ok(Settled::Outcome(outcome))
}

fn compared(data: &mut Data, screen: &Screen, running: bool) -> Outcome {
    match screen.front(&data.app().package) {
        Front::CrashDialog => {
            data.crash(screen);
            CRASHED
        }
        // Going back out of an app may end it; anything else that does is a crash.
        Front::Elsewhere if !running && data.chosen().0.act != Act::Back => {
            data.crash(screen);
            CRASHED
        }
        Front::Elsewhere => {
            data.compare(screen);
            LEFT_APP
        }
        Front::App | Front::SystemDialog if data.compare(screen) => CHANGED,
        Front::App | Front::SystemDialog => UNCHANGED,
    }
}
