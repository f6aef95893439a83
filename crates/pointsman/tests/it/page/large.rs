//! A run of many entries, and many runs: only the visible part is requested, and in the document.

use std::fs;

use pointsman_runtime::store::SqliteStore;
use pointsman_testing::kept::{keep, long};
use serde_json::json;

use super::rig::Rig;
use crate::home::Home;

const ENTRIES: usize = 100_000;
const RUNS: usize = 10_000;
/// The number of runs that the list has loaded, by its heading.
const COUNT: &str =
    "parseInt(document.querySelector('.list-head .dim').textContent.replaceAll(',', ''), 10)";
/// Elements in the document, for every view.
const ELEMENTS: u64 = 2_000;

/// Writes a run of many entries into the journal of a home, and returns it.
fn long_run(home: &Home) -> String {
    let agents = pointsman_agents::all();
    let exported = long(&agents, ENTRIES);
    let path = home.path("state/pointsman/journal.db");
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("it is made");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let store = SqliteStore::open(&path).expect("the journal opens");
        keep(&store, &agents, &exported).await;
    });
    exported.run.to_string()
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_hundred_thousand_entries_stay_out_of_the_document() {
    let home = Home::new("page-long");
    let run = long_run(&home);
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{run}"));
    let detail = rig.server.json(&format!("/api/v1/runs/{run}"));
    let head = detail["steps"].as_u64().expect("a number");
    // An entry every 10 ms, and the last one resumes it.
    assert!(detail["elapsed_ms"].as_u64() > Some(head * 9), "{detail}");
    assert_eq!(detail["paused"], json!(false));
    assert!(head >= ENTRIES as u64, "{head}");
    // The server reads the journal once, and the page says how far it is.
    rig.wait(&format!(
        "document.querySelector('[data-seq=\"{head}\"]') && document.querySelector('.state.now')"
    ));
    for entry in [head, 1, head / 2, head / 2 + 700, 40_000] {
        rig.script_with(
            "const it = document.querySelector('.stepper input'); it.value = arguments[0]; \
            it.dispatchEvent(new Event('change'))",
            json!(entry.to_string()),
        );
        rig.wait(&format!("document.querySelector('.entry.selected')?.dataset.seq === '{entry}'"));
        rig.wait(&format!(
            "document.querySelector('.now-line').textContent.startsWith('Entry {}')",
            grouped(entry)
        ));
        let visible = rig.script("const [it, view] = ['.entry.selected', '.story'].map((at) => \
            document.querySelector(at).getBoundingClientRect()); return it.bottom > view.top && it.top < view.bottom");
        assert_eq!(visible, json!(true), "entry {entry} is on the screen");
        assert!(rig.elements() <= ELEMENTS, "entry {entry}: {} elements", rig.elements());
    }
    // A screen further costs a few requests of a few hundred kilobytes.
    rig.script("performance.clearResourceTimings()");
    for _ in 0..10 {
        rig.scroll(".story", "800");
        rig.wait("document.querySelector('.entry') && !document.querySelector('.block.waiting')");
        assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
    }
    let cost = rig.script(
        "const all = performance.getEntriesByType('resource'); \
        return [all.length, all.reduce((sum, it) => sum + it.transferSize, 0)]",
    );
    let (requests, bytes) =
        (cost[0].as_u64().unwrap_or(u64::MAX), cost[1].as_u64().unwrap_or(u64::MAX));
    assert!(requests <= 10 && bytes < 1 << 20, "{requests} requests, {bytes} bytes");
    rig.script_with(
        "const it = document.querySelector('.find input'); it.value = arguments[0]; \
        it.form.requestSubmit()",
        json!("pause 777"),
    );
    rig.wait("/^1 of \\d+$/.test(document.querySelector('.place').textContent)");
    assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
}

fn grouped(number: u64) -> String {
    let text = number.to_string();
    if text.len() <= 3 {
        return text;
    }
    let (head, tail) = text.split_at(text.len() - 3);
    format!("{head},{tail}")
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn ten_thousand_runs_are_scrolled_through_in_parts() {
    let home = Home::new("page-many");
    let lines: Vec<String> = (0..RUNS)
        .map(|at| json!({ "agent": "note.toml", "goal": format!("Goal {at}") }).to_string())
        .collect();
    home.write("many.jsonl", &lines.join("\n"));
    let (code, _, told) = home.pointsman(&["submit", "--file", "many.jsonl", "--delay", "30d"]);
    assert_eq!(code, 0, "{told}");
    let rig = Rig::new(home, &[]);
    rig.open("/");
    rig.wait("document.querySelector('.row')");
    assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
    let loaded = rig.script("return performance.getEntriesByType('resource')\
        .filter((it) => it.name.includes('/api/v1/runs')).reduce((sum, it) => sum + it.transferSize, 0)");
    assert!(loaded.as_u64().unwrap_or(u64::MAX) < 300_000, "{loaded} bytes for the first screen");
    let mut seen = 0;
    while seen < RUNS {
        // The count is told before the list grows: scroll until that was seen.
        rig.wait(&format!(
            "(() => {{ const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
            return {COUNT} > {seen}; }})()"
        ));
        let count = rig.script(&format!("return {COUNT}"));
        seen = usize::try_from(count.as_u64().unwrap_or(0)).unwrap_or(0);
        assert!(rig.elements() <= ELEMENTS, "{} elements after {seen} runs", rig.elements());
    }
    rig.wait(
        "(() => { const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
        return [...document.querySelectorAll('.row .goal')].some((it) => it.textContent === 'Goal 0'); })()",
    );
}
