//! The journal's format: one line of JSON per step, chained by digest.
//!
//! The runtime stores the lines. This module defines a line, and what makes lines a journal:
//! numbers without gaps, and in every line the digest of the line before it, byte for byte.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    agent::Agent,
    body::Body,
    chart::Chart,
    effect::{Effect, Hop, StepOutput},
    event::Observed,
    governor::Verdict,
    id::{At, Digest, Seq},
    run::Run,
    step::{Rejected, StepResult, step},
};

/// The latest version of the format. A line is written in the oldest that its event has, so that
/// builds which know no later one read all that they can.
pub const FORMAT: u16 = 2;

/// One step, as it is written down.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry<'a> {
    /// The version of the format.
    pub v: u16,
    /// The number; the first is 1.
    pub seq: Seq,
    /// When the event was seen.
    pub at: At,
    /// The event, as JSON.
    #[serde(borrow)]
    pub event: &'a RawValue,
    /// Every transition taken, with its reason.
    pub hops: Vec<Hop>,
    /// The digest of the effects and verdicts that the step put out.
    pub effects: Digest,
    /// The digest of the line before; zeros in the first.
    pub prev: Digest,
}

/// A line that cannot be read.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum LineError {
    /// It is not an entry.
    #[error("the line is not a journal entry: {0}")]
    NotAnEntry(String),
    /// It was written by a later build.
    #[error("the entry has format {found}, but this build knows only formats up to {FORMAT}")]
    TooNew {
        /// The format of the entry.
        found: u16,
    },
    /// Its event is written in another format.
    #[error("the entry has format {found}, but its event needs format {wants}")]
    OtherFormat {
        /// The format of the entry.
        found: u16,
        /// The format of its event.
        wants: u16,
    },
}

impl<'a> Entry<'a> {
    /// Reads a line.
    pub fn read(line: &'a str) -> Result<Self, LineError> {
        serde_json::from_str::<Self>(line)
            .map_err(|error| match version(line) {
                Some(found) if found > FORMAT => LineError::TooNew { found },
                _ => LineError::NotAnEntry(alloc::format!("{error}")),
            })
            // A later format may well look like this one and mean something else.
            .and_then(|entry| match entry.v {
                1..=FORMAT => Ok(entry),
                found => Err(LineError::TooNew { found }),
            })
    }

    /// Returns the line to store: the chain covers its bytes.
    pub fn line(&self) -> String {
        // Serialising numbers, digests and JSON that was read before cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Reads the version alone, which every format has in the same place.
fn version(line: &str) -> Option<u16> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u16,
    }
    serde_json::from_str(line).ok().map(|Versioned { v }| v)
}

/// Returns the digest of a step's output.
pub fn digest<T: Serialize>(out: &StepOutput<T>) -> Digest {
    let bytes = serde_json::to_vec(&(&out.effects, &out.verdicts));
    Digest::of(&bytes.unwrap_or_default())
}

/// Returns the same digest of effects whose tasks are written out already.
pub(crate) fn digest_of(effects: &[Effect<Body>], verdicts: &[Verdict]) -> Digest {
    let bytes = serde_json::to_vec(&(effects, verdicts));
    Digest::of(&bytes.unwrap_or_default())
}

/// Steps a run and writes its journal: the fold, in the direction of time.
pub struct Recorder<'c, A: Agent> {
    chart: &'c Chart,
    run: Run<A>,
    prev: Digest,
    out: StepOutput<A::Task>,
}

/// What became of an event that a recorder was given.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub enum RecordResult {
    /// It changed the run; this line must be stored before the effects start.
    Line(String),
    /// It came late or twice; there is nothing to store.
    Ignored(crate::Late),
}

impl<'c, A: Agent> Recorder<'c, A> {
    /// Starts a journal for a run that has not begun.
    pub fn new(chart: &'c Chart) -> Self {
        Self { chart, run: Run::new(chart), prev: Digest::default(), out: StepOutput::default() }
    }

    /// Resumes a run at the end of its journal.
    pub fn resume(chart: &'c Chart, run: Run<A>, prev: Digest) -> Self {
        Self { chart, run, prev, out: StepOutput::default() }
    }

    /// Applies one event and returns its line.
    pub fn record(&mut self, seen: Observed<A::Report>) -> Result<RecordResult, Rejected> {
        let (seq, at, v) = (self.run.core.next, seen.at, seen.event.format());
        let event =
            serde_json::value::to_raw_value(&seen.event).map_err(crate::agent::BadBody::from)?;
        match step(self.chart, &mut self.run, seq, seen, &mut self.out)? {
            StepResult::Ignored(late) => Ok(RecordResult::Ignored(late)),
            StepResult::Applied => {
                let hops = self.out.hops.clone();
                let effects = digest(&self.out);
                let prev = self.prev;
                let entry = Entry { v, seq, at, event: &event, hops, effects, prev };
                let line = entry.line();
                self.prev = Digest::of(line.as_bytes());
                Ok(RecordResult::Line(line))
            }
        }
    }

    /// Returns the run.
    pub const fn run(&self) -> &Run<A> {
        &self.run
    }

    /// Returns the output of the last step.
    pub const fn out(&self) -> &StepOutput<A::Task> {
        &self.out
    }
}

/// Returns a body in canonical form, from anything that serialises.
pub fn body<T: Serialize>(value: &T) -> Result<Box<RawValue>, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    RawValue::from_string(crate::json::canonical(&value))
}
