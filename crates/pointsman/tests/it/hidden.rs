//! Invisible and control characters are shown by a sign wherever a person reads or decides: at
//! questions, in lists, in JSON, and in terminal output.

use serde_json::Value;

use crate::{home::Home, terminal::Terminal};

/// Characters that must never reach a person as they are.
const HIDDEN: [char; 14] = [
    '\u{3164}',
    '\u{115f}',
    '\u{ffa0}',
    '\u{2800}',
    '\u{202e}',
    '\u{2066}',
    '\u{200b}',
    '\u{200f}',
    '\u{61c}',
    '\u{ad}',
    '\u{feff}',
    '\u{e0041}',
    '\u{9b}',
    '\u{7f}',
];

/// A home in which a model wants a command that hides its end.
fn hiding(name: &str) -> Home {
    let home = Home::new(name);
    let each: Vec<String> = HIDDEN.iter().map(|c| format!("-\\U{:08X}", u32::from(*c))).collect();
    let each = each.concat();
    let (blanks, wide) = (" ".repeat(300), "\\u3164".repeat(300));
    home.write(
        "script.toml",
        &format!(
            "[[turn]]\ntext = \"Reply {each}\"\n[[turn.calls]]\ntool = 'shell'\n\
             arguments = {{ command = \"echo {each}{wide}{blanks}; touch ran\" }}\n"
        ),
    );
    home
}

/// A goal that hides something.
fn goal() -> String {
    let each: Vec<String> = HIDDEN.iter().map(|c| format!("-{c}")).collect();
    format!("Do {}{}", each.concat(), "\u{3164}".repeat(300))
}

#[track_caller]
fn is_clean(what: &str, text: &str) {
    let raw = HIDDEN.iter().find(|c| text.contains(**c));
    assert_eq!(raw, None, "{what}:\n{text}");
}

#[test]
fn nothing_is_hidden_in_any_view_without_a_terminal() {
    let home = hiding("hidden-views");
    let run = ["run", "chat", &goal(), "--model", "script:script.toml"];
    let (code, out, err) = home.pointsman(&run);
    assert_eq!(code, 3, "{out}{err}");
    is_clean("run", &err);
    assert!(err.contains("⟨300×U+3164⟩") && err.contains("⟨300 blanks⟩"), "{err}");
    assert!(err.contains("; touch ran"), "{err}");
    for view in [&["show", "last"][..], &["why", "last"], &["runs"], &["chat", "--list"]] {
        let (code, out, err) = home.pointsman(view);
        assert_eq!(code, 0, "{view:?}: {out}{err}");
        is_clean(&format!("{view:?}"), &format!("{out}{err}"));
        let json = [view, &["--json"]].concat();
        let (code, out, err) = home.pointsman(&json);
        assert_eq!(code, 0, "{json:?}: {out}{err}");
        is_clean(&format!("{json:?}"), &format!("{out}{err}"));
        for line in out.lines() {
            serde_json::from_str::<Value>(line).expect("the text is valid JSON");
        }
    }
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(shown["goal"], goal(), "JSON means the same");
    let (_, out, _) = home.pointsman(&["show", "last"]);
    assert!(out.contains("⟨300×U+3164⟩") && out.contains("⟨300 blanks⟩"), "{out}");
    let (code, out, err) = home.pointsman(&["deny", "last"]);
    assert_eq!(code, 0, "{out}{err}");
    is_clean("deny", &format!("{out}{err}"));
    let (_, out, err) = home.pointsman(&[&run[..], &["--json"]].concat());
    is_clean("run --json", &format!("{out}{err}"));
}

#[test]
fn nothing_is_hidden_at_a_question() {
    for (name, command) in [("hidden-chat", &["chat"][..]), ("hidden-run", &["run", "chat"])] {
        let home = hiding(name);
        let model = ["Do", "--model", "script:script.toml"];
        let terminal = Terminal::start(&home, &[command, &model].concat());
        let shown = terminal.asks();
        is_clean(name, &shown);
        let flat: String = shown.split_whitespace().collect();
        assert!(flat.contains("U+3164⟩") && flat.contains("⟨300blanks⟩;touchran"), "{shown}");
        for c in HIDDEN.iter().filter(|c| !c.is_control()) {
            let sign = format!("U+{:04X}⟩", u32::from(*c));
            assert!(flat.contains(&sign), "{sign} in\n{shown}");
        }
    }
}

#[test]
fn nothing_steers_a_terminal_that_shows_a_journal() {
    let home = hiding("hidden-journal");
    let (code, out, err) =
        home.pointsman(&["run", "chat", &goal(), "--model", "script:script.toml"]);
    assert_eq!(code, 3, "{out}{err}");
    for view in [
        &["export", "last"][..],
        &["show", "last", "--prompts"],
        &["show", "last", "--prompts", "--json"],
        &["show", "last", "--json"],
        &["show", "last"],
        &["runs"],
    ] {
        let (code, shown) = Terminal::start(&home, view).ends();
        assert_eq!(code, 0, "{view:?}: {shown}");
        is_clean(&format!("{view:?}"), &shown);
    }
    // In a pipe an export is unchanged, and can be replayed.
    let (_, out, _) = home.pointsman(&["export", "last"]);
    home.write("run.jsonl", &out);
    assert_eq!(home.pointsman(&["replay", "run.jsonl"]).0, 0);
}
