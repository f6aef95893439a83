//! Scripts for the explore agent, and a small app to explore.

use alloc::{format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{Answer, FaultClass, Order},
    chart::Disposition,
    event::{Scope, Usage},
};
use serde_json::{Value, json};

use super::{Act, CHART, Explore, Graph, Policy, Report, Screen, Task, Widget, actions, data};
use crate::testing::{Driver, hostile_texts};

const SETUP: &[&str] = &["ensure_device", "provision_app", "launch_or_attach", "wait_idle"];

fn button(label: &str) -> Widget {
    let resource = label.to_lowercase();
    Widget {
        path: label.into(),
        resource,
        label: label.into(),
        acts: vec![Act::Tap],
        ..Widget::default()
    }
}

fn screen(name: &str, labels: &[&str]) -> Screen {
    let widgets = labels.iter().map(|label| button(label)).collect();
    Screen { package: "app".into(), activity: name.into(), widgets }
}

fn captured(screen: Screen) -> Report {
    Report::Captured { screen, running: true }
}

fn config(policy: &str, ask_model: bool) -> Value {
    json!({"app": {"package": "app"}, "goal": "open settings", "policy": policy, "ask_model": ask_model})
}

fn begun(config: Value) -> Driver<Explore> {
    let mut driver = Driver::<Explore>::new(CHART, &[]);
    driver.begin(config);
    driver
}

/// Up to the first look at a screen.
fn looking(config: Value) -> Driver<Explore> {
    let mut driver = begun(config);
    driver.report(Report::Done);
    driver.report(Report::Installed(Some(1)));
    driver.report(Report::Done);
    driver.report(Report::Done);
    assert_eq!(driver.state(), "perceive");
    driver
}

/// Up to the first action on a screen with these buttons.
fn acting(labels: &[&str]) -> Driver<Explore> {
    let mut driver = looking(config("breadth_first", false));
    driver.report(captured(screen("home", labels)));
    assert_eq!(driver.state(), "act");
    driver
}

/// An app: for each screen, its buttons and where each leads.
type App<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

/// Plays the device until the run ends; `back` leads to the first screen.
fn explore(driver: &mut Driver<Explore>, app: App<'_>) {
    let mut at = app[0].0;
    while driver.ended().is_none() {
        let Order::Own { task, .. } = driver.order().clone() else { panic!("no model is asked") };
        let buttons = app.iter().find(|(name, _)| *name == at).expect("the app has it").1;
        let labels: Vec<&str> = buttons.iter().map(|(label, _)| *label).collect();
        driver.report(match task {
            Task::Inspect(_) => Report::Installed(Some(1)),
            Task::Capture => captured(screen(at, &labels)),
            Task::Perform { act: Act::Back, .. } | Task::Restart(_) | Task::Launch(_) => {
                at = app[0].0;
                Report::Done
            }
            Task::Perform { path, .. } => {
                at = buttons.iter().find(|(label, _)| *label == path).expect("it has it").1;
                Report::Done
            }
            _ => Report::Done,
        });
    }
}

#[test]
fn the_ladder_is_the_chart_s_own() {
    let driver = Driver::<Explore>::new(CHART, &[]);
    assert_eq!(driver.chart.stuck().screen_stall, Some(data::LADDER));
    let edges = &driver.chart.authority_report().edges;
    assert!(edges.iter().all(|edge| &*edge.from == "ask_model" && &*edge.to == "act"));
}

#[test]
fn a_small_app_is_explored_to_the_end() {
    let app: App<'_> = &[
        ("home", &[("Settings", "settings"), ("About", "about")]),
        ("settings", &[("Sound", "sound")]),
        ("about", &[]),
        ("sound", &[]),
    ];
    for policy in ["breadth_first", "depth_first", "max_coverage", "focused", "goal_oriented"] {
        let mut driver = begun(config(policy, false));
        explore(&mut driver, app);
        assert_eq!(driver.ended(), Some(Disposition::Succeeded), "{policy}");
        let graph = &driver.run.data.graph;
        let (seen, tried) = graph.coverage();
        assert_eq!((graph.screens(), seen, tried), (4, 6, 6), "{policy}");
    }
}

#[test]
fn policies_differ_in_what_they_try_first() {
    let first = |policy: &str| {
        let mut driver = looking(config(policy, false));
        driver.report(captured(screen("home", &["Help", "Settings"])));
        driver.run.data.chosen().0.label
    };
    assert_eq!(first("breadth_first"), "Help");
    assert_eq!(first("goal_oriented"), "Settings");
}

#[test]
fn breadth_goes_back_for_what_depth_leaves_for_later() {
    let offered =
        |labels: &[&str], back| actions::enumerate(&screen("any", labels), back, |_| Some(0));
    let (home, deep) = (screen("home", &["A", "B"]).id(), screen("deep", &["More"]).id());
    let mut graph = Graph::default();
    graph.see(&home, "home", 0);
    graph.offer(&home, &offered(&["A", "B"], false));
    graph.see(&deep, "deep", 1);
    let candidates = offered(&["More"], true);
    graph.offer(&deep, &candidates);
    graph.tried(&deep, "back", Some(home));
    let pick = |policy: Policy| policy.choose(&graph, &deep, "more", &candidates);
    assert_eq!(pick(Policy::BreadthFirst), Some(1), "back, to the shallower screen");
    for policy in [Policy::DepthFirst, Policy::MaxCoverage, Policy::Focused, Policy::GoalOriented] {
        assert_eq!(pick(policy), Some(0), "{policy:?}");
    }
    // With nothing left here, coverage takes the known way to what is.
    graph.tried(&deep, &candidates[0].key, Some(deep.clone()));
    let pick = |policy: Policy| policy.choose(&graph, &deep, "", &candidates);
    assert_eq!(pick(Policy::MaxCoverage), Some(1));
}

#[test]
fn provisioning_installs_what_is_missing_or_old() {
    for (installed, installs) in [(None, true), (Some(1), true), (Some(2), false)] {
        let mut driver = begun(json!({"app": {"package": "app", "version": 2}}));
        driver.report(Report::Done);
        driver.report(Report::Installed(installed));
        assert_eq!(matches!(driver.order(), Order::Own { task: Task::Install(_), .. }), installs);
    }
}

#[test]
fn setting_up_tries_three_times_then_goes_a_step_back_three_times() {
    let mut driver = begun(config("breadth_first", false));
    for backtrack in 0..4 {
        driver.report(Report::Done);
        assert_eq!(driver.state(), "provision_app", "{backtrack}");
        for attempt in 1..=3 {
            driver.fault(FaultClass::Unavailable, true);
            if attempt < 3 {
                driver.wake();
            }
        }
    }
    assert_eq!(driver.state(), "stop_budget");
    assert_eq!(driver.ended(), Some(Disposition::Budget));
    let mut driver = begun(config("breadth_first", false));
    driver.fault(FaultClass::Forbidden, false);
    assert_eq!(driver.state(), "stop_failed");
}

#[test]
fn a_screen_offers_twenty_candidates_and_back() {
    let names: Vec<String> = (0..30).map(|at| format!("b{at}")).collect();
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = screen("home", &labels);
    assert_eq!(actions::enumerate(&many, true, |_| Some(0)).len(), 21);
    assert_eq!(actions::enumerate(&many, false, |_| Some(0)).len(), 20);
    // Those tried most are the ones that the limit hides.
    let tried = |key: &str| Some(u32::from(key.contains("b0:") || key.contains("b1:")));
    let shown = actions::enumerate(&many, false, tried);
    assert!(shown.iter().all(|it| it.label != "b0" && it.label != "b1"));
    // Rows of a list are alike: three of them stand for all.
    let rows = Screen { widgets: vec![button("row"); 50], ..Screen::default() };
    assert_eq!(actions::enumerate(&rows, false, |_| Some(0)).len(), 3);
}

#[test]
fn a_screen_is_known_by_its_structure() {
    let mut one = screen("home", &["Settings"]);
    let mut two = one.clone();
    two.widgets[0].label = "12:34".into();
    two.widgets.push(Widget { label: "a clock".into(), ..Widget::default() });
    assert_eq!(one.id(), two.id());
    two.widgets.push(button("More"));
    assert_ne!(one.id(), two.id());
    one.activity = "other".into();
    assert_ne!(one.id(), screen("home", &["Settings"]).id());
}

#[test]
fn a_stall_warns_then_switches_then_restarts() {
    // A screen that never changes, with more than can be tried in the time.
    let mut driver = looking(config("breadth_first", false));
    let names: Vec<String> = (0..19).map(|at| format!("b{at}")).collect();
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut switched = None;
    for round in 0_u32.. {
        driver.report(captured(screen("home", &labels)));
        driver.report(Report::Done);
        driver.report(captured(screen("home", &labels)));
        if driver.state() == "restart_app" {
            assert_eq!(round, 10);
            break;
        }
        assert_eq!(driver.run.data.stall, round, "the first screen was progress");
        assert_eq!(driver.run.data.warning().is_some(), round >= 3);
        if driver.run.data.policy != Policy::BreadthFirst {
            switched.get_or_insert(round);
        }
        driver.report(Report::Done);
    }
    assert_eq!(switched, Some(5));
    driver.report(Report::Done);
    assert_eq!(driver.state(), "wait_idle");
    assert_eq!(driver.run.data.stall, 0);
}

#[test]
fn a_model_picks_from_the_list_and_nothing_else() {
    let mut route = None;
    let mut texts = hostile_texts(SETUP);
    texts.extend(["0", "4", "-1", "999999999999999999999", "tap"].map(String::from));
    for text in texts {
        let mut driver = looking(config("breadth_first", true));
        driver.report(captured(screen("home", &["Help", "Settings", "About"])));
        assert_eq!(driver.state(), "ask_model");
        for attempt in 1..=3 {
            driver.say(&text);
            if attempt < 3 {
                driver.wake();
            }
        }
        assert_eq!(driver.state(), "act", "{text:?}");
        assert_eq!(driver.run.data.chosen().0.label, "Help", "the policy's choice stands");
        let states: Vec<String> = driver.states().into_iter().map(String::from).collect();
        assert_eq!(*route.get_or_insert_with(|| states.clone()), states);
    }
    for (text, label) in [("2", "Settings"), (" 3. ", "About"), ("settings", "Settings")] {
        let mut driver = looking(config("breadth_first", true));
        driver.report(captured(screen("home", &["Help", "Settings", "About"])));
        assert!(driver.run.data.prompt().contains("2. tap \"Settings\""));
        driver.say(text);
        assert_eq!(driver.run.data.chosen().0.label, label);
        assert_eq!(driver.state(), "act");
    }
}

#[test]
fn a_crash_restarts_and_leaving_the_app_recovers() {
    let mut driver = acting(&["Boom", "Web"]);
    driver.report(Report::Done);
    driver.report(Report::Captured { screen: Screen::default(), running: false });
    assert_eq!((driver.state(), driver.run.data.crashes), ("restart_app", 1));
    driver.report(Report::Done);
    driver.report(Report::Done);
    driver.report(captured(screen("home", &["Boom", "Web"])));
    assert_eq!(driver.run.data.chosen().0.label, "Web", "what crashed is not tried again");
    driver.report(Report::Done);
    let browser = Screen { package: "browser".into(), ..Screen::default() };
    let effect = driver.running()[0].0;
    let usage = Usage { outside_app: 1, ..Usage::default() };
    driver.answer_at_cost(effect, Answer::Own(captured(browser)), usage);
    assert_eq!(driver.state(), "recover");
    driver.report(Report::Health { session: true, running: true, in_front: false });
    assert_eq!(*driver.order(), Order::Own { task: Task::Return, interactions: 1 });
    driver.report(Report::Returned { in_front: true });
    assert_eq!(driver.state(), "wait_idle");
}

#[test]
fn recovery_goes_as_far_back_as_it_must() {
    let health = |session, running| Report::Health { session, running, in_front: running };
    for (report, state) in [
        (health(true, true), "wait_idle"),
        (health(true, false), "restart_app"),
        (health(false, false), "ensure_device"),
    ] {
        let mut driver = acting(&["One"]);
        driver.fault(FaultClass::Gone, false);
        assert_eq!(driver.state(), "recover");
        driver.report(report);
        assert_eq!(driver.state(), state);
    }
}

#[test]
fn taps_and_trips_outside_are_metered() {
    let mut driver = acting(&["One"]);
    let effect = |driver: &Driver<Explore>| driver.running()[0].0;
    driver.report(Report::Done);
    let usage = Usage { outside_app: 11, ..Usage::default() };
    let left = Screen { package: "browser".into(), ..Screen::default() };
    driver.answer_at_cost(effect(&driver), Answer::Own(captured(left)), usage);
    assert_eq!(driver.state(), "stop_budget");
    // A typed text costs two: the tap and the keys.
    let mut driver = looking(config("breadth_first", false));
    let mut typing = screen("home", &["Name"]);
    typing.widgets[0].acts = vec![Act::Type];
    driver.report(captured(typing));
    let task = Task::Perform { act: Act::Type, path: "Name".into(), text: Some("test".into()) };
    assert_eq!(*driver.order(), Order::Own { task, interactions: 2 });
    let taps = driver.chart.budgets().iter().position(|it| it.name() == "taps").unwrap();
    assert_eq!(driver.run.core.purses[taps].left, 48);
}

#[test]
fn time_and_cancel_end_it_from_anywhere() {
    let mut driver = looking(config("breadth_first", false));
    while driver.ended().is_none() {
        driver.wake();
    }
    assert_eq!(driver.ended(), Some(Disposition::Failed), "a device that never answers");
    let mut driver = acting(&["One"]);
    driver.cancel(Scope::Run);
    assert_eq!(driver.ended(), Some(Disposition::Cancelled));
    assert_eq!(driver.state(), "stop_cancelled");
}

#[test]
fn a_screen_with_nothing_to_do_is_explored() {
    let mut driver = looking(config("breadth_first", false));
    driver.report(captured(screen("home", &[])));
    let end = ["enumerate_actions", "detect_progress", "should_continue", "stop"];
    assert_eq!(driver.states(), [SETUP, &["perceive"], &end].concat());
}

#[test]
fn a_configuration_without_an_app_is_refused() {
    use pointsman_kernel::agent::Agent as _;
    for body in [json!({}), json!({"app": {"package": ""}}), json!({"app": 1}), json!("x")] {
        let mut data = super::Data::default();
        data.goal.push_str("kept");
        assert!(Explore::begin(&mut data, &crate::testing::raw(&body)).is_err());
        assert_eq!(data.goal, "kept");
    }
}
