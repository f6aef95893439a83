//! What the seed's document says and its code did not do: defaults, thresholds, and bugs.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use pointsman_kernel::{
    agent::{Answer, FaultClass, Order},
    chart::{Disposition, Maximum, with_budgets},
    event::Usage,
    id::At,
};
use serde_json::json;

use super::{acting, begun, button, captured, config, looking, read, screen};
use crate::{
    explore::{CHART, DeviceAction, Element, ExploreAgent, ExploreReport, ExploreTask, Screen},
    testing::TestDriver,
};

/// The chart with all the room there is, but for one budget.
fn but(budget: &str, amount: &str) -> TestDriver<ExploreAgent> {
    let roomy = super::roomy(1_000);
    let maximum = Maximum { budget, amount, lowers: false };
    let chart = with_budgets(&roomy, [maximum]).expect("chart has these budgets");
    let mut driver = TestDriver::<ExploreAgent>::new(&chart, &[]);
    driver.begin(json!({"app": {"package": "app"}, "exhaust": true, "policy": "breadth_first"}));
    driver
}

/// Plays a device with one screen, until the run ends; every action is followed by this look.
/// Returns how many actions there were, and how many touches they took.
fn play(driver: &mut TestDriver<ExploreAgent>, home: &Screen, after: &Screen) -> (u64, u64) {
    let (mut acts, mut touches, mut front) = (0, 0, true);
    while driver.ended().is_none() {
        let Order::Own { task, interactions, actions } = driver.order().clone() else {
            panic!("no model is asked")
        };
        acts += u64::from(actions);
        touches += u64::from(interactions);
        let (mut usage, effect) = (Usage::default(), driver.running()[0].0);
        let report = match task {
            ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
            ExploreTask::Inspect(_) => ExploreReport::Installed(Some(1)),
            ExploreTask::Check => {
                ExploreReport::Health { session: true, running: true, in_front: front }
            }
            ExploreTask::Capture => captured(if front { home.clone() } else { after.clone() }),
            ExploreTask::Verify => {
                let shown = if front { home } else { after };
                usage.outside_app = u64::from(shown.package != "app");
                captured(shown.clone())
            }
            ExploreTask::Perform { act: DeviceAction::Back, .. }
            | ExploreTask::Launch(_)
            | ExploreTask::Restart(_) => {
                front = true;
                ExploreReport::Performed { step: None }
            }
            _ => {
                front = after.package == "app";
                ExploreReport::Performed { step: None }
            }
        };
        driver.answer_at_cost(effect, Answer::Own(report), usage);
    }
    (acts, touches)
}

#[test]
fn tap_budget_permits_exactly_its_number() {
    let home = screen("home", &["One", "Two"]);
    for taps in [1_u64, 4, 7] {
        let mut driver = but("taps", &taps.to_string());
        let (_, touches) = play(&mut driver, &home, &home);
        assert_eq!((driver.ended(), touches), (Some(Disposition::Budget), taps));
    }
    // A text takes two: with one left it is not typed.
    let field = Element { editable: true, clickable: false, text: String::new(), ..button("Name") };
    let form = read("form", [field].into());
    let mut driver = but("taps", "1");
    let (acts, touches) = play(&mut driver, &form, &form);
    assert_eq!((driver.state(), acts, touches), ("stop_budget", 0, 0));
}

#[test]
fn step_budget_permits_exactly_its_number() {
    let home = screen("home", &["One", "Two"]);
    for steps in [9_usize, 30, 100] {
        let mut driver = but("steps", &steps.to_string());
        play(&mut driver, &home, &home);
        let visits = driver.states().iter().filter(|it| !it.starts_with("stop")).count();
        assert_eq!((driver.state(), visits), ("stop_budget", steps));
    }
}

#[test]
fn outside_budget_permits_exactly_its_number() {
    let home = screen("home", &["Web"]);
    let web = Screen { package: "browser".into(), activity: "tab".into(), ..Screen::default() };
    for limit in [1_usize, 3, 10] {
        let mut driver = but("outside", &limit.to_string());
        play(&mut driver, &home, &web);
        assert_eq!(driver.state(), "stop_budget", "{limit}");
        let at = driver.chart.budgets().iter().position(|it| it.name() == "outside").unwrap();
        assert_eq!(driver.run.core.balances[at].left, 0);
        // So many times it came back; the next look at another app was one too many.
        let recovered = driver.states().iter().filter(|it| **it == "recover").count();
        assert_eq!(recovered, limit);
    }
}

#[test]
fn time_alone_ends_a_run() {
    let mut driver = but("time", "300s");
    let home = screen("home", &["One", "Two"]);
    let mut last = At(0);
    while driver.ended().is_none() {
        // Every answer is in time, and takes ten seconds.
        driver.now = At(driver.now.0 + 10_000);
        last = driver.now;
        let Order::Own { task, .. } = driver.order().clone() else { panic!("no model") };
        driver.report(match task {
            ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
            ExploreTask::Inspect(_) => ExploreReport::Installed(Some(1)),
            ExploreTask::Capture | ExploreTask::Verify => captured(home.clone()),
            _ => ExploreReport::Performed { step: None },
        });
    }
    assert_eq!((driver.ended(), driver.state()), (Some(Disposition::Budget), "stop_budget"));
    assert!((290_000..=310_000).contains(&last.0), "{last:?}");
}

#[test]
fn retries_wait_up_to_one_and_two_seconds() {
    for (state, before) in [("ensure_device", 0), ("provision_app", 1), ("launch_or_attach", 2)] {
        let mut driver = begun(config("breadth_first", false));
        for report in
            [ExploreReport::Done, ExploreReport::Installed(Some(1))].into_iter().take(before)
        {
            driver.report(report);
        }
        assert_eq!(driver.state(), state);
        // A quarter of each is left to chance.
        for waits in [750..=1_000, 1_500..=2_000] {
            driver.fault(FaultClass::Unavailable, true);
            let wait = driver.run.core.wake.expect("run has a wake-up time").0 - driver.now.0;
            assert!(waits.contains(&wait), "{state}: {wait}");
            driver.wake();
        }
        // The third attempt is the last.
        driver.fault(FaultClass::Unavailable, true);
        let back = if state == "ensure_device" { "stop_failed" } else { "ensure_device" };
        assert_eq!(driver.state(), back);
    }
}

#[test]
fn unrepeatable_failure_steps_back_and_counts_a_restart() {
    let mut driver = begun(config("breadth_first", false));
    driver.report(ExploreReport::Done);
    driver.fault(FaultClass::Invalid, false);
    assert_eq!(driver.state(), "ensure_device");
    let at = driver.chart.budgets().iter().position(|it| it.name() == "restarts").unwrap();
    assert_eq!(driver.run.core.balances[at].left, 2);
}

#[test]
fn run_restored_after_any_step_is_unchanged() {
    // The seed kept its snapshot before the decision: a resumed run did the step again and
    // had lost its counters. Here the state after each event is kept, whole.
    let mut driver = begun(config("breadth_first", false));
    let reports = [
        ExploreReport::Done,
        ExploreReport::Installed(Some(1)),
        captured(screen("home", &["One"])),
        ExploreReport::Done,
        captured(screen("home", &["One"])),
        ExploreReport::Performed { step: None },
        captured(screen("next", &["Two"])),
    ];
    for report in reports {
        driver.fault(FaultClass::Unavailable, true);
        driver.wake();
        let kept = serde_json::to_string(&driver.run).expect("value serialises to JSON");
        let read = serde_json::from_str(&kept).expect("text is valid JSON");
        driver.run = read;
        driver.report(report);
    }
    assert_eq!(driver.state(), "wait_idle");
    let visits: Vec<&str> = driver.states();
    let acts = visits.iter().filter(|it| **it == "act").count();
    assert_eq!((acts, driver.run.data.tally.actions), (1, 1), "{visits:?}");
}

#[test]
fn ticking_clock_is_not_a_new_screen() {
    let tick = |second: usize| {
        let clock = Element {
            class: "android.widget.TextView".into(),
            resource: "clock".into(),
            text: alloc::format!("12:00:{second:02}"),
            enabled: true,
            displayed: true,
            ..Element::default()
        };
        read("home", [clock, button("One")].into())
    };
    let mut driver = TestDriver::<ExploreAgent>::new(&super::roomy(100), &[]);
    driver.begin(json!({"app": {"package": "app"}, "exhaust": true}));
    let mut second = 0;
    while driver.run.data.stall < 3 {
        second += 1;
        let Order::Own { task, .. } = driver.order().clone() else { panic!("no model") };
        driver.report(match task {
            ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
            ExploreTask::Inspect(_) => ExploreReport::Installed(Some(1)),
            ExploreTask::Capture | ExploreTask::Verify => captured(tick(second % 60)),
            _ => ExploreReport::Performed { step: None },
        });
        assert!(second < 200, "a stall is seen");
    }
    assert_eq!(driver.run.data.graph.coverage().screens, 1);
}

#[test]
fn pictures_decide_only_without_a_hierarchy() {
    let looks = |hash: u64| Screen { hash: Some(hash), ..read("game", Vec::new()) };
    for (after, changed) in [(0b11_u64, false), (u64::MAX, true)] {
        let mut driver = looking(config("breadth_first", false));
        driver.report(captured(looks(0)));
        assert_eq!(driver.state(), "act");
        driver.report(ExploreReport::Performed { step: None });
        let before = driver.run.data.graph.nodes().len();
        driver.report(captured(looks(after)));
        let grown = driver.run.data.graph.nodes().len() > before;
        assert_eq!(grown, changed, "{after:b}");
        let change = driver.run.data.change;
        assert_eq!(change != crate::explore::ScreenChange::None, changed, "{change:?}");
    }
    // With elements, the picture says nothing: a video plays behind the same buttons.
    let mut driver = acting(&["One", "Two"]);
    driver.report(ExploreReport::Performed { step: None });
    let before = driver.run.data.graph.nodes().len();
    let played = Screen { hash: Some(u64::MAX), ..screen("home", &["One", "Two"]) };
    driver.report(captured(played));
    assert_eq!(driver.run.data.graph.nodes().len(), before);
    assert_eq!(driver.run.data.change, crate::explore::ScreenChange::None);
}

#[test]
fn the_waits_of_the_chart_are_the_seed_s() {
    assert!(CHART.contains("attempts = 3"));
    assert!(CHART.contains(r#"backoff  = { base = "1s", cap = "5s" }"#));
}
