//! Permission: what is asked, and what comes of each answer.

use std::fs;

use super::{CTRL_D, Terminal};
use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];

/// Two calls that must be asked for, one after the other.
const WRITES: &str = "\
[[turn]]
text = 'I write it.'
calls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'one' } }]
[[turn]]
text = 'Again.'
calls = [{ tool = 'write', arguments = { path = 'b.txt', content = 'two' } }]
[[turn]]
text = 'That is all.'
";

fn asked(name: &str) -> (Home, Terminal) {
    let home = Home::new(name);
    home.write("script.toml", WRITES);
    let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
    let shown = terminal.shows("[y]es, once");
    assert!(shown.contains("May this call run?") && shown.contains("a.txt"), "{shown}");
    assert!(!home.path("a.txt").exists(), "it must not have been written");
    (home, terminal)
}

#[test]
fn yes_is_for_one_call() {
    let (home, terminal) = asked("permit-yes");
    terminal.keys("y");
    terminal.shows("✓ write a.txt");
    let shown = terminal.until("the second question", |screen| {
        screen.contents().matches("May this call run?").count() == 2
    });
    assert!(shown.contains("Again."), "{shown}");
    assert_eq!(fs::read_to_string(home.path("a.txt")).expect("it is there"), "one");
    terminal.shows("[y]es, once");
    terminal.keys("y");
    terminal.shows("That is all.");
    terminal.prompts();
    assert!(home.path("b.txt").exists());
}

#[test]
fn no_has_a_reason_that_the_model_is_told() {
    let (home, terminal) = asked("permit-no");
    terminal.keys("n");
    terminal.shows("Because");
    terminal.keys("not in this folder\r");
    terminal.shows("✗ write a.txt · denied: not in this folder");
    terminal.until("the second question", |screen| {
        screen.contents().matches("May this call run?").count() == 2
    });
    terminal.shows("[y]es, once");
    terminal.keys("n\r");
    terminal.shows("That is all.");
    terminal.prompts();
    terminal.keys(CTRL_D);
    assert_eq!(terminal.ends().0, 0);
    assert!(!home.path("a.txt").exists() && !home.path("b.txt").exists());
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains("not in this folder"), "it is written down: {out}");
}

#[test]
fn a_question_that_is_left_for_later_is_put_again() {
    let (home, terminal) = asked("permit-later");
    terminal.keys("l");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("pointsman approve"), "{shown}");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["--resume"]].concat());
    terminal.shows("[y]es, once");
    terminal.keys("y");
    terminal.shows("✓ write a.txt");
    assert!(home.path("a.txt").exists());
}

#[test]
fn always_is_for_the_calls_and_the_time_that_are_chosen() {
    for (key, runs) in [("r", "this run"), ("e", "every run")] {
        let (home, terminal) = asked(&format!("permit-always-{key}"));
        terminal.keys("a");
        let shown = terminal.shows("Always, for which calls?");
        assert!(shown.contains("[1] write with path = a.txt"), "{shown}");
        // Back to the question, and on again.
        terminal.keys("b");
        terminal.until("the question", |screen| !screen.contents().contains("for which calls"));
        terminal.keys("a2");
        terminal.shows("in this [r]un");
        terminal.keys(key);
        let shown = terminal.shows("That is all.");
        assert_eq!(shown.matches("May this call run?").count(), 1, "{shown}");
        assert!(shown.contains(&format!("always in {runs}")), "{shown}");
        assert_eq!(shown.contains("written to "), key == "e", "{shown}");
        assert!(home.path("a.txt").exists() && home.path("b.txt").exists());
        terminal.prompts();
        terminal.keys(CTRL_D);
        assert_eq!(terminal.ends().0, 0);
        // Another run asks, unless it was for every one.
        let terminal = Terminal::start(&home, &[&MODEL[..], &["Write"]].concat());
        terminal.shows(if key == "e" { "That is all." } else { "May this call run?" });
    }
}

#[test]
fn a_run_without_a_conversation_asks_too() {
    let home = Home::new("permit-run");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'one' } }]\n\
         [[turn]]\ncalls = [{ tool = 'phase_complete', arguments = { success = true } }]\n\
         [[turn]]\ntext = 'It is written.'\n",
    );
    let run = ["run", "code", "Write it", "--model", "script:script.toml"];
    let terminal = Terminal::start(&home, &run);
    let shown = terminal.shows("[y]es, once");
    assert!(shown.contains("May this call run?") && shown.contains("a.txt"), "{shown}");
    assert!(!home.path("a.txt").exists(), "it must not have been written");
    terminal.keys("y");
    let (code, shown) = terminal.ends();
    assert_eq!((code, home.path("a.txt").exists()), (0, true), "{shown}");
    assert_eq!(shown.matches("May this call run?").count(), 1, "{shown}");
}

#[test]
fn a_dumb_terminal_is_asked_in_plain_lines() {
    let home = Home::new("permit-dumb");
    home.write("script.toml", WRITES);
    let terminal = Terminal::of_kind("dumb", &home, &MODEL);
    terminal.shows("> ");
    terminal.keys("Write\r");
    let shown = terminal.shows("Type `y`, or `n` and a reason:");
    assert!(shown.contains("a.txt") && !shown.contains("[y]es"), "{shown}");
    terminal.keys("perhaps\r");
    terminal
        .until("the question again", |screen| screen.contents().matches("Type `y`").count() == 2);
    assert!(!home.path("a.txt").exists(), "that was no answer");
    terminal.keys("y\r");
    terminal.until("the other one", |screen| screen.contents().matches("Type `y`").count() == 3);
    terminal.keys("n not that one\r");
    terminal.shows("That is all.");
    terminal.keys(CTRL_D);
    let (code, shown) = terminal.ends();
    assert_eq!((code, home.path("a.txt").exists()), (0, true), "{shown}");
    assert!(!home.path("b.txt").exists(), "{shown}");
}

#[test]
fn whoever_joins_on_a_dumb_terminal_is_asked_once() {
    let (home, terminal) = asked("permit-dumb-joins");
    terminal.keys("l");
    assert_eq!(terminal.ends().0, 3);
    home.write("script.toml", "[[turn]]\ntext = 'Well.'\n");
    let terminal = Terminal::of_kind("dumb", &home, &[&MODEL[..], &["--resume"]].concat());
    terminal.shows("Type `y`");
    terminal.keys("y\r");
    let shown = terminal.shows("Well.");
    assert_eq!(shown.matches("Type `y`").count(), 1, "{shown}");
    terminal.keys(CTRL_D);
}
