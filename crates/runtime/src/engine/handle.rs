//! The handle of a run: commands and answers go to it, notices come from it.

use std::sync::Arc;

use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle},
};

use super::EngineError;
use crate::{
    driver::Driver,
    observe::{Notice, Observer},
    session::{CommandSender, RunSummary, outcome},
    store::RunId,
    task::{Command, RunTask, TaskEnd, Until},
};

/// The notices of a run for its handle.
pub(super) type Notices = mpsc::UnboundedReceiver<Notice>;

/// Returns an observer and the receiver of its notices.
pub(super) fn notices() -> (Arc<dyn Observer>, Notices) {
    let (sender, notices) = mpsc::unbounded_channel();
    let told = move |_: &RunId, notice: &Notice| {
        // The receiver may be gone.
        drop(sender.send(notice.clone()));
    };
    (Arc::new(told), notices)
}

/// A run that its own task drives.
#[derive(Debug)]
pub(crate) struct DrivenRun {
    pub(crate) run: RunId,
    pub(crate) sender: CommandSender,
    pub(crate) driving: JoinHandle<Result<RunSummary, EngineError>>,
}

impl DrivenRun {
    /// Waits until the run has ended or was detached from. The caller may hold other senders; this
    /// one no longer keeps the run waiting.
    pub(crate) async fn outcome(self) -> Result<RunSummary, EngineError> {
        let Self { run, sender, driving } = self;
        drop(sender);
        driving
            .await
            .unwrap_or_else(|broken| Err(EngineError::Broke { run, why: broken.to_string() }))
    }
}

/// A run that is driven by its own task. Dropping the handle stops the task: the run stays as
/// journaled, without an owner, and can be resumed.
#[derive(Debug)]
pub struct RunHandle {
    driven: DrivenRun,
    notices: Notices,
    stops: Stops,
}

/// Stops a task when it is dropped.
#[derive(Debug)]
struct Stops(AbortHandle);

impl Drop for Stops {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl RunHandle {
    pub(super) async fn drive(driver: Driver, notices: Notices) -> Result<Self, EngineError> {
        let (commands, taken) = mpsc::unbounded_channel();
        let run = driver.id().clone();
        let sender = CommandSender::new(commands, driver.program().agent());
        let task = talking(driver, Until::Ends { answers: true }, taken).await?;
        let driving = tokio::spawn(until_end(task));
        let stops = Stops(driving.abort_handle());
        Ok(Self { driven: DrivenRun { run, sender, driving }, notices, stops })
    }

    /// Returns the run.
    pub const fn run(&self) -> &RunId {
        &self.driven.run
    }

    /// Returns a sender of commands: messages, answers, a cancelled turn. Dropping this handle and
    /// all senders detaches from the run.
    pub fn commands(&self) -> CommandSender {
        self.driven.sender.clone()
    }

    /// Waits for the next notice; nothing once no process drives the run. Dropping the future
    /// loses none.
    pub async fn next(&mut self) -> Option<Notice> {
        self.notices.recv().await
    }

    /// Waits until the run ends, or waits for an answer or a message that no one gives. Then its
    /// task has ended.
    pub async fn wait(self) -> Result<RunSummary, EngineError> {
        let Self { driven, notices, stops } = self;
        // Without a sender the task would detach from the run at once.
        let sender = driven.sender.clone();
        sender.send(Command::Wait);
        // They have no reader from here on, so none are kept.
        drop(notices);
        let outcome = driven.outcome().await;
        drop((sender, stops));
        outcome
    }
}

/// Returns the task of a run that takes commands. A paused run is resumed.
pub(crate) async fn talking(
    driver: Driver,
    until: Until,
    commands: mpsc::UnboundedReceiver<Command>,
) -> Result<RunTask, EngineError> {
    let mut task = RunTask::new(driver, until).with_commands(commands).with_watch();
    task.lift_all().await?;
    Ok(task.with_mailbox().await?)
}

/// Drives a run until its task is over: it has ended, or a command or the last sender has detached
/// from it.
pub(crate) async fn until_end(mut task: RunTask) -> Result<RunSummary, EngineError> {
    if !matches!(task.run().await?, TaskEnd::Ended(_)) {
        task.keep_commands().await?;
    }
    Ok(outcome(task.driver()))
}
