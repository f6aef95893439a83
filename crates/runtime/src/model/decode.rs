//! Answers of language models, from bytes to a reply. Pure: no network, no clock.
//!
//! A [`Decoder`] takes the body in any chunks and says what it finds as it goes. At
//! the end it returns a [`Decoded`], which is complete only if the protocol's own end
//! was seen, with a stop word, and nothing went wrong. That is strict on purpose:
//!
//! - A stream that merely ends is not complete, however well it reads.
//! - The first error is final, also inside a stream that began well; so is an event
//!   that is not JSON. What follows is not read, but for the stop word and the usage.
//! - Unknown events are skipped and never end a reply.
//! - Reasoning and refusals are not text.
//! - Arguments stay the text that the model wrote until they are [parsed]; if they
//!   were cut off, parsing says so.
//! - A call without an id has none: what would be unique is known to the caller alone,
//!   who [derives](ProposedCall::id_within) one from the effect.
//!
//! The first byte of the body tells whether it is a stream of events, a list or one object. No
//! input makes it panic, and it keeps no more bytes than [`DecodeLimits`] allows.
//!
//! [parsed]: ProposedArguments::parsed
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

mod anthropic;
mod body;
mod error;
mod fault;
mod gather;
mod gemini;
mod hint;
mod json;
mod list;
mod openai_chat;
mod openai_responses;
mod reply;
mod sse;

pub use error::{DecodeError, ErrorClass};
pub use hint::retry_after_ms;
pub use reply::{Decoded, NotAnObject, ProposedArguments, ProposedCall, ReplyPiece, TokenUsage};

use anthropic::Messages;
use body::{Found, Remainder, ResponseBody};
use fault::DecodeFault;
use gather::Gather;
use json::JsonNode;
use openai_responses::Responses;
use sse::Frame;

use super::Protocol;

/// What HTTP says beside the body, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Head {
    /// The status. Outside 200 to 299 the response is an error, whatever its body.
    pub status: Option<u16>,
    /// The `Retry-After` header, as [`retry_after_ms`] reads it.
    pub retry_after_ms: Option<u64>,
}

impl Head {
    /// Returns whether the status says that the request was not answered.
    pub fn refused(&self) -> bool {
        self.status.is_some_and(|status| !(200..300).contains(&status))
    }
}

/// How much a decoder takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DecodeLimits {
    /// The body's length in bytes.
    pub body: usize,
    /// The length of one line of an event stream.
    pub line: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { body: 32 << 20, line: 8 << 20 }
    }
}

/// Reads one answer.
#[derive(Debug)]
pub struct Decoder {
    wire: WireDecoder,
    body: ResponseBody,
    gather: Gather,
    /// Whether the rest of the body is of no interest.
    closed: bool,
}

impl Decoder {
    /// Starts to read an answer.
    pub fn new(protocol: Protocol) -> Self {
        Self::with_limits(protocol, DecodeLimits::default())
    }

    /// Starts to read an answer that may be so long.
    pub fn with_limits(protocol: Protocol, limits: DecodeLimits) -> Self {
        let wire = match protocol {
            Protocol::OpenAiChat => WireDecoder::Chat,
            Protocol::OpenAiResponses => WireDecoder::Responses(Responses::default()),
            Protocol::AnthropicMessages => WireDecoder::Messages(Messages::default()),
            Protocol::GeminiGenerate => WireDecoder::Generate,
        };
        let body = ResponseBody::new(limits);
        Self { wire, body, gather: Gather::default(), closed: false }
    }

    /// Takes more of the body, and returns what it found in it. An answer that is one
    /// JSON object is read at its end, and yields no pieces.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ReplyPiece> {
        for byte in bytes {
            if self.closed {
                self.body.skip(*byte);
                continue;
            }
            match self.body.push(*byte) {
                Ok(None) => {}
                Ok(Some(found)) => self.found(found),
                Err(fault) => self.malformed(fault),
            }
        }
        self.gather.pieces()
    }

    /// Returns whether nothing that could still come would change the reply.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends the body and returns the reply.
    pub fn finish(mut self, head: &Head) -> Decoded {
        let rest = if self.closed { Remainder::Nothing } else { self.body.rest() };
        // The status of a rejected request decides, whatever its body.
        let mut otherwise = head.refused().then(|| DecodeFault::text(self.body.opening()));
        match rest {
            Remainder::Nothing => {}
            Remainder::Event(frame) => self.read(frame, true),
            Remainder::Whole(text) => match JsonNode::read(&text) {
                Ok(node) if head.refused() => otherwise = Some(DecodeFault::body(node)),
                Ok(node) => self.wire.body(node, &mut self.gather),
                // A body that was cut has nothing that could be used.
                Err(error) if error.is_eof() => {}
                Err(error) => self.gather.fail(body::not_json("the body", &error)),
            },
            Remainder::Unclosed => self.gather.reopen(),
            Remainder::Unknown => self.gather.fail(body::not_a_reply(self.body.opening())),
        }
        self.gather.finish(head, otherwise)
    }

    fn found(&mut self, found: Found) {
        match found {
            Found::Event(frame) => self.read(frame, false),
            Found::Element(element) => match JsonNode::read(&element) {
                Ok(node) => self.wire.body(node, &mut self.gather),
                Err(error) => self.malformed(body::not_json("an element", &error)),
            },
        }
    }

    /// Reads an event. The last one may be half an event: what was cut is not broken,
    /// only unfinished.
    fn read(&mut self, frame: Frame, last: bool) {
        let data = frame.data.trim_ascii();
        if data == b"[DONE]" {
            self.wire.done(&mut self.gather);
        } else {
            match JsonNode::read(data) {
                Ok(node) if node.is_object() => {
                    self.wire.event(&frame.name, node, &mut self.gather);
                }
                Err(_) if last => {}
                Ok(_) => self.malformed(body::not_a_reply(data)),
                Err(error) => self.malformed(body::not_json("an event", &error)),
            }
        }
        self.closed |= self.gather.has_ended() && !self.wire.goes_on();
    }

    fn malformed(&mut self, fault: DecodeFault) {
        self.gather.fail(fault);
        self.closed = true;
    }
}

/// The reader of one protocol.
#[derive(Debug)]
enum WireDecoder {
    Chat,
    Responses(Responses),
    Messages(Messages),
    Generate,
}

impl WireDecoder {
    fn event(&mut self, name: &str, node: JsonNode<'_>, gather: &mut Gather) {
        let carried = DecodeFault::carried(node);
        if let Some(fault) = carried.or_else(|| (name == "error").then(|| DecodeFault::body(node)))
        {
            return gather.fail(fault);
        }
        let kind = node.word_of("type");
        let kind = kind.as_deref().unwrap_or(name);
        match self {
            Self::Chat => openai_chat::event(node, gather),
            Self::Responses(responses) => responses.event(kind, node, gather),
            Self::Messages(messages) => messages.event(kind, node, gather),
            Self::Generate => {
                gemini::answer(node, gather);
            }
        }
    }

    fn body(&mut self, node: JsonNode<'_>, gather: &mut Gather) {
        // A response tells its error itself, beside its status.
        let tells_itself = matches!(self, Self::Responses(_)) && node.field("status").is_some();
        if let Some(fault) = DecodeFault::carried(node).filter(|_| !tells_itself) {
            return gather.fail(fault);
        }
        let ours = match self {
            Self::Chat => openai_chat::body(node, gather),
            Self::Responses(responses) => responses.body(node, gather),
            Self::Messages(messages) => messages.body(node, gather),
            Self::Generate => gemini::answer(node, gather),
        };
        if !ours {
            gather.fail(body::not_a_reply(node.raw().as_bytes()));
        }
    }

    /// Takes the marker that ends a stream of chat completions. Gateways add it to
    /// other protocols too, where it means nothing.
    const fn done(&self, gather: &mut Gather) {
        if matches!(self, Self::Chat) {
            gather.end();
        }
    }

    /// Returns whether something that counts may follow the end.
    const fn goes_on(&self) -> bool {
        matches!(self, Self::Generate)
    }
}
