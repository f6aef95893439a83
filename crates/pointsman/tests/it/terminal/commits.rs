//! Whether changes are committed: asked once, in a repository, and kept.

use std::{fs, process::Command};

use super::{CTRL_D, Terminal};
use crate::home::Home;

/// A home with a repository, and a model that says hello.
fn home(name: &str) -> Home {
    let home = Home::new(name);
    home.write("script.toml", "[[turn]]\ntext = 'Hello.'\n");
    let made = Command::new("git").args(["init", "--quiet"]).arg(home.path("")).status();
    assert!(made.expect("git runs").success());
    home
}

fn settings(home: &Home) -> String {
    let config = home.variables().into_iter().find(|(name, _)| *name == "XDG_CONFIG_HOME");
    let (_, folder) = config.expect("a folder for settings");
    let file = std::path::Path::new(&folder).join("pointsman/pointsman.toml");
    fs::read_to_string(file).unwrap_or_default()
}

#[test]
fn commits_are_asked_for_once() {
    for (word, kept) in [("yes", "commit = true"), ("no", "commit = false")] {
        let home = home(&format!("commit-{word}"));
        let arguments = ["chat", "--model", "script:script.toml"];
        let terminal = Terminal::start(&home, &arguments);
        terminal.shows("Commit the agent's changes to git after each step?");
        terminal.shows("commit?");
        terminal.keys(&format!("{word}\r"));
        terminal.shows("written to");
        terminal.prompts();
        terminal.keys(CTRL_D);
        assert_eq!(terminal.ends().0, 0);
        assert!(settings(&home).contains(kept), "{}", settings(&home));
        let terminal = Terminal::start(&home, &arguments);
        let shown = terminal.prompts();
        assert!(!shown.contains("commit?"), "{shown}");
        terminal.keys(CTRL_D);
        assert_eq!(terminal.ends().0, 0);
    }
}

#[test]
fn a_line_that_is_neither_yes_nor_no_turns_nothing_on() {
    let home = home("commit-neither");
    let terminal = Terminal::start(&home, &["chat", "--model", "script:script.toml"]);
    terminal.shows("commit?");
    terminal.keys("yes please do\r");
    terminal.shows("neither yes nor no");
    terminal.prompts();
    terminal.keys(CTRL_D);
    assert_eq!(terminal.ends().0, 0);
    assert!(!settings(&home).contains("commit"), "{}", settings(&home));
}
