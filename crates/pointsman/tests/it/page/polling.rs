//! The list while it is read again and again: slow and late answers, parts without a match, other filters.

use serde_json::json;

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const NAMES: &str =
    "[...document.querySelectorAll('.row .goal')].map((it) => it.textContent).join(',')";

/// Queues so many runs for later.
fn later(home: &Home, count: usize) {
    let line =
        |at: usize| json!({ "agent": "note.toml", "goal": format!("Goal {at}") }).to_string();
    home.write("many.jsonl", &(0..count).map(line).collect::<Vec<_>>().join("\n"));
    let (code, _, told) = home.pointsman(&["submit", "--file", "many.jsonl", "--delay", "30d"]);
    assert_eq!(code, 0, "{told}");
}

/// The server looks up what runs wait for a part at a time.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_search_goes_on_after_a_part_without_a_match() {
    let home = Home::new("page-search");
    asking(&home, "Ask me");
    home.research("What does a red signal mean?");
    let rig = Rig::idle(home, &[]);
    rig.open("/");
    rig.wait("document.querySelectorAll('.row').length === 2");
    // Three parts without a match come first, all of them newer than the run.
    let parts = "if (!at.pathname.endsWith('/runs') || !at.searchParams.has('waiting')) return real(url, options); \
         const made = Number((at.searchParams.get('cursor') ?? '9000000000003').split('.')[0]); \
         if (made > 9e12) return answer({ runs: [], next: `${made - 1}.x`, damaged: [] }); \
         at.searchParams.delete('cursor'); return real(at, options);";
    rig.intercept(parts);
    rig.enter("[name=waiting]", "person");
    rig.wait(&format!("{NAMES} === 'Ask me'"));
    // The next look at the newest runs finds none, and changes nothing.
    rig.wait(
        "window.asked.filter((it) => it.includes('/runs?') && !it.includes('cursor')).length > 2",
    );
    rig.settle();
    assert_eq!(rig.script(&format!("return {NAMES}")), json!("Ask me"));
    assert_eq!(rig.text(".list-head .dim"), "1 run");
    // A part that has come past the run without it says that it waits no longer.
    rig.intercept(
        "if (!at.pathname.endsWith('/runs') || !at.searchParams.has('waiting')) return real(url, options); \
         return answer({ runs: [], next: at.searchParams.has('cursor') ? null : '1.x', damaged: [] });",
    );
    rig.wait("document.querySelectorAll('.row').length === 0");
    // The search was complete. It begins again, and finds the run in a later part.
    rig.intercept(parts);
    rig.wait(&format!("{NAMES} === 'Ask me'"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_late_part_of_the_list_repeats_no_run() {
    let home = Home::new("page-late");
    later(&home, 300);
    let rig = Rig::new(home, &[]);
    rig.open("/");
    rig.wait("document.querySelector('.row')");
    // A look at the runs on the screen overtakes the request for more of them.
    rig.intercept(
        "const found = await real(url, options); \
         if (at.search.includes('limit=100&cursor')) await new Promise((go) => setTimeout(go, 5000)); \
         return found;",
    );
    rig.script(
        "const count = document.querySelector('.list-head .dim'); window.counts = []; \
         new MutationObserver(() => window.counts.push(count.textContent)).observe(count, { childList: true })",
    );
    rig.wait(
        "(() => { const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
         return /^300 runs$|^3[1-9]\\d runs/.test(document.querySelector('.list-head .dim').textContent); })()",
    );
    rig.settle();
    assert_eq!(rig.text(".list-head .dim"), "300 runs");
    let beyond = rig.script("return window.counts.filter((it) => parseInt(it, 10) > 300)");
    assert_eq!(beyond, json!([]), "a run was in the list twice");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_filter_starts_at_the_beginning_and_slow_answers_are_waited_for() {
    let home = Home::new("page-begin");
    later(&home, 230);
    let rig = Rig::new(home, &[]);
    rig.open("/");
    rig.wait("document.querySelector('.row')");
    rig.intercept(
        "if (!at.pathname.endsWith('/runs')) return real(url, options); \
         const [text, cursor] = ['text', 'cursor'].map((it) => at.searchParams.has(it)); \
         if (text && cursor && window.waits) window.early = true; \
         const first = text && !cursor && window.waits === undefined; if (first) window.waits = true; \
         window.busy = (window.busy ?? 0) + 1; window.most = Math.max(window.most ?? 0, window.busy); \
         const found = await real(url, options); \
         await new Promise((go) => setTimeout(go, 5000)); \
         window.busy -= 1; if (first) window.waits = false; return found;",
    );
    // Three answers that each take longer than the pause between two of them.
    rig.wait("window.asked.filter((it) => it.includes('/runs?')).length > 2");
    assert_eq!(rig.script("return window.most"), json!(1), "one request after the other");
    // While the answer to a filter is on its way, the end of the former list asks for nothing.
    rig.enter("[name=text]", "Goal 1");
    for count in ["100 runs or more", "111 runs"] {
        rig.wait(&format!(
            "(() => {{ const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
             return document.querySelector('.list-head .dim').textContent === '{count}'; }})()"
        ));
    }
    assert_eq!(rig.script("return window.early ?? false"), json!(false));
}

/// On a busy machine a browser may draw nothing for minutes, and then it tells of no scrolling.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_list_is_read_to_its_end_though_no_frame_is_drawn() {
    let home = Home::new("page-frames");
    later(&home, 300);
    let rig = Rig::new(home, &[]);
    rig.open("/");
    rig.wait("document.querySelector('.row')");
    rig.script(
        "window.requestAnimationFrame = () => 0; \
         addEventListener('scroll', (event) => event.stopImmediatePropagation(), true)",
    );
    rig.wait(
        "(() => { const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
         return [...document.querySelectorAll('.row .goal')].some((it) => it.textContent === 'Goal 0'); })()",
    );
    assert_eq!(rig.text(".list-head .dim"), "300 runs");
}

/// A worker that takes a run writes no entry.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_run_that_changes_hands_is_described_anew() {
    let home = Home::new("page-hands");
    asking(&home, "Ask me");
    let rig = Rig::idle(home, &[]);
    rig.open("/");
    rig.wait("document.querySelector('.row .pill')?.textContent === 'waiting for you'");
    rig.intercept(
        "const found = await real(url, options); \
         if (at.pathname.endsWith('/standings')) { const all = await found.json(); \
           return answer(all.map((it) => ({ ...it, standing: 'runs elsewhere' }))); } \
         if (!at.pathname.endsWith('/runs')) return found; \
         const page = await found.json(); \
         return answer({ ...page, runs: page.runs.map((it) => ({ ...it, owner: 'another machine' })) });",
    );
    rig.wait("document.querySelector('.row .pill').textContent === 'runs elsewhere'");
}
