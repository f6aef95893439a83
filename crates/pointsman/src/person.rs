//! Somebody at the terminal: calls are put to them, whole, before they run, and so are
//! the questions of a chart.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use console::{Key, Term};
use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level},
};
use pointsman_runtime::{
    observe::{Asked, Question},
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
    match &question.asks {
        Asked::Call { call, .. } => ask_for(call),
        Asked::Plain(text) => ask_plainly(text),
    }
}

/// Asks whether a call may run.
fn ask_for(call: &ToolCall) -> Option<Decision> {
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
    match pressed("ynal") {
        Some('y') => decision(true, "granted at the terminal", None),
        Some('n') => decision(false, "denied at the terminal", None),
        Some('a') => {
            let level = Level::Allow;
            let tool = call.tool.clone();
            let grant = Grant { tool, arguments: Vec::new(), level, until: None };
            decision(true, "granted at the terminal, for this run", Some(grant))
        }
        _ => later(),
    }
}

/// Asks what the chart itself wants to know; a word can go with the answer.
fn ask_plainly(text: &str) -> Option<Decision> {
    note(&format!("\n{}\n\n[y]es  [n]o  [s]ay something with it  [l]ater", words::harmless(text)));
    let mut key = pressed("ynsl");
    let mut said = String::new();
    if key == Some('s') {
        note("Say it in a line:");
        said = Term::stderr().read_line().ok()?;
        note("[y]es  [n]o  [l]ater");
        key = pressed("ynl");
    }
    let granted = match key {
        Some('y') => true,
        Some('n') => false,
        _ => return later(),
    };
    note(if granted { "yes" } else { "no" });
    Some(Decision { granted, reason: said, remember: None })
}

fn later() -> Option<Decision> {
    note("left for later");
    None
}

/// Waits for one of these keys. A terminal that is gone cannot say yes; the question
/// waits for another one.
fn pressed(keys: &str) -> Option<char> {
    loop {
        match Term::stderr().read_key_raw() {
            Ok(Key::Char(key)) if keys.contains(key.to_ascii_lowercase()) => {
                return Some(key.to_ascii_lowercase());
            }
            Ok(Key::Escape | Key::CtrlC) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Returns arguments as people read them.
fn arguments(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.into())
}
