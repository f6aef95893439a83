//! Somebody who is there while a run goes on: what they are asked, and what they say.

use pointsman_kernel::{body::Body, governor::Grant};

use crate::observe::Question;

/// A person's answer to a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ApprovalDecision {
    /// Whether the call may run, or the answer is yes.
    pub granted: bool,
    /// Why; with an answer to a plain question, what else is said.
    pub reason: String,
    /// What to do with calls like it from now on; nothing for a plain question.
    pub remember: Option<Grant>,
}

/// A question that is put to somebody who is there.
pub struct ApprovalRequest<'a> {
    /// The question.
    pub question: &'a Question,
    /// Until when it can be answered, in milliseconds since 1970.
    pub due: Option<u64>,
    /// What the run has come to so far, for agents that report more than text.
    pub report: Option<Body>,
    pub(super) open: &'a dyn Fn() -> bool,
}

impl ApprovalRequest<'_> {
    /// Returns whether an answer still counts: somebody else may have answered by message,
    /// or cancelled the run, or it may be too late. It costs little to ask often.
    pub fn is_open(&self) -> bool {
        (self.open)()
    }
}

/// What somebody says who is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ApproverReply {
    /// Yes or no.
    Decided(ApprovalDecision),
    /// It is left to somebody else, later; also where it is no longer asked.
    Later,
    /// The run is to be cancelled.
    Cancel,
}

/// Somebody who is there while a run goes on.
pub trait Approver: Send {
    /// Answers a question, and may block; whoever does looks now and then whether it is
    /// still open.
    fn decide(&mut self, asking: &ApprovalRequest<'_>) -> ApproverReply;
}

/// Nobody is there: what needs a person waits for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Approver for Unattended {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        ApproverReply::Later
    }
}
