//! Orders, answers and words from outside, in a line each, for those who watch a run or ask
//! about it later.

mod form;

use std::collections::BTreeMap;

use pointsman_kernel::id::EffectId;
use serde::Deserialize;
use serde_json::Value;

use super::work::{Order, Start};
use crate::{host::went_well, tool::NOTICE};

/// Characters of an answer that are shown.
const SHOWN: usize = 120;
/// Characters of what went wrong, was reported or was done after tools.
const FAILED: usize = 1000;

/// What is said of an answer that only serves the agent.
pub(crate) const SUMMARISED: &str = "summarised what was said";

/// What an entry of a journal is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Said {
    /// What was done, or said from outside.
    pub did: String,
    /// Whether it went well.
    pub ok: bool,
    /// What came of it, in a line; empty where there is no more to say.
    pub came: String,
}

/// What came back for an order.
pub(super) struct Came<'a> {
    pub(super) ok: bool,
    /// The first line of it.
    pub(super) what: String,
    /// All of it, where it is text.
    pub(super) output: Option<&'a str>,
}

/// Says what is started.
pub(super) fn start(start: &Start, agent: &str, model: &str) -> String {
    match start {
        Start::Model(_) if start.is_aside(agent) => {
            format!("summarises what was said, with {model}")
        }
        Start::Model(_) => format!("asks {model}"),
        Start::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
        Start::Child(child) => format!("runs {}", child.chart),
        Start::Own { task } => form::task(task).unwrap_or_else(|| format!("does {}", name(task))),
    }
}

/// Says what came back. What only serves the agent, an `aside`, is no answer to anybody.
pub(super) fn answer(answer: &Value, aside: bool) -> Came<'_> {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let fault = text("/fault/message");
    let aside = aside && fault.is_none();
    let ok = match answer.pointer("/tool/ok").and_then(Value::as_bool) {
        Some(ok) => ok,
        None => fault.is_none(),
    };
    let person = answer.pointer("/own/answered/yes").and_then(Value::as_bool);
    let said = person.map(|yes| if yes { "yes" } else { "no" });
    let reply = text("/model/text").filter(|_| !aside);
    let output = fault.or_else(|| text("/tool/output")).or(reply);
    let hook = after_tools(answer);
    let ok = ok && hook.as_ref().is_none_or(|(ok, _)| *ok);
    let hook = hook.map(|(_, report)| report);
    let form = answer.get("own").and_then(form::report);
    let said = said.or_else(|| form.as_ref().map(|(_, said)| said.as_str()));
    let ok = ok && form.as_ref().is_none_or(|(ok, _)| *ok);
    let done = aside.then_some(SUMMARISED);
    let what = output.or(said).or(hook.as_deref()).or(done).unwrap_or("");
    // Why something failed is worth its room: the remedy may stand at its end. A report is
    // short, and a commit stands at its end.
    let mut lines = what.lines();
    let first = lines.next().unwrap_or("");
    let notice = lines.next().filter(|line| line.starts_with(NOTICE));
    let short = ok && hook.is_none() && notice.is_none();
    let first = notice.map_or_else(|| first.to_owned(), |notice| format!("{first} {notice}"));
    let what = shortened(&first, if short { SHOWN } else { FAILED });
    Came { ok, what, output }
}

/// Returns the start of a text, with a sign where the rest is left out.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if text.chars().nth(room).is_none() {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Says what was done after tools, and whether it went well.
pub(crate) fn after_tools(answer: &Value) -> Option<(bool, String)> {
    let actions = answer.pointer("/own/post_tools/actions")?.as_array()?;
    let actions: Vec<&str> = actions.iter().filter_map(Value::as_str).collect();
    Some((went_well(&actions), actions.join("; ")))
}

/// Says what an event of a journal is about, with the orders that were open before it;
/// nothing where its name says all.
pub(crate) fn event(event: &Value, open: &BTreeMap<EffectId, Order>, agent: &str) -> Option<Said> {
    let order = |body: &Value| open.get(&EffectId::deserialize(body.get("effect")?).ok()?);
    let (name, body) = event.as_object()?.iter().next()?;
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(match name.as_str() {
        "answered" => {
            let order = order(body);
            let did = match order {
                Some(Order::Start(it)) => order.and_then(Order::question).map_or_else(
                    || start(it, agent, "the model"),
                    |asked| format!("asks: {asked}"),
                ),
                _ => String::new(),
            };
            let aside = matches!(order, Some(Order::Start(start)) if start.is_aside(agent));
            let Came { ok, what, .. } = answer(body.get("answer")?, aside);
            Said { did, ok, came: what }
        }
        "approval_answered" => {
            let granted = body.get("granted")?.as_bool()?;
            let said = if granted { "a person allows" } else { "a person denies" };
            let call = match order(body) {
                Some(Order::AskPerson(call)) => format!("{} {}", call.tool, call.arguments.get()),
                _ => "a call".into(),
            };
            let came = text("/reason").unwrap_or_default();
            Said { did: format!("{said} {call}"), ok: granted, came }
        }
        "given" => Said { did: text("/body/text")?, ok: true, came: String::new() },
        "granted" => {
            let amount = body.get("amount")?.as_u64()?;
            let charge = text("/charge")?.replace('_', " ");
            Said {
                did: format!("a person grants {amount} more: {charge}"),
                ok: true,
                came: String::new(),
            }
        }
        "paused" => Said { did: text("/why")?, ok: true, came: String::new() },
        _ => return None,
    })
}

/// Returns the name of a task of the agent's own: its tag.
fn name(task: &Value) -> &str {
    match task {
        Value::String(name) => name,
        Value::Object(map) => map.keys().next().map_or("something", String::as_str),
        _ => "something",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_is_marked_and_a_failure_is_told_whole() {
        let long = format!("{} the remedy", "x".repeat(400));
        let came = |ok: bool| answer(&json!({ "tool": { "ok": ok, "output": &long } }), false).what;
        let short = came(true);
        assert_eq!(short.chars().count(), SHOWN);
        assert!(short.ends_with('…'), "{short}");
        assert_eq!(came(false), long);
        let endless = shortened(&"x".repeat(2 * FAILED), FAILED);
        assert_eq!((endless.chars().count(), endless.ends_with('…')), (FAILED, true));
        assert_eq!(shortened("all of it", 9), "all of it");
    }
}
