//! What runs came to: results, tables, maps, changes, and the files that are kept for them.

use std::{collections::BTreeSet, fs, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::{large::cost, rig::Rig};
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

/// Checks that each cell has the value of the API. A last column may have files.
fn has_values(rig: &Rig, table: &Value) {
    let rows = table["rows"].as_array().expect("a list").iter();
    let expected: Vec<Vec<String>> = rows
        .map(|row| serde_json::from_value(row["cells"].clone()).expect("they are texts"))
        .collect();
    let drawn = cells(rig, table["title"].as_str().expect("a text"));
    let mut drawn: Vec<Vec<String>> = serde_json::from_value(drawn).expect("they are texts");
    let columns = table["columns"].as_array().map_or(0, Vec::len);
    for row in &mut drawn {
        row.truncate(columns);
    }
    assert!(!expected.is_empty(), "{table}");
    assert_eq!(drawn, expected);
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
    has_values(&rig, table(&tables, "Fields"));
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
    has_values(&rig, table(&tables, "Screens"));
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

/// A model's answer with every kind of element.
const ANSWER: &str = "## Signals\n\nA **red** one means `stop`.\n\n- red\n- green\n\n\
                      | signal | means |\n|---|---|\n| red | stop |\n| green | go |\n";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn lists_headings_and_tables_of_an_answer_are_elements() {
    let home = Home::new("page-markdown");
    home.write("script.jsonl", &format!("{}\n", json!({ "text": ANSWER })));
    let chat = ["run", "chat", "What are signals?", "--dir", "docs"];
    let (code, out, told) =
        home.pointsman(&[&chat[..], &["--model", "script:script.jsonl"]].concat());
    assert_eq!(code, 0, "{out}{told}");
    let rig = Rig::new(home, &[]);
    let run = rig.run_of("chat");
    open(&rig, &run);
    for place in ["#pane-result .text.markdown", ".story .text.markdown"] {
        rig.wait(&format!("document.querySelector('{place} table')"));
        let texts = |selector: &str| {
            rig.script_with(
                "const all = [...document.querySelectorAll(arguments[0][0])]; \
                 const answer = all.find((it) => it.querySelector('table')); \
                 return [...answer.querySelectorAll(arguments[0][1])].map((it) => it.textContent)",
                json!([place, selector]),
            )
        };
        assert_eq!(texts(".heading.h2"), json!(["Signals"]), "{place}");
        assert_eq!(texts("strong"), json!(["red"]), "{place}");
        assert_eq!(texts("code"), json!(["stop"]), "{place}");
        assert_eq!(texts("ul li"), json!(["red", "green"]), "{place}");
        assert_eq!(texts("table thead th"), json!(["signal", "means"]), "{place}");
        assert_eq!(texts("table tbody td"), json!(["red", "stop", "green", "go"]), "{place}");
    }
    rig.picture("markdown");
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
    let mut looked_at = 0;
    while rig.scroll(".story", "it.clientHeight / 2") {
        rig.wait("!document.querySelector('.block.waiting')");
        let (requests, bytes) = cost(&rig);
        assert!(requests <= 24 && bytes < 256 << 10, "{requests} requests, {bytes} bytes");
        assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
        looked_at += 1;
    }
    assert!(looked_at > 2, "the story is longer than a screen");
    // The last entry has all screens. The rest of a file is loaded when it is asked for, a part at
    // a time.
    rig.key("End");
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

/// Pictures of the run with pictures, the bytes of most of them, and of those that are too large to be
/// loaded unasked.
const PICTURES: usize = 128;
const SMALL: usize = 800 << 10;
const LARGE: usize = 5 << 20;

/// Returns the name of a picture.
fn picture(at: usize) -> String {
    format!("{at:016x}.png")
}

/// Returns the bytes of a picture: one of the eight of each call is large.
const fn size(at: usize) -> usize {
    if at % 8 == 5 { LARGE } else { SMALL }
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn pictures_of_128_mb_are_loaded_as_they_are_looked_at() {
    let home = Home::new("page-pictures");
    let mut script = String::new();
    for call in 0..PICTURES / 8 {
        let names: Vec<String> = (call * 8..call * 8 + 8).map(picture).collect();
        home.write(&format!("docs/shots-{call}.md"), &names.join("\n"));
        let calls =
            json!([{ "tool": "read", "arguments": { "path": format!("shots-{call}.md") } }]);
        script.extend([json!({ "text": "I look.", "calls": calls }).to_string(), "\n".into()]);
    }
    script.push_str("{\"text\": \"I have seen them.\"}\n");
    home.write("script.jsonl", &script);
    let chat = ["run", "chat", "Look at the pictures", "--dir", "docs"];
    let (code, out, told) =
        home.pointsman(&[&chat[..], &["--model", "script:script.jsonl"]].concat());
    assert_eq!(code, 0, "{out}{told}");
    let rig = Rig::new(home, &[]);
    let run = rig.run_of("chat");
    let folder = rig.home.path(&format!("state/pointsman/explore/{run}"));
    fs::create_dir_all(&folder).expect("it is made");
    // A picture ends where its format says, whatever follows.
    rig.open("/");
    let shot = rig.screenshot();
    let mut all = 0;
    for at in 0..PICTURES {
        let mut content = shot.clone();
        content.resize(size(at), 0);
        all += content.len();
        fs::write(folder.join(picture(at)), content).expect("it is written");
    }
    assert!(all >= ALL, "{all} bytes");
    rig.open(&format!("/runs/{run}/entries/1"));
    rig.ready();
    rig.script("performance.clearResourceTimings(); performance.setResourceTimingBufferSize(5000)");
    // What a picture shows: itself, a button to load it, or nothing yet.
    let near = "[...document.querySelectorAll('.story .file')].filter((it) => { \
                const [box, view] = [it.getBoundingClientRect(), it.closest('.story').getBoundingClientRect()]; \
                return box.bottom > view.top && box.top < view.bottom; })";
    let (mut seen, mut asked, mut loaded) = (BTreeSet::new(), BTreeSet::new(), 0);
    loop {
        rig.wait(&format!(
            "!document.querySelector('.block.waiting') && {near}.every((it) => \
             it.querySelector('img')?.naturalWidth > 0 || it.querySelector('button'))"
        ));
        let names = |which: &str| -> BTreeSet<String> {
            let found = rig.script(&format!(
                "return {near}.filter((it) => it.querySelector('{which}')).map((it) => it.dataset.file)"
            ));
            serde_json::from_value(found).expect("they are names")
        };
        seen.extend(names("img"));
        asked.extend(names("button"));
        let (requests, bytes) = cost(&rig);
        // Each picture is its first bytes, which tell its size, and then the rest.
        let budget = 16 * (SMALL as u64) + (256 << 10);
        assert!(requests <= 40 && bytes < budget, "{requests} requests, {bytes} bytes");
        assert!(rig.elements() <= 2_000, "{} elements", rig.elements());
        loaded += bytes;
        if !rig.scroll(".story", "it.clientHeight / 2") {
            break;
        }
    }
    // Each was on the screen once; the large ones were not loaded.
    let of = |large: bool| -> BTreeSet<String> {
        (0..PICTURES).filter(|at| (size(*at) == LARGE) == large).map(picture).collect()
    };
    assert_eq!((seen, asked), (of(false), of(true)));
    assert!(loaded < (ALL as u64), "{loaded} bytes");
    let large =
        "[...document.querySelectorAll('.story .file')].find((it) => it.querySelector('button'))";
    rig.script(&format!("{large}.scrollIntoView()"));
    rig.script(&format!(
        "const it = {large}; it.dataset.wanted = '1'; it.querySelector('button').click()"
    ));
    rig.wait("document.querySelector('.file[data-wanted] img')?.naturalWidth > 200");
    let (requests, bytes) = cost(&rig);
    assert!(bytes > LARGE as u64 - (8 << 10), "{requests} requests, {bytes} bytes");
    let reply = rig.server.get(&format!("/api/v1/runs/{run}/files/{}", picture(0)));
    assert_eq!(reply.header("content-type"), Some("image/png"));
    rig.picture("pictures");
    // However many pictures are on the screen, each can be opened.
    let names: Vec<String> = (0..40).filter(|at| size(*at) == SMALL).map(picture).collect();
    rig.script_with(
        "return import('/page/files.js').then(({ files }) => { \
         const box = files(arguments[0][0], arguments[0][1]); box.id = 'all'; \
         Object.assign(box.style, { position: 'fixed', inset: '0', zIndex: '9', display: 'flex', flexWrap: 'wrap' }); \
         document.body.append(box); for (const it of box.children) it.style.width = '60px'; })",
        json!([run, names]),
    );
    rig.wait(&format!("document.querySelectorAll('#all img').length === {}", names.len()));
    rig.script(
        "window.opened = []; for (const link of document.querySelectorAll('#all a')) { \
         const it = new Image(); it.onload = () => window.opened.push(true); \
         it.onerror = () => window.opened.push(false); it.src = link.href; }",
    );
    rig.wait(&format!("window.opened.length === {}", names.len()));
    assert_eq!(rig.script("return window.opened.every((it) => it)"), json!(true));
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

/// Changes of two files in two phases, by a model that looks before it changes something.
const TWO_PHASES: &str = r##"
[[turn]]
text = "I look first."
calls = [{ tool = "read", arguments = { path = "prices.py" } }]
[[turn]]
text = "The last price replaces the sum."
calls = [{ tool = "edit", arguments = { path = "prices.py", old = "result =+ price", new = "result += price" } }]
[[turn]]
calls = [{ tool = "phase_complete", arguments = { success = true } }]
[[turn]]
text = "Now the average."
calls = [{ tool = "edit", arguments = { path = "prices.py", old = "return result", new = "return result / len(prices)" } }]
[[turn]]
calls = [{ tool = "write", arguments = { path = "notes.md", content = "# The average of prices" } }]
[[turn]]
calls = [{ tool = "phase_complete", arguments = { success = true } }]
[[turn]]
text = "Both are done."
"##;
const PRICES: &str = "def total(prices):\n    result = 0\n    for price in prices:\n        \
                      result =+ price\n    return result\n";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn changes_are_listed_under_the_phase_that_made_them() {
    let home = Home::new("page-phases");
    home.write("project/prices.py", PRICES);
    home.write("plan.md", "1. Count every price\n2. Add the average\n");
    home.write("script.toml", TWO_PHASES);
    let run = ["run", "code", "Make the prices right", "--plan", "plan.md", "--dir", "project"];
    let allowed = ["--allow", "edit", "--allow", "write", "--model", "script:script.toml"];
    let (code, out, told) = home.pointsman(&[&run[..], &allowed].concat());
    assert_eq!(code, 0, "{out}{told}");
    let rig = Rig::new(home, &[]);
    let run = rig.run_of("code");
    let tables = open(&rig, &run);
    let phases = table(&tables, "Phases")["rows"].as_array().expect("a list").clone();
    assert_eq!(phases.len(), 2, "{tables}");
    rig.wait("document.querySelectorAll('#pane-result .edit').length === 3");
    // Headings and changes in the order in which they are on the page.
    let listed = rig.script(
        "return [...document.querySelectorAll('#pane-result .edits :is(h4, .edit)')].map((it) => \
         it.matches('.edit') ? it.querySelector('summary').firstChild.textContent.trim() : \
         it.textContent)",
    );
    let expected = [
        "phase 1 of 2: Count every price",
        "edit prices.py",
        "phase 2 of 2: Add the average",
        "edit prices.py",
        "write notes.md",
    ];
    assert_eq!(listed, json!(expected));
    // Each is closed, and shows its own lines when it is opened.
    for (at, removed, added) in [
        (0, "result =+ price", "result += price"),
        (1, "return result", "return result / len(prices)"),
        (2, "", "# The average of prices"),
    ] {
        let edit = format!("document.querySelectorAll('#pane-result .edit')[{at}]");
        rig.script(&format!("{edit}.querySelector('summary').click()"));
        rig.wait(&format!("{edit}.open && {edit}.querySelector('.added')?.offsetHeight > 0"));
        for (class, line) in [("removed", removed), ("added", added)] {
            let lines = format!(
                "return [...{edit}.querySelectorAll('.{class}')].map((it) => it.textContent).join('')"
            );
            let lines = rig.script(&lines);
            assert!(lines.as_str().is_some_and(|it| it.contains(line)), "{at}: {class} {lines}");
        }
    }
    rig.picture("code-changes");
    // A part of the journal that begins within a phase names it too.
    let edits = rig.server.json(&format!("/api/v1/runs/{run}/edits"))["edits"].clone();
    let last = edits[2]["seq"].as_u64().expect("a number");
    let part = rig.server.json(&format!("/api/v1/runs/{run}/edits?from={last}"));
    assert_eq!(part["edits"][0]["stage"], edits[2]["stage"], "{part}");
}
