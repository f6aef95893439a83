//! The list by what runs wait for, and for how long.

use serde_json::json;

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn list_shows_the_runs_that_wait_for_something() {
    let home = Home::new("page-waiting");
    asking(&home, "Ask me");
    home.research("What does a red signal mean?");
    for (goal, more) in [("Later", &["--delay", "30d"][..]), ("Drive me", &[])] {
        let submit = ["submit", "note.toml", goal];
        let (code, _, told) = home.pointsman(&[&submit[..], more].concat());
        assert_eq!(code, 0, "{told}");
    }
    // A conversation of some time ago, which listens; no worker may take the run that waits for one.
    let rig = Rig::idle(home, &["chat-01"]);
    let goals = || {
        rig.script(
            "return [...document.querySelectorAll('.row .goal')].map((it) => it.textContent)",
        )
    };
    let choose = |name: &str, value: &str| {
        rig.script_with(
            "const it = document.querySelector(`select[name=${arguments[0][0]}]`); \
             it.value = arguments[0][1]; it.dispatchEvent(new Event('input', { bubbles: true }))",
            json!([name, value]),
        );
    };
    rig.open("/");
    rig.wait("document.querySelectorAll('.row').length === 5");
    for (waiting, goal) in
        [("person", "Ask me"), ("worker", "Drive me"), ("time", "Later"), ("message", "talk")]
    {
        choose("waiting", waiting);
        rig.wait(&format!(
            "location.search.includes('waiting={waiting}') && document.querySelectorAll('.row').length === 1"
        ));
        rig.wait(&format!("document.querySelector('.row .goal').textContent === '{goal}'"));
        assert_eq!(goals(), json!([goal]), "{waiting}");
    }
    // The conversation has waited for an hour, and the question has not.
    choose("idle", "1 h");
    rig.wait(
        "location.search.includes('idle=1+h') && document.querySelectorAll('.row').length === 1",
    );
    choose("waiting", "person");
    rig.wait("document.querySelector('.nothing')?.textContent.includes('No run matches')");
    // The address alone shows the same.
    rig.open("/?waiting=message");
    rig.wait("document.querySelectorAll('.row').length === 1");
    assert_eq!(goals(), json!(["talk"]));
    rig.picture("waiting");
    // An action is for those that wait for the same, and for no other run.
    rig.open("/?waiting=person");
    rig.sign_in();
    rig.wait("document.querySelectorAll('.row').length === 1");
    rig.press("[data-bulk=approve]");
    rig.wait("document.querySelector('dialog h2')?.textContent === 'Approve 1 run?'");
    rig.press("dialog .primary");
    rig.wait("document.querySelector('.toast')?.textContent === '1 run: done.'");
    let bulk = |filter: serde_json::Value| {
        let body = json!({ "action": "cancel", "filter": filter, "dry_run": true });
        rig.server.post("/api/v1/runs/bulk", &body).json()["count"].clone()
    };
    assert_eq!(bulk(json!({ "waiting": "time" })), json!(1));
    assert_eq!(bulk(json!({ "waiting": "time", "text": "drive" })), json!(0));
    assert_eq!(bulk(json!({ "waiting": "time", "status": "ended" })), json!(0));
    assert_eq!(bulk(json!({ "status": "open" })), json!(4));
}
