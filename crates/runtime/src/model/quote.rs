//! `quote`: an answerer without a model. It quotes the passages that were found.
//!
//! It makes the first command work with nothing installed, and says what it is.

use pointsman_kernel::prompt::{Message, Prompt};
use serde_json::json;

use crate::tool::fts::words;

/// Passages that an answer quotes.
const QUOTED: usize = 5;

/// Answers a prompt by quoting from the results in it.
pub fn answer(prompt: &Prompt) -> String {
    let passages = best(prompt);
    if prompt.schema.is_none() {
        return match passages.len() {
            0 => "Nothing that was found speaks of the question.".into(),
            1 => "One passage speaks of the question.".into(),
            count => format!("{count} passages speak of the question."),
        };
    }
    let answer = if passages.is_empty() {
        "No passage in these documents matches the question.".to_owned()
    } else {
        let quotes: Vec<String> = passages.iter().map(|passage| format!("- {passage}")).collect();
        format!("These passages match best:\n\n{}", quotes.join("\n"))
    };
    let note = "(Quoted by the built-in answerer; no model was asked.)";
    json!({ "action": "finish", "final": format!("{answer}\n\n{note}") }).to_string()
}

/// Returns the passages that share a word with the question, in the search's order.
fn best(prompt: &Prompt) -> Vec<&str> {
    let question = prompt.messages.iter().find_map(|message| match message {
        Message::User(text) => Some(words(text)),
        _ => None,
    });
    let question = question.unwrap_or_default();
    let mut found: Vec<&str> = Vec::new();
    let lines = prompt
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { result, .. } if result.ok => Some(result.output.lines()),
            _ => None,
        })
        .flatten()
        .filter(|line| {
            // "No passage matches" and the mark of a cut are no passages.
            if !has_place(line) {
                return false;
            }
            let text = line.to_lowercase();
            question.iter().any(|word| text.contains(word.as_str()))
        });
    for line in lines {
        if found.len() < QUOTED && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

/// Returns whether a line says where it stands, as `file:line: text`.
fn has_place(line: &str) -> bool {
    let mut parts = line.split(':').skip(1);
    parts.any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::agent::ToolResult;

    use super::*;

    #[test]
    fn only_passages_are_quoted() {
        let output = "a.md:3: A passage that matches.\nno passage matches\n[the rest is not shown]";
        let result = ToolResult { ok: true, output: output.into(), mutated: false };
        let messages = vec![
            Message::User("Which passage matches, and which is not shown?".into()),
            Message::Tool { id: "call-1".into(), result },
        ];
        let prompt = Prompt { messages, schema: Some(json!({})), ..Prompt::default() };
        assert_eq!(best(&prompt), ["a.md:3: A passage that matches."]);
        assert!(answer(&prompt).contains("finish"));
    }
}
