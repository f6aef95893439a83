//! What a map holds after an exploration, and the shortest ways over it.

use alloc::{vec, vec::Vec};

use super::{
    super::{
        actions::DeviceAction,
        config::{ExploreConfig, SetupStep},
        screen::{Screen, SystemDialog},
        task::{App, ExploreReport, ExploreTask, Target},
        tree::{Element, Tree},
    },
    ActionResult, AppMap, MapReader, MishapKind,
};

fn screen(name: &str, labels: &[&str]) -> Screen {
    let elements: Vec<Element> = labels
        .iter()
        .map(|label| Element {
            class: "Button".into(),
            resource: (*label).into(),
            text: (*label).into(),
            clickable: true,
            enabled: true,
            displayed: true,
            ..Element::default()
        })
        .collect();
    Screen::read(&Tree { elements, ..Tree::default() }, "app", name)
}

fn app() -> App {
    App { package: "app".into(), ..App::default() }
}

fn tap(ordinal: u32) -> ExploreTask {
    let target = Some(Target { ordinal, bounds: None });
    ExploreTask::Perform { act: DeviceAction::Tap, target, direction: None, text: None }
}

fn back() -> ExploreTask {
    ExploreTask::Perform { act: DeviceAction::Back, target: None, direction: None, text: None }
}

/// Reads a run: each task is performed, and then this is seen.
fn read(setup: usize, rounds: Vec<(ExploreTask, Screen)>) -> AppMap {
    let setup = vec![SetupStep::default(); setup];
    let mut reader =
        MapReader::new(&ExploreConfig { app: app(), setup, ..ExploreConfig::default() });
    for (at, (task, screen)) in (0_u64..).zip(rounds) {
        reader.take(at, &task, &ExploreReport::Performed { step: None });
        reader.take(at, &ExploreTask::Verify, &ExploreReport::Captured { screen, running: true });
    }
    reader.map()
}

fn home() -> Screen {
    screen("Home", &["a", "b"])
}

fn next() -> Screen {
    screen("Next", &["c"])
}

fn crash() -> Screen {
    Screen { package: "android".into(), dialog: Some(SystemDialog::Crash), ..Screen::default() }
}

fn restart() -> (ExploreTask, Screen) {
    (ExploreTask::Restart(app()), home())
}

#[test]
fn a_map_has_screens_edges_and_evidence() {
    let map = read(
        0,
        vec![
            (ExploreTask::Launch(app()), home()),
            (tap(0), next()),
            (back(), home()),
            (tap(0), next()),
            (tap(0), next()),
        ],
    );
    let coverage = map.coverage();
    assert_eq!((coverage.screens, coverage.activities, coverage.edges), (2, 2, 2));
    assert_eq!((coverage.actions, coverage.actions_seen, coverage.actions_tried), (5, 5, 3));
    let there = map.edges.first().expect("map has an edge");
    assert_eq!((there.times, there.first), (2, 1));
    assert_eq!(there.action.name(), "tap “a”");
    assert_eq!(there.to, ActionResult::Screen(next().coarse));
    let (first, second) = (&map.screens[0], &map.screens[1]);
    assert_eq!((first.first, second.first, second.visits), (1, 2, 3));
    assert!(map.mishaps.is_empty());
}

#[test]
fn a_crash_keeps_the_path_from_the_last_start() {
    let map = read(
        0,
        vec![
            (ExploreTask::Launch(app()), home()),
            (tap(1), home()),
            restart(),
            (tap(1), home()),
            (tap(0), next()),
            (tap(0), crash()),
            restart(),
            (tap(0), next()),
            (tap(0), next()),
        ],
    );
    let crash = map.mishaps.first().expect("exploration found the mishap");
    assert_eq!((crash.kind, crash.times, crash.otherwise), (MishapKind::Crash, 1, 1));
    assert_eq!(crash.screen, Some(next().coarse));
    assert_eq!(crash.path, [2, 3, 4, 5]);
    assert_eq!(map.shortest(crash), [2, 4, 5], "what stayed on the screen is left out");
}

#[test]
fn the_set_up_stays_at_the_beginning_of_a_path() {
    let login = || screen("Login", &["user"]);
    let map = read(
        1,
        vec![
            (ExploreTask::Launch(app()), login()),
            (tap(0), home()),
            (tap(1), home()),
            (tap(0), next()),
            (back(), home()),
            (tap(0), next()),
            (tap(0), crash()),
        ],
    );
    let crash = map.mishaps.first().expect("exploration found the mishap");
    assert_eq!(map.prefix(&crash.path), 2);
    assert_eq!(map.shortest(crash), [0, 1, 3, 6]);
}

#[test]
fn a_screen_that_nothing_leaves_is_a_dead_end() {
    let map = read(
        0,
        vec![
            (ExploreTask::Launch(app()), home()),
            (tap(0), next()),
            (tap(0), next()),
            (back(), next()),
            restart(),
        ],
    );
    assert_eq!(map.dead_ends().collect::<Vec<_>>(), [&next().coarse]);
    assert_eq!(map.mishaps.first().map(|it| it.path.clone()), Some(vec![0, 1]));
    let unfinished =
        read(0, vec![(ExploreTask::Launch(app()), home()), (tap(0), next()), restart()]);
    assert_eq!(unfinished.dead_ends().count(), 0, "not everything was tried there");
}

#[test]
fn missing_app_has_crashed_and_another_app_is_outside() {
    let elsewhere = Screen { package: "launcher".into(), ..Screen::default() };
    for (running, landing) in
        [(false, ActionResult::Crash), (true, ActionResult::Outside("launcher".into()))]
    {
        let mut reader = MapReader::new(&ExploreConfig { app: app(), ..ExploreConfig::default() });
        let seen = |screen, running| ExploreReport::Captured { screen, running };
        reader.take(0, &ExploreTask::Capture, &seen(home(), true));
        reader.take(1, &tap(0), &ExploreReport::Performed { step: None });
        reader.take(2, &ExploreTask::Verify, &seen(elsewhere.clone(), running));
        assert_eq!(reader.map().moves.first().map(|it| it.to.clone()), Some(landing));
    }
}
