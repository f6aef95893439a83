//! The ladder, the budgets, and the bugs of the seed.

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{StepResult, agent::Order, chart::Disposition, event::Event};
use serde_json::{Value, json};

use super::{begun, button, captured, looking, read, roomy, screen};
use crate::{
    explore::{CHART, Element, ExploreAgent, ExploreReport, ExploreTask, Policy, raised},
    testing::TestDriver,
};

/// Rounds on one screen with one button that does nothing, until the app is restarted.
fn stuck(policy: Option<&str>) -> (TestDriver<ExploreAgent>, Vec<(u32, Policy)>) {
    let config: Value = json!({"app": {"package": "app"}, "policy": policy, "exhaust": true});
    let mut driver = TestDriver::<ExploreAgent>::new(&roomy(500), &[]);
    driver.begin(config);
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(captured(screen("home", &["One"])));
    let mut rounds = Vec::new();
    while driver.state() != "restart_app" || driver.run.data.stall < 10 {
        let report = match driver.order() {
            Order::Own { task: ExploreTask::Settle, .. } => ExploreReport::Done,
            Order::Own { task: ExploreTask::Capture | ExploreTask::Verify, .. } => {
                captured(screen("home", &["One"]))
            }
            _ => ExploreReport::Performed { step: None },
        };
        driver.report(report);
        rounds.push((driver.run.data.stall, driver.run.data.policy));
        assert_eq!(driver.run.data.warning().is_some(), driver.run.data.stall >= 3);
    }
    (driver, rounds)
}

#[test]
fn a_stall_warns_at_three_switches_at_five_and_restarts_at_ten() {
    let (mut driver, rounds) = stuck(None);
    assert_eq!(driver.run.data.stall, 10);
    let switched = rounds.iter().find(|(_, policy)| *policy != Policy::MaxCoverage).unwrap().0;
    assert_eq!(switched, 5);
    driver.report(ExploreReport::Performed { step: None });
    assert_eq!((driver.state(), driver.run.data.stall), ("wait_idle", 0));
}

#[test]
fn a_pinned_policy_is_never_switched() {
    let (_, rounds) = stuck(Some("depth_first"));
    assert!(rounds.iter().all(|(_, policy)| *policy == Policy::DepthFirst));
}

#[test]
fn the_budgets_are_the_seed_s() {
    let driver = TestDriver::<ExploreAgent>::new(CHART, &[]);
    let budgets: Vec<(&str, u64)> =
        driver.chart.budgets().iter().map(|it| (it.name(), it.max())).collect();
    let expected = [
        ("time", 300_000),
        ("steps", 100),
        ("actions", 100),
        ("taps", 50),
        ("outside", 10),
        ("restarts", 3),
        ("rounds", 300),
    ];
    assert_eq!(budgets, expected);
}

#[test]
fn actions_lift_the_budgets_that_are_not_named() {
    let chart = TestDriver::<ExploreAgent>::new(CHART, &[]).chart;
    let lift = |actions: u64, named: &[&str]| raised(&chart, actions, named);
    let all = lift(500, &[]);
    let of = |name: &str| all.iter().find(|(it, _)| it == name).map(|(_, amount)| amount.as_str());
    assert_eq!(of("steps"), Some("6000"));
    assert_eq!(of("taps"), Some("1000"));
    assert_eq!(["restarts", "outside", "rounds"].map(of), [Some("500"); 3]);
    assert_eq!((of("time"), of("actions")), (Some("3600000ms"), None));
    let some = lift(500, &["steps", "time"]);
    assert!(some.iter().all(|(name, _)| name != "steps" && name != "time"));
    // Few actions lower nothing.
    assert_eq!(lift(1, &[]), [("time".into(), "3600000ms".into())]);
}

#[test]
fn steps_end_a_run_after_a_dozen_actions() {
    let mut driver = begun(json!({"app": {"package": "app"}, "exhaust": true}));
    let actions = super::explore(&mut driver, &[("home", &[("One", "home"), ("Two", "home")])]);
    assert_eq!((driver.ended(), driver.state()), (Some(Disposition::Budget), "stop_budget"));
    assert!((10..=14).contains(&actions.len()), "{}", actions.len());
}

#[test]
fn a_text_costs_two_taps_and_one_action() {
    let mut driver = looking(json!({"app": {"package": "app"}}));
    let field = Element { editable: true, clickable: false, text: String::new(), ..button("Name") };
    driver.report(captured(read("home", [field].into())));
    let Order::Own { task: ExploreTask::Perform { text, .. }, interactions, actions } =
        driver.order()
    else {
        panic!("a text is typed")
    };
    assert!(text.is_some());
    assert_eq!((*interactions, *actions), (2, 1));
    let left = |name: &str| {
        let at = driver.chart.budgets().iter().position(|it| it.name() == name).unwrap();
        driver.run.core.balances[at].left
    };
    assert_eq!((left("taps"), left("actions")), (48, 99));
}

#[test]
fn a_run_ends_once_and_takes_nothing_after() {
    let mut driver = begun(json!({"app": {"package": "app"}}));
    super::explore(&mut driver, &[("home", &[])]);
    assert!(driver.ended().is_some());
    let finals = driver.states().iter().filter(|it| it.starts_with("stop")).count();
    assert_eq!(finals, 1);
    assert_ne!(driver.try_apply(Event::Woke), Ok(StepResult::Applied));
}

#[test]
fn a_long_way_is_not_cut_short_again_and_again() {
    // Fourteen screens in a row, and a start that leads only to the first of them.
    let names: Vec<String> = (0..14).map(|at| alloc::format!("s{at}")).collect();
    let rows: Vec<(&str, Vec<(&str, &str)>)> = (0..14)
        .map(|at| (names[at].as_str(), [("Next", names[(at + 1).min(13)].as_str())].into()))
        .collect();
    let app: Vec<(&str, &[(&str, &str)])> =
        rows.iter().map(|(name, ways)| (*name, ways.as_slice())).collect();
    let mut driver = TestDriver::<ExploreAgent>::new(&roomy(2_000), &[]);
    driver.begin(json!({"app": {"package": "app"}, "policy": "breadth_first"}));
    super::explore(&mut driver, &app);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    assert_eq!(driver.run.data.graph.coverage().screens, 14);
}
