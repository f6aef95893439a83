//! Step 5: orders that are on disk are started, asked or stopped.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
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
use serde_json::json;
use tokio::sync::mpsc;

use super::Driver;
use crate::{
    effect::{Completion, EffectFuture, EffectTask, PrecheckFuture, ProgressSink},
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

/// Returns whether it is a question to the model that only serves the agent, such as
/// one for a summary: what comes of it is no answer to anybody. Agents that hold
/// conversations ask for their reply as the first item of a job, and for nothing else.
pub fn is_aside(order: &Order<Body>, agent: &AgentDecl) -> bool {
    matches!(order, Order::Model(call) if call.item > 0 && agent.converses())
}

/// Returns what is to be done; a model's question comes with its prompt.
pub(super) fn task(order: &Order<Body>, prompt: Option<Prompt>) -> Option<EffectTask> {
    Some(match order {
        Order::Model(_) => EffectTask::Model(prompt.unwrap_or_default()),
        Order::Tool(call) => EffectTask::Tool(call.clone()),
        Order::Child(child) => EffectTask::Child(child.clone()),
        Order::Own { task, .. } => EffectTask::Own(task.clone()),
        _ => return None,
    })
}

/// An order of a step, with what a model is shown by it.
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

/// An order that an item waits for, with what is being done about it.
pub(super) struct OpenOrder {
    pub(super) order: EffectKind<Body>,
    doing: Option<EffectFuture>,
    /// What a model or a tool has written so far, piece by piece.
    pieces: Option<mpsc::UnboundedReceiver<String>>,
    /// What came of it. It is told after the last piece.
    done: Option<Completion>,
    /// A look at the call, which comes before a person is asked for it.
    check: Option<PrecheckFuture>,
}

impl OpenOrder {
    /// An order that nobody works on: a question, or what was under way before a crash.
    pub(super) const fn idle(order: EffectKind<Body>) -> Self {
        Self { order, doing: None, pieces: None, done: None, check: None }
    }

    /// Returns whether the call is looked at before a person is asked for it.
    pub(super) const fn is_checked(&self) -> bool {
        self.check.is_some()
    }

    /// Moves the look at a call on; returns what it came to.
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

/// What came of moving on what is under way.
pub(super) enum WorkProgress {
    /// An order was carried out: this is the event that says so.
    Answered(Event<Body>),
    /// A model has written more.
    Said { effect: EffectId, text: String },
    /// Nothing was found against a call: a person can be asked for it.
    Checked(EffectId),
}

/// Moves on everything that is under way, until something comes of it.
///
/// It runs in the driver's own task: an answer that is there at once costs no switch
/// between threads. What blocks or computes for long has to see to its own thread.
pub(super) fn poll(
    open: &mut BTreeMap<EffectId, OpenOrder>,
    context: &mut Context<'_>,
) -> Poll<WorkProgress> {
    for (effect, working) in open {
        working.move_on(context);
        if let Some(pieces) = &mut working.pieces
            && let Poll::Ready(Some(text)) = pieces.poll_recv(context)
        {
            return Poll::Ready(WorkProgress::Said { effect: *effect, text });
        }
        match working.look(context) {
            // Nobody is asked for a call that cannot run: it has failed.
            Poll::Ready(Some(why)) => {
                return Poll::Ready(WorkProgress::Answered(event(
                    *effect,
                    Completion::tool(false, &why),
                )));
            }
            Poll::Ready(None) => return Poll::Ready(WorkProgress::Checked(*effect)),
            Poll::Pending => {}
        }
        if let Some(done) = working.done.take() {
            return Poll::Ready(WorkProgress::Answered(event(*effect, done)));
        }
    }
    Poll::Pending
}

/// Returns the event by which an answer reaches the run.
fn event(effect: EffectId, Completion { answer, usage }: Completion) -> Event<Body> {
    Event::Answered { effect, answer, usage, sent: None }
}

/// Returns what a step orders. Prompts are rendered from the run as it is now, which is how
/// the step left it.
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
            // What a later kernel orders is answered by nobody, and ends with its time.
            _ => {}
        }
    }

    fn ask(&mut self, id: EffectId, order: EffectKind<Body>) {
        self.reopen_order(id, order);
        self.put(id);
    }

    /// Takes up an order that nobody works on. A call that a person is to be asked for is
    /// looked at first: the world may have changed since it was ordered.
    pub(super) fn reopen_order(&mut self, id: EffectId, order: EffectKind<Body>) {
        let check = self.check(id, &order);
        self.open.insert(id, OpenOrder { check, ..OpenOrder::idle(order) });
    }

    /// Returns a look at the call that a person is to be asked for. One that may have been
    /// done already is theirs to decide over.
    fn check(&self, id: EffectId, order: &EffectKind<Body>) -> Option<PrecheckFuture> {
        let EffectKind::AskPerson(call) = order else { return None };
        let waits = |item: &&Item| super::load::waits_for(item, id);
        let item = self.run.core().items.iter().find(waits)?;
        let again = matches!(item.doing, Asks::Asking { again: true, .. });
        if again { None } else { self.context.executor.check(&self.id, call) }
    }

    /// Puts a question, unless its call is still looked at.
    pub(super) fn put(&mut self, id: EffectId) {
        if let Some(question) = self.questions().into_iter().find(|it| it.effect == id)
            && !self.decline(&question)
        {
            self.tell(LiveNotice::Ask(question));
        }
    }

    /// Says no to a question of a run that was begun for nobody to attend; the kernel rules
    /// over the call. Returns whether nobody is to be asked.
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

    /// Starts a task of which the entry is on disk, or starts it again.
    pub(super) fn work(&mut self, permit: Permit, order: Order<Body>, prompt: Option<Prompt>) {
        let Some(task) = task(&order, prompt) else { return };
        let id = permit.effect;
        // Models and tools show how far they have come, and only to those who watch.
        let may_be_seen = match &task {
            // What is kept out of the journal is kept from those who watch.
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
            (ProgressSink::nobody(), None)
        };
        let doing = Some(self.context.executor.perform(permit, task, shown));
        let order = EffectKind::Start(order);
        self.open.insert(id, OpenOrder { order, doing, pieces, done: None, check: None });
    }

    /// Puts orders away that no item waits for any more. Whoever puts a question learns that
    /// it is closed.
    pub(super) fn put_away(&mut self) {
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

/// Returns the event by which a person's yes or no to a plain question reaches the run. An agent
/// that asks and takes no answer gets a fault.
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
    let system = json!({ "system": prompt.system }).to_string();
    // A message is plain data.
    let messages = prompt.messages.iter().map(|it| serde_json::to_string(it).unwrap_or_default());
    let rest = json!({ "tools": prompt.tools, "schema": prompt.schema }).to_string();
    [system].into_iter().chain(messages).chain([rest]).collect()
}
