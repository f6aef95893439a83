//! Each view on runs of the five agents: what it shows, how it is stepped through, how it is found.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const KEPT: [&str; 6] =
    ["chat-05", "code-01", "explore-01", "form-01", "research-05", "builtin-draft_and_review-01"];

/// Asks axe-core for serious issues of the page as it is.
fn check_access(rig: &Rig, what: &str) {
    let npm = std::env::var_os("POINTSMAN_NPM").expect("the tier names the folder of packages");
    let axe = fs::read_to_string(Path::new(&npm).join("node_modules/axe-core/axe.min.js"));
    rig.script(&axe.expect("axe-core is installed"));
    rig.script("window.found = null; axe.run().then((it) => { window.found = it; })");
    rig.wait("window.found");
    let serious = rig.script(
        "return window.found.violations.filter((it) => ['serious', 'critical'].includes(it.impact))\
         .map((it) => `${it.id}: ${it.nodes.map((n) => n.html.slice(0, 160)).join(' ; ')}`)",
    );
    assert_eq!(serious, json!([]), "{what}");
}

/// Draws a view in both themes and at both widths, and checks each.
fn look(rig: &Rig, name: &str, ready: &str) {
    for theme in ["light", "dark"] {
        rig.script(&format!(
            "localStorage.setItem('pointsman.theme', '{theme}'); location.reload()"
        ));
        rig.wait(&format!("document.documentElement.className === '{theme}' && {ready}"));
        check_access(rig, &format!("{name}, {theme}"));
        rig.picture(&format!("{name}-{theme}"));
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn every_view_of_every_agent_opens_by_its_address_and_is_accessible() {
    let home = Home::new("page-views");
    asking(&home, "Write down that the points are set");
    let rig = Rig::new(home, &KEPT);
    rig.open("/");
    look(&rig, "runs", "document.querySelectorAll('.row').length === 7");
    for (run, agent) in rig.runs() {
        rig.open(&format!("/runs/{run}"));
        look(
            &rig,
            &agent,
            "document.querySelector('.state.now') && document.querySelector('.item')",
        );
        for pane in ["why", "budgets", "data", "prompt"] {
            rig.press(&format!("#tab-{pane}"));
            rig.wait(&format!("document.querySelector('#pane-{pane}').childElementCount > 0"));
            check_access(&rig, &format!("{agent}: {pane}"));
            rig.picture(&format!("{agent}-{pane}"));
        }
        assert!(rig.elements() <= 2_000, "{agent} has {} elements", rig.elements());
    }
    assert_eq!(
        rig.script(
            "return performance.getEntriesByType('resource')\
        .filter((it) => new URL(it.name).host !== location.host).length"
        ),
        json!(0)
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
