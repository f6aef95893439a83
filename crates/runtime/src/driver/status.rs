//! How a run stands between two events, and what it waits for.

use pointsman_kernel::{
    chart::{Chart, Disposition, State, StateKind},
    id::EffectId,
    run::{Core, Item, ItemStatus},
};

use super::{
    Driver, load,
    work::{OpenOrder, question},
};
use crate::observe::Question;

/// How a run stands between two events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RunStatus {
    /// Something is under way, or will be at a known time.
    Moving,
    /// It waits for an event from outside: a person's word, or the end of a pause.
    Waiting,
    /// A person must answer before anything goes on.
    Asking,
    /// It has ended.
    Ended(Disposition),
}

impl Driver {
    /// Returns how the run stands.
    pub fn status(&self) -> RunStatus {
        self.status_while(self.is_under_way())
    }

    /// Returns how the run stands once nobody drives it. A look at a call ends with its driver,
    /// and is made anew before a person is asked.
    pub(crate) fn detached_status(&self) -> RunStatus {
        self.status_while(self.works())
    }

    fn status_while(&self, moving: bool) -> RunStatus {
        let core = self.run.core();
        if let Some(ended) = core.ended {
            return RunStatus::Ended(ended);
        }
        if moving {
            return RunStatus::Moving;
        }
        // What is left of those that work are questions.
        let asks = |item: &Item| {
            matches!(item.doing, ItemStatus::Asking { .. } | ItemStatus::Working { .. })
        };
        if core.items.iter().any(asks) {
            return RunStatus::Asking;
        }
        let awaits = self.program.state(core.state);
        match awaits.map(State::kind) {
            Some(StateKind::Await { timeout: Some(_), .. }) => RunStatus::Moving,
            _ => RunStatus::Waiting,
        }
    }

    /// Returns whether something is being done, or is to be tried again. Where nothing is,
    /// the run can be put away until an event comes or its time does.
    pub fn is_under_way(&self) -> bool {
        self.works() || self.open.values().any(OpenOrder::is_checked)
    }

    /// The same, but for calls that are looked at before a person is asked: that can be left
    /// at any time, and done anew.
    pub(super) fn works(&self) -> bool {
        let asks = |effect| {
            self.open.get(&effect).is_some_and(|it| question(&*self.run, &it.order).is_some())
        };
        is_under_way(self.run.core(), asks)
    }

    /// Returns whether no event is there to be taken: nothing has come, and it is not
    /// yet time for the run to wake.
    pub fn is_idle(&self) -> bool {
        let due = |at| self.clock.until(at).is_zero();
        self.pending.is_empty() && !self.run.core().wake.is_some_and(due)
    }

    /// Returns whether the run is in a state that waits for a word from outside.
    pub fn listens(&self) -> bool {
        listens(&self.program, self.run.core())
    }

    /// Returns until when a question can be answered, in milliseconds since 1970; nothing for
    /// one that is not open.
    pub(crate) fn due(&self, question: EffectId) -> Option<u64> {
        let questions = self.left_questions();
        let open = questions.iter().find(|it| it.effect == question)?;
        Some(self.clock.wall(open.expires))
    }

    /// Returns what a person must answer. A call that is still looked at is not among it.
    pub fn questions(&self) -> Vec<Question> {
        self.open_questions(|working| !working.is_checked())
    }

    /// Returns what a person must answer once nobody drives the run.
    pub(crate) fn left_questions(&self) -> Vec<Question> {
        self.open_questions(|_| true)
    }

    fn open_questions(&self, wanted: impl Fn(&OpenOrder) -> bool) -> Vec<Question> {
        load::questions(&*self.run, |effect| {
            Some(self.open.get(effect).filter(|it| wanted(it))?.order.clone())
        })
    }
}

/// Returns whether something is being done, or is to be tried again, given who knows which
/// effects are questions to a person.
pub(super) fn is_under_way(core: &Core, asks: impl Fn(EffectId) -> bool) -> bool {
    core.items.iter().any(|item| match item.doing {
        ItemStatus::Working { effect, .. } => !asks(effect),
        ItemStatus::BackingOff { .. } => true,
        _ => false,
    })
}

/// Returns whether a run is in a state that waits for a word from outside.
pub fn listens(chart: &Chart, core: &Core) -> bool {
    let state = chart.state(core.state);
    core.ended.is_none() && matches!(state.map(State::kind), Some(StateKind::Await { .. }))
}
