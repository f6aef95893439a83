//! What happens to a run, as JSON: an object per line on standard output.

use pointsman_runtime::{
    observe::{Asked, Notice, Observer, Question},
    store::RunId,
    tool::Toolbox,
};
use serde_json::{Value, json};

use crate::{calls, report};

/// Prints an object for each thing that happens, but for text that is still being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines;

impl Observer for Lines {
    fn notice(&self, run: &RunId, notice: &Notice) {
        if let Some((event, mut fields)) = object(notice) {
            if let Some(map) = fields.as_object_mut() {
                map.insert("event".into(), event.into());
                map.insert("run".into(), run.as_str().into());
            }
            // The command's own end tells of a full disk behind a pipe.
            drop(report::json(&fields));
        }
    }
}

fn object(notice: &Notice) -> Option<(&'static str, Value)> {
    Some(match notice {
        Notice::StateChanged { step, at, from, to, reason, ms } => {
            let fields = json!({
                "step": step, "at": at, "from": from, "to": to, "reason": reason, "ms": ms,
            });
            ("state", fields)
        }
        Notice::Attempted { effect, attempt, what, .. } => {
            ("attempt", json!({ "effect": effect.to_string(), "attempt": attempt, "what": what }))
        }
        Notice::Answered { effect, ok, what, .. } => {
            ("answer", json!({ "effect": effect.to_string(), "ok": ok, "what": what }))
        }
        Notice::Retrying { attempt, wait_ms } => {
            ("retry", json!({ "attempt": attempt, "wait_ms": wait_ms }))
        }
        Notice::Listens { error } => ("listens", json!({ "error": error })),
        Notice::Warned(verdict) => ("warning", plain(verdict)),
        Notice::Stuck(verdict) => ("stuck", plain(verdict)),
        Notice::Progressed(progress) => (
            "progress",
            json!({
                "calls": progress.calls,
                "files_modified": progress.files_modified,
                "recent_successes": progress.recent_successes,
                "recent_failures": progress.recent_failures,
            }),
        ),
        Notice::Persisted { seq, link, view } => {
            ("persisted", json!({ "seq": seq, "link": link, "view": view }))
        }
        Notice::Stage(stage) => ("stage", json!({ "stage": stage })),
        Notice::Asked(question) => ("asked", asked(question)),
        Notice::Paused(why) => ("paused", json!({ "why": why })),
        Notice::Resumed => ("resumed", json!({})),
        Notice::Failed(why) => ("failed", json!({ "why": why })),
        Notice::Refused(why) => ("refused", json!({ "why": why })),
        Notice::Delayed(why) => ("delayed", json!({ "why": why })),
        Notice::Ended(ended) => ("ended", json!({ "disposition": ended.name() })),
        // Text that is being written is for eyes, and so is taking it back.
        _ => return None,
    })
}

/// Returns a question with all that an answer must name; one that is about no call has
/// a text instead.
pub(crate) fn asked(question: &Question) -> Value {
    let (effect, expires) = (question.effect.to_string(), question.expires);
    match &question.asks {
        Asked::Call { call, identity, again } => json!({
            "question": effect,
            "tool": call.tool,
            "arguments": call.arguments,
            "identity": identity,
            "always": Toolbox::default().grants(call).iter().map(calls::typed).collect::<Vec<_>>(),
            "again": again,
            "expires": expires,
        }),
        Asked::Plain(text) => json!({ "question": effect, "text": text, "expires": expires }),
    }
}

fn plain<T: serde::Serialize>(value: &T) -> Value {
    // Text and numbers always serialise.
    serde_json::to_value(value).unwrap_or_default()
}
