//! What was refused because nobody was there to be asked.

use pointsman_kernel::{event::Begun, governor::Rule, id::Seq, journal::Entry};
use serde::Deserialize;

use super::{Session, SessionError, chart};
use crate::{driver::fold_each, store::RunId};

/// The first event of a run, as far as it is asked for.
#[derive(Deserialize)]
struct First {
    begun: Begun,
}

impl Session {
    /// Returns why calls of a run were refused that somebody could have been asked for, each
    /// reason once. A run that did without them has not done all that was asked of it.
    pub fn unasked(&self, run: &RunId) -> Result<Vec<String>, SessionError> {
        let lines = self.store.lines(run, Seq(0))?;
        let first = lines.first().and_then(|line| Entry::read(line).ok());
        let first = first.and_then(|it| serde_json::from_str::<First>(it.event.get()).ok());
        if first.is_some_and(|first| first.begun.permissions.attended) {
            return Ok(Vec::new());
        }
        let chart = chart(&self.store, run)?;
        let mut reasons: Vec<String> = Vec::new();
        fold_each(&chart, run, &lines, |_, _, stepped| {
            let unasked = stepped.verdicts.iter().filter(|it| it.rule == Rule::Unattended);
            for verdict in unasked {
                if !reasons.contains(&verdict.reason) {
                    reasons.push(verdict.reason.clone());
                }
            }
        })?;
        Ok(reasons)
    }
}
