//! The app as a whole, against the stand-in: installed, started, stopped, crashed, left.

use pointsman_webdriver::device::{AppState, Device as _, DeviceClass, InstalledApp};

use super::{
    PACKAGE, launched, opened, small,
    stand_in::{Front, Mishap, StandIn, To},
    tap, with_button,
};

#[tokio::test]
async fn an_app_is_installed_once_and_its_version_is_known() {
    let stand_in = StandIn::of(small(), None);
    stand_in.model().files.insert("/app.apk".into(), Ok(7));
    let device = opened(&stand_in).await;
    assert_eq!(device.installed(PACKAGE).await, Ok(None));
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Missing));
    let error = device.launch(PACKAGE, "").await.expect_err("it is not there");
    assert_eq!(error.class, DeviceClass::NotInstalled, "{error}");
    device.install(PACKAGE, "/app.apk").await.expect("app installs");
    assert_eq!(device.installed(PACKAGE).await, Ok(Some(InstalledApp { version: Some(7) })));
    assert_eq!(device.installed("org.other").await, Ok(None));
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Stopped));
}

#[tokio::test]
async fn a_failed_installation_says_whether_another_try_helps() {
    let stand_in = StandIn::of(small(), Some(9));
    let failed = |why: &str| Err(format!("adb: failed to install app.apk: Failure [{why}]"));
    for (file, why) in [
        ("/old.apk", "INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected"),
        ("/full.apk", "INSTALL_FAILED_INSUFFICIENT_STORAGE"),
    ] {
        stand_in.model().files.insert(file.into(), failed(why));
    }
    let device = opened(&stand_in).await;
    for (file, class) in [
        ("/old.apk", DeviceClass::InvalidArgument),
        ("/full.apk", DeviceClass::Internal),
        ("/nowhere.apk", DeviceClass::InvalidArgument),
    ] {
        let error = device.install(PACKAGE, file).await.expect_err("it fails");
        assert_eq!(error.class, class, "{error}");
    }
    assert_eq!(device.installed(PACKAGE).await, Ok(Some(InstalledApp { version: Some(9) })));
}

/// A driver of an older version does not list apps.
#[tokio::test]
async fn an_app_of_an_unknown_version_is_installed_all_the_same() {
    let stand_in = StandIn::of(small(), Some(9));
    let device = opened(&stand_in).await;
    let unknown = Mishap::Error("unsupported operation", "Unsupported execute method");
    stand_in.next("/execute/sync", unknown);
    assert_eq!(device.installed(PACKAGE).await, Ok(Some(InstalledApp { version: None })));
    // Without the device, nothing is known.
    stand_in.next("/execute/sync", Mishap::Error("unknown error", "adb: device offline"));
    let error = device.installed(PACKAGE).await.expect_err("the device is gone");
    assert_eq!(error.class, DeviceClass::Offline);
}

#[tokio::test]
async fn app_is_activated_and_restarted() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Front));
    let look = tap(&device, "Settings").await;
    assert_eq!((look.package.as_str(), look.activity.as_str()), (PACKAGE, ".settingsActivity"));
    // The app in front stays.
    device.launch(PACKAGE, "").await.expect("app launches");
    assert_eq!(stand_in.model().front, Front::App("settings".into()));
    device.restart(PACKAGE, "").await.expect("app restarts");
    assert_eq!(stand_in.model().front, Front::App("home".into()));
    assert_eq!(stand_in.called("terminateApp"), 1);
}

#[tokio::test]
async fn a_crash_and_an_app_that_hangs_show_the_systems_words() {
    let stand_in = StandIn::of(with_button(To::Crash), Some(1));
    let device = launched(&stand_in).await;
    let look = tap(&device, "Go").await;
    assert_eq!((look.package.as_str(), look.activity.as_str()), ("android", ""));
    assert!(look.tree.elements.iter().any(|it| it.resource == "android:id/aerr_close"));
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Stopped));
    device.restart(PACKAGE, "").await.expect("app restarts");
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Front));

    let stand_in = StandIn::of(with_button(To::Anr), Some(1));
    let device = launched(&stand_in).await;
    let look = tap(&device, "Go").await;
    assert!(look.tree.elements.iter().any(|it| it.resource == "android:id/aerr_wait"));
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Background));
    let look = tap(&device, "Wait").await;
    assert_eq!(look.package, PACKAGE);

    let stand_in = StandIn::of(with_button(To::Vanish), Some(1));
    let device = launched(&stand_in).await;
    let look = tap(&device, "Go").await;
    assert_ne!(look.package, PACKAGE);
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Stopped));
}

#[tokio::test]
async fn other_apps_and_permission_dialogs_are_distinguished() {
    let stand_in = StandIn::of(with_button(To::Leave("org.browser".into())), Some(1));
    let device = launched(&stand_in).await;
    assert_eq!(tap(&device, "Go").await.package, "org.browser");
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Background));
    device.launch(PACKAGE, "").await.expect("app launches");
    assert_eq!(device.state(PACKAGE).await, Ok(AppState::Front));

    let stand_in = StandIn::of(with_button(To::Permission("next".into())), Some(1));
    let device = launched(&stand_in).await;
    assert_eq!(tap(&device, "Go").await.package, "com.android.permissioncontroller");
    let look = tap(&device, "While using the app").await;
    assert_eq!((look.package.as_str(), look.activity.as_str()), (PACKAGE, ".nextActivity"));
}
