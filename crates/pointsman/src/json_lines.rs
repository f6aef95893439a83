//! What happens to a run, as JSON: an object per line on standard output.

use pointsman_runtime::{
    observe::{LiveNotice, Notice, Observer, Question, QuestionKind},
    store::RunId,
    timeline::{TimelineItem, TimelineKind, is_stuck},
    tool::Toolbox,
};
use serde_json::{Value, json};

use crate::{calls, report};

/// Prints an object for each event, except for text that is still being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonLines;

impl Observer for JsonLines {
    fn notice(&self, run: &RunId, notice: &Notice) {
        if let Some((event, mut fields)) = object(notice) {
            if let Some(map) = fields.as_object_mut() {
                map.insert("event".into(), event.into());
                map.insert("run".into(), run.as_str().into());
            }
            // The end of the command reports a full disk behind a pipe.
            drop(report::json(&fields));
        }
    }
}

fn object(notice: &Notice) -> Option<(&'static str, Value)> {
    match notice {
        Notice::Item(item) => happened(item),
        Notice::Live(live) => live_object(live),
    }
}

fn happened(item: &TimelineItem) -> Option<(&'static str, Value)> {
    Some(match &item.kind {
        TimelineKind::Transition { from, to, reason, ms, .. } => {
            let (step, at) = (item.seq, item.at);
            let fields = json!({
                "step": step, "at": at, "from": from, "to": to, "reason": reason, "ms": ms,
            });
            ("state", fields)
        }
        TimelineKind::Started { effect, attempt, what, .. } => {
            ("attempt", json!({ "effect": effect.to_string(), "attempt": attempt, "what": what }))
        }
        TimelineKind::Answered { effect, ok, what, .. } => {
            ("answer", json!({ "effect": effect.to_string(), "ok": ok, "what": what }))
        }
        TimelineKind::Retrying { attempt, wait_ms } => {
            ("retry", json!({ "attempt": attempt, "wait_ms": wait_ms }))
        }
        TimelineKind::Listens { error } => ("listens", json!({ "error": error })),
        TimelineKind::Verdict(verdict) if is_stuck(verdict) => ("stuck", plain(verdict)),
        TimelineKind::Verdict(verdict) => ("warning", plain(verdict)),
        TimelineKind::Stage { text: Some(stage) } => ("stage", json!({ "stage": stage })),
        TimelineKind::Paused { why, .. } => ("paused", json!({ "why": why })),
        TimelineKind::Resumed | TimelineKind::Lifted { still_paused: false, .. } => {
            ("resumed", json!({}))
        }
        TimelineKind::Failed { why } => ("failed", json!({ "why": why })),
        TimelineKind::Ended { disposition } => {
            ("ended", json!({ "disposition": disposition.name() }))
        }
        _ => return None,
    })
}

fn live_object(live: &LiveNotice) -> Option<(&'static str, Value)> {
    Some(match live {
        LiveNotice::Progressed(progress) => (
            "progress",
            json!({
                "calls": progress.calls,
                "files_modified": progress.files_modified,
                "recent_successes": progress.recent_successes,
                "recent_failures": progress.recent_failures,
            }),
        ),
        LiveNotice::Persisted { seq, link, view } => {
            ("persisted", json!({ "seq": seq, "link": link, "view": view }))
        }
        LiveNotice::Ask(question) => ("asked", asked(question)),
        LiveNotice::Listens => ("listens", json!({ "error": null })),
        LiveNotice::Refused(why) => ("refused", json!({ "why": why })),
        LiveNotice::Delayed(why) => ("delayed", json!({ "why": why })),
        // Text that is being written is for eyes, and so is taking it back.
        _ => return None,
    })
}

/// Returns a question with all that an answer must name; one that is about no call has
/// a text instead.
pub(crate) fn asked(question: &Question) -> Value {
    let (effect, expires) = (question.effect.to_string(), question.expires);
    match &question.asks {
        QuestionKind::Call { call, identity, again } => json!({
            "question": effect,
            "tool": call.tool,
            "arguments": call.arguments,
            "identity": identity,
            "always": Toolbox::default().grants(call).iter().map(calls::typed).collect::<Vec<_>>(),
            "again": again,
            "expires": expires,
        }),
        QuestionKind::Plain(text) => {
            json!({ "question": effect, "text": text, "expires": expires })
        }
    }
}

fn plain<T: serde::Serialize>(value: &T) -> Value {
    // Text and numbers always serialise.
    serde_json::to_value(value).unwrap_or_default()
}
