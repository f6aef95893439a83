//! Hints after a mistyped command, and the states that `runs` shows.

use serde_json::Value;

use crate::home::{Home, ProgressSink};
use crate::stdout;

#[test]
fn mistyped_commands_are_answered_with_the_right_one() {
    let home = Home::new("hints");
    for (arguments, told) in [
        (
            &["run", "research", "what", "is", "this"][..],
            "quote the goal: `pointsman run research \"what is this\"`",
        ),
        (&["run", "research", "what's", "this"], r"`pointsman run research 'what'\''s this'`"),
        (&["run", "reserch", "x"], "did you mean `research`?"),
        (&["replay", "note.toml"], "`pointsman check note.toml` checks a chart"),
        (
            &["run", "research", "x", "--allow", "shell:rm *"],
            "such as `shell:command=cargo test *`",
        ),
    ] {
        let (code, out, err) = home.pointsman(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}

#[test]
fn a_key_in_the_settings_is_answered_with_the_environment() {
    let home = Home::new("hints-key");
    home.settings("[model]\napi_key = \"secret-value\"\n");
    let (code, _, err) = home.pointsman(&["run", "research", "x"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("OPENAI_API_KEY"), "{err}");
}

#[test]
fn damaged_export_differs_from_a_foreign_file() {
    let home = Home::new("hints-export");
    home.research("Who sets the points?");
    let (_, export, _) = home.pointsman(&["export", "last"]);
    home.write("run.jsonl", &export.replacen("points", "pionts", 1));
    assert_eq!(home.pointsman(&["replay", "run.jsonl"]).0, 9);
    home.write("run.jsonl", &export);
    assert_eq!(home.pointsman(&["replay", "run.jsonl"]).0, 0);
}

#[test]
fn no_relevant_passage_is_not_a_success() {
    let home = Home::new("hints-quote");
    home.write("docs/bytes.md", "Call bytes.capitalize() for a copy with capitalized letters.\n");
    home.write(
        "docs/lib.rs",
        "/// A queue that holds jobs\n/// until a worker asks for one.\nfn f() {}\n",
    );
    let ask = |question: &str| home.pointsman(&["run", "research", question, "--dir", "docs"]);
    let (code, out, err) = ask("What is the capital of Mongolia?");
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.starts_with("No answer was found"), "{out}");
    assert!(err.contains("not found"), "{err}");
    assert!(!out.contains("the model's replies") && !err.contains("the model's replies"), "{out}");
    let (code, out, err) = ask("What does the queue hold until a worker asks?");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("A queue that holds jobs until a worker asks for one."), "{out}");
}

#[test]
fn list_shows_charts_and_waiting_states() {
    let home = Home::new("hints-runs");
    assert_eq!(home.pointsman(&["run", "note.toml", "Hello", "--set", "tone=dry"]).0, 3);
    let (_, out, _) = home.pointsman(&["runs"]);
    let row = out.lines().nth(1).expect("the item exists");
    assert!(row.contains("  note  ") && row.contains("  waiting for you  "), "{out}");
    assert!(!out.contains("builtin"), "{out}");
}

/// A folder where not even root can create anything.
const NOWHERE: &str = "/proc/pointsman/journal.db";

#[test]
fn doctor_tries_whether_it_can_write() {
    let home = Home::new("hints-doctor");
    let (code, out, _) = home.pointsman(&["doctor", "--json"]);
    let checks: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    let status = |checks: &Value, name: &str| {
        let rows = checks["checks"].as_array().expect("the value is a list").clone();
        rows.iter().find(|row| row["name"] == name).expect("a row")["status"].clone()
    };
    assert_eq!((status(&checks, "journal"), status(&checks, "index")), ("ok".into(), "ok".into()));
    assert_eq!(code, 0, "{out}");
    assert!(!home.path("state").exists(), "nothing stays behind");
    // Toolchains were tried, each with its own cache.
    let cache = std::fs::read_dir(home.path("cache/pointsman")).into_iter().flatten().flatten();
    for entry in cache {
        let name = entry.file_name();
        assert!(name.to_string_lossy().starts_with("toolchains-"), "{name:?} stays behind");
    }
    let ProgressSink { code, out, .. } = home.with(
        &[("POINTSMAN_JOURNAL", NOWHERE), ("XDG_CACHE_HOME", "/proc")],
        &["doctor", "--json"],
    );
    let checks: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(
        (status(&checks, "journal"), status(&checks, "index")),
        ("fail".into(), "fail".into()),
        "{out}"
    );
    assert_eq!(code, Some(1));
}

#[test]
fn looking_at_runs_needs_no_right_to_write() {
    let home = Home::new("hints-readonly");
    let ProgressSink { code, err, .. } = home.with(&[("POINTSMAN_JOURNAL", NOWHERE)], &["runs"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("no runs yet"), "{err}");
    let run = ["run", "research", "x", "--dir", "docs"];
    let ProgressSink { code, err, .. } = home.with(&[("POINTSMAN_JOURNAL", NOWHERE)], &run);
    assert_eq!(code, Some(10), "{err}");
    assert!(err.contains("hint: "), "{err}");
}

#[test]
fn manual_pages_have_the_usual_sections() {
    let home = Home::new("hints-man");
    assert_eq!(home.pointsman(&["man", "--dir", "man"]).0, 0);
    for page in ["pointsman.1", "pointsman-run.1", "pointsman-runs-prune.1"] {
        let text = std::fs::read_to_string(home.path("man").join(page))
            .expect("the file exists and is UTF-8");
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SYNOPSIS"] {
            assert!(text.contains(section), "{page} has no {section}");
        }
        assert!(!text.contains(".SH EXTRA"), "{page}");
    }
}

#[test]
fn doctor_help_lists_only_its_options() {
    let help = stdout(&["doctor", "--help"]);
    for option in ["--record", "--replay", "on resume"] {
        assert!(!help.contains(option), "{option}: {help}");
    }
}

#[test]
fn blanks_in_a_call_are_counted_without_a_terminal_too() {
    let home = Home::new("hints-blanks");
    let goal = format!("a{}b", " ".repeat(60));
    for shown in [home.shown(&["run", "note.toml", &goal]), home.shown(&["show", "last"])] {
        assert!(shown.contains("60 blanks"), "{shown}");
    }
}

#[test]
fn failed_run_says_why_and_waiting_one_what_to_type() {
    let home = Home::new("hints-ends");
    home.write("note.toml", &crate::home::NOTE.replace("note.txt", "docs"));
    let run = ["run", "note.toml", "Hello", "--set", "tone=dry", "--allow", "write"];
    let (code, _, err) = home.pointsman(&run);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("reason: ") && err.contains("docs"), "{err}");
    home.write("script.toml", "[[turn]]\ntext = 'Hello.'\n");
    let shown = home.reading("Hi\n", &["chat", "--model", "script:script.toml"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let fork = ["fork", "last", "--model", "script:script.toml"];
    let (code, out, err) = home.pointsman(&fork);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("waiting for your message"), "{err}");
    assert!(err.contains("next: pointsman chat --resume "), "{err}");
    let (_, out, _) = home.pointsman(&["runs"]);
    assert!(out.contains("  waiting for your message  "), "{out}");
}

#[test]
fn show_agrees_with_the_exit_code_without_an_answer() {
    let home = Home::new("hints-unanswered");
    home.write("script.toml", "[[turn]]\nfault = { class = 'forbidden', message = 'no key' }\n");
    let (code, _, err) = home.pointsman(&["run", "chat", "Hello", "--model", "script:script.toml"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("ended without an answer"), "{err}");
    let (_, out, _) = home.pointsman(&["show", "last"]);
    assert!(out.contains("ended without an answer, in `"), "{out}");
    assert!(!out.contains("succeeded, in `"), "{out}");
    for list in [&["runs"][..], &["chat", "--list", "--all"]] {
        let (_, out, _) = home.pointsman(list);
        assert!(out.contains("  ended without an answer  "), "{out}");
    }
}

/// Completes the last of some words, as bash does.
fn completed(home: &Home, words: &[&str]) -> Vec<String> {
    let script = stdout(&["completions", "bash"]);
    home.write("complete.bash", &script);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_pointsman"));
    let folder = program.parent().expect("the path has a parent folder").display();
    let asks = "PATH=\"$1:$PATH\"; shift; . ./complete.bash; COMP_WORDS=(\"$@\"); \
                COMP_CWORD=$(($# - 1)); f=$(complete -p pointsman); f=${f#*-F }; \
                ${f%% *} pointsman \"${@: -1}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", asks, "bash", &folder.to_string(), "pointsman"])
        .args(words)
        .current_dir(home.path(""))
        .env_clear()
        .envs(home.variables())
        .output()
        .expect("there is bash");
    let told = String::from_utf8(output.stderr).expect("the output is UTF-8");
    assert_eq!(told, "", "{words:?}");
    let out = String::from_utf8(output.stdout).expect("the output is UTF-8");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_agents_runs_and_codes() {
    let home = Home::new("hints-complete");
    assert!(completed(&home, &["show", "0"]).iter().all(String::is_empty), "there is no run yet");
    let run = home.research("Who sets the points?");
    assert_eq!(completed(&home, &["show", &run[..6]]), [run.as_str()]);
    assert_eq!(completed(&home, &["resume", "la"]), ["last"]);
    assert_eq!(completed(&home, &["chat", "--resume", &run[..6]]), [run.as_str()]);
    assert_eq!(completed(&home, &["run", "rese"]), ["research"]);
    assert_eq!(completed(&home, &["check", "cod"]), ["code"]);
    assert_eq!(completed(&home, &["explain", "PM050"]).len(), 7);
    // Commands and options are completed as before.
    assert_eq!(completed(&home, &["expl"]), ["explain"]);
    assert_eq!(completed(&home, &["show", "--js"]), ["--json"]);
    assert_eq!(completed(&home, &["--vers"]), ["--version"]);
    assert!(completed(&home, &["name"]).iter().all(String::is_empty), "it is for scripts alone");
    for (shell, asks) in [("zsh", "_pointsman_runs' "), ("fish", "pointsman names codes")] {
        assert!(stdout(&["completions", shell]).contains(asks), "{shell}");
    }
}
