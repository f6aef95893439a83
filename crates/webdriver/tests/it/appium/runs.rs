//! Whole runs of the explore agent against the stand-in: what can happen to an app and to a
//! device on the way.

use std::{collections::BTreeSet, time::Duration};

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::driver::RunStatus;
use serde_json::{Value, json};

use super::{
    PACKAGE, android,
    explored::{ExploreRequest, FinishedRun, run},
    stand_in::{App, Mishap, Screen, StandIn, To, Widget},
};
use crate::workspace::TestWorkspace;

/// Explores what a stand-in shows.
fn explore(name: &str, stand_in: &StandIn, app: &Value, more: &Value) -> FinishedRun {
    let workspace = TestWorkspace::new(&format!("appium-{name}"));
    let mut config = json!({ "app": { "package": PACKAGE } });
    for (key, value) in more.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    for (key, value) in app.as_object().into_iter().flatten() {
        config["app"][key] = value.clone();
    }
    let trip = ExploreRequest {
        url: &stand_in.url(),
        capabilities: android(),
        config,
        actions: 200,
        quiet: Duration::ZERO,
    };
    let ran = run(&workspace, trip);
    // However it ends, nothing holds the device.
    assert!(stand_in.model().session.is_none(), "{:?}", ran.outcome);
    ran
}

/// An app in which everything happens that can happen to one.
fn troubled() -> App {
    let home = || To::screen("home");
    App::new(
        PACKAGE,
        vec![
            Screen::new(
                "home",
                vec![
                    Widget::button("Crash", To::Crash),
                    Widget::button("Hang", To::Anr),
                    Widget::button("Elsewhere", To::Leave("org.browser".into())),
                    Widget::button("Camera", To::Permission("camera".into())),
                    Widget::button("Settings", To::screen("settings")),
                    Widget::field("Name"),
                ],
            ),
            Screen::new("camera", vec![Widget::button("Shoot", To::screen("picture"))])
                .back(home()),
            Screen::new("picture", Vec::new()).back(To::screen("camera")),
            Screen::new("settings", vec![Widget::list("All", "up", To::screen("deep"))])
                .back(home()),
            Screen::new("deep", vec![Widget::button("Vanish", To::Vanish)])
                .back(To::screen("settings")),
        ],
    )
}

fn all(app: &App) -> BTreeSet<&str> {
    app.screens.iter().map(|it| it.activity.as_str()).collect()
}

#[test]
fn every_policy_sees_all_of_an_app_in_which_everything_happens() {
    let app = troubled();
    for policy in ["breadth_first", "depth_first", "max_coverage", "focused", "goal_oriented"] {
        let stand_in = StandIn::of(app.clone(), Some(1));
        let ran = explore(policy, &stand_in, &json!({}), &json!({ "policy": policy }));
        assert!(matches!(ran.outcome.status, RunStatus::Ended(_)), "{policy}: {:?}", ran.outcome);
        assert_eq!(ran.activities(PACKAGE), all(&app), "{policy}: {:?}", ran.outcome.report);
        for package in ["android", "org.browser", "com.android.permissioncontroller"] {
            assert!(!ran.activities(package).is_empty(), "{policy} has not seen {package}");
        }
        assert!(ran.figure("crashes") >= 3, "{policy}: {:?}", ran.outcome.report);
        assert_eq!(stand_in.called("createSession"), 1, "{policy}");
    }
}

#[test]
fn missing_or_old_app_is_installed() {
    for (installed, wanted, installs) in
        [(None, None, 1), (Some(3), Some(5), 1), (Some(5), Some(5), 0), (Some(9), Some(5), 0)]
    {
        let stand_in = StandIn::of(troubled(), installed);
        stand_in.model().files.insert("/app.apk".into(), Ok(5));
        let app = json!({ "install_from": "/app.apk", "version": wanted });
        let ran = explore("versions", &stand_in, &app, &json!({}));
        assert_eq!(stand_in.called("installApp"), installs, "{installed:?} {wanted:?}");
        assert!(!ran.activities(PACKAGE).is_empty(), "{:?}", ran.outcome);
    }
}

#[test]
fn failed_installation_steps_back_and_is_retried() {
    let stand_in = StandIn::of(troubled(), None);
    stand_in.model().files.insert("/app.apk".into(), Ok(1));
    let full = "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]";
    for _ in 0..3 {
        stand_in.next("/install_app", Mishap::Error("unknown error", full));
    }
    let app = json!({ "install_from": "/app.apk" });
    let ran = explore("install", &stand_in, &app, &json!({}));
    assert!(!ran.activities(PACKAGE).is_empty(), "{:?}", ran.outcome);
    // The session was asked for again, and was still there.
    assert!(stand_in.called("getWindowRect") >= 1);
    assert_eq!((stand_in.called("createSession"), stand_in.called("installApp")), (1, 1));
    // What can never be installed ends the run.
    let stand_in = StandIn::of(troubled(), None);
    let ran = explore("never", &stand_in, &json!({ "install_from": "/none.apk" }), &json!({}));
    assert!(matches!(
        ran.outcome.status,
        RunStatus::Ended(Disposition::Failed | Disposition::Budget)
    ));
    assert!(ran.lines.iter().any(|it| it.contains("does not exist or is not accessible")));
}

#[test]
fn lost_session_or_device_does_not_end_a_run() {
    for (name, to, sessions) in [("forgets", To::Forget, 2), ("loose", To::Loose(2), 1)] {
        let app = App::new(
            PACKAGE,
            vec![
                Screen::new(
                    "home",
                    vec![Widget::button("Trouble", to), Widget::button("Next", To::screen("next"))],
                ),
                Screen::new("next", vec![Widget::button("Last", To::screen("last"))])
                    .back(To::screen("home")),
                Screen::new("last", Vec::new()).back(To::screen("next")),
            ],
        );
        let stand_in = StandIn::of(app.clone(), Some(1));
        let ran = explore(name, &stand_in, &json!({}), &json!({}));
        assert_eq!(ran.activities(PACKAGE), all(&app), "{name}: {:?}", ran.outcome);
        assert!(stand_in.called("createSession") >= sessions, "{name}");
    }
}

#[test]
fn permanently_lost_device_ends_the_run() {
    let app =
        App::new(PACKAGE, vec![Screen::new("home", vec![Widget::button("Unplug", To::Unplug)])]);
    let stand_in = StandIn::of(app, Some(1));
    let ran = explore("unplugged", &stand_in, &json!({}), &json!({}));
    assert!(matches!(
        ran.outcome.status,
        RunStatus::Ended(Disposition::Failed | Disposition::Budget)
    ));
    assert!(ran.lines.iter().any(|it| it.contains("adb devices")), "{:?}", ran.outcome);
}
