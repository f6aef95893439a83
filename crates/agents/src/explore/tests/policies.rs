//! The policies: what they try, in which order, and when nothing is left.

use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use pointsman_kernel::chart::Disposition;
use proptest::prelude::{prop, proptest};
use serde_json::json;

use super::{App, button, captured, config, explore, looking, roomy, screen};
use crate::{
    explore::{Element, ExploreAgent, ExploreReport, MAX_CANDIDATES, Policy},
    testing::TestDriver,
};

const SMALL: App<'_> = &[
    ("home", &[("Settings", "settings"), ("About", "about")]),
    ("settings", &[("Sound", "sound")]),
    ("about", &[]),
    ("sound", &[]),
];

fn roaming(config: serde_json::Value) -> TestDriver<ExploreAgent> {
    let mut driver = TestDriver::<ExploreAgent>::new(&roomy(200), &[]);
    driver.begin(config);
    driver
}

#[test]
fn a_small_app_is_explored_to_the_end_by_every_policy() {
    for policy in Policy::ALL {
        let mut driver = roaming(json!({"app": {"package": "app"}, "policy": policy}));
        let actions = explore(&mut driver, SMALL);
        assert_eq!(driver.ended(), Some(Disposition::Succeeded), "{policy:?}");
        let covered = driver.run.data.graph.coverage();
        assert_eq!((covered.screens, covered.activities), (4, 4), "{policy:?}");
        assert_eq!(covered.seen, covered.tried, "{policy:?}");
        assert!(actions.last().unwrap().contains("Restart"), "a restart shows nothing new");
    }
}

#[test]
fn exhaust_continues_until_the_budget_ends() {
    let mut driver = roaming(json!({"app": {"package": "app"}, "exhaust": true}));
    let actions = explore(&mut driver, SMALL);
    assert_eq!(driver.ended(), Some(Disposition::Budget));
    assert_eq!(actions.len(), 200, "a budget of N actions permits N");
}

#[test]
fn policies_have_different_first_choices() {
    let first = |policy: &str| {
        let mut driver = looking(config(policy, false));
        driver.report(captured(screen("home", &["Help", "Settings"])));
        driver.run.data.chosen().0.label
    };
    assert_eq!(first("goal_oriented"), "Settings");
    assert_eq!(first("max_coverage"), "Help");
}

#[test]
fn breadth_first_returns_to_shallow_screens() {
    for policy in Policy::ALL {
        let mut driver = looking(json!({"app": {"package": "app"}, "policy": policy}));
        driver.report(captured(screen("home", &["A", "B"])));
        let at_home = driver.run.data.chosen().0.label;
        driver.report(ExploreReport::Performed { step: None });
        driver.report(captured(screen("deep", &["More"])));
        driver.report(ExploreReport::Done);
        driver.report(captured(screen("deep", &["More"])));
        assert!(["A", "B"].contains(&at_home.as_str()));
        // The only known way to the other button is a restart.
        let expected = if policy == Policy::BreadthFirst { "restart_app" } else { "act" };
        assert_eq!(driver.state(), expected, "{policy:?}");
    }
}

#[test]
fn twenty_actions_per_round_reach_every_action() {
    let names: Vec<String> = (0..50).map(|at| format!("b{at}")).collect();
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut driver = roaming(config("max_coverage", false));
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(captured(screen("home", &labels)));
    let mut tried = BTreeSet::new();
    for _ in 0..51 {
        driver.report(ExploreReport::Done);
        driver.report(captured(screen("home", &labels)));
        let candidates = &driver.run.data.candidates;
        assert_eq!(candidates.len(), MAX_CANDIDATES);
        assert!(candidates.iter().any(|it| it.key == "back"));
        tried.insert(driver.run.data.chosen().0.key);
        driver.report(ExploreReport::Performed { step: None });
        driver.report(captured(screen("home", &labels)));
    }
    assert_eq!(tried.len(), 51, "fifty buttons and back, each once");
}

#[test]
fn fields_are_filled_before_buttons_which_are_tried_again_after() {
    let page = |text: &str| {
        let field =
            Element { editable: true, text: text.into(), description: "Mail".into(), ..button("") };
        captured(super::read("login", vec![button("Log in"), field]))
    };
    let mut driver = roaming(config("max_coverage", false));
    driver.report(ExploreReport::Done);
    driver.report(ExploreReport::Installed(Some(1)));
    driver.report(page(""));
    let mut acts = Vec::new();
    let mut holds = "";
    for _ in 0..6 {
        driver.report(ExploreReport::Done);
        driver.report(page(holds));
        let (chosen, text) = driver.run.data.chosen();
        acts.push(format!("{} {}", chosen.act.name(), chosen.label));
        holds = if text.is_some() { "typed" } else { "" };
        driver.report(ExploreReport::Performed { step: None });
        driver.report(page(holds));
    }
    assert_eq!(acts[0], "text Mail");
    assert_eq!(acts[1], "tap Log in");
    let taps = acts.iter().filter(|it| *it == "tap Log in").count();
    assert!(taps >= 2, "with the field filled and without: {acts:?}");
}

proptest! {
    /// The same seed and the same app give the same run, and a run that is stored and loaded in
    /// the middle continues unchanged.
    #[test]
    fn runs_are_deterministic(seed: u64, ways in prop::collection::vec(0_usize..4, 8)) {
        let names = ["a", "b", "c", "d"];
        let rows: Vec<(&str, Vec<(&str, &str)>)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let to = |way: usize| names[ways[2 * at + way]];
                (*name, vec![("one", to(0)), ("two", to(1))])
            })
            .collect();
        let app: Vec<(&str, &[(&str, &str)])> =
            rows.iter().map(|(name, buttons)| (*name, buttons.as_slice())).collect();
        let run = |kept: bool| {
            let config = json!({"app": {"package": "app"}, "seed": seed});
            let mut driver = roaming(config);
            if kept {
                let text = serde_json::to_string(&driver.run.data).unwrap();
                driver.run.data = serde_json::from_str(&text).unwrap();
            }
            let actions = explore(&mut driver, &app);
            (actions, serde_json::to_string(&driver.run.data).unwrap())
        };
        let (one, again) = (run(false), run(true));
        assert_eq!(one, again);
    }
}
