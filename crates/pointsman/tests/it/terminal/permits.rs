//! Permission: the questions, and the effect of each answer.

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
    let shown = terminal.asks();
    assert!(shown.contains("May this call run?") && shown.contains("a.txt"), "{shown}");
    assert!(!home.path("a.txt").exists(), "it must not have been written");
    (home, terminal)
}

#[test]
fn yes_is_for_one_call() {
    let (home, terminal) = asked("permit-yes");
    terminal.keys("y\r");
    terminal.shows("✓ write a.txt");
    let shown = terminal.until("the second question", |screen| {
        screen.contents().matches("May this call run?").count() == 2
    });
    assert!(shown.contains("Again."), "{shown}");
    assert_eq!(
        fs::read_to_string(home.path("a.txt")).expect("the file exists and is UTF-8"),
        "one"
    );
    terminal.asks();
    terminal.keys("y\r");
    terminal.shows("That is all.");
    terminal.prompts();
    assert!(home.path("b.txt").exists());
}

#[test]
fn reason_of_a_denial_reaches_the_model() {
    let (home, terminal) = asked("permit-no");
    terminal.keys("n\r");
    terminal.shows("Reason");
    terminal.keys("not in this folder\r");
    terminal.shows("✗ write a.txt · denied: not in this folder");
    terminal.until("the second question", |screen| {
        screen.contents().matches("May this call run?").count() == 2
    });
    terminal.asks();
    terminal.keys("no\r");
    terminal.shows("Reason");
    terminal.keys("\r");
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
    terminal.keys("later\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("pointsman approve"), "{shown}");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["--resume"]].concat());
    terminal.asks();
    terminal.keys("y\r");
    terminal.shows("✓ write a.txt");
    assert!(home.path("a.txt").exists());
}

#[test]
fn always_is_for_the_calls_and_the_time_that_are_chosen() {
    for (key, runs) in [("r", "this run"), ("e", "every run")] {
        let (home, terminal) = asked(&format!("permit-always-{key}"));
        terminal.keys("a\r");
        let shown = terminal.shows("Always, for which calls?");
        assert!(shown.contains("[1] write with path = a.txt"), "{shown}");
        // Back to the question, and on again.
        terminal.keys("b\r");
        terminal.until("the question", |screen| !screen.contents().contains("for which calls"));
        terminal.keys("always\r2\r");
        terminal.shows("in this [r]un");
        terminal.keys(&format!("{key}\r"));
        let shown = terminal.shows("That is all.");
        assert_eq!(shown.matches("May this call run?").count(), 1, "{shown}");
        assert!(shown.contains(&format!("yes: for {runs}")), "{shown}");
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
    let shown = terminal.asks();
    assert!(shown.contains("May this call run?") && shown.contains("a.txt"), "{shown}");
    assert!(!home.path("a.txt").exists(), "it must not have been written");
    terminal.keys("y\r");
    let (code, shown) = terminal.ends();
    assert_eq!((code, home.path("a.txt").exists()), (0, true), "{shown}");
    assert_eq!(shown.matches("May this call run?").count(), 1, "{shown}");
}

#[test]
fn a_dumb_terminal_is_asked_in_plain_lines() {
    let home = Home::new("permit-dumb");
    home.write("script.toml", &format!("{WRITES}[[turn]]\nwhen = 'why'\ntext = 'You ask why.'\n"));
    let terminal = Terminal::of_kind("dumb", &home, &MODEL);
    terminal.shows("> ");
    terminal.keys("Write\r");
    let shown = terminal.asks();
    assert!(shown.contains("a.txt"), "{shown}");
    let asked = |count: usize| {
        terminal.until("what can be answered", |screen| {
            screen.contents().matches("type y or yes, and press Enter").count() == count
        })
    };
    terminal.keys("yes, but why?\r");
    let shown = asked(2);
    assert!(shown.contains("queued: yes, but why?"), "{shown}");
    assert!(!home.path("a.txt").exists(), "that was no answer");
    terminal.keys("y\r");
    asked(3);
    terminal.keys("n\r");
    terminal.shows("Reason");
    terminal.keys("not that one\r");
    terminal.shows("That is all.");
    // The line that was no answer is the next message.
    terminal.shows("You ask why.");
    terminal.keys(CTRL_D);
    let (code, shown) = terminal.ends();
    assert_eq!((code, home.path("a.txt").exists()), (0, true), "{shown}");
    assert!(!home.path("b.txt").exists(), "{shown}");
}

#[test]
fn dumb_terminal_asks_once() {
    let (home, terminal) = asked("permit-dumb-joins");
    terminal.keys("later\r");
    assert_eq!(terminal.ends().0, 3);
    home.write("script.toml", "[[turn]]\ntext = 'Well.'\n");
    let terminal = Terminal::of_kind("dumb", &home, &[&MODEL[..], &["--resume"]].concat());
    terminal.asks();
    terminal.keys("y\r");
    let shown = terminal.shows("Well.");
    assert_eq!(shown.matches("May this call run?").count(), 1, "{shown}");
    terminal.keys(CTRL_D);
}
