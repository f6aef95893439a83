//! What pages do with a form that was sent, and what is made of it: sent is what was taken.

use serde_json::Value;

use super::rig::{ADA, Rig};

/// Sends a form to a page that answers in some way, and returns the exit code and what is
/// told.
fn sent(answer: &str) -> (Option<i32>, String, Rig) {
    let rig = Rig::new(&format!("answers-{answer}"), ADA);
    let ran = rig.fill(&format!("replies?{answer}"), &["--submit", "yes"]);
    (ran.code, rig.told(&ran), rig)
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_form_that_was_not_taken_is_not_told_as_sent() {
    for (answer, words) in [
        ("dead", "nothing on the page has changed"),
        ("again", "the form came back"),
        ("broken", "the site answered with HTTP 500"),
    ] {
        let (code, told, rig) = sent(answer);
        assert_eq!(code, Some(1), "{answer}: {told}");
        assert!(told.contains(words), "{answer}: {told}");
        assert!(rig.site.delivery("/sent").is_empty(), "{answer}");
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn thanks_in_an_alert_are_thanks() {
    let (code, told, rig) = sent("thanks");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("Thank you, we have it."), "{told}");
    assert_eq!(rig.sent()["name"], "Ada Lovelace");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_page_that_goes_away_while_it_is_filled_takes_nothing_with_it() {
    let rig = Rig::new("drift", ADA);
    let ran = rig.fill("drift", &["--submit", "yes"]);
    let told = rig.told(&ran);
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(told.contains("another site"), "{told}");
    let touched: Vec<Value> = rig.elsewhere.delivery("/note");
    assert!(touched.is_empty(), "{touched:?}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_text_that_a_list_does_not_offer_is_no_text() {
    let rig = Rig::new("not-offered", "");
    let mut ends = Vec::new();
    for text in ["", "Atlantis"] {
        let turn = format!("{}\n", serde_json::json!({ "text": text }));
        rig.home.write("towns.jsonl", &turn.repeat(9));
        let more = ["--submit", "never", "--model", "script:towns.jsonl"];
        let ran = rig.fill("combobox?required", &more);
        ends.push((ran.code, rig.state()));
    }
    assert_eq!(ends[0], ends[1]);
    assert_ne!(ends[0].1, "error");
}
