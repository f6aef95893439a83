//! What those who watch a run are told, and the watcher that writes to the log.

use pointsman_kernel::{
    agent::ToolCall,
    chart::Disposition,
    governor::{Level, Verdict},
    id::{At, Digest, EffectId, Seq},
    turn::TurnError,
    view::RunView,
};

use crate::store::RunId;

/// Something that happened to a run. All of it can be read from the journal again, but
/// for text that is still being written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// A transition was taken.
    StateChanged {
        /// The entry.
        step: Seq,
        /// When.
        at: At,
        /// The state that was left; none at the very start.
        from: Option<Box<str>>,
        /// The state that was entered; none where the run ended where it was.
        to: Option<Box<str>>,
        /// Why.
        reason: Box<str>,
        /// Milliseconds that were spent in the state that was left.
        ms: u64,
    },
    /// An effect was started.
    Attempted {
        /// The effect.
        effect: EffectId,
        /// The attempt; the first is 1.
        attempt: u16,
        /// What it does, in a few words.
        what: Box<str>,
        /// The call, where it is a tool's.
        call: Option<Box<ToolCall>>,
    },
    /// An effect was answered.
    Answered {
        /// The effect.
        effect: EffectId,
        /// Whether it went well.
        ok: bool,
        /// What came back, in a few words.
        what: Box<str>,
        /// All of it, where it is a tool's result or a model's reply. What the agent asks a
        /// model for its own use, such as a summary, is no reply.
        output: Option<Box<str>>,
    },
    /// An attempt failed though nothing answered with a fault: its answer would not do, or
    /// its time was up.
    Failed(Box<str>),
    /// What failed is tried again after a while.
    Retrying {
        /// The attempt that comes next.
        attempt: u16,
        /// Milliseconds until then.
        wait_ms: u64,
    },
    /// The governor ruled something short of the end.
    Warned(Verdict),
    /// The governor found that nothing new is learnt, and stopped the job.
    Stuck(Verdict),
    /// More calls of tools were answered: ten, or as many as the chart's
    /// `progress_check_interval` says.
    Progressed(Progress),
    /// An entry is on disk.
    Persisted {
        /// The entry.
        seq: Seq,
        /// The digest of its line.
        link: Digest,
        /// The run after it.
        view: Box<RunView>,
    },
    /// The run is at something new, in a line: the phase of a plan.
    Stage(Box<str>),
    /// A person is asked.
    Asked(Question),
    /// The run waits for a word: a turn is over, or none has begun.
    Listens {
        /// Why the turn has no answer, where it has none.
        error: Option<TurnError>,
    },
    /// A model or a tool has written a piece of text. It is not kept before the answer is
    /// there.
    Said {
        /// The effect.
        effect: EffectId,
        /// The piece.
        text: Box<str>,
    },
    /// What was said for an effect came to nothing: discard it. Of a question: it was
    /// answered, here or elsewhere, or is no longer asked.
    Unsaid(EffectId),
    /// Starts were stopped.
    Paused(Box<str>),
    /// Starts go on.
    Resumed,
    /// An event was refused. Nothing changed.
    Refused(Box<str>),
    /// An entry is not on disk after a while: what the run does next waits for it.
    Delayed(Box<str>),
    /// The run ended.
    Ended(Disposition),
}

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question's effect.
    pub effect: EffectId,
    /// What it is about.
    pub asks: Asked,
    /// When it is too late: the call is denied, or the attempt has timed out.
    pub expires: At,
}

impl Question {
    /// Returns the call that it is about, if it is about one.
    pub const fn call(&self) -> Option<&ToolCall> {
        match &self.asks {
            Asked::Call { call, .. } => Some(call),
            Asked::Plain(_) => None,
        }
    }

    /// Returns whether it is about a call that may have been made already.
    pub const fn is_again(&self) -> bool {
        matches!(self.asks, Asked::Call { again: true, .. })
    }
}

/// Said where a call is asked for that may have been made already.
pub const AGAIN: &str =
    "It was under way when the program stopped, and nobody knows whether it was done.";

/// What a question is about.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Whether a call may run.
    Call {
        /// The call.
        call: ToolCall,
        /// What the answer must name: the call's digest.
        identity: Digest,
        /// Whether it was under way when the program stopped: see [`AGAIN`].
        again: bool,
    },
    /// A question of the chart's own, which yes or no answers.
    Plain(String),
}

/// How the calls of a run are going.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Calls that were answered.
    pub calls: u64,
    /// Files that were changed, each once.
    pub files_modified: usize,
    /// Of the last calls, as many as `max_recent_actions` says, those that went well.
    pub recent_successes: usize,
    /// Of the same, those that did not.
    pub recent_failures: usize,
}

/// Watches runs. It is called between two steps of the run, so it should be quick.
pub trait Observer: Send + Sync {
    /// Is told of something that happened.
    fn notice(&self, run: &RunId, notice: &Notice);
}

impl<F: Fn(&RunId, &Notice) + Send + Sync> Observer for F {
    fn notice(&self, run: &RunId, notice: &Notice) {
        self(run, notice);
    }
}

/// Writes transitions and findings to the log, through `tracing`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

impl Observer for Log {
    fn notice(&self, run: &RunId, notice: &Notice) {
        match notice {
            Notice::StateChanged { step, from, to, reason, ms, .. } => tracing::info!(
                %run,
                step = step.0,
                from = from.as_deref().unwrap_or(""),
                to = to.as_deref().unwrap_or(""),
                %reason,
                ms,
                "state_transition"
            ),
            Notice::Stuck(verdict) => tracing::info!(
                %run,
                rule = ?verdict.rule,
                reason = %verdict.reason,
                "stuck_detection"
            ),
            Notice::Warned(verdict) if verdict.level == Level::Warn => tracing::info!(
                %run,
                rule = ?verdict.rule,
                reason = %verdict.reason,
                "stuck_warning"
            ),
            Notice::Failed(why) => tracing::info!(%run, %why, "attempt_failed"),
            Notice::Refused(why) => tracing::warn!(%run, %why, "event_refused"),
            Notice::Delayed(why) => tracing::warn!(%run, %why, "entry_delayed"),
            Notice::Ended(ended) => tracing::info!(%run, ?ended, "run_ended"),
            _ => {}
        }
    }
}
