//! The explore agent: explores an app on a device. A model may pick from a list.
//!
//! This file briefs and settles the jobs; `decl` declares them, and `data` decides from a run's
//! data.

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
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, ModelCall, Order, Settlement, Visit,
    },
    chart::{Budget, State},
    id::{JobId, Outcome},
    job::AgentDecl,
    prompt::Prompt,
};
use serde_json::value::RawValue;

pub use actions::{CandidateAction, DeviceAction, Direction, MAX_CANDIDATES, offers};
pub use budgets::raised;
pub use config::{DeviceLocation, ExploreConfig, PermissionPolicy, SetupStep};
pub use data::{Crash, ExploreData};
pub use field::sample;
pub use graph::{GraphCoverage, ScreenGraph, ScreenNode, TriedAction};
pub use policy::Policy;
pub use reduce::Reduction;
pub use report::ExploreTally;
pub use screen::{Foreground, Screen, ScreenChange, ScreenId, SystemDialog, TextFieldKind, Widget};
pub use task::{App, ExploreReport, ExploreTask, RecordingStep, Target};
pub use tree::{Bounds, Element, Platform, Tree};

use crate::answer;
use data::{ActionChoice, ExploreProgress, NextJob};
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
pub struct ExploreAgent;

impl Agent for ExploreAgent {
    type Data = ExploreData;
    type Task = ExploreTask;
    type Report = ExploreReport;

    const DECL: AgentDecl = AgentDecl {
        name: "explore",
        about: "a mobile app, explored for screens, crashes and dead ends",
        revision: crate::SOURCES,
        jobs: JOBS,
        ..AgentDecl::NONE
    };

    fn describe_task(task: &ExploreTask) -> Option<String> {
        Some(task.describe().into())
    }

    fn begin(data: &mut ExploreData, config: &RawValue) -> Result<(), BadBody> {
        *data = ExploreData::new(serde_json::from_str(config.get())?)?;
        Ok(())
    }

    fn receive(_data: &mut ExploreData, _event: u16, _body: &RawValue) -> Result<(), BadBody> {
        Err(BadBody("the agent expects no event".into()))
    }

    fn items(_data: &ExploreData, _list: u16) -> u16 {
        0
    }

    fn brief(data: &ExploreData, visit: &Visit<'_>) -> Order<ExploreTask> {
        match visit.job {
            SESSION_ID => Order::own(ExploreTask::Session),
            PROVISION_ID => Order::own(ExploreTask::Inspect(data.app().clone())),
            SETTLE_ID => Order::own(ExploreTask::Settle),
            LAUNCH_ID | CAPTURE_ID => Order::own(ExploreTask::Capture),
            COMPARE_ID => Order::own(ExploreTask::Verify),
            ASK_ID => Order::Model(ModelCall { job: visit.job, item: visit.item }),
            PERFORM_ID => perform(data),
            RECOVER_ID => Order::own(ExploreTask::Check),
            _ => action(ExploreTask::Restart(data.app().clone()), 0),
        }
    }

    fn settle(
        data: &mut ExploreData,
        visit: &Visit<'_>,
        answer: Answer<ExploreReport>,
    ) -> Settlement<ExploreTask> {
        let settled = match visit.job {
            ASK_ID => picked(data, answer),
            _ => answer::own(answer).and_then(|report| took(data, visit.job, report)),
        };
        settled.unwrap_or_else(Settlement::Failed)
    }

    fn abandon(data: &mut ExploreData, visit: &Visit<'_>, why: &Abandoned) {
        // What could not be done or seen is not tried again.
        if let PERFORM_ID | COMPARE_ID = visit.job {
            data.bar();
        }
        data.give_up(why);
    }

    fn used_up(data: &mut ExploreData, _state: &State, budget: &Budget) {
        data.tally.used_up(budget);
    }

    fn prompt(data: &ExploreData, _visit: &Visit<'_>) -> Prompt {
        data.prompt()
    }

    fn result(data: &ExploreData) -> Option<String> {
        Some(data.told())
    }

    fn report(data: &ExploreData) -> Option<serde_json::Value> {
        Some(data.reported())
    }

    fn decide(data: &mut ExploreData, visit: &Visit<'_>) -> Outcome {
        match visit.job {
            ENUMERATE_ID if data.enumerate() => SOME,
            ENUMERATE_ID => NOTHING,
            CHOOSE_ID => match data.choose() {
                ActionChoice::Settled => SETTLED,
                ActionChoice::Open => OPEN,
                ActionChoice::Restart => AFRESH,
                ActionChoice::Lost => LOST,
            },
            ASSESS_ID => match data.assess() {
                ExploreProgress::Some => PROGRESS,
                ExploreProgress::Stall => STALL,
                ExploreProgress::Loop => LOOP,
            },
            ROUTE_ID => match data.route() {
                NextJob::GoOn => GO_ON,
                NextJob::Switch => CHANGE_POLICY,
                NextJob::Restart => START_AGAIN,
                NextJob::Explored => {
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
const fn action(task: ExploreTask, interactions: u32) -> Order<ExploreTask> {
    Order::Own { task, interactions, actions: 1 }
}

fn perform(data: &ExploreData) -> Order<ExploreTask> {
    let (chosen, text) = data.chosen();
    let CandidateAction { act, target, direction, .. } = chosen;
    match act {
        DeviceAction::Wait => action(ExploreTask::Wait, 0),
        DeviceAction::Launch => action(ExploreTask::Launch(data.app().clone()), 0),
        DeviceAction::Tap
        | DeviceAction::Text
        | DeviceAction::Swipe
        | DeviceAction::LongPress
        | DeviceAction::Back
        | DeviceAction::Restart => {
            let touches = if text.is_some() { TOUCHES } else { 1 };
            action(ExploreTask::Perform { act, target, direction, text }, touches)
        }
    }
}

fn picked(
    data: &mut ExploreData,
    answer: Answer<ExploreReport>,
) -> Result<Settlement<ExploreTask>, Fault> {
    if data.take_pick(&answer::model(answer)?.text) {
        return Ok(Settlement::Outcome(CHOSEN));
    }
    Err(Fault {
        class: FaultClass::Invalid,
        repeatable: true,
        hint_ms: None,
        message: "the reply names nothing on the list".into(),
    })
}

fn took(
    data: &mut ExploreData,
    job: JobId,
    report: ExploreReport,
) -> Result<Settlement<ExploreTask>, Fault> {
    data.tally.count(&report);
    let outcome = match (job, report) {
        (SESSION_ID, ExploreReport::Done) => SESSION_READY,
        (PROVISION_ID, ExploreReport::Installed(version)) if data.wants_install(version) => {
            return Ok(Settlement::Again(Order::own(ExploreTask::Install(data.app().clone()))));
        }
        (PROVISION_ID, ExploreReport::Installed(_) | ExploreReport::Done) => PROVISIONED,
        (LAUNCH_ID, ExploreReport::Captured { screen, running }) => {
            if !data.attaches(&screen, running) {
                return Ok(Settlement::Again(action(ExploreTask::Launch(data.app().clone()), 0)));
            }
            data.start_over();
            LAUNCHED
        }
        (LAUNCH_ID, ExploreReport::Performed { .. } | ExploreReport::Done) => {
            data.start_over();
            LAUNCHED
        }
        (SETTLE_ID, ExploreReport::Done) => QUIET,
        (CAPTURE_ID, ExploreReport::Captured { screen, .. }) => {
            match screen.front(&data.app().package) {
                Foreground::CrashDialog => {
                    data.crash(&screen);
                    DOWN
                }
                Foreground::Elsewhere => {
                    data.look(screen);
                    ELSEWHERE
                }
                Foreground::App | Foreground::SystemDialog => {
                    data.look(screen);
                    CAPTURED
                }
            }
        }
        (PERFORM_ID, ExploreReport::Performed { .. } | ExploreReport::Done) => {
            data.acted();
            DONE
        }
        (COMPARE_ID, ExploreReport::Captured { screen, running }) => {
            compared(data, &screen, running)
        }
        (RECOVER_ID, ExploreReport::Health { session: false, .. }) => SESSION_LOST,
        (RECOVER_ID, ExploreReport::Health { running: false, .. }) => RELAUNCH,
        (RECOVER_ID, ExploreReport::Health { in_front: false, .. }) => match data.way_back() {
            DeviceAction::Restart => RELAUNCH,
            DeviceAction::Tap
            | DeviceAction::Text
            | DeviceAction::Swipe
            | DeviceAction::LongPress
            | DeviceAction::Back
            | DeviceAction::Wait
            | DeviceAction::Launch => {
                return Ok(Settlement::Again(perform(data)));
            }
        },
        (RECOVER_ID, ExploreReport::Performed { .. }) => {
            data.acted();
            RECOVERED
        }
        (RECOVER_ID, ExploreReport::Health { .. } | ExploreReport::Done) => RECOVERED,
        (RESTART_ID, ExploreReport::Performed { .. } | ExploreReport::Done) => {
            data.start_over();
            RESTARTED
        }
        _ => return Err(answer::misfit()),
    };
    Ok(Settlement::Outcome(outcome))
}

fn compared(data: &mut ExploreData, screen: &Screen, running: bool) -> Outcome {
    match screen.front(&data.app().package) {
        Foreground::CrashDialog => {
            data.crash(screen);
            CRASHED
        }
        // Going back out of an app may end it; anything else that does is a crash.
        Foreground::Elsewhere if !running && data.chosen().0.act != DeviceAction::Back => {
            data.crash(screen);
            CRASHED
        }
        Foreground::Elsewhere => {
            data.compare(screen);
            LEFT_APP
        }
        Foreground::App | Foreground::SystemDialog if data.compare(screen) => CHANGED,
        Foreground::App | Foreground::SystemDialog => UNCHANGED,
    }
}
