//! A run whose goal, tool output, file names and answers attack the page.

use pointsman_testing::site::{HttpReply, Site};
use serde_json::{Value, json};

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'\
    </script>\u{202e}gnp.exe\u{2066} \u{1b}[31mred\u{1b}[0m [click](javascript:document.title='owned') \
    **<b>bold</b>** ![x](https://evil.example/x.png) `<i>` &lt;u&gt;";

/// The name of a file, which a list of the folder and calls repeat.
const FILE: &str = "<img src=x onerror=alert(1)>\u{202e}gnp.txt";

/// Runs `code` with a model whose texts, calls and files attack the page, and returns the run.
fn attacking(home: &Home) -> String {
    let long = format!("{HOSTILE}{}", "<b>".repeat(350_000));
    assert!(long.len() > 1 << 20, "a line of more than 1 MB");
    let call = |tool: &str, arguments: &str| {
        format!("[[turn]]\ncalls = [{{ tool = '{tool}', arguments = {{ {arguments} }} }}]\n")
    };
    let (file, text) = (json!(FILE).to_string(), json!(long).to_string());
    // TOML reads the strings of JSON.
    let script = [
        call("write", &format!("path = {file}, content = {text}")),
        call("list", ""),
        call("read", &format!("path = {file}")),
        call("phase_complete", "success = true"),
        format!("[[turn]]\ntext = {text}\n"),
    ];
    home.write("script.toml", &script.concat());
    home.write("plan.md", &format!("1. {}\n", HOSTILE.replace('\n', " ")));
    let arguments = ["run", "code", HOSTILE, "--model", "script:script.toml", "--plan", "plan.md"];
    let (code, out, told) =
        home.pointsman(&[&arguments[..], &["--allow", "write", "--json"]].concat());
    // Such long texts are summarised on the way, which takes turns of the script: the run may get
    // stuck after the attack.
    let told = told.get(..told.floor_char_boundary(4_000)).unwrap_or_default();
    assert!([0, 5].contains(&code), "{code}: {told}");
    assert!(home.path(FILE).exists(), "the file is written");
    let last: Value =
        serde_json::from_str(out.lines().last().expect("there is a result")).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

/// Fills a form whose title, labels and choices attack the page, and returns the run.
fn filling(home: &Home) -> String {
    let site = Site::start(|_| {
        let escaped = HOSTILE.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        HttpReply::html(format!(
            "<!doctype html><meta charset=utf-8><title>{escaped}</title><form><h1>{escaped}</h1>\
             <label>First name {escaped} <input name=given autocomplete=given-name></label>\
             <label>Why {escaped} <textarea name=why required placeholder=\"{escaped}\"></textarea></label>\
             <label>Which {escaped} <select name=which required><option value=''>{escaped}</option>\
             <option>{escaped} one</option></select></label><button>{escaped} Send</button></form>"
        ))
    });
    let site = site.expect("a port is free");
    home.write("profile.toml", "given-name = \"Ada\"\n");
    home.write("replies.jsonl", &format!("{}\n", json!({ "text": HOSTILE })).repeat(9));
    let url = site.url("");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml", "--submit", "never"];
    let run = [&run[..], &["--model", "script:replies.jsonl", "--json"]].concat();
    let (_, out, told) = home.pointsman(&run);
    let last = out.lines().last().unwrap_or_else(|| panic!("{told}"));
    let last: Value = serde_json::from_str(last).expect("it is JSON");
    last["run"].as_str().unwrap_or_else(|| panic!("{last}: {told}")).to_owned()
}

/// Checks that hostile text on the screen is text, and nothing else.
fn check(rig: &Rig, what: &str) {
    let found = rig.script(
        "return { title: document.title, \
         foreign: [...document.querySelectorAll('main img, main script, main b, main u, main iframe, .story i, .runs i, .pane i')] \
           .filter((it) => !it.closest('.file, .map')).length, \
         links: [...document.querySelectorAll('main a')].filter((it) => it.protocol === 'javascript:').length, \
         handlers: [...document.querySelectorAll('*')].filter((it) => [...it.attributes].some((at) => at.name.startsWith('on'))).length, \
         hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.exec(document.querySelector('main').textContent)?.index ?? null, \
         wide: document.documentElement.scrollWidth > document.documentElement.clientWidth, \
         elsewhere: performance.getEntriesByType('resource').filter((it) => new URL(it.name).host !== location.host).length }",
    );
    assert_ne!(found["title"], "owned", "{what}");
    for count in ["foreign", "links", "handlers", "elsewhere"] {
        assert_eq!(found[count], json!(0), "{what}: {count}");
    }
    assert_eq!(found["hidden"], Value::Null, "{what}: invisible characters are shown by signs");
    assert_eq!(found["wide"], json!(false), "{what}: nothing is wider than the window");
    assert!(rig.elements() < 2_000, "{what}: {} elements", rig.elements());
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn hostile_text_stays_text() {
    let home = Home::new("page-hostile");
    let long = format!("{HOSTILE}{}", "x".repeat(90_000));
    let hostile = asking(&home, HOSTILE);
    let wide = asking(&home, &long);
    let (attacking, filling) = (attacking(&home), filling(&home));
    let rig = Rig::new(home, &[]);
    let mut paths = vec!["/".to_owned(), format!("/runs/{hostile}"), format!("/runs/{wide}")];
    for run in [&attacking, &filling] {
        let steps = rig.server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64();
        paths.extend((1..=steps.expect("a number")).map(|at| format!("/runs/{run}/entries/{at}")));
    }
    for path in paths {
        rig.open(&path);
        rig.wait("document.querySelector('.row, .question, .state.now')");
        let panes = ["why", "budgets", "data", "prompt", "what-if", "result", "chart"];
        check(&rig, &path);
        // The goal of the form is its address.
        let signs = rig.text("main").contains("U+202E") || path.contains(&filling);
        assert!(signs, "{path}: the sign of a bidi mark");
        for pane in panes.iter().filter(|_| path != "/") {
            rig.press(&format!("#tab-{pane}"));
            rig.wait(&format!("document.querySelector('#pane-{pane}').childElementCount > 0"));
            if *pane == "result" {
                rig.wait("document.querySelector('#pane-result').dataset.tables !== undefined");
            }
            check(&rig, &format!("{path}#{pane}"));
        }
    }
    // The labels of the form were read.
    let tables = "[...document.querySelectorAll('[data-table=Fields] tbody th, [data-table=Fields] tbody td')]";
    rig.press("#tab-result");
    rig.wait(&format!("{tables}.some((it) => it.textContent.includes('<img src=x'))"));
}
