//! Graphs that are made up, played by the stand-in: whole explorations go over the wire, and
//! what crashed in one is made to happen again on the same device.

use std::time::Duration;

use pointsman_agents::explore::map::MishapKind;
use pointsman_runtime::driver::RunStatus;
use pointsman_webdriver::{device::Recording, exploration, reproduce};
use serde_json::json;

use super::{
    PACKAGE, android,
    explored::{ExploreRequest, FinishedRun, run, times},
    made_up::RecordingBuilder,
    stand_in::{App, GraphPlayer, Screen, StandIn, To, Widget},
};
use crate::workspace::TestWorkspace;

fn explore(
    workspace: &TestWorkspace,
    stand_in: &StandIn,
    policy: &str,
    actions: u64,
) -> FinishedRun {
    let trip = ExploreRequest {
        url: &stand_in.url(),
        capabilities: android(),
        config: json!({ "app": { "package": PACKAGE }, "policy": policy }),
        actions,
        quiet: Duration::ZERO,
    };
    run(workspace, trip)
}

#[test]
fn every_policy_sees_all_of_a_made_up_app_over_the_wire() {
    for (seed, policy) in
        (1_u64..).zip(["breadth_first", "depth_first", "max_coverage", "focused", "goal_oriented"])
    {
        let workspace = TestWorkspace::new(&format!("appium-made-up-{policy}"));
        let file = RecordingBuilder::app(seed, 9).write(&workspace.work());
        let all = Recording::open(&file, 1, None).expect("recording is valid").truth().reachable;
        let stand_in = StandIn::playing(PACKAGE, GraphPlayer::of(&file, seed));
        let ran = explore(&workspace, &stand_in, policy, 400);
        assert!(matches!(ran.outcome.status, RunStatus::Ended(_)), "{policy}: {:?}", ran.outcome);
        let seen = stand_in.model().graph.as_ref().expect("graph is readable").screens();
        assert_eq!(seen, all, "{policy}: {:?}", ran.outcome.report);
        assert!(ran.figure("crashes") >= 1, "{policy}: {:?}", ran.outcome.report);
        assert!(stand_in.model().session.is_none(), "nothing holds the device");
    }
}

#[test]
fn a_crash_is_made_to_happen_again_over_the_wire() {
    let workspace = TestWorkspace::new("appium-reproduce");
    let file = RecordingBuilder::app(3, 6).write(&workspace.work());
    let stand_in = StandIn::playing(PACKAGE, GraphPlayer::of(&file, 3));
    let ran = explore(&workspace, &stand_in, "max_coverage", 400);
    let explored =
        exploration::read(&workspace.session, &ran.outcome.run, None).expect("file is readable");
    let explored = explored.expect("exploration is readable");
    let options =
        reproduce::ReproduceOptions { device: times(Duration::ZERO), ..Default::default() };
    let found = reproduce::reproduce(&explored.config, &explored.map, &options);
    let found = workspace.session.block_on(found).expect("mishap is replayed");
    let names = |path: &[usize]| -> Vec<String> {
        path.iter().map(|at| explored.map.moves[*at].action.name()).collect()
    };
    let crash = found
        .iter()
        .find(|it| it.mishap.kind == MishapKind::Crash)
        .expect("exploration found the mishap");
    let told = names(&crash.path);
    let told: Vec<&str> = told.iter().map(String::as_str).filter(|it| *it != "launch").collect();
    let told: Vec<&str> = told.into_iter().filter(|it| *it != "restart").collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert_eq!((told[0], told[3], told[4]), ("tap “To sign”", "tap “To go”", "tap “To boom”"));
    assert_eq!((crash.held, crash.tries), (5, 5));
    let dead = found
        .iter()
        .find(|it| it.mishap.kind == MishapKind::DeadEnd)
        .expect("exploration found the mishap");
    assert_eq!((dead.held, dead.tries), (5, 5), "{:?}", names(&dead.path));
    assert!(stand_in.model().session.is_none(), "nothing holds the device");
}

/// Hangs and crashes of an app that runs as a separate process.
#[test]
fn device_findings_are_reproduced() {
    let home = vec![
        Widget::button("Next", To::screen("next")),
        Widget::button("Idle", To::screen("home")),
    ];
    let next = vec![Widget::button("Hang", To::Anr), Widget::button("Vanish", To::Vanish)];
    let screens =
        vec![Screen::new("home", home), Screen::new("next", next).back(To::screen("home"))];
    let stand_in = StandIn::of(App::new(PACKAGE, screens), Some(1));
    let workspace = TestWorkspace::new("appium-reproduce-hang");
    let ran = explore(&workspace, &stand_in, "max_coverage", 100);
    let explored =
        exploration::read(&workspace.session, &ran.outcome.run, None).expect("file is readable");
    let explored = explored.expect("exploration is readable");
    let options =
        reproduce::ReproduceOptions { device: times(Duration::ZERO), ..Default::default() };
    let found = reproduce::reproduce(&explored.config, &explored.map, &options);
    let found = workspace.session.block_on(found).expect("mishap is replayed");
    for kind in [MishapKind::Crash, MishapKind::NotResponding] {
        let it =
            found.iter().find(|it| it.mishap.kind == kind).expect("exploration found the mishap");
        let acts = it.path.iter().filter(|at| !explored.map.moves[**at].action.starts()).count();
        assert_eq!((acts, it.held, it.tries), (2, 5, 5), "{kind:?}");
    }
}
