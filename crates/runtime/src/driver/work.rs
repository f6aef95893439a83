//! Step 5: orders that are on disk are started, asked or stopped.

use std::{
    collections::BTreeMap,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use pointsman_kernel::{
    agent::{Answer, FaultClass, Order},
    body::Body,
    chart::Chart,
    effect::{Effect, EffectKind},
    erased::{AnyRun, AppliedStep},
    event::Event,
    id::EffectId,
    job::AgentDecl,
    prompt::Prompt,
    run::{Item, ItemStatus as Asks},
};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use super::Driver;
use crate::{
    effect::{Completion, EffectFuture, EffectTask, PrecheckFuture, ProgressSink, TokenCount},
    journal::Permit,
    observe::{LiveNotice, Question, QuestionKind},
    store::NewPrompt,
};

/// Returns the question, where all that is ordered is a person's yes or no.
pub fn question(run: &dyn AnyRun, order: &EffectKind<Body>) -> Option<String> {
    let EffectKind::Start(Order::Own { task, .. }) = order else { return None };
    run.question(task)
}

/// Returns whether a person is asked by it.
pub(super) fn asks(run: &dyn AnyRun, order: &EffectKind<Body>) -> bool {
    matches!(order, EffectKind::AskPerson(_)) || question(run, order).is_some()
}

/// Returns whether a model call is internal to the agent, such as one for a summary: its result is
/// not a reply to a person. A conversational agent asks for its reply as the first item of a job,
/// and for nothing else.
pub fn is_aside(order: &Order<Body>, agent: &AgentDecl) -> bool {
    matches!(order, Order::Model(call) if call.item > 0 && agent.converses())
}

/// Returns the task for an order; for a model call, with its prompt.
pub(super) fn task(order: &Order<Body>, prompt: Option<Prompt>) -> Option<EffectTask> {
    Some(match order {
        Order::Model(_) => EffectTask::Model(prompt.unwrap_or_default()),
        Order::Tool(call) => EffectTask::Tool(call.clone()),
        Order::Child(child) => EffectTask::Child(child.clone()),
        Order::Own { task, .. } => EffectTask::Own(task.clone()),
        _ => return None,
    })
}

/// An order of a step, with its prompt.
pub(super) struct StartedOrder {
    pub(super) id: EffectId,
    pub(super) order: EffectKind<Body>,
    pub(super) prompt: Option<Prompt>,
}

impl StartedOrder {
    /// Returns whether an executor starts it. A person is asked, and nothing is started to stop.
    pub(super) fn is_started(&self, run: &dyn AnyRun) -> bool {
        matches!(self.order, EffectKind::Start(_)) && !asks(run, &self.order)
    }

    /// Returns the prompt as it is kept.
    pub(super) fn kept(&self) -> Option<NewPrompt> {
        let parts = parts(self.prompt.as_ref()?);
        Some(NewPrompt { effect: self.id, parts })
    }
}

/// An order in progress, with its future.
pub(super) struct OpenOrder {
    pub(super) order: EffectKind<Body>,
    doing: Option<EffectFuture>,
    /// The text that a model or a tool has written so far, piece by piece.
    pieces: Option<mpsc::UnboundedReceiver<String>>,
    /// Its result, reported after the last piece.
    done: Option<Completion>,
    /// A check of the call, before a person is asked.
    check: Option<PrecheckFuture>,
    /// Whether it does nothing until the run is resumed, as its executor says.
    resting: Arc<AtomicBool>,
    /// The same, as the driver's caller knows it.
    rests: bool,
}

impl OpenOrder {
    /// An order without a future: a question, or work from before a crash.
    pub(super) fn idle(order: EffectKind<Body>) -> Self {
        let resting = Arc::default();
        Self { order, doing: None, pieces: None, done: None, check: None, resting, rests: false }
    }

    /// Returns whether it does nothing until the run is resumed.
    pub(super) const fn rests(&self) -> bool {
        self.rests
    }

    /// Returns whether the call is looked at before a person is asked for it.
    pub(super) const fn is_checked(&self) -> bool {
        self.check.is_some()
    }

    /// Polls the check of a call; returns its result.
    fn look(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        let Some(check) = &mut self.check else { return Poll::Pending };
        // A look that breaks off has found nothing against the call.
        let looked = catch_unwind(AssertUnwindSafe(|| check.as_mut().poll(context)));
        let looked = looked.unwrap_or(Poll::Ready(None));
        if looked.is_ready() {
            self.check = None;
        }
        looked
    }

    fn move_on(&mut self, context: &mut Context<'_>) {
        let Some(doing) = &mut self.doing else { return };
        // A performer that breaks off fails its order, and not the run.
        let done = match catch_unwind(AssertUnwindSafe(|| doing.as_mut().poll(context))) {
            Ok(Poll::Pending) => return,
            Ok(Poll::Ready(done)) => done,
            Err(_) => {
                Completion::fault(FaultClass::Other, false, "internal error (panic); see the log")
            }
        };
        self.doing = None;
        self.done = Some(done);
    }
}

/// The result of polling work in progress.
pub(super) enum WorkEvent {
    /// An order was carried out: this is the event that says so.
    Answered(Event<Body>, Option<TokenCount>),
    /// A model has written more.
    Said { effect: EffectId, text: String },
    /// Nothing was found against a call: a person can be asked for it.
    Checked(EffectId),
    /// An effect has begun to rest, or to work again.
    Rested,
}

/// Polls all work in progress until some of it has a result.
///
/// It runs in the driver's own task: an answer that is there at once costs no switch
/// between threads. What blocks or computes for long has to see to its own thread.
pub(super) fn poll(
    open: &mut BTreeMap<EffectId, OpenOrder>,
    context: &mut Context<'_>,
) -> Poll<WorkEvent> {
    for (effect, working) in open {
        working.move_on(context);
        if let Some(pieces) = &mut working.pieces
            && let Poll::Ready(Some(text)) = pieces.poll_recv(context)
        {
            return Poll::Ready(WorkEvent::Said { effect: *effect, text });
        }
        match working.look(context) {
            // A call that cannot run fails without a prompt.
            Poll::Ready(Some(why)) => {
                let found = event(*effect, Completion::tool(false, &why));
                return Poll::Ready(WorkEvent::Answered(found, None));
            }
            Poll::Ready(None) => return Poll::Ready(WorkEvent::Checked(*effect)),
            Poll::Pending => {}
        }
        if let Some(done) = working.done.take() {
            let tokens = done.tokens;
            return Poll::Ready(WorkEvent::Answered(event(*effect, done), tokens));
        }
        let rests = working.resting.load(Ordering::Relaxed);
        if mem::replace(&mut working.rests, rests) != rests {
            return Poll::Ready(WorkEvent::Rested);
        }
    }
    Poll::Pending
}

/// Returns the event for an answer.
fn event(effect: EffectId, Completion { answer, usage, .. }: Completion) -> Event<Body> {
    Event::Answered { effect, answer, usage, sent: None }
}

/// Returns the orders of a step. Prompts are rendered from the run after the step.
pub(super) fn orders(chart: &Chart, run: &dyn AnyRun, stepped: &AppliedStep) -> Vec<StartedOrder> {
    let ordered = |Effect { id, order }: &Effect<Body>| {
        let prompt = match order {
            EffectKind::Start(Order::Model(call)) => Some(run.prompt(chart, call)),
            _ => None,
        };
        StartedOrder { id: *id, order: order.clone(), prompt }
    };
    stepped.effects.iter().map(ordered).collect()
}

impl Driver {
    /// Starts, asks or stops: the entry that orders it is on disk.
    pub(super) fn start(&mut self, permit: Option<Permit>, ordered: StartedOrder) {
        let StartedOrder { id, order, prompt } = ordered;
        match order {
            EffectKind::Stop(effect) => drop(self.open.remove(&effect)),
            // No host can answer a question; the state's timeout says how long a person has.
            order if asks(&*self.run, &order) => self.ask(id, order),
            EffectKind::Start(order) => {
                if let Some(permit) = permit {
                    self.work(permit, order, prompt);
                }
            }
            // Orders of a later kernel get no answer and time out.
            _ => {}
        }
    }

    fn ask(&mut self, id: EffectId, order: EffectKind<Body>) {
        self.reopen_order(id, order);
        self.put(id);
    }

    /// Reopens an order without a future. A call that needs approval is checked first: the world
    /// may have changed since it was ordered.
    pub(super) fn reopen_order(&mut self, id: EffectId, order: EffectKind<Body>) {
        let check = self.check(id, &order);
        self.open.insert(id, OpenOrder { check, ..OpenOrder::idle(order) });
    }

    /// Returns a check of the call that needs approval. A person decides about one that may have
    /// been done already.
    fn check(&self, id: EffectId, order: &EffectKind<Body>) -> Option<PrecheckFuture> {
        let EffectKind::AskPerson(call) = order else { return None };
        let waits = |item: &&Item| super::load::waits_for(item, id);
        let item = self.run.core().items.iter().find(waits)?;
        let again = matches!(item.doing, Asks::Asking { again: true, .. });
        if again { None } else { self.context.executor.check(&self.id, call) }
    }

    /// Asks a question, unless its call is still being checked.
    pub(super) fn put(&mut self, id: EffectId) {
        if let Some(question) = self.questions().into_iter().find(|it| it.effect == id)
            && !self.decline(&question)
        {
            self.tell(LiveNotice::Ask(question));
        }
    }

    /// Denies a question of an unattended run; the kernel rules on the call. Returns whether it
    /// did.
    pub(super) fn decline(&mut self, question: &Question) -> bool {
        if self.run.core().governor.permissions.attended {
            return false;
        }
        let (effect, why) = (question.effect, "no one can be asked: the run is unattended");
        let no = match &question.asks {
            // The person who resumes the run decides whether the call is repeated.
            QuestionKind::Call { again: true, .. } => return false,
            QuestionKind::Call { identity, .. } => Event::ApprovalAnswered {
                effect,
                call: *identity,
                granted: false,
                reason: why.into(),
                remember: None,
                sent: None,
            },
            QuestionKind::Plain(_) => answered(&*self.run, effect, false, why),
        };
        self.pending.push_back(no);
        question.call().is_some()
    }

    /// Starts a task whose entry is on disk, or starts it again.
    pub(super) fn work(&mut self, permit: Permit, order: Order<Body>, prompt: Option<Prompt>) {
        let Some(task) = task(&order, prompt) else { return };
        let id = permit.effect;
        // Models and tools report progress only to observers.
        let may_be_seen = match &task {
            // Observers do not see what the journal must not contain.
            EffectTask::Model(prompt) => !prompt.private.as_ref().is_some_and(|it| it.redact),
            EffectTask::Tool(_) => true,
            EffectTask::Child(_) | EffectTask::Own(_) => false,
        };
        let aside = is_aside(&order, self.program.agent());
        let watched = may_be_seen && self.is_watched() && !aside;
        let (shown, pieces) = if watched {
            let (saying, pieces) = mpsc::unbounded_channel();
            (ProgressSink::to(saying), Some(pieces))
        } else {
            (ProgressSink::none(), None)
        };
        if self.is_watched()
            && let EffectTask::Model(prompt) = &task
        {
            let model = self.context.executor.model().into();
            // A prompt to which the host adds private text is shown to no one.
            let prompt = prompt.private.is_none().then(|| Box::new(prompt.clone()));
            self.tell(LiveNotice::ModelCalled { effect: id, model, prompt });
        }
        let resting = shown.resting();
        let doing = Some(self.context.executor.perform(permit, task, shown));
        let order = EffectKind::Start(order);
        self.open.insert(id, OpenOrder { doing, pieces, resting, ..OpenOrder::idle(order) });
    }

    /// Drops orders that no item waits for. Front ends learn that a question is closed.
    pub(super) fn drop_unneeded(&mut self) {
        let (run, items) = (&*self.run, &self.run.core().items);
        let mut closed = Vec::new();
        self.open.retain(|id, working| {
            let waits = items.iter().any(|item| super::load::waits_for(item, *id));
            if !waits && asks(run, &working.order) {
                closed.push(*id);
            }
            waits
        });
        for question in closed {
            self.tell(LiveNotice::Discard(question));
        }
    }
}

/// Returns the event for a person's yes or no to a plain question. An agent that asks but defines
/// no reply gets a fault.
pub(crate) fn answered(run: &dyn AnyRun, effect: EffectId, yes: bool, text: &str) -> Event<Body> {
    let done = match run.reply(yes, text) {
        Some(report) => Completion::answer(Answer::Own(report)),
        None => Completion::fault(
            FaultClass::Contract,
            false,
            "the agent asks a question but defines no reply",
        ),
    };
    event(effect, done)
}

/// Returns a prompt as it is kept: the system's word, each message, and at last the
/// tools and the schema. What prompts have in common is kept once.
fn parts(prompt: &Prompt) -> Vec<String> {
    #[derive(Serialize)]
    struct Rest<'a> {
        tools: &'a [Box<str>],
        schema: Option<&'a serde_json::Value>,
    }
    let system = json!({ "system": prompt.system }).to_string();
    // Messages and the rest are plain data.
    let messages = prompt.messages.iter().map(|it| serde_json::to_string(it).unwrap_or_default());
    let rest = Rest { tools: &prompt.tools, schema: prompt.schema.as_ref() };
    let rest = serde_json::to_string(&rest).unwrap_or_default();
    [system].into_iter().chain(messages).chain([rest]).collect()
}
