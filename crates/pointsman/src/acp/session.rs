//! One session of an editor: a task that hears what the editor says and what happens to
//! the run, in order, and tells each to the other.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use agent_client_protocol::{
    Client, RequestCancellation,
    v1::{
        ConnectionTo, Responder,
        schema::{
            Plan, PlanEntry, PromptResponse, RequestPermissionRequest, RequestPermissionResponse,
            SessionId, SessionNotification, SessionUpdate, StopReason,
        },
    },
};
use pointsman_kernel::{
    chart::Disposition,
    id::{EffectId, Seq},
    turn::{TurnError, TurnErrorKind},
};
use pointsman_runtime::{
    driver::RunStatus,
    exit::Exit,
    observe::{LiveNotice, Notice, Observer, Question},
    session::{CommandSender, ConversationHandle, Session},
    store::RunId,
    timeline::{TimelineItem, TimelineKind},
    tool::ToolKind,
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle, JoinSet},
    time::timeout,
};

use super::{
    due::OpenTurns,
    error, history, permission,
    updates::{UpdateBuilder, message, thought},
};

/// What an editor says to a session.
pub(super) enum AcpCommand {
    /// Something is said; the answer goes there when the turn is over.
    Prompt(String, Responder<PromptResponse>),
    /// The turn is to be stopped.
    Cancel,
    /// A question was answered.
    Answered(Question, Result<RequestPermissionResponse, agent_client_protocol::Error>),
    /// The session is to be let go of.
    Leave,
}

/// A session that is open.
pub(super) struct AcpSession {
    words: mpsc::UnboundedSender<AcpCommand>,
    task: JoinHandle<()>,
}

impl AcpSession {
    /// Says something; whoever has left hears nothing.
    pub(super) fn say(&self, word: AcpCommand) {
        // A prompt whose responder is dropped is answered with an error.
        drop(self.words.send(word));
    }

    /// Lets go of the session, and waits until nothing of it is under way.
    pub(super) async fn leave(mut self, limit: Duration) {
        self.say(AcpCommand::Leave);
        if timeout(limit, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// What a session is made of.
pub(super) struct AcpSessionParts {
    pub(super) session: Arc<Session>,
    pub(super) conversation: ConversationHandle,
    pub(super) notices: mpsc::UnboundedReceiver<Notice>,
    pub(super) connection: ConnectionTo<Client>,
    pub(super) teller: UpdateBuilder,
    /// Turns that are not over.
    pub(super) due: OpenTurns,
    /// Whether it works by a plan and reports at its end, as `code` does.
    pub(super) works: bool,
    /// The plan, as it was told.
    pub(super) plan: Vec<PlanEntry>,
    /// What the person should know of the set-up.
    pub(super) notes: Vec<String>,
}

/// Returns an observer, and what it is told. What no editor is shown is left out.
pub(super) fn listening() -> (Arc<dyn Observer>, mpsc::UnboundedReceiver<Notice>) {
    let (sender, notices) = mpsc::unbounded_channel();
    let observer = move |_: &RunId, notice: &Notice| {
        let unseen = matches!(
            notice,
            Notice::Live(LiveNotice::Persisted { .. } | LiveNotice::Progressed(_))
        );
        if !unseen {
            // Nobody is told who has left.
            drop(sender.send(notice.clone()));
        }
    };
    (Arc::new(observer), notices)
}

/// Opens a session.
pub(super) fn open(opening: AcpSessionParts) -> AcpSession {
    let (words, heard) = mpsc::unbounded_channel();
    let AcpSessionParts { session, conversation, notices, connection, .. } = opening;
    let run = conversation.run().clone();
    let desk = Desk {
        id: SessionId::new(run.as_str()),
        run,
        session,
        connection,
        commands: conversation.commands(),
        conversation: Some(conversation),
        words: words.clone(),
        asking: JoinSet::new(),
        open: BTreeMap::new(),
        teller: opening.teller,
        due: opening.due,
        works: opening.works,
        plan: opening.plan,
        notes: opening.notes,
        turn: None,
        cancelling: false,
        planning: false,
        ended: None,
    };
    let task = tokio::spawn(desk.sit(heard, notices));
    AcpSession { words, task }
}

/// A prompt that is being answered.
struct Turn {
    responder: Responder<PromptResponse>,
    cancelled: RequestCancellation,
    /// Whether something has come of it.
    begun: bool,
}

/// The task of a session.
struct Desk {
    id: SessionId,
    run: RunId,
    session: Arc<Session>,
    connection: ConnectionTo<Client>,
    commands: CommandSender,
    /// Nothing once the run is over.
    conversation: Option<ConversationHandle>,
    words: mpsc::UnboundedSender<AcpCommand>,
    asking: JoinSet<()>,
    /// The questions that wait in the editor.
    open: BTreeMap<EffectId, AbortHandle>,
    teller: UpdateBuilder,
    /// Turns until the run listens and nobody waits for it.
    due: OpenTurns,
    works: bool,
    plan: Vec<PlanEntry>,
    notes: Vec<String>,
    turn: Option<Turn>,
    cancelling: bool,
    /// Whether a plan was proposed in this batch of calls.
    planning: bool,
    ended: Option<Disposition>,
}

impl Desk {
    async fn sit(
        mut self,
        mut words: mpsc::UnboundedReceiver<AcpCommand>,
        mut notices: mpsc::UnboundedReceiver<Notice>,
    ) {
        loop {
            let cancelled = self.turn.as_ref().map(|turn| turn.cancelled.clone());
            tokio::select! {
                // What has happened goes first: the end of a turn belongs to that turn.
                biased;
                notice = notices.recv(), if self.conversation.is_some() => match notice {
                    Some(notice) => self.see(notice).await,
                    None => self.over().await,
                },
                word = words.recv() => match word {
                    Some(AcpCommand::Prompt(text, responder)) => self.prompt(&text, responder),
                    Some(AcpCommand::Cancel) => self.cancel(),
                    Some(AcpCommand::Answered(question, answer)) => self.decide(&question, answer),
                    Some(AcpCommand::Leave) | None => break,
                },
                () = async { match cancelled {
                    Some(cancelled) => cancelled.cancelled().await,
                    None => std::future::pending().await,
                } }, if !self.cancelling => self.cancel(),
            }
        }
        self.commands.leave();
        if let Some(conversation) = self.conversation.take() {
            // How it stands is in the journal, for whoever comes back.
            drop(conversation.outcome().await);
        }
        // Whoever closes a session has stopped its turn.
        self.answer(Ok(StopReason::Cancelled));
    }

    fn tell(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            // An editor that is gone is noticed by whoever reads from it.
            drop(
                self.connection
                    .send_notification(SessionNotification::new(self.id.clone(), update)),
            );
        }
    }

    fn prompt(&mut self, text: &str, responder: Responder<PromptResponse>) {
        let refused = if self.turn.is_some() {
            Some(error::not_now("the session is busy with another prompt: wait, or cancel it"))
        } else {
            self.conversation.is_none().then(|| self.is_over())
        };
        if let Some(refused) = refused {
            drop(responder.respond_with_error(refused));
            return;
        }
        let notes = std::mem::take(&mut self.notes);
        self.tell(notes.iter().map(|note| thought(note)));
        let cancelled = responder.cancellation();
        self.turn = Some(Turn { responder, cancelled, begun: false });
        self.due.say();
        self.cancelling = false;
        self.commands.say(text);
    }

    fn is_over(&self) -> agent_client_protocol::Error {
        let how = self.ended.map_or("detached", error::how);
        let run = &self.run;
        error::not_now(&format!(
            "this session has ended ({how}): start a new one. `pointsman show {run}` shows what it did"
        ))
    }

    fn cancel(&mut self) {
        if self.due.is_any() {
            self.cancelling = true;
            self.commands.cancel_turn();
        }
    }

    /// Puts a question to the person. It waits beside everything else.
    fn ask(&mut self, question: Question) {
        let options = permission::options(self.teller.tools(), &question);
        let shown = self.teller.question(&question);
        let request = RequestPermissionRequest::new(self.id.clone(), shown, options);
        let sent = self.connection.send_request(request);
        let (words, effect) = (self.words.clone(), question.effect);
        let asking = self.asking.spawn(async move {
            let answer = sent.block_task().await;
            // A session that was let go of needs no answer.
            drop(words.send(AcpCommand::Answered(question, answer)));
        });
        self.open.insert(effect, asking);
    }

    /// Takes a question back that was answered elsewhere, or is no longer asked: the request
    /// is cancelled when whoever waits for its answer is gone.
    fn withdraw(&mut self, effect: EffectId) {
        if let Some(asking) = self.open.remove(&effect) {
            asking.abort();
        }
    }

    fn withdraw_all(&mut self) {
        self.asking.abort_all();
        self.open.clear();
    }

    fn decide(
        &mut self,
        question: &Question,
        answer: Result<RequestPermissionResponse, agent_client_protocol::Error>,
    ) {
        // What comes after the question was taken back is no answer to it.
        if self.open.remove(&question.effect).is_none() {
            return;
        }
        let Some(decision) = permission::decision(self.teller.tools(), question, answer) else {
            return;
        };
        let (effect, granted) = (question.effect, decision.granted);
        let told = self.teller.decided(effect, granted, &decision.reason);
        self.tell(told);
        self.commands.decide(effect, decision);
    }

    async fn see(&mut self, notice: Notice) {
        let updates = self.teller.tell(&notice);
        self.tell(updates);
        match notice {
            Notice::Item(item) => self.happened(item).await,
            Notice::Live(LiveNotice::Ask(question)) => self.ask(question),
            Notice::Live(LiveNotice::Discard(effect)) => self.withdraw(effect),
            // A word was refused: one that waited from before, or else the one of this turn.
            Notice::Live(LiveNotice::Refused(why)) => {
                let last = self.due.refused();
                if last && self.turn.as_ref().is_some_and(|turn| !turn.begun) {
                    let why = format!("the run rejected this: {why}");
                    self.answer(Err(error::bad_params(&why)));
                }
            }
            Notice::Live(LiveNotice::Listens) => self.listens(None),
            Notice::Live(_) => {}
        }
    }

    async fn happened(&mut self, item: TimelineItem) {
        match item.kind {
            TimelineKind::Answered { call: Some(call), .. } => {
                self.planning |= self.teller.tools().kind(&call.tool) == ToolKind::Plan;
            }
            TimelineKind::Transition { .. } => {
                self.due.moved();
                if let Some(turn) = &mut self.turn {
                    turn.begun = true;
                }
                // A plan that was proposed is taken when its calls are over.
                if std::mem::take(&mut self.planning) {
                    self.tell_plan(Some(item.seq)).await;
                }
            }
            TimelineKind::Stage { .. } => self.tell_plan(Some(item.seq)).await,
            TimelineKind::Listens { error } => self.listens(error.as_ref()),
            TimelineKind::Ended { disposition } => self.ended = Some(disposition),
            _ => {}
        }
    }

    fn listens(&mut self, error: Option<&TurnError>) {
        if self.due.listens() {
            self.withdraw_all();
            let stopped = self.stopped(error);
            self.answer(Ok(stopped));
        }
    }

    fn stopped(&self, error: Option<&TurnError>) -> StopReason {
        match error {
            _ if self.cancelling => StopReason::Cancelled,
            Some(TurnError { kind: TurnErrorKind::Cancelled, .. }) => StopReason::Cancelled,
            error => reason(Exit::of(Disposition::Succeeded, error, false)),
        }
    }

    /// The run has ended, or was let go of by somebody else, or failed.
    async fn over(&mut self) {
        self.withdraw_all();
        self.due = OpenTurns::default();
        let Some(conversation) = self.conversation.take() else { return };
        self.tell_plan(None).await;
        match conversation.outcome().await {
            Ok(outcome) => {
                let error = outcome.error;
                if let RunStatus::Ended(how) = outcome.status {
                    self.ended = Some(how);
                    // What a conversation has come to was said in it.
                    let report = outcome.result.filter(|_| self.works);
                    self.tell(report.map(|report| message(&format!("\n\n{report}"))));
                }
                // What was said as the run ended, or after it had, was not heard.
                let unheard = self.turn.as_ref().is_some_and(|turn| !turn.begun);
                let stop = match self.ended {
                    _ if self.cancelling => Ok(StopReason::Cancelled),
                    _ if unheard => Err(self.is_over()),
                    // Somebody sits at the editor: nothing was denied for want of a person.
                    Some(ended) => Ok(reason(Exit::of(ended, error.as_ref(), false))),
                    None => Ok(StopReason::EndTurn),
                };
                self.answer(stop);
            }
            Err(failed) => self.answer(Err(error::session(&failed))),
        }
    }

    fn answer(&mut self, answer: Result<StopReason, agent_client_protocol::Error>) {
        self.cancelling = false;
        if let Some(turn) = self.turn.take() {
            drop(turn.responder.respond_with_result(answer.map(PromptResponse::new)));
        }
    }

    /// Tells the phases of the plan as they were after an entry, or are now, if they are
    /// not as they were told.
    async fn tell_plan(&mut self, after: Option<Seq>) {
        if !self.works {
            return;
        }
        let (session, run) = (Arc::clone(&self.session), self.run.clone());
        let plan = tokio::task::spawn_blocking(move || {
            Some(history::plan(&*session.recall(&run, after).ok()?.loaded.run))
        });
        if let Ok(Some(plan)) = plan.await
            && plan != self.plan
        {
            self.plan.clone_from(&plan);
            self.tell([SessionUpdate::Plan(Plan::new(plan))]);
        }
    }
}

/// Returns how a turn stopped. `refusal` would have the editor forget what was said, and the run
/// does not.
const fn reason(exit: Exit) -> StopReason {
    match exit.counts {
        Disposition::Cancelled => StopReason::Cancelled,
        Disposition::Budget => StopReason::MaxTurnRequests,
        _ => StopReason::EndTurn,
    }
}
