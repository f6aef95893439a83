//! Responses, as OpenAI streams them.
//!
//! The end is an event that carries the whole response with its final status. Texts
//! and arguments come in pieces and once more as a whole; a call counts when its item
//! is said to be done.

use std::collections::BTreeSet;

use super::{
    error::ErrorClass,
    fault::DecodeFault,
    gather::{CallShape, Gather},
    json::JsonNode,
    reply::TokenUsage,
};

/// Which parts have arrived, so that their repetition adds nothing.
#[derive(Debug, Default)]
pub(super) struct Responses {
    heard: BTreeSet<(u64, u64)>,
}

impl Responses {
    /// Reads an event of the type that it names.
    pub(super) fn event(&mut self, kind: &str, node: JsonNode<'_>, gather: &mut Gather) {
        let item = node.number_of("output_index").unwrap_or(0);
        let part = (item, node.number_of("content_index").unwrap_or(0));
        let delta = node.text_of("delta").unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                self.heard.insert(part);
                gather.text(&delta);
            }
            "response.refusal.delta" => {
                self.heard.insert(part);
                gather.refusal(&delta);
            }
            "response.output_text.done" if self.heard.insert(part) => {
                gather.text(&node.text_of("text").unwrap_or_default());
            }
            "response.refusal.done" if self.heard.insert(part) => {
                gather.refusal(&node.text_of("refusal").unwrap_or_default());
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                gather.reasoning(&delta);
            }
            "response.output_item.added" => {
                if let Some(added) = node.field("item").filter(is_call)
                    && let Some(place) = started(item, added, gather)
                {
                    gather.set_sealed(place, false);
                }
            }
            "response.function_call_arguments.delta" => {
                if let Some(place) = gather.call_at(item) {
                    gather.arguments(place, &delta);
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(place) = gather.call_at(item) {
                    whole(place, node, gather);
                }
            }
            "response.output_item.done" => {
                if let Some(done) = node.field("item") {
                    self.item(item, done, gather);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let status = kind.trim_start_matches("response.");
                let response = node.field("response").unwrap_or(node);
                self.ended(status, response, gather);
            }
            // Anything else is news of things that this reader does not use.
            _ => {}
        }
    }

    /// Reads a plain body. Returns whether it is a valid reply.
    pub(super) fn body(&mut self, node: JsonNode<'_>, gather: &mut Gather) -> bool {
        let Some(status) = node.word_of("status") else { return false };
        match status.as_str() {
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.ended(&status, node, gather);
            }
            // Work in the background: there is nothing to act upon yet.
            _ => gather.stop(status),
        }
        true
    }

    fn ended(&mut self, status: &str, response: JsonNode<'_>, gather: &mut Gather) {
        // What was streamed is not read twice. Some servers repeat nothing at the end.
        if gather.is_silent() {
            for (item, output) in (0..).zip(response.items_of("output")) {
                self.item(item, output, gather);
            }
        }
        if let Some(counted) = response.field("usage") {
            gather.usage(|usage: &mut TokenUsage| {
                usage.input = counted.number_of("input_tokens").or(usage.input);
                usage.output = counted.number_of("output_tokens").or(usage.output);
            });
        }
        if let Some(error) = response.field("error").filter(|error| error.is_object()) {
            gather.fail(DecodeFault::read(error, response));
        } else if matches!(status, "failed" | "cancelled") {
            let message = format!("the provider ended the response with status {status}");
            gather.fail(DecodeFault::found(ErrorClass::Unavailable, status, message));
        }
        let details = response.field("incomplete_details");
        if let Some(reason) = details.and_then(|details| details.word_of("reason")) {
            gather.cut_by(reason);
        }
        gather.stop(status.to_owned());
        gather.end();
    }

    /// Reads an item that is done.
    fn item(&mut self, item: u64, done: JsonNode<'_>, gather: &mut Gather) {
        if is_call(&done) {
            let known = gather.call_at(item).or_else(|| started(item, done, gather));
            if let Some(place) = known {
                gather.complete_call(place, done.word_of("call_id"), done.word_of("name"));
                whole(place, done, gather);
                gather.set_sealed(place, true);
            }
            return;
        }
        if done.text_of("type").is_none_or(|kind| kind != "message") {
            return;
        }
        for (part, content) in (0..).zip(done.items_of("content")) {
            let text = |name| content.text_of(name).unwrap_or_default();
            match content.text_of("type").as_deref() {
                Some("output_text") if self.heard.insert((item, part)) => {
                    gather.text(&text("text"));
                }
                Some("refusal") if self.heard.insert((item, part)) => {
                    gather.refusal(&text("refusal"));
                }
                _ => {}
            }
        }
    }
}

/// Only calls for the caller to make; what the provider calls itself is its own.
fn is_call(item: &JsonNode<'_>) -> bool {
    item.text_of("type").is_some_and(|kind| kind == "function_call")
}

fn started(item: u64, call: JsonNode<'_>, gather: &mut Gather) -> Option<usize> {
    let name = call.word_of("name").unwrap_or_default();
    gather.call(item, call.word_of("call_id"), name, CallShape::Quoted)
}

fn whole(place: usize, node: JsonNode<'_>, gather: &mut Gather) {
    if let Some(arguments) = node.field("arguments") {
        let text = arguments.text().unwrap_or_else(|| arguments.compact());
        if !text.is_empty() {
            gather.whole_arguments(place, &text);
        }
    }
}
