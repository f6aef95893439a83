//! Step 6: those who watch are told, in words.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use pointsman_kernel::{
    agent::{Answer, Order, ToolCall, ToolResult},
    body::Body,
    chart::Stuck,
    effect::EffectKind,
    erased::Stepped,
    event::Event,
    governor::Level,
    id::At,
    run::{Doing, Item},
    view::{view, why},
};
use serde_json::Value;

use super::{
    Driver,
    say::{self, Came},
    work::is_aside,
};
use crate::{
    journal::Committed,
    observe::{Notice, Observer, Progress},
    store::RunId,
};

/// Files that are told apart.
const MAX_FILES: usize = 10_000;

/// What is counted of a run's calls since it is being driven here.
#[derive(Debug, Default)]
pub(super) struct Tally {
    calls: u64,
    files: BTreeSet<String>,
    recent: VecDeque<bool>,
    stage: Option<Box<str>>,
    /// Attempts that wait for the next one, as they were last told.
    waits: Vec<(u16, At)>,
}

/// Returns the attempt after which an item waits, and until when.
const fn waits(item: &Item) -> Option<(u16, At)> {
    match item.doing {
        Doing::BackingOff { until } => Some((item.attempt, until)),
        _ => None,
    }
}

impl Tally {
    /// Counts a call; returns the state of things as often as the chart wants it.
    fn count(&mut self, stuck: &Stuck, ok: bool, changed: Vec<String>) -> Option<Progress> {
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
        due.then(|| Progress {
            calls: self.calls,
            files_modified: self.files.len(),
            recent_successes,
            recent_failures: self.recent.len() - recent_successes,
        })
    }
}

/// Tells those who watch a run.
pub(super) fn tell(observers: &[Arc<dyn Observer>], run: &RunId, notice: &Notice) {
    for observer in observers {
        observer.notice(run, notice);
    }
}

impl Driver {
    pub(super) fn tell(&self, notice: &Notice) {
        tell(&self.site.observers, &self.id, notice);
    }

    /// Tells whoever joins what the run waits for: answers, or a word. How the last turn
    /// ended was told when it did.
    pub(super) fn tell_waiting(&self, heard: bool) {
        for question in self.questions() {
            self.tell(&Notice::Asked(question));
        }
        if self.listens() && heard {
            self.tell(&Notice::Listens { error: None });
        }
    }

    /// Tells what a step came to. `entered` is when the first state was entered that it left.
    pub(super) fn tell_step(
        &mut self,
        committed: &Committed,
        event: &Event<Body>,
        stepped: &Stepped,
        mut entered: At,
    ) {
        let progress = self.tell_answer(event);
        if self.site.observers.is_empty() {
            return;
        }
        let core = self.run.core();
        let why = why(&self.program, core, "", stepped);
        // Why an attempt failed that had an answer; a fault was told as one.
        let fault = match event {
            Event::Answered { answer: Answer::Fault(fault), .. } => Some(fault.message.as_str()),
            _ => None,
        };
        for why in why.failed.into_iter().filter(|why| Some(why.as_str()) != fault) {
            self.tell(&Notice::Failed(why.into()));
        }
        for (at, hop) in why.hops.into_iter().enumerate() {
            let began = at == 0 && core.next.0 == 2;
            self.tell(&Notice::StateChanged {
                step: why.seq,
                at: why.at,
                from: Some(hop.from).filter(|_| !began),
                to: hop.to,
                reason: hop.because.into(),
                ms: why.at.since(entered),
            });
            entered = why.at;
        }
        let stage: Option<Box<str>> = self.run.stage().map(Into::into);
        if stage != self.tally.stage {
            self.tally.stage.clone_from(&stage);
            if let Some(stage) = stage {
                self.tell(&Notice::Stage(stage));
            }
        }
        let core = self.run.core();
        for verdict in why.verdicts {
            let stuck = !verdict.rule.is_permission() && verdict.level >= Level::Refuse;
            self.tell(&if stuck { Notice::Stuck(verdict) } else { Notice::Warned(verdict) });
        }
        match event {
            Event::Paused { why, .. } => self.tell(&Notice::Paused(why.as_str().into())),
            Event::Resumed | Event::Lifted { .. } if !core.paused => self.tell(&Notice::Resumed),
            _ => {}
        }
        if let Some(progress) = progress {
            self.tell(&Notice::Progressed(progress));
        }
        let waits: Vec<(u16, At)> = core.items.iter().filter_map(waits).collect();
        for (attempt, until) in waits.iter().filter(|wait| !self.tally.waits.contains(wait)) {
            let (attempt, wait_ms) = (attempt.saturating_add(1), until.since(core.now));
            self.tell(&Notice::Retrying { attempt, wait_ms });
        }
        self.tally.waits = waits;
        let core = self.run.core();
        let view = Box::new(view(&self.program, core));
        self.tell(&Notice::Persisted { seq: committed.seq(), link: committed.link(), view });
        if let Some(ended) = core.ended {
            self.tell(&Notice::Ended(ended));
        } else if !stepped.hops.is_empty() && self.listens() {
            self.tell(&Notice::Listens { error: self.run.turn_error().cloned() });
        }
    }

    /// Tells of an answer, and counts it where it is a tool's.
    fn tell_answer(&mut self, event: &Event<Body>) -> Option<Progress> {
        let Event::Answered { effect, answer, .. } = event else { return None };
        let effect = *effect;
        let aside = match self.open.get(&effect).map(|it| &it.order) {
            Some(EffectKind::Start(order)) => is_aside(order, self.program.agent()),
            _ => false,
        };
        // Of a call that a person was to be asked for, nobody has heard so far.
        if let Some(EffectKind::AskPerson(call)) = self.open.get(&effect).map(|it| &it.order) {
            self.tell_attempt(effect, &Order::Tool(call.clone()));
        }
        let Came { ok, what, output } = say::answer(&*self.run, answer, aside);
        let output = output.map(Into::into);
        self.tell(&Notice::Answered { effect, ok, what: what.into(), output });
        if matches!(answer, Answer::Fault(_)) {
            self.tell(&Notice::Unsaid(effect));
        }
        let Some(EffectKind::Start(Order::Tool(call))) = self.open.get(&effect).map(|it| &it.order)
        else {
            return None;
        };
        let changed = matches!(answer, Answer::Tool(ToolResult { mutated: true, .. }));
        let files = if changed { self.targets(call) } else { Vec::new() };
        self.tally.count(self.program.stuck(), ok, files)
    }

    /// Returns what a call acts on, as its tool declares.
    fn targets(&self, call: &ToolCall) -> Vec<String> {
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
        let Some(tool) = self.run.core().governor.tool(&call.tool) else { return Vec::new() };
        let named = tool.targets.iter().filter_map(|name| arguments.get(&**name)?.as_str());
        named.map(str::to_owned).collect()
    }
}
