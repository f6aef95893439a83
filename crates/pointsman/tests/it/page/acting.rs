//! What people do in the page: answer, cancel, fork, act on many runs; and text as it is written.

use serde_json::json;

use super::rig::Rig;
use crate::{
    home::Home,
    serve::{actions::stopped_child, page::asking},
};

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_person_approves_denies_cancels_and_forks() {
    let home = Home::new("page-acting");
    let asked: Vec<String> = ["one", "two", "three"].map(|goal| asking(&home, goal)).into();
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{}", asked[0]));
    rig.wait("document.querySelector('.question')");
    assert!(rig.text(".question").contains("note.txt"), "{}", rig.text(".question"));
    rig.picture("question");
    // Without a token the page asks for one, and nothing happens.
    rig.press("[data-act=approve]");
    rig.press("dialog button[type=submit]");
    rig.wait("document.querySelector('dialog input[type=password]')");
    rig.picture("token");
    rig.script("document.querySelector('dialog').close()");
    assert_eq!(rig.server.json(&format!("/api/v1/runs/{}", asked[0]))["disposition"], json!(null));
    rig.sign_in();
    // The keys open the same questions as the buttons.
    rig.key("d");
    rig.wait("document.querySelector('dialog h2')?.textContent === 'Deny the call of write'");
    rig.script("document.querySelector('dialog').close()");
    rig.wait("!document.querySelector('dialog')");
    rig.key("a");
    rig.press("dialog button[type=submit]");
    // The command that started it has ended, so that the run continues when it is queued.
    rig.wait("document.querySelector('.toast')?.textContent.startsWith('Recorded')");
    rig.press("[data-act=resume]");
    rig.wait("document.querySelector('.facts-line .pill')?.textContent === 'succeeded'");
    assert!(rig.home.path("note.txt").exists(), "the approved call ran");
    rig.wait("document.querySelectorAll('.is-ended').length === 1");
    for (run, act, end) in [(&asked[1], "deny", "denied"), (&asked[2], "cancel", "cancelled")] {
        rig.open(&format!("/runs/{run}"));
        rig.press(&format!("[data-act={act}]"));
        rig.press("dialog .danger");
        if act == "deny" {
            rig.wait("document.querySelector('.toast')?.textContent.startsWith('Recorded')");
            rig.press("[data-act=resume]");
        }
        rig.wait(&format!("document.querySelector('.facts-line .pill')?.textContent === '{end}'"));
    }
    rig.open(&format!("/runs/{}/entries/1", asked[2]));
    rig.ready();
    rig.press("[data-act=fork]");
    rig.wait(&format!("!location.pathname.includes('{}')", asked[2]));
    rig.wait("document.querySelector('.facts-line a')?.textContent.includes('forked')");
    // The last entry of an ended run, which its address opens, is not shared.
    let detail = rig.server.json(&format!("/api/v1/runs/{}", asked[2]));
    let before = detail["steps"].as_u64().expect("a number") - 1;
    rig.open(&format!("/runs/{}", asked[2]));
    rig.wait("document.querySelector('[data-act=fork]')?.textContent === 'Fork before the end'");
    rig.press("[data-act=fork]");
    rig.wait(&format!(
        "document.querySelector('.facts-line a')?.pathname === '/runs/{}/entries/{before}'",
        asked[2]
    ));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn only_a_run_without_a_process_is_said_to_be_queued() {
    let home = Home::new("page-resumed");
    let run = asking(&home, "Hello");
    let rig = Rig::idle(home, &[]);
    rig.open(&format!("/runs/{run}"));
    rig.sign_in();
    for (taken, said) in [(true, "Done."), (false, "The run is queued.")] {
        rig.intercept(&format!(
            "if (!at.pathname.endsWith('/resume')) return real(url, options); \
             return answer({{ run: '{run}', said: 'resumed', taken: {taken} }});"
        ));
        rig.press("[data-act=resume]");
        rig.wait(&format!("document.querySelector('.toast')?.textContent === '{said}'"));
    }
}

/// A child follows its parent.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_child_offers_no_resume() {
    let home = Home::new("page-child");
    let child = stopped_child(&home);
    let root = asking(&home, "Hello");
    let rig = Rig::idle(home, &[]);
    rig.open(&format!("/runs/{child}"));
    rig.wait("document.querySelector('[data-act=cancel]')");
    assert_eq!(rig.script("return document.querySelector('[data-act=resume]')"), json!(null));
    rig.open(&format!("/runs/{root}"));
    rig.wait("document.querySelector('[data-act=resume]')");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn many_runs_are_counted_before_they_are_cancelled_and_the_list_is_live() {
    let home = Home::new("page-bulk");
    for goal in ["keep this", "drop a", "drop b"] {
        asking(&home, goal);
    }
    let rig = Rig::new(home, &[]);
    rig.open("/?text=drop");
    rig.sign_in();
    rig.wait("document.querySelectorAll('.row').length === 2");
    rig.wait("[...document.querySelectorAll('.row .pill')].every((it) => it.textContent === 'waiting for you')");
    rig.press("[data-bulk=cancel]");
    rig.wait("document.querySelector('dialog h2')?.textContent === 'Cancel 2 runs?'");
    let listed = rig.text("dialog .some");
    assert!(["drop a", "drop b"].iter().all(|goal| listed.contains(goal)), "{listed}");
    rig.picture("bulk");
    let open =
        |rig: &Rig| rig.server.json("/api/v1/runs?status=open")["runs"].as_array().map(Vec::len);
    assert_eq!(open(&rig), Some(3), "counting does nothing");
    rig.press("dialog .danger");
    rig.wait("[...document.querySelectorAll('.row .pill')].filter((it) => it.textContent === 'cancelled').length === 2");
    assert_eq!(open(&rig), Some(1));
    asking(&rig.home, "drop another one");
    rig.wait("document.querySelectorAll('.row').length === 3");
}
