//! Somebody at the terminal: calls are put to them, whole, before they run.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use console::{Key, Term};
use pointsman_kernel::governor::{Grant, Level};
use pointsman_runtime::{
    observe::Question,
    session::{Attend, Decision},
};

use crate::{live::Live, tell::note, words};

/// Somebody who sits at the terminal.
pub(crate) struct Person {
    live: Option<Arc<Live>>,
}

/// Returns whether somebody is at the terminal.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Person {
    /// Somebody who also watches the live view.
    pub(crate) const fn watching(live: Option<Arc<Live>>) -> Self {
        Self { live }
    }
}

impl Attend for Person {
    fn decide(&mut self, question: &Question) -> Option<Decision> {
        match &self.live {
            Some(live) => live.aside(|| ask(question)),
            None => ask(question),
        }
    }
}

fn ask(question: &Question) -> Option<Decision> {
    let call = &question.call;
    let tool = words::harmless(&call.tool);
    note(&format!("\nMay this call run?\n\n  {tool}"));
    for line in arguments(call.arguments.get()).lines() {
        note(&format!("  {}", words::harmless(line)));
    }
    note(&format!("\n[y]es  [n]o  [a]lways (`{tool}`, for this run)  [l]ater"));
    let decision = |granted: bool, reason: &str, remember: Option<Grant>| {
        note(reason);
        Some(Decision { granted, reason: reason.into(), remember })
    };
    loop {
        // A terminal that is gone cannot say yes; the question waits for another one.
        match Term::stderr().read_key_raw() {
            Ok(Key::Char('y' | 'Y')) => return decision(true, "granted at the terminal", None),
            Ok(Key::Char('n' | 'N')) => return decision(false, "denied at the terminal", None),
            Ok(Key::Char('a' | 'A')) => {
                let level = Level::Allow;
                let tool = call.tool.clone();
                let grant = Grant { tool, arguments: Vec::new(), level, until: None };
                return decision(true, "granted at the terminal, for this run", Some(grant));
            }
            Ok(Key::Char('l' | 'L') | Key::Escape | Key::CtrlC) | Err(_) => {
                note("left for later");
                return None;
            }
            Ok(_) => {}
        }
    }
}

/// Returns arguments as people read them.
fn arguments(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.into())
}
