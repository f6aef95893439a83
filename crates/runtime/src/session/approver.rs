//! A person who is present during a run: their questions and answers.

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

/// A question for a person who is present.
pub struct ApprovalRequest<'a> {
    /// The question.
    pub question: &'a Question,
    /// Until when it can be answered, in milliseconds since 1970.
    pub due: Option<u64>,
    /// The run's report so far, for agents that report more than text.
    pub report: Option<Body>,
    pub(super) open: &'a dyn Fn() -> bool,
}

impl ApprovalRequest<'_> {
    /// Returns whether an answer still counts: another process may have answered or cancelled the
    /// run, or the deadline may have passed. This is cheap to call often.
    pub fn is_open(&self) -> bool {
        (self.open)()
    }
}

/// A person's reply to a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ApproverReply {
    /// Yes or no.
    Decided(ApprovalDecision),
    /// Left open, or no longer open.
    Later,
    /// Cancel the run.
    Cancel,
}

/// A person who is present during a run.
pub trait Approver: Send {
    /// Answers a question, and may block; then it checks now and then whether the question is
    /// still open.
    fn decide(&mut self, asking: &ApprovalRequest<'_>) -> ApproverReply;
}

/// No person is present: questions stay open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Approver for Unattended {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        ApproverReply::Later
    }
}
