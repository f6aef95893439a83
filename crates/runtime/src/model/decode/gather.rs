//! The reply under construction, the same for all protocols.

use super::{
    Head,
    error::{DecodeError, ErrorClass},
    fault::DecodeFault,
    reply::{Decoded, ProposedArguments, ProposedCall, ReplyPiece, TokenUsage},
};

/// More calls than this in one reply are a defect.
const MAX_CALLS: usize = 512;

/// Collects what a protocol's reader finds. After a fault only the stop word and the
/// usage are still taken: nothing else that follows an error counts.
#[derive(Debug, Default)]
pub(super) struct Gather {
    text: String,
    refusal: String,
    calls: Vec<Call>,
    usage: TokenUsage,
    stop: Option<String>,
    cut_by: Option<String>,
    ended: bool,
    fault: Option<DecodeFault>,
    pieces: Vec<ReplyPiece>,
}

/// How a protocol writes arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CallShape {
    /// A text that holds JSON.
    Quoted,
    /// JSON itself.
    Value,
}

#[derive(Debug)]
struct Call {
    key: u64,
    id: Option<String>,
    name: String,
    arguments: String,
    shape: CallShape,
    /// Whether the protocol said that this call is whole, where it says so.
    sealed: bool,
}

impl Gather {
    pub(super) fn text(&mut self, delta: &str) {
        if self.takes(delta) {
            self.text.push_str(delta);
            self.pieces.push(ReplyPiece::Text(delta.to_owned()));
        }
    }

    pub(super) fn refusal(&mut self, delta: &str) {
        if self.takes(delta) {
            self.refusal.push_str(delta);
            self.pieces.push(ReplyPiece::Refusal(delta.to_owned()));
        }
    }

    pub(super) fn reasoning(&mut self, delta: &str) {
        if self.takes(delta) {
            self.pieces.push(ReplyPiece::Reasoning(delta.to_owned()));
        }
    }

    /// Starts a call and returns its place, if there is room for it. `key` is what the
    /// protocol finds it by; several calls may share one, and then the last counts.
    pub(super) fn call(
        &mut self,
        key: u64,
        id: Option<String>,
        name: String,
        shape: CallShape,
    ) -> Option<usize> {
        if self.fault.is_some() {
            return None;
        }
        let place = self.calls.len();
        if place >= MAX_CALLS {
            let message = format!("the reply has more than {MAX_CALLS} tool calls");
            self.fail(DecodeFault::found(ErrorClass::TooLarge, "too_many_calls", message));
            return None;
        }
        self.pieces.push(ReplyPiece::CallStarted {
            call: place,
            id: id.clone(),
            name: name.clone(),
        });
        let arguments = String::new();
        self.calls.push(Call { key, id, name, arguments, shape, sealed: true });
        Some(place)
    }

    /// Returns the place of the last call that has this key.
    pub(super) fn call_at(&self, key: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.key == key)
    }

    /// Returns the place of the call that has this id.
    pub(super) fn call_named(&self, id: &str) -> Option<usize> {
        self.calls.iter().rposition(|call| call.id.as_deref() == Some(id))
    }

    pub(super) const fn last_call(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    pub(super) fn call_id(&self, place: usize) -> Option<&str> {
        self.calls.get(place)?.id.as_deref()
    }

    /// Gives a call the name or the id that it still lacks.
    pub(super) fn complete_call(&mut self, place: usize, id: Option<String>, name: Option<String>) {
        if let Some(call) = self.calls.get_mut(place)
            && self.fault.is_none()
        {
            call.id = call.id.take().or(id);
            if let Some(name) = name.filter(|_| call.name.is_empty()) {
                call.name = name;
            }
        }
    }

    /// Appends to a call's arguments.
    pub(super) fn arguments(&mut self, place: usize, delta: &str) {
        if self.takes(delta)
            && let Some(call) = self.calls.get_mut(place)
        {
            call.arguments.push_str(delta);
            self.pieces.push(ReplyPiece::Arguments { call: place, delta: delta.to_owned() });
        }
    }

    /// Sets a call's arguments to what the protocol says they were altogether.
    pub(super) fn whole_arguments(&mut self, place: usize, whole: &str) {
        let had = self.calls.get(place).map_or("", |call| &call.arguments);
        if let Some(rest) = whole.strip_prefix(had) {
            return self.arguments(place, rest);
        }
        if self.takes(whole)
            && let Some(call) = self.calls.get_mut(place)
        {
            whole.clone_into(&mut call.arguments);
        }
    }

    pub(super) fn set_sealed(&mut self, place: usize, sealed: bool) {
        if let Some(call) = self.calls.get_mut(place) {
            call.sealed = sealed;
        }
    }

    /// Changes what was counted.
    pub(super) fn usage(&mut self, change: impl FnOnce(&mut TokenUsage)) {
        let before = self.usage;
        change(&mut self.usage);
        if self.usage != before {
            self.pieces.push(ReplyPiece::Usage(self.usage));
        }
    }

    pub(super) fn stop(&mut self, word: String) {
        if self.stop.as_ref() != Some(&word) {
            self.pieces.push(ReplyPiece::Stopped(word.clone()));
            self.stop = Some(word);
        }
    }

    /// Notes what cut the reply short.
    pub(super) fn cut_by(&mut self, reason: String) {
        self.cut_by = Some(reason);
    }

    /// Notes that the protocol's own end was seen.
    pub(super) const fn end(&mut self) {
        self.ended = true;
    }

    /// Takes the end back: the body around it was cut.
    pub(super) const fn reopen(&mut self) {
        self.ended = false;
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Notes the first fault; later ones only follow from it.
    pub(super) fn fail(&mut self, fault: DecodeFault) {
        if self.fault.is_none() {
            self.pieces.push(ReplyPiece::Failed(fault.clone().classified(&Head::default())));
            self.fault = Some(fault);
        }
    }

    /// Returns whether nothing was said or called yet.
    pub(super) const fn is_silent(&self) -> bool {
        self.text.is_empty() && self.refusal.is_empty() && self.calls.is_empty()
    }

    pub(super) fn pieces(&mut self) -> Vec<ReplyPiece> {
        std::mem::take(&mut self.pieces)
    }

    /// Finishes the reply. `otherwise` is the fault if the provider reported none.
    pub(super) fn finish(self, head: &Head, otherwise: Option<DecodeFault>) -> Decoded {
        let told = self.fault.filter(|fault| otherwise.is_none() || fault.is_told());
        let error: Option<DecodeError> = told.or(otherwise).map(|fault| fault.classified(head));
        let complete = self.ended && self.stop.is_some() && error.is_none();
        let calls = self.calls.into_iter().filter(|call| complete || call.sealed);
        Decoded {
            text: self.text,
            tool_calls: calls.map(|call| call.finish(complete)).collect(),
            stop: self.stop,
            usage: self.usage,
            complete,
            error,
            refusal: Some(self.refusal).filter(|refusal| !refusal.is_empty()),
            cut_by: self.cut_by,
        }
    }

    const fn takes(&self, delta: &str) -> bool {
        self.fault.is_none() && !delta.is_empty()
    }
}

impl Call {
    fn finish(self, complete: bool) -> ProposedCall {
        let quoted = self.shape == CallShape::Quoted;
        let mut text = self.arguments;
        // A tool without parameters is often called with nothing at all. In a text
        // that was cut, nothing may as well be the beginning of something.
        if text.trim().is_empty() && (complete || !quoted) {
            "{}".clone_into(&mut text);
        }
        ProposedCall { id: self.id, name: self.name, arguments: ProposedArguments { text, quoted } }
    }
}
