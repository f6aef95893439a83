//! Which control leads on, and which are the person's to press.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// A control that could lead on from a page.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Control {
    /// Known by this on its page.
    pub id: String,
    /// What is written on it.
    pub label: String,
    /// Where it leads, if that is known: scheme, host and port.
    pub origin: Option<String>,
}

/// What is to be done with the controls of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way<'a> {
    /// Press this one.
    Press(&'a Control),
    /// There is nothing to press.
    Nothing,
    /// A person must look.
    Persons,
    /// It leads to another site, which nobody permitted.
    Elsewhere,
}

/// Words that say that a control only leads on.
const ONWARD: [&str; 7] =
    ["next", "continue", "forward", "proceed", "weiter", "suivant", "siguiente"];
/// Words that say that something is sent, paid, signed or lost.
const FINAL: [&str; 29] = [
    "submit",
    "send",
    "pay",
    "payment",
    "buy",
    "purchase",
    "order",
    "checkout",
    "donate",
    "sign",
    "signature",
    "confirm",
    "accept",
    "agree",
    "apply",
    "register",
    "enrol",
    "enroll",
    "finish",
    "complete",
    "done",
    "delete",
    "remove",
    "cancel",
    "transfer",
    "subscribe",
    "book",
    "reserve",
    "publish",
];

/// Chooses the one control that is safe to press: exactly one leads on, it stays
/// on the site, and nothing that the form wants is missing.
pub(super) fn choose<'a>(controls: &'a [Control], origin: &str, misses: bool) -> Way<'a> {
    let mut onward = controls.iter().filter(|control| leads_on(&control.label));
    match (onward.next(), onward.next()) {
        _ if controls.is_empty() => Way::Nothing,
        (Some(control), None) if control.origin.as_deref().is_some_and(|to| to != origin) => {
            Way::Elsewhere
        }
        (Some(control), None) if !misses => Way::Press(control),
        _ => Way::Persons,
    }
}

fn leads_on(label: &str) -> bool {
    let words: Vec<String> = label
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    has(&ONWARD) && !has(&FINAL)
}
