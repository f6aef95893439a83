//! Navigating and sending: step by step if it is safe, and sent once, or not at all.

use insta::assert_snapshot;
use serde_json::json;

use super::rig::{ADA, Rig};

const ANSWERS: &str = r#"
[answers]
"How would you like to travel?" = "By train"
"Why do you want to come?" = "For the trains."
"#;

const MOVING: &str = r#"
name = "Ada Lovelace"
address-line1 = "12 Harbour Road"
address-level2 = "Whitby"
postal-code = "YO21 1AA"
[answers]
"Moving day" = "2026-12-01"
"Anything else?" = "The piano is heavy."
"#;

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn nothing_is_sent_unless_it_was_said() {
    let rig = Rig::new("never", &format!("{ADA}{ANSWERS}"));
    assert_snapshot!("submit_never", rig.shown("plain", &["--submit", "never"]));
    assert_snapshot!("submit_unattended", rig.shown("plain", &["--unattended"]));
    // Without a terminal there is no one to ask, so the answer is no.
    assert_snapshot!("submit_ask", rig.shown("plain", &[]));
    assert!(rig.site.delivery("/sent").is_empty());
    assert!(rig.notes("click").iter().all(|note| note["field"] != "button"));
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn approved_form_is_sent_once() {
    let rig = Rig::new("yes", &format!("{ADA}{ANSWERS}"));
    assert_snapshot!("submit_yes", rig.shown("plain", &["--submit", "yes"]));
    let wanted = json!({
        "given": "Ada", "family": "Lovelace", "email": "ada@example.org",
        "tel": "+44 20 7946 0958", "country": "GB", "travel": "train", "why": "For the trains.",
    });
    assert_eq!(rig.sent(), wanted);
    assert_eq!(rig.home.pointsman(&["replay", "last"]).0, 0);
    // A run that is over is not done again.
    assert_eq!(rig.home.pointsman(&["resume", "last"]).0, 0);
    assert_eq!(rig.site.delivery("/sent").len(), 1);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn wizard_is_filled_to_its_last_step() {
    let rig = Rig::new("wizard", &format!("{ADA}{MOVING}"));
    assert_snapshot!("wizard", rig.shown("wizard", &["--submit", "yes"]));
    let wanted = json!({
        "name": "Ada Lovelace", "email": "ada@example.org", "street": "12 Harbour Road",
        "town": "Whitby", "postcode": "YO21 1AA", "day": "2026-12-01",
        "note": "The piano is heavy.",
    });
    assert_eq!(rig.sent(), wanted);
    assert_eq!(rig.site.delivery("/step/1").len(), 1);
    assert_eq!(rig.site.delivery("/step/2").len(), 1);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_step_that_comes_back_is_an_error_with_the_pages_words() {
    let rig = Rig::new("bounce", &format!("{ADA}{MOVING}"));
    let shown = rig.shown("wizard?bounce", &["--submit", "yes"]);
    assert!(shown.contains("We do not deliver to this postcode."), "{shown}");
    assert_snapshot!("wizard_bounce", shown);
    assert_eq!(rig.state(), "error");
    assert_eq!(rig.site.delivery("/step/2").len(), 1, "it is not pressed again and again");
    assert!(rig.site.delivery("/sent").is_empty());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn with_never_a_button_that_says_continue_is_not_pressed_either() {
    let rig = Rig::new("continue", ADA);
    let ran = rig.fill("continue", &["--submit", "never"]);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    assert!(ran.out.contains("As you asked, `Continue` was not pressed."), "{}", ran.out);
    assert!(rig.site.delivery("/sent").is_empty());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn answers_that_are_only_shown_are_sent_if_that_is_said() {
    let rig = Rig::new("check", ADA);
    let ran = rig.fill("check", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(7), "nobody knows what it sends: {}", rig.told(&ran));
    assert!(ran.out.contains("`Send application` was not pressed"), "{}", ran.out);
    assert!(rig.site.delivery("/sent").is_empty());
    let ran = rig.fill("check", &["--allow", "form.submit"]);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    assert_eq!(rig.sent(), json!({ "application": "4711" }));
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_question_that_an_answer_brings_is_answered_too() {
    let answers =
        "[answers]\n\"Do you bring somebody?\" = \"Yes\"\n\"Who comes with you?\" = \"Mary\"";
    let rig = Rig::new("grows", &format!("{ADA}{answers}"));
    let ran = rig.fill("grows", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    assert!(ran.out.starts_with("4 of 4 fields filled on 1 page."), "{}", ran.out);
    let wanted = json!({
        "name": "Ada Lovelace", "with": "yes", "who": "Mary", "email": "ada@example.org",
    });
    assert_eq!(rig.sent(), wanted);
    let typed = |field: &str| {
        let notes = rig.notes("input");
        notes.iter().filter(|note| note["field"] == field).count()
    };
    assert_eq!((typed("name"), typed("who")), ("Ada Lovelace".len(), "Mary".len()), "once each");
}
