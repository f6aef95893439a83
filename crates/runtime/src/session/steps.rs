//! The steps that a run took through a recording of an app, as its journal has them.

use pointsman_agents::explore::{Report, Step};
use pointsman_kernel::{agent::Answer, event::Event, id::Seq};

use super::{Session, SessionError};
use crate::{entry::event, store::RunId};

impl Session {
    /// Returns the steps of a run through a recording, in order; none for a run on a device.
    pub fn steps(&self, run: &RunId) -> Result<Vec<Step>, SessionError> {
        let lines = self.store().lines(run, Seq(0))?;
        let step = |line: &String| {
            // Most lines are about something else: they need not be taken apart.
            let event = line.contains("performed").then(|| event(line)).flatten()?;
            let Event::Answered { answer: Answer::Own(report), .. } = event else { return None };
            match report.read() {
                Ok(Report::Performed { step, .. }) => step,
                _ => None,
            }
        };
        Ok(lines.iter().filter_map(step).collect())
    }
}
