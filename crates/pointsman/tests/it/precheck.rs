//! A call that cannot run causes no prompt: it fails at once, and the model gets the reason.

use serde_json::Value;

use crate::home::Home;

/// Calls that cannot run, each with a word of why.
const IMPOSSIBLE: [(&str, &str); 9] = [
    ("{ tool = 'frobnicate', arguments = {} }", "there is no tool `frobnicate`"),
    ("{ tool = 'write', arguments = { file = 'a', text = 'b' } }", "invalid arguments"),
    ("{ tool = 'git', arguments = { args = ['push'] } }", "`git push` is not allowed"),
    ("{ tool = 'edit', arguments = { path = 'gone.md', old = 'a', new = 'b' } }", "gone.md"),
    (
        "{ tool = 'edit', arguments = { path = 'docs/signals.md', old = 'blue', new = 'b' } }",
        "`old` ",
    ),
    ("{ tool = 'write', arguments = { path = '../x', content = 'b' } }", "`..`"),
    ("{ tool = 'shell', arguments = { command = 'ls', cwd = '/etc' } }", "outside"),
    ("{ tool = 'http_get', arguments = { url = 'http://127.0.0.1/' } }", "private_addresses"),
    ("{ tool = 'http_get', arguments = { url = 'http://localhost:1/' } }", "private_addresses"),
];

fn script(home: &Home, calls: &[&str]) {
    let calls = calls.join(", ");
    home.write(
        "script.toml",
        &format!("[[turn]]\ncalls = [{calls}]\n[[turn]]\ntext = 'It cannot be done.'\n"),
    );
}

fn chat(home: &Home, more: &[&str]) -> (Option<i32>, String, String) {
    let chat = ["chat", "--model", "script:script.toml"];
    let shown = home.reading("Go\n", &[&chat[..], more].concat());
    (shown.code, shown.out, shown.err)
}

/// Returns what the tools have answered, in order.
fn results(home: &Home) -> Vec<(bool, String)> {
    let (_, out, _) = home.pointsman(&["export", "last"]);
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let result = |line: Value| {
        let tool = line.pointer("/event/answered/answer/tool")?.clone();
        Some((tool["ok"].as_bool()?, tool["output"].as_str()?.to_owned()))
    };
    lines.filter_map(result).collect()
}

#[test]
fn a_call_that_cannot_run_is_not_asked_for_and_not_denied() {
    for unattended in [false, true] {
        let home = Home::new(if unattended { "precheck-unattended" } else { "precheck" });
        for (call, why) in IMPOSSIBLE {
            script(&home, &[call]);
            let more: &[&str] = if unattended { &["--unattended"] } else { &[] };
            let (code, out, err) = chat(&home, more);
            assert_eq!((code, out.as_str()), (Some(0), "It cannot be done.\n"), "{call}: {err}");
            let results = results(&home);
            let [(false, told)] = &results[..] else { panic!("{call}: {results:?}") };
            assert!(told.contains(why), "{call}: {told}");
            assert!(err.contains(told.lines().next().unwrap_or_default()), "{err}");
            assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
            assert!(!err.contains("person's yes"), "{err}");
            // A command that only shows the run does not mention an approval either.
            let run = ["run", "chat", "Go", "--model", "script:script.toml"];
            let (code, _, err) = home.pointsman(&[&run[..], more].concat());
            let (_, shown, _) = home.pointsman(&["show", "last"]);
            assert_eq!(code, 0, "{err}");
            assert!(err.contains("✗ "), "{err}");
            assert!(!format!("{err}{shown}").contains("person's yes"), "{err}{shown}");
        }
    }
}

#[test]
fn only_the_possible_call_prompts() {
    let home = Home::new("precheck-both");
    let can = "{ tool = 'write', arguments = { path = 'x', content = 'b' } }";
    script(&home, &[IMPOSSIBLE[0].0, can]);
    let (code, _, err) = chat(&home, &[]);
    assert_eq!(code, Some(3), "{err}");
    let (_, shown, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("the text is valid JSON");
    assert_eq!(shown["questions"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    home.write("script.toml", "[[turn]]\ntext = 'Done.'\n");
    let (code, _, err) = home.pointsman(&["resume", "last", "--model", "script:script.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(home.path("x").exists());
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
    // In an unattended run the other one is still denied.
    script(&home, &[IMPOSSIBLE[0].0, can]);
    assert_eq!(chat(&home, &["--unattended"]).0, Some(7));
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

/// A file that needs approval to read is not checked: otherwise a model could guess its content.
#[test]
fn check_reveals_nothing_of_an_unreadable_file() {
    let home = Home::new("precheck-hidden");
    home.write("secrets/key", "user = me\npassword = hunter2\n");
    let edit =
        "{ tool = 'edit', arguments = { path = 'secrets/key', old = 'password = x', new = 'y' } }";
    script(&home, &[edit]);
    for rule in [["--ask", "read:path=secrets/*"], ["--deny", "read"]] {
        let (code, _, err) = chat(&home, &rule);
        assert_eq!(code, Some(3), "a person decides: {err}");
        assert!(results(&home).is_empty());
        assert!(!err.contains("hunter2"), "{err}");
    }
}

/// The world may have changed since, or the run was killed before the first look.
#[test]
fn a_question_that_was_left_open_is_looked_at_again() {
    let home = Home::new("precheck-again");
    home.write("list.md", "one\n");
    script(
        &home,
        &["{ tool = 'edit', arguments = { path = 'list.md', old = 'one', new = 'two' } }"],
    );
    assert_eq!(chat(&home, &[]).0, Some(3), "it can be done, so it is asked for");
    home.write("list.md", "three\n");
    home.write("script.toml", "[[turn]]\ntext = 'So be it.'\n");
    let (code, _, err) = home.pointsman(&["resume", "last", "--model", "script:script.toml"]);
    assert_eq!(code, 0, "{err}");
    let results = results(&home);
    assert!(matches!(&results[..], [(false, told)] if told.contains("list.md")), "{results:?}");
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}
