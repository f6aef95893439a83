//! A body on its way through: the key taken out, text shown, everything decoded.

use super::{
    ProgressSink, Protocol,
    decode::{DecodeLimits, Decoded, Decoder, Head, ReplyPiece},
    encode::REPLY,
    secret::Redactor,
};

/// The longest line of an event stream.
const LINE_BYTES: usize = 8 << 20;

/// A body on its way: without the key, shown, decoded, and kept where it is recorded.
pub(super) struct Reading<'s> {
    decoder: Decoder,
    pub(super) redactor: Redactor,
    /// The observers; none if the response is not a reply.
    pub(super) shown: Option<&'s ProgressSink>,
    /// Whether a call of the tool [`REPLY`] is the text.
    pub(super) by_tool: bool,
    /// The place of that call.
    reply: Option<usize>,
    /// Whether the body is recorded.
    pub(super) keeps: bool,
    pub(super) kept: Vec<Vec<u8>>,
}

impl Reading<'_> {
    /// Starts to read a body of at most this many bytes.
    pub(super) fn new(protocol: Protocol, most: usize) -> Self {
        let limits = DecodeLimits { body: most, line: LINE_BYTES.min(most) };
        Self {
            decoder: Decoder::with_limits(protocol, limits),
            redactor: Redactor::new(None),
            shown: None,
            by_tool: false,
            reply: None,
            keeps: false,
            kept: Vec::new(),
        }
    }

    /// Returns what was read.
    pub(super) fn decoded(self, head: &Head) -> Decoded {
        self.decoder.finish(head)
    }

    /// Takes a chunk; returns whether more is wanted.
    pub(super) fn take(&mut self, chunk: &[u8]) -> bool {
        let clean = self.redactor.push(chunk);
        self.pass(clean);
        // It is closed by its end, by trouble, and by one byte too many.
        !self.decoder.is_closed()
    }

    /// Takes what was held back.
    pub(super) fn finish(&mut self) {
        let rest = self.redactor.rest();
        self.pass(rest);
    }

    fn pass(&mut self, bytes: Vec<u8>) {
        for piece in self.decoder.push(&bytes) {
            let Some(shown) = self.shown else { continue };
            match piece {
                ReplyPiece::Text(delta) => shown.show(&delta),
                ReplyPiece::CallStarted { call, name, .. } if self.by_tool && name == REPLY => {
                    self.reply = Some(call);
                }
                ReplyPiece::Arguments { call, delta } if self.reply == Some(call) => {
                    shown.show(&delta);
                }
                _ => {}
            }
        }
        if self.keeps && !bytes.is_empty() {
            self.kept.push(bytes);
        }
    }
}
