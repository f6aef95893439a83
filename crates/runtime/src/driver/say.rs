//! Orders, answers and words from outside, in a line each, for those who watch a run or ask
//! about it later.

use std::collections::BTreeMap;

use pointsman_kernel::{
    agent::{Answer, Order},
    agents::Program,
    body::Body,
    effect::EffectKind,
    erased::AnyRun,
    event::Event,
    id::EffectId,
    job::AgentDecl,
};
use serde::Deserialize;
use serde_json::Value;

use super::work::{is_aside, question};
use crate::tool::NOTICE;

/// Characters of an answer that are shown.
const SHOWN: usize = 120;
/// Characters of what went wrong, was reported or was done after tools.
const FAILED: usize = 1000;

/// What is said of an answer that only serves the agent.
pub const SUMMARISED: &str = "summarised what was said";

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
pub(super) fn start(
    run: &dyn AnyRun,
    agent: &AgentDecl,
    order: &Order<Body>,
    model: &str,
) -> String {
    match order {
        Order::Model(_) if is_aside(order, agent) => {
            format!("summarises what was said, with {model}")
        }
        Order::Model(_) => format!("asks {model}"),
        Order::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
        Order::Child(child) => format!("runs {}", child.chart),
        Order::Own { task, .. } => {
            run.describe_task(task).unwrap_or_else(|| format!("does {}", name(task)))
        }
        _ => "does something".into(),
    }
}

/// Says what came back. What only serves the agent, an `aside`, is no answer to anybody.
pub(super) fn answer<'a>(run: &dyn AnyRun, answer: &'a Answer<Body>, aside: bool) -> Came<'a> {
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
    let summary = match answer {
        Answer::Own(report) => run.describe_report(report),
        _ => None,
    };
    let ok = ok && summary.as_ref().is_none_or(|it| it.ok);
    let reported = summary.as_ref().map(|it| it.text.as_str());
    let done = aside.then_some(SUMMARISED);
    let what = output.or(reported).or(done).unwrap_or("");
    // Why something failed is worth its room: the remedy may stand at its end.
    let mut lines = what.lines();
    let first = lines.next().unwrap_or("");
    let notice = lines.next().filter(|line| line.starts_with(NOTICE));
    let short = ok && notice.is_none() && summary.as_ref().is_none_or(|it| !it.full);
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

/// Returns what somebody said in an event in plain words.
pub fn words(event: &Event<Body>) -> Option<String> {
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
    run: &dyn AnyRun,
    program: &Program,
) -> Option<Said> {
    let agent = program.agent();
    let plain = |did: String| Said { did, ok: true, came: String::new() };
    Some(match event {
        Event::Answered { effect, answer: came, .. } => {
            let order = open.get(effect);
            let did = match order {
                Some(kind @ EffectKind::Start(it)) => question(run, kind).map_or_else(
                    || start(run, agent, it, "the model"),
                    |asked| format!("asks: {asked}"),
                ),
                _ => String::new(),
            };
            let aside = matches!(order, Some(EffectKind::Start(order)) if is_aside(order, agent));
            let Came { ok, what, .. } = answer(run, came, aside);
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
        Event::Paused { why, .. } => plain(why.clone()),
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

#[cfg(all(test, feature = "agents"))]
mod tests {
    use pointsman_agents::chat;

    use super::*;
    use crate::perform::Done;

    #[test]
    fn what_is_left_out_is_marked_and_a_failure_is_told_whole() {
        let long = format!("{} the remedy", "x".repeat(400));
        let run = pointsman_agents::all().verify(chat::CHART).expect("it ships").start();
        let came = |ok: bool| answer(&*run, &Done::tool(ok, &long).answer, false).what;
        let short = came(true);
        assert_eq!(short.chars().count(), SHOWN);
        assert!(short.ends_with('…'), "{short}");
        assert_eq!(came(false), long);
        let endless = shortened(&"x".repeat(2 * FAILED), FAILED);
        assert_eq!((endless.chars().count(), endless.ends_with('…')), (FAILED, true));
        assert_eq!(shortened("all of it", 9), "all of it");
    }
}
