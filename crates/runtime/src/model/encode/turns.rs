//! A conversation in the order that every provider takes: people and model in turn,
//! every call answered once, right after it was made.

use std::collections::{BTreeMap, BTreeSet};

use pointsman_kernel::{
    agent::{ToolCall, ToolResult},
    prompt::PromptMessage,
};
use serde_json::Value;

use super::ToolNames;

/// The text for a person's turn without a message.
const GO_ON: &str = "Go on.";

/// What a call without a result is answered with: providers refuse open calls.
const NOT_DONE: &str = "This call was not carried out.";

/// The longest id of a call that every provider takes.
const LONGEST_ID: usize = 40;

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EncodedTurn {
    /// A person's, or the host's.
    User(String),
    /// The model's.
    Model { text: String, calls: Vec<TurnCall> },
    /// The results of all calls of the turn before, in the same order.
    Results(Vec<Outcome>),
}

/// A call, as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) ok: bool,
    pub(super) output: String,
}

impl Outcome {
    /// Returns the output for protocols that cannot mark a failure.
    pub(super) fn told(&self) -> String {
        if self.ok { self.output.clone() } else { format!("The call failed: {}", self.output) }
    }
}

/// Orders a conversation. Without native calls, calls and results become text.
pub(super) fn of(messages: &[PromptMessage], native: bool, names: &ToolNames) -> Vec<EncodedTurn> {
    let mut order = TurnOrder { turns: Vec::new(), taken: BTreeSet::new(), tools: BTreeMap::new() };
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            PromptMessage::Assistant { text, calls } if native && !calls.is_empty() => {
                let count = rest
                    .iter()
                    .take_while(|next| matches!(next, PromptMessage::Tool { .. }))
                    .count();
                let (results, after) = rest.split_at(count);
                rest = after;
                order.calls(text, calls, results, names);
            }
            PromptMessage::Assistant { text, calls } => {
                for call in calls {
                    order.tools.insert(&call.id, &call.tool);
                }
                let told = calls
                    .iter()
                    .map(|call| format!("Call: {} {}", call.tool, call.arguments.get()));
                let told: Vec<String> = std::iter::once(text.trim().to_owned())
                    .chain(told)
                    .filter(|line| !line.is_empty())
                    .collect();
                order.model(&told.join("\n"), Vec::new());
            }
            PromptMessage::Tool { id, result } => order.told(id, result),
            PromptMessage::User(text) => order.user(text),
            // A kind of message that this build does not know says nothing.
            _ => {}
        }
    }
    order.finish()
}

struct TurnOrder<'m> {
    turns: Vec<EncodedTurn>,
    /// Ids that were sent: no two calls of a conversation may share one.
    taken: BTreeSet<String>,
    /// The tools of earlier calls, by id.
    tools: BTreeMap<&'m str, &'m str>,
}

impl<'m> TurnOrder<'m> {
    fn user(&mut self, text: &str) {
        let text = text.trim();
        match self.turns.last_mut() {
            _ if text.is_empty() => {}
            Some(EncodedTurn::User(said)) => *said = format!("{said}\n\n{text}"),
            _ => self.turns.push(EncodedTurn::User(text.to_owned())),
        }
    }

    fn model(&mut self, text: &str, calls: Vec<TurnCall>) {
        let text = text.trim();
        match self.turns.last_mut() {
            _ if text.is_empty() && calls.is_empty() => {}
            Some(EncodedTurn::Model { text: said, calls: made }) if made.is_empty() => {
                let joined = [said.as_str(), text].join("\n\n");
                joined.trim().clone_into(said);
                *made = calls;
            }
            _ => self.turns.push(EncodedTurn::Model { text: text.to_owned(), calls }),
        }
    }

    /// Tells a result in words.
    fn told(&mut self, id: &'m str, result: &ToolResult) {
        let tool = self.tools.get(id).copied().unwrap_or("an earlier call");
        let words = if result.ok { "Result of" } else { "Failure of" };
        self.user(&format!("{words} {tool}:\n{}", output(result)));
    }

    /// Takes calls with the results that follow them.
    fn calls(
        &mut self,
        text: &str,
        calls: &'m [ToolCall],
        results: &'m [PromptMessage],
        names: &ToolNames,
    ) {
        let mut open: Vec<(&str, &ToolResult)> = results
            .iter()
            .filter_map(|message| match message {
                PromptMessage::Tool { id, result } => Some((id.as_str(), result)),
                _ => None,
            })
            .collect();
        let mut made = Vec::new();
        let mut outcomes = Vec::new();
        for call in calls {
            let id = self.id(&call.id);
            let name = names.sent(&call.tool).to_owned();
            let arguments = serde_json::from_str(call.arguments.get()).unwrap_or_default();
            made.push(TurnCall { id: id.clone(), name: name.clone(), arguments });
            let found = open.iter().position(|(of, _)| *of == call.id);
            let result = found.map(|at| open.remove(at).1);
            let ok = result.is_some_and(|result| result.ok);
            let output = result.map_or_else(|| NOT_DONE.to_owned(), output);
            outcomes.push(Outcome { id, name, ok, output });
        }
        self.model(text, made);
        self.turns.push(EncodedTurn::Results(outcomes));
        for (id, result) in open {
            self.told(id, result);
        }
    }

    /// Returns an id that every provider takes, and that no other call has.
    fn id(&mut self, id: &str) -> String {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fits = !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(allowed);
        if fits && self.taken.insert(id.to_owned()) {
            return id.to_owned();
        }
        let mut number = self.taken.len();
        loop {
            let made = format!("call_{number}");
            if self.taken.insert(made.clone()) {
                return made;
            }
            number = number.saturating_add(1);
        }
    }

    fn finish(mut self) -> Vec<EncodedTurn> {
        if !matches!(self.turns.first(), Some(EncodedTurn::User(_))) {
            self.turns.insert(0, EncodedTurn::User(GO_ON.to_owned()));
        }
        if matches!(self.turns.last(), Some(EncodedTurn::Model { .. })) {
            self.turns.push(EncodedTurn::User(GO_ON.to_owned()));
        }
        self.turns
    }
}

fn output(result: &ToolResult) -> String {
    let output = result.output.trim_end();
    if output.trim().is_empty() { "(no output)".to_owned() } else { output.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn call(id: &str) -> ToolCall {
        let arguments = RawValue::from_string("{}".into()).expect("the text is valid JSON");
        ToolCall { id: id.into(), tool: "look".into(), arguments }
    }

    fn result(id: &str, output: &str) -> PromptMessage {
        let result = ToolResult { ok: true, output: output.into(), mutated: false };
        PromptMessage::Tool { id: id.into(), result }
    }

    fn ordered(messages: &[PromptMessage], native: bool) -> Vec<EncodedTurn> {
        of(messages, native, &ToolNames::default())
    }

    #[test]
    fn nothing_said_is_still_a_turn() {
        assert_eq!(ordered(&[], true), [EncodedTurn::User(GO_ON.into())]);
        let blank = [
            PromptMessage::User(" ".into()),
            PromptMessage::Assistant { text: String::new(), calls: vec![] },
        ];
        assert_eq!(ordered(&blank, true), [EncodedTurn::User(GO_ON.into())]);
    }

    #[test]
    fn open_repeated_and_orphaned_calls_are_settled() {
        let messages = [
            PromptMessage::User("a".into()),
            PromptMessage::Assistant {
                text: String::new(),
                calls: vec![call("x"), call("x"), call("y")],
            },
            result("y", "1"),
            result("z", "2"),
            result("x", ""),
        ];
        let turns = ordered(&messages, true);
        let [
            EncodedTurn::User(_),
            EncodedTurn::Model { calls, .. },
            EncodedTurn::Results(results),
            EncodedTurn::User(told),
        ] = turns.as_slice()
        else {
            panic!("{turns:?}")
        };
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["x", "call_1", "y"]);
        let outputs: Vec<&str> = results.iter().map(|result| result.output.as_str()).collect();
        assert_eq!(outputs, ["(no output)", NOT_DONE, "1"]);
        assert!(calls.iter().zip(results).all(|(call, result)| call.id == result.id));
        assert_eq!(told, "Result of an earlier call:\n2");
    }

    #[test]
    fn without_native_calls_turns_become_text() {
        let messages = [
            PromptMessage::Assistant { text: "I look.".into(), calls: vec![call("x")] },
            result("x", "found"),
            PromptMessage::User("and?".into()),
            PromptMessage::Assistant { text: "one".into(), calls: vec![] },
            PromptMessage::Assistant { text: "two".into(), calls: vec![] },
        ];
        let model = |text: &str| EncodedTurn::Model { text: text.into(), calls: vec![] };
        assert_eq!(
            ordered(&messages, false),
            [
                EncodedTurn::User(GO_ON.into()),
                model("I look.\nCall: look {}"),
                EncodedTurn::User("Result of look:\nfound\n\nand?".into()),
                model("one\n\ntwo"),
                EncodedTurn::User(GO_ON.into()),
            ]
        );
    }
}
