//! Steps to the next entry that the filter by importance shows, however far away it is.

use serde_json::{Value, json};

use super::{keyboard::conversation, rig::Rig};
use crate::home::Home;

/// Returns the levels of a run's entries: the highest of their items.
fn levels(rig: &Rig, run: &str) -> Vec<u64> {
    let story = rig.server.json(&format!("/api/v1/runs/{run}/story?limit=512"));
    let items: Vec<Value> = story["items"].as_array().expect("a list").clone();
    let head = story["head"].as_u64().expect("a number");
    let level = |entry: u64| {
        let own = items.iter().filter(|it| it["seq"] == json!(entry));
        own.filter_map(|it| it["level"].as_u64()).max().unwrap_or(0)
    };
    (1..=head).map(level).collect()
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn the_server_finds_the_next_entry_of_a_level() {
    let rig = Rig::new(Home::new("page-next"), &["chat-07"]);
    let run = rig.run_of("chat");
    let levels = levels(&rig, &run);
    let head = levels.len() as u64;
    for level in 1..=3 {
        let fits = |entry: &u64| levels[usize::try_from(*entry).expect("it is small") - 1] >= level;
        for from in 1..=head {
            let path = format!("/api/v1/runs/{run}/next?from={from}&level={level}");
            let found = rig.server.json(&path);
            assert_eq!(found["entry"], json!((from..=head).find(fits)), "{path}: {found}");
            let found = rig.server.json(&format!("{path}&back=true"));
            assert_eq!(found["entry"], json!((1..=from).rev().find(fits)), "{path} back: {found}");
        }
    }
    let beyond = rig.server.json(&format!("/api/v1/runs/{run}/next?from={}", head + 9));
    assert_eq!(beyond, json!({ "entry": null, "next": head + 9, "head": head }));
}

/// A story that is long, and has no turning point.
const PLAIN: &str = "if (at.pathname.endsWith('/next')) { \
      if (window.hangs) return new Promise((_, fail) => options.signal.addEventListener('abort', () => { \
        window.stopped = true; fail(new DOMException('stopped', 'AbortError')); })); \
      const from = Number(at.searchParams.get('from')); \
      return answer({ entry: null, next: at.searchParams.has('back') ? Math.max(0, from - 4096) : from + 4096, head: 100000 }); } \
    const found = await real(url, options); \
    if (!at.pathname.endsWith('/story') || found.status !== 200) return found; \
    const page = await found.json(); \
    for (const item of page.items) item.level = 1; \
    return answer(page);";

/// The server searches thousands of entries at once, and the next selection stops the search.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_turning_point_that_is_far_away_takes_few_requests() {
    let home = Home::new("page-far");
    let run = conversation(&home, 3_000);
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{run}/entries/1"));
    rig.ready();
    rig.intercept(PLAIN);
    let selected = "document.querySelector('.entry.selected')?.dataset.seq";
    rig.enter(".stepper input", "2001");
    rig.wait(&format!("{selected} === '2001'"));
    rig.enter("[aria-label=Importance]", "3");
    rig.settle();
    rig.script("window.hangs = true");
    rig.key("j");
    rig.wait("window.asked.some((it) => it.includes('/next?'))");
    rig.enter(".stepper input", "1900");
    rig.wait("window.stopped");
    rig.wait(&format!("{selected} === '1900'"));
    // There is none: the page says so.
    rig.script("window.hangs = false; window.asked = []");
    rig.key("k");
    rig.wait(
        "document.querySelector('.toast')?.textContent.startsWith('No entry before this one')",
    );
    let asked = rig.script(
        "return ['/next?', '/story?'].map((of) => window.asked.filter((it) => it.includes(of)).length)",
    );
    assert_eq!(asked[0], json!(1));
    assert!(asked[1].as_u64() < Some(30), "{asked}");
    // The story may still be drawing the part that has it.
    rig.wait(&format!("{selected} === '1900'"));
    assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
}
