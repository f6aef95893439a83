//! The list of runs: filters that are typed, rows that stay right, actions on those that were counted.

use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const NAMES: &str =
    "[...document.querySelectorAll('.row .goal')].map((it) => it.textContent).join(',')";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn typed_filters_list_the_runs_of_the_server() {
    let home = Home::new("page-filters");
    asking(&home, "a note that waits");
    asking(&home, "another note");
    let rig = Rig::new(home, &["research-05", "form-01", "chat-05"]);
    rig.open("/");
    rig.wait("document.querySelectorAll('.row').length === 5");
    let filters = [
        ("[name=text]", "NOTE", "text=note"),
        ("[name=state]", "writing", "state=writing"),
        ("[name=agent]", "research", "agent=research"),
        ("[name=chart]", "note", "chart=note"),
        ("[name=status]", "succeeded", "status=succeeded"),
    ];
    for (field, typed, query) in filters {
        rig.enter(field, typed);
        let page = rig.server.json(&format!("/api/v1/runs?{query}"));
        let runs = page["runs"].as_array().expect("a list").iter();
        let goals: Vec<&str> = runs.filter_map(|run| run["goal"].as_str()).collect();
        assert!(!goals.is_empty() && goals.len() < 5, "{query}: {goals:?}");
        rig.wait(&format!("{NAMES} === {}", json!(goals.join(","))));
        let (name, value) = query.split_once('=').expect("a filter");
        rig.wait(&format!(
            "new URLSearchParams(location.search).get('{name}')?.toLowerCase() === '{value}'"
        ));
        rig.enter(field, "");
        rig.wait("document.querySelectorAll('.row').length === 5");
    }
    // Idle for a time: open runs without a new entry. Two have one just now, and one is two days old.
    rig.enter("[name=idle]", "5 min");
    rig.wait("document.querySelectorAll('.row').length === 1 && location.search.includes('idle=')");
    let asked = "performance.getEntriesByType('resource').map((it) => new URL(it.name).searchParams)\
         .find((it) => it.has('idle_since_ms'))";
    let asked = rig.script(&format!(
        "const it = {asked}; return [it.get('status'), Date.now() - Number(it.get('idle_since_ms'))]"
    ));
    assert_eq!(asked[0], "open");
    let ago = asked[1].as_u64().expect("a number");
    assert!((300_000..600_000).contains(&ago), "{ago} ms ago");
    rig.enter("[name=idle]", "");
    rig.wait("document.querySelectorAll('.row').length === 5");
}

/// An answer to an earlier question must not replace the answer to a later one.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_slow_answer_does_not_undo_a_filter() {
    let home = Home::new("page-slow");
    for goal in ["one", "two"] {
        asking(&home, goal);
    }
    let rig = Rig::new(home, &[]);
    rig.open("/");
    rig.wait("document.querySelectorAll('.row').length === 2");
    rig.script(
        "const real = window.fetch; window.slow = 0; window.fetch = async (url, options) => { \
         const answer = await real(url, options); \
         if (String(url).includes('/runs?') && !String(url).includes('text=') && window.slow === 0) { \
           window.slow = 1; await new Promise((go) => { window.go = go; }); window.slow = 2; } \
         return answer; }",
    );
    rig.wait("window.slow === 1");
    rig.enter("[name=text]", "two");
    rig.wait(&format!("{NAMES} === 'two'"));
    rig.script("window.go()");
    rig.wait("window.slow === 2");
    rig.settle();
    assert_eq!(rig.script(&format!("return {NAMES}")), json!("two"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn rows_below_the_first_page_stay_right_and_the_focus_stays() {
    let home = Home::new("page-below");
    let lines: Vec<String> = (0..230)
        .map(|at| json!({ "agent": "note.toml", "goal": format!("Goal {at}") }).to_string())
        .collect();
    home.write("many.jsonl", &lines.join("\n"));
    let (code, _, told) = home.pointsman(&["submit", "--file", "many.jsonl", "--delay", "30d"]);
    assert_eq!(code, 0, "{told}");
    let rig = Rig::new(home, &[]);
    rig.open("/");
    let oldest = "[...document.querySelectorAll('.row')].find((it) => \
                  it.querySelector('.goal').textContent === 'Goal 0')";
    rig.wait(&format!(
        "(() => {{ const it = document.querySelector('.runs'); it.scrollTop = it.scrollHeight; \
         return {oldest}; }})()"
    ));
    rig.script(&format!("{oldest}.focus()"));
    let run = rig.script(&format!("return {oldest}.dataset.run"));
    let run = run.as_str().expect("an id");
    assert_eq!(rig.server.act(run, "cancel", &json!({})).status / 100, 2);
    // A run that nobody drives takes it when it is resumed.
    if rig.server.json(&format!("/api/v1/runs/{run}"))["disposition"].is_null() {
        rig.server.act(run, "resume", &json!({}));
    }
    assert_eq!(rig.server.end(run)["disposition"], "cancelled");
    rig.wait(&format!("{oldest}.querySelector('.pill').textContent === 'cancelled'"));
    let focused =
        rig.script("return document.activeElement.dataset?.run ?? document.activeElement.tagName");
    assert_eq!(focused, json!(run), "a row that changes keeps the focus");
    asking(&rig.home, "the newest");
    rig.wait("parseInt(document.querySelector('.list-head .dim').textContent, 10) === 231");
    assert_eq!(rig.script(&format!("return Boolean({oldest})")), json!(true));
}

/// Presses a bulk action, and answers its dialog once it counts so many runs.
fn all(rig: &Rig, action: &str, count: usize, between: impl FnOnce()) {
    rig.press(&format!("[data-bulk={action}]"));
    let noun = if count == 1 { "run" } else { "runs" };
    rig.wait(&format!(
        "document.querySelector('dialog h2')?.textContent.endsWith(' {count} {noun}?')"
    ));
    between();
    rig.press("dialog .primary, dialog .danger");
    rig.wait(&format!("document.querySelector('.toast')?.textContent === '{count} {noun}: done.'"));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn many_runs_are_approved_forked_and_only_the_counted_ones_cancelled() {
    let rig = Rig::new(Home::new("page-all"), &[]);
    let runs: Vec<String> = ["yes a", "yes b"].map(|goal| rig.server.asking(goal)).into();
    rig.open("/?text=yes");
    rig.sign_in();
    rig.wait("document.querySelectorAll('.row').length === 2");
    all(&rig, "approve", 2, || {});
    for run in &runs {
        assert_eq!(rig.server.end(run)["disposition"], "succeeded");
    }
    rig.wait("document.querySelectorAll('.row .pill.succeeded').length === 2");
    rig.script("document.getElementById('said').replaceChildren()");
    all(&rig, "fork", 2, || {});
    rig.wait("document.querySelectorAll('.row').length === 4");
    let listed = rig.server.json("/api/v1/runs?text=yes");
    let ids: Vec<&Value> =
        listed["runs"].as_array().expect("a list").iter().map(|it| &it["run"]).collect();
    let origins = ids.iter().filter_map(|id| {
        let run = rig.server.json(&format!("/api/v1/runs/{}", id.as_str().expect("an id")));
        run["forked"]["run"].as_str().map(str::to_owned)
    });
    let mut origins: Vec<String> = origins.collect();
    origins.sort();
    let mut expected = runs;
    expected.sort();
    assert_eq!(origins, expected);
    // A run that matches only after the count is left alone.
    let counted = rig.server.asking("drop this");
    rig.open("/?text=drop");
    rig.wait("document.querySelectorAll('.row').length === 1");
    let mut later = String::new();
    all(&rig, "cancel", 1, || later = rig.server.asking("drop nothing else"));
    assert_eq!(rig.server.end(&counted)["disposition"], "cancelled");
    assert_eq!(rig.server.json(&format!("/api/v1/runs/{later}"))["disposition"], json!(null));
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn an_empty_list_keeps_saying_so() {
    let rig = Rig::new(Home::new("page-empty"), &[]);
    rig.open("/");
    rig.wait("document.querySelector('.nothing')");
    let polls = "performance.getEntriesByType('resource').filter((it) => it.name.includes('/runs?')).length";
    rig.wait(&format!("{polls} > 3"));
    assert!(rig.text(".nothing").starts_with("There are no runs yet."));
}
