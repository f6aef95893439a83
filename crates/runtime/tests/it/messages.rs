//! Messages to a run: what another process says is taken, in its order, and once.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use pointsman_kernel::{
    chart::Disposition,
    event::{Event, Scope},
    id::Seq,
};
use pointsman_runtime::{
    clock::now_ms,
    driver::{Driver, DriverContext, RunStatus},
    observe::{Notice, Question},
    session::{
        ApprovalDecision, ApprovalRequest, Approver, ApproverReply, Delivery, Session, Unattended,
        approval, overdue,
    },
    store::{RunId, SqliteStore},
};
use pointsman_testing::stand_in::Mute;
use serde_json::{Value, json};

use crate::{
    pausing::{Caller, cancel, until, while_the_child_waits},
    session::{TestSession, has_note, send},
};

#[test]
fn unanswered_call_waits_for_an_approval_by_message() {
    let desk = TestSession::new("session-letter");
    let outcome = desk.run(&mut Unattended);
    assert_eq!(outcome.status, RunStatus::Asking);
    assert!(!has_note(&desk.work()));
    let question = outcome.questions.first().expect("a question is open").clone();
    assert_eq!(question.call().map(|call| call.tool.as_str()), Some("write"));
    let recalled = desk.session.recall(&outcome.run, None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(recalled.loaded.questions().len(), 1, "anybody can see what is asked");
    let yes = ApprovalDecision { granted: true, reason: String::new(), remember: None };
    let delivery = desk.session.decide(&outcome.run, &question, &yes);
    assert_eq!(delivery.unwrap_or_else(|e| panic!("{e}")), Delivery::Waiting, "nobody drives it");
    let outcome = desk.resume(&outcome.run, &mut Unattended);
    assert!(has_note(&desk.work()), "the letter was taken");
    assert_eq!(outcome.status, RunStatus::Asking, "now reading is asked for");
    assert!(
        desk.session
            .block_on(desk.session.store().messages(&outcome.run))
            .expect("the store is readable")
            .is_empty()
    );
    let stale = desk.session.decide(&outcome.run, &question, &yes);
    assert!(stale.is_ok());
    let again = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!(again.steps, outcome.steps, "the same answer twice changes nothing");
}

/// Runs until something is asked that can be answered for a second.
fn asked_shortly(desk: &TestSession) -> Option<(RunId, Question)> {
    let mut start = TestSession::start(true);
    let short = "ask_timeout = \"1s\"\ntimeout =";
    start.source = start.source.replacen("timeout =", short, 1).into();
    start.program = crate::program(&start.source);
    let ran = desk.session.run(&desk.executor(), start, Vec::new(), &mut Unattended);
    let asked = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    Some((asked.run, asked.questions.into_iter().next()?))
}

#[test]
fn an_answer_that_was_posted_too_late_counts_for_nothing() {
    // A machine that is busy may need the second for the run itself. It does not every time.
    let tried = (0..5).any(|_| {
        let desk = TestSession::new("session-too-late");
        let Some((run, question)) = asked_shortly(&desk) else { return false };
        let row = desk.session.block_on(desk.session.store().run(&run)).expect("the run exists");
        while overdue(&row, &question, now_ms()).is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        let yes = ApprovalDecision { granted: true, reason: String::new(), remember: None };
        send(
            desk.session.journal(),
            &run,
            &approval(&*crate::program(crate::session::CHART).start(), &question, &yes),
        );
        let outcome = desk.resume(&run, &mut Unattended);
        assert_eq!(outcome.status, RunStatus::Ended(Disposition::Denied));
        assert!(!has_note(&desk.work()));
        true
    });
    assert!(tried, "nothing was asked");
}

#[test]
fn sender_learns_why_a_message_had_no_effect() {
    let caller = Caller::Session;
    let [_, child] = while_the_child_waits(caller, "letter-ignored", |journal, run, child| {
        until(&SqliteStore::open(journal).expect("the journal opens"), child, "answered");
        let cache = journal.with_extension("cache");
        let session =
            Session::open(pointsman_agents::all(), journal, &cache).expect("the session opens");
        let delivery = |run: &RunId, event: &Value| {
            let event = serde_json::from_str(&event.to_string()).expect("it is an event");
            session.send(run, &event).unwrap_or_else(|error| panic!("{error}"))
        };
        let answer = |seq: u64, sent: &Value| {
            let effect = json!({ "seq": seq, "index": 0 });
            let answer = json!({ "tool": { "ok": true, "output": "too late", "mutated": false } });
            json!({ "answered": { "effect": effect, "answer": answer, "sent": sent } })
        };
        let ignored = |why: &str| Delivery::Ignored(why.into());
        let stale = delivery(child, &answer(1, &json!(1)));
        assert_eq!(stale, ignored("this question is no longer open"));
        let misfit = delivery(run, &answer(1, &Value::Null));
        assert_eq!(misfit, ignored("effect 1.0 cannot be answered in this way"));
        assert_eq!(
            delivery(run, &answer(7, &Value::Null)),
            ignored("no step asked for effect 7.0")
        );
        // A state that already holds needs no change.
        assert_eq!(delivery(run, &json!("resumed")), Delivery::Taken);
        assert_eq!(session.pause(run, "tea").expect("the pause is sent"), Delivery::Taken);
        assert_eq!(session.pause(run, "more tea").expect("the pause is sent"), Delivery::Taken);
        assert_eq!(delivery(run, &cancel()), Delivery::Taken);
    });
    assert!(!child.contains("too late"), "what is ignored is not written down: {child}");
}

#[test]
fn answer_sent_in_time_counts_even_if_taken_late() {
    let tried = (0..5).any(|_| {
        let desk = TestSession::new("session-in-time");
        let Some((run, question)) = asked_shortly(&desk) else { return false };
        let row = desk.session.block_on(desk.session.store().run(&run)).expect("the run exists");
        let yes = ApprovalDecision { granted: true, reason: String::new(), remember: None };
        let delivery = desk.session.decide(&run, &question, &yes);
        if overdue(&row, &question, now_ms()).is_some() {
            return false;
        }
        assert_eq!(delivery.unwrap_or_else(|error| panic!("{error}")), Delivery::Waiting);
        while overdue(&row, &question, now_ms()).is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        desk.resume(&run, &mut Unattended);
        assert!(has_note(&desk.work()), "it was answered in time");
        let lines = desk.session.block_on(desk.session.store().lines(&run, Seq(0)));
        let lines = lines.expect("readable");
        let answer = lines.iter().find(|line| line.contains("approval_answered"));
        let answer = answer.expect("it was taken");
        assert!(answer.starts_with(r#"{"v":2,"#) && answer.contains(r#","sent":"#), "{answer}");
        true
    });
    assert!(tried, "nothing was asked in time");
}

/// The sender uses the system's clock, which can be set; the driver's own cannot.
#[test]
fn answer_counts_though_the_clock_was_set_ahead() {
    let desk = TestSession::new("session-ahead");
    let run = desk.run(&mut Unattended);
    let question = run.questions.first().expect("a question is open");
    let yes = ApprovalDecision { granted: true, reason: String::new(), remember: None };
    desk.session.decide(&run.run, question, &yes).unwrap_or_else(|error| panic!("{error}"));
    desk.session.block_on(async {
        let store = desk.session.store();
        let mut message = store.messages(&run.run).await.expect("they are read").remove(0);
        message.at_ms += 1_000 * 86_400_000;
        let lease = store.claim(&run.run).await.expect("it is asked").expect("no process has it");
        let context = DriverContext {
            agents: Arc::new(pointsman_agents::all()),
            store: Arc::clone(store),
            executor: Arc::new(Mute),
            observers: Vec::new(),
        };
        let program = Arc::new(crate::program(crate::session::CHART));
        let mut driver = Driver::resume(context, program, lease).await.expect("it is resumed");
        driver.take(&message).await.expect("it is taken");
        let lines = store.lines(&run.run, Seq(0)).await.expect("they are read");
        assert!(lines.iter().any(|line| line.contains("approval_answered")), "{lines:?}");
    });
}

#[test]
fn message_cancels_a_run_and_an_ended_run_ignores_it() {
    let desk = TestSession::new("session-cancel");
    let outcome = desk.run(&mut Unattended);
    let cancel = Event::Cancelled { scope: Scope::Run };
    assert!(desk.session.send(&outcome.run, &cancel).is_ok());
    let outcome = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Cancelled));
    assert!(!has_note(&desk.work()));
    assert!(desk.session.send(&outcome.run, &cancel).is_ok());
    let again = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!((again.steps, again.status), (outcome.steps, outcome.status));
}

#[test]
fn later_messages_do_not_hide_the_end_of_a_run() {
    let desk = TestSession::new("session-cancel-twice");
    let outcome = desk.run(&mut Unattended);
    for _ in 0..2 {
        let cancel = Event::Cancelled { scope: Scope::Run };
        assert!(desk.session.send(&outcome.run, &cancel).is_ok());
    }
    let outcome = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Cancelled));
}

/// Learns of another process's cancel while the question is open, and then says yes.
struct Late<'a> {
    session: &'a Session,
    run: Arc<Mutex<Option<RunId>>>,
}

impl Approver for Late<'_> {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        let run = self
            .run
            .lock()
            .expect("no thread panicked while it held the lock")
            .clone()
            .expect("it has begun");
        send(self.session.journal(), &run, &json!({ "cancelled": { "scope": "run" } }));
        ApproverReply::Decided(ApprovalDecision {
            granted: true,
            reason: "late".into(),
            remember: None,
        })
    }
}

#[test]
fn first_message_counts_first() {
    let desk = TestSession::new("session-late");
    let run = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&run);
    let watch = move |id: &RunId, _: &Notice| {
        *seen.lock().expect("no thread panicked while it held the lock") = Some(id.clone());
    };
    let mut late = Late { session: &desk.session, run };
    let ran = desk.session.run(
        &desk.executor(),
        TestSession::start(true),
        vec![Arc::new(watch)],
        &mut late,
    );
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Cancelled));
    assert!(!desk.work().join("note.txt").exists(), "the call never ran");
}
