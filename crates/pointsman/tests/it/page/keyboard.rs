//! The page without a mouse: focus, arrow keys, dialogs; and what a filter hides.

use std::fs;

use pointsman_runtime::store::SqliteStore;
use pointsman_testing::kept::{keep, long};
use serde_json::json;

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const SELECTED: &str = "document.querySelector('.entry.selected')?.dataset.seq";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn dialogs_focus_their_field_and_close_only_beside_them() {
    let home = Home::new("page-dialogs");
    let run = asking(&home, "Hello");
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{run}"));
    rig.press("[data-act=deny]");
    rig.wait("document.activeElement.ariaLabel === 'Reason'");
    rig.script("document.activeElement.value = 'not on this branch'");
    let press_at = |place: &str| {
        rig.script(&format!(
            "const it = document.querySelector('dialog'); const box = it.getBoundingClientRect(); \
             const at = {{ bubbles: true, {place} }}; \
             it.dispatchEvent(new PointerEvent('pointerdown', at)); it.dispatchEvent(new MouseEvent('click', at))"
        ));
    };
    // Its own padding is not beside it.
    press_at("clientX: box.left + 3, clientY: box.bottom - 3");
    let kept = rig.script("return document.querySelector('dialog input')?.value");
    assert_eq!(kept, json!("not on this branch"));
    press_at("clientX: box.left - 9, clientY: box.top");
    rig.wait("!document.querySelector('dialog')");
    rig.press("#token");
    rig.wait("document.activeElement.ariaLabel === 'Token'");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn dialogs_and_help_are_accessible_in_both_themes() {
    let home = Home::new("page-dialogs-axe");
    let run = asking(&home, "Hello");
    let rig = Rig::new(home, &["chat-05"]);
    let opened = [
        (format!("/runs/{run}"), "[data-act=approve]", "approve"),
        (format!("/runs/{run}"), "[data-act=cancel]", "cancel"),
        (format!("/runs/{run}"), "#help", "help-run"),
        ("/".to_owned(), "#help", "help-list"),
        ("/".to_owned(), "#token", "token"),
        ("/".to_owned(), "[data-bulk=cancel]", "bulk"),
    ];
    rig.open("/");
    rig.sign_in();
    for theme in ["light", "dark"] {
        rig.script(&format!("localStorage.setItem('pointsman.theme', '{theme}')"));
        for (path, button, name) in &opened {
            rig.open(path);
            rig.wait(&format!(
                "document.documentElement.className === '{theme}' && document.querySelector('.row, .question')"
            ));
            rig.press(button);
            rig.wait("document.querySelector('dialog[open]')");
            rig.check_access(&format!("{name}, {theme}"));
            rig.picture(&format!("dialog-{name}-{theme}"));
        }
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn arrow_keys_belong_to_what_has_the_focus() {
    let rig = Rig::new(Home::new("page-arrows-keys"), &["research-05"]);
    let run = rig.run_of("research");
    rig.open(&format!("/runs/{run}/entries/2"));
    rig.ready();
    rig.script("document.querySelector('#tab-chart').focus()");
    for (key, pane) in [
        ("ArrowRight", "why"),
        ("ArrowRight", "budgets"),
        ("ArrowLeft", "why"),
        ("End", "result"),
        ("Home", "chart"),
    ] {
        assert!(rig.key_at_focus(key), "{key}");
        rig.wait(&format!(
            "document.activeElement.id === 'tab-{pane}' && document.activeElement.ariaSelected === 'true' \
             && !document.querySelector('#pane-{pane}').hidden"
        ));
    }
    let tabs =
        "[...document.querySelectorAll('[role=tab]')].filter((it) => it.tabIndex === 0).length";
    assert_eq!(
        rig.script(&format!("return {tabs}")),
        json!(1),
        "one of the tabs is in the order of focus"
    );
    assert_eq!(rig.script(&format!("return {SELECTED}")), json!("2"), "no step was made");
    // A wide table scrolls by the keys.
    rig.script(
        "const box = document.createElement('div'); box.className = 'wide'; box.tabIndex = 0; box.id = 'wide'; \
         box.style.width = '100px'; const inner = document.createElement('div'); inner.style.width = '900px'; \
         inner.textContent = 'x'; box.append(inner); document.querySelector('#pane-chart').prepend(box); box.focus()",
    );
    assert!(!rig.key_at_focus("ArrowRight"), "the page leaves the key to the table");
    assert_eq!(rig.script(&format!("return {SELECTED}")), json!("2"));
    rig.script("document.activeElement.blur()");
    rig.key("ArrowRight");
    rig.wait(&format!("{SELECTED} === '3'"));
    // A row is a link, within an item of the list.
    rig.open("/");
    rig.wait("document.querySelector('.row')");
    let roles = rig.script(
        "const it = document.querySelector('.row'); return [it.tagName, it.role, it.parentElement.role]",
    );
    assert_eq!(roles, json!(["A", null, "listitem"]));
}

/// With "turning points", the selected entry may be one that the filter hides.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn steps_skip_the_entries_that_a_filter_hides() {
    let rig = Rig::new(Home::new("page-hides"), &["chat-07"]);
    let run = rig.run_of("chat");
    let story = rig.server.json(&format!("/api/v1/runs/{run}/story?limit=512"));
    let items = story["items"].as_array().expect("a list");
    let level = |entry: u64| {
        let own = items.iter().filter(|it| it["seq"] == json!(entry));
        own.filter_map(|it| it["level"].as_u64()).max().unwrap_or(0)
    };
    let head = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64().expect("a number");
    let turning: Vec<u64> = (1..=head).filter(|entry| level(*entry) == 3).collect();
    let hidden = (2..head).find(|entry| level(*entry) < 3).expect("an entry is no turning point");
    rig.open(&format!("/runs/{run}/entries/{hidden}"));
    rig.ready();
    rig.enter("[aria-label=Importance]", "3");
    let shown =
        "[...document.querySelectorAll('.story .entry')].map((it) => Number(it.dataset.seq))";
    let mut expected = turning.clone();
    expected.push(hidden);
    expected.sort_unstable();
    rig.wait(&format!(
        "{shown}.every((it) => {}.includes(it)) && {shown}.includes({hidden})",
        json!(expected)
    ));
    // Steps go to entries that are shown.
    for key in ["j", "k"] {
        let from = rig.script(&format!("return Number({SELECTED})")).as_u64().expect("a number");
        let next = if key == "j" {
            turning.iter().find(|it| **it > from)
        } else {
            turning.iter().rev().find(|it| **it < from)
        };
        let Some(next) = next else { continue };
        rig.key(key);
        rig.wait(&format!("{SELECTED} === '{next}'"));
    }
}

/// Keeps a conversation of so many entries in a home, and returns it.
pub(super) fn conversation(home: &Home, entries: usize) -> String {
    let agents = pointsman_agents::all();
    let exported = long(&agents, entries);
    let path = home.path("state/pointsman/journal.db");
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("it is made");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let store = SqliteStore::open(&path).expect("the journal opens");
        keep(&store, &agents, &exported).await;
    });
    exported.run.to_string()
}

/// Few entries are turning points here, so that a screen of them needs several requests: none of
/// the answers brings a reader back who has scrolled away.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_filter_that_hides_the_selected_entry_does_not_hold_the_reader() {
    let home = Home::new("page-holds");
    let run = conversation(&home, 3_000);
    let rig = Rig::new(home, &[]);
    rig.open(&format!("/runs/{run}/entries/1"));
    rig.ready();
    rig.script(
        "const real = window.fetch; window.fetch = async (url, options) => { \
         const at = new URL(url, location); at.searchParams.delete('level'); \
         const answer = await real(at, options); \
         if (!at.pathname.endsWith('/story') || answer.status !== 200) return answer; \
         const page = await answer.json(); \
         for (const item of page.items) item.level = item.seq % 40 === 0 ? 3 : 1; \
         return new Response(JSON.stringify(page)); }",
    );
    rig.enter("[aria-label=Importance]", "3");
    rig.enter(".stepper input", "2001");
    rig.wait(&format!("{SELECTED} === '2001'"));
    let first = || {
        rig.wait("!document.querySelector('.block.waiting')");
        rig.scroll(".story", "0");
        let seq = rig.script(
            "const top = document.querySelector('.story').getBoundingClientRect().top; \
             return Number([...document.querySelectorAll('.story .entry')]\
             .find((it) => it.getBoundingClientRect().bottom > top).dataset.seq)",
        );
        seq.as_u64().expect("a number")
    };
    let mut before = first();
    let begin = before;
    for _ in 0..6 {
        rig.scroll(".story", "1200");
        let now = first();
        assert!(now >= before, "{before}, then {now}");
        before = now;
    }
    assert!(before > begin + 100, "{begin}, then {before}");
}
