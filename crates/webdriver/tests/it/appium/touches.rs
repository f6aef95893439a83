//! Gestures and looks, against the stand-in, which checks the shape of every request.

use pointsman_agents::explore::{DeviceAction, Direction};
use pointsman_webdriver::device::{Device as _, DeviceClass, Gesture};

use super::{
    found, launched, on, small,
    stand_in::{Front, Mishap, StandIn},
    swipe, text,
};

const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

#[tokio::test]
async fn a_screen_is_looked_at_and_photographed() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    let look = device.look().await.expect("screen is captured");
    assert_eq!(look.activity, ".homeActivity");
    assert!(look.source.starts_with("<?xml"));
    let (_, button) = found(&look, "Settings");
    assert!(button.clickable && button.long_clickable);
    let (_, list) = found(&look, "News");
    assert!(list.scrollable && !list.clickable);
    let picture = device.picture().await.expect("screenshot is taken").expect("list is not empty");
    assert!(picture.starts_with(&PNG));
}

#[tokio::test]
async fn every_gesture_reaches_the_app() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    let home = device.look().await.expect("screen is captured");
    let back = Gesture { act: DeviceAction::Back, ..Gesture::default() };
    for (gesture, screen) in [
        (on(&home, "Settings", DeviceAction::Tap), "settings"),
        (on(&home, "Settings", DeviceAction::LongPress), "about"),
        (swipe(&home, "News", Direction::Up), "more"),
    ] {
        device.act(&gesture, "").await.expect("device performs the gesture");
        assert_eq!(stand_in.model().front, Front::App(screen.into()));
        device.act(&back, "").await.expect("device performs the gesture");
        assert_eq!(stand_in.model().front, Front::App("home".into()));
    }
    for direction in [Direction::Down, Direction::Left, Direction::Right] {
        device
            .act(&swipe(&home, "News", direction), "")
            .await
            .expect("device performs the gesture");
        assert_eq!(stand_in.model().front, Front::App("home".into()), "{direction:?}");
    }
    let wait = Gesture { act: DeviceAction::Wait, ..Gesture::default() };
    device.act(&wait, "").await.expect("device performs the gesture");
}

#[tokio::test]
async fn a_text_replaces_what_a_field_holds() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    for typed in ["one", "two: \"ü\"\n"] {
        let look = device.look().await.expect("screen is captured");
        device.act(&text(&look, "name", typed), "").await.expect("device performs the gesture");
        let held: Vec<String> = stand_in.model().typed.values().cloned().collect();
        assert_eq!(held, [typed]);
    }
    // Where the active element is not known, keys are pressed.
    let look = device.look().await.expect("screen is captured");
    stand_in.next("/element/active", Mishap::Error("no such element", "none"));
    device.act(&text(&look, "name", "more"), "").await.expect("device performs the gesture");
    assert_eq!(stand_in.called("mobile: type"), 1);
}

#[tokio::test]
async fn a_gesture_that_cannot_be_is_refused_before_it_is_sent() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    let look = device.look().await.expect("screen is captured");
    let sent = stand_in.model().calls.len();
    for wrong in [
        Gesture { direction: None, ..swipe(&look, "News", Direction::Up) },
        Gesture { act: DeviceAction::Tap, ..Gesture::default() },
    ] {
        let error = device.act(&wrong, "").await.expect_err("input is invalid");
        assert_eq!(error.class, DeviceClass::InvalidArgument, "{error}");
    }
    assert_eq!(stand_in.model().calls.len(), sent);
}

#[tokio::test]
async fn invalid_hierarchy_or_picture_is_reported() {
    let stand_in = StandIn::of(small(), Some(1));
    let device = launched(&stand_in).await;
    stand_in.next("/screenshot", Mishap::Error("unable to capture screen", "secure window"));
    let error = device.picture().await.expect_err("there is none");
    assert_eq!(error.class, DeviceClass::Internal);
    assert!(error.message.contains("secure window"), "{error}");
}
