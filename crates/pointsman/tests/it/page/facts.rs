//! The same facts: the page has the items of `show --json`, in order and with their kinds. The
//! full-screen view's model is compared with the same in `watch/tests/facts.rs`.

use serde_json::{Value, json};

use super::rig::Rig;
use crate::home::Home;

const KEPT: [&str; 20] = [
    "builtin-draft_and_review-01",
    "builtin-note-03",
    "builtin-one-02",
    "builtin-parent-01",
    "builtin-scribe-04",
    "builtin-scribe-07",
    "builtin-ship-01",
    "builtin-tale-01",
    "builtin-twice-01",
    "chat-01",
    "chat-05",
    "chat-11",
    "code-01",
    "code-02",
    "explore-01",
    "explore-02",
    "form-01",
    "form-03",
    "research-01",
    "research-05",
];

/// Returns the items that are in the document, one screen after the other.
fn drawn(rig: &Rig) -> Vec<Value> {
    rig.wait("document.querySelector('.entry')");
    rig.scroll(".story", "-1e9");
    let mut found: Vec<Value> = Vec::new();
    loop {
        rig.wait("document.querySelector('.block') && !document.querySelector('.block.waiting')");
        let seen = rig.script(
            "return [...document.querySelectorAll('.item')].map((it) => \
             [...it.dataset.id.split('.').map(Number), it.dataset.kind])",
        );
        for item in seen.as_array().expect("a list") {
            if !found.contains(item) {
                found.push(item.clone());
            }
        }
        if !rig.scroll(".story", "it.clientHeight / 2") {
            return found;
        }
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn page_has_every_item_of_twenty_runs() {
    let rig = Rig::new(Home::new("page-facts"), &KEPT);
    let runs = rig.runs();
    assert_eq!(runs.len(), KEPT.len());
    for (run, _) in runs {
        let shown = rig.home.pointsman(&["show", &run, "--json"]).1;
        let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
        let items = shown["timeline"]["items"].as_array().expect("a list").iter();
        let expected: Vec<Value> =
            items.map(|it| json!([it["seq"], it["index"], it["kind"]])).collect();
        rig.open(&format!("/runs/{run}"));
        assert_eq!(drawn(&rig), expected, "run {run}");
    }
}
