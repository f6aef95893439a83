//! The full-screen view as a person uses it: keys on a real terminal, over runs of real commands.

use serde_json::Value;

use super::{CTRL_C, ENTER, Terminal};
use crate::home::Home;

const LEFT: &str = "\x1b[D";
const CTRL_Z: &str = "\x1a";
const NOTE: [&str; 5] = ["run", "note.toml", "Hello", "--set", "tone=dry"];

/// Makes a run that waits for a yes, owned by no process.
fn waiting(home: &Home) {
    let (code, _, told) = home.pointsman(&NOTE);
    assert_eq!(code, 3, "{told}");
}

/// Waits until the terminal is as it was before the program, whose exit code this is.
#[track_caller]
fn given_back(terminal: &Terminal, code: u32) {
    let told = format!("exit {code}");
    terminal.until("the terminal as it was", |screen| {
        let given =
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste();
        given && screen.contents().contains(&told)
    });
    // The shell reads whole lines again, and shows what is typed.
    terminal.keys("a line\r");
    terminal.shows("read: a line");
}

#[test]
fn a_person_opens_steps_back_finds_and_leaves() {
    let home = Home::new("watch");
    home.research("What does a red signal mean?");
    let terminal = Terminal::in_a_shell(&home, &["watch"]);
    terminal.shows("What does a red signal mean?");
    terminal.until("the run's end", |screen| screen.contents().contains("succeeded"));
    terminal.keys(ENTER);
    terminal.shows("timeline");
    terminal.shows("ended: succeeded");
    terminal.keys(LEFT);
    let shown = terminal.shows("stepped back");
    let (_, place) = shown.split_once("entry ").expect("the step is named");
    let numbers: Vec<u64> = place.split(' ').filter_map(|word| word.parse().ok()).take(2).collect();
    assert!(matches!(numbers[..], [at, all] if at + 1 == all), "{shown}");
    terminal.keys("w");
    terminal.shows("not taken: ");
    terminal.keys("g");
    terminal.shows("entry 1 of ");
    terminal.keys("/red signal\r");
    terminal.shows("“red signal”: 1 of ");
    terminal.keys("n");
    terminal.shows("“red signal”: 2 of ");
    terminal.keys("?");
    terminal.shows("previous, next item or run");
    terminal.keys("?");
    terminal.keys("q");
    given_back(&terminal, 0);
}

#[test]
fn a_run_that_no_process_owns_is_approved() {
    let home = Home::new("watch-approve");
    waiting(&home);
    let terminal = Terminal::in_a_shell(&home, &["watch", "last"]);
    terminal.shows("waiting for you: write");
    terminal.keys("a");
    terminal.shows("approve question");
    terminal.keys("looks fine");
    terminal.shows("reason (optional): looks fine");
    assert!(!home.path("note.txt").exists(), "no one has said yes");
    terminal.keys(ENTER);
    terminal.shows("is not running; continue it with");
    let (code, _, told) = home.pointsman(&["resume", "last"]);
    assert_eq!(code, 0, "{told}");
    assert!(home.path("note.txt").exists());
    // The view follows what another process does.
    terminal.shows("ended: succeeded");
    terminal.keys(CTRL_C);
    given_back(&terminal, 0);
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains("looks fine"), "the reason is kept: {out}");
}

#[test]
fn a_run_that_another_process_owns_is_denied() {
    let home = Home::new("watch-deny");
    let owner = Terminal::start(&home, &NOTE);
    owner.asks();
    let terminal = Terminal::in_a_shell(&home, &["watch", "last"]);
    terminal.shows("waiting for you: write");
    terminal.keys("d");
    terminal.shows("deny question");
    terminal.keys(ENTER);
    let (code, shown) = owner.ends();
    assert_eq!(code, 7, "{shown}");
    terminal.shows("ended: denied");
    terminal.keys("q");
    given_back(&terminal, 0);
    assert!(!home.path("note.txt").exists());
}

#[test]
fn the_end_of_the_owner_ends_nothing_here() {
    let home = Home::new("watch-owner");
    let owner = Terminal::start(&home, &NOTE);
    owner.asks();
    let terminal = Terminal::in_a_shell(&home, &["watch"]);
    terminal.shows("waiting for you");
    terminal.keys(ENTER);
    terminal.shows("waiting for you: write");
    owner.signal("KILL");
    drop(owner);
    terminal.keys("c");
    terminal.shows("▶ writing");
    terminal.keys("q");
    given_back(&terminal, 0);
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(shown["questions"].as_array().map(Vec::len), Some(1), "it still waits");
}

#[test]
fn it_fits_whatever_size_the_terminal_takes() {
    let home = Home::new("watch-size");
    home.research("What does a red signal mean?");
    let terminal = Terminal::in_a_shell(&home, &["watch", "last"]);
    terminal.shows("ended: succeeded");
    for (rows, columns) in [(10, 40), (60, 200), (24, 80)] {
        terminal.resize(rows, columns);
        terminal.until("all of the screen", |screen| {
            let last = screen.rows(0, columns).nth(usize::from(rows) - 1).unwrap_or_default();
            screen.contents().contains("ended: succeeded") && last.contains("←→ step")
        });
    }
    terminal.keys("q");
    given_back(&terminal, 0);
}

#[test]
fn signals_give_the_terminal_back() {
    let home = Home::new("watch-signals");
    waiting(&home);
    for signal in ["TERM", "HUP", "INT"] {
        let terminal = Terminal::start(&home, &["watch"]);
        terminal.shows("waiting for you");
        terminal.signal(signal);
        terminal.until("the terminal as it was", |screen| {
            !screen.alternate_screen() && !screen.hide_cursor()
        });
        assert_eq!(terminal.ends().0, 0, "after {signal}");
    }
    let terminal = Terminal::with_jobs(&home, &["watch"]);
    terminal.shows("waiting for you");
    terminal.keys(CTRL_Z);
    terminal.until("the shell", |screen| {
        !screen.alternate_screen() && screen.contents().contains("stopped 148")
    });
    terminal.keys("\r");
    terminal.until("the list again", |screen| {
        screen.alternate_screen() && screen.contents().contains("waiting for you")
    });
    terminal.keys("q");
    terminal.until("the end", |screen| {
        !screen.alternate_screen() && screen.contents().contains("exit 0")
    });
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let home = Home::new("watch-piped");
    let (code, out, told) = home.pointsman(&["watch"]);
    assert_eq!((code, out.as_str()), (2, ""), "{told}");
    assert!(told.contains("needs a terminal") && told.contains("pointsman show RUN"), "{told}");
}
