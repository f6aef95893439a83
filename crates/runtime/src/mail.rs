//! A run's mailbox: which letters it takes, and when.

use pointsman_kernel::{event::Event, id::EffectId};

use crate::{
    driver::{DriveError, Driver, Standing},
    store::{Letter, Store},
};

/// Returns which of an agent's events a letter gives, if it gives one.
pub(crate) fn given(letter: &Letter) -> Option<u16> {
    match letter.event() {
        Ok(Event::Given { event, .. }) => Some(event),
        _ => None,
    }
}

/// Returns whether a letter holds something that a run must listen for.
pub(crate) fn is_word(letter: &Letter) -> bool {
    given(letter).is_some()
}

/// Returns the question that a letter answers, if it answers one.
pub(crate) fn about(letter: &Letter) -> Option<EffectId> {
    match letter.event().ok()? {
        Event::ApprovalAnswered { effect, .. } | Event::Answered { effect, .. } => Some(effect),
        _ => None,
    }
}

/// Delivers the letters that do not wait for the run to listen: approvals, cancels. Of
/// several answers to one question the last counts. What ends the run is the last of all.
pub(crate) async fn deliver(store: &dyn Store, driver: &mut Driver) -> Result<(), DriveError> {
    let mut letters = store.letters(driver.id()).await?;
    letters.retain(|it| !is_word(it));
    for (at, letter) in letters.iter().enumerate() {
        if matches!(driver.standing(), Standing::Ended(_)) {
            break;
        }
        let question = about(letter);
        let mut later = letters.iter().skip(at + 1);
        // The time of a question goes on while nobody drives the run.
        let due = question.and_then(|question| driver.due(question));
        let late = due.is_some_and(|due| due <= letter.at_ms);
        if late || question.is_some() && later.any(|it| about(it) == question) {
            driver.pass_over(letter).await?;
        } else {
            driver.take(letter).await?;
        }
    }
    Ok(())
}

/// Delivers the oldest word to a run that listens; returns whether there was one.
pub(crate) async fn hear(store: &dyn Store, driver: &mut Driver) -> Result<bool, DriveError> {
    let letters = store.letters(driver.id()).await?;
    let Some(word) = letters.iter().find(|it| is_word(it)) else { return Ok(false) };
    driver.take(word).await?;
    Ok(true)
}
