//! The loop of one run on this machine: its events, letters from other processes, the
//! watch over the machine, Ctrl-C, and whoever is there to be asked.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Interval, MissedTickBehavior, interval},
};

use super::{Attend, Decision, Outcome, SessionError};
use crate::{
    driver::{DriveError, Driver, Standing, answered},
    observe::{Asked, Question},
    store::{self, Store},
    watch::{Call, Watch},
};

/// Time between two looks for letters.
const POST: Duration = Duration::from_millis(200);

/// Drives a run until it ends or waits for somebody who is not there. Ctrl-C cancels it
/// in good order; a second one, or the system's request to end, lets go of it as it is.
pub(super) async fn drive(
    driver: &mut Driver,
    store: &Store,
    watch: Option<Watch>,
    attendant: &mut dyn Attend,
) -> Result<Outcome, SessionError> {
    let mut watch = watch.map(|watch| watch.taking_over(driver.run().core().paused));
    let mut post = Post { watch: store.watch()?, store };
    let mut rounds = every(POST);
    let mut looks = every(watch.as_ref().map_or(Duration::from_hours(1), Watch::every));
    // Listened to from here on, so that none is missed while a step is written.
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let mut cancelled = false;
    post.deliver(driver).await?;
    loop {
        match driver.standing() {
            Standing::Ended(_) => break,
            Standing::Asking if driver.is_idle() => {
                if !ask(driver, attendant).await? {
                    break;
                }
                continue;
            }
            // Only the watch lets a paused run go on; where there is none, somebody else must.
            Standing::Waiting
                if driver.is_idle() && !(driver.run().core().paused && watch.is_some()) =>
            {
                break;
            }
            Standing::Moving | Standing::Asking | Standing::Waiting => {}
        }
        let event = tokio::select! {
            event = driver.next() => event,
            Some(()) = interrupts.recv() => {
                if cancelled {
                    break;
                }
                cancelled = true;
                json!({ "cancelled": { "scope": "run" } })
            }
            Some(()) = terminations.recv() => break,
            _ = rounds.tick() => {
                if post.watch.changed()? {
                    post.deliver(driver).await?;
                }
                continue;
            }
            _ = looks.tick() => match watch.as_mut().and_then(Watch::look) {
                Some(Call::Pause(why)) => json!({ "paused": { "why": why } }),
                Some(Call::Resume) => json!("resumed"),
                None => continue,
            },
        };
        driver.give(&event).await?;
    }
    Ok(outcome(driver))
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    // What was missed while a step was written need not be made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Letters from other processes.
struct Post<'s> {
    store: &'s Store,
    watch: store::Watch,
}

impl Post<'_> {
    async fn deliver(&self, driver: &mut Driver) -> Result<(), SessionError> {
        for letter in self.store.letters(driver.id())? {
            driver.take(&letter).await?;
        }
        Ok(())
    }
}

/// Puts the open questions to who is there. Returns whether one was answered.
async fn ask(driver: &mut Driver, attendant: &mut dyn Attend) -> Result<bool, DriveError> {
    let mut answered = false;
    for question in driver.questions() {
        // Whoever is asked may take their time; nothing else is under way meanwhile.
        let decision = tokio::task::block_in_place(|| attendant.decide(&question));
        if let Some(decision) = decision {
            answered = true;
            driver.give(&approval(&question, &decision)).await?;
        }
    }
    Ok(answered)
}

/// Returns the event by which a decision reaches the run.
pub fn approval(question: &Question, decision: &Decision) -> Value {
    let Decision { granted, reason, remember } = decision;
    let Question { effect, asks, .. } = question;
    match asks {
        Asked::Call { identity, .. } => json!({ "approval_answered": {
            "effect": effect,
            "call": identity,
            "granted": granted,
            "reason": reason,
            "remember": remember,
        } }),
        Asked::Plain(_) => answered(*effect, *granted, reason),
    }
}

fn outcome(driver: &Driver) -> Outcome {
    let core = driver.run().core();
    Outcome {
        run: driver.id().clone(),
        state: driver.chart().state_name(core.state).into(),
        steps: core.next.0.saturating_sub(1),
        standing: driver.standing(),
        questions: driver.questions(),
        elapsed_ms: core.now.0,
        result: driver.run().result(),
    }
}
