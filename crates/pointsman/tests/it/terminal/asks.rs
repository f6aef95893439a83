//! Questions: what they show, which keys count as answers, and who else may answer.

use std::{fs, thread, time::Duration};

use super::{CTRL_D, Terminal};
use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];

/// Waits until keys count, and for as long as that they go on not to be pressed.
const A_WHILE: Duration = Duration::from_millis(1_500);

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
fn a_line_that_was_begun_before_the_question_is_no_answer() {
    let home = wanting("early-line", 4_000, "write", "path = 'a.txt', content = 'one'");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
    terminal.shows("asks script");
    terminal.keys("then t");
    terminal.shows("› then t");
    terminal.shows("May this call run?");
    // The rest of the line, with letters that would be answers.
    terminal.keys("ry");
    let shown = terminal.shows("› then try");
    assert!(shown.contains("Enter sends this line"), "{shown}");
    assert!(!home.path("a.txt").exists(), "nobody said yes:\n{shown}");
    terminal.keys("\r");
    terminal.shows("queued: then try");
    terminal.shows("[y]es, once");
    assert!(!home.path("a.txt").exists(), "nobody said yes");
    terminal.keys("y");
    terminal.shows("✓ write a.txt");
    terminal.shows("Second.");
}

#[test]
fn keys_count_only_after_a_while_without_any() {
    // A machine that is busy may press the key a second late. It is not late every time.
    let early = (0..5).any(|_| {
        let home = wanting("early-key", 0, "write", "path = 'a.txt', content = 'one'");
        let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
        let waits = "keys count when none was pressed";
        let shown = terminal.until("the question", |screen| {
            [waits, "[y]es, once"].iter().any(|it| screen.contents().contains(it))
        });
        if !shown.contains(waits) {
            return false;
        }
        terminal.keys("y");
        let shown = terminal.until("choices, or the call", |screen| {
            ["[y]es, once", "✓ write a.txt"].iter().any(|it| screen.contents().contains(it))
        });
        if shown.contains("✓ write a.txt") {
            return false;
        }
        thread::sleep(A_WHILE);
        let shown = terminal.screen();
        if !shown.contains("[y]es, once") || home.path("a.txt").exists() {
            return false;
        }
        terminal.keys("y");
        terminal.shows("✓ write a.txt");
        true
    });
    assert!(early, "a key counts at once");
}

#[test]
fn a_key_that_was_pressed_before_a_run_asks_is_no_answer() {
    let home = wanting("early-run", 2_000, "write", "path = 'a.txt', content = 'one'");
    let run = ["run", "chat", "Write", "--model", "script:script.toml"];
    let terminal = Terminal::start(&home, &run);
    terminal.shows("asks script");
    terminal.keys("y");
    terminal.shows("[y]es, once");
    thread::sleep(A_WHILE);
    let shown = terminal.screen();
    assert!(shown.contains("[y]es, once") && !home.path("a.txt").exists(), "{shown}");
    terminal.keys("y");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(home.path("a.txt").exists(), "{shown}");
}

#[test]
fn the_end_of_a_long_command_is_seen() {
    let hidden = format!("'echo cargo{}; echo hidden {}last'", " ".repeat(150), "x".repeat(200));
    let home = wanting("long-command", 0, "shell", &format!("command = {hidden}"));
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.shows("[y]es, once");
    let flat: String = shown.split_whitespace().collect();
    assert!(flat.contains("⟨150blanks⟩;echohidden"), "{shown}");
    assert!(flat.contains("xlast"), "{shown}");
}

#[test]
fn what_is_longer_than_the_screen_is_shown_by_a_key_before_yes_counts() {
    let lines: Vec<String> = (1..=90).map(|line| format!("line {line}\\n")).collect();
    let lines = lines.concat();
    let home = wanting("long-write", 0, "write", &format!("path = 'a.txt', content = \"{lines}\""));
    home.write("a.txt", "line 1\nold\nline 90\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.shows("[m]ore");
    assert!(shown.contains("write a.txt: 90 lines") && shown.contains("- old"), "{shown}");
    assert!(shown.contains("+ line 2") && !shown.contains("+ line 89"), "{shown}");
    // Yes is no choice yet.
    terminal.keys("y");
    terminal.keys("m");
    terminal.shows("+ line 50");
    assert_eq!(fs::read_to_string(home.path("a.txt")).expect("it is there").lines().count(), 3);
    terminal.keys("w");
    terminal.shows("+ line 89");
    terminal.shows("[y]es, once");
    terminal.keys("y");
    terminal.shows("✓ write a.txt");
    assert_eq!(fs::read_to_string(home.path("a.txt")).expect("it is there").lines().count(), 90);
}

#[test]
fn a_command_of_many_lines_is_shown_whole() {
    let lines: Vec<String> = (1..=29).map(|line| format!("echo {line}\\n")).collect();
    let lines = lines.concat();
    let home = wanting("many-lines", 0, "shell", &format!("command = \"{lines}echo last\""));
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Do"]].concat());
    let shown = terminal.shows("[y]es, once");
    assert!(shown.contains("$ echo 1\n") && shown.contains("$ echo last"), "{shown}");
}

#[test]
fn a_question_that_is_answered_elsewhere_is_taken_back() {
    for (name, answer) in [("elsewhere-yes", "approve"), ("elsewhere-no", "deny")] {
        let home = wanting(name, 0, "write", "path = 'a.txt', content = 'one'");
        let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
        terminal.shows("[y]es, once");
        let (code, out, err) = home.pointsman(&[answer, "last"]);
        assert_eq!(code, 0, "{out}{err}");
        terminal.shows("answered elsewhere");
        terminal.shows("That is all.");
        let shown = terminal.prompts();
        assert!(!shown.contains("[y]es, once"), "{shown}");
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
        terminal.shows("[y]es, once");
        let (code, out, err) = home.pointsman(&[answer, "last"]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("goes on"), "it was taken at once: {out}");
        let (code, shown) = terminal.ends();
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("answered elsewhere") && shown.contains("That is all."), "{shown}");
        assert_eq!(home.path("a.txt").exists(), answer == "approve", "{shown}");
    }
}
