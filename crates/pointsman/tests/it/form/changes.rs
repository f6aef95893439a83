//! An approval is for what was shown: if the page, the control or its target has changed when it
//! is pressed, nothing is pressed, and the person is asked again about the new state.

use super::rig::{ADA, Rig};
use crate::terminal::{CTRL_D, ENTER, Terminal};

/// Starts a run that asks, and lets its page change while the question stands.
fn asked_and_changed(name: &str, page: &str) -> (Rig, Terminal) {
    let rig = Rig::new(name, ADA);
    let url = rig.site.url(page);
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml"];
    let terminal = Terminal::start(&rig.home, &run);
    terminal.shows("press `Send`");
    terminal.asks();
    rig.change();
    (rig, terminal)
}

fn nothing_was_sent(rig: &Rig) {
    for path in ["/sent", "/paid", "/deleted", "/stolen"] {
        let delivery = [rig.site.delivery(path), rig.elsewhere.delivery(path)].concat();
        assert!(delivery.is_empty(), "{path}: {delivery:?}");
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_yes_at_the_terminal_is_not_spent_on_another_label() {
    let (rig, terminal) = asked_and_changed("changes-label", "changes?label");
    terminal.keys(&format!("y{ENTER}"));
    let shown = terminal.shows("press `Pay 500 now`");
    assert!(shown.contains("pay or order"), "{shown}");
    assert!(shown.contains("the page has changed: `Send` now says `Pay 500 now`"), "{shown}");
    terminal.keys(CTRL_D);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 7, "{shown}");
    nothing_was_sent(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_yes_from_outside_is_not_spent_on_another_label() {
    let (rig, terminal) = asked_and_changed("changes-outside", "changes?label");
    let (code, _, err) = rig.home.pointsman(&["approve", "last"]);
    assert_eq!(code, 0, "{err}");
    terminal.shows("press `Pay 500 now`");
    let (code, _, err) = rig.home.pointsman(&["deny", "last"]);
    assert_eq!(code, 0, "{err}");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 7, "{shown}");
    nothing_was_sent(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_yes_is_not_spent_on_another_page_or_another_site() {
    for (name, words) in
        [("page", "would undo or delete something"), ("target", "leads to another site")]
    {
        let (rig, terminal) =
            asked_and_changed(&format!("changes-{name}"), &format!("changes?{name}"));
        terminal.keys(&format!("y{ENTER}"));
        let (code, shown) = terminal.ends();
        assert_eq!(code, 7, "{shown}");
        assert!(shown.contains(words), "{shown}");
        nothing_was_sent(&rig);
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_form_that_turns_to_another_site_when_it_is_sent_is_stopped() {
    let rig = Rig::new("turns", ADA);
    let ran = rig.fill("turns", &["--submit", "yes"]);
    let told = rig.told(&ran);
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(told.contains("the form targets another site, http://ELSEWHERE"), "{told}");
    assert!(
        told.contains("it is unknown whether the site accepted the form"),
        "the page has heard of the click: {told}"
    );
    nothing_was_sent(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn redirect_to_another_site_is_reported() {
    let rig = Rig::new("turns-later", ADA);
    let ran = rig.fill("turns?moved", &["--submit", "yes"]);
    let told = rig.told(&ran);
    assert_eq!(rig.site.delivery("/moved").len(), 1, "{told}");
    assert!(told.contains("it led to another site, http://ELSEWHERE"), "{told}");
    assert!(rig.elsewhere.delivery("/note").is_empty(), "nothing may be typed there");
}

/// What the site has answered is judged after a death as it is without one.
#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn rejected_form_is_not_reported_as_sent_after_a_crash() {
    let rig = Rig::new("slowly-broken", ADA);
    let mut running = rig.start("turns?slowly-broken", &["--submit", "yes"], &[]);
    running.until("it is sent", || !rig.site.delivery("/slowly-broken").is_empty());
    running.kill();
    let since = std::time::Instant::now();
    while !rig.site.was_asked_for("/arrived") {
        assert!(since.elapsed().as_secs() < 120, "the answer did not arrive");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let resumed = rig.command(&["resume", "last"], &[]).end();
    let told = rig.told(&resumed);
    assert_eq!(resumed.code, Some(1), "{told}");
    assert!(told.contains("the site answered with HTTP 500"), "{told}");
    assert!(!told.contains("Sent with"), "{told}");
    assert_eq!(rig.site.delivery("/slowly-broken").len(), 1, "it is sent once");
}
