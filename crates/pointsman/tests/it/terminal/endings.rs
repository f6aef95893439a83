//! Ends: a program that is asked to end, and runs that end by themselves.

use super::{CTRL_C, CTRL_D, Terminal};
use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];
const CODE: [&str; 4] = ["--agent", "code", "--resume", "last"];

#[test]
fn sigterm_is_handled_at_the_prompt() {
    // The second signal detaches from the run while only the run is notified.
    for signal in ["TERM", "INT"] {
        let home = Home::new(&format!("prompt-{signal}"));
        home.write("script.toml", "[[turn]]\ntext = 'One.'\n");
        let terminal = Terminal::start(&home, &[&MODEL[..], &["first"]].concat());
        terminal.shows("One.");
        terminal.prompts();
        terminal.signal(signal);
        let (code, shown) = terminal.ends();
        assert_eq!(code, 0, "{signal}: {shown}");
        assert!(shown.contains("left; next: pointsman chat --resume"), "{signal}: {shown}");
    }
}

#[test]
fn sigterm_ends_the_prompt_without_a_conversation() {
    let home = Home::new("term-new");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &["first"]].concat());
    terminal.shows("One.");
    terminal.prompts();
    terminal.keys("/new\r");
    terminal.shows("starts a new conversation");
    terminal.prompts();
    terminal.signal("TERM");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn sigterm_is_handled_during_a_question() {
    let home = Home::new("term-asks");
    let terminal = Terminal::start(&home, &["run", "note.toml", "Hello", "--set", "tone=dry"]);
    terminal.asks();
    terminal.signal("TERM");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("pointsman approve"), "{shown}");
    assert!(!home.path("note.txt").exists());
}

#[test]
fn ended_run_reports_unreceived_messages() {
    let home = Home::new("ends-itself");
    home.write("plan.md", "1. Write\n");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n",
    );
    let run = ["run", "code", "Write it", "--plan", "plan.md", "--model", "script:script.toml"];
    let (code, out, err) = home.pointsman(&run);
    assert_eq!(code, 3, "{out}{err}");
    home.write(
        "script.toml",
        "[[turn]]\ndelay_ms = 5000\n\
         calls = [{ tool = 'phase_complete', arguments = { success = true } }]\n\
         [[turn]]\ntext = 'All is told.'\n",
    );
    let terminal = Terminal::start(&home, &[&MODEL[..], &CODE].concat());
    terminal.asks();
    terminal.keys("y\r");
    terminal.shows("asks script");
    terminal.keys("and then rest\r");
    terminal.shows("queued: and then rest");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Phase 1") || shown.contains("1. Write"), "it reports:\n{shown}");
    assert!(shown.contains("not delivered: and then rest"), "{shown}");
    // It is sent to the run that continues.
    home.write("script.toml", "[[turn]]\ntext = 'I rest.'\n");
    let terminal = Terminal::start(&home, &[&MODEL[..], &CODE].concat());
    terminal.shows("› and then rest");
    terminal.shows("I rest.");
}

#[test]
fn a_question_ends_lines_that_were_typed() {
    let home = Home::new("typed-asks");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n",
    );
    let terminal = Terminal::piped(&home, &[&MODEL[..], &["Write"]].concat());
    terminal.asks();
    terminal.keys(CTRL_D);
    let shown = terminal.shows("exit 3");
    assert!(shown.contains("+ x"), "what is written is shown:\n{shown}");
}

#[test]
fn document_text_cannot_control_the_terminal() {
    let home = Home::new("steers");
    home.write("docs/gates.md", "# Gates\n\nThe gate \u{1b}]0;owned\u{7}\u{1b}[2J is shut.\n");
    let terminal =
        Terminal::start(&home, &["run", "research", "Which gate is shut?", "--dir", "docs"]);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    // A terminal that took it for a command would not show it.
    let said = shown.split_once("match best").map(|(_, said)| said).unwrap_or_default();
    assert!(said.contains("]0;owned") && said.contains("[2J is shut."), "{shown}");
}

#[test]
fn status_line_disappears_after_ctrl_c() {
    let home = Home::new("live-gone");
    home.write("script.toml", "[[turn]]\ntext = 'One.'\ndelay_ms = 3600000\n");
    let run = ["run", "chat", "Hello", "--model", "script:script.toml"];
    let terminal = Terminal::start(&home, &run);
    // The line is there, and with it its budgets.
    terminal.shows("· rounds 0/50");
    terminal.keys(CTRL_C);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 6, "{shown}");
    assert!(shown.contains("cancelled in `cancelled`"), "{shown}");
    assert!(!shown.contains("rounds 0/50") && !shown.contains("^C"), "{shown}");
}

#[test]
fn error_is_shown_once_in_a_conversation() {
    let home = Home::new("told-once");
    home.write(
        "script.toml",
        "[[turn]]\nfault = { class = 'forbidden', message = 'the key is wrong', repeatable = false }\n",
    );
    let terminal = Terminal::start(&home, &[&MODEL[..], &["first"]].concat());
    terminal.shows("Send the message again");
    let shown = terminal.prompts();
    assert_eq!(shown.matches("the key is wrong").count(), 1, "{shown}");
    terminal.keys(CTRL_D);
    terminal.ends();
}
