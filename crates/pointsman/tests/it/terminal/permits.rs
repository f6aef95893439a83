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
