//! Ctrl-Z: the program stops, the shell has its terminal, and `fg` continues.

use super::{CTRL_D, Terminal};
use crate::home::Home;

const CTRL_Z: &str = "\x1a";
const CHAT: [&str; 4] = ["chat", "--model", "script:script.toml", "Write"];
const CALL: &str = "[[turn]]\ntext = 'I write.'\n\
                    calls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n\
                    [[turn]]\ntext = 'That is all.'\n";

#[test]
fn question_is_restored_after_suspending() {
    for command in [&CHAT[..], &["run", "chat", "Write", "--model", "script:script.toml"]] {
        let home = Home::new("suspend-asks");
        home.write("script.toml", CALL);
        let terminal = Terminal::with_jobs(&home, command);
        terminal.asks();
        terminal.keys("ye");
        terminal.shows("› ye");
        terminal.keys(CTRL_Z);
        let shown = terminal.shows("stopped 148");
        assert!(!shown.contains("› ye"), "the terminal was given back:\n{shown}");
        // The shell reads whole lines again.
        terminal.keys("\r");
        terminal.shows("› ye");
        terminal.keys("s\r");
        terminal.until("the file", |_| home.path("a.txt").exists());
    }
}

#[test]
fn prompt_line_is_restored_after_suspending() {
    let home = Home::new("suspend-prompt");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n[[turn]]\ntext = 'Two.'\n");
    let terminal = Terminal::with_jobs(&home, &CHAT);
    terminal.shows("One.");
    terminal.prompts();
    terminal.keys("half a li");
    terminal.shows("› half a li");
    terminal.keys(CTRL_Z);
    terminal.shows("stopped 148");
    terminal.keys("\r");
    terminal.until("the line again", |screen| {
        screen.contents().contains("go on\n")
            && screen.contents().trim_end().ends_with("› half a li")
    });
    terminal.keys("ne\r");
    terminal.shows("Two.");
    terminal.prompts();
    terminal.keys(CTRL_D);
    terminal.shows("exit 0");
}
