//! A person who is asked: what they learn while they think, and what they may answer.

use std::{
    thread,
    time::{Duration, Instant},
};

use pointsman_kernel::{
    body::Body,
    chart::Disposition,
    event::{Event, Scope},
    id::Digest,
};
use pointsman_runtime::{
    driver::RunStatus,
    session::{ApprovalDecision, ApprovalRequest, Approver, ApproverReply, Session, approval},
};

use crate::session::{TestSession, has_note, send};

/// How long something may take that should come at once.
const SOON: Duration = Duration::from_mins(2);

/// Thinks until another process has answered, by the messages that are sent meanwhile; then says
/// yes to the next question.
struct Thinks<'a> {
    session: &'a Session,
    messages: Vec<fn(&ApprovalRequest<'_>) -> Event<Body>>,
    asked: usize,
}

impl Approver for Thinks<'_> {
    fn decide(&mut self, asking: &ApprovalRequest<'_>) -> ApproverReply {
        self.asked += 1;
        let granted = ApprovalDecision { granted: true, reason: "myself".into(), remember: None };
        let Some(message) = self.messages.pop() else { return ApproverReply::Decided(granted) };
        assert!(asking.is_open(), "nobody has spoken yet");
        let runs = self.session.block_on(self.session.store().runs()).expect("they are listed");
        send(self.session.journal(), &runs[0].id, &message(asking));
        let since = Instant::now();
        while asking.is_open() {
            assert!(since.elapsed() < SOON, "it is never told");
            thread::sleep(Duration::from_millis(5));
        }
        ApproverReply::Later
    }
}

fn yes(asking: &ApprovalRequest<'_>) -> Event<Body> {
    let decision = ApprovalDecision { granted: true, reason: "elsewhere".into(), remember: None };
    approval(&*crate::program(crate::session::CHART).start(), asking.question, &decision)
}

/// A yes to some other call counts for nothing.
fn stray(asking: &ApprovalRequest<'_>) -> Event<Body> {
    let mut message = yes(asking);
    if let Event::ApprovalAnswered { call, .. } = &mut message {
        *call = Digest::default();
    }
    message
}

fn cancel(_: &ApprovalRequest<'_>) -> Event<Body> {
    Event::Cancelled { scope: Scope::Run }
}

#[test]
fn approver_learns_of_an_answer_elsewhere() {
    let desk = TestSession::new("attend-elsewhere");
    let mut thinks = Thinks { session: &desk.session, messages: vec![yes, yes], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(thinks.asked, 2, "writing and reading were asked for, once each");
    assert!(has_note(&desk.work()));
}

#[test]
fn message_without_effect_does_not_close_a_question() {
    let desk = TestSession::new("attend-stray");
    let mut thinks = Thinks { session: &desk.session, messages: vec![stray], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(thinks.asked, 3, "what was taken back was asked again");
}

#[test]
fn a_run_that_is_cancelled_elsewhere_asks_no_more() {
    let desk = TestSession::new("attend-cancelled");
    let mut thinks = Thinks { session: &desk.session, messages: vec![cancel], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Cancelled));
    assert_eq!(thinks.asked, 1);
}

/// Has the run cancelled.
struct Cancels;

impl Approver for Cancels {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        ApproverReply::Cancel
    }
}

#[test]
fn approver_can_cancel_the_run() {
    let desk = TestSession::new("attend-cancels");
    let outcome = desk.run(&mut Cancels);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Cancelled));
    assert!(!has_note(&desk.work()));
}
