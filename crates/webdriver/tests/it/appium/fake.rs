//! Appium's fake driver, behind the real server: sessions, looks, and errors as they come.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pointsman_agents::explore::{DeviceAction, Platform};
use pointsman_webdriver::device::{Appium, Device as _, DeviceClass, Gesture};
use serde_json::{Value, json};

use super::{folder, found, on, real, settings, text};

/// An app of the fake driver's.
pub(super) const PLAIN: &str = r#"<?xml version="1.0"?>
<app>
  <MockButton id="go" visible="true">Go</MockButton>
  <MockButton id="off" visible="true" enabled="false">Off</MockButton>
  <MockInputField id="name" visible="true" value="" />
  <MockButton id="warn" visible="true" showAlert="1">Warn</MockButton>
  <alert id="1" visible="false">Careful</alert>
</app>
"#;

/// Writes an app down for the fake driver.
pub(super) fn app(name: &str, source: &str) -> PathBuf {
    let file = folder(&format!("fake-{name}")).join("app.xml");
    fs::write(&file, source).expect("file is writable");
    file
}

pub(super) fn capabilities(app: &Path) -> Value {
    json!({
        "platformName": "Fake",
        "appium:automationName": "Fake",
        "appium:deviceName": "Fake",
        "appium:app": app,
    })
}

async fn opened(name: &str) -> Appium {
    let settings = settings(&real::url(), &capabilities(&app(name, PLAIN)));
    let device = Appium::new(settings).expect("server address is valid");
    device.open().await.expect("session opens");
    device
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn an_app_is_looked_at_and_photographed() {
    let device = opened("look").await;
    let look = device.look().await.expect("screen is captured");
    assert_eq!(look.tree.platform, Platform::Fake);
    let (_, button) = found(&look, "Go");
    assert!(button.clickable && button.enabled);
    assert!(found(&look, "name").1.editable);
    assert!(!found(&look, "Off").1.enabled);
    let picture = device.picture().await.expect("screenshot is taken").expect("list is not empty");
    assert!(picture.starts_with(b"\x89PNG"), "{} bytes", picture.len());
    device.close().await.expect("session closes");
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn elements_are_found_by_their_ordinals() {
    let device = opened("find").await;
    let look = device.look().await.expect("screen is captured");
    device.act(&on(&look, "Go", DeviceAction::Tap), "").await.expect("device performs the gesture");
    device.act(&text(&look, "name", "Ada"), "").await.expect("device performs the gesture");
    // A gesture that the driver rejects, and a missing element.
    let error = device.act(&text(&look, "Go", "Ada"), "").await.expect_err("element takes no text");
    assert_eq!(error.class, DeviceClass::InputFailed, "{error}");
    let gone = Gesture { target: Some(99), ..on(&look, "Go", DeviceAction::Tap) };
    let error = device.act(&gone, "").await.expect_err("it is not there");
    assert_eq!(error.class, DeviceClass::Stale, "{error}");
    let error = device
        .act(&on(&look, "Go", DeviceAction::LongPress), "")
        .await
        .expect_err("driver lacks the gesture");
    assert_eq!(error.class, DeviceClass::InvalidArgument, "{error}");
    device.close().await.expect("session closes");
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn unsupported_driver_call_is_not_retried() {
    let device = opened("cannot").await;
    for error in [
        device.launch("org.x", "").await.map(drop).expect_err("it has no such call"),
        device.state("org.x").await.map(drop).expect_err("it has no such call"),
        device.installed("org.x").await.map(drop).expect_err("it has no such call"),
        device.install("org.x", "/x.apk").await.expect_err("it has no such call"),
        device.act(&Gesture::default(), "").await.map(drop).expect_err("it has no way back"),
    ] {
        assert_eq!(error.class, DeviceClass::InvalidArgument, "{error}");
        assert!(!error.class.repeatable());
    }
    device.close().await.expect("session closes");
    let error = device.look().await.expect_err("it is closed");
    assert_eq!(error.class, DeviceClass::SessionLost, "{error}");
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn session_ended_elsewhere_is_reopened() {
    let record = folder("fake-lost").join("RUN.json");
    let file = app("ended", PLAIN);
    let mut settings = settings(&real::url(), &capabilities(&file));
    settings.record = Some(record.clone());
    let device = Appium::new(settings.clone()).expect("server address is valid");
    device.open().await.expect("session opens");
    let session = || real::session(&record);
    let first = session();
    // Another process takes the same one up.
    let again = Appium::new(settings).expect("server address is valid");
    again.open().await.expect("session opens");
    assert_eq!(session(), first);
    let (status, _) = real::call("DELETE", &format!("/session/{first}"), None).await;
    assert_eq!(status, 200);
    let error = again.look().await.expect_err("session is lost");
    assert_eq!(error.class, DeviceClass::SessionLost, "{error}");
    again.open().await.expect("session opens");
    assert_ne!(session(), first);
    again.look().await.expect("screen is captured");
    again.close().await.expect("session closes");
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn capabilities_that_cannot_work_are_not_tried_again() {
    let device = |capabilities: Value| {
        Appium::new(settings(&real::url(), &capabilities)).expect("server address is valid")
    };
    let file = app("caps", PLAIN);
    let mut unnamed = capabilities(&file);
    drop(unnamed.as_object_mut().and_then(|it| it.remove("appium:app")));
    for wrong in [
        unnamed,
        capabilities(Path::new("/nowhere/app.xml")),
        json!({ "platformName": "Android", "appium:automationName": "UiAutomator2" }),
    ] {
        let error = device(wrong).open().await.expect_err("capabilities are invalid");
        assert_eq!(error.class, DeviceClass::InvalidArgument, "{error}");
    }
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn an_alert_that_stays_open_is_an_input_that_failed() {
    let device = opened("alert").await;
    let look = device.look().await.expect("screen is captured");
    device
        .act(&on(&look, "Warn", DeviceAction::Tap), "")
        .await
        .expect("device performs the gesture");
    let error = device
        .act(&on(&look, "Go", DeviceAction::Tap), "")
        .await
        .expect_err("dialog covers the app");
    assert_eq!(error.class, DeviceClass::InputFailed, "{error}");
    device.close().await.expect("session closes");
}
