//! Sending prompts at a terminal: the question, and the effect of each key. The browser does not
//! wait, so nothing is left for later.

use super::rig::{ADA, Rig};
use crate::terminal::{CTRL_C, CTRL_D, Terminal};

const ANSWERS: &str = r#"
[answers]
"How would you like to travel?" = "By train"
"Why do you want to come?" = "For the trains."
"#;

/// A form that is filled, and a person who is asked whether it is sent.
fn asked(name: &str) -> (Rig, Terminal, String) {
    let rig = Rig::new(name, &format!("{ADA}{ANSWERS}"));
    let url = rig.site.url("plain");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml"];
    let terminal = Terminal::start(&rig.home, &run);
    let shown = terminal.asks();
    (rig, terminal, shown)
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn submit_question_is_shown_and_cannot_wait() {
    let (rig, terminal, shown) = asked("asked-yes");
    assert!(shown.contains("send the form") && shown.contains("7 fields filled"), "{shown}");
    assert!(!shown.contains("[l]ater") && !shown.contains("[a]lways"), "{shown}");
    for line in ["later", "always", "yes please"] {
        terminal.keys(&format!("{line}\r"));
        terminal.shows(&format!("not a valid answer: {line}"));
        terminal.asks();
    }
    assert!(rig.site.delivery("/sent").is_empty());
    terminal.keys("y\r");
    let (code, shown) = terminal.ends();
    assert_eq!((code, rig.site.delivery("/sent").len()), (0, 1), "{shown}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn leaving_a_form_question_cancels_or_denies() {
    let (rig, terminal, shown) = asked("asked-cancel");
    assert!(shown.contains("Ctrl-C cancels the run, Ctrl-D answers no"), "{shown}");
    terminal.keys(CTRL_C);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 6, "{shown}");
    assert!(!shown.contains("pointsman approve"), "there is nothing to approve:\n{shown}");
    assert_eq!(rig.state(), "cancelled");
    assert!(rig.site.delivery("/sent").is_empty());

    let (rig, terminal, _) = asked("asked-no");
    terminal.keys(CTRL_D);
    let (_, shown) = terminal.ends();
    assert!(shown.contains("denied at the terminal"), "{shown}");
    assert!(rig.site.delivery("/sent").is_empty());
}
