//! The steps that a run took through a recording of an app, as its journal has them.

use pointsman_agents::explore::Step;
use pointsman_kernel::id::Seq;
use serde::Deserialize as _;

use super::{Session, SessionError};
use crate::{entry::event, store::RunId};

impl Session {
    /// Returns the steps of a run through a recording, in order; none for a run on a device.
    pub fn steps(&self, run: &RunId) -> Result<Vec<Step>, SessionError> {
        let lines = self.store().lines(run, Seq(0))?;
        let step = |line: &String| {
            // Most lines are about something else: they need not be taken apart.
            let event = line.contains("performed").then(|| event(line)).flatten()?;
            Step::deserialize(event.pointer("/answered/answer/own/performed/step")?).ok()
        };
        Ok(lines.iter().filter_map(step).collect())
    }
}
