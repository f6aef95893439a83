//! Chat completions, as OpenAI and its many imitators stream them.
//!
//! The end is `data: [DONE]`; a plain body ends with itself. Calls are found by their
//! index, but imitators leave it out, or give every call the same one.

use super::{
    error::ErrorClass,
    fault::DecodeFault,
    gather::{CallShape, Gather},
    json::JsonNode,
    reply::TokenUsage,
};

/// Reads an event.
pub(super) fn event(node: JsonNode<'_>, gather: &mut Gather) {
    for choice in node.items_of("choices").into_iter().filter(first) {
        // A few servers wrap a finished message in a single event.
        if let Some(delta) = choice.field("delta") {
            message(delta, false, gather);
        } else if let Some(whole) = choice.field("message").filter(|_| gather.is_silent()) {
            message(whole, true, gather);
        }
        stop(choice, gather);
    }
    usage(node, gather);
}

/// Reads a plain body. Returns whether it is a valid reply.
pub(super) fn body(node: JsonNode<'_>, gather: &mut Gather) -> bool {
    let choices = node.items_of("choices");
    for choice in choices.iter().copied().filter(first) {
        if let Some(said) = choice.field("message") {
            message(said, true, gather);
        }
        stop(choice, gather);
    }
    usage(node, gather);
    if !choices.is_empty() {
        gather.end();
    }
    !choices.is_empty()
}

/// Only the first of several alternatives is read.
fn first(choice: &JsonNode<'_>) -> bool {
    choice.number_of("index").unwrap_or(0) == 0
}

/// Reads a message, or a piece of one.
fn message(said: JsonNode<'_>, whole: bool, gather: &mut Gather) {
    // `reasoning` and `reasoning_content` are two names for one thing; some send both.
    let reasoning = said.text_of("reasoning").or_else(|| said.text_of("reasoning_content"));
    gather.reasoning(&reasoning.unwrap_or_default());
    if let Some(content) = said.field("content") {
        match content.text() {
            Some(text) => gather.text(&text),
            None => content.items().into_iter().for_each(|part| content_part(part, gather)),
        }
    }
    gather.refusal(&said.text_of("refusal").unwrap_or_default());
    for call in said.items_of("tool_calls") {
        tool_call(call, whole, gather);
    }
    if let Some(function) = said.field("function_call") {
        let place = gather.last_call().or_else(|| {
            let name = function.word_of("name").unwrap_or_default();
            gather.call(0, None, name, CallShape::Quoted)
        });
        arguments(function, place, gather);
    }
}

/// Content may be a list, in which reasoning has its own type.
fn content_part(part: JsonNode<'_>, gather: &mut Gather) {
    let text = part.text_of("text").unwrap_or_default();
    match part.text_of("type").as_deref() {
        Some("text") | None => gather.text(&text),
        Some("refusal") => gather.refusal(&part.text_of("refusal").unwrap_or_default()),
        Some("thinking") => {
            for thought in part.items_of("thinking") {
                gather.reasoning(&thought.text_of("text").unwrap_or_default());
            }
        }
        Some(_) => {}
    }
}

/// Reads a call. In a complete message each is separate, whatever its id and index.
fn tool_call(call: JsonNode<'_>, whole: bool, gather: &mut Gather) {
    let function = call.field("function").unwrap_or(call);
    let index = call.number_of("index");
    let id = call.word_of("id");
    let name = function.word_of("name");
    let known = match (index, &id) {
        _ if whole => None,
        (Some(index), _) => gather.call_at(index),
        (None, Some(id)) => gather.call_named(id),
        (None, None) => gather.last_call().filter(|_| name.is_none()),
    };
    // The same index with another id and a name is another call.
    let known = known.filter(|place| match (gather.call_id(*place), &id) {
        (Some(had), Some(id)) => had == id || name.is_none(),
        _ => true,
    });
    let place = if let Some(place) = known {
        gather.complete_call(place, id, name);
        Some(place)
    } else {
        // Keys beyond every index, so that calls without one never mix.
        let key = index.unwrap_or(u64::MAX);
        gather.call(key, id, name.unwrap_or_default(), CallShape::Quoted)
    };
    arguments(function, place, gather);
}

fn arguments(function: JsonNode<'_>, place: Option<usize>, gather: &mut Gather) {
    if let (Some(place), Some(arguments)) = (place, function.field("arguments")) {
        match arguments.text() {
            Some(delta) => gather.arguments(place, &delta),
            None => gather.whole_arguments(place, &arguments.compact()),
        }
    }
}

fn stop(choice: JsonNode<'_>, gather: &mut Gather) {
    if let Some(error) = choice.field("error").filter(|error| error.is_object()) {
        gather.fail(DecodeFault::read(error, choice));
    }
    if let Some(word) = choice.word_of("finish_reason") {
        if word == "error" {
            let message = "the provider stopped with an error".to_owned();
            gather.fail(DecodeFault::found(ErrorClass::Unavailable, "error", message));
        }
        gather.stop(word);
    }
}

fn usage(node: JsonNode<'_>, gather: &mut Gather) {
    let found =
        node.field("usage").or_else(|| node.field("x_groq").and_then(|groq| groq.field("usage")));
    if let Some(found) = found {
        gather.usage(|usage: &mut TokenUsage| {
            usage.input = found.number_of("prompt_tokens").or(usage.input);
            usage.output = found.number_of("completion_tokens").or(usage.output);
        });
    }
}
