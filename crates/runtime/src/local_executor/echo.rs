//! The research agent's own tasks, which need no effects: each is answered with its own text.
//! Without hooks, nothing happens after the tools of a chat.

#[cfg(not(feature = "tools"))]
use pointsman_agents::chat::{ChatAgent, ChatReport, ChatTask};
use pointsman_agents::research::{ResearchAgent, ResearchReport, ResearchTask};

use crate::{
    effect::Permit,
    executor::{Executor, TaskFuture},
};

/// Answers at once.
pub(super) struct Echo;

impl Executor<ResearchAgent> for Echo {
    fn perform(&self, _: Permit, task: ResearchTask) -> TaskFuture<ResearchReport> {
        let report = match task {
            ResearchTask::Summarise { draft } => ResearchReport::Summarised { text: draft },
            ResearchTask::Assemble { text, .. } => ResearchReport::Assembled { text },
        };
        Box::pin(std::future::ready(Ok(report.into())))
    }
}

#[cfg(not(feature = "tools"))]
impl Executor<ChatAgent> for Echo {
    fn perform(&self, _: Permit, _: ChatTask) -> TaskFuture<ChatReport> {
        let report = ChatReport::PostTools { action_taken: false, actions: Vec::new() };
        Box::pin(std::future::ready(Ok(report.into())))
    }
}
