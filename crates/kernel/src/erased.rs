//! Runs of any agent behind one object: what drivers, stores and views hold.
//!
//! Events and effects are typed; only an agent's own data is JSON here, a [`Body`].

use alloc::{boxed::Box, string::String, vec::Vec};

use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    agent::{Agent, BadBody, Fault, ModelCall, Summary, Visit},
    body::Body,
    chart::Chart,
    effect::{Effect, Hop, StepOutput},
    event::{Event, Observed},
    governor::Verdict,
    id::{At, Digest, Seq},
    job::AgentDecl,
    journal::digest_of,
    prompt::Prompt,
    replay::{Divergence, fold},
    run::{Core, Run},
    step::{Rejected, StepResult, step},
    table::DataTable,
    turn::TurnError,
};

/// A run of some agent.
pub trait AnyRun: Send {
    /// Returns the kernel's part.
    fn core(&self) -> &Core;

    /// Applies one event.
    fn step(
        &mut self,
        chart: &Chart,
        seq: Seq,
        at: At,
        event: Event<Body>,
    ) -> Result<AppliedStep, StepError>;

    /// Applies one line of a journal and returns the step's output and the line's digest.
    fn fold(
        &mut self,
        chart: &Chart,
        prev: Digest,
        line: &str,
    ) -> Result<(AppliedStep, Digest), Divergence>;

    /// Returns whether the agent can read the body of an event, whatever state the run is in; the run
    /// itself stays as it is.
    fn receives(&self, event: u16, body: &RawValue) -> Result<(), BadBody>;

    /// Renders the prompt of a model call that this run has ordered.
    fn prompt(&self, chart: &Chart, call: &ModelCall) -> Prompt;

    /// Returns the result of the run.
    fn result(&self) -> Option<String>;

    /// Returns the same as data, for agents whose result is more than text.
    fn report(&self) -> Option<Body>;

    /// Returns the current stage in a line, if there is more to say than the state.
    fn stage(&self) -> Option<String>;

    /// Returns tables of what the run has found or done so far.
    fn tables(&self) -> Vec<DataTable>;

    /// Returns why the last turn has no answer, if it has none.
    fn turn_error(&self) -> Option<&TurnError>;

    /// Describes a task in a line for people.
    fn describe_task(&self, task: &Body) -> Option<String>;

    /// Describes a report in a line for people.
    fn describe_report(&self, report: &Body) -> Option<Summary>;

    /// Returns the question of a task that only asks a person for yes or no.
    fn question(&self, task: &Body) -> Option<String>;

    /// Returns the report for a person's answer to such a question; nothing if the agent asks
    /// none.
    fn reply(&self, yes: bool, text: &str) -> Option<Body>;

    /// Returns whether a report is a person's yes to such a question.
    fn is_yes(&self, report: &Body) -> bool;

    /// Returns the whole run as JSON: a cache, never the truth.
    fn snapshot(&self) -> Result<Box<RawValue>, serde_json::Error>;
}

/// The output of a step.
#[derive(Clone, Debug)]
pub struct AppliedStep {
    /// Whether it was applied.
    pub result: StepResult,
    /// What to do.
    pub effects: Vec<Effect<Body>>,
    /// The transitions taken.
    pub hops: Vec<Hop>,
    /// The governor's verdicts.
    pub verdicts: Vec<Verdict>,
    /// Why attempts failed; not in the digest.
    pub failed: Vec<Fault>,
    /// The digest of effects and verdicts, for the entry.
    pub digest: Digest,
}

/// Why an event was not applied.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// The body is not a report of this agent.
    #[error("the event cannot be read: {0}")]
    Unreadable(String),
    /// The kernel refused it.
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

/// One agent as a row of a table: how many agents live in one process.
#[derive(Clone, Copy, Debug)]
pub struct AgentRow {
    /// Its names.
    pub decl: AgentDecl,
    /// Makes a run that has not begun.
    pub start: fn(&Chart) -> Box<dyn AnyRun>,
    /// Makes a run from its snapshot.
    pub load: fn(&RawValue) -> Result<Box<dyn AnyRun>, serde_json::Error>,
}

impl AgentRow {
    /// Returns the row of an agent.
    pub const fn of<A: Agent>() -> Self {
        Self {
            decl: A::DECL,
            start: |chart| {
                Box::new(Erased::<A> { run: Run::new(chart), out: StepOutput::default() })
            },
            load: |snapshot| {
                let run = serde_json::from_str(snapshot.get())?;
                Ok(Box::new(Erased::<A> { run, out: StepOutput::default() }))
            },
        }
    }
}

struct Erased<A: Agent> {
    run: Run<A>,
    out: StepOutput<A::Task>,
}

impl<A: Agent> Erased<A> {
    fn stepped(&self, took: StepResult) -> AppliedStep {
        // A task is plain data, and serialises; the type asks for it.
        let effects = self.out.effects.iter().filter_map(|effect| effect.written().ok());
        let effects: Vec<Effect<Body>> = effects.collect();
        let digest = digest_of(&effects, &self.out.verdicts);
        let StepOutput { hops, verdicts, failed, .. } = &self.out;
        let (hops, verdicts, failed) = (hops.clone(), verdicts.clone(), failed.clone());
        AppliedStep { result: took, effects, hops, verdicts, failed, digest }
    }
}

impl<A: Agent> AnyRun for Erased<A> {
    fn core(&self) -> &Core {
        &self.run.core
    }

    fn step(
        &mut self,
        chart: &Chart,
        seq: Seq,
        at: At,
        event: Event<Body>,
    ) -> Result<AppliedStep, StepError> {
        let event =
            event.read().map_err(|error| StepError::Unreadable(alloc::format!("{error}")))?;
        let took = step(chart, &mut self.run, seq, Observed { at, event }, &mut self.out)?;
        Ok(self.stepped(took))
    }

    fn fold(
        &mut self,
        chart: &Chart,
        prev: Digest,
        line: &str,
    ) -> Result<(AppliedStep, Digest), Divergence> {
        let digest = fold(chart, &mut self.run, &mut self.out, prev, line)?;
        Ok((self.stepped(StepResult::Applied), digest))
    }

    fn receives(&self, event: u16, body: &RawValue) -> Result<(), BadBody> {
        let copy = serde_json::to_string(&self.run.data)?;
        A::receive(&mut serde_json::from_str(&copy)?, event, body)
    }

    fn prompt(&self, chart: &Chart, call: &ModelCall) -> Prompt {
        let core = &self.run.core;
        let Some(state) = chart.state(core.state) else { return Prompt::default() };
        let item = call.item;
        let attempt = core.items.get(usize::from(item)).map_or(0, |item| item.attempt);
        let (entered, now) = (core.entered, core.now);
        let (job, held) = (call.job, false);
        let visit = Visit { state, job, item, attempt, held, entered, now };
        A::prompt(&self.run.data, &visit)
    }

    fn result(&self) -> Option<String> {
        A::result(&self.run.data)
    }

    fn report(&self) -> Option<Body> {
        Body::of(&A::report(&self.run.data)?).ok()
    }

    fn stage(&self) -> Option<String> {
        A::stage(&self.run.data)
    }

    fn tables(&self) -> Vec<DataTable> {
        A::tables(&self.run.data)
    }

    fn turn_error(&self) -> Option<&TurnError> {
        A::turn_error(&self.run.data)
    }

    fn describe_task(&self, task: &Body) -> Option<String> {
        A::describe_task(&task.read().ok()?)
    }

    fn describe_report(&self, report: &Body) -> Option<Summary> {
        A::describe_report(&report.read().ok()?)
    }

    fn question(&self, task: &Body) -> Option<String> {
        A::question(&task.read().ok()?)
    }

    fn reply(&self, yes: bool, text: &str) -> Option<Body> {
        Body::of(&A::reply(yes, text)?).ok()
    }

    fn is_yes(&self, report: &Body) -> bool {
        report.read().is_ok_and(|report| A::is_yes(&report))
    }

    fn snapshot(&self) -> Result<Box<RawValue>, serde_json::Error> {
        serde_json::value::to_raw_value(&self.run)
    }
}
