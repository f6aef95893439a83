//! Talking: text that streams, calls as they go, cancelling, queued messages, retries.

use super::{CTRL_C, CTRL_D, ENTER, Terminal};
use crate::home::Home;

const SCRIPT: &str = "script:script.toml";

#[test]
fn text_is_seen_before_the_answer_is_complete() {
    let home = Home::new("streams");
    let slow = "piece_ms = 100";
    home.write(
        "script.toml",
        &format!("[[turn]]\ntext = 'first second {}last'\n{slow}\n", "word ".repeat(100)),
    );
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("Tell me");
    terminal.keys(ENTER);
    let shown = terminal.shows("first second");
    assert!(!shown.contains("last"), "the rest is not there yet:\n{shown}");
    assert!(shown.contains("› Tell me"), "{shown}");
    let shown = terminal.shows("last");
    assert!(shown.contains("first second word"), "{shown}");
    terminal.prompts();
    terminal.keys(CTRL_D);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("left; next: pointsman chat --resume 0"), "{shown}");
}

#[test]
fn calls_are_shown_in_the_order_of_their_requests() {
    let home = Home::new("calls");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'I look.'\ncalls = [\n\
         { tool = 'read', arguments = { path = 'docs/signals.md' } },\n\
         { tool = 'read', arguments = { path = 'docs/nothing.md' } },\n\
         { tool = 'list', arguments = {} },\n]\n\
         [[turn]]\ntext = 'A red signal means stop.'\n",
    );
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, "What is red?"]);
    terminal.shows("A red signal means stop.");
    let shown = terminal.prompts();
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} in\n{shown}"));
    let order = ["› What is red?", "I look.", "✓ read docs/signals.md", "✗ read docs/nothing.md"];
    let order = order.into_iter().chain(["✓ list", "A red signal means stop."]);
    let places: Vec<usize> = order.map(at).collect();
    assert!(places.is_sorted(), "{places:?}\n{shown}");
}

#[test]
fn ctrl_c_cancels_the_turn_and_keeps_the_conversation() {
    let home = Home::new("ctrl-c");
    home.write(
        "script.toml",
        "[[turn]]\nwhen = 'Think'\ntext = 'never seen'\ndelay_ms = 600000\n\
         [[turn]]\nwhen = 'there'\ntext = 'Here I am.'\n",
    );
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("Think\r");
    terminal.shows("asks script");
    terminal.keys(CTRL_C);
    terminal.shows("turn cancelled");
    terminal.shows("The conversation continues");
    terminal.prompts();
    terminal.keys("Are you there?\r");
    terminal.shows("Here I am.");
    terminal.prompts();
    // With nothing to cancel it leaves.
    terminal.keys(CTRL_C);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("pointsman chat --resume"), "{shown}");
}

#[test]
fn a_second_ctrl_c_leaves_a_turn_that_does_not_stop() {
    let home = Home::new("ctrl-c-twice");
    home.write("script.toml", "[[turn]]\ntext = 'never seen'\ndelay_ms = 600000\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, "Think"]);
    terminal.shows("asks script");
    terminal.keys("\x03\x03");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("left; next: pointsman chat --resume"), "{shown}");
}

#[test]
fn line_typed_during_a_turn_is_queued() {
    let home = Home::new("queued");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'One.'\ndelay_ms = 10000\n[[turn]]\ntext = 'Two.'\ndelay_ms = 10000\n",
    );
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, "first"]);
    terminal.shows("asks script");
    terminal.keys("second\r");
    let shown = terminal.shows("queued: second");
    assert!(!shown.contains("One."), "{shown}");
    terminal.shows("› second");
    terminal.keys("and a thi");
    terminal.shows("Two.");
    // What was not sent is the start of the next line.
    terminal.until("the line", |screen| {
        let (row, column) = screen.cursor_position();
        let line = screen.rows(0, 100).nth(row.into()).unwrap_or_default();
        line.trim_end() == "› and a thi" && column == 11
    });
    let shown = terminal.screen();
    assert!(!shown.contains("queued"), "{shown}");
}

#[test]
fn a_failed_attempt_is_struck_and_tried_again() {
    let home = Home::new("retried");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'Half an ans'\npiece_ms = 100\n\
         fault = { class = 'unavailable', message = 'the line broke', repeatable = true, \
         hint_ms = 5000 }\n\
         [[turn]]\ntext = 'A whole answer.'\n",
    );
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, "Well?"]);
    let shown = terminal.shows(" s (attempt 2)");
    assert!(shown.contains("discarded"), "{shown}");
    assert!(shown.contains("✗ the line broke"), "{shown}");
    terminal.shows("A whole answer.");
    terminal.prompts();
}

#[test]
fn text_cannot_steer_the_terminal() {
    let home = Home::new("steering");
    home.write("script.toml", "[[turn]]\ntext = \"a\\u001b[2Jb\\u0007c\"\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, "Well?"]);
    let shown = terminal.shows("[2Jb");
    assert!(shown.contains("› Well?"), "nothing was cleared:\n{shown}");
}

#[test]
fn a_message_can_have_several_lines() {
    let home = Home::new("multi-line");
    home.write("script.toml", "[[turn]]\ntext = 'Read.'\n[[turn]]\ntext = 'Pasted.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("one\\\rtwo\x1b\rthree\r");
    terminal.shows("Read.");
    terminal.prompts();
    terminal.keys("\x1b[200~four\nfive\x1b[201~\r");
    terminal.shows("Pasted.");
    terminal.prompts();
    terminal.keys(CTRL_D);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains(r"one\ntwo\nthree"), "{out}");
    assert!(out.contains(r"four\nfive"), "{out}");
}

#[test]
fn a_message_of_blanks_says_nothing() {
    let home = Home::new("blank");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT, " "]);
    terminal.prompts();
    terminal.keys("hello\r");
    terminal.shows("One.");
    terminal.prompts();
}

#[test]
fn history_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new("modes");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("secret\r");
    terminal.shows("One.");
    terminal.prompts();
    let mode = |name: &str| {
        let about = std::fs::metadata(home.path(name)).expect("the file exists");
        about.permissions().mode() & 0o777
    };
    assert_eq!(mode("state/pointsman"), 0o700);
    for file in ["history", "journal.db", "journal.db-wal"] {
        assert_eq!(mode(&format!("state/pointsman/{file}")), 0o600, "{file}");
    }
}

#[test]
fn line_typed_before_the_prompt_is_sent() {
    let home = Home::new("ahead");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    // The terminal still reads lines, so that Enter comes as Ctrl-J.
    terminal.keys("hello there\r");
    terminal.shows("One.");
    terminal.prompts();
}

#[test]
fn resume_takes_the_newest_other_conversation() {
    let home = Home::new("other");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n[[turn]]\ntext = 'Two.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("hello there\r");
    terminal.shows("One.");
    terminal.prompts();
    terminal.keys("/new\r");
    terminal.shows("starts a new conversation");
    terminal.prompts();
    terminal.keys("hello again\r");
    terminal.shows("Two.");
    terminal.prompts();
    terminal.keys("/resume\r");
    terminal.shows("resumed run");
    terminal
        .until("the first one", |screen| screen.contents().matches("› hello there").count() == 2);
}

#[test]
fn slash_commands_work() {
    let home = Home::new("slashes");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n[[turn]]\ntext = 'Two.'\n");
    let terminal = Terminal::start(&home, &["chat", "--model", SCRIPT]);
    terminal.prompts();
    terminal.keys("/help\r");
    terminal.shows("/resume [RUN]");
    let shown = terminal.prompts();
    assert!(!shown.contains("/plan"), "`chat` has no plans:\n{shown}");
    terminal.keys("/tools\r");
    terminal.shows("context.fts_search");
    let shown = terminal.prompts();
    assert!(!shown.contains("propose_plan"), "`chat` is not offered it:\n{shown}");
    terminal.keys("/halp\r");
    terminal.shows("unknown command /halp");
    terminal.prompts();
    terminal.keys("hello\r");
    terminal.shows("One.");
    terminal.prompts();
    terminal.keys("/plan\r");
    terminal.shows("there is no plan");
    terminal.prompts();
    terminal.keys("/new\r");
    terminal.shows("starts a new conversation");
    terminal.prompts();
    terminal.keys("hello again\r");
    terminal.shows("Two.");
    terminal.prompts();
    terminal.keys("/quit\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    let (_, out, _) = home.pointsman(&["chat", "--list"]);
    assert!(out.contains("hello again") && out.lines().count() == 3, "{out}");
}
