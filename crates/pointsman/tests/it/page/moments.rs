//! What the page shows of one moment, compared with what the server says of it.

use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is a list: {value}"))
}

fn head(rig: &Rig, run: &str) -> u64 {
    rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64().expect("a number")
}

/// Opens a pane at an entry, and returns the moment.
fn open(rig: &Rig, run: &str, entry: u64, pane: &str) -> Value {
    rig.open(&format!("/runs/{run}/entries/{entry}#{pane}"));
    rig.ready();
    rig.wait(&format!("document.querySelector('#pane-{pane}').childElementCount > 0"));
    rig.server.json(&format!("/api/v1/runs/{run}/entries/{entry}"))
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn each_arrow_has_its_own_count() {
    let rig = Rig::new(Home::new("page-arrows"), &["chat-07", "research-05", "code-01"]);
    for (run, agent) in rig.runs() {
        let moment = open(&rig, &run, head(&rig, &run), "chart");
        let shown = rig.script(
            "return [...document.querySelectorAll('.chart .count')].map((it) => \
             [it.dataset.from, it.dataset.outcomes, it.textContent])",
        );
        let shown = shown.as_array().expect("a list");
        assert!(!shown.is_empty(), "{agent}");
        for arrow in shown {
            let (from, outcomes) = (&arrow[0], arrow[1].as_str().expect("names"));
            let is_it = |it: &&Value| {
                let outcome = it["outcome"].as_str().unwrap_or_default();
                it["from"] == *from && outcomes.split(' ').any(|name| name == outcome)
            };
            let taken = list(&moment, "taken").iter().filter(is_it);
            let count: u64 = taken.filter_map(|it| it["count"].as_u64()).sum();
            assert!(count > 0, "{agent}: {arrow}");
            assert_eq!(arrow[2], json!(format!("{count}×")), "{agent}: {arrow}");
        }
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn budgets_are_those_of_the_server() {
    let rig = Rig::new(Home::new("page-budgets"), &["chat-07", "research-05", "code-01"]);
    let runs = rig.runs();
    let entries = runs.iter().flat_map(|(run, agent)| {
        (1..=head(&rig, run))
            .map(move |entry| (run.clone(), format!("{agent}, entry {entry}"), entry))
    });
    for (run, agent, entry) in entries.collect::<Vec<_>>() {
        let moment = open(&rig, &run, entry, "budgets");
        let mut expected: Vec<Value> = Vec::new();
        for budget in list(&moment["view"], "budgets") {
            let number = |name: &str| budget[name].as_i64().expect("a number");
            let name = budget["name"].as_str().expect("a name").replace('_', " ");
            expected.push(json!([name, (number("max") - number("left")).max(0), number("max")]));
        }
        for bound in list(&moment, "bounds") {
            let name = bound["name"].as_str().expect("a name").replace('_', " ");
            let name = if name == "steps" { "visits" } else { name.as_str() };
            expected.push(json!([name, bound["used"], bound["max"]]));
        }
        assert!(!expected.is_empty(), "{agent}");
        let meters = rig.script(
            "return [...document.querySelectorAll('#pane-budgets [role=meter]')].map((it) => \
             [it.ariaLabel, Number(it.ariaValueNow), Number(it.ariaValueMax)])",
        );
        assert_eq!(meters, json!(expected), "{agent}");
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn why_names_every_transition_and_what_was_not_taken() {
    let rig = Rig::new(Home::new("page-why"), &["research-05"]);
    let run = rig.run_of("research");
    let mut transitions = 0;
    for entry in 1..=head(&rig, &run) {
        let moment = open(&rig, &run, entry, "why");
        let why = &moment["why"];
        assert_eq!(json!(rig.text("#pane-why .lead code")), why["event"]);
        let hops = list(why, "hops").iter().map(|hop| {
            let began = hop["because"] == "began";
            let from = if began { "start" } else { hop["from"].as_str().expect("a state") };
            let because = hop["because"].as_str().expect("a reason");
            let others = list(hop, "not_taken").iter().map(|it| {
                let text = |at: usize| it[at].as_str().expect("a name").to_owned();
                format!("{} → {}", text(0), text(1))
            });
            let to = hop["to"].as_str().unwrap_or("the end");
            json!([format!("{from} {because} → {to}"), others.collect::<Vec<_>>()])
        });
        let hops: Vec<Value> = hops.collect();
        transitions += hops.len();
        let shown = rig.script(
            "return [...document.querySelectorAll('#pane-why .hop:not(.warning)')].map((it) => \
             [it.querySelector('.taken').textContent, [...it.querySelectorAll('li')].map((one) => one.textContent)])",
        );
        assert_eq!(shown, json!(hops), "entry {entry}");
        let left = rig.script(
            "return [...document.querySelectorAll('#pane-why tbody th')].map((it) => it.textContent)",
        );
        let budgets = list(why, "budgets").iter();
        let budgets = budgets.map(|it| it["name"].as_str().expect("a name").replace('_', " "));
        assert_eq!(left, json!(budgets.collect::<Vec<_>>()), "entry {entry}");
    }
    assert!(transitions > 2, "{transitions} transitions");
}

const CHANGES: &str = "[...document.querySelectorAll('#pane-data .changes')].map((list) => \
    [...list.children].map((it) => [it.querySelector('code').textContent, \
    it.querySelector('del')?.textContent ?? null, it.querySelector('ins')?.textContent ?? null]))";

/// Returns changes as the page shows them.
fn shown(changes: &Value) -> Value {
    let text = |value: &Value| match value.as_str() {
        Some("") => json!("\"\""),
        text => json!(text),
    };
    let one = |it: &Value| {
        let path = it["path"].as_str().filter(|path| !path.is_empty()).unwrap_or("/");
        json!([path, text(&it["before"]), text(&it["after"])])
    };
    json!(list(changes, "changes").iter().map(one).collect::<Vec<_>>())
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn data_is_compared_with_the_step_before_and_with_the_original_of_a_fork() {
    let rig = Rig::new(Home::new("page-differences"), &["research-05"]);
    let run = rig.run_of("research");
    let mut changed = 0;
    for entry in 1..=head(&rig, &run) {
        let told = rig.server.json(&format!("/api/v1/runs/{run}/entries/{entry}/changes"));
        open(&rig, &run, entry, "data");
        if list(&told, "changes").is_empty() {
            rig.wait("document.querySelector('#pane-data').textContent.includes('Nothing changed in this step.')");
        } else {
            changed += 1;
            rig.wait("document.querySelector('#pane-data .changes')");
            assert_eq!(rig.script(&format!("return {CHANGES}[0]")), shown(&told), "entry {entry}");
        }
    }
    assert!(changed > 0, "a step changes data");
    // The same goal with another answer: the fork goes its own way after the question.
    let original = asking(&rig.home, "Compare");
    let asked = head(&rig, &original);
    let fork = rig.server.act(&original, "fork", &json!({ "at": asked })).json();
    let fork = fork["run"].as_str().expect("the answer names the fork").to_owned();
    for (run, action, end) in [(&original, "approve", "succeeded"), (&fork, "deny", "denied")] {
        rig.server.act(run, action, &json!({}));
        rig.server.act(run, "resume", &json!({}));
        assert_eq!(rig.server.end(run)["disposition"], end);
    }
    let last = head(&rig, &fork);
    let with = last.min(head(&rig, &original));
    let path = format!("/api/v1/runs/{fork}/entries/{last}/changes?run={original}&with={with}");
    let told = rig.server.json(&path);
    // Also where the page learns late how long the original is.
    rig.open(&format!("/runs/{fork}/entries/{last}#data"));
    rig.wait("document.querySelector('#pane-data')?.textContent.includes('Compared with the run that it was forked from')");
    if list(&told, "changes").is_empty() {
        rig.wait("document.querySelector('#pane-data').textContent.includes('Both runs have the same data here.')");
    } else {
        rig.wait(&format!("JSON.stringify({CHANGES}.at(-1)) === JSON.stringify({})", shown(&told)));
    }
    assert!(!rig.text("#pane-data").contains("has no entry"), "{}", rig.text("#pane-data"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn the_timeline_zooms_and_selects() {
    let rig = Rig::new(Home::new("page-zoom"), &["chat-07"]);
    let run = rig.run_of("chat");
    let head = head(&rig, &run);
    rig.open(&format!("/runs/{run}/entries/{}", head / 2));
    rig.ready();
    let said = "document.querySelector('.lanes').ariaLabel";
    let whole = format!("States and calls of {head} entries, entry {} selected", head / 2);
    rig.wait(&format!("{said} === {}", json!(whole)));
    rig.press("[aria-label='Zoom in']");
    let near = head.div_ceil(2);
    rig.wait(&format!("{said}.startsWith('States and calls of {near} entries')"));
    let asked = "performance.getEntriesByType('resource').map((it) => new URL(it.name))\
        .filter((it) => it.pathname.endsWith('/lanes')).map((it) => it.searchParams)";
    rig.wait(&format!(
        "{asked}.some((it) => Number(it.get('to')) - Number(it.get('from')) + 1 === {near})"
    ));
    rig.wait(&format!("{said} && {said} !== {}", json!(whole)));
    rig.press("[aria-label='Zoom out']");
    rig.wait(&format!("{said} === {}", json!(whole)));
    // A press selects the entry of that place.
    rig.script(
        "const it = document.querySelector('.lanes'); const box = it.getBoundingClientRect(); \
         it.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.left + 1, clientY: box.top + 9 }))",
    );
    rig.wait("document.querySelector('.entry.selected')?.dataset.seq === '1'");
    // Its colours are those of the theme.
    let pixel = "return [...document.querySelector('.lanes').getContext('2d')\
                 .getImageData(3, 6, 1, 1).data].join()";
    let before = rig.script(pixel);
    let theme = "return document.documentElement.className";
    let mut themes = Vec::new();
    for _ in 0..3 {
        rig.press("#theme");
        themes.push((rig.script(theme), rig.script(pixel)));
    }
    assert!(themes.iter().any(|(_, it)| *it != before), "{before}: {themes:?}");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn the_story_shows_the_change_of_a_call_line_by_line() {
    let home = Home::new("page-change");
    let run = asking(&home, "new words");
    assert_eq!(home.pointsman(&["approve", &run]).0, 0);
    home.pointsman(&["resume", &run]);
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{run}"));
    rig.wait("document.querySelector('.story .is-started .text.diff .added')");
    let added = rig.script(
        "return [...document.querySelectorAll('.story .is-started .text.diff .added')].map((it) => it.textContent).join('')",
    );
    assert!(added.as_str().is_some_and(|it| it.contains("new words, plain")), "{added}");
}

/// A model that repeats itself, until the governor says so.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_verdict_links_to_its_evidence() {
    let home = Home::new("page-verdict");
    let turn = "[[turn]]\ncalls = [{ tool = 'read', arguments = { path = 'docs/points.md' } }]\n";
    home.write("script.toml", &turn.repeat(40));
    home.write("plan.md", "1. Read it\n");
    let arguments =
        ["run", "code", "Read", "--model", "script:script.toml", "--plan", "plan.md", "--json"];
    let (_, out, told) = home.pointsman(&arguments);
    let last: Value = serde_json::from_str(out.lines().last().unwrap_or_else(|| panic!("{told}")))
        .expect("it is JSON");
    let run = last["run"].as_str().expect("it names the run");
    let rig = Rig::new(home, &[]);
    let story = rig.server.json(&format!("/api/v1/runs/{run}/story?limit=512"));
    let verdict = list(&story, "items").iter().find(|it| !list(it, "evidence").is_empty());
    let verdict = verdict.unwrap_or_else(|| panic!("the governor has evidence: {story}"));
    let evidence: Vec<String> = list(verdict, "evidence").iter().map(ToString::to_string).collect();
    rig.open(&format!("/runs/{run}/entries/{}", verdict["seq"]));
    rig.ready();
    let id = format!("{}.{}", verdict["seq"], verdict["index"]);
    let links = format!("[...document.querySelectorAll('[data-id=\"{id}\"] .evidence a')]");
    rig.wait(&format!("{links}.length > 0"));
    let named = rig.script(&format!("return {links}.map((it) => it.textContent)"));
    assert_eq!(named, json!(evidence));
    rig.script(&format!("{links}[0].click()"));
    rig.wait(&format!("location.pathname === '/runs/{run}/entries/{}'", evidence[0]));
    rig.wait(&format!(
        "document.querySelector('.entry.selected')?.dataset.seq === '{}'",
        evidence[0]
    ));
    let visible = rig.script("const [it, view] = ['.entry.selected', '.story'].map((at) => \
        document.querySelector(at).getBoundingClientRect()); return it.bottom > view.top && it.top < view.bottom");
    assert_eq!(visible, json!(true));
}

/// A conversation is one prompt: of thousands of messages, only those on the screen are there.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_prompt_of_many_messages_is_read_in_parts() {
    let rig = Rig::new(Home::new("page-prompt"), &["chat-07"]);
    let run = rig.run_of("chat");
    let asked = (1..=head(&rig, &run)).rev().find(|entry| {
        let moment = rig.server.json(&format!("/api/v1/runs/{run}/entries/{entry}"));
        !list(&moment, "prompts").is_empty()
    });
    let asked = asked.expect("it asks a model");
    let moment = rig.server.json(&format!("/api/v1/runs/{run}/entries/{asked}"));
    let count = moment["prompts"][0]["count"].as_u64().expect("a number");
    assert!(list(&moment["prompts"][0], "parts").len() as u64 <= 8);
    let path = format!("/api/v1/runs/{run}/entries/{asked}/prompt");
    let whole = rig.server.json(&format!("{path}?limit=128"));
    assert_eq!(list(&whole, "parts").len() as u64, count);
    let some = rig.server.json(&format!("{path}?from=1&limit=2"));
    assert_eq!(list(&some, "parts"), &list(&whole, "parts")[1..3]);
    assert_eq!(rig.server.get(&format!("{path}?prompt=7")).status, 404);
    open(&rig, &run, asked, "prompt");
    rig.wait("document.querySelector('#pane-prompt .message')");
    // The same page, told of two thousand messages.
    rig.open("/stats");
    rig.open(&format!("/runs/{run}/entries/1#prompt"));
    rig.ready();
    rig.script(
        "const real = window.fetch; window.asked = 0; window.fetch = async (url, options) => { \
         const { pathname, searchParams } = new URL(url, location); \
         const part = (at) => ({ format: 'json', title: '', bytes: 40, next: null, \
           text: JSON.stringify({ role: 'user', content: `message ${at}` }) }); \
         const parts = (from, count) => Array.from({ length: count }, (_, at) => part(from + at)); \
         if (pathname.endsWith('/prompt')) { window.asked += 1; const from = Number(searchParams.get('from')); \
           return new Response(JSON.stringify({ effect: '9.0', count: 2000, from, \
             parts: parts(from, Math.min(2000 - from, Number(searchParams.get('limit')))) })); } \
         const answer = await real(url, options); \
         if (!/entries\\/\\d+$/.test(pathname)) return answer; \
         const moment = await answer.json(); \
         moment.prompts = [{ effect: '9.0', count: 2000, parts: parts(0, 8) }]; \
         return new Response(JSON.stringify(moment)); }",
    );
    rig.key("j");
    rig.wait("document.querySelector('#pane-prompt .message')?.textContent.includes('message 0')");
    assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
    for _ in 0..12 {
        rig.scroll("#pane-prompt .parts", "900");
        rig.wait("!document.querySelector('#pane-prompt .waiting')");
        assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
    }
    rig.wait(
        "(() => { const it = document.querySelector('#pane-prompt .parts'); it.scrollTop = it.scrollHeight; \
         return it.textContent.includes('message 1999'); })()",
    );
    assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
    let asked = rig.script("return window.asked").as_u64().expect("a number");
    assert!(asked < 60, "{asked} requests, not one for each part of the prompt");
}
