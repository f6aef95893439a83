//! The status of a run between two events.

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

/// The status of a run between two events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RunStatus {
    /// Work is in progress, or will be at a known time.
    Moving,
    /// It waits for an event from outside: a person's word, or the end of a pause.
    Waiting,
    /// A person must answer before the run continues.
    Asking,
    /// It has ended.
    Ended(Disposition),
}

impl Driver {
    /// Returns the status of the run.
    pub fn status(&self) -> RunStatus {
        self.status_while(self.is_under_way())
    }

    /// Returns the status of the run without an owner. The check of a call ends with its driver,
    /// and is repeated before a person is asked.
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
        // The remaining ones are questions.
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

    /// Returns whether work is in progress, or will be retried. Otherwise the run can be parked
    /// until an event or its wake-up time.
    pub fn is_under_way(&self) -> bool {
        self.works() || self.open.values().any(OpenOrder::is_checked)
    }

    /// The same, without calls that are only being checked before a person is asked: such a check
    /// can stop at any time and be repeated.
    pub(super) fn works(&self) -> bool {
        let asks = |effect| {
            self.open.get(&effect).is_some_and(|it| question(&*self.run, &it.order).is_some())
        };
        is_under_way(self.run.core(), asks)
    }

    /// Returns whether something is being done at this moment: not what waits for its next attempt,
    /// or rests as a paused child run does.
    pub(crate) fn is_at_work(&self) -> bool {
        let works = |it: &OpenOrder| !it.rests() && question(&*self.run, &it.order).is_none();
        self.open.values().any(works)
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

    /// Returns the open questions. A call that is still being checked is not among them.
    pub fn questions(&self) -> Vec<Question> {
        self.open_questions(|working| !working.is_checked())
    }

    /// Returns the questions that stay open when the run has no owner.
    pub(crate) fn left_questions(&self) -> Vec<Question> {
        self.open_questions(|_| true)
    }

    fn open_questions(&self, wanted: impl Fn(&OpenOrder) -> bool) -> Vec<Question> {
        load::questions(&*self.run, |effect| {
            Some(self.open.get(effect).filter(|it| wanted(it))?.order.clone())
        })
    }
}

/// Returns whether work is in progress, or will be retried, given which effects are questions to a
/// person.
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
