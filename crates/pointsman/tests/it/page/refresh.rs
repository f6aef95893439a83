//! A run that changes while requests are slow, fail or are refused.

use serde_json::json;

use super::rig::Rig;
use crate::home::Home;

const PILL: &str = "document.querySelector('.facts-line .pill')?.textContent";

/// Starts a run that waits for a person, and opens it.
fn waiting(rig: &Rig) -> String {
    let run = rig.server.asking("Hello");
    rig.open(&format!("/runs/{run}"));
    rig.wait("document.querySelector('.question')");
    run
}

/// Denies the question of a run, which ends it.
fn deny(rig: &Rig, run: &str) {
    assert_eq!(rig.server.act(run, "deny", &json!({})).status / 100, 2);
    assert_eq!(rig.server.end(run)["disposition"], "denied");
}

/// Events come faster than the run can be read again.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn slow_answers_are_shown_while_events_keep_coming() {
    let rig = Rig::new(Home::new("page-starves"), &[]);
    waiting(&rig);
    rig.intercept(
        "if (at.pathname.endsWith('/events')) { const text = new TextEncoder(); let seq = 1000; \
           return new Response(new ReadableStream({ start(it) { setInterval(() => it.enqueue(text.encode( \
             `event: item\\ndata: {\"seq\":${seq += 1},\"kind\":\"started\"}\\n\\n`)), 40); } })); } \
         const found = await real(url, options); \
         if (!/runs\\/[^/]+$/.test(at.pathname)) return found; \
         await new Promise((go) => setTimeout(go, 400)); \
         return answer({ ...await found.json(), questions: [], paused: true });",
    );
    // The events are followed anew, from there.
    rig.turn("hidden");
    rig.turn("visible");
    rig.wait(&format!("{PILL} === 'paused'"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn the_end_of_a_run_is_shown_once_the_server_answers_again() {
    let rig = Rig::new(Home::new("page-final"), &[]);
    let run = waiting(&rig);
    rig.intercept(
        "if (/runs\\/[^/]+$/.test(at.pathname) && !window.back) { \
           window.failed = (window.failed ?? 0) + 1; return answer({ detail: 'busy' }, 503); } \
         const found = await real(url, options); \
         if (found.status === 204) window.ended = true; \
         return found;",
    );
    deny(&rig, &run);
    // No further event comes.
    rig.wait("window.ended && window.failed > 0");
    rig.script("window.back = true");
    rig.wait(&format!("{PILL} === 'denied'"));
    rig.wait("document.querySelector('.is-ended')");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_token_that_no_longer_counts_is_said() {
    let rig = Rig::new(Home::new("page-expired"), &[]);
    waiting(&rig);
    rig.intercept("return answer({ detail: 'no token' }, 401);");
    rig.turn("hidden");
    rig.turn("visible");
    rig.wait("document.querySelector('.failure h2')?.textContent === 'This server needs a token'");
}

/// The last part of the story grows with the run.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn entries_stay_on_the_screen_while_new_ones_cannot_be_read() {
    let rig = Rig::new(Home::new("page-keeps"), &[]);
    let run = waiting(&rig);
    rig.intercept(
        "if (!at.pathname.endsWith('/story') || window.back) return real(url, options); \
         window.failed = (window.failed ?? 0) + 1; return answer({ detail: 'busy' }, 503);",
    );
    let shown = rig.script("return document.querySelectorAll('.story .entry').length");
    deny(&rig, &run);
    rig.wait("window.failed > 1");
    rig.settle();
    let now = rig.script("return document.querySelectorAll('.story .entry').length");
    assert_eq!(now, shown, "what was read stays");
    assert!(rig.text(".story .failure").contains("busy"), "{}", rig.text(".story"));
    rig.script("window.back = true");
    rig.wait("document.querySelector('.is-ended') && !document.querySelector('.story .failure')");
}

/// A story of so many entries, without a server.
const STORY: &str = "if (!at.pathname.endsWith('/story')) return real(url, options); \
    const from = Number(at.searchParams.get('from')); \
    const item = (seq) => ({ seq, index: 0, at: 0, kind: 'given', tone: 'plain', level: 3, text: `entry ${seq}`, \
      effect: null, by: null, to: null, evidence: [], tokens: 0, money: 0, parts: [], files: [] }); \
    return answer({ run: 'x', head: 2000, next: from + 64, items: Array.from({ length: 64 }, (_, it) => item(from + it)) });";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_part_of_the_story_that_is_on_the_screen_is_kept() {
    let rig = Rig::new(Home::new("page-visible"), &[]);
    rig.open("/");
    rig.wait("document.querySelector('.nothing')");
    rig.intercept(STORY);
    rig.script(
        "return import('/page/reading.js').then(({ Reading }) => { \
         const it = new Reading('x', { hits: () => new Set(), progress: () => {} }); \
         it.element.style.height = '500px'; it.element.style.overflow = 'auto'; \
         document.body.append(it.element); it.grow(2000); window.reading = it; })",
    );
    rig.wait("document.querySelector('.story .entry')");
    rig.script(
        "return Promise.all(Array.from({ length: 20 }, (_, at) => window.reading.load(at + 5)))",
    );
    // Drawn again, it needs no request.
    let drawn = rig.script(
        "const it = window.reading; for (const index of it.list.drawn.keys()) it.list.refresh(index); \
         return [document.querySelector('.story .entry')?.dataset.seq ?? null, \
         document.querySelectorAll('.story .waiting').length, \
         [...it.pages.values()].filter((page) => page.items).length <= 14]",
    );
    assert_eq!(drawn, json!(["1", 0, true]));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn changes_are_listed_once_however_often_the_reader_steps() {
    let rig = Rig::new(Home::new("page-once"), &["chat-09"]);
    let run = rig.run_of("chat");
    let all = rig.server.json(&format!("/api/v1/runs/{run}/edits"));
    let all = all["edits"].as_array().expect("a list").len();
    assert!(all > 0, "it changes files");
    rig.open(&format!("/runs/{run}"));
    rig.ready();
    rig.intercept(
        "const found = await real(url, options); \
         if (at.pathname.endsWith('/edits')) await new Promise((go) => setTimeout(go, 3000)); \
         return found;",
    );
    rig.key("7");
    rig.wait("window.asked.some((it) => it.includes('/edits'))");
    for _ in 0..2 {
        rig.key("k");
        rig.settle();
    }
    rig.wait("document.querySelector('#pane-result .edit')");
    rig.wait("performance.now() > (window.since ??= performance.now()) + 4000");
    let listed = rig.script("return document.querySelectorAll('#pane-result .edit').length");
    assert_eq!(listed, json!(all));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn rows_that_were_turned_to_are_those_of_the_selected_moment() {
    let rig = Rig::new(Home::new("page-rows"), &["research-05"]);
    let run = rig.run_of("research");
    rig.open(&format!("/runs/{run}/entries/3"));
    rig.ready();
    rig.intercept(
        "if (!at.pathname.endsWith('/tables')) return real(url, options); \
         const [entry, from] = [at.pathname.split('/').at(-2), Number(at.searchParams.get('from') ?? 0)]; \
         const row = (_, it) => ({ cells: [`entry ${entry} row ${from + it}`], mark: 'plain', files: [] }); \
         return answer({ seq: Number(entry), map: false, tables: [{ table: 0, title: 'Rows', columns: ['row'], \
           from, count: 120, rows: Array.from({ length: Math.min(50, 120 - from) }, row) }] });",
    );
    let first = "document.querySelector('[data-table=Rows] tbody th')?.textContent";
    rig.key("7");
    rig.wait(&format!("{first} === 'entry 3 row 0'"));
    rig.press("[aria-label='Next rows']");
    rig.wait(&format!("{first} === 'entry 3 row 50'"));
    rig.key("k");
    rig.wait(&format!("{first} === 'entry 2 row 50'"));
    rig.press("[aria-label='Rows before']");
    rig.wait(&format!("{first} === 'entry 2 row 0'"));
}
