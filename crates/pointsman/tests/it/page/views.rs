//! Each view on runs of the five agents: what it shows, how it is stepped through, how it is found.

use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const KEPT: [&str; 6] =
    ["chat-05", "code-01", "explore-01", "form-01", "research-05", "builtin-draft_and_review-01"];

const PANES: [&str; 7] = ["chart", "why", "budgets", "data", "prompt", "what-if", "result"];

/// Checks what is on the screen: nothing is wider than it, few elements, no serious issue of access.
fn check(rig: &Rig, what: &str) {
    let wide = rig.script(
        "return ['html', '.list-page', '.run-head', '.run-bar', '.tiles'].filter((name) => { \
         const it = document.querySelector(name); return it && it.scrollWidth > it.clientWidth; })",
    );
    assert_eq!(wide, json!([]), "{what}: too wide");
    assert!(rig.elements() <= 2_000, "{what} has {} elements", rig.elements());
    rig.check_access(what);
    rig.picture(what);
}

/// Draws a view and its panes in both themes, and checks each.
fn look(rig: &Rig, name: &str, ready: &str, panes: &[&str]) {
    for theme in ["light", "dark"] {
        rig.script(&format!(
            "localStorage.setItem('pointsman.theme', '{theme}'); location.reload()"
        ));
        rig.wait(&format!("document.documentElement.className === '{theme}' && {ready}"));
        check(rig, &format!("{name}-{theme}"));
        for pane in panes {
            rig.press(&format!("#tab-{pane}"));
            rig.wait(&format!(
                "document.querySelector('#pane-{pane} *') && !document.querySelector('#pane-{pane} .waiting')"
            ));
            check(rig, &format!("{name}-{pane}-{theme}"));
        }
    }
}

/// Looks at every view of every agent.
fn look_at_all(rig: &Rig, begin: &str) {
    rig.open("/");
    look(rig, &format!("{begin}runs"), "document.querySelectorAll('.row').length === 7", &[]);
    rig.open("/stats");
    look(rig, &format!("{begin}stats"), "document.querySelector('.chart .count')", &[]);
    let ready = "document.querySelector('.state.now') && document.querySelector('.item')";
    for (run, agent) in rig.runs() {
        rig.open(&format!("/runs/{run}"));
        look(rig, &format!("{begin}{agent}"), ready, &PANES);
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn every_view_of_every_agent_opens_by_its_address_and_is_accessible() {
    let home = Home::new("page-views");
    asking(&home, "Write down that the points are set");
    let rig = Rig::new(home, &KEPT);
    look_at_all(&rig, "");
    assert_eq!(
        rig.script(
            "return performance.getEntriesByType('resource')\
        .filter((it) => new URL(it.name).host !== location.host).length"
        ),
        json!(0)
    );
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn every_view_fits_the_width_of_a_phone() {
    let home = Home::new("page-phone");
    asking(&home, "Write down that the points are set");
    let rig = Rig::sized(home, &KEPT, (390, 844));
    rig.open("/");
    assert_eq!(rig.script("return innerWidth"), json!(390));
    look_at_all(&rig, "phone-");
    assert_eq!(rig.script("return [innerWidth, innerHeight]"), json!([390, 844]));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn what_if_walks_a_copy_and_writes_nothing() {
    let rig = Rig::new(Home::new("page-what-if"), &["research-05"]);
    let run = rig.run_of("research");
    let before = rig.server.get(&format!("/api/v1/runs/{run}/export")).text();
    rig.open(&format!("/runs/{run}/entries/2"));
    rig.ready();
    rig.key("6");
    rig.wait("document.querySelector('#pane-what-if .option')");
    let path = format!("/api/v1/runs/{run}/entries/2/what-if");
    let mut walked: Vec<String> = Vec::new();
    // The first outcome that leads somewhere, until the run would end or nothing is left to choose.
    for _ in 0..12 {
        let walk = rig.server.json(&format!("{path}?outcomes={}", walked.join(",")));
        let states = walk["visited"].as_array().expect("a list").len();
        rig.wait(&format!(
            "document.querySelectorAll('#pane-what-if .walk li').length === {states}"
        ));
        let shown = rig.script(
            "return [...document.querySelectorAll('#pane-what-if .walk .state-name')].map((it) => it.textContent)",
        );
        assert_eq!(shown, walk["visited"], "after {walked:?}");
        let options = walk["options"].as_array().expect("a list");
        let Some(first) = options.first().filter(|_| walk["ended"].is_null()) else { break };
        let outcome = first["outcome"].as_str().expect("a name").to_owned();
        rig.press(&format!("#pane-what-if .option[data-outcome=\"{outcome}\"]"));
        walked.push(outcome);
    }
    assert!(!walked.is_empty(), "an outcome was chosen");
    // The chart marks the walk, until another moment is shown.
    let marked = "[...document.querySelectorAll('.chart .state.walked')].map((it) => it.dataset.state).sort().join()";
    let walk = rig.server.json(&format!("{path}?outcomes={}", walked.join(",")));
    let mut visited: Vec<&str> =
        walk["visited"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    visited.sort_unstable();
    visited.dedup();
    rig.key("1");
    rig.wait("document.querySelector('.chart .state.walked')?.getBoundingClientRect().width > 0");
    assert_eq!(rig.script(&format!("return {marked}")), json!(visited.join(",")));
    rig.key("j");
    rig.wait("document.querySelector('.now-line').textContent.startsWith('Entry 3')");
    assert_eq!(rig.script(&format!("return {marked}")), json!(""));
    rig.key("k");
    rig.wait("document.querySelector('.now-line').textContent.startsWith('Entry 2')");
    rig.key("6");
    rig.wait(&format!(
        "document.querySelectorAll('#pane-what-if .walk li').length === {}",
        walked.len() + 1
    ));
    rig.script(
        "[...document.querySelectorAll('#pane-what-if button')].find((it) => it.textContent === 'Start again').click()",
    );
    rig.wait("document.querySelectorAll('#pane-what-if .walk li').length === 1");
    assert_eq!(rig.server.get(&format!("/api/v1/runs/{run}/export")).text(), before);
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn statistics_show_the_figures_of_the_server() {
    let rig = Rig::new(Home::new("page-stats"), &KEPT);
    let stats = rig.server.json("/api/v1/stats");
    rig.open("/stats?chart=research");
    rig.wait("document.querySelector('.chart .count')");
    assert_eq!(rig.text(".tile .figure"), stats["runs"].to_string());
    let edges = stats["edges"].as_array().expect("a list").iter();
    let of_chart: Vec<&Value> = edges.filter(|it| it["chart"] == "research").collect();
    let rows =
        "[...document.querySelectorAll('.stats-body table')].at(1).querySelectorAll('tbody tr')";
    let counts = rig
        .script(&format!("return [...{rows}].map((row) => Number(row.children[3].textContent))"));
    let expected: Vec<&Value> = of_chart.iter().map(|it| &it["count"]).collect();
    assert_eq!(counts, json!(expected));
    // Frequent arrows are wider.
    let widths = rig.script(
        "return [...document.querySelectorAll('.chart .line.taken .way')].map((it) => parseFloat(it.style.strokeWidth))",
    );
    assert!(
        widths.as_array().is_some_and(|all| all.iter().any(|it| it.as_f64() > Some(2.0))),
        "{widths}"
    );
    rig.script(
        "const it = document.querySelector('.row-head select'); it.value = 'form'; it.dispatchEvent(new Event('change'))",
    );
    rig.wait(
        "location.search === '?chart=form' && document.querySelector('.chart .state[data-state]')",
    );
}

/// Returns the moment that the page shows, and what the API says of the same entry.
fn compare(rig: &Rig, run: &str, entry: u64) {
    rig.wait(&format!("document.querySelector('.entry.selected')?.dataset.seq === '{entry}'"));
    let moment = rig.server.json(&format!("/api/v1/runs/{run}/entries/{entry}"));
    let state = moment["view"]["state"].as_str().expect("a state").to_owned();
    rig.wait(&format!("document.querySelector('.state.now')?.dataset.state === '{state}'"));
    rig.wait(&format!("document.querySelector('.now-line').textContent.includes('Entry {entry}')"));
    let counted = rig.script(
        "return [...document.querySelectorAll('.count text')]\
         .reduce((sum, it) => sum + parseInt(it.textContent, 10), 0)",
    );
    let taken = moment["taken"].as_array().expect("a list").iter();
    let by_outcome = taken.filter(|hop| hop["outcome"].is_string() && hop["from"].is_string());
    let expected: u64 = by_outcome.map(|hop| hop["count"].as_u64().unwrap_or(0)).sum();
    assert_eq!(counted, json!(expected), "entry {entry}");
    assert_eq!(
        rig.script("return location.pathname"),
        json!(format!("/runs/{run}/entries/{entry}"))
    );
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn stepping_shows_each_moment_with_its_chart_data_and_budgets() {
    let rig = Rig::new(Home::new("page-steps"), &["research-05", "code-01"]);
    let run = rig.run_of("research");
    rig.open(&format!("/runs/{run}/entries/1"));
    rig.ready();
    let head = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64().expect("a number");
    for entry in 1..=head {
        compare(&rig, &run, entry);
        rig.key("j");
    }
    for entry in [head - 1, head - 2] {
        rig.key("ArrowLeft");
        compare(&rig, &run, entry);
    }
    rig.key("Home");
    compare(&rig, &run, 1);
    rig.key("4");
    rig.wait("document.querySelector('#pane-data pre')");
    let data = |rig: &Rig| rig.text("#pane-data pre");
    let (first, moment) = (data(&rig), rig.server.json(&format!("/api/v1/runs/{run}/entries/1")));
    assert_eq!(first, moment["data"]["text"].as_str().expect("a text"));
    rig.key("End");
    compare(&rig, &run, head);
    rig.wait(&format!(
        "[...document.querySelectorAll('#pane-data h3')].at(-1)?.textContent.endsWith(' {head}')"
    ));
    assert_ne!(data(&rig), first, "the data of another moment");
    rig.key("2");
    rig.wait("document.querySelector('#pane-why .hop')");
    rig.key("3");
    rig.wait("document.querySelector('#pane-budgets [role=meter]')");
    // A model's prompt is that of the entry which asked it.
    let run = rig.run_of("code");
    rig.open(&format!("/runs/{run}/entries/2"));
    rig.ready();
    rig.key("5");
    rig.wait("document.querySelector('#pane-prompt .message')");
    assert!(rig.text("#pane-prompt").contains("red"), "{}", rig.text("#pane-prompt"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn find_counts_all_hits_and_filters_list_the_right_runs() {
    let rig = Rig::new(Home::new("page-find"), &KEPT);
    let run = rig.run_of("explore");
    let hits = rig.server.json(&format!("/api/v1/runs/{run}/find?text=answered"));
    let count = hits["hits"].as_array().expect("a list").len();
    rig.open(&format!("/runs/{run}"));
    rig.ready();
    let search = |rig: &Rig, text: &str| {
        let body = "const it = document.querySelector('.find input'); it.value = arguments[0]; \
                    it.form.requestSubmit()";
        rig.script_with(body, json!(text));
    };
    let text = if count > 1 { "answered" } else { "a" };
    let hits = rig.server.json(&format!("/api/v1/runs/{run}/find?text={text}"));
    let hits: Vec<Value> = hits["hits"].as_array().expect("a list").clone();
    assert!(hits.len() > 1, "{hits:?}");
    search(&rig, text);
    rig.wait(&format!("document.querySelector('.place').textContent === '1 of {}'", hits.len()));
    rig.script("document.activeElement.blur()");
    rig.key("n");
    rig.wait(&format!("document.querySelector('.place').textContent === '2 of {}'", hits.len()));
    rig.wait(&format!(
        "document.querySelector('.entry.selected')?.dataset.seq === '{}'",
        hits[1][0]
    ));
    rig.key("N");
    rig.key("N");
    let last = hits.len();
    rig.wait(&format!("document.querySelector('.place').textContent === '{last} of {last}'"));
    search(&rig, "nothing has this");
    rig.wait("document.querySelector('.place').textContent === 'not found'");
    // Importance: turning points are fewer items, and everything is all of them.
    let items = "document.querySelectorAll('.item.is-started').length";
    rig.wait(&format!("{items} > 0"));
    rig.script(
        "const it = document.querySelector('.run-bar select'); it.value = '3'; \
                it.dispatchEvent(new Event('change'))",
    );
    rig.wait(&format!("{items} === 0"));
    for query in [
        "?agent=explore",
        "?status=ended",
        "?status=open",
        "?chart=form&status=ended",
        "?agent=none",
    ] {
        let listed = rig.server.json(&format!("/api/v1/runs{query}"));
        let count = listed["runs"].as_array().map_or(0, Vec::len);
        rig.open(&format!("/{query}"));
        rig.wait(&format!(
            "document.querySelectorAll('.row').length === {count} && \
            (document.querySelector('.row') || document.querySelector('.nothing'))"
        ));
    }
}
