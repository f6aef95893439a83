//! The explorer's driver for Appium: against a stand-in for calls that no driver here has,
//! and against a real server.

mod apps;
mod chromium;
mod configured;
mod errors;
mod explored;
mod fake;
mod graphs;
mod made_up;
mod real;
mod runs;
mod sessions;
mod site;
mod stand_in;
mod touches;
mod web_runs;

use std::{path::PathBuf, time::Duration};

use pointsman_agents::explore::{DeviceAction, Direction, Element};
use pointsman_webdriver::device::{Appium, AppiumSettings, Device as _, Gesture, ScreenCapture};
use serde_json::{Value, json};

use stand_in::{App, Screen, StandIn, To, Widget};

const PACKAGE: &str = "org.example.app";

/// Settings for a device at this address.
fn settings(url: &str, capabilities: &Value) -> AppiumSettings {
    let mut settings =
        AppiumSettings::new(url, capabilities.as_object().cloned().unwrap_or_default());
    // A busy machine is slow: only tests of a limit wait for one.
    settings.times.command = Duration::from_mins(3);
    settings.times.launch = Duration::from_mins(3);
    settings.times.connect = Duration::from_mins(1);
    settings
}

fn android() -> Value {
    json!({
        "platformName": "Android",
        "appium:automationName": "UiAutomator2",
        "appium:appPackage": PACKAGE,
    })
}

/// A device at a stand-in, with a session.
async fn opened(stand_in: &StandIn) -> Appium {
    let device =
        Appium::new(settings(&stand_in.url(), &android())).expect("server address is valid");
    device.open().await.expect("session opens");
    device
}

/// A device at a stand-in, with the app in front.
async fn launched(stand_in: &StandIn) -> Appium {
    let device = opened(stand_in).await;
    device.launch(PACKAGE, "").await.expect("app launches");
    device
}

/// An app of two screens.
fn small() -> App {
    let home = vec![
        Widget::button("Settings", To::screen("settings")).hold(To::screen("about")),
        Widget::field("Name"),
        Widget::list("News", "up", To::screen("more")),
    ];
    let back = || To::screen("home");
    App::new(
        PACKAGE,
        vec![
            Screen::new("home", home),
            Screen::new("settings", vec![Widget::button("Sound", To::screen("home"))]).back(back()),
            Screen::new("about", Vec::new()).back(back()),
            Screen::new("more", Vec::new()).back(back()),
        ],
    )
}

/// An app with one button, and where that leads.
fn with_button(to: To) -> App {
    App::new(
        PACKAGE,
        vec![Screen::new("home", vec![Widget::button("Go", to)]), Screen::new("next", Vec::new())],
    )
}

/// Finds an element by its text or its name.
fn found<'l>(look: &'l ScreenCapture, label: &str) -> (usize, &'l Element) {
    let is_it = |it: &&Element| {
        let name = it.resource.rsplit('/').next().unwrap_or_default();
        [it.text.as_str(), &it.description, &it.hint, name].contains(&label)
    };
    let fits = || look.tree.elements.iter().enumerate().filter(|(_, it)| is_it(it));
    // A label says the same as the field that it is of.
    let found = fits().find(|(_, it)| it.clickable).or_else(|| fits().next());
    found.unwrap_or_else(|| panic!("{label} is not in {:#?}", look.tree.elements))
}

/// A gesture on the element with this label.
fn on(look: &ScreenCapture, label: &str, act: DeviceAction) -> Gesture {
    let (ordinal, element) = found(look, label);
    Gesture { act, target: Some(ordinal), bounds: element.bounds, ..Gesture::default() }
}

fn swipe(look: &ScreenCapture, label: &str, direction: Direction) -> Gesture {
    Gesture { direction: Some(direction), ..on(look, label, DeviceAction::Swipe) }
}

fn text(look: &ScreenCapture, label: &str, text: &str) -> Gesture {
    Gesture { text: Some(text.into()), ..on(look, label, DeviceAction::Tap) }
}

async fn tap(device: &Appium, label: &str) -> ScreenCapture {
    let look = device.look().await.expect("screen is captured");
    device
        .act(&on(&look, label, DeviceAction::Tap), "")
        .await
        .expect("device performs the gesture");
    device.look().await.expect("screen is captured")
}

/// A new folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("appium-{name}"));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("folder is writable");
    folder
}
