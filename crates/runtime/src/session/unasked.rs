//! What was refused because nobody was there to be asked.

use pointsman_kernel::{governor::Rule, id::Seq};

use super::{Session, SessionError};
use crate::{driver::fold_each, entry::begun, store::RunId};

impl Session {
    /// Returns why calls of a run were refused that somebody could have been asked for, each
    /// reason once. A run that did without them has not done all that was asked of it.
    pub fn unasked(&self, run: &RunId) -> Result<Vec<String>, SessionError> {
        if self.block_on(begun(&*self.store, run))?.is_some_and(|begun| begun.permissions.attended)
        {
            return Ok(Vec::new());
        }
        let lines = self.block_on(self.store.lines(run, Seq(0)))?;
        let program = self.program(run)?;
        let mut reasons: Vec<String> = Vec::new();
        fold_each(&program, run, &lines, |_, _, stepped| {
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
