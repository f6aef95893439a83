//! What carries out the tasks of an agent's own: one executor for each agent.
//!
//! An executor takes its agent's tasks and gives its reports, both typed. A host finds it by
//! the agent of the run, never by the shape of a task.

use std::{collections::BTreeMap, fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use pointsman_kernel::{
    agent::{Agent, Fault, FaultClass},
    body::Body,
    chart::Disposition,
    event::Usage,
};

use crate::{
    effect::{CleanupFuture, Completion, EffectFuture, Permit, ProgressSink},
    model::{Model, ModelRequest},
    store::RunId,
};

/// A report, with the cost of the task.
#[derive(Clone, Debug)]
pub struct TaskReport<R> {
    /// The report.
    pub report: R,
    /// Its cost.
    pub usage: Usage,
}

impl<R> From<R> for TaskReport<R> {
    /// A report of a task that cost nothing.
    fn from(report: R) -> Self {
        Self { report, usage: Usage::default() }
    }
}

/// A future that a host can hold: a report, or the reason why there is none.
pub type TaskFuture<R> = Pin<Box<dyn Future<Output = Result<TaskReport<R>, Fault>> + Send>>;

/// Carries out an agent's own tasks.
///
/// A task that only asks a person for yes or no does not come here: front ends put it.
pub trait Executor<A: Agent>: Send + Sync + 'static {
    /// Carries out a task whose order is on disk. If the task was started before an interruption
    /// and may be partly done, `permit.again` is set.
    fn perform(&self, permit: Permit, task: A::Task) -> TaskFuture<A::Report>;

    /// Asks a model for a run of the agent. An agent whose prompts have [private] parts adds
    /// them here: no journal and no kept prompt has them.
    ///
    /// [private]: pointsman_kernel::prompt::Prompt::private
    fn ask(
        &self,
        permit: &Permit,
        question: ModelRequest,
        model: &Model,
        shown: ProgressSink,
    ) -> EffectFuture {
        let _ = permit;
        ask(question, model, shown)
    }

    /// Learns that a run of the agent has ended, and how: its resources can go.
    fn ended(&self, run: &RunId, how: Disposition) -> CleanupFuture {
        let _ = (run, how);
        Box::pin(std::future::ready(()))
    }
}

/// Executors, each for its agent.
#[derive(Clone, Default)]
pub struct Executors(BTreeMap<&'static str, Arc<dyn AnyExecutor>>);

impl Executors {
    /// Adds an agent's executor. Of two for one agent the last counts.
    #[must_use]
    pub fn with<A: Agent>(mut self, executor: impl Executor<A>) -> Self {
        let typed = TypedExecutor { executor, agent: PhantomData::<fn(A)> };
        self.0.insert(A::DECL.name, Arc::new(typed));
        self
    }

    /// Adds all of these.
    #[must_use]
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Carries out a task. A task without an executor is a fault: otherwise it would wait for its
    /// timeout.
    pub(crate) fn perform(&self, permit: Permit, task: &Body) -> EffectFuture {
        match self.0.get(permit.agent) {
            Some(executor) => executor.perform(permit, task),
            None => refused(&format!("no executor is registered for the agent `{}`", permit.agent)),
        }
    }

    /// Asks a model for a run.
    pub(crate) fn ask(
        &self,
        permit: &Permit,
        question: ModelRequest,
        model: &Model,
        shown: ProgressSink,
    ) -> EffectFuture {
        match self.0.get(permit.agent) {
            Some(executor) => executor.ask(permit, question, model, shown),
            None => ask(question, model, shown),
        }
    }

    /// Notifies an agent's executor that a run has ended.
    pub(crate) fn ended(&self, agent: &str, run: &RunId, how: Disposition) -> CleanupFuture {
        match self.0.get(agent) {
            Some(executor) => executor.ended(run, how),
            None => Box::pin(std::future::ready(())),
        }
    }
}

impl fmt::Debug for Executors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The executor of some agent.
trait AnyExecutor: Send + Sync {
    fn perform(&self, permit: Permit, task: &Body) -> EffectFuture;
    fn ask(
        &self,
        permit: &Permit,
        question: ModelRequest,
        model: &Model,
        shown: ProgressSink,
    ) -> EffectFuture;
    fn ended(&self, run: &RunId, how: Disposition) -> CleanupFuture;
}

struct TypedExecutor<A, E> {
    executor: E,
    agent: PhantomData<fn(A)>,
}

impl<A: Agent, E: Executor<A>> AnyExecutor for TypedExecutor<A, E> {
    fn perform(&self, permit: Permit, task: &Body) -> EffectFuture {
        let task = match task.read() {
            Ok(task) => task,
            Err(error) => return refused(&format!("the task cannot be read: {error}")),
        };
        let executing = self.executor.perform(permit, task);
        Box::pin(async move {
            match executing.await {
                Ok(TaskReport { report, usage }) => Completion::own(&report).costing(usage),
                Err(fault) => Completion::failed(fault),
            }
        })
    }

    fn ask(
        &self,
        permit: &Permit,
        question: ModelRequest,
        model: &Model,
        shown: ProgressSink,
    ) -> EffectFuture {
        self.executor.ask(permit, question, model, shown)
    }

    fn ended(&self, run: &RunId, how: Disposition) -> CleanupFuture {
        self.executor.ended(run, how)
    }
}

/// Asks a model a question that is whole.
fn ask(question: ModelRequest, model: &Model, shown: ProgressSink) -> EffectFuture {
    if question.prompt.private.is_some() {
        return refused(
            "this prompt needs private data, which the agent's executor does not provide",
        );
    }
    model.ask(question, shown)
}

fn refused(why: &str) -> EffectFuture {
    Box::pin(std::future::ready(Completion::fault(FaultClass::Contract, false, why)))
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::{
        agent::Answer,
        id::{EffectId, Seq},
        prompt::{PrivateText, Prompt},
    };

    use super::*;
    use crate::model::{ModelSettings, Spec};

    #[tokio::test]
    async fn a_prompt_is_not_sent_without_its_private_part() {
        let model = Model::new(ModelSettings::new(Spec::quote())).expect("it needs nothing");
        let effect = EffectId { seq: Seq(1), index: 0 };
        let run = "r1".parse().expect("the text is a run id");
        let permit = Permit::unwritten(run, "stranger", effect, false);
        let asked = |private: Option<PrivateText>| {
            let prompt = Prompt { private, ..Prompt::default() };
            let question = ModelRequest { prompt, tools: Vec::new(), key: String::new() };
            Executors::default().ask(&permit, question, &model, ProgressSink::none())
        };
        let refused = |answer: Answer<Body>| match answer {
            Answer::Fault(fault) => {
                fault.message
                    == "this prompt needs private data, which the agent's executor does not provide"
            }
            _ => false,
        };
        assert!(!refused(asked(None).await.answer));
        assert!(refused(asked(Some(PrivateText::default())).await.answer));
    }
}
