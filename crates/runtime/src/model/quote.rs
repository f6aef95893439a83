//! `quote`: an answerer without a model. It quotes the passages that were found.
//!
//! It makes the first command work with nothing installed, and says what it is.

use pointsman_agents::research::SEARCH;
use pointsman_kernel::{
    agent::{Reply, ToolCall},
    prompt::{Prompt, PromptMessage},
};
use serde_json::{Value, json, value::to_raw_value};

use crate::tool::fts::QueryWords;

/// Passages that an answer quotes.
const QUOTED: usize = 5;

/// Why it has no answer where nothing was searched.
const UNSEARCHED: &str = "nothing was searched, and `quote` only quotes what a search found: name \
                          a model with --model";
/// What it says about itself.
const NOTE: &str = "(Quoted by the built-in answerer; no model was asked.)";

/// Answers a prompt, or says why there is nothing to quote. In a conversation it asks for
/// a search first; elsewhere it is given what was found.
pub(super) fn reply(prompt: &Prompt) -> Result<Reply, String> {
    let talks = prompt.schema.is_none() && prompt.tools.iter().any(|tool| **tool == *SEARCH);
    if talks { Ok(talk(prompt)) } else { answer(prompt).map(said) }
}

fn talk(prompt: &Prompt) -> Reply {
    let lately = |message: &&PromptMessage| matches!(message, PromptMessage::User(_));
    let spoken = prompt.messages.iter().rev().take_while(lately).count();
    let (before, asked) = prompt.messages.split_at(prompt.messages.len().saturating_sub(spoken));
    if let Some(PromptMessage::Tool { .. }) = before.last() {
        return said(quoted(before));
    }
    // What follows a question is the host's; what comes before the first one is, too.
    let question = if before.is_empty() { asked.last() } else { asked.first() };
    let Some(PromptMessage::User(question)) = question else { return said(quoted(&[])) };
    let Ok(arguments) = to_raw_value(&json!({ "query": question })) else {
        return said(quoted(&[]));
    };
    let call = ToolCall { id: "quote_1".into(), tool: SEARCH.into(), arguments };
    Reply { text: String::new(), calls: vec![call] }
}

fn said(text: String) -> Reply {
    Reply { text, calls: Vec::new() }
}

/// Quotes what the last search of a conversation found.
fn quoted(messages: &[PromptMessage]) -> String {
    let last = messages.iter().rposition(|it| matches!(it, PromptMessage::Assistant { .. }));
    let found = messages.get(last.unwrap_or(0)..).unwrap_or_default();
    let query = found.iter().find_map(|message| match message {
        PromptMessage::Assistant { calls, .. } => {
            let arguments: Value = serde_json::from_str(calls.first()?.arguments.get()).ok()?;
            Some(QueryWords::of(arguments.get("query")?.as_str()?))
        }
        _ => None,
    });
    let passages = passages(found, &query.unwrap_or_else(|| QueryWords::of("")));
    let text = match searched(found) {
        Some(Err(why)) => format!("Nothing was searched: {why}"),
        _ if passages.is_empty() => "No passage in these documents matches the question.".into(),
        _ => listed(&passages),
    };
    format!("{text}\n\n{NOTE}")
}

/// Answers a prompt by quoting from the results in it. If nothing was searched or found, that is
/// an error, so that a run does not take it for an answer.
fn answer(prompt: &Prompt) -> Result<String, String> {
    match searched(&prompt.messages) {
        None => return Err(UNSEARCHED.into()),
        Some(Err(why)) if prompt.schema.is_some() => {
            return Err(format!("nothing was searched: {why}"));
        }
        Some(_) => {}
    }
    let passages = best(prompt);
    if prompt.schema.is_none() {
        return Ok(match passages.len() {
            0 => "No relevant passage was found.".into(),
            1 => "One passage is relevant.".into(),
            count => format!("{count} passages are relevant."),
        });
    }
    if passages.is_empty() {
        return Err(
            "not found: no passage in these documents has the words of the question; no model was \
             asked"
                .into(),
        );
    }
    let text = format!("{}\n\n{NOTE}", listed(&passages));
    Ok(json!({ "action": "finish", "final": text }).to_string())
}

/// Returns whether there are results, and, where none of them is one, why the last is not.
fn searched(messages: &[PromptMessage]) -> Option<Result<(), &str>> {
    let results = messages.iter().rev().filter_map(|message| match message {
        PromptMessage::Tool { result, .. } => Some(result),
        _ => None,
    });
    let mut results = results.peekable();
    let last = *results.peek()?;
    let why = last.output.lines().next().unwrap_or_default();
    Some(if results.any(|result| result.ok) { Ok(()) } else { Err(why) })
}

fn listed(passages: &[&str]) -> String {
    let quotes: Vec<String> = passages.iter().map(|passage| format!("- {passage}")).collect();
    format!("These passages match best:\n\n{}", quotes.join("\n"))
}

/// Returns the passages that match the question, in the search's order.
fn best(prompt: &Prompt) -> Vec<&str> {
    let question = prompt.messages.iter().find_map(|message| match message {
        PromptMessage::User(text) => Some(QueryWords::of(text)),
        _ => None,
    });
    passages(&prompt.messages, &question.unwrap_or_else(|| QueryWords::of("")))
}

/// Returns the passages in some results that have enough of these words: one with less than
/// half as many as the best is about something else.
fn passages<'a>(messages: &'a [PromptMessage], question: &QueryWords) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for message in messages {
        let PromptMessage::Tool { result, .. } = message else { continue };
        // "No passage matches" and the mark of a cut are not passages.
        for line in result.output.lines().filter(|line| result.ok && has_place(line)) {
            if !found.iter().any(|(_, known)| *known == line) {
                found.push((question.covered(line).unwrap_or(0), line));
            }
        }
    }
    let most = found.iter().map(|(count, _)| *count).max().unwrap_or(0);
    found.retain(|(count, _)| *count > 0 && count * 2 >= most);
    found.into_iter().take(QUOTED).map(|(_, line)| line).collect()
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
            PromptMessage::User("Which passage matches, and which is not shown?".into()),
            PromptMessage::Tool { id: "call-1".into(), result },
        ];
        let prompt = Prompt { messages, schema: Some(json!({})), ..Prompt::default() };
        assert_eq!(best(&prompt), ["a.md:3: A passage that matches."]);
        assert!(answer(&prompt).expect("it is found").contains("finish"));
    }

    #[test]
    fn a_passage_with_few_of_the_words_is_left_out() {
        let output = "a.md:1: The gate shuts before trains pass.\nb.md:1: After trains.\n\
                      c.md:1: Trains shut a gate out.\na.md:1: The gate shuts before trains pass.";
        let result = ToolResult { ok: true, output: output.into(), mutated: false };
        let messages = [PromptMessage::Tool { id: "call-1".into(), result }];
        let found = |question: &str| passages(&messages, &QueryWords::of(question));
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(found("Does a gate shut if trains pass?"), [lines[0], lines[2]]);
        assert_eq!(found("What of trains?"), lines[..3]);
        assert!(found("Who sets points?").is_empty());
    }

    #[test]
    fn unrelated_passages_are_not_an_answer() {
        let body = "builtins.rst:9: bytes.capitalize() returns a copy with its first byte capital.\n\
                    curses.rst:3: A_PROTECT: protected mode";
        for question in ["What is the capital of Mongolia?", "What does the GIL protect?"] {
            let result = ToolResult { ok: true, output: body.into(), mutated: false };
            let messages = vec![
                PromptMessage::User(question.into()),
                PromptMessage::Tool { id: "call-1".into(), result },
            ];
            let prompt = Prompt { messages, schema: Some(json!({})), ..Prompt::default() };
            assert!(answer(&prompt).expect_err("it is not found").contains("not found"));
        }
    }

    #[test]
    fn nothing_searched_or_found_is_not_an_answer() {
        let asked = |results: &[(bool, &str)], schema: bool| {
            let mut messages = vec![PromptMessage::User("Who sets the points?".into())];
            messages.extend(results.iter().map(|(ok, output)| PromptMessage::Tool {
                id: "call-1".into(),
                result: ToolResult { ok: *ok, output: (*output).into(), mutated: false },
            }));
            let schema = schema.then(|| json!({}));
            reply(&Prompt { messages, schema, ..Prompt::default() }).map(|reply| reply.text)
        };
        let why = |results: &[(bool, &str)]| asked(results, true).expect_err("it is no answer");
        assert!(why(&[]).contains("nothing was searched") && asked(&[], false).is_err());
        assert_eq!(
            why(&[(false, "the index is gone\nx")]),
            "nothing was searched: the index is gone"
        );
        assert!(why(&[(true, "no passage matches")]).contains("not found: no passage in these"));
        assert!(why(&[(true, "no passage matches"), (false, "x")]).contains("no passage in these"));
        // An analysis only says what there is.
        assert!(asked(&[(true, "no passage matches")], false).is_ok());
    }

    #[test]
    fn in_a_conversation_it_searches_and_then_quotes() {
        let mut messages = vec![PromptMessage::User("AGENTS.md says this".into())];
        messages.push(PromptMessage::User("Who sets the points?".into()));
        let tools = vec![Box::from(SEARCH)];
        let mut prompt = Prompt { messages, tools, ..Prompt::default() };
        let Reply { calls, .. } = reply(&prompt).expect("it searches");
        assert_eq!(calls[0].arguments.get(), r#"{"query":"Who sets the points?"}"#);
        prompt.messages.push(PromptMessage::Assistant { text: String::new(), calls });
        let output = "a.md:3: The pointsman sets the points.\nb.md:1: Nothing.".into();
        let result = ToolResult { ok: true, output, mutated: false };
        prompt.messages.push(PromptMessage::Tool { id: "quote_1".into(), result });
        prompt.messages.push(PromptMessage::User("advice".into()));
        let Reply { text, calls } = reply(&prompt).expect("it quotes");
        assert!(calls.is_empty() && text.contains("a.md:3") && !text.contains("b.md"), "{text}");
        assert!(text.contains("no model was asked"));
    }
}
