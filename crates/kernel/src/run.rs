//! One execution: the agent's data and the kernel's core.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Agent, Order, OrderKind},
    chart::{Chart, Disposition},
    event::Pauser,
    governor::{CallKey, Governor},
    id::{At, Digest, EffectId, Seq, StateId},
    job::Charges,
};

/// A run: the agent's data and the kernel's core.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub struct Run<A: Agent> {
    /// The agent's data.
    pub data: A::Data,
    /// The kernel's core.
    pub core: Core,
    /// Orders that wait for a person's yes or for the end of a pause.
    pub(crate) held: Vec<HeldOrder<A::Task>>,
}

/// Everything the kernel keeps, the same for all agents: views read this alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Core {
    /// Where the run is.
    pub state: StateId,
    /// How it ended, if it did. Then nothing changes.
    pub ended: Option<Disposition>,
    /// The number of the next entry; 1 before the run has begun.
    pub next: Seq,
    /// The time of the last event.
    pub now: At,
    /// When the state was entered.
    pub entered: At,
    /// How many states were entered so far.
    pub visits: u64,
    /// When the run must be woken.
    pub wake: Option<At>,
    /// Whether starts are stopped.
    pub paused: bool,
    /// The authors of the pauses. A pause without an author can be lifted by anyone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused_by: Vec<Pauser>,
    /// The balance of each budget, in file order.
    #[serde(rename = "purses")]
    pub balances: Vec<BudgetBalance>,
    /// Calls of models so far, in the run or the turn that the certificate holds for.
    #[serde(default)]
    pub model_calls: Calls,
    /// The same for tools.
    #[serde(default)]
    pub tool_calls: Calls,
    /// Work in progress: one item in a `run` state, one per list item in a `fan_out`.
    pub items: Vec<Item>,
    /// The governor's memory.
    pub governor: Governor,
    /// The agent's phase when it was last read.
    pub(crate) phase: u32,
    /// Where jitter comes from.
    pub(crate) seed: u64,
}

/// The balance of a budget.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct BudgetBalance {
    /// How much.
    pub left: u64,
    /// Whether it was overspent once: the next time ends the run.
    pub closed: bool,
}

/// Calls that were made, in the run or the turn that the certificate holds for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Calls {
    /// How many were started, including those of child runs.
    pub made: u64,
    /// How many of them were started again after an interruption.
    pub repeated: u64,
    /// How many a person permitted beyond the certificate.
    pub granted: u64,
}

impl Calls {
    pub(crate) const fn add(&mut self, made: u64) {
        self.made = self.made.saturating_add(made);
    }

    /// Returns how many more the certificate permits. Without a repetition no run reaches the
    /// end of them, so nothing is left to watch over.
    pub(crate) const fn left(&self, bound: u64) -> u64 {
        match self.repeated {
            0 => u64::MAX,
            _ => bound.saturating_add(self.granted).saturating_sub(self.made),
        }
    }
}

/// One job in progress.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Item {
    /// The attempt; 0 before the first has started.
    pub attempt: u16,
    /// Its status.
    pub doing: ItemStatus,
    /// Whether it has one of the state's places: from its first start until its
    /// result is known, but not while a person is asked.
    pub(crate) placed: bool,
    /// Milliseconds left of the attempt while its clock is stopped.
    pub(crate) left: u64,
    /// Orders so far in this attempt.
    pub(crate) tasks: u8,
    /// Charges so far in this attempt.
    pub(crate) used: Charges,
    /// The compared parts of the call in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallKey>,
}

/// The status of a job in progress.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemStatus {
    /// It waits for a place, or for the end of a pause.
    Queued,
    /// An effect is in progress.
    Working {
        /// The effect.
        effect: EffectId,
        /// Which answer it takes.
        kind: OrderKind,
        /// When the attempt is over.
        deadline: At,
    },
    /// The next attempt waits.
    BackingOff {
        /// Until when.
        until: At,
    },
    /// A person decides.
    Asking {
        /// The question.
        effect: EffectId,
        /// The deadline, after which it counts as denied.
        expires: At,
        /// The call that they decide over.
        call: Digest,
        /// Whether it was in progress when the program stopped: it may have been done.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        again: bool,
    },
    /// Its result is known.
    Done,
}

/// An order that may not start yet.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct HeldOrder<T> {
    pub(crate) item: u16,
    pub(crate) order: Order<T>,
    /// Whether a person said yes to it.
    pub(crate) approved: bool,
}

impl Item {
    pub(crate) const NEW: Self = Self {
        attempt: 0,
        doing: ItemStatus::Queued,
        placed: false,
        left: 0,
        tasks: 0,
        used: Charges::NONE,
        call: None,
    };
}

impl<A: Agent> Run<A> {
    /// Returns a run that has not begun; its first event must be `Begun`.
    pub fn new(chart: &Chart) -> Self {
        let balance =
            |budget: &crate::chart::Budget| BudgetBalance { left: budget.max(), closed: false };
        Self {
            data: A::Data::default(),
            core: Core {
                state: chart.start(),
                ended: None,
                next: Seq(1),
                now: At(0),
                entered: At(0),
                visits: 0,
                wake: None,
                paused: false,
                paused_by: Vec::new(),
                balances: chart.budgets().iter().map(balance).collect(),
                model_calls: Calls::default(),
                tool_calls: Calls::default(),
                items: Vec::new(),
                governor: Governor::default(),
                phase: 0,
                seed: 0,
            },
            held: Vec::new(),
        }
    }
}

impl Core {
    /// Returns whether the first event was applied.
    pub const fn has_begun(&self) -> bool {
        self.next.0 > 1
    }

    /// Returns whether starts are paused and this author may lift a pause: their own, or one
    /// without an author. Others' pauses may remain.
    pub fn is_paused_by(&self, by: Pauser) -> bool {
        self.paused && (self.paused_by.is_empty() || self.paused_by.contains(&by))
    }

    pub(crate) fn pause(&mut self, by: Option<Pauser>) {
        self.paused = true;
        self.paused_by.extend(by);
    }

    /// Lifts one's pause, or all of them.
    pub(crate) fn lift(&mut self, by: Option<Pauser>) {
        self.paused_by.retain(|other| by.is_some_and(|by| by != *other));
        self.paused = !self.paused_by.is_empty();
    }
}
