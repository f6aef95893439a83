//! The results of an exploration: its map, reports, and a comparison with another.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{TempFolder, pointsman};

/// A recorded app: a home with a list, a way that leads on, one that brings the app down, and
/// a screen that nothing leaves.
fn recording(folder: &TempFolder, name: &str, crashes: bool) -> PathBuf {
    let button = |id: &str, top: u32| {
        format!(
            r#"<a.Button class="a.Button" package="app" clickable="true" enabled="true" resource-id="app:id/{id}" text="{id}" bounds="[0,{top}][200,{}]"/>"#,
            top + 80
        )
    };
    let screen = |id: &str, activity: &str, package: &str, buttons: &[&str]| {
        let inside: Vec<String> = (0..).zip(buttons).map(|(at, it)| button(it, at * 100)).collect();
        let hierarchy = format!(
            r#"<hierarchy><a.Frame class="a.Frame" package="{package}" bounds="[0,0][200,400]">{}</a.Frame></hierarchy>"#,
            inside.join("")
        );
        json!({ "type": "state", "id": id, "activity": activity, "package": package, "flags": [],
            "hierarchy": hierarchy })
    };
    let event = |from: &str, to: &str, kind: &str, node: Option<u32>| {
        json!({ "type": "event", "from": from, "to": to, "kind": kind, "raw": {}, "p": 1.0,
            "target": node.map(|node| json!({ "node": node })) })
    };
    let mut lines = vec![
        json!({ "type": "header", "app": "test", "package": "app", "kind": "synthetic",
            "initial": "home" }),
        screen("home", "Home", "app", &["more", "trap", "boom"]),
        screen("more", "More", "app", &["detail"]),
        screen("detail", "Detail", "app", &["x"]),
        screen("trap", "Trap", "app", &["stay"]),
        screen("down", "", "android", &["aerr_close"]),
        event("home", "more", "tap", Some(1)),
        event("more", "home", "back", None),
        event("more", "detail", "tap", Some(1)),
        event("detail", "more", "back", None),
        event("home", "trap", "tap", Some(2)),
    ];
    if crashes {
        lines.push(event("home", "down", "tap", Some(3)));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let path = folder.0.join(name);
    fs::write(&path, lines.join("\n")).expect("the file is written");
    path
}

struct Rig {
    folder: TempFolder,
    journal: String,
}

impl Rig {
    fn new(name: &str) -> Self {
        let folder = TempFolder::new(name);
        let journal = folder.0.join("j.db").display().to_string();
        Self { folder, journal }
    }

    /// Returns all that a command shows; what it needs of a home is in the folder.
    fn shown(&self, arguments: &[&str]) -> String {
        let globals = ["--journal", self.journal.as_str()];
        let home = self.folder.0.display().to_string();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .args(globals)
            .current_dir(&self.folder.0)
            .env_clear()
            .env("NO_COLOR", "1")
            .env("HOME", home)
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the binary starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("the process exited by itself");
        format!("exit {code}\n{}{}", text(&output.stdout), text(&output.stderr))
    }

    /// Returns what a command that ends with this code prints.
    fn out(&self, code: u8, arguments: &[&str]) -> String {
        let shown = self.shown(arguments);
        let rest = shown.strip_prefix(&format!("exit {code}\n"));
        rest.unwrap_or_else(|| panic!("{arguments:?}: {shown}")).to_owned()
    }

    /// Explores a recording, and returns the run's id.
    fn explore(&self, crashes: bool) -> String {
        let file = recording(&self.folder, &format!("app-{crashes}.jsonl"), crashes);
        let file = file.display().to_string();
        let budgets = ["actions=60", "steps=900", "taps=200", "restarts=60", "rounds=300"];
        let mut arguments = vec!["run", "explore", "--app-graph", &*file, "--seed", "1", "--json"];
        arguments.extend(budgets.iter().flat_map(|it| ["--budget", *it]));
        let shown = self.shown(&arguments);
        let said = shown.lines().rfind(|line| line.starts_with('{')).expect("a line of JSON");
        let said: Value = serde_json::from_str(said).expect("the text is valid JSON");
        said["run"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
    }
}

#[test]
fn a_map_is_drawn_in_every_format() {
    let rig = Rig::new("map");
    rig.explore(true);
    let map: Value = serde_json::from_str(&rig.out(0, &["graph", "last", "--format", "json"]))
        .expect("the text is valid JSON");
    assert_eq!(map["coverage"]["screens"], 4, "{map}");
    assert_eq!(map["crashes"][0]["kind"], "crash", "{map}");
    assert_eq!(map["dead_ends"].as_array().map(Vec::len), Some(1), "{map}");
    let svg = rig.out(0, &["graph", "last"]);
    well_formed(&svg);
    for part in ["Map of app", "✕ crash", "dead end", "start", "tap “boom”", "@media"] {
        assert!(svg.contains(part), "{part} is not in {svg}");
    }
    assert_eq!(svg, rig.out(0, &["graph", "last"]), "it is the same every time");
    let dot = rig.out(0, &["graph", "last", "--format", "dot"]);
    assert!(dot.starts_with("digraph \"app\" {") && dot.contains("color=red"), "{dot}");
    let refused = rig.out(2, &["graph", "last", "--format", "mermaid"]);
    assert!(refused.contains("svg, dot, json"), "{refused}");
}

/// The picture in the guide, and the run that the guide begins with.
#[test]
fn the_map_in_the_guide_is_the_one_that_its_commands_draw() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explore");
    let rig = Rig::new("guide");
    fs::copy(folder.join("notes.jsonl"), rig.folder.0.join("notes.jsonl"))
        .expect("the file is copied");
    let explore = ["run", "explore", "--app-graph", "notes.jsonl", "--policy", "max-coverage"];
    rig.out(0, &[&explore[..], &["--budget", "actions=300", "--seed", "1"]].concat());
    let drawn = rig.out(0, &["graph", "last"]);
    let path = folder.join("map.svg");
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        fs::write(&path, &drawn).expect("the file is written");
    }
    // How often each way was taken is the policy's affair, and may change.
    let names = |svg: &str| -> BTreeSet<String> {
        let parts = svg.split("class=\"name\"").skip(1);
        let name = |it: &str| it.split_once('>')?.1.split(['<', '×']).next().map(str::to_owned);
        let done = svg.split("<g><title>").skip(1).filter_map(|it| it.split(['<', '×']).next());
        parts.filter_map(name).chain(done.map(|it| it.trim_end().to_owned())).collect()
    };
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(names(&kept).len() > 10, "{:?}", names(&kept));
    assert_eq!(
        names(&kept),
        names(&drawn),
        "docs/explore/map.svg is out of date; run this test with INSTA_UPDATE=always"
    );
    for word in ["13 screens", "dead end", "crash", "start", "system dialog"] {
        assert!(drawn.contains(word), "{word}");
    }
}

#[test]
fn reports_tell_crashes_with_their_path() {
    let rig = Rig::new("reports");
    rig.explore(true);
    let junit = rig.out(1, &["report", "last", "--format", "junit"]);
    well_formed(&junit);
    assert!(junit.contains("failures=\"1\""), "{junit}");
    assert!(junit.contains("<failure type=\"crash\" message=\"crash after tap “boom”"), "{junit}");
    let file = rig.folder.0.join("report.html");
    rig.out(1, &["report", "last", "--out", &file.display().to_string()]);
    let page = fs::read_to_string(file).expect("the file exists and is UTF-8");
    for part in ["Exploration of app", "<svg", "Crash after tap “boom”", "prefers-color-scheme"]
    {
        assert!(page.contains(part), "{part}");
    }
    for outside in ["<script", "src=\"http", "href=\"http", "@import", "url("] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
    let data: Value = serde_json::from_str(&rig.out(1, &["report", "last", "--format", "json"]))
        .expect("the text is valid JSON");
    let moves = data["moves"].as_array().map_or(0, Vec::len);
    assert_eq!(data["coverage"]["actions"], moves, "{data}");
}

#[test]
fn a_comparison_fails_when_the_app_got_worse() {
    let rig = Rig::new("compare");
    let (sound, broken) = (rig.explore(false), rig.explore(true));
    let same = rig.out(0, &["compare", &sound, &sound]);
    assert!(same.contains("screens: 0 lost, 0 new"), "{same}");
    let worse = rig.out(1, &["compare", &sound, &broken, "--fail-on", "crashes", "--json"]);
    let worse: Value = serde_json::from_str(worse.lines().next().expect("a line"))
        .expect("the text is valid JSON");
    assert_eq!(worse["crashes"]["new"].as_array().map(Vec::len), Some(1), "{worse}");
    rig.out(0, &["compare", &broken, &sound, "--fail-on", "crashes"]);
}

#[test]
fn failed_exploration_is_an_error_in_junit() {
    let rig = Rig::new("failed");
    let caps = r#"{"platformName": "Android", "appium:automationName": "UiAutomator2",
        "appium:appPackage": "app"}"#;
    fs::write(rig.folder.0.join("caps.json"), caps).expect("the file is written");
    let sound = rig.explore(false);
    let explore = ["run", "explore", "--caps", "caps.json", "--appium"];
    // Nothing listens there.
    rig.out(1, &[&explore[..], &["http://127.0.0.1:1"]].concat());
    let junit = rig.out(1, &["report", "last", "--format", "junit"]);
    well_formed(&junit);
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{junit}");
    assert!(junit.contains("<error type=\"failed\" message=\"the Appium server at"), "{junit}");
    let compared = rig.out(2, &["compare", &sound, "last", "--fail-on", "crashes"]);
    assert!(compared.contains("saw no screen: the Appium server at"), "{compared}");
    let refused = rig.out(2, &[&explore[..], &["ftp://127.0.0.1"]].concat());
    assert!(refused.contains("is not the address of an Appium server"), "{refused}");
}

#[test]
fn an_app_s_words_do_not_steer_the_terminal() {
    let rig = Rig::new("words");
    let before = rig.explore(false);
    let path = rig.folder.0.join("steering.jsonl");
    let text = fs::read_to_string(recording(&rig.folder, "plain.jsonl", true))
        .expect("the file exists and is UTF-8");
    let text = text.replace("text=\\\"boom\\\"", "text=\\\"bo\u{202e}om\u{9b}2J\\\"");
    fs::write(&path, text).expect("the file is written");
    let graph = path.display().to_string();
    rig.out(0, &["run", "explore", "--app-graph", &graph, "--budget", "actions=60"]);
    let shown = [
        rig.shown(&["compare", &before, "last"]),
        rig.shown(&["reproduce", "last"]),
        rig.shown(&["report", "last", "--format", "json"]),
    ];
    for text in shown {
        assert!(text.contains("om"), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{9b}', '\u{1b}']), "{text:?}");
    }
}

#[test]
fn a_run_of_another_agent_has_no_map() {
    let shown = pointsman(&["graph", "nothing-of-that-name"]);
    assert!(shown.starts_with("exit 2"), "{shown}");
}

/// Fails unless every tag is closed by its own.
fn well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        let name = tag.trim_end_matches('/').split_whitespace().next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {text}");
        } else if !tag.ends_with('/') && !name.starts_with(['?', '!']) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} is open");
}

#[test]
fn a_crash_is_exported_as_a_flow_and_a_script() {
    let rig = Rig::new("reproduce");
    rig.explore(true);
    let out = rig.folder.0.join("out").display().to_string();
    let said = rig.out(0, &["reproduce", "last", "--out", &out, "--json"]);
    let said: Value =
        serde_json::from_str(said.lines().next().expect("a line")).expect("the text is valid JSON");
    let crash = &said["reproducers"][0];
    assert_eq!((&crash["kind"], &crash["length"]), (&json!("crash"), &json!(2)), "{said}");
    assert_eq!((&crash["held"], &crash["tries"]), (&json!(5), &json!(5)), "{said}");
    let read = |name: &str| fs::read_to_string(rig.folder.0.join("out").join(name)).expect(name);
    let flow = read("01-crash.yaml");
    insta::assert_snapshot!("crash_flow", flow);
    insta::assert_snapshot!("crash_script", read("01-crash.py"));
    maestro(&flow);
    maestro(&read("02-dead-end.yaml"));
}

/// Fails unless a flow has the shape that Maestro reads: a head, and then commands that this
/// program writes, each with the keys that it takes.
fn maestro(flow: &str) {
    let (head, commands) = flow.split_once("---\n").expect("a head and commands");
    assert!(head.lines().all(|it| it.starts_with("# ") || it.starts_with("appId: \"")), "{head}");
    let mut keys: &[&str] = &[];
    for line in commands.lines() {
        if let Some(command) = line.strip_prefix("- ") {
            let (name, value) = command.split_once(':').unwrap_or((command, ""));
            keys = match name {
                "launchApp" => &["stopApp"],
                "tapOn" | "longPressOn" => &["id", "text", "index", "point"],
                "swipe" => &["from", "direction", "id", "text", "index", "point"],
                "inputText" => {
                    assert!(value.trim().starts_with('"'), "{line}");
                    &[]
                }
                "back" | "eraseText" | "waitForAnimationToEnd" => &[],
                name => panic!("{name} is not a command: {flow}"),
            };
        } else {
            let (key, _) = line.trim().split_once(':').expect("a key");
            assert!(keys.contains(&key), "{key} does not belong to its command: {flow}");
        }
    }
}
