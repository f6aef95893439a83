//! A run whose goal, tool output, file names and answers attack the page.

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

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn hostile_text_stays_text() {
    let home = Home::new("page-hostile");
    let long = format!("{HOSTILE}{}", "x".repeat(90_000));
    let hostile = asking(&home, HOSTILE);
    let wide = asking(&home, &long);
    let attacking = attacking(&home);
    let rig = Rig::new(home, &[]);
    let mut paths = vec!["/".to_owned(), format!("/runs/{hostile}"), format!("/runs/{wide}")];
    let steps = rig.server.json(&format!("/api/v1/runs/{attacking}"))["steps"].as_u64();
    paths
        .extend((1..=steps.expect("a number")).map(|at| format!("/runs/{attacking}/entries/{at}")));
    for path in paths {
        rig.open(&path);
        rig.wait("document.querySelector('.row, .question, .state.now')");
        let panes = ["why", "budgets", "data", "prompt", "what-if", "result", "chart"];
        for pane in panes.iter().filter(|_| path != "/") {
            rig.press(&format!("#tab-{pane}"));
            rig.wait(&format!("document.querySelector('#pane-{pane}').childElementCount > 0"));
        }
        let found = rig.script(
            "return { title: document.title, \
             foreign: document.querySelectorAll('main img, main script, main b, main u, main iframe, .story i, .runs i').length, \
             links: [...document.querySelectorAll('main a')].filter((it) => it.protocol === 'javascript:').length, \
             handlers: [...document.querySelectorAll('*')].filter((it) => [...it.attributes].some((at) => at.name.startsWith('on'))).length, \
             hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.test(document.querySelector('.story, .runs').textContent), \
             wide: document.documentElement.scrollWidth > document.documentElement.clientWidth, \
             elsewhere: performance.getEntriesByType('resource').filter((it) => new URL(it.name).host !== location.host).length }",
        );
        assert_ne!(found["title"], "owned", "{path}");
        for count in ["foreign", "links", "handlers", "elsewhere"] {
            assert_eq!(found[count], json!(0), "{path}: {count}");
        }
        assert_eq!(
            found["hidden"],
            json!(false),
            "{path}: invisible characters are shown by signs"
        );
        let signs = "return document.querySelector('main').textContent.includes('U+202E')";
        assert_eq!(rig.script(signs), json!(true), "{path}: the sign of a bidi mark");
        assert_eq!(found["wide"], json!(false), "{path}: nothing is wider than the window");
        assert!(rig.elements() < 2_000, "{path}: {} elements", rig.elements());
    }
}
