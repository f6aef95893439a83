//! A conversation in which every tool call is beside its result.
//!
//! The results are kept with the calls, so they are in request order whatever the
//! order in which they came, and no call can lose its place.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, FaultClass, Reply, ToolCall, ToolResult},
    json::canonical_body,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::answer;

/// Calls that one reply may make; a reply with more is cut.
pub const MAX_CALLS: usize = 256;
/// Bytes of a tool's output that are kept.
pub const MAX_OUTPUT: usize = 64 * 1024;

/// How the result of a call begins that came to nothing.
pub const NOT_DONE: &str = "not done: ";

/// A conversation, the oldest message first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(from = "Vec<TranscriptMessage>")]
pub struct Transcript {
    messages: Vec<TranscriptMessage>,
    /// The bytes of all messages: every step asks for them, and a conversation can be long.
    size: usize,
}

impl From<Vec<TranscriptMessage>> for Transcript {
    fn from(messages: Vec<TranscriptMessage>) -> Self {
        Self { size: total(&messages), messages }
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages.serialize(serializer)
    }
}

/// One message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TranscriptMessage {
    /// A person's words, unchanged.
    User {
        /// The words.
        text: String,
    },
    /// The host's words to the model: a phase, advice, a refusal.
    Note {
        /// The words.
        text: String,
    },
    /// What stood here before, in short: the conversation had grown too long.
    Summary {
        /// The words.
        text: String,
    },
    /// A model's reply.
    Assistant {
        /// Its text.
        text: String,
        /// Its calls, in the order in which it made them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallRecord>,
    },
}

/// A call and, once it is known, its result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CallRecord {
    /// What was proposed.
    pub call: ToolCall,
    /// Its result; a call without effect has a result that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
}

impl Transcript {
    /// Returns every message, the oldest first.
    pub fn messages(&self) -> &[TranscriptMessage] {
        &self.messages
    }

    /// Adds a person's message.
    pub fn say(&mut self, text: String) {
        self.seal();
        self.push(TranscriptMessage::User { text });
    }

    /// Adds a word of the host.
    pub fn note(&mut self, text: String) {
        self.push(TranscriptMessage::Note { text });
    }

    /// Adds a model's reply.
    pub fn reply(&mut self, reply: Reply) {
        self.seal();
        let mut calls: Vec<CallRecord> = Vec::new();
        for mut call in reply.calls.into_iter().take(MAX_CALLS) {
            tidy(&mut call, &calls);
            calls.push(CallRecord { call, result: None });
        }
        self.push(TranscriptMessage::Assistant { text: reply.text, calls });
    }

    fn push(&mut self, message: TranscriptMessage) {
        self.size = self.size.saturating_add(message.size());
        self.messages.push(message);
    }

    /// Returns the last reply's text.
    pub fn last_text(&self) -> &str {
        let text = self.messages.iter().rev().find_map(|message| match message {
            TranscriptMessage::Assistant { text, .. } => Some(text.as_str()),
            TranscriptMessage::User { .. }
            | TranscriptMessage::Note { .. }
            | TranscriptMessage::Summary { .. } => None,
        });
        text.unwrap_or_default()
    }

    /// Returns the last reply's calls.
    pub fn calls(&self) -> &[CallRecord] {
        let calls = self.messages.iter().rev().find_map(|message| match message {
            TranscriptMessage::Assistant { calls, .. } => Some(calls.as_slice()),
            TranscriptMessage::User { .. }
            | TranscriptMessage::Note { .. }
            | TranscriptMessage::Summary { .. } => None,
        });
        calls.unwrap_or_default()
    }

    /// Returns one of the last reply's calls, or a call of nothing.
    pub fn call(&self, at: u16) -> ToolCall {
        self.calls().get(usize::from(at)).map_or_else(no_call, |called| called.call.clone())
    }

    /// Records the result of one of the last reply's calls. The first one counts.
    pub fn record(&mut self, at: u16, result: ToolResult) {
        if let Some(called) = self.last_calls().get_mut(usize::from(at))
            && called.result.is_none()
        {
            let result = cut(result);
            let more = result.output.len();
            called.result = Some(result);
            self.size = self.size.saturating_add(more);
        }
    }

    /// Gives a result to every call that has none.
    pub fn seal(&mut self) {
        let mut more = 0_usize;
        for called in self.last_calls().iter_mut().filter(|called| called.result.is_none()) {
            let result = not_done();
            more = more.saturating_add(result.output.len());
            called.result = Some(result);
        }
        self.size = self.size.saturating_add(more);
    }

    /// Returns what the person said last, and where it stands.
    pub(crate) fn last_asked(&self) -> Option<(usize, &str)> {
        self.messages.iter().enumerate().rev().find_map(|(place, message)| match message {
            TranscriptMessage::User { text } => Some((place, text.as_str())),
            TranscriptMessage::Note { .. }
            | TranscriptMessage::Summary { .. }
            | TranscriptMessage::Assistant { .. } => None,
        })
    }

    /// Returns the bytes of every message.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Puts other messages in the place of the oldest ones. A reply goes with its results.
    pub(crate) fn replace_first(&mut self, count: usize, with: Vec<TranscriptMessage>) {
        self.messages.splice(..count.min(self.messages.len()), with);
        self.size = total(&self.messages);
    }

    /// Lets every output be changed.
    pub(crate) fn each_output(&mut self, mut change: impl FnMut(&mut String)) {
        for message in &mut self.messages {
            if let TranscriptMessage::Assistant { calls, .. } = message {
                let results = calls.iter_mut().filter_map(|called| called.result.as_mut());
                results.for_each(|result| change(&mut result.output));
            }
        }
        self.size = total(&self.messages);
    }

    fn last_calls(&mut self) -> &mut [CallRecord] {
        let calls = self.messages.iter_mut().rev().find_map(|message| match message {
            TranscriptMessage::Assistant { calls, .. } => Some(calls.as_mut_slice()),
            TranscriptMessage::User { .. }
            | TranscriptMessage::Note { .. }
            | TranscriptMessage::Summary { .. } => None,
        });
        calls.unwrap_or_default()
    }
}

fn total(messages: &[TranscriptMessage]) -> usize {
    messages.iter().map(TranscriptMessage::size).fold(0, usize::saturating_add)
}

impl TranscriptMessage {
    /// Returns the results of a reply's calls.
    pub(crate) fn results(&self) -> impl Iterator<Item = &ToolResult> {
        let calls = match self {
            Self::Assistant { calls, .. } => calls.as_slice(),
            Self::User { .. } | Self::Note { .. } | Self::Summary { .. } => &[],
        };
        calls.iter().filter_map(|called| called.result.as_ref())
    }

    /// Returns the bytes of a message, with its calls and their results.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::User { text } | Self::Note { text } | Self::Summary { text } => text.len(),
            Self::Assistant { text, calls } => calls.iter().fold(text.len(), |sum, called| {
                let call = &called.call;
                let output = called.result.as_ref().map_or(0, |result| result.output.len());
                let parts = [call.id.len(), call.tool.len(), call.arguments.get().len(), output];
                parts.into_iter().fold(sum, usize::saturating_add)
            }),
        }
    }
}

/// Returns the result of a call that was not got round to.
pub(crate) fn not_done() -> ToolResult {
    let output = format!("{NOT_DONE}the turn ended first");
    ToolResult { ok: false, output, mutated: false }
}

/// Returns the result of a call that no answer settled.
pub fn forgone(why: &Abandoned) -> ToolResult {
    let output = format!("{NOT_DONE}{}", answer::reason(why));
    ToolResult { ok: false, output, mutated: may_have_mutated(why) }
}

/// Returns whether a call may have run, in part, before it came to nothing.
const fn may_have_mutated(why: &Abandoned) -> bool {
    match why {
        Abandoned::TimedOut { .. } => true,
        // These say that the call was rejected before it ran.
        Abandoned::Failed(fault) => !matches!(
            fault.class,
            FaultClass::Forbidden
                | FaultClass::Invalid
                | FaultClass::Limit
                | FaultClass::Contract
                | FaultClass::RateLimited
        ),
        Abandoned::Denied { .. }
        | Abandoned::Stuck { .. }
        | Abandoned::Budget
        | Abandoned::Cancelled
        | _ => false,
    }
}

/// Gives a call one spelling, and an id that no call before it has.
fn tidy(call: &mut ToolCall, before: &[CallRecord]) {
    if let Ok(arguments) = canonical_body(&call.arguments) {
        call.arguments = arguments;
    }
    let taken = |id: &str| id.is_empty() || before.iter().any(|called| called.call.id == id);
    if taken(&call.id) {
        // As many numbers as calls and one more: one of them is free.
        let free = (0..=before.len()).map(|n| format!("{}#{n}", call.id)).find(|id| !taken(id));
        call.id = free.unwrap_or_default();
    }
}

fn cut(mut result: ToolResult) -> ToolResult {
    if result.output.len() > MAX_OUTPUT {
        let end = result.output.floor_char_boundary(MAX_OUTPUT);
        result.output.truncate(end);
        result.output.push_str("\n[cut]");
    }
    result
}

pub(crate) fn no_call() -> ToolCall {
    ToolCall { id: String::new(), tool: String::new(), arguments: RawValue::NULL.to_owned() }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;
    use crate::testing::raw;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), tool: "t".into(), arguments: raw(&json!({"b": 1, "a": 2})) }
    }

    #[test]
    fn ids_are_made_unique_and_arguments_canonical() {
        let mut transcript = Transcript::default();
        let calls = vec![call("x"), call("x"), call(""), call("x#0"), call("")];
        transcript.reply(Reply { text: String::new(), calls });
        let ids: Vec<_> = transcript.calls().iter().map(|it| it.call.id.as_str()).collect();
        assert_eq!(ids, ["x", "x#0", "#0", "x#0#0", "#1"]);
        assert_eq!(transcript.calls()[0].call.arguments.get(), r#"{"a":2,"b":1}"#);
    }

    #[test]
    fn first_result_counts_and_outputs_are_cut() {
        let mut transcript = Transcript::default();
        transcript.reply(Reply { text: String::new(), calls: vec![call("x"), call("y")] });
        let long = ToolResult { ok: true, output: "é".repeat(MAX_OUTPUT), mutated: false };
        transcript.record(0, long);
        transcript.record(0, ToolResult::default());
        transcript.record(9, ToolResult::default());
        transcript.say("next".into());
        let [TranscriptMessage::Assistant { calls, .. }, TranscriptMessage::User { .. }] =
            transcript.messages()
        else {
            panic!("two messages");
        };
        let first = calls[0].result.as_ref().unwrap();
        assert!(first.ok && first.output.len() < MAX_OUTPUT + 10);
        assert!(!calls[1].result.as_ref().unwrap().ok, "a call without a result was sealed");
    }

    #[test]
    fn the_size_is_that_of_all_messages() {
        let mut transcript = Transcript::default();
        let mut sizes = vec![0];
        let mut look = |transcript: &Transcript| {
            assert_eq!(transcript.size(), total(transcript.messages()));
            sizes.push(transcript.size());
        };
        transcript.say("a question".into());
        look(&transcript);
        transcript.reply(Reply { text: "two".into(), calls: vec![call("x"), call("y")] });
        look(&transcript);
        let result = |output: &str| ToolResult { ok: true, output: output.into(), mutated: false };
        transcript.record(1, result("an output"));
        look(&transcript);
        let before = transcript.size();
        transcript.record(1, result("another one, too late"));
        assert_eq!(transcript.size(), before);
        transcript.note("a word of the host".into());
        look(&transcript);
        transcript.say("next".into());
        look(&transcript);
        transcript.each_output(|output| output.truncate(2));
        assert_eq!(transcript.size(), total(transcript.messages()));
        let text = serde_json::to_string(&transcript).expect("it is written");
        let read: Transcript = serde_json::from_str(&text).expect("it is read");
        assert_eq!(read, transcript);
        transcript.replace_first(2, vec![TranscriptMessage::Summary { text: "all".into() }]);
        assert_eq!(transcript.size(), total(transcript.messages()));
        assert!(sizes.is_sorted_by(|one, next| one < next), "{sizes:?}");
    }
}
