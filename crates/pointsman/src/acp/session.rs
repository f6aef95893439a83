//! One session of an editor: a task that relays the editor's requests and the run's notices, in
//! order.

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
    /// Cancel the turn.
    Cancel,
    /// A question was answered.
    Answered(Question, Result<RequestPermissionResponse, agent_client_protocol::Error>),
    /// Detach from the session.
    Leave,
}

/// A session that is open.
pub(super) struct AcpSession {
    words: mpsc::UnboundedSender<AcpCommand>,
    task: JoinHandle<()>,
}

impl AcpSession {
    /// Sends a command; a closed session ignores it.
    pub(super) fn say(&self, word: AcpCommand) {
        // A prompt whose responder is dropped is answered with an error.
        drop(self.words.send(word));
    }

    /// Detaches from the session, and waits until its work has stopped.
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
    /// The plan, as last sent.
    pub(super) plan: Vec<PlanEntry>,
    /// What the person should know of the set-up.
    pub(super) notes: Vec<String>,
}

/// Returns an observer and the receiver of its notices, without those that no editor shows.
pub(super) fn listening() -> (Arc<dyn Observer>, mpsc::UnboundedReceiver<Notice>) {
    let (sender, notices) = mpsc::unbounded_channel();
    let observer = move |_: &RunId, notice: &Notice| {
        let unseen = matches!(
            notice,
            Notice::Live(LiveNotice::Persisted { .. } | LiveNotice::Progressed(_))
        );
        if !unseen {
            // The receiver may be gone.
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
    /// Whether it has started.
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
    /// Turns until the run awaits a message and no request is pending.
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
            // Its status is in the journal, for later.
            drop(conversation.outcome().await);
        }
        // Closing a session cancels its turn.
        self.answer(Ok(StopReason::Cancelled));
    }

    fn tell(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            // The reader notices a disconnected editor.
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

    /// Asks the person. Everything else continues meanwhile.
    fn ask(&mut self, question: Question) {
        let options = permission::options(self.teller.tools(), &question);
        let shown = self.teller.question(&question);
        let request = RequestPermissionRequest::new(self.id.clone(), shown, options);
        let sent = self.connection.send_request(request);
        let (words, effect) = (self.words.clone(), question.effect);
        let asking = self.asking.spawn(async move {
            let answer = sent.block_task().await;
            // A detached session needs no answer.
            drop(words.send(AcpCommand::Answered(question, answer)));
        });
        self.open.insert(effect, asking);
    }

    /// Withdraws a question that was answered elsewhere, or is no longer open: dropping the
    /// waiting future cancels the request.
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
        // A reply after the question was withdrawn does not count.
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

    /// The run has ended, was detached from by another process, or failed.
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
                // Messages at or after the end of the run were not received.
                let unheard = self.turn.as_ref().is_some_and(|turn| !turn.begun);
                let stop = match self.ended {
                    _ if self.cancelling => Ok(StopReason::Cancelled),
                    _ if unheard => Err(self.is_over()),
                    // The editor's user is present: nothing was denied for lack of a person.
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

    /// Sends the phases of the plan after an entry, or now, if they differ from the last ones
    /// sent.
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
