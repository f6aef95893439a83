//! An executor that never answers, and a parent run whose child it can leave without an answer.

use pointsman_runtime::effect::{EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink};

/// A chart whose only work is a run of another chart.
pub const PARENT: &str = r#"
chart     = "parent"
version   = 1
start     = "asking"
authority = "propose"

[any]
cancel = "cancelled"

[state.asking]
run     = "agent"
with    = { chart = "research", goal = "{goal}", into = "result" }
timeout = "10m"
on.succeeded    = "done"
on.child_failed = "failed"
on.failed       = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Never answers.
#[derive(Debug)]
pub struct Mute;

impl EffectExecutor for Mute {
    fn model(&self) -> &'static str {
        "none"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(std::future::pending())
    }
}
