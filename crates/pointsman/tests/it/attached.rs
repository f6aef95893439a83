//! Piped input is one attachment, `-p` prints only the last answer, and `-` is a goal that is read
//! from standard input.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::home::Home;

const LOG: &str = "line one\nline two\nline three\n";
const MODEL: [&str; 2] = ["--model", "script:script.toml"];

/// A home whose model answers once, after a look at a file.
fn home(name: &str) -> Home {
    let home = Home::new(name);
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'I look.'\n\
         calls = [{ tool = 'read', arguments = { path = 'docs/signals.md' } }]\n\
         [[turn]]\ntext = 'It is a log.'\n",
    );
    home
}

/// Returns the messages of the last run, and its title.
fn told(home: &Home) -> (String, Vec<String>) {
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    let entries = shown["entries"].as_array().expect("there are entries");
    let texts = entries.iter().filter_map(|it| it.pointer("/event/given/body/text")?.as_str());
    (shown["goal"].as_str().expect("a goal").to_owned(), texts.map(str::to_owned).collect())
}

const ATTACHED: &str =
    "Explain\n\nContents of standard input:\n```\nline one\nline two\nline three\n```\n";

#[test]
fn piped_input_is_one_attachment() {
    for command in [&["chat", "Explain"][..], &["run", "chat", "Explain"]] {
        let home = home(&format!("attached-{}", command.len()));
        let shown = home.reading(LOG, &[command, &MODEL].concat());
        assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
        assert!(shown.out.ends_with("It is a log.\n"), "{}", shown.out);
        assert_eq!(told(&home), ("Explain".into(), vec![ATTACHED.into()]));
    }
}

#[test]
fn piped_input_alone_is_one_message() {
    let home = home("attached-alone");
    let shown = home.reading(LOG, &[&["chat"][..], &MODEL].concat());
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    assert_eq!(told(&home), ("line one".into(), vec![LOG.trim_end().into()]));
}

#[test]
fn print_gives_the_last_answer_alone() {
    let home = home("print");
    let print = [&["chat", "-p", "Explain"][..], &MODEL].concat();
    let shown = home.reading(LOG, &print);
    let wanted = (Some(0), "It is a log.\n", "");
    assert_eq!((shown.code, shown.out.as_str(), shown.err.as_str()), wanted);
    let shown = home.reading("", &["chat", "--print"]);
    assert_eq!(shown.code, Some(2), "{}", shown.err);
    assert!(shown.err.contains("the message is empty"), "{}", shown.err);
    // The question is reported, and nothing is printed as an answer.
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'I write.'\n\
         calls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n",
    );
    let shown = home.reading("", &print);
    assert_eq!((shown.code, shown.out.as_str()), (Some(3), ""), "{}", shown.err);
    assert!(shown.err.contains("pointsman approve"), "{}", shown.err);
}

#[test]
fn a_goal_can_be_read_from_standard_input() {
    let home = home("goal-read");
    let shown = home.reading("Explain\nit all\n", &[&["run", "chat", "-"][..], &MODEL].concat());
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    assert_eq!(told(&home), ("Explain\nit all".into(), vec!["Explain\nit all".into()]));
    let shown = home.reading("Who sets the points?\n", &["run", "research", "-"]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("The pointsman sets the points"), "{}", shown.out);
    let shown = home.reading("\n", &["run", "research", "-"]);
    assert_eq!(shown.code, Some(2), "{}{}", shown.out, shown.err);
}

#[test]
fn too_long_input_is_rejected_with_a_hint() {
    let home = home("piped-long");
    home.settings("[chat]\npiped = \"1KiB\"\n");
    let long = "x".repeat(2_000);
    for command in
        [&["chat", "Explain"][..], &["run", "chat", "Explain"], &["run", "research", "-"]]
    {
        let shown = home.reading(&long, &[command, &MODEL].concat());
        assert_eq!(shown.code, Some(2), "{}", shown.err);
        assert!(shown.err.contains("standard input has more than 1024 bytes"), "{}", shown.err);
        assert!(shown.err.contains("raise `piped`"), "{}", shown.err);
    }
    assert!(home.reading("", &["runs"]).err.contains("no runs yet"));
}

#[test]
fn a_pipe_that_does_not_end_is_not_waited_for_without_limit() {
    let home = home("piped-open");
    home.settings("[chat]\npiped_timeout = \"1s\"\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .args(["chat", "Explain"])
        .args(MODEL)
        .current_dir(home.path(""))
        .env_clear()
        .envs(home.variables())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let open = child.stdin.take();
    let output = child.wait_with_output().expect("the process ends");
    drop(open);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("did not end within 1 s") && err.contains("/dev/null"), "{err}");
}
