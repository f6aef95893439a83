//! Questions: what they show, which lines count as answers, and who else may answer.

use std::fs;

use super::{CTRL_D, Terminal};
use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];

/// A home in which a model wants to call a tool once, after a while.
fn wanting(name: &str, delay_ms: u64, tool: &str, arguments: &str) -> Home {
    let home = Home::new(name);
    home.write(
        "script.toml",
        &format!(
            "[[turn]]\ndelay_ms = {delay_ms}\n[[turn.calls]]\ntool = '{tool}'\n\
             arguments = {{ {arguments} }}\n[[turn]]\ntext = 'That is all.'\n[[turn]]\n\
             text = 'Second.'\n"
        ),
    );
    home
}

#[test]
fn a_line_that_was_begun_before_the_question_is_a_message() {
    let home = wanting("early-line", 4_000, "write", "path = 'a.txt', content = 'one'");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
    terminal.shows("asks script");
    terminal.keys("ye");
    terminal.shows("› ye");
    terminal.shows("May this call run?");
    // The rest of the line makes it a word that would be an answer.
    terminal.keys("s");
    terminal.shows("› yes");
    terminal.keys("\r");
    terminal.shows("queued: yes");
    terminal.asks();
    assert!(!home.path("a.txt").exists(), "nobody said yes");
    terminal.keys("y\r");
    terminal.shows("✓ write a.txt");
    terminal.shows("Second.");
}

#[test]
fn a_sentence_at_a_question_is_the_next_message() {
    let home = wanting("sentence", 0, "write", "path = 'a.txt', content = 'one'");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
    terminal.asks();
    for key in "yes why do you want this? please, later".chars() {
        terminal.keys(&key.to_string());
    }
    terminal.shows("› yes why do you want this? please, later");
    terminal.keys("\r");
    let shown = terminal.shows("queued: yes why do you want this?");
    assert!(!home.path("a.txt").exists(), "nobody said yes:\n{shown}");
    // The question is still there.
    terminal.asks();
    terminal.keys("yes\r");
    terminal.shows("✓ write a.txt");
    terminal.shows("› yes why do you want this?");
    terminal.shows("Second.");
    terminal.prompts();
}

#[test]
fn pasted_text_at_a_question_is_a_message() {
    let home = wanting("pasted", 0, "write", "path = 'a.txt', content = 'one'");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
    terminal.asks();
    terminal.keys("\x1b[200~yes\x1b[201~");
    terminal.shows("› yes");
    terminal.keys("\r");
    let shown = terminal.shows("queued: yes");
    assert!(!home.path("a.txt").exists(), "nobody said yes:\n{shown}");
    terminal.asks();
    terminal.keys("yes\r");
    terminal.shows("✓ write a.txt");
    terminal.shows("Second.");
}

#[test]
fn line_typed_before_a_question_is_not_an_answer() {
    let home = wanting("early-run", 2_000, "write", "path = 'a.txt', content = 'one'");
    let run = ["run", "chat", "Write", "--model", "script:script.toml"];
    let terminal = Terminal::start(&home, &run);
    terminal.shows("asks script");
    terminal.keys("y\r");
    terminal.shows("too soon: read the question, then type the answer again");
    terminal.asks();
    assert!(!home.path("a.txt").exists(), "nobody said yes");
    terminal.keys("yes, do it\r");
    terminal.shows("not a valid answer: yes, do it");
    terminal.asks();
    assert!(!home.path("a.txt").exists(), "nobody said yes");
    terminal.keys("y\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(home.path("a.txt").exists(), "{shown}");
}

#[test]
fn the_end_of_a_long_command_is_seen() {
    let hidden = format!("'echo cargo{}; echo hidden {}last'", " ".repeat(150), "x".repeat(200));
    let home = wanting("long-command", 0, "shell", &format!("command = {hidden}"));
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.asks();
    let flat: String = shown.split_whitespace().collect();
    assert!(flat.contains("⟨150blanks⟩;echohidden"), "{shown}");
    assert!(flat.contains("xlast"), "{shown}");
}

#[test]
fn yes_counts_only_after_the_last_page() {
    let lines: Vec<String> = (1..=90).map(|line| format!("line {line}\\n")).collect();
    let lines = lines.concat();
    let home = wanting("long-write", 0, "write", &format!("path = 'a.txt', content = \"{lines}\""));
    home.write("a.txt", "line 1\nold\nline 90\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.shows("[m]ore");
    assert!(shown.contains("write a.txt: 90 lines") && shown.contains("- old"), "{shown}");
    assert!(shown.contains("+ line 2") && !shown.contains("+ line 89"), "{shown}");
    // Yes is not a choice yet.
    terminal.shows("Enter shows more");
    terminal.keys("y\r");
    terminal.shows("read the whole question first");
    terminal.keys("\r");
    terminal.shows("+ line 50");
    assert_eq!(
        fs::read_to_string(home.path("a.txt"))
            .expect("the file exists and is UTF-8")
            .lines()
            .count(),
        3
    );
    terminal.keys("w\r");
    terminal.shows("+ line 89");
    terminal.asks();
    terminal.keys("y\r");
    terminal.shows("✓ write a.txt");
    assert_eq!(
        fs::read_to_string(home.path("a.txt"))
            .expect("the file exists and is UTF-8")
            .lines()
            .count(),
        90
    );
}

#[test]
fn a_command_of_many_lines_is_shown_whole() {
    let lines: Vec<String> = (1..=29).map(|line| format!("echo {line}\\n")).collect();
    let lines = lines.concat();
    let home = wanting("many-lines", 0, "shell", &format!("command = \"{lines}echo last\""));
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.asks();
    assert!(shown.contains("$ echo 1\n") && shown.contains("$ echo last"), "{shown}");
}

#[test]
fn a_question_that_is_answered_elsewhere_is_taken_back() {
    for (name, answer) in [("elsewhere-yes", "approve"), ("elsewhere-no", "deny")] {
        let home = wanting(name, 0, "write", "path = 'a.txt', content = 'one'");
        let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
        terminal.asks();
        let (code, out, err) = home.pointsman(&[answer, "last"]);
        assert_eq!(code, 0, "{out}{err}");
        terminal.shows("answered elsewhere");
        terminal.shows("That is all.");
        // The question has a prompt too, and is taken back a moment after the answer is shown.
        let asked = |screen: &vt100::Screen| screen.contents().contains("[y]es, once");
        terminal.until("no question", |screen| !asked(screen));
        terminal.prompts();
        assert_eq!(home.path("a.txt").exists(), answer == "approve");
        terminal.keys(CTRL_D);
        assert_eq!(terminal.ends().0, 0);
    }
}

#[test]
fn a_run_takes_its_question_back_when_it_is_answered_elsewhere() {
    for (name, answer) in [("run-elsewhere-yes", "approve"), ("run-elsewhere-no", "deny")] {
        let home = wanting(name, 0, "write", "path = 'a.txt', content = 'one'");
        let run = ["run", "chat", "Write", "--model", "script:script.toml"];
        let terminal = Terminal::start(&home, &run);
        terminal.asks();
        let (code, out, err) = home.pointsman(&[answer, "last"]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("continues"), "it was taken at once: {out}");
        let (code, shown) = terminal.ends();
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("answered elsewhere") && shown.contains("That is all."), "{shown}");
        assert_eq!(home.path("a.txt").exists(), answer == "approve", "{shown}");
    }
}

#[test]
fn a_question_says_until_when_it_can_be_answered() {
    for command in [&MODEL[..], &["run", "chat", "--model", "script:script.toml"]] {
        let home = wanting("until", 0, "write", "path = 'a.txt', content = 'one'");
        let terminal = Terminal::start(&home, &[command, &["Write"]].concat());
        let shown = terminal.asks();
        let until = shown.lines().find(|line| line.starts_with("answer by ")).unwrap_or_default();
        assert!(until.ends_with(" left") && until.contains(" h "), "{shown}");
        drop(terminal);
        let (_, out, _) = home.pointsman(&["show", "last"]);
        assert!(out.contains("answer by "), "{out}");
    }
}
