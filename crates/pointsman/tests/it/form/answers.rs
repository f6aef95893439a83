//! How pages react to a sent form, and the result: sent means accepted.

use serde_json::Value;

use super::rig::{ADA, Rig};

/// Sends a form to a page that answers in some way, and returns the exit code and the output.
fn sent(answer: &str) -> (Option<i32>, String, Rig) {
    let rig = Rig::new(&format!("answers-{answer}"), ADA);
    let ran = rig.fill(&format!("replies?{answer}"), &["--submit", "yes"]);
    (ran.code, rig.told(&ran), rig)
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn rejected_form_is_not_reported_as_sent() {
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
fn page_replaced_during_filling_is_not_typed_into() {
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
fn text_outside_the_options_is_discarded() {
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
