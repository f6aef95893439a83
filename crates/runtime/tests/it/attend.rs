//! Somebody who is asked: what they learn while they think, and what they may say.

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
    driver::Standing,
    session::{Asking, Attend, Decision, Reply, Session, approval},
};

use crate::session::{Desk, has_note, post};

/// How long something may take that should come at once.
const SOON: Duration = Duration::from_secs(30);

/// Thinks until somebody else has spoken, as the letters say that are posted meanwhile; then
/// says yes to what is asked again.
struct Thinks<'a> {
    session: &'a Session,
    letters: Vec<fn(&Asking<'_>) -> Event<Body>>,
    asked: usize,
}

impl Attend for Thinks<'_> {
    fn decide(&mut self, asking: &Asking<'_>) -> Reply {
        self.asked += 1;
        let granted = Decision { granted: true, reason: "myself".into(), remember: None };
        let Some(letter) = self.letters.pop() else { return Reply::Decided(granted) };
        assert!(asking.is_open(), "nobody has spoken yet");
        let runs = self.session.block_on(self.session.store().runs()).expect("they are listed");
        post(self.session.journal(), &runs[0].id, &letter(asking));
        let since = Instant::now();
        while asking.is_open() {
            assert!(since.elapsed() < SOON, "it is never told");
            thread::sleep(Duration::from_millis(5));
        }
        Reply::Later
    }
}

fn yes(asking: &Asking<'_>) -> Event<Body> {
    let decision = Decision { granted: true, reason: "elsewhere".into(), remember: None };
    approval(&*crate::program(crate::session::CHART).start(), asking.question, &decision)
}

/// A yes to some other call counts for nothing.
fn stray(asking: &Asking<'_>) -> Event<Body> {
    let mut letter = yes(asking);
    if let Event::ApprovalAnswered { call, .. } = &mut letter {
        *call = Digest::default();
    }
    letter
}

fn cancel(_: &Asking<'_>) -> Event<Body> {
    Event::Cancelled { scope: Scope::Run }
}

#[test]
fn whoever_is_asked_learns_that_somebody_else_has_answered() {
    let desk = Desk::new("attend-elsewhere");
    let mut thinks = Thinks { session: &desk.session, letters: vec![yes, yes], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Succeeded));
    assert_eq!(thinks.asked, 2, "writing and reading were asked for, once each");
    assert!(has_note(&desk.work()));
}

#[test]
fn a_letter_that_counts_for_nothing_does_not_close_a_question() {
    let desk = Desk::new("attend-stray");
    let mut thinks = Thinks { session: &desk.session, letters: vec![stray], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Succeeded));
    assert_eq!(thinks.asked, 3, "what was taken back was asked again");
}

#[test]
fn a_run_that_is_cancelled_elsewhere_asks_no_more() {
    let desk = Desk::new("attend-cancelled");
    let mut thinks = Thinks { session: &desk.session, letters: vec![cancel], asked: 0 };
    let outcome = desk.run(&mut thinks);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Cancelled));
    assert_eq!(thinks.asked, 1);
}

/// Has the run cancelled.
struct Cancels;

impl Attend for Cancels {
    fn decide(&mut self, _: &Asking<'_>) -> Reply {
        Reply::Cancel
    }
}

#[test]
fn whoever_is_asked_can_have_the_run_cancelled() {
    let desk = Desk::new("attend-cancels");
    let outcome = desk.run(&mut Cancels);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Cancelled));
    assert!(!has_note(&desk.work()));
}
