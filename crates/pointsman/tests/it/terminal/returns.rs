//! Coming back: a conversation in a second process, and one that was killed.

use super::{CTRL_D, Terminal};
use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];

#[test]
fn conversation_resumes_in_another_process() {
    let home = Home::new("return");
    home.write("script.toml", "[[turn]]\ntext = 'Seven.'\n");
    let terminal = Terminal::start(&home, &MODEL);
    terminal.prompts();
    terminal.keys("How many?\r");
    terminal.shows("Seven.");
    terminal.prompts();
    terminal.keys(CTRL_D);
    assert_eq!(terminal.ends().0, 0);

    home.write("script.toml", "[[turn]]\ntext = 'Eight.'\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["--resume"]].concat());
    let shown = terminal.prompts();
    assert!(shown.contains("› How many?") && shown.contains("Seven."), "{shown}");
    // The line that was typed before is remembered.
    terminal.keys("\x1b[A");
    terminal.until("the old line", |screen| screen.contents().trim_end().ends_with("› How many?"));
    terminal.keys(" And now?\r");
    terminal.shows("Eight.");
    terminal.prompts();
    terminal.keys(CTRL_D);
    assert_eq!(terminal.ends().0, 0);
    let (_, out, _) = home.pointsman(&["chat", "--list"]);
    assert_eq!(out.lines().count(), 2, "it is one conversation:\n{out}");
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

#[test]
fn queued_message_survives_a_kill() {
    let home = Home::new("killed-chat");
    home.write("script.toml", "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["first"]].concat());
    terminal.shows("asks script");
    terminal.keys("second\r");
    terminal.shows("queued: second");
    // Dropping it kills it.
    drop(terminal);

    home.write("script.toml", "[[turn]]\ntext = 'One.'\n[[turn]]\ntext = 'Two.'\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["--resume"]].concat());
    terminal.shows("One.");
    terminal.shows("› second");
    terminal.shows("Two.");
    terminal.prompts();
}
