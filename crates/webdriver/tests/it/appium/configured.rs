//! What `[explore]` of the configuration settles, and who may settle it.

use std::{fs, time::Duration};

use pointsman_runtime::config::{Config, ConfigOrigin};
use pointsman_webdriver::{
    device::{AppiumSettings, CapsError},
    settings::device,
};

use super::folder;

fn parse(text: &str, origin: ConfigOrigin) -> Config {
    Config::parse(text, origin).expect("settings are valid")
}

#[test]
fn times_and_gestures_are_settled() {
    let text = "[explore]\nappium = \"http://127.0.0.1:4723\"\nconnect_timeout = \"1s\"\n\
        session_timeout = \"2s\"\ncommand_timeout = \"3s\"\ninstall_timeout = \"4s\"\n\
        launch_timeout = \"5s\"\nclose_timeout = \"6s\"\nhold = \"7s\"\nswipe = \"8s\"\n\
        distance = 9\n";
    let times = device(&parse(text, ConfigOrigin::User).explore);
    let set = [
        times.connect,
        times.session,
        times.command,
        times.install,
        times.launch,
        times.close,
        times.hold,
        times.swipe,
    ];
    assert_eq!(set, [1, 2, 3, 4, 5, 6, 7, 8].map(Duration::from_secs));
    assert_eq!(times.distance, 9);
    let usual = device(&Config::default().explore);
    assert_eq!(
        (usual.hold, usual.swipe, usual.distance),
        (Duration::from_secs(1), Duration::from_millis(300), 500)
    );
}

#[test]
fn a_repository_may_not_say_which_server_is_used() {
    let text = "[explore]\nappium = \"http://127.0.0.1:4723\"\n";
    assert!(Config::parse(text, ConfigOrigin::User).is_ok());
    let problems = Config::parse(text, ConfigOrigin::Repository)
        .expect_err("repository settings are restricted");
    assert!(problems[0].message.contains("cannot be set here"), "{problems:?}");
    for wrong in ["appium = \"127.0.0.1:4723\"", "distance = 0", "hold = 3"] {
        assert!(
            Config::parse(&format!("[explore]\n{wrong}\n"), ConfigOrigin::User).is_err(),
            "{wrong}"
        );
    }
    let user =
        parse("[explore]\nappium = \"http://127.0.0.1:1\"\nhold = \"2s\"\n", ConfigOrigin::User);
    let repository = parse("[explore]\nhold = \"9s\"\nswipe = \"1s\"\n", ConfigOrigin::Repository);
    let both = user.under(repository).explore;
    assert_eq!(
        (both.hold, both.swipe),
        (Some(Duration::from_secs(2)), Some(Duration::from_secs(1)))
    );
    assert_eq!(both.appium.as_deref(), Some("http://127.0.0.1:1"));
}

#[test]
fn a_file_of_capabilities_is_read_or_named() {
    let folder = folder("caps");
    let file = folder.join("caps.json");
    let read = |text: &str| {
        fs::write(&file, text).expect("file is writable");
        AppiumSettings::read("http://127.0.0.1:4723", &file)
    };
    let whole =
        r#"{"platformName": "Android", "automationName": "UiAutomator2", "appPackage": "a"}"#;
    assert_eq!(read(whole).expect("settings are valid").app().as_deref(), Some("a"));
    for (text, says) in [("{", "not JSON"), ("{}", "`platformName` is missing")] {
        let error = read(text).expect_err("input is invalid");
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.to_string().contains("caps.json") && error.hint().contains("appium:"));
    }
    let error =
        AppiumSettings::read("http://x", &folder.join("none")).expect_err("file is missing");
    assert!(matches!(error, CapsError::File { .. }));
}
