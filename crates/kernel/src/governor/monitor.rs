//! The governor over a trace that no chart has led to.
//!
//! It is the governor of [`step`](crate::step), without permissions, states and
//! phases: another loop can be watched with it, and recorded runs can be judged.

use alloc::vec::Vec;

use super::{Governor, Permissions, Verdict};
use crate::{
    agent::{Reply, ToolCall, ToolResult},
    chart::StuckThresholds,
    id::Seq,
    tool::ToolDecl,
};

/// A governor that is shown what happens, entry by entry; the first is 1.
#[derive(Clone, Debug)]
pub struct GovernorMonitor {
    stuck: StuckThresholds,
    governor: Governor,
    last: Seq,
}

impl GovernorMonitor {
    /// Watches for repetition by these rules, over tools that declare this.
    pub fn new(stuck: StuckThresholds, tools: Vec<ToolDecl>) -> Self {
        let mut governor = Governor::default();
        governor.begin(Permissions::allow_all(), tools, false);
        Self { stuck, governor, last: Seq(0) }
    }

    /// Judges a call that is proposed; nothing said means that it may run.
    pub fn propose(&mut self, call: &ToolCall) -> Option<Verdict> {
        let (key, seq) = (self.governor.key(call), self.next());
        self.governor.propose(&self.stuck, (call, &key), seq)
    }

    /// Takes in the result of a call that was run.
    pub fn observe(&mut self, call: &ToolCall, result: &ToolResult) -> Option<Verdict> {
        let (key, seq) = (self.governor.key(call), self.next());
        self.governor.observe(&self.stuck, &key, result, seq)
    }

    /// Takes in a model's turn, and whether it could be read.
    pub fn observe_reply(&mut self, reply: &Reply, read: bool) -> Option<Verdict> {
        let seq = self.next();
        let heard = self.governor.observe_reply(&self.stuck, reply, seq);
        let read = self.governor.read(&self.stuck, read, seq);
        heard.into_iter().chain(read).max_by_key(|verdict| verdict.level)
    }

    /// Takes in that a person has spoken.
    pub fn person(&mut self) {
        self.next();
        self.governor.observe_person();
    }

    const fn next(&mut self) -> Seq {
        self.last = self.last.next();
        self.last
    }
}
