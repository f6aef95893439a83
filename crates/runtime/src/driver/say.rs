//! Orders, answers and words from outside, in a line each, for those who watch a run or ask
//! about it later.

mod form;

use std::collections::BTreeMap;

use pointsman_agents::{builtin::Report, chat};
use pointsman_kernel::{
    agent::{Answer, Order},
    body::Body,
    effect::EffectKind,
    event::Event,
    id::EffectId,
};
use serde::Deserialize;
use serde_json::Value;

use super::work::{is_aside, question};
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
pub(super) fn start(order: &Order<Body>, agent: &str, model: &str) -> String {
    match order {
        Order::Model(_) if is_aside(order, agent) => {
            format!("summarises what was said, with {model}")
        }
        Order::Model(_) => format!("asks {model}"),
        Order::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
        Order::Child(child) => format!("runs {}", child.chart),
        Order::Own { task, .. } => {
            form::task(task).unwrap_or_else(|| format!("does {}", name(task)))
        }
        _ => "does something".into(),
    }
}

/// Says what came back. What only serves the agent, an `aside`, is no answer to anybody.
pub(super) fn answer(answer: &Answer<Body>, aside: bool) -> Came<'_> {
    let fault = matches!(answer, Answer::Fault(_));
    let aside = aside && !fault;
    let output = match answer {
        Answer::Fault(fault) => Some(fault.message.as_str()),
        Answer::Tool(result) => Some(result.output.as_str()),
        Answer::Model(reply) => Some(reply.text.as_str()).filter(|_| !aside),
        _ => None,
    };
    let ok = match answer {
        Answer::Tool(result) => result.ok,
        _ => !fault,
    };
    let own = match answer {
        Answer::Own(report) => Some(report),
        _ => None,
    };
    let said = own.and_then(person).map(|yes| if yes { "yes" } else { "no" });
    let hook = after_tools(answer);
    let ok = ok && hook.as_ref().is_none_or(|(ok, _)| *ok);
    let hook = hook.map(|(_, report)| report);
    let form = own.and_then(form::report);
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

/// Returns what a person has answered to a plain question.
fn person(report: &Body) -> Option<bool> {
    match report.read() {
        Ok(Report::Answered { yes, .. }) => Some(yes),
        _ => None,
    }
}

/// Says what was done after tools, and whether it went well.
pub(crate) fn after_tools(answer: &Answer<Body>) -> Option<(bool, String)> {
    let Answer::Own(report) = answer else { return None };
    let Ok(chat::Report::PostTools { actions, .. }) = report.read() else { return None };
    let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
    Some((went_well(&actions), actions.join("; ")))
}

/// Returns what somebody said in an event in plain words.
pub(crate) fn words(event: &Event<Body>) -> Option<String> {
    #[derive(Deserialize)]
    struct Words {
        text: String,
    }
    let Event::Given { body, .. } = event else { return None };
    serde_json::from_str::<Words>(body.get()).ok().map(|words| words.text)
}

/// Says what an event of a journal is about, with the orders that were open before it;
/// nothing where its name says all.
pub(crate) fn event(
    event: &Event<Body>,
    open: &BTreeMap<EffectId, EffectKind<Body>>,
    agent: &str,
) -> Option<Said> {
    let plain = |did: String| Said { did, ok: true, came: String::new() };
    Some(match event {
        Event::Answered { effect, answer: came, .. } => {
            let order = open.get(effect);
            let did = match order {
                Some(EffectKind::Start(it)) => order.and_then(question).map_or_else(
                    || start(it, agent, "the model"),
                    |asked| format!("asks: {asked}"),
                ),
                _ => String::new(),
            };
            let aside = matches!(order, Some(EffectKind::Start(order)) if is_aside(order, agent));
            let Came { ok, what, .. } = answer(came, aside);
            Said { did, ok, came: what }
        }
        Event::ApprovalAnswered { effect, granted, reason, .. } => {
            let said = if *granted { "a person allows" } else { "a person denies" };
            let call = match open.get(effect) {
                Some(EffectKind::AskPerson(call)) => {
                    format!("{} {}", call.tool, call.arguments.get())
                }
                _ => "a call".into(),
            };
            Said { did: format!("{said} {call}"), ok: *granted, came: reason.clone() }
        }
        Event::Given { .. } => plain(words(event)?),
        Event::Granted { charge, amount } => {
            plain(format!("a person grants {amount} more: {}", charge.name().replace('_', " ")))
        }
        Event::Paused { why } => plain(why.clone()),
        _ => return None,
    })
}

/// Returns the name of a task of the agent's own: its tag.
fn name(task: &Body) -> String {
    match task.read() {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(map)) => {
            map.into_iter().next().map_or_else(|| "something".into(), |(tag, _)| tag)
        }
        _ => "something".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perform::Done;

    #[test]
    fn what_is_left_out_is_marked_and_a_failure_is_told_whole() {
        let long = format!("{} the remedy", "x".repeat(400));
        let came = |ok: bool| answer(&Done::tool(ok, &long).answer, false).what;
        let short = came(true);
        assert_eq!(short.chars().count(), SHOWN);
        assert!(short.ends_with('…'), "{short}");
        assert_eq!(came(false), long);
        let endless = shortened(&"x".repeat(2 * FAILED), FAILED);
        assert_eq!((endless.chars().count(), endless.ends_with('…')), (FAILED, true));
        assert_eq!(shortened("all of it", 9), "all of it");
    }
}
