//! Sessions against the stand-in: kept in a private file, found again, lost, and ended.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use pointsman_agents::explore::DeviceAction;
use pointsman_webdriver::device::{Appium, Device as _, DeviceClass, appium_server};

use super::{
    PACKAGE, android, folder, on, settings, small,
    stand_in::{Mishap, StandIn, To},
    with_button,
};

/// A device whose session is written down.
fn kept(stand_in: &StandIn, record: &Path) -> Appium {
    let mut settings = settings(&stand_in.url(), &android());
    settings.record = Some(record.to_path_buf());
    Appium::new(settings).expect("server address is valid")
}

#[tokio::test]
async fn a_resumed_run_finds_its_session_again() {
    let stand_in = StandIn::of(small(), Some(1));
    let record = folder("resumed").join("below/RUN.json");
    let first = kept(&stand_in, &record);
    first.open().await.expect("session opens");
    first.open().await.expect("session opens");
    let mode = |path: &Path| fs::metadata(path).expect("path exists").permissions().mode() & 0o777;
    assert_eq!(mode(&record), 0o600);
    assert_eq!(mode(record.parent().expect("folder is writable")), 0o700);
    // The process died here, and another takes its place.
    drop(first);
    let second = kept(&stand_in, &record);
    second.open().await.expect("session opens");
    assert_eq!(stand_in.called("createSession"), 1);
    second.launch(PACKAGE, "").await.expect("app launches");
    second.close().await.expect("session closes");
    assert!(!record.exists() && stand_in.model().session.is_none());
    // There is nothing left to close.
    second.close().await.expect("session closes");
    assert_eq!(stand_in.called("deleteSession"), 1);
}

#[tokio::test]
async fn a_session_that_is_lost_is_opened_again() {
    let stand_in = StandIn::of(with_button(To::Forget), Some(1));
    let record = folder("lost").join("RUN.json");
    let device = kept(&stand_in, &record);
    device.open().await.expect("session opens");
    device.launch(PACKAGE, "").await.expect("app launches");
    let look = device.look().await.expect("screen is captured");
    device.act(&on(&look, "Go", DeviceAction::Tap), "").await.expect("device performs the gesture");
    let error = device.look().await.expect_err("the session is gone");
    assert_eq!(error.class, DeviceClass::SessionLost, "{error}");
    device.open().await.expect("session opens");
    device.look().await.expect("screen is captured");
    assert_eq!(stand_in.called("createSession"), 2);
    let kept = fs::read_to_string(&record).expect("file is readable");
    assert!(kept.contains("stand-in-2"), "{kept}");
}

/// The session that is recorded belongs to another server, or the record was cut short.
#[tokio::test]
async fn a_record_that_does_not_fit_is_not_used() {
    let stand_in = StandIn::of(small(), Some(1));
    let record = folder("foreign").join("RUN.json");
    let foreign = r#"{"url":"http://127.0.0.1:1","session":"stand-in-1"}"#;
    let leading = format!(r#"{{"url":"{}","session":"../../x"}}"#, stand_in.url());
    for text in [foreign, &leading, "{\"url\":", ""] {
        fs::write(&record, text).expect("file is writable");
        let device = kept(&stand_in, &record);
        device.open().await.expect("session opens");
        device.close().await.expect("session closes");
    }
    assert_eq!(stand_in.called("createSession"), 4);
}

#[tokio::test]
async fn a_server_that_is_away_does_not_lose_the_session() {
    let stand_in = StandIn::of(small(), Some(1));
    let record = folder("away").join("RUN.json");
    let device = kept(&stand_in, &record);
    device.open().await.expect("session opens");
    stand_in.next("/window/rect", Mishap::Hangup);
    let error = device.open().await.expect_err("the server is away");
    assert_eq!(error.class, DeviceClass::Unreachable);
    device.open().await.expect("session opens");
    assert_eq!(stand_in.called("createSession"), 1);
}

#[tokio::test]
async fn a_session_that_cannot_be_written_down_is_not_left_open() {
    let stand_in = StandIn::of(small(), Some(1));
    let blocked = folder("blocked").join("file");
    fs::write(&blocked, "").expect("file is writable");
    let device = kept(&stand_in, &blocked.join("RUN.json"));
    let error = device.open().await.expect_err("record cannot be written");
    assert!(error.message.contains("cannot save the session's record to"), "{error}");
    assert!(stand_in.model().session.is_none());
}

#[tokio::test]
async fn a_server_tells_its_version() {
    let stand_in = StandIn::of(small(), None);
    let limit = std::time::Duration::from_mins(1);
    let server = appium_server(&stand_in.url(), limit).await.expect("server answers");
    assert_eq!((server.version.as_deref(), server.ready), (Some("stand-in"), true));
}
