//! The research agent's own tasks, which need nothing of the world: each is answered with the
//! text that it holds.

use pointsman_agents::research::{Report, Research, Task};

use crate::{
    executor::{Executing, Executor},
    perform::Errand,
};

/// Answers at once.
pub(super) struct Echo;

impl Executor<Research> for Echo {
    fn perform(&self, _: Errand, task: Task) -> Executing<Report> {
        let report = match task {
            Task::Summarise { draft } => Report::Summarised { text: draft },
            Task::Assemble { text, .. } => Report::Assembled { text },
        };
        Box::pin(std::future::ready(Ok(report.into())))
    }
}
