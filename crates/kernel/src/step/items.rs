//! The jobs of one visit: places, attempts, results, the join.

use super::{
    Stepping,
    admission::place,
    transition::{Flow, LeaveReason},
};
use crate::{
    agent::{Abandoned, Agent, Fault, FaultClass, Order},
    backoff,
    chart::StateKind,
    effect::EffectKind,
    id::{EffectId, Outcome},
    run::{HeldOrder, Item, ItemStatus},
};

impl<A: Agent> Stepping<'_, A> {
    pub(super) fn item_of(&self, effect: EffectId) -> Option<u16> {
        place(&self.run.core.items, effect)
    }

    pub(super) fn set(&mut self, at: u16, doing: ItemStatus) {
        if let Some(item) = self.run.core.items.get_mut(usize::from(at)) {
            item.doing = doing;
            item.placed &= !matches!(doing, ItemStatus::Asking { .. } | ItemStatus::Done);
        }
    }

    /// Starts the items that can start, in request order, and joins when all are done.
    pub(super) fn pump(&mut self) -> Flow {
        let (parallel, join) = match self.state.kind() {
            StateKind::Run(_) => (1, None),
            StateKind::FanOut { max_parallel, join, .. } => {
                (usize::from(*max_parallel), Some(*join))
            }
            StateKind::Decide(_)
            | StateKind::Await { .. }
            | StateKind::Final(_)
            | StateKind::BetweenAttemptsOf(_)
            | StateKind::WhileAsking(_) => return Flow::Wait,
        };
        if self.run.core.ended.is_some() {
            return Flow::Wait;
        }
        // An item that is refused or asked about gives its place to the next one, so
        // each turn looks again; no item that was launched is queued after it.
        while let Some(at) = self.next_to_start(parallel) {
            if let leave @ Flow::Leave(_) = self.launch(at) {
                return leave;
            }
        }
        let Some(join) = join else { return Flow::Wait };
        if self.run.core.items.iter().any(|item| item.doing != ItemStatus::Done) {
            return Flow::Wait;
        }
        let visit = self.visit(join, 0);
        let outcome = A::decide(&mut self.run.data, &visit);
        Flow::Leave(self.own(outcome))
    }

    /// Returns the first item that waits and has a place or can have one.
    fn next_to_start(&self, parallel: usize) -> Option<u16> {
        let items = &self.run.core.items;
        // An item keeps its place, so that its attempts are not split and the certificate's rounds
        // hold.
        let free = items.iter().filter(|item| item.placed).count() < parallel;
        let starts = |item: &Item| item.doing == ItemStatus::Queued && (item.placed || free);
        let at = items.iter().position(starts).filter(|_| !self.run.core.paused)?;
        u16::try_from(at).ok()
    }

    /// An item's job ended in one of its outcomes.
    pub(super) fn settled(&mut self, at: u16, outcome: Outcome) -> Flow {
        if matches!(self.state.kind(), StateKind::FanOut { .. }) {
            // The join decides over results; an item's outcome routes nothing.
            self.set(at, ItemStatus::Done);
            return Flow::Wait;
        }
        match self.own(outcome) {
            exit @ LeaveReason::By(_) => {
                self.set(at, ItemStatus::Done);
                Flow::Leave(exit)
            }
            LeaveReason::Beyond(_) | LeaveReason::Bound | LeaveReason::Broken => {
                self.breach(at, "the job ended in a way that it does not declare")
            }
        }
    }

    /// The same attempt orders more.
    pub(super) fn again(&mut self, at: u16, order: Order<A::Task>) -> Flow {
        self.run.held.push(HeldOrder { item: at, order, approved: false });
        Flow::Wait
    }

    /// An attempt failed: the next one waits, or the item is given up.
    pub(super) fn fail_attempt(&mut self, at: u16, fault: Fault) -> Flow {
        let Some(work) = self.work() else { return Flow::Wait };
        let attempt = self.run.core.items.get(usize::from(at)).map_or(0, |item| item.attempt);
        self.run.held.retain(|held| held.item != at);
        self.out.failed.push(fault.clone());
        let draw = (self.run.core.seed, self.seq, at);
        let next = (fault.repeatable && attempt < work.attempts.max)
            .then(|| backoff::next_attempt(&work.attempts, attempt, fault.hint_ms, self.at, draw))
            .flatten();
        if let Some(until) = next {
            let waits = until > self.at;
            self.set(at, if waits { ItemStatus::BackingOff { until } } else { ItemStatus::Queued });
            return Flow::Wait;
        }
        let timed_out = fault.class == FaultClass::Timeout;
        let why = if timed_out {
            Abandoned::TimedOut { message: fault.message }
        } else {
            Abandoned::Failed(fault)
        };
        self.abandon(at, &why);
        if matches!(self.state.kind(), StateKind::FanOut { .. }) {
            return Flow::Wait;
        }
        let added = self.state.kernel_outcomes();
        let outcome = if timed_out { added.timeout } else { added.failed };
        outcome.map_or(Flow::Leave(LeaveReason::Broken), |it| Flow::Leave(LeaveReason::By(it)))
    }

    /// Tells the agent that an item will not be settled.
    pub(super) fn abandon(&mut self, at: u16, why: &Abandoned) {
        self.set(at, ItemStatus::Done);
        let visit = self.work().map(|work| self.visit(work.job, at));
        self.run.held.retain(|held| held.item != at);
        if let Some(visit) = visit {
            A::abandon(&mut self.run.data, &visit, why);
        }
    }

    /// Refuses the items of a list beyond the chart's limit, one by one, so that
    /// each has a result.
    pub(super) fn refuse_beyond(&mut self, max_items: u16, items: u16) {
        let Some(work) = self.work() else { return };
        for at in max_items..items {
            let fault = Fault {
                class: FaultClass::Limit,
                repeatable: false,
                hint_ms: None,
                message: alloc::format!("the state runs {max_items} items at most"),
            };
            let visit = self.visit(work.job, at);
            A::abandon(&mut self.run.data, &visit, &Abandoned::Failed(fault));
        }
    }

    /// Abandons work in progress: the run leaves the state without it.
    pub(super) fn abandon_all(&mut self, why: &Abandoned) {
        let count = u16::try_from(self.run.core.items.len()).unwrap_or(u16::MAX);
        for at in 0..count {
            let doing = self.run.core.items.get(usize::from(at)).map(|item: &Item| item.doing);
            match doing {
                Some(ItemStatus::Working { effect, .. } | ItemStatus::Asking { effect, .. }) => {
                    self.emit(EffectKind::Stop(effect));
                }
                Some(ItemStatus::Queued | ItemStatus::BackingOff { .. }) => {}
                Some(ItemStatus::Done) | None => continue,
            }
            self.abandon(at, why);
        }
    }
}
