//! Orders, answers and words from outside, in a line each.

use pointsman_kernel::{
    agent::{Answer, Order},
    body::Body,
    erased::AnyRun,
    event::Event,
    job::AgentDecl,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{driver::is_aside, tool::NOTICE};

/// Characters of an answer that are shown.
const SHOWN: usize = 120;
/// Characters of what went wrong, was reported or was done after tools.
const FAILED: usize = 1000;

/// The description of an answer that is internal to the agent.
pub const SUMMARISED: &str = "summarised the conversation";

/// The answer to an order.
pub(super) struct AnswerText {
    pub(super) ok: bool,
    /// The first line of it.
    pub(super) what: String,
}

/// Describes a started effect.
pub(super) fn start(
    run: &dyn AnyRun,
    agent: &AgentDecl,
    order: &Order<Body>,
    model: &str,
) -> String {
    match order {
        Order::Model(_) if is_aside(order, agent) => {
            format!("summarises the conversation with {model}")
        }
        Order::Model(_) => format!("asks {model}"),
        Order::Tool(call) => format!("calls {} {}", call.tool, call.arguments.get()),
        Order::Child(child) => format!("runs {}", child.chart),
        Order::Own { task, .. } => {
            run.describe_task(task).unwrap_or_else(|| format!("runs the task `{}`", name(task)))
        }
        _ => "starts an effect".into(),
    }
}

/// Describes an answer. An `aside` is internal to the agent and not a reply to a person.
pub(super) fn answer(run: &dyn AnyRun, answer: &Answer<Body>, aside: bool) -> AnswerText {
    let fault = matches!(answer, Answer::Fault(_));
    let output = output(answer, aside);
    let aside = aside && !fault;
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
    // The reason of a failure is not cut: the remedy may be at its end.
    let mut lines = what.lines();
    let first = lines.next().unwrap_or("");
    let notice = lines.next().filter(|line| line.starts_with(NOTICE));
    let short = ok && notice.is_none() && summary.as_ref().is_none_or(|it| !it.full);
    let first = notice.map_or_else(|| first.to_owned(), |notice| format!("{first} {notice}"));
    let what = shortened(&first, if short { SHOWN } else { FAILED });
    AnswerText { ok, what }
}

/// Returns all of an answer, where it is text and no `aside`.
pub(super) fn output(answer: &Answer<Body>, aside: bool) -> Option<&str> {
    match answer {
        Answer::Fault(fault) => Some(fault.message.as_str()),
        Answer::Tool(result) => Some(result.output.as_str()),
        Answer::Model(reply) => Some(reply.text.as_str()).filter(|_| !aside),
        _ => None,
    }
}

/// Returns the start of a text, with a sign where the rest is left out.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if text.chars().nth(room).is_none() {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the text of an event.
pub fn words(event: &Event<Body>) -> Option<String> {
    #[derive(Deserialize)]
    struct Words {
        text: String,
    }
    let Event::Given { body, .. } = event else { return None };
    serde_json::from_str::<Words>(body.get()).ok().map(|words| words.text)
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
    use crate::effect::Completion;

    #[test]
    fn cuts_are_marked_and_errors_are_complete() {
        let long = format!("{} the remedy", "x".repeat(400));
        let run =
            pointsman_agents::all().verify(chat::CHART).expect("the chart is accepted").start();
        let came = |ok: bool| answer(&*run, &Completion::tool(ok, &long).answer, false).what;
        let short = came(true);
        assert_eq!(short.chars().count(), SHOWN);
        assert!(short.ends_with('…'), "{short}");
        assert_eq!(came(false), long);
        let endless = shortened(&"x".repeat(2 * FAILED), FAILED);
        assert_eq!((endless.chars().count(), endless.ends_with('…')), (FAILED, true));
        assert_eq!(shortened("all of it", 9), "all of it");
    }
}
