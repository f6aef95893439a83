//! Effects as plain data, and the other output of a step.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Fault, Order, ToolCall},
    event::Scope,
    governor::Verdict,
    id::{BudgetId, EffectId, Outcome, StateId},
};

/// A request from the kernel to the world.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Effect<T> {
    /// Ties the answer to the question; also the idempotency key.
    pub id: EffectId,
    /// What to do.
    pub order: EffectKind<T>,
}

/// The verbs of the runtime.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffectKind<T> {
    /// Do it; answered by exactly one `Answered`, a failure included.
    Start(Order<T>),
    /// Ask a person; answered by `ApprovalAnswered`, or by a timeout. If the host finds that the
    /// call cannot run, it does not ask: it answers with the failed result, by `Answered`.
    AskPerson(ToolCall),
    /// Stop an effect that is no longer needed; not answered.
    Stop(EffectId),
}

/// One transition that was taken, and why.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hop {
    /// The state that was left.
    pub from: StateId,
    /// Why.
    pub by: Cause,
    /// The state that was entered; none where the run ended where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<StateId>,
    /// The budget that was spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<BudgetId>,
}

/// Why a transition was taken.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The run began.
    Began,
    /// The state ended in one of its ways.
    Outcome(Outcome),
    /// A budget is used up: `else` was taken, or the run ended.
    Beyond {
        /// The budget.
        budget: BudgetId,
        /// The outcome that the state would have had, if it had ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
    },
    /// A person stopped it.
    Cancelled(Scope),
    /// An agent broke its declaration.
    Broken,
    /// The calls that the certificate permits are used up: some were made again after an
    /// interruption.
    Bound,
}

/// The output of a step. The driver reuses one, so that a step allocates nothing.
#[derive(Clone, Debug)]
pub struct StepOutput<T> {
    /// What to do, in order.
    pub effects: Vec<Effect<T>>,
    /// The transitions taken, in order.
    pub hops: Vec<Hop>,
    /// The governor's verdicts other than plain `allow`.
    pub verdicts: Vec<Verdict>,
    /// Why attempts failed, for explanations: not part of any digest.
    pub failed: Vec<Fault>,
}

impl<T> StepOutput<T> {
    /// Empties it and keeps its room.
    pub fn clear(&mut self) {
        self.effects.clear();
        self.hops.clear();
        self.verdicts.clear();
        self.failed.clear();
    }
}

impl<T> Default for StepOutput<T> {
    fn default() -> Self {
        Self { effects: Vec::new(), hops: Vec::new(), verdicts: Vec::new(), failed: Vec::new() }
    }
}
