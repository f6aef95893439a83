//! What models were shown: a conversation that every provider would take.

use std::sync::Arc;

use pointsman_kernel::prompt::PromptMessage;

/// Returns everything that is wrong with a prompt as the store kept it: the system's
/// part, the messages, and the tools. Each call has its one result, right after the
/// message that made it and in the same order, and nothing else is a result.
pub(crate) fn complaints(parts: &[Arc<str>]) -> Vec<String> {
    let messages = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let mut wrong = Vec::new();
    // The calls that have no result yet, the last one first.
    let mut open: Vec<String> = Vec::new();
    for (at, part) in messages.iter().enumerate() {
        match serde_json::from_str(part) {
            Ok(PromptMessage::Tool { id, .. }) => match open.pop() {
                Some(wanted) if wanted == id => {}
                wanted => wrong.push(format!("message {at} answers `{id}`, and not {wanted:?}")),
            },
            Ok(message) => {
                for id in open.drain(..) {
                    wrong.push(format!("message {at} comes before the result of `{id}`"));
                }
                if let PromptMessage::Assistant { text, calls } = message {
                    if text.trim().is_empty() && calls.is_empty() {
                        wrong.push(format!("message {at} says nothing"));
                    }
                    open.extend(calls.into_iter().rev().map(|call| call.id));
                }
            }
            Err(error) => wrong.push(format!("message {at} cannot be read: {error}")),
        }
    }
    wrong.extend(open.iter().map(|id| format!("`{id}` has no result at the end")));
    if messages.is_empty() {
        wrong.push("a prompt without a message".into());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::agent::{ToolCall, ToolResult};
    use serde_json::value::RawValue;

    use super::*;

    fn calls(ids: &[&str]) -> PromptMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            tool: "read".into(),
            arguments: RawValue::from_string("{}".into()).expect("text is valid JSON"),
        };
        PromptMessage::Assistant { text: String::new(), calls: ids.iter().map(call).collect() }
    }

    fn result(id: &str) -> PromptMessage {
        let result = ToolResult { ok: true, output: "text".into(), mutated: false };
        PromptMessage::Tool { id: id.into(), result }
    }

    #[track_caller]
    fn check(messages: &[PromptMessage], words: &str) {
        let json =
            |message| serde_json::to_string(message).expect("value serialises to JSON").into();
        let end = || Arc::from("{}");
        let parts: Vec<Arc<str>> =
            [end()].into_iter().chain(messages.iter().map(json)).chain([end()]).collect();
        assert_eq!(complaints(&parts).join("; "), words);
    }

    #[test]
    fn results_follow_their_calls() {
        let user = || PromptMessage::User("hello".into());
        check(&[user(), calls(&["a", "b"]), result("a"), result("b"), user()], "");
        check(&[], "a prompt without a message");
        check(&[user(), calls(&["a"])], "`a` has no result at the end");
        check(&[calls(&["a"]), user()], "message 1 comes before the result of `a`");
        check(&[user(), result("a")], "message 1 answers `a`, and not None");
        check(&[calls(&[])], "message 0 says nothing");
    }
}
