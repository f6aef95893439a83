//! What runs came to: results, tables, maps, changes, and the files that are kept for them.

use std::{fs, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

/// Bytes of all files of the large run.
const ALL: usize = 128 << 20;

/// Opens the result of a run, and waits until its tables are drawn.
fn open(rig: &Rig, run: &str) -> Value {
    rig.open(&format!("/runs/{run}"));
    rig.ready();
    rig.key("7");
    rig.wait("document.querySelector('#pane-result').dataset.tables !== undefined");
    let head = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].clone();
    rig.server.json(&format!("/api/v1/runs/{run}/entries/{head}/tables"))
}

/// Returns the texts of a table's cells, row by row.
fn cells(rig: &Rig, title: &str) -> Value {
    rig.script_with(
        "const rows = document.querySelectorAll(`[data-table=\"${arguments[0]}\"] tbody tr`); \
         return [...rows].map((row) => [...row.children].map((it) => it.textContent))",
        json!(title),
    )
}

fn table<'t>(tables: &'t Value, title: &str) -> &'t Value {
    let all = tables["tables"].as_array().expect("a list");
    all.iter().find(|it| it["title"] == title).unwrap_or_else(|| panic!("no {title}: {tables}"))
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn each_agent_shows_what_it_found() {
    let home = Home::new("page-results");
    let rig = Rig::new(home, &["code-01", "explore-01", "form-01", "research-05", "chat-09"]);
    for (agent, title) in [("code", "Phases"), ("research", "Sources")] {
        let tables = open(&rig, &rig.run_of(agent));
        let rows = table(&tables, title)["rows"].as_array().expect("a list");
        assert!(!rows.is_empty(), "{tables}");
        let expected: Vec<&Value> = rows.iter().map(|row| &row["cells"]).collect();
        assert_eq!(cells(&rig, title), json!(expected), "{agent}");
        rig.picture(&format!("{agent}-result"));
    }
    // The fields of a form, and its screenshots as pictures.
    let run = rig.run_of("form");
    let folder = rig.home.path(&format!("state/pointsman/forms/{run}"));
    fs::create_dir_all(&folder).expect("it is made");
    let shot = rig.screenshot();
    let head = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].clone();
    let tables = rig.server.json(&format!("/api/v1/runs/{run}/entries/{head}/tables"));
    let name = table(&tables, "Screenshots")["rows"][0]["files"][0].as_str().expect("a name");
    fs::write(folder.join(name), &shot).expect("it is written");
    open(&rig, &run);
    // It is loaded when it comes into view.
    rig.script("document.querySelector('[data-table=Screenshots]').scrollIntoView()");
    rig.wait("document.querySelector('[data-table=Screenshots] img')?.naturalWidth > 0");
    let shown = rig.server.json(&format!("/api/v1/runs/{run}"));
    let fields = shown["report"]["fields"].as_array().map(Vec::len);
    let drawn = cells(&rig, "Fields").as_array().map(Vec::len);
    assert!(drawn > Some(0) && fields.is_none_or(|count| Some(count) == drawn), "{shown}");
    rig.picture("form-result");
    // In the story, too; a file that is gone is said to be.
    rig.wait("document.querySelector('.story .file')");
    let gone = rig.server.get(&format!("/api/v1/runs/{run}/files/0000000000000000.png"));
    assert_eq!(gone.status, 404);
    for wrong in ["..%2F..%2Fjournal.db", "session.json", "0000000000000000.svg"] {
        let reply = rig.server.get(&format!("/api/v1/runs/{run}/files/{wrong}"));
        assert_eq!(reply.status, 404, "{wrong}");
    }
    // The map of an app.
    let tables = open(&rig, &rig.run_of("explore"));
    assert_eq!(tables["map"], json!(true));
    rig.wait("document.querySelector('.map img')?.naturalWidth > 200");
    assert!(!cells(&rig, "Screens").as_array().expect("a list").is_empty());
    rig.picture("explore-result");
    // Changes of files, whoever made them.
    let tables = open(&rig, &rig.run_of("chat"));
    assert_eq!(tables["map"], json!(false));
    rig.press("#pane-result .edit summary");
    rig.wait("document.querySelector('#pane-result .edit .added')");
    rig.picture("chat-result");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn the_result_ends_the_story_as_markdown() {
    let rig = Rig::new(Home::new("page-end"), &["research-05", "form-01"]);
    for agent in ["research", "form"] {
        let run = rig.run_of(agent);
        rig.open(&format!("/runs/{run}"));
        rig.ready();
        rig.wait("document.querySelector('.item.is-ended')");
        let head = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64();
        let head = head.expect("a number");
        let moment = rig.server.json(&format!("/api/v1/runs/{run}/entries/{head}"));
        let result = moment["result"]["text"].as_str().expect("a text");
        let first = result.lines().next().expect("a line").replace("**", "");
        let told = rig.script(
            "return [...document.querySelectorAll('.story .text.markdown')].at(-1)?.textContent ?? ''",
        );
        let told = told.as_str().expect("a text");
        assert!(told.contains(first.trim()), "{agent}: {first} in {told}");
        rig.picture(&format!("{agent}-end"));
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn files_of_128_mb_are_loaded_as_they_are_looked_at() {
    let home = Home::new("page-files");
    let rig = Rig::new(home, &["explore-01"]);
    let run = rig.run_of("explore");
    let story = rig.server.json(&format!("/api/v1/runs/{run}/story?limit=512"));
    let items = story["items"].as_array().expect("a list").iter();
    let files = items.flat_map(|it| it["files"].as_array().cloned().unwrap_or_default());
    let mut names: Vec<String> = files.map(|it| it.as_str().expect("a name").to_owned()).collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 4, "{names:?}");
    let folder = rig.home.path(&format!("state/pointsman/explore/{run}"));
    fs::create_dir_all(&folder).expect("it is made");
    let line = "<node text=\"<script>document.title='owned'</script>\" bounds=\"[0,0][9,9]\"/>\n";
    let content = line.repeat(ALL / names.len() / line.len() + 1);
    for name in &names {
        let file = fs::File::create(folder.join(name)).expect("it is made");
        let mut packer = GzEncoder::new(file, Compression::none());
        packer.write_all(content.as_bytes()).expect("it is written");
        packer.finish().expect("it is written");
    }
    let kept = names.iter().map(|it| fs::metadata(folder.join(it)).map_or(0, |it| it.len()));
    assert!(kept.sum::<u64>() >= ALL as u64);
    rig.open(&format!("/runs/{run}/entries/1"));
    rig.ready();
    rig.script("performance.clearResourceTimings(); performance.setResourceTimingBufferSize(5000)");
    let cost = |rig: &Rig| {
        let cost = rig.script(
            "const all = performance.getEntriesByType('resource'); performance.clearResourceTimings(); \
             return [all.length, all.reduce((sum, it) => sum + it.transferSize, 0)]",
        );
        (cost[0].as_u64().unwrap_or(u64::MAX), cost[1].as_u64().unwrap_or(u64::MAX))
    };
    let mut looked_at = 0;
    while rig.scroll(".story", "it.clientHeight / 2") {
        rig.wait("!document.querySelector('.block.waiting')");
        let (requests, bytes) = cost(&rig);
        assert!(requests <= 24 && bytes < 256 << 10, "{requests} requests, {bytes} bytes");
        assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
        looked_at += 1;
    }
    assert!(looked_at > 2, "the story is longer than a screen");
    // The rest is loaded when it is asked for, a part at a time.
    rig.key("7");
    rig.wait("document.querySelector('#pane-result .file .more')");
    cost(&rig);
    rig.press("#pane-result .file .more");
    rig.wait("document.querySelector('#pane-result .file .more')?.textContent.includes('left')");
    let (requests, bytes) = cost(&rig);
    assert!(requests <= 24 && bytes < 512 << 10, "{requests} requests, {bytes} bytes");
    assert_ne!(rig.script("return document.title"), json!("owned"));
    let reply = rig.server.get(&format!("/api/v1/runs/{run}/files/{}", names[0]));
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    let policy = reply.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn an_approved_change_is_listed() {
    let home = Home::new("page-edit");
    let run = asking(&home, "<img src=x onerror=document.title='owned'>");
    let (code, _, told) = home.pointsman(&["approve", &run]);
    assert_eq!(code, 0, "{told}");
    home.pointsman(&["resume", &run]);
    let rig = Rig::new(home, &[]);
    open(&rig, &run);
    rig.wait("document.querySelectorAll('#pane-result .edit').length === 1");
    rig.press("#pane-result .edit summary");
    assert!(rig.text("#pane-result .edit").contains("onerror"), "{}", rig.text("#pane-result"));
    assert_ne!(rig.script("return document.title"), json!("owned"));
}
