//! What happens to a run, as updates of an editor's session.
//!
//! It is the same for live notices and for old entries of the journal.

use std::{collections::BTreeMap, mem};

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, MessageId, SessionUpdate, TextContent, ToolCall as ProgressSink,
    ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use pointsman_kernel::{
    agent::ToolCall,
    governor::Level,
    id::EffectId,
    turn::{TurnError, TurnErrorKind},
};
use pointsman_runtime::{
    observe::{LiveNotice, Notice, Question, QuestionKind},
    timeline::{SUMMARISED, TimelineKind, is_stuck},
    tool::Toolbox,
};

use super::display::{CallDisplay, said};

/// Shown text cannot be withdrawn; this follows the text of a failed attempt.
const CUT_OFF: &str = "\n\n*(The reply was cut off; trying again.)*\n\n";

/// Turns what happens into updates.
#[derive(Debug)]
pub(super) struct UpdateBuilder {
    workspace: CallDisplay,
    /// Calls in progress.
    calls: BTreeMap<EffectId, Running>,
    /// Calls and questions that wait for a person.
    asked: Vec<WaitingCall>,
    /// What was shown of replies that are not finished.
    said: BTreeMap<EffectId, String>,
    /// Whose text stands last, if text does.
    last: Option<EffectId>,
    /// Whether a partly shown reply was cut off.
    cut: bool,
}

#[derive(Debug)]
struct Running {
    id: ToolCallId,
    tool: String,
    /// Its output so far.
    output: String,
}

#[derive(Debug)]
struct WaitingCall {
    effect: EffectId,
    id: ToolCallId,
    call: Option<ToolCall>,
}

impl UpdateBuilder {
    pub(super) const fn new(workspace: CallDisplay) -> Self {
        Self {
            workspace,
            calls: BTreeMap::new(),
            asked: Vec::new(),
            said: BTreeMap::new(),
            last: None,
            cut: false,
        }
    }

    /// The same, over the workspace as it is now.
    pub(super) fn at(self, workspace: CallDisplay) -> Self {
        Self { workspace, ..self }
    }

    /// Returns the tools that calls are of.
    pub(super) const fn tools(&self) -> &Toolbox {
        self.workspace.tools()
    }

    /// Returns the updates for a notice; most have none.
    pub(super) fn tell(&mut self, notice: &Notice) -> Vec<SessionUpdate> {
        match notice {
            Notice::Item(item) => self.happened(&item.kind),
            Notice::Live(LiveNotice::Delta { effect, text }) => {
                let told = self.progress(*effect, text).or_else(|| self.piece(*effect, text));
                told.into_iter().collect()
            }
            Notice::Live(LiveNotice::Discard(effect)) => self.unsaid(*effect).into_iter().collect(),
            Notice::Live(LiveNotice::Ask(question)) => self.asked(question),
            Notice::Live(LiveNotice::Delayed(why)) => vec![thought(&format!("Delayed: {why}"))],
            Notice::Live(LiveNotice::Listens) => self.over(None),
            Notice::Live(_) => Vec::new(),
        }
    }

    /// Returns the updates for an item of the timeline, live or old.
    pub(super) fn happened(&mut self, kind: &TimelineKind) -> Vec<SessionUpdate> {
        match kind {
            TimelineKind::Started { effect, call: Some(call), .. } => {
                vec![self.started(*effect, call)]
            }
            TimelineKind::Started { call: None, .. } => self.cut_off().into_iter().collect(),
            TimelineKind::Answered { effect, ok, what, .. } => {
                self.answered(*effect, *ok, what, kind.output()).into_iter().collect()
            }
            TimelineKind::ApprovalAnswered { effect, granted, reason, .. } => {
                self.decided(*effect, *granted, reason).into_iter().collect()
            }
            TimelineKind::Stopped { effect } => self.unsaid(*effect).into_iter().collect(),
            TimelineKind::Asked(question) => self.asked(question),
            TimelineKind::Retrying { attempt, wait_ms } => {
                let seconds = wait_ms.div_ceil(1000);
                let told = format!("Retrying in {seconds} s (attempt {attempt}).");
                self.cut_off().into_iter().chain([thought(&told)]).collect()
            }
            // A question is shown as one, without its verdict.
            TimelineKind::Verdict(verdict) if is_stuck(verdict) => {
                vec![thought(&format!("Governor: no progress: {}", verdict.reason))]
            }
            TimelineKind::Verdict(verdict) if verdict.level != Level::Ask => {
                vec![thought(&format!("Governor: {} ({})", verdict.reason, verdict.advice))]
            }
            TimelineKind::Paused { why, .. } => vec![thought(&format!("Paused: {why}"))],
            TimelineKind::Resumed | TimelineKind::Lifted { still_paused: false, .. } => {
                vec![thought("Resumed.")]
            }
            TimelineKind::Listens { error } => self.over(error.as_ref()),
            TimelineKind::Ended { .. } => self.over(None),
            _ => Vec::new(),
        }
    }

    /// Shows a question, unless it was shown before and is still open.
    fn asked(&mut self, question: &Question) -> Vec<SessionUpdate> {
        let effect = question.effect;
        if self.waits_for(effect) {
            return Vec::new();
        }
        vec![match &question.asks {
            QuestionKind::Call { call, .. } => self.asks_for(effect, call),
            QuestionKind::Plain(text) => self.asks(effect, text),
        }]
    }

    fn started(&mut self, effect: EffectId, call: &ToolCall) -> SessionUpdate {
        let waited = self.asked.iter().position(|it| it.call.as_ref() == Some(call));
        let known = waited.map(|at| self.asked.remove(at).id);
        let known = known.or_else(|| self.calls.get(&effect).map(|it| it.id.clone()));
        self.last = None;
        let id = known.clone().unwrap_or_else(|| call_id(effect));
        let (tool, output) = (call.tool.clone(), String::new());
        self.calls.insert(effect, Running { id: id.clone(), tool, output });
        if known.is_some() {
            return status(id, ToolCallStatus::InProgress);
        }
        let shown = self.workspace.call(id, call).status(ToolCallStatus::InProgress);
        SessionUpdate::ToolCall(shown)
    }

    fn answered(
        &mut self,
        effect: EffectId,
        ok: bool,
        what: &str,
        output: Option<&str>,
    ) -> Option<SessionUpdate> {
        if let Some(Running { id, tool, .. }) = self.calls.remove(&effect) {
            return Some(self.finished(id, ok, &tool, output.unwrap_or_default()));
        }
        if self.waits_for(effect) {
            return self.decided(effect, true, "");
        }
        if output.is_none() && !what.is_empty() && what != SUMMARISED {
            return Some(self.report(effect, ok, what));
        }
        let whole = output.filter(|_| ok)?;
        // The rest of the text, beyond what was shown live.
        let rest = match self.said.remove(&effect) {
            Some(shown) => whole.strip_prefix(shown.as_str())?.to_owned(),
            None => whole.to_owned(),
        };
        let update = self.piece(effect, &rest);
        self.said.remove(&effect);
        update
    }

    /// Shows what was done after tools: commits, and commands of the person's.
    fn report(&mut self, effect: EffectId, ok: bool, what: &str) -> SessionUpdate {
        self.last = None;
        let status = if ok { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let shown =
            ProgressSink::new(call_id(effect), self.workspace.line(what)).kind(ToolKind::Other);
        SessionUpdate::ToolCall(shown.status(status).content(vec![content(what)]))
    }

    fn finished(&self, id: ToolCallId, ok: bool, tool: &str, output: &str) -> SessionUpdate {
        let status = if ok { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let output = self.workspace.output(output);
        let mut fields = ToolCallUpdateFields::new().status(status).raw_output(output.clone());
        // A change that was made stays in sight.
        if !(ok && self.workspace.shows_change(tool)) {
            fields = fields.content(vec![content(&output)]);
        }
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
    }

    /// Shows the output of a running tool: the end of it, whole each time.
    fn progress(&mut self, effect: EffectId, text: &str) -> Option<SessionUpdate> {
        let running = self.calls.get_mut(&effect)?;
        running.output.push_str(text);
        running.output = self.workspace.progress(&running.output).to_owned();
        let fields = ToolCallUpdateFields::new()
            .status(ToolCallStatus::InProgress)
            .content(vec![content(&running.output)]);
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(running.id.clone(), fields)))
    }

    fn piece(&mut self, effect: EffectId, text: &str) -> Option<SessionUpdate> {
        if text.is_empty() {
            return None;
        }
        self.said.entry(effect).or_default().push_str(text);
        let before = self.last.replace(effect).is_some_and(|last| last != effect);
        let text = if before { format!("\n\n{text}") } else { text.into() };
        Some(SessionUpdate::AgentMessageChunk(chunk(&text).message_id(message_id(effect))))
    }

    fn unsaid(&mut self, effect: EffectId) -> Option<SessionUpdate> {
        if let Some(Running { id, tool, .. }) = self.calls.remove(&effect) {
            return Some(self.finished(id, false, &tool, "stopped"));
        }
        self.cut |= self.said.remove(&effect).is_some();
        None
    }

    fn cut_off(&mut self) -> Option<SessionUpdate> {
        mem::take(&mut self.cut).then(|| {
            self.last = None;
            message(CUT_OFF)
        })
    }

    fn waits_for(&self, effect: EffectId) -> bool {
        self.asked.iter().any(|it| it.effect == effect)
    }

    /// Shows a call that a person is asked about.
    fn asks_for(&mut self, effect: EffectId, call: &ToolCall) -> SessionUpdate {
        let id = self.waits(effect, Some(call.clone()));
        SessionUpdate::ToolCall(self.workspace.call(id, call))
    }

    /// Shows a question of the chart's own.
    fn asks(&mut self, effect: EffectId, question: &str) -> SessionUpdate {
        let id = self.waits(effect, None);
        let shown = ProgressSink::new(id, self.workspace.line(question));
        let shown = shown.status(ToolCallStatus::Pending).content(vec![said(question)]);
        SessionUpdate::ToolCall(shown)
    }

    fn waits(&mut self, effect: EffectId, call: Option<ToolCall>) -> ToolCallId {
        let id = call_id(effect);
        self.last = None;
        self.asked.push(WaitingCall { effect, id: id.clone(), call });
        id
    }

    /// Returns what a person is shown with a question.
    pub(super) fn question(&self, question: &Question) -> ToolCallUpdate {
        let known = self.asked.iter().find(|it| it.effect == question.effect);
        let id = known.map_or_else(|| call_id(question.effect), |it| it.id.clone());
        let fields = match &question.asks {
            QuestionKind::Call { call, again, .. } => {
                self.workspace.question(id.clone(), call, *again)
            }
            QuestionKind::Plain(text) => ToolCallUpdateFields::new()
                .title(self.workspace.line(text))
                .status(ToolCallStatus::Pending)
                .content(vec![said(text)]),
        };
        ToolCallUpdate::new(id, fields)
    }

    /// Takes a person's answer: an allowed call is shown when it starts.
    pub(super) fn decided(
        &mut self,
        effect: EffectId,
        granted: bool,
        why: &str,
    ) -> Option<SessionUpdate> {
        let at = self.asked.iter().position(|it| it.effect == effect)?;
        if granted && self.asked.get(at).is_some_and(|it| it.call.is_some()) {
            return None;
        }
        let WaitingCall { id, .. } = self.asked.remove(at);
        if granted {
            return Some(status(id, ToolCallStatus::Completed));
        }
        Some(self.finished(id, false, "", why))
    }

    /// The turn is over: nothing is in progress, and the reason for a missing answer is
    /// shown.
    fn over(&mut self, error: Option<&TurnError>) -> Vec<SessionUpdate> {
        let stopped = mem::take(&mut self.calls).into_values().map(|it| (it.id, "stopped"));
        let unasked = mem::take(&mut self.asked).into_iter().map(|it| (it.id, "not answered"));
        let left: Vec<_> = stopped.chain(unasked).collect();
        let mut updates: Vec<_> =
            left.into_iter().map(|(id, why)| self.finished(id, false, "", why)).collect();
        let text = mem::take(&mut self.said).is_empty() && self.last.is_none() && !self.cut;
        (self.last, self.cut) = (None, false);
        // The editor itself shows that a person cancelled.
        if let Some(error) = error.filter(|error| error.kind != TurnErrorKind::Cancelled) {
            let gap = if text { "" } else { "\n\n" };
            updates.push(message(&format!("{gap}**No answer:** {}", error.message)));
        }
        updates
    }
}

fn call_id(effect: EffectId) -> ToolCallId {
    ToolCallId::new(format!("call-{effect}"))
}

fn message_id(effect: EffectId) -> MessageId {
    MessageId::new(format!("reply-{effect}"))
}

fn status(id: ToolCallId, status: ToolCallStatus) -> SessionUpdate {
    let fields = ToolCallUpdateFields::new().status(status);
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
}

fn content(text: &str) -> ToolCallContent {
    ContentBlock::Text(TextContent::new(text)).into()
}

fn chunk(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

/// Something that is said beside the answer.
pub(super) fn thought(text: &str) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(chunk(&format!("{text}\n")))
}

/// Something that is said in the agent's name.
pub(super) fn message(text: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(chunk(text))
}

/// Something that a person said.
pub(super) fn heard(text: &str) -> SessionUpdate {
    SessionUpdate::UserMessageChunk(chunk(text))
}

#[cfg(test)]
mod tests;
