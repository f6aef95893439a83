//! Driving one run on this machine: its task, Ctrl-C, and a person who answers questions.

use std::{cell::Cell, time::Duration};

use pointsman_kernel::{
    body::Body,
    erased::AnyRun,
    event::{Event, Scope},
};
use tokio::{runtime::Handle, sync::mpsc, task::AbortHandle};

use super::{
    ApprovalDecision, ApprovalRequest, Approver, ApproverReply, RunSummary, SessionError,
    signals::Signals,
};
use crate::{
    clock::Stopwatch,
    driver::{Driver, answered},
    engine::talking,
    mailbox::about,
    observe::{Question, QuestionKind},
    store::{RunId, Store},
    task::{Command, RunTask, TaskEnd, Until},
};

/// Time between two checks whether a question was closed, while a person is asked.
const LOOK: Duration = Duration::from_millis(200);

/// Sends Ctrl-C and the system's signals to the task of a run, while it exists.
pub(super) struct Pressed(AbortHandle);

impl Pressed {
    /// Listens from now on: nothing that a person presses before the run is there is missed.
    pub(super) fn listen(
        commands: mpsc::WeakUnboundedSender<Command>,
    ) -> Result<Self, SessionError> {
        let Signals { mut interrupts, mut terminations } = Signals::listen()?;
        let forwarding = tokio::spawn(async move {
            loop {
                let command = tokio::select! {
                    Some(()) = interrupts.recv() => Command::Interrupt,
                    Some(()) = terminations.recv() => Command::Detach,
                    else => return,
                };
                let Some(commands) = commands.upgrade() else { return };
                // A task that is over takes no more.
                drop(commands.send(command));
            }
        });
        Ok(Self(forwarding.abort_handle()))
    }
}

impl Drop for Pressed {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Drives a run until it ends or waits for a person who is absent. Ctrl-C cancels it cleanly; a
/// second one, or SIGTERM, detaches from it.
pub(super) async fn attended(
    driver: Driver,
    commands: mpsc::UnboundedReceiver<Command>,
    approver: &mut dyn Approver,
) -> Result<RunSummary, SessionError> {
    let mut task = talking(driver, Until::Waits, commands).await?;
    while task.run().await? == TaskEnd::Asking {
        if !ask(&mut task, approver).await? {
            break;
        }
    }
    Ok(outcome(task.driver()))
}

/// Asks the open questions. Returns whether one was answered.
async fn ask(task: &mut RunTask, approver: &mut dyn Approver) -> Result<bool, SessionError> {
    let mut answered = false;
    for question in task.driver().questions() {
        let (reply, disturbed) = put(task.driver(), &question, approver);
        // Another process may have sent a message meanwhile, and the first one counts first.
        task.deliver().await?;
        let driver = task.driver_mut();
        let open = driver.questions().iter().any(|it| it.effect == question.effect);
        // A question that was withdrawn and is still open is asked again.
        answered |= !open || disturbed;
        match reply {
            ApproverReply::Decided(decision) if open => {
                answered = true;
                let event = approval(driver.run(), &question, &decision);
                driver.give(event).await?;
            }
            ApproverReply::Cancel => {
                driver.give(Event::Cancelled { scope: Scope::Run }).await?;
                return Ok(true);
            }
            _ => {}
        }
    }
    Ok(answered)
}

/// Asks a question. Returns the reply, and whether something came that may close it.
fn put(driver: &Driver, question: &Question, approver: &mut dyn Approver) -> (ApproverReply, bool) {
    let threads = Handle::current();
    let (disturbed, looked) = (Cell::new(false), Cell::new(Stopwatch::start()));
    let is_open = || {
        if !disturbed.get() && looked.get().elapsed() >= LOOK {
            let store = &**driver.store();
            let settled = || threads.block_on(is_settled(store, driver.id(), question));
            disturbed.set(!driver.is_idle() || settled());
            looked.set(Stopwatch::start());
        }
        !disturbed.get()
    };
    let (due, report) = (driver.due(question.effect), driver.run().report());
    let asking = ApprovalRequest { question, due, report, open: &is_open };
    // The person may take their time; nothing else is in progress meanwhile.
    let reply = tokio::task::block_in_place(|| approver.decide(&asking));
    (reply, disturbed.get())
}

/// Returns whether a waiting message answers a question, or cancels its run. An unreadable journal
/// counts as no; it is read again before the answer counts.
async fn is_settled(store: &dyn Store, run: &RunId, question: &Question) -> bool {
    store.messages(run).await.unwrap_or_default().iter().any(|message| {
        let cancels = matches!(message.event(), Ok(Event::Cancelled { .. }));
        cancels || about(message) == Some(question.effect)
    })
}

/// Returns the event for a decision.
pub fn approval(run: &dyn AnyRun, question: &Question, decision: &ApprovalDecision) -> Event<Body> {
    let ApprovalDecision { granted, reason, remember } = decision;
    let Question { effect, asks, .. } = question;
    match asks {
        QuestionKind::Call { identity, .. } => Event::ApprovalAnswered {
            effect: *effect,
            call: *identity,
            granted: *granted,
            reason: reason.clone(),
            remember: remember.clone(),
            sent: None,
        },
        QuestionKind::Plain(_) => answered(run, *effect, *granted, reason),
    }
}

/// Returns the status of a run without an owner.
pub(crate) fn outcome(driver: &Driver) -> RunSummary {
    let core = driver.run().core();
    RunSummary {
        run: driver.id().clone(),
        state: driver.program().state_name(core.state).into(),
        steps: core.next.0.saturating_sub(1),
        status: driver.detached_status(),
        paused: core.paused,
        questions: driver.left_questions(),
        elapsed_ms: core.now.0,
        result: driver.run().result(),
        report: driver.run().report(),
        error: driver.run().turn_error().cloned(),
    }
}
