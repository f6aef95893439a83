//! Orders, answers and words from outside, in a line each, for those who watch a run or ask
//! about it later.

mod form;

use std::collections::BTreeMap;

use pointsman_kernel::id::EffectId;
use serde::Deserialize;
use serde_json::Value;

use super::work::{Order, Start};

/// Characters of an answer that are shown.
const SHOWN: usize = 120;
/// Characters of what went wrong that are shown.
const FAILED: usize = 1000;

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
    let hook = answer.pointer("/own/post_tools/actions").and_then(Value::as_array);
    let hook = hook.map(|actions| actions.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    let hook = hook.map(|actions| actions.join("; "));
    let form = answer.get("own").and_then(form::report);
    let said = said.or_else(|| form.as_ref().map(|(_, said)| said.as_str()));
    let ok = ok && form.as_ref().is_none_or(|(ok, _)| *ok);
    let done = aside.then_some("summarised what was said");
    let what = output.or(said).or(hook.as_deref()).or(done).unwrap_or("");
    // Why something failed is worth its room: the remedy may stand at its end.
    let room = if ok { SHOWN } else { FAILED };
    let what = shortened(what.lines().next().unwrap_or(""), room);
    Came { ok, what, output }
}

/// Returns the start of a text, with a sign where the rest is left out.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if text.chars().nth(room).is_none() {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
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
