//! Messages, as Anthropic streams them.
//!
//! The end is `message_stop`. Blocks are found by their index; only text and the
//! calls that the caller is to make are taken from them.

use std::collections::BTreeMap;

use super::{
    gather::{CallShape, Gather},
    json::JsonNode,
    reply::TokenUsage,
};

/// The blocks that were opened.
#[derive(Debug, Default)]
pub(super) struct Messages {
    calls: BTreeMap<u64, Block>,
}

#[derive(Debug)]
struct Block {
    place: usize,
    /// Arguments that came with the block's start; deltas replace them.
    given: Option<String>,
}

impl Messages {
    /// Reads an event of the type that it names.
    pub(super) fn event(&mut self, kind: &str, node: JsonNode<'_>, gather: &mut Gather) {
        let index = node.number_of("index").unwrap_or(0);
        match kind {
            "message_start" => {
                if let Some(message) = node.field("message") {
                    usage(message, gather);
                }
            }
            "content_block_start" => {
                if let Some(block) = node.field("content_block") {
                    self.started(index, block, gather);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = node.field("delta") {
                    self.delta(index, delta, gather);
                }
            }
            "content_block_stop" => self.stopped(index, gather),
            "message_delta" => {
                if let Some(word) = node.field("delta").and_then(|d| d.word_of("stop_reason")) {
                    gather.stop(word);
                }
                usage(node, gather);
            }
            "message_stop" => {
                let open: Vec<u64> = self.calls.keys().copied().collect();
                for index in open {
                    self.stopped(index, gather);
                }
                gather.end();
            }
            // Pings, and future events of the protocol.
            _ => {}
        }
    }

    /// Reads a plain body. Returns whether it is a valid reply.
    pub(super) fn body(&mut self, node: JsonNode<'_>, gather: &mut Gather) -> bool {
        for (index, block) in (0..).zip(node.items_of("content")) {
            self.started(index, block, gather);
            self.stopped(index, gather);
        }
        if let Some(word) = node.word_of("stop_reason") {
            gather.stop(word);
        }
        usage(node, gather);
        if node.field("content").is_some() {
            gather.end();
        }
        gather.has_ended()
    }

    fn started(&mut self, index: u64, block: JsonNode<'_>, gather: &mut Gather) {
        match block.text_of("type").as_deref() {
            Some("text") => gather.text(&block.text_of("text").unwrap_or_default()),
            Some("thinking") => gather.reasoning(&block.text_of("thinking").unwrap_or_default()),
            Some("tool_use") => {
                let (id, name) = (block.word_of("id"), block.word_of("name"));
                let place = gather.call(index, id, name.unwrap_or_default(), CallShape::Value);
                if let Some(place) = place {
                    let given = block.field("input").map(JsonNode::compact);
                    let given = given.filter(|given| given != "{}");
                    self.calls.insert(index, Block { place, given });
                }
            }
            // Tools that the provider runs itself, and their results.
            _ => {}
        }
    }

    fn delta(&mut self, index: u64, delta: JsonNode<'_>, gather: &mut Gather) {
        let text = |name| delta.text_of(name).unwrap_or_default();
        match delta.text_of("type").as_deref() {
            Some("text_delta") => gather.text(&text("text")),
            Some("thinking_delta") => gather.reasoning(&text("thinking")),
            Some("input_json_delta") => {
                if let Some(block) = self.calls.get_mut(&index) {
                    block.given = None;
                    gather.arguments(block.place, &text("partial_json"));
                }
            }
            _ => {}
        }
    }

    fn stopped(&mut self, index: u64, gather: &mut Gather) {
        if let Some(Block { place, given: Some(given) }) = self.calls.remove(&index) {
            gather.whole_arguments(place, &given);
        }
    }
}

/// Counters are cumulative: the last value of each counts.
fn usage(node: JsonNode<'_>, gather: &mut Gather) {
    let Some(found) = node.field("usage") else { return };
    gather.usage(|usage: &mut TokenUsage| {
        usage.input = found.number_of("input_tokens").or(usage.input);
        usage.output = found.number_of("output_tokens").or(usage.output);
        let written = found.number_of("cache_creation_input_tokens");
        let read = found.number_of("cache_read_input_tokens");
        if written.is_some() || read.is_some() {
            usage.cached = written.unwrap_or(0).saturating_add(read.unwrap_or(0));
        }
    });
}
