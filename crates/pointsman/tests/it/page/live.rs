//! A run while it goes on: text as it is written, what a reader has open stays, lost connections.

use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::actions::REPLY};

/// Starts a chart whose model is a script of replies, each `(words, piece_ms)`.
fn replying(rig: &Rig, chart: &str, replies: &[(usize, u64)]) -> String {
    let line = |&(words, piece_ms): &(usize, u64)| {
        let words: Vec<String> = (0..words).map(|at| format!("word{at}")).collect();
        let text = format!("{} ", words.join(" "));
        format!("{}\n", json!({ "text": text, "piece_ms": piece_ms }))
    };
    rig.home.write("script.jsonl", &replies.iter().map(line).collect::<String>());
    let model = format!("script:{}", rig.home.path("script.jsonl").display());
    rig.server.run(&json!({ "chart": chart, "goal": "Talk", "model": model }))
}

/// A chart that asks a model several times, one after the other.
fn steps(count: usize) -> String {
    let mut chart = String::from(
        "chart = \"steps\"\nversion = 1\nstart = \"step0\"\nauthority = \"text\"\n[any]\ncancel = \"cancelled\"\n",
    );
    for at in 0..count {
        let next = if at + 1 == count { "done".to_owned() } else { format!("step{}", at + 1) };
        let state = format!(
            "[state.step{at}]\nrun = \"model.reply\"\ntimeout = \"10m\"\nattempts = 3\n\
             with = {{ prompt = \"Answer: {{goal}}\", into = \"result\" }}\n\
             on.completed = \"{next}\"\non.failed = \"failed\"\n"
        );
        chart.push_str(&state);
    }
    chart
        + "[state.done]\nfinal = \"succeeded\"\n[state.failed]\nfinal = \"failed\"\n\
           [state.cancelled]\nfinal = \"cancelled\"\n"
}

const STORY: &str = "document.querySelector('.story')";

fn number(rig: &Rig, expression: &str) -> f64 {
    rig.script(&format!("return {expression}")).as_f64().expect("it is a number")
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn text_is_shown_as_it_is_written_and_followed_only_at_the_end() {
    let rig = Rig::new(Home::new("page-live"), &[]);
    let run = replying(&rig, REPLY, &[(2_000, 20)]);
    rig.open(&format!("/runs/{run}"));
    let written = "(document.querySelector('.live p:last-child')?.textContent.length ?? 0)";
    rig.wait(&format!("{written} > 0"));
    // At the end, the page follows what is written.
    rig.wait(&format!("{STORY}.scrollHeight > {STORY}.clientHeight + 300"));
    rig.wait(&format!("{STORY}.scrollTop + {STORY}.clientHeight > {STORY}.scrollHeight - 60"));
    // Who scrolls up stays there.
    rig.script(&format!("{STORY}.scrollTop = 0"));
    let before = number(&rig, written);
    rig.wait(&format!("{written} > {before} + 400"));
    assert!(number(&rig, &format!("{STORY}.scrollTop")) < 1.0, "scrolling was not stolen");
    rig.script(&format!("{STORY}.scrollTop = {STORY}.scrollHeight"));
    let before = number(&rig, written);
    rig.wait(&format!("{written} > {before} + 400"));
    rig.wait(&format!("{STORY}.scrollTop + {STORY}.clientHeight > {STORY}.scrollHeight - 60"));
    // The whole answer takes the place of what was written.
    rig.wait("document.querySelector('.story .is-ended') && !document.querySelector('.live')");
    assert_eq!(rig.text(".facts-line .pill"), "succeeded");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_new_entry_changes_nothing_that_is_open() {
    let rig = Rig::new(Home::new("page-stays"), &[]);
    let mut replies = vec![(400, 0)];
    replies.extend([(40, 100); 12]);
    let run = replying(&rig, &steps(replies.len()), &replies);
    rig.open(&format!("/runs/{run}"));
    rig.press(".story .more");
    rig.wait("document.querySelector('.story pre.long')");
    rig.script(&format!("{STORY}.scrollTop = 0"));
    rig.script(
        "document.querySelector('[data-seq=\"1\"]').mine = true; \
         document.querySelector('[data-act=cancel]').mine = true; \
         const it = document.querySelector('.stepper input'); it.focus(); it.value = '77'",
    );
    let head = "Number(document.querySelector('.stepper .dim').textContent.slice(3))";
    let first = number(&rig, head);
    rig.wait(&format!("{head} > {first} + 1"));
    assert_eq!(rig.script("return document.activeElement.value"), json!("77"));
    rig.script("document.querySelector('[data-act=cancel]').focus()");
    let second = number(&rig, head);
    rig.wait(&format!("{head} > {second} + 1"));
    let stayed = rig.script(
        "return [document.activeElement.dataset.act ?? null, \
         document.querySelector('[data-seq=\"1\"]').mine ?? false, \
         document.querySelector('[data-act=cancel]').mine ?? false, \
         document.querySelectorAll('.story pre.long').length, \
         document.querySelector('.story').scrollTop]",
    );
    assert_eq!(stayed, json!(["cancel", true, true, 1, 0]));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_link_to_the_last_entry_of_an_open_run_stays_there() {
    let rig = Rig::new(Home::new("page-pinned"), &[]);
    let run = replying(&rig, &steps(12), &[(40, 100); 12]);
    let path = format!("/api/v1/runs/{run}");
    let head = rig.server.json(&path)["steps"].as_u64().expect("a number");
    rig.open(&format!("/runs/{run}/entries/{head}"));
    rig.ready();
    let shown = "Number(document.querySelector('.stepper .dim').textContent.slice(3))";
    rig.wait(&format!("{shown} > {head} + 2"));
    let selected = rig.script("return document.querySelector('.entry.selected')?.dataset.seq");
    assert_eq!(selected, json!(head.to_string()));
    // Its end is followed once it is asked for, and then the address says so.
    rig.key("End");
    let now = number(&rig, shown);
    rig.wait(&format!("{shown} > {now} + 1"));
    rig.wait(
        "document.querySelector('.entry.selected')?.dataset.seq === location.pathname.split('/').at(-1)",
    );
    assert!(number(&rig, "Number(location.pathname.split('/').at(-1))") > now);
}

/// A browser has six connections to a server, for all tabs together.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn eight_tabs_of_open_runs_leave_connections_for_others() {
    let rig = Rig::new(Home::new("page-tabs"), &[]);
    let run = rig.server.asking("Hello");
    rig.open(&format!("/runs/{run}"));
    rig.wait("document.querySelector('.question')");
    rig.script("for (let at = 0; at < 8; at += 1) window.open(location.href)");
    rig.open("/stats");
    rig.wait("document.querySelector('.stats-page')");
    rig.open(&format!("/runs/{run}"));
    rig.wait("document.querySelector('.question')");
}

/// While the tab is hidden nothing is followed, and what was missed is there when it is shown.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_hidden_tab_catches_up_when_it_is_shown() {
    let rig = Rig::new(Home::new("page-hidden"), &[]);
    let run = rig.server.asking("Hello");
    rig.open(&format!("/runs/{run}"));
    rig.wait("document.querySelector('.question')");
    rig.turn("hidden");
    assert_eq!(rig.server.act(&run, "deny", &json!({})).status / 100, 2);
    assert_eq!(rig.server.end(&run)["disposition"], "denied");
    assert_ne!(rig.text(".facts-line .pill"), "denied", "nobody told the hidden tab");
    rig.turn("visible");
    rig.wait("document.querySelector('.facts-line .pill').textContent === 'denied'");
    rig.wait("document.querySelector('.is-ended') && !document.querySelector('.question')");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_lost_connection_is_told_and_what_failed_is_read_again() {
    let rig = Rig::new(Home::new("page-lost"), &["research-05"]);
    let run = rig.run_of("research");
    let fail = |rig: &Rig| {
        rig.script(
            "window.real ??= window.fetch; \
             window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))",
        );
    };
    let back = |rig: &Rig| rig.script("window.fetch = window.real");
    rig.open(&format!("/runs/{run}/entries/2"));
    rig.ready();
    fail(&rig);
    rig.key("j");
    rig.wait("document.querySelector('#lost').textContent.startsWith('Connection lost')");
    rig.picture("lost");
    // What is still shown of the entry before is marked, also in another pane.
    rig.key("4");
    rig.wait("document.querySelector('.run.stale .now-line .bad')");
    back(&rig);
    rig.wait("document.querySelector('#lost').textContent === ''");
    rig.wait("document.querySelector('.now-line').textContent.startsWith('Entry 3')");
    rig.wait("!document.querySelector('.run.stale')");
    rig.wait("document.querySelector('#pane-data pre')");
    // A button that could not load says why, and can be pressed again.
    let run = replying(&rig, REPLY, &[(400, 0)]);
    rig.server.end(&run);
    rig.open(&format!("/runs/{run}"));
    rig.ready();
    rig.wait("document.querySelector('.story .more')");
    fail(&rig);
    rig.press(".story .more");
    rig.wait("document.querySelector('.story .why')?.textContent.includes('does not answer')");
    back(&rig);
    rig.press(".story .more");
    rig.wait("document.querySelector('.story pre.long') && !document.querySelector('.story .why')");
}

/// The server may answer that it is still reading: then nothing is added yet.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn more_of_a_text_waits_until_the_server_has_read_the_journal() {
    let rig = Rig::new(Home::new("page-more"), &[]);
    let run = replying(&rig, REPLY, &[(400, 0)]);
    rig.server.end(&run);
    rig.open(&format!("/runs/{run}"));
    rig.ready();
    rig.script(
        "const real = window.fetch; let left = 2; window.fetch = (url, options) => \
         (String(url).includes('/text?') && left-- > 0 \
          ? Promise.resolve(new Response('{\"read\":1,\"of\":9}', { status: 202 })) : real(url, options))",
    );
    rig.press(".story .more");
    rig.wait("document.querySelector('.story pre.long')");
    let text: Value = rig.script("return document.querySelector('.story').textContent");
    let text = text.as_str().expect("a text");
    assert!(!text.contains("undefined") && !text.contains("NaN"), "{text}");
}
