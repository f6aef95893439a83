//! Calls that were denied because the run was unattended.

use std::sync::Arc;

use pointsman_kernel::{governor::Rule, id::Seq};

use super::{Session, SessionError};
use crate::{
    entry::begun,
    store::RunId,
    timeline::{Projector, TimelineKind},
};

impl Session {
    /// Returns why calls of an unattended run were denied, each reason once. A run without them
    /// has not done everything.
    pub fn denied_unattended(&self, run: &RunId) -> Result<Vec<String>, SessionError> {
        if self.block_on(begun(&*self.store, run))?.is_some_and(|begun| begun.permissions.attended)
        {
            return Ok(Vec::new());
        }
        let lines = self.block_on(self.store.lines(run, Seq(0)))?;
        let mut projector = Projector::new(Arc::new(self.program(run)?), run.clone());
        let mut reasons: Vec<String> = Vec::new();
        for item in projector.fold_all(&lines)? {
            if let TimelineKind::Verdict(verdict) = item.kind
                && verdict.rule == Rule::Unattended
                && !reasons.contains(&verdict.reason)
            {
                reasons.push(verdict.reason);
            }
        }
        Ok(reasons)
    }
}
