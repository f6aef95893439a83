//! Hostile pages: each run ends safely, in time, and reports only known facts.

use serde_json::Value;

use super::rig::{ADA, Ran, Rig};
use crate::terminal::Terminal;

/// Fills a page that plays a trick, and returns the result.
fn filled(trick: &str, more: &[&str]) -> (Rig, Ran, String) {
    let rig = Rig::new(&format!("hostile-{trick}"), ADA);
    let ran = rig.fill(&format!("hostile?{trick}"), more);
    let told = rig.told(&ran);
    (rig, ran, told)
}

fn untouched(rig: &Rig, told: &str) {
    let typed: Vec<Value> = rig.elsewhere.delivery("/note");
    assert!(typed.is_empty(), "{typed:?}\n{told}");
    assert!(rig.elsewhere.delivery("/sent").is_empty(), "{told}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn dialog_at_a_touch_is_dismissed_and_reported() {
    let (rig, ran, told) = filled("confirm", &["--submit", "never"]);
    assert_eq!(ran.code, Some(0), "{told}");
    assert!(told.contains("a dialog said \"Send everything now?\" and was dismissed"), "{told}");
    assert!(rig.site.delivery("/sent").is_empty(), "{told}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn new_window_during_filling_is_reported() {
    let (rig, ran, told) = filled("window", &["--submit", "never"]);
    assert_eq!(ran.code, Some(0), "{told}");
    assert!(told.contains("page 1: it opened another window, which is left to you"), "{told}");
    untouched(&rig, &told);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_link_that_is_a_script_leads_to_no_other_site() {
    let (_, _, told) = filled("script", &["--submit", "never"]);
    assert!(!told.contains("another site") && !told.contains("null"), "{told}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn frame_of_another_site_is_ignored() {
    let (rig, ran, told) = filled("frames", &["--submit", "never"]);
    assert_eq!(ran.code, Some(0), "{told}");
    assert!(told.contains("2 of 2 fields filled"), "{told}");
    untouched(&rig, &told);
    let notes = rig.notes("input");
    assert!(notes.iter().all(|it| it["field"] == "name" || it["field"] == "email"), "{notes:?}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn reloaded_page_is_not_filled() {
    // How far it came by then is the moment's.
    let (rig, _, told) = filled("refresh", &["--submit", "never"]);
    assert!(
        told.to_lowercase().contains("another page loaded")
            || told.contains("its document has changed"),
        "{told}"
    );
    assert!(rig.site.delivery("/sent").is_empty(), "{told}");
    let (rig, ran, told) = filled("elsewhere", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(1), "{told}");
    untouched(&rig, &told);
    assert!(rig.site.delivery("/sent").is_empty(), "{told}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn an_address_that_changes_at_every_key_is_the_same_page() {
    let (rig, ran, told) = filled("push", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(0), "{told}");
    assert_eq!(rig.sent()["email"], "ada@example.org");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn download_response_is_not_reported_as_sent() {
    let (rig, ran, told) = filled("file", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(told.contains("nothing on the page has changed"), "{told}");
    assert_eq!(rig.site.delivery("/file").len(), 1);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn control_is_pressed_exactly_once() {
    let (rig, ran, told) = filled("twice", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(0), "{told}");
    let clicks = rig.notes("click");
    assert_eq!(clicks.iter().filter(|it| it["tag"] == "button").count(), 1, "{clicks:?}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn service_worker_response_is_reported_as_such() {
    let rig = Rig::new("worker", ADA);
    let ran = rig.fill("worker", &["--submit", "yes"]);
    let told = rig.told(&ran);
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(told.contains("HTTP 503"), "{told}");
    assert!(rig.site.delivery("/sent").is_empty(), "{told}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_server_that_drips_is_given_up_in_time() {
    let rig = Rig::new("drip", ADA);
    rig.home.settings("[form]\nload_timeout = \"3s\"\nsettle_timeout = \"3s\"\n");
    let begun = std::time::Instant::now();
    let ran = rig.fill("drip", &["--submit", "yes"]);
    let told = rig.told(&ran);
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(told.contains("took longer than"), "{told}");
    assert!(begun.elapsed().as_secs() < 100, "it waited for the page's end");
}

/// Who closes the terminal while a question stands has not said yes.
#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_terminal_that_is_closed_sends_nothing() {
    let rig = Rig::new("closed", ADA);
    let url = rig.site.url("hostile");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml"];
    let terminal = Terminal::start(&rig.home, &run);
    terminal.asks();
    terminal.signal("HUP");
    let (code, shown) = terminal.ends();
    assert_ne!(code, 0, "{shown}");
    assert!(rig.site.delivery("/sent").is_empty(), "{shown}");
}
