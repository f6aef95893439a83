//! Notices for the observers of a run, and the observer that writes to the log.

use std::{fmt, sync::Arc};

use pointsman_kernel::{
    agent::ToolCall,
    governor::Level,
    id::{At, Digest, EffectId, Seq},
    prompt::Prompt,
    view::RunView,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    effect::TokenCount,
    store::RunId,
    timeline::{TimelineItem, TimelineKind, is_stuck},
};

/// A notice to the observers of a run.
#[derive(Clone, Debug)]
pub enum Notice {
    /// Something happened; the journal has the same item.
    Item(TimelineItem),
    /// Something that only observers learn.
    Live(LiveNotice),
}

impl Notice {
    /// Returns the item's kind, if it is an item.
    pub const fn kind(&self) -> Option<&TimelineKind> {
        match self {
            Self::Item(item) => Some(&item.kind),
            Self::Live(_) => None,
        }
    }

    /// Returns whether a transition was taken.
    pub const fn is_transition(&self) -> bool {
        matches!(self.kind(), Some(TimelineKind::Transition { .. }))
    }

    /// Returns whether the run waits for a word.
    pub const fn listens(&self) -> bool {
        matches!(
            self,
            Self::Live(LiveNotice::Listens)
                | Self::Item(TimelineItem { kind: TimelineKind::Listens { .. }, .. })
        )
    }

    /// Returns whether the run has ended.
    pub const fn is_end(&self) -> bool {
        matches!(self.kind(), Some(TimelineKind::Ended { .. }))
    }
}

impl From<TimelineItem> for Notice {
    fn from(item: TimelineItem) -> Self {
        Self::Item(item)
    }
}

impl From<LiveNotice> for Notice {
    fn from(live: LiveNotice) -> Self {
        Self::Live(live)
    }
}

/// A notice that only observers of a driven run receive. No timeline has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LiveNotice {
    /// An entry is on disk.
    Persisted {
        /// The entry.
        seq: Seq,
        /// The digest of its line.
        link: Digest,
        /// The run after it.
        view: Box<RunView>,
    },
    /// Ask a person now.
    Ask(Question),
    /// The run waits for input, and a new observer has joined.
    Listens,
    /// A model or a tool has written a piece of text. It is not kept before the answer is
    /// there.
    Delta {
        /// The effect.
        effect: EffectId,
        /// The piece.
        text: Box<str>,
    },
    /// A model call was started, or started again after an interruption.
    ModelCalled {
        /// The effect.
        effect: EffectId,
        /// The model's name, for people.
        model: Box<str>,
        /// The prompt; nothing if the host adds private text to it.
        prompt: Option<Box<Prompt>>,
    },
    /// A model's provider counted the tokens of a call, whose answer follows.
    Counted {
        /// The effect.
        effect: EffectId,
        /// The tokens.
        tokens: TokenCount,
    },
    /// Discard the text shown for an effect: its attempt failed. For a question: it was answered,
    /// here or elsewhere, or is no longer open.
    Discard(EffectId),
    /// More calls of tools were answered: ten, or as many as the chart's
    /// `progress_check_interval` says.
    Progressed(CallProgress),
    /// An event was refused. Nothing changed.
    Refused(Box<str>),
    /// An entry is not on disk after a while: the run waits for it.
    Delayed(Box<str>),
}

/// A question for a person.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question's effect.
    pub effect: EffectId,
    /// Its subject.
    pub asks: QuestionKind,
    /// When it is too late: the call is denied, or the attempt has timed out.
    pub expires: At,
}

impl Question {
    /// Returns the call that it is about, if it is about one.
    pub const fn call(&self) -> Option<&ToolCall> {
        match &self.asks {
            QuestionKind::Call { call, .. } => Some(call),
            QuestionKind::Plain(_) => None,
        }
    }

    /// Returns whether it is about a call that may have been made already.
    pub const fn is_again(&self) -> bool {
        matches!(self.asks, QuestionKind::Call { again: true, .. })
    }
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("effect", &self.effect.to_string())?;
        match &self.asks {
            QuestionKind::Call { call, identity, again } => {
                map.serialize_entry("call", call)?;
                map.serialize_entry("identity", identity)?;
                map.serialize_entry("again", again)?;
            }
            QuestionKind::Plain(text) => map.serialize_entry("text", text)?,
        }
        map.serialize_entry("expires", &self.expires)?;
        map.end()
    }
}

/// Said where a call is asked for that may have been made already.
pub const AGAIN: &str =
    "It was in progress when the program stopped, and may or may not have been done.";

/// The subject of a question.
#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// Whether a call may run.
    Call {
        /// The call.
        call: ToolCall,
        /// The call's digest, which the answer must name.
        identity: Digest,
        /// Whether it was in progress when the program stopped: see [`AGAIN`].
        again: bool,
    },
    /// A question of the chart's own, which yes or no answers.
    Plain(String),
}

/// How the calls of a run are going.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallProgress {
    /// Calls that were answered.
    pub calls: u64,
    /// Files that were changed, each once.
    pub files_modified: usize,
    /// How many of the last `max_recent_actions` calls succeeded.
    pub recent_successes: usize,
    /// How many of them failed.
    pub recent_failures: usize,
}

/// Watches runs. It is called between two steps of the run, so it should be quick.
pub trait Observer: Send + Sync {
    /// Receives a notice.
    fn notice(&self, run: &RunId, notice: &Notice);
}

impl<F: Fn(&RunId, &Notice) + Send + Sync> Observer for F {
    fn notice(&self, run: &RunId, notice: &Notice) {
        self(run, notice);
    }
}

/// Observers of the child runs that an engine's runs start, at any depth. A run's own observers are not
/// told of its children.
#[derive(Clone, Default)]
pub struct ChildObservers(pub Vec<Arc<dyn Observer>>);

impl fmt::Debug for ChildObservers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChildObservers({})", self.0.len())
    }
}

/// Writes transitions and findings to the log, through `tracing`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

impl Observer for Log {
    fn notice(&self, run: &RunId, notice: &Notice) {
        match notice {
            Notice::Item(item) => log(run, item),
            Notice::Live(LiveNotice::Refused(why)) => tracing::warn!(%run, %why, "event_refused"),
            Notice::Live(LiveNotice::Delayed(why)) => tracing::warn!(%run, %why, "entry_delayed"),
            Notice::Live(_) => {}
        }
    }
}

fn log(run: &RunId, item: &TimelineItem) {
    let seq = item.seq.0;
    match &item.kind {
        TimelineKind::Transition { from, to, reason, ms, .. } => tracing::info!(
            %run,
            seq,
            from = from.as_deref().unwrap_or(""),
            to = to.as_deref().unwrap_or(""),
            %reason,
            ms,
            "state_transition"
        ),
        TimelineKind::Verdict(verdict) if is_stuck(verdict) => tracing::info!(
            %run,
            seq,
            rule = ?verdict.rule,
            reason = %verdict.reason,
            "stuck_detection"
        ),
        TimelineKind::Verdict(verdict) if verdict.level == Level::Warn => tracing::info!(
            %run,
            seq,
            rule = ?verdict.rule,
            reason = %verdict.reason,
            "stuck_warning"
        ),
        TimelineKind::Failed { why } => tracing::info!(%run, seq, %why, "attempt_failed"),
        TimelineKind::Ended { disposition } => {
            tracing::info!(%run, seq, ended = disposition.name(), "run_ended");
        }
        _ => {}
    }
}
