//! Step 6: observers are notified.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use pointsman_kernel::{
    agent::{Answer, ToolCall, ToolResult},
    body::Body,
    chart::StuckThresholds,
    erased::AppliedStep,
    event::Event,
    id::EffectId,
    view::view,
};
use serde_json::Value;

use super::Driver;
use crate::{
    journal::Committed,
    observe::{CallProgress, LiveNotice, Notice, Observer},
    store::RunId,
    timeline::{Before, Step, TimelineItem, TimelineKind, project},
};

/// The most files that are counted separately.
const MAX_FILES: usize = 10_000;

/// Counts of a run's calls since this process drives it.
#[derive(Debug, Default)]
pub(super) struct CallTally {
    calls: u64,
    files: BTreeSet<String>,
    recent: VecDeque<bool>,
}

impl CallTally {
    /// Counts a call; returns the state of things as often as the chart wants it.
    fn count(
        &mut self,
        stuck: &StuckThresholds,
        ok: bool,
        changed: Vec<String>,
    ) -> Option<CallProgress> {
        self.calls += 1;
        for file in changed {
            if self.files.len() < MAX_FILES {
                self.files.insert(file);
            }
        }
        self.recent.push_back(ok);
        let recent = usize::try_from(stuck.max_recent_actions).unwrap_or(usize::MAX);
        if self.recent.len() > recent {
            self.recent.pop_front();
        }
        let recent_successes = self.recent.iter().filter(|ok| **ok).count();
        let due = self.calls.is_multiple_of(u64::from(stuck.progress_check_interval).max(1));
        due.then(|| CallProgress {
            calls: self.calls,
            files_modified: self.files.len(),
            recent_successes,
            recent_failures: self.recent.len() - recent_successes,
        })
    }
}

/// Notifies the observers of a run.
pub(super) fn tell(observers: &[Arc<dyn Observer>], run: &RunId, notice: impl Into<Notice>) {
    let notice = notice.into();
    for observer in observers {
        observer.notice(run, &notice);
    }
}

impl Driver {
    pub(super) fn tell(&self, notice: impl Into<Notice>) {
        tell(&self.context.observers, &self.id, notice);
    }

    /// Returns whether there are observers.
    pub(super) fn is_watched(&self) -> bool {
        !self.context.observers.is_empty()
    }

    /// Tells a front end that joins what the run waits for: answers, or a message. The end of the
    /// last turn was reported before.
    pub(super) fn notify_waiting(&self, heard: bool) {
        for question in self.questions() {
            self.tell(LiveNotice::Ask(question));
        }
        if self.listens() && heard {
            self.tell(LiveNotice::Listens);
        }
    }

    /// Reports the result of a step.
    pub(super) fn notify_step(
        &mut self,
        committed: &Committed,
        event: &Event<Body>,
        stepped: &AppliedStep,
        before: &Before,
    ) {
        let (_, items) = project(&Step {
            program: &self.program,
            before,
            event,
            run: &*self.run,
            stepped,
            open: &|effect| self.open.get(&effect).map(|it| &it.order),
            model: self.context.executor.model(),
        });
        let progress = self.progress(&items);
        let view = Box::new(view(&self.program, self.run.core()));
        let persisted =
            LiveNotice::Persisted { seq: committed.seq(), link: committed.link(), view };
        // First the event and its result, then the durable entry, then the effects that start.
        let (came, follows): (Vec<_>, Vec<_>) = items.into_iter().partition(|it| !follows(it));
        for item in came {
            let failed = failed(&item.kind);
            self.tell(item);
            if let Some(effect) = failed {
                self.tell(LiveNotice::Discard(effect));
            }
        }
        if let Some(progress) = progress {
            self.tell(LiveNotice::Progressed(progress));
        }
        self.tell(persisted);
        for item in follows {
            self.tell(item);
        }
    }

    /// Counts a tool's answer; returns how the calls are going as often as the chart wants it.
    fn progress(&mut self, items: &[TimelineItem]) -> Option<CallProgress> {
        let was_checked = |item: &TimelineItem| {
            matches!(item.kind, TimelineKind::Started { only_checked: true, .. })
        };
        // A call that turned out to be impossible was not made.
        if items.iter().any(was_checked) {
            return None;
        }
        let (ok, call, answer) = items.iter().find_map(|item| match &item.kind {
            TimelineKind::Answered { ok, call, answer, .. } => Some((*ok, call.as_ref()?, answer)),
            _ => None,
        })?;
        let changed = matches!(**answer, Answer::Tool(ToolResult { mutated: true, .. }));
        let files = if changed { self.targets(call) } else { Vec::new() };
        self.tally.count(self.program.stuck(), ok, files)
    }

    /// Returns the targets of a call, as its tool declares.
    fn targets(&self, call: &ToolCall) -> Vec<String> {
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
        let Some(tool) = self.run.core().governor.tool(&call.tool) else { return Vec::new() };
        let named = tool.targets.iter().filter_map(|name| arguments.get(&**name)?.as_str());
        named.map(str::to_owned).collect()
    }
}

/// Returns the effect that a fault answered: its partial text is void.
fn failed(kind: &TimelineKind) -> Option<EffectId> {
    match kind {
        TimelineKind::Answered { effect, answer, .. } => {
            matches!(**answer, Answer::Fault(_)).then_some(*effect)
        }
        _ => None,
    }
}

/// Returns whether an item belongs after the durable entry.
const fn follows(item: &TimelineItem) -> bool {
    matches!(
        item.kind,
        TimelineKind::Started { only_checked: false, .. }
            | TimelineKind::Asked(_)
            | TimelineKind::Stopped { .. }
            | TimelineKind::Listens { .. }
            | TimelineKind::Ended { .. }
    )
}
