//! Every class of error, as the driver meets it at the stand-in.

use std::time::Duration;

use pointsman_agents::explore::DeviceAction;
use pointsman_webdriver::device::{
    Appium, Device as _, DeviceClass, DeviceError, Gesture, appium_server,
};

use super::{
    PACKAGE, android, launched, on, opened, settings, small,
    stand_in::{Mishap, StandIn, To},
    text, with_button,
};

/// How a call at the stand-in fails.
async fn look_after(mishap: Mishap) -> DeviceError {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    stand_in.next("/source", mishap);
    device.look().await.expect_err("server fails")
}

#[tokio::test]
async fn errors_of_the_server_have_a_class_and_say_whether_to_repeat() {
    for (code, message, class, repeatable) in [
        ("timeout", "", DeviceClass::Timeout, true),
        ("invalid session id", "", DeviceClass::SessionLost, false),
        ("unknown error", "socket hang up", DeviceClass::SessionLost, false),
        ("unknown error", "adb: device offline", DeviceClass::Offline, true),
        ("unknown error", "the app is not in foreground", DeviceClass::NotInFront, false),
        ("element not interactable", "", DeviceClass::InputFailed, true),
        ("stale element reference", "", DeviceClass::Stale, true),
        ("unknown error", "'x' is not installed", DeviceClass::NotInstalled, false),
        ("invalid argument", "", DeviceClass::InvalidArgument, false),
        ("unknown error", "out of cheese", DeviceClass::Internal, true),
    ] {
        let error = look_after(Mishap::Error(code, message)).await;
        assert_eq!(error.class, class, "{code} {message}");
        assert_eq!(error.class.repeatable(), repeatable, "{class:?}");
        assert!(error.message.starts_with("reading the screen: "), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_or_is_not_appium_is_said() {
    let error = look_after(Mishap::Nonsense).await;
    assert_eq!(error.class, DeviceClass::Internal);
    assert!(error.message.contains("does not answer like an Appium server"), "{error}");
    let error = look_after(Mishap::Hangup).await;
    assert_eq!(error.class, DeviceClass::Unreachable, "{error}");
    // A port that was just released has no listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}", port.local_addr().expect("listener has an address"));
    drop(port);
    let device = Appium::new(settings(&url, &android())).expect("server address is valid");
    let error = device.open().await.expect_err("nobody is there");
    assert_eq!(error.class, DeviceClass::Unreachable);
    assert!(error.message.contains("start it with `appium"), "{error}");
    let error = appium_server(&url, Duration::from_mins(1)).await.expect_err("nobody is there");
    assert_eq!(error.class, DeviceClass::Unreachable);
    let error = Appium::new(settings("localhost:4723", &android())).expect_err("not an address");
    assert_eq!(error.class, DeviceClass::InvalidArgument);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let stand_in = StandIn::of(small(), Some(1));
    let mut settings = settings(&stand_in.url(), &android());
    settings.times.command = Duration::from_millis(200);
    let device = Appium::new(settings).expect("server address is valid");
    device.open().await.expect("session opens");
    stand_in.next("/source", Mishap::Silence);
    let error = device.look().await.expect_err("no answer comes");
    assert_eq!(error.class, DeviceClass::Timeout);
    assert!(error.message.contains("0.2 s"), "{error}");
}

#[tokio::test]
async fn a_device_that_is_unplugged_comes_back() {
    let stand_in = StandIn::of(with_button(To::Unplug), Some(1));
    let device = launched(&stand_in).await;
    let look = device.look().await.expect("screen is captured");
    device.act(&on(&look, "Go", DeviceAction::Tap), "").await.expect("device performs the gesture");
    let error = device.look().await.expect_err("target is gone");
    assert_eq!(error.class, DeviceClass::Offline, "{error}");
    let error = device.open().await.expect_err("target is gone");
    assert_eq!(error.class, DeviceClass::Offline, "{error}");
    stand_in.model().plugged = true;
    device.open().await.expect("session opens");
    device.look().await.expect("screen is captured");
}

#[tokio::test]
async fn missing_field_is_stale_and_rejecting_field_fails() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    let look = device.look().await.expect("screen is captured");
    for (code, class) in [
        ("stale element reference", DeviceClass::Stale),
        ("invalid element state", DeviceClass::InputFailed),
    ] {
        stand_in.next("/value", Mishap::Error(code, ""));
        let error = device.act(&text(&look, "name", "x"), "").await.expect_err("it fails");
        assert_eq!(error.class, class, "{error}");
    }
    let mut far = on(&look, "Settings", DeviceAction::Tap);
    if let Some(bounds) = &mut far.bounds {
        (bounds.top, bounds.bottom) = (9_000, 9_100);
    }
    let error = device.act(&far, "").await.expect_err("gesture is outside the screen");
    assert_eq!(error.class, DeviceClass::InputFailed, "{error}");
}

#[tokio::test]
async fn without_a_session_nothing_is_done() {
    let stand_in = StandIn::of(small(), Some(1));
    let device =
        Appium::new(settings(&stand_in.url(), &android())).expect("server address is valid");
    let back = Gesture { act: DeviceAction::Back, ..Gesture::default() };
    for error in [
        device.look().await.map(drop).expect_err("there is none"),
        device.act(&back, "").await.map(drop).expect_err("there is none"),
        device.state(PACKAGE).await.map(drop).expect_err("there is none"),
    ] {
        assert_eq!(error.class, DeviceClass::SessionLost, "{error}");
    }
    assert!(stand_in.model().calls.is_empty());
}

#[tokio::test]
async fn wrong_capabilities_are_not_worth_another_try() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = opened(&stand_in).await;
    device.close().await.expect("session closes");
    let missing = "A new session could not be created. Details: 'app' is required to be present";
    stand_in.next("/session", Mishap::Error("session not created", missing));
    let error = device.open().await.expect_err("it is refused");
    assert_eq!(error.class, DeviceClass::InvalidArgument, "{error}");
}
