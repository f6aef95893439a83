//! Scripts for the explore agent, and a small app to explore.

mod asking;
mod ladder;
mod policies;
mod screens;
mod seed;

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use pointsman_kernel::{
    agent::{Answer, FaultClass, Order},
    chart::{Disposition, Maximum, with_budgets},
    event::{Scope, Usage},
};
use serde_json::{Value, json};

use super::{CHART, Element, ExploreAgent, ExploreReport, ExploreTask, Screen, Tree, data};
use crate::testing::TestDriver;

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

fn captured(screen: Screen) -> ExploreReport {
    ExploreReport::Captured { screen, running: true }
}

fn config(policy: &str, ask_model: bool) -> Value {
    json!({"app": {"package": "app"}, "goal": "open settings", "policy": policy, "ask_model": ask_model})
}

fn begun(config: Value) -> TestDriver<ExploreAgent> {
    let mut driver = TestDriver::<ExploreAgent>::new(CHART, &[]);
    driver.begin(config);
    driver
}

/// Up to the first look at a screen.
fn looking(config: Value) -> TestDriver<ExploreAgent> {
    let mut driver = begun(config);
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(captured(screen("home", &[])));
    driver.report(ExploreReport::Done);
    assert_eq!(driver.state(), "perceive");
    driver
}

/// Up to the first action on a screen with these buttons.
fn acting(labels: &[&str]) -> TestDriver<ExploreAgent> {
    let mut driver = looking(config("breadth_first", false));
    driver.report(captured(screen("home", labels)));
    assert_eq!(driver.state(), "act");
    driver
}

/// The shipped chart with room for this many actions.
fn roomy(actions: u64) -> String {
    let shipped = TestDriver::<ExploreAgent>::new(CHART, &[]).chart;
    let mut maxima = super::raised(&shipped, actions, &[]);
    maxima.push(("actions".into(), actions.to_string()));
    let maxima = maxima.iter().map(|(budget, amount)| Maximum { budget, amount, lowers: false });
    with_budgets(CHART, maxima).expect("the chart has these budgets")
}

/// An app: for each screen, its buttons and where each leads.
type App<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

/// Plays the device until the run ends; `back` leads to the first screen. Returns the
/// actions.
fn explore(driver: &mut TestDriver<ExploreAgent>, app: App<'_>) -> Vec<String> {
    let mut at = app[0].0;
    let mut actions = Vec::new();
    while driver.ended().is_none() {
        let Order::Own { task, actions: count, .. } = driver.order().clone() else {
            panic!("no model is asked")
        };
        let buttons = app.iter().find(|(name, _)| *name == at).expect("app has the screen").1;
        let labels: Vec<&str> = buttons.iter().map(|(label, _)| *label).collect();
        if count > 0 {
            actions.push(format!("{at} {task:?}"));
        }
        let report = match task {
            ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
            ExploreTask::Inspect(_) => ExploreReport::Installed(Some(1)),
            ExploreTask::Capture | ExploreTask::Verify => captured(screen(at, &labels)),
            ExploreTask::Perform { target: Some(target), .. } => {
                at = buttons[usize::try_from(target.ordinal).unwrap()].1;
                ExploreReport::Performed { step: None }
            }
            ExploreTask::Wait => ExploreReport::Performed { step: None },
            _ => {
                at = app[0].0;
                ExploreReport::Performed { step: None }
            }
        };
        driver.report(report);
    }
    actions
}

#[test]
fn the_ladder_is_the_chart_s_own() {
    let driver = TestDriver::<ExploreAgent>::new(CHART, &[]);
    assert_eq!(driver.chart.stuck().screen_stall, Some(data::LADDER));
    let edges = &driver.chart.authority_report().edges;
    assert!(edges.iter().all(|edge| &*edge.from == "ask_model" && &*edge.to == "act"));
}

#[test]
fn provisioning_installs_missing_or_old_apps() {
    for (installed, installs) in [(None, true), (Some(1), true), (Some(2), false)] {
        let mut driver = begun(json!({"app": {"package": "app", "version": 2}}));
        driver.report(ExploreReport::Done);
        driver.report(ExploreReport::Installed(installed));
        assert_eq!(
            matches!(driver.order(), Order::Own { task: ExploreTask::Install(_), .. }),
            installs
        );
    }
}

#[test]
fn set_up_retries_and_then_steps_back_three_times() {
    let mut driver = begun(config("breadth_first", false));
    for backtrack in 0..4 {
        driver.report(ExploreReport::Done);
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
fn recovery_goes_as_far_back_as_it_must() {
    let health = |session, running| ExploreReport::Health { session, running, in_front: running };
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
        let mut data = super::ExploreData::default();
        data.config.goal.push_str("kept");
        assert!(ExploreAgent::begin(&mut data, &crate::testing::raw(&body)).is_err());
        assert_eq!(data.config.goal, "kept");
    }
}

#[test]
fn a_crash_restarts_and_leaving_the_app_recovers() {
    let mut driver = acting(&["Boom", "Web"]);
    let boom = driver.run.data.chosen().0.key;
    driver.report(ExploreReport::Performed { step: None });
    let launcher = Screen { package: "launcher".into(), ..Screen::default() };
    driver.report(ExploreReport::Captured { screen: launcher.clone(), running: false });
    assert_eq!((driver.state(), driver.run.data.crashes.len()), ("restart_app", 1));
    assert_eq!(driver.run.data.crashes[0].key, boom);
    driver.report(ExploreReport::Performed { step: None });
    driver.report(ExploreReport::Done);
    driver.report(captured(screen("home", &["Boom", "Web"])));
    assert_ne!(driver.run.data.chosen().0.key, boom, "what crashed is not tried again");
    driver.report(ExploreReport::Performed { step: None });
    let effect = driver.running()[0].0;
    let usage = Usage { outside_app: 1, ..Usage::default() };
    driver.answer_at_cost(effect, Answer::Own(captured(launcher)), usage);
    assert_eq!(driver.state(), "recover");
    driver.report(ExploreReport::Health { session: true, running: true, in_front: false });
    let Order::Own { actions, .. } = driver.order() else { panic!("no model is asked") };
    assert_eq!(*actions, 1, "coming back is an action");
    driver.report(ExploreReport::Performed { step: None });
    assert_eq!(driver.state(), "wait_idle");
}

#[test]
fn crash_report_is_a_crash_and_system_dialog_a_screen() {
    let panel = |package: &str, resource: &str| {
        let close = Element { resource: resource.into(), ..button("Close") };
        Screen::read(&Tree { elements: vec![close], ..Tree::default() }, package, "")
    };
    let crash = panel("android", "android:id/aerr_close");
    let anr = panel("android", "android:id/aerr_wait");
    let asks = panel("com.android.permissioncontroller", "permission_allow_button");
    for (screen, state) in [(crash, "restart_app"), (anr, "restart_app"), (asks, "should_continue")]
    {
        let mut driver = acting(&["One"]);
        driver.report(ExploreReport::Performed { step: None });
        driver.report(captured(screen));
        assert!(driver.states().contains(&state), "{state}");
    }
}

#[test]
fn permissions_are_allowed_or_denied_as_a_person_says() {
    let dialog = || {
        let named = |name: &str, label: &str| Element { resource: name.into(), ..button(label) };
        let elements = vec![
            named("permission_deny_button", "Deny"),
            named("permission_allow_button", "Allow"),
        ];
        let tree = Tree { elements, ..Tree::default() };
        Screen::read(&tree, "com.android.permissioncontroller", "")
    };
    for (says, label) in [("allow", "Allow"), ("deny", "Deny")] {
        let config = json!({"app": {"package": "app"}, "permissions": says});
        let mut driver = looking(config);
        driver.report(captured(dialog()));
        assert_eq!(driver.run.data.chosen().0.label, label);
    }
}

#[test]
fn a_set_up_runs_first_and_after_every_restart() {
    let setup = json!([
        {"act": "text", "resource": "user", "text": "ada"}, {"act": "tap", "label": "Log in"},
    ]);
    let config = json!({"app": {"package": "app"}, "setup": setup});
    let login = || {
        let field = Element { editable: true, ..button("user") };
        captured(read("login", vec![button("Help"), field, button("Log in")]))
    };
    let mut driver = begun(config.clone());
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(login());
    let launch =
        matches!(driver.order(), Order::Own { task: ExploreTask::Launch(_), actions: 1, .. });
    assert!(launch, "a set-up begins at the start of the app");
    driver.report(ExploreReport::Performed { step: None });
    for (act, text) in [("text", Some("ada".into())), ("tap", None)] {
        driver.report(ExploreReport::Done);
        driver.report(login());
        let (chosen, typed) = driver.run.data.chosen();
        assert_eq!((chosen.act.name(), typed), (act, text));
        driver.report(ExploreReport::Performed { step: None });
        driver.report(login());
    }
    // A step that finds nothing waits, and then ends the run with the reason.
    let mut driver = begun(config);
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(login());
    driver.report(ExploreReport::Performed { step: None });
    while driver.ended().is_none() {
        driver.report(match driver.order() {
            Order::Own { task: ExploreTask::Settle, .. } => ExploreReport::Done,
            Order::Own { task: ExploreTask::Capture | ExploreTask::Verify, .. } => {
                captured(screen("other", &[]))
            }
            _ => ExploreReport::Performed { step: None },
        });
    }
    assert_eq!(driver.state(), "stop_failed");
    assert!(driver.run.data.trouble.as_ref().unwrap().contains("step 1 of the set-up"));
}

#[test]
fn an_app_in_front_is_attached_to_and_another_is_launched() {
    let front = |package: &str, launches: bool| {
        let mut driver = begun(config("max_coverage", false));
        driver.report(ExploreReport::Done);
        driver.report(ExploreReport::Installed(Some(1)));
        let screen = Screen { package: package.into(), ..screen("home", &["One"]) };
        driver.report(captured(screen));
        let state = if launches { "launch_or_attach" } else { "wait_idle" };
        assert_eq!(driver.state(), state, "{package}");
    };
    front("app", false);
    front("launcher", true);
}
