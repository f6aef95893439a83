//! The fold: from a journal back to its run, strict about every byte.
//!
//! A journal that this build would not have written is a [`Divergence`], named by
//! the first entry that differs. Replaying is never a best effort.

use alloc::{format, string::String, vec::Vec};

use thiserror::Error;

use crate::{
    agent::Agent,
    chart::Chart,
    effect::{Hop, StepOutput},
    event::{Event, Observed},
    id::{Digest, Seq},
    journal::{Entry, LineError, digest},
    run::Run,
    step::{Late, Rejected, StepResult, step},
};

/// The journal and this build disagree.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Divergence {
    /// A line cannot be read.
    #[error("entry {}: {source}", .seq.0)]
    Damaged {
        /// The expected entry.
        seq: Seq,
        /// The mistake in the line.
        source: LineError,
    },
    /// A number is missing or comes twice.
    #[error("entry {}: the journal has entry {} in its place", .expected.0, .got.0)]
    Gap {
        /// The expected entry.
        expected: Seq,
        /// The entry that does.
        got: Seq,
    },
    /// The line before was changed.
    #[error(
        "entry {}: it expects digest {wants} for the previous line, but that line has {has}", .seq.0
    )]
    Chain {
        /// The entry.
        seq: Seq,
        /// The digest that the entry holds.
        wants: Digest,
        /// The digest of the line before.
        has: Digest,
    },
    /// The event cannot be read as one of this agent's.
    #[error("entry {}: the event cannot be read: {why}", .seq.0)]
    Event {
        /// The entry.
        seq: Seq,
        /// Why.
        why: String,
    },
    /// The kernel refuses an event that it once took.
    #[error("entry {}: this build refuses an event that the journal holds", .seq.0)]
    Rejected {
        /// The entry.
        seq: Seq,
        /// Why.
        #[source]
        source: Rejected,
    },
    /// The kernel ignores an event that it once took.
    #[error("entry {}: this build ignores an event that the journal holds ({late:?})", .seq.0)]
    Ignored {
        /// The entry.
        seq: Seq,
        /// Why.
        late: Late,
    },
    /// Another way was taken.
    #[error("entry {}: the run took {journal} in the journal, but takes {build} in this build", .seq.0)]
    Hops {
        /// The entry.
        seq: Seq,
        /// The transitions in the journal.
        journal: String,
        /// The transitions that this build takes.
        build: String,
    },
    /// Something else was ordered.
    #[error("entry {}: the effects have digest {journal} in the journal and {build} in this build", .seq.0)]
    Effects {
        /// The entry.
        seq: Seq,
        /// The digest in the journal.
        journal: Digest,
        /// The digest of what this build orders.
        build: Digest,
    },
}

impl Divergence {
    /// Returns the first entry that differs.
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Damaged { seq, .. }
            | Self::Gap { expected: seq, .. }
            | Self::Chain { seq, .. }
            | Self::Event { seq, .. }
            | Self::Rejected { seq, .. }
            | Self::Ignored { seq, .. }
            | Self::Hops { seq, .. }
            | Self::Effects { seq, .. } => *seq,
        }
    }
}

/// Folds one line into a run and returns the line's digest.
pub fn fold<A: Agent>(
    chart: &Chart,
    run: &mut Run<A>,
    out: &mut StepOutput<A::Task>,
    prev: Digest,
    line: &str,
) -> Result<Digest, Divergence> {
    let seq = run.core.next;
    let entry = Entry::read(line).map_err(|source| Divergence::Damaged { seq, source })?;
    if entry.seq != seq {
        return Err(Divergence::Gap { expected: seq, got: entry.seq });
    }
    if entry.prev != prev {
        return Err(Divergence::Chain { seq, wants: entry.prev, has: prev });
    }
    let event: Event<A::Report> = serde_json::from_str(entry.event.get())
        .map_err(|error| Divergence::Event { seq, why: format!("{error}") })?;
    if entry.v != event.format() {
        let source = LineError::OtherFormat { found: entry.v, wants: event.format() };
        return Err(Divergence::Damaged { seq, source });
    }
    let seen = Observed { at: entry.at, event };
    match step(chart, run, seq, seen, out) {
        Err(source) => Err(Divergence::Rejected { seq, source }),
        Ok(StepResult::Ignored(late)) => Err(Divergence::Ignored { seq, late }),
        Ok(StepResult::Applied) if out.hops != entry.hops => Err(Divergence::Hops {
            seq,
            journal: route(chart, &entry.hops),
            build: route(chart, &out.hops),
        }),
        Ok(StepResult::Applied) => {
            let build = digest(out);
            if build != entry.effects {
                return Err(Divergence::Effects { seq, journal: entry.effects, build });
            }
            Ok(Digest::of(line.as_bytes()))
        }
    }
}

/// Folds a whole journal into the run that it describes.
pub fn replay<'l, A: Agent>(
    chart: &Chart,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<(Run<A>, Digest), Divergence> {
    let mut run = Run::new(chart);
    let mut out = StepOutput::default();
    let mut prev = Digest::default();
    for line in lines {
        prev = fold(chart, &mut run, &mut out, prev, line)?;
    }
    Ok((run, prev))
}

/// Returns the states that the hops lead through, for a person.
fn route(chart: &Chart, hops: &[Hop]) -> String {
    if hops.is_empty() {
        return String::from("no transition");
    }
    let names: Vec<&str> =
        hops.iter().map(|hop| hop.to.map_or("the end", |to| chart.state_name(to))).collect();
    names.join(" → ")
}
