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

/// Returns the requests since the last look at them, and their bytes.
pub(super) fn cost(rig: &Rig) -> (u64, u64) {
    let cost = rig.script(
        "const all = performance.getEntriesByType('resource'); performance.clearResourceTimings(); \
         return [all.length, all.reduce((sum, it) => sum + it.transferSize, 0)]",
    );
    (cost[0].as_u64().unwrap_or(u64::MAX), cost[1].as_u64().unwrap_or(u64::MAX))
}

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
    // The server reads the journal once, and the page says how far it is before it can draw the run.
    rig.wait(
        "/^Reading the journal: entry [\\d,]+ of 100,\\d{3}$/\
        .test(document.querySelector('.loading')?.textContent)",
    );
    assert_eq!(rig.text(".story"), "", "nothing of the run is drawn yet");
    let mut reply = rig.server.get(&format!("/api/v1/runs/{run}"));
    while reply.status == 202 {
        let progress = reply.json();
        assert!(progress["read"].as_u64() < progress["of"].as_u64(), "{progress}");
        reply = rig.server.get(&format!("/api/v1/runs/{run}"));
    }
    let detail = reply.json();
    let head = detail["steps"].as_u64().expect("a number");
    // An entry every 10 ms, and the last one resumes it.
    assert!(detail["elapsed_ms"].as_u64() > Some(head * 9), "{detail}");
    assert_eq!(detail["paused"], json!(false));
    assert!(head >= ENTRIES as u64, "{head}");
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
    let (requests, bytes) = cost(&rig);
    assert!(requests <= 10 && bytes < 1 << 20, "{requests} requests, {bytes} bytes");
    rig.script_with(
        "const it = document.querySelector('.find input'); it.value = arguments[0]; \
        it.form.requestSubmit()",
        json!("pause 777"),
    );
    rig.wait("/^1 of \\d+$/.test(document.querySelector('.place').textContent)");
    assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
    turning_points(&rig);
}

/// The filter by importance asks for what it shows, and steps for the next of it.
fn turning_points(rig: &Rig) {
    let selected = "document.querySelector('.entry.selected')?.dataset.seq";
    rig.enter(".stepper input", "50000");
    rig.wait(&format!("{selected} === '50000'"));
    for level in ["3", "2"] {
        rig.script("performance.clearResourceTimings()");
        rig.enter("[aria-label=Importance]", level);
        rig.wait(
            "document.querySelector('.story .entry') && !document.querySelector('.block.waiting')",
        );
        for _ in 0..10 {
            rig.scroll(".story", "800");
            rig.wait("!document.querySelector('.block.waiting')");
            assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
        }
        let (requests, bytes) = cost(rig);
        assert!(requests <= 20 && bytes < 1 << 20, "{level}: {requests} requests, {bytes} bytes");
        let from = rig.script(&format!("return Number({selected})"));
        rig.key("j");
        rig.wait(&format!("Number({selected}) > {from}"));
        let (requests, bytes) = cost(rig);
        assert!(requests <= 12 && bytes < 1 << 20, "{level}: {requests} requests, {bytes} bytes");
    }
}

/// The requests for more runs, without those that ask again for the newest ones: they come every two
/// seconds, however far a reader scrolls.
#[derive(Clone, Copy, Debug, Default)]
struct ListCost {
    pages: u64,
    standings: u64,
    bytes: u64,
}

impl ListCost {
    /// Returns what was requested since the last look.
    fn of(rig: &Rig) -> Self {
        let found = rig.script(
            "const all = performance.getEntriesByType('resource'); performance.clearResourceTimings(); \
             const of = (part) => all.filter((it) => it.name.includes(part)); \
             const [pages, standings] = [of('limit=100&cursor='), of('/standings')]; \
             const sum = [...pages, ...standings].reduce((sum, it) => sum + it.transferSize, 0); \
             return [pages.length, standings.length, sum]",
        );
        let number = |at: usize| found[at].as_u64().expect("it is a number");
        Self { pages: number(0), standings: number(1), bytes: number(2) }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            pages: self.pages + other.pages,
            standings: self.standings + other.standings,
            bytes: self.bytes + other.bytes,
        }
    }
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
    // A screen further costs a page of runs at most, and how the new runs stand.
    rig.script(
        "performance.clearResourceTimings(); performance.setResourceTimingBufferSize(50_000)",
    );
    let mut total = ListCost::default();
    for screen in 0..40 {
        rig.wait(
            "(() => { const it = document.querySelector('.runs'); \
            return it.scrollHeight - it.scrollTop > 2 * it.clientHeight; })()",
        );
        rig.scroll(".runs", "it.clientHeight");
        rig.wait("document.querySelector('.row')");
        let cost = ListCost::of(&rig);
        assert!(cost.pages <= 2 && cost.standings <= 6, "{screen}: {cost:?}");
        assert!(cost.bytes < 256 << 10, "{screen}: {cost:?}");
        assert!(rig.elements() <= ELEMENTS, "{} elements", rig.elements());
        total = total.and(cost);
    }
    assert!(total.pages > 0 && total.pages <= 8, "forty screens are a few hundred runs: {total:?}");
    let mut seen = 0;
    while seen < RUNS {
        // The count is told before the list grows: scroll until that was seen. A busy browser may
        // draw no frame, and then reports no scrolling.
        rig.wait(&format!(
            "(() => {{ const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
            it.dispatchEvent(new Event('scroll')); return {COUNT} > {seen}; }})()"
        ));
        let count = rig.script(&format!("return {COUNT}"));
        seen = usize::try_from(count.as_u64().unwrap_or(0)).unwrap_or(0);
        assert!(rig.elements() <= ELEMENTS, "{} elements after {seen} runs", rig.elements());
        total = total.and(ListCost::of(&rig));
    }
    // Every run was loaded once.
    assert!(total.pages <= 101, "{total:?}");
    assert!(total.standings <= 4 * total.pages && total.bytes < 12 << 20, "{total:?}");
    rig.wait(
        "(() => { const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
        return [...document.querySelectorAll('.row .goal')].some((it) => it.textContent === 'Goal 0'); })()",
    );
}
