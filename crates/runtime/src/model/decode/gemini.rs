//! `generateContent`, as Gemini answers and streams it.
//!
//! Every event is a whole small answer. The end is a candidate's `finishReason`; no
//! other marker exists, and usage may still follow it.

use super::{
    error::ErrorClass,
    fault::DecodeFault,
    gather::{CallShape, Gather},
    json::JsonNode,
    reply::TokenUsage,
};

/// Reads an event or a plain body. Returns whether it is valid.
pub(super) fn answer(node: JsonNode<'_>, gather: &mut Gather) -> bool {
    let candidates = node.items_of("candidates");
    for candidate in candidates.iter().copied().filter(first) {
        if let Some(content) = candidate.field("content") {
            content.items_of("parts").into_iter().for_each(|said| part(said, gather));
        }
        if let Some(word) = candidate.word_of("finishReason") {
            gather.stop(word);
            gather.end();
        }
    }
    let counted = node.field("usageMetadata");
    if let Some(counted) = counted {
        usage(counted, gather);
    }
    let blocked = node.field("promptFeedback").and_then(|given| given.word_of("blockReason"));
    if let Some(reason) = &blocked {
        let message = format!("the provider blocked the prompt: {reason}");
        gather.fail(DecodeFault::found(ErrorClass::ContentFilter, reason, message));
    }
    blocked.is_some() || counted.is_some() || !candidates.is_empty()
}

/// Only the first of several alternatives is read.
fn first(candidate: &JsonNode<'_>) -> bool {
    candidate.number_of("index").unwrap_or(0) == 0
}

fn part(said: JsonNode<'_>, gather: &mut Gather) {
    let text = said.text_of("text").unwrap_or_default();
    if said.field("thought").is_some_and(|thought| thought.raw() == "true") {
        gather.reasoning(&text);
    } else {
        gather.text(&text);
    }
    if let Some(call) = said.field("functionCall") {
        let name = call.word_of("name").unwrap_or_default();
        let place = gather.call(0, call.word_of("id"), name, CallShape::Value);
        if let (Some(place), Some(arguments)) = (place, call.field("args")) {
            gather.arguments(place, &arguments.compact());
        }
    }
}

/// Every event repeats what was counted so far.
fn usage(counted: JsonNode<'_>, gather: &mut Gather) {
    gather.usage(|usage: &mut TokenUsage| {
        usage.input = counted.number_of("promptTokenCount").or(usage.input);
        usage.output = counted.number_of("candidatesTokenCount").or(usage.output);
        usage.reasoning = counted.number_of("thoughtsTokenCount").unwrap_or(usage.reasoning);
        usage.cached = counted.number_of("toolUsePromptTokenCount").unwrap_or(usage.cached);
    });
}
