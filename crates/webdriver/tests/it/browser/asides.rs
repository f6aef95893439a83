//! Boxes of a page's own that come up under our hands, and what must never be pressed.

use std::fs;

use pointsman_agents::form::{self, FieldShape};
use pointsman_kernel::{
    body::Body,
    chart::Disposition,
    governor::{Grant, Level, Permissions},
};
use pointsman_runtime::{
    driver::RunStatus,
    session::{RunSummary, StartOptions, Unattended},
};
use pointsman_webdriver::{browser::BrowserError, profile};
use serde_json::json;

use super::{OpenPage, Site, field};
use crate::workspace::TestWorkspace;

/// A form whose second field shows a box when it is touched, and is switched off with all
/// the others until the box is closed.
fn page(buttons: &str, times: u32) -> String {
    format!(
        "<title>Join</title><div id=area><p><label for=n>Full name</label><input id=n autocomplete=name></p>
         <p><label for=e>Email</label><input id=e autocomplete=email></p><button id=send>Send</button></div>
         <script>window.pressed = []; let left = {times};
         const all = off => document.querySelectorAll('#n, #e, #send').forEach(it => it.disabled = off);
         send.onclick = () => {{ pressed.push('send'); document.body.innerHTML = '<h1>Thank you</h1>'; }};
         e.addEventListener('focus', () => {{
           if (!left) return;
           left -= 1; all(true);
           const box = area.appendChild(document.createElement('div'));
           box.innerHTML = '<p>Your visit ends soon.</p><p>Leave this page? {buttons}</p>';
           box.onclick = event => {{
             if (event.target.localName !== 'button') return;
             pressed.push(event.target.innerText); box.remove(); all(false);
           }};
         }});</script>"
    )
}

const ASKS: &str = "<button>OK</button> <button>Cancel</button>";

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn dialog_at_a_touch_is_closed_and_the_field_filled() {
    let page = OpenPage::page(&page(ASKS, 2)).await;
    page.stands().await;
    page.fills(&field(FieldShape::Text, "#n"), "Ada").await;
    page.fills(&field(FieldShape::Text, "#e"), "ada@example.org").await;
    assert_eq!(page.js("return [n.value, e.value]").await, json!(["Ada", "ada@example.org"]));
    assert_eq!(page.js("return pressed").await, json!(["Cancel", "Cancel"]));
    let said = page.browser.dialogs();
    assert_eq!(said.len(), 2);
    assert_eq!(said[0].text, "Your visit ends soon. Leave this page?");
    assert!(!said[0].accepted);
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_box_that_is_not_ours_to_answer_is_quoted() {
    for (buttons, times, pressed, why) in [
        ("<button>OK</button>", 1, json!([]), "only you can answer it"),
        ("<button>Close</button><button>Cancel</button>", 1, json!([]), "only you can answer it"),
        (ASKS, 9, json!(["Cancel", "Cancel", "Cancel"]), "reappears"),
    ] {
        let page = OpenPage::page(&page(buttons, times)).await;
        page.stands().await;
        let email = field(FieldShape::Text, "#e");
        let fault =
            page.browser.insert(&email, "ada@example.org").await.expect_err("overlay is reported");
        assert!(matches!(fault, BrowserError::Box { .. }), "{fault:?}");
        let told = fault.to_string();
        assert!(told.contains("Your visit ends soon.") && told.contains(why), "{told}");
        assert_eq!(page.js("return pressed").await, pressed, "{buttons}");
    }
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn dialog_after_a_field_is_closed_before_navigation() {
    let page = OpenPage::page(
        "<form><label for=a>Name</label><input id=a><button>Send</button></form>
         <dialog id=asks aria-label=Ask>Stay up to date? <button id=no type=button>No thanks</button>
         <button id=yes>Yes</button></dialog><script>window.pressed = [];
         a.onblur = () => { if (!pressed.length) asks.showModal(); };
         asks.onclick = event => { if (event.target.id) pressed.push(event.target.id); asks.close(); };
         </script>",
    )
    .await;
    page.stands().await;
    page.fills(&field(FieldShape::Text, "#a"), "Ada").await;
    assert_eq!(page.js("return pressed").await, json!(["no"]));
    // A later one does not lead on either.
    page.js("pressed = []; setTimeout(() => asks.showModal(), 0)").await;
    let labels = page.browser.survey().await.expect("page loads").reading.controls;
    assert_eq!(labels.iter().map(|it| it.label.as_str()).collect::<Vec<_>>(), ["Send"]);
    assert_eq!(page.js("return pressed").await, json!(["no"]));
}

/// Runs the agent over a page, with leave to send.
fn run(workspace: &TestWorkspace, html: &str) -> RunSummary {
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime is built");
    let site = threads.block_on(Site::of(&[("/", html)]));
    let file = workspace.work().join("me.toml");
    fs::write(&file, "name = \"Ada\"\nemail = \"ada@example.org\"\n").expect("file is writable");
    let held = profile::read(&file).expect("profile is valid").holds(&file.display().to_string());
    let sends = Grant {
        tool: form::SUBMIT_TOOL.into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    let start = StartOptions {
        program: crate::program(form::CHART),
        source: form::CHART.into(),
        config: json!({ "url": site.url("/"), "profile": held, "redact": false }).into(),
        words: vec![Body::canonical(&json!({}))],
        goal: "join".into(),
        permissions: Permissions { otherwise: Level::Refuse, rules: vec![sends], attended: false },
        seed: Some(1),
    };
    let ran = workspace.session.run(&workspace.executor(), start, Vec::new(), &mut Unattended);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn dialog_text_is_reported_and_a_blocking_one_ends_the_run() {
    let workspace = TestWorkspace::new("browser-asides");
    let sent = run(&workspace, &page(ASKS, 1));
    assert_eq!(sent.status, RunStatus::Ended(Disposition::Succeeded), "{sent:?}");
    let told = sent.result.unwrap_or_default();
    assert!(told.contains("Your visit ends soon."), "{told}");

    let stopped = run(&workspace, &page("<button>OK</button>", 1));
    assert_eq!(&*stopped.state, "error", "{stopped:?}");
    let told = stopped.result.unwrap_or_default();
    assert!(told.contains("Your visit ends soon."), "{told}");
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn form_with_a_newly_disabled_field_is_not_sent() {
    let workspace = TestWorkspace::new("browser-off");
    let html =
        "<title>Join</title><form><label for=n>Full name</label><input id=n autocomplete=name>
        <label for=e>Email</label><input id=e autocomplete=email><button>Send</button></form>
        <script>n.onfocus = () => { e.disabled = true; };</script>";
    let outcome = run(&workspace, html);
    assert_eq!(&*outcome.state, "handed_over", "{outcome:?}");
    let told = outcome.result.unwrap_or_default();
    assert!(told.contains("the page disabled `Email`"), "{told}");
}
