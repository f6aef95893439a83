//! One position of the search: a run as its snapshot, and outside knowledge about it.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use pointsman_kernel::{
    chart::Chart,
    event::{Event, Observed},
    id::{EffectId, StateId},
};

/// What must never be. Each is a property of the search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BrokenProperty {
    /// A step panicked.
    Panicked,
    /// An active run waits for nothing.
    DeadEnd,
    /// Something was applied after the end, or the end left something open.
    AfterTheEnd,
    /// A tool was started without a rule or a person's approval.
    BeforeVerdict,
    /// An event that came to nothing changed the run.
    Changed,
    /// An event that was due was not taken.
    NotTaken,
    /// A budget holds more than its max.
    OverMax,
    /// An effect is waited for that was never started, or the other way round.
    Orphaned,
    /// A crash loses something: the snapshot or the journal gives another run.
    Lost,
}

impl BrokenProperty {
    /// Returns the property that does not hold.
    pub(crate) const fn property(self) -> &'static str {
        match self {
            Self::Panicked => "no step panics",
            Self::DeadEnd => "a run that goes on waits for something",
            Self::AfterTheEnd => "the end is one entry, and nothing is applied after it",
            Self::BeforeVerdict => "no tool starts before a verdict allows it",
            Self::Changed => "what is ignored or refused changes nothing",
            Self::NotTaken => "what is due is taken",
            Self::OverMax => "no budget holds more than its max",
            Self::Orphaned => "what is started is answered, stopped or waited for",
            Self::Lost => "a crash loses nothing that was written",
        }
    }
}

/// One step of a run's way here: enough to take it again.
pub(crate) struct Link {
    pub(crate) before: Option<Arc<Self>>,
    pub(crate) seen: Observed<()>,
    pub(crate) laid: Box<[u8]>,
    pub(crate) state: StateId,
}

/// One place of the search.
#[derive(Clone)]
pub(crate) struct Node {
    /// What tells it apart from others.
    pub(crate) key: u64,
    /// The run; a step starts by restoring it, as after a crash.
    pub(crate) snapshot: Arc<[u8]>,
    /// The way here; its length is that of the journal.
    pub(crate) link: Option<Arc<Link>>,
    pub(crate) entries: u32,
    /// Effects that were started, or asked, and neither answered nor stopped.
    pub(crate) open: Vec<(EffectId, bool)>,
    /// The last closed effects: answering them again is late.
    pub(crate) closed: Vec<EffectId>,
    /// Calls that a person allowed and that have not started yet.
    pub(crate) granted: u8,
    pub(crate) broken: Option<BrokenProperty>,
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.key, self.broken.is_some()).hash(hasher);
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.broken) == (other.key, other.broken)
    }
}

impl Node {
    /// Returns the way here, oldest first.
    pub(crate) fn way(&self) -> Vec<&Link> {
        let mut way = Vec::new();
        let mut at = self.link.as_deref();
        while let Some(link) = at {
            way.push(link);
            at = link.before.as_deref();
        }
        way.reverse();
        way
    }

    /// Tells the way here, one entry to a line.
    pub(crate) fn told(&self, chart: &Chart) -> String {
        let told = self.way().into_iter().enumerate().map(|(at, link)| {
            let Link { seen, laid, state, .. } = link;
            let what = match &seen.event {
                Event::Begun(_) => "begun".to_owned(),
                event => format!("{event:?}"),
            };
            let (entry, ms, state) = (at + 1, seen.at.0, chart.state_name(*state));
            format!("  {entry:>3}. at {ms} ms {what}, drawing {laid:?}: `{state}`\n")
        });
        told.collect()
    }
}
