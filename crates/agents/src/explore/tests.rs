//! Scripts for the explore agent, and a small app to explore.

use alloc::{format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{FaultClass, Order},
    chart::Disposition,
    event::Scope,
};
use serde_json::{Value, json};

use super::{CHART, Element, Explore, Report, Screen, Task, Tree, actions, data};
use crate::testing::{Driver, hostile_texts};

const SETUP: &[&str] = &["ensure_device", "provision_app", "launch_or_attach", "wait_idle"];

fn button(label: &str) -> Element {
    Element {
        class: "android.widget.Button".into(),
        resource: label.to_lowercase(),
        text: label.into(),
        clickable: true,
        enabled: true,
        displayed: true,
        ..Element::default()
    }
}

fn read(name: &str, elements: Vec<Element>) -> Screen {
    Screen::read(&Tree { elements, ..Tree::default() }, "app", name)
}

fn screen(name: &str, labels: &[&str]) -> Screen {
    read(name, labels.iter().map(|label| button(label)).collect())
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
    driver.report(captured(screen("home", &[])));
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

#[test]
fn the_ladder_is_the_chart_s_own() {
    let driver = Driver::<Explore>::new(CHART, &[]);
    assert_eq!(driver.chart.stuck().screen_stall, Some(data::LADDER));
    let edges = &driver.chart.authority_report().edges;
    assert!(edges.iter().all(|edge| &*edge.from == "ask_model" && &*edge.to == "act"));
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
fn a_round_offers_twenty_candidates_with_back() {
    let names: Vec<String> = (0..30).map(|at| format!("b{at}")).collect();
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = screen("home", &labels);
    assert_eq!(actions::enumerate(&many, |_| Some(0)).len(), 20);
    // Those tried most are the ones that the limit hides.
    let tried = |key: &str| Some(u32::from(key.contains("#b0~") || key.contains("#b1~")));
    let shown = actions::enumerate(&many, tried);
    assert!(shown.iter().all(|it| it.label != "b0" && it.label != "b1"));
}

#[test]
fn a_screen_is_known_by_its_structure() {
    let one = screen("home", &["Settings"]);
    let clock = |time: &str| Element { clickable: false, resource: "clock".into(), ..button(time) };
    let two = read("home", vec![button("Settings"), clock("12:34")]);
    assert_eq!(one.coarse, two.coarse);
    assert_eq!(two.fine, read("home", vec![button("Settings"), clock("12:35")]).fine);
    assert_ne!(one.coarse, screen("home", &["Settings", "More"]).coarse);
    assert_ne!(one.coarse, screen("other", &["Settings"]).coarse);
}

#[test]
fn a_model_picks_from_the_list_and_nothing_else() {
    let mut route = None;
    let mut texts = hostile_texts(SETUP);
    texts.extend(["0", "5", "-1", "999999999999999999999", "tap"].map(String::from));
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
fn a_configuration_without_an_app_is_refused() {
    use pointsman_kernel::agent::Agent as _;
    for body in [json!({}), json!({"app": {"package": ""}}), json!({"app": 1}), json!("x")] {
        let mut data = super::Data::default();
        data.config.goal.push_str("kept");
        assert!(Explore::begin(&mut data, &crate::testing::raw(&body)).is_err());
        assert_eq!(data.config.goal, "kept");
    }
}
