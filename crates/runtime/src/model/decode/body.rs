//! A body's form, from its first byte: a stream of events, a list, or one object.

use super::{
    DecodeLimits,
    error::ErrorClass,
    fault::DecodeFault,
    list::Elements,
    sse::{Frame, Frames},
};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// How much of a body is kept for the message about it.
const OPENING: usize = 2_048;

/// A body as it arrives.
#[derive(Debug)]
pub(super) struct ResponseBody {
    limits: DecodeLimits,
    taken: usize,
    opening: Vec<u8>,
    form: BodyForm,
}

#[derive(Debug)]
enum BodyForm {
    /// Nothing but spaces so far, or the start of a byte order mark.
    Unsure(Vec<u8>),
    Events(Frames),
    List(Elements),
    Whole(Vec<u8>),
}

/// Something that a body held.
#[derive(Debug)]
pub(super) enum Found {
    /// An event of a stream.
    Event(Frame),
    /// An object of a list.
    Element(Vec<u8>),
}

/// What a body's end leaves to be done.
#[derive(Debug)]
pub(super) enum Remainder {
    /// Nothing.
    Nothing,
    /// An event whose end was not marked.
    Event(Frame),
    /// The body is one object, to be read now.
    Whole(Vec<u8>),
    /// A list was not closed.
    Unclosed,
    /// The body has none of the known forms.
    Unknown,
}

impl ResponseBody {
    pub(super) const fn new(limits: DecodeLimits) -> Self {
        Self { limits, taken: 0, opening: Vec::new(), form: BodyForm::Unsure(Vec::new()) }
    }

    /// Takes one byte and returns what it ended.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<Found>, DecodeFault> {
        self.taken = self.taken.saturating_add(1);
        if self.taken > self.limits.body {
            let message = format!("the response is longer than {} bytes", self.limits.body);
            return Err(DecodeFault::found(ErrorClass::TooLarge, "body_too_large", message));
        }
        self.skip(byte);
        match &mut self.form {
            BodyForm::Unsure(seen) => {
                seen.push(byte);
                if BYTE_ORDER_MARK.starts_with(seen) && seen.len() < BYTE_ORDER_MARK.len() {
                    return Ok(None);
                }
                let text = seen.strip_prefix(BYTE_ORDER_MARK).unwrap_or(seen);
                let text = text.trim_ascii_start().to_vec();
                self.begin(text)
            }
            BodyForm::Events(_) => self.event_byte(byte),
            BodyForm::List(elements) => match elements.push(byte) {
                Ok(element) => Ok(element.map(Found::Element)),
                Err(_) => Err(not_a_reply(&self.opening)),
            },
            BodyForm::Whole(text) => {
                text.push(byte);
                Ok(None)
            }
        }
    }

    /// Skips one byte, which is kept only for the message about the body.
    pub(super) fn skip(&mut self, byte: u8) {
        if self.opening.len() < OPENING {
            self.opening.push(byte);
        }
    }

    /// Returns the body's first bytes.
    pub(super) fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// Ends the body.
    pub(super) fn rest(&mut self) -> Remainder {
        match &mut self.form {
            BodyForm::Unsure(_) => Remainder::Nothing,
            BodyForm::Events(frames) => match frames.rest() {
                Some(frame) => Remainder::Event(frame),
                None if frames.recognised() => Remainder::Nothing,
                None => Remainder::Unknown,
            },
            BodyForm::List(elements) if elements.closed() => Remainder::Nothing,
            BodyForm::List(_) => Remainder::Unclosed,
            BodyForm::Whole(text) => Remainder::Whole(std::mem::take(text)),
        }
    }

    fn begin(&mut self, text: Vec<u8>) -> Result<Option<Found>, DecodeFault> {
        match text.first() {
            None => self.form = BodyForm::Unsure(text),
            Some(b'{') => self.form = BodyForm::Whole(text),
            Some(b'[') => self.form = BodyForm::List(Elements::default()),
            Some(_) => {
                self.form = BodyForm::Events(Frames::new(self.limits.line));
                for byte in text {
                    self.event_byte(byte)?;
                }
            }
        }
        Ok(None)
    }

    fn event_byte(&mut self, byte: u8) -> Result<Option<Found>, DecodeFault> {
        let BodyForm::Events(frames) = &mut self.form else { return Ok(None) };
        frames.push(byte).map(|frame| frame.map(Found::Event)).map_err(|_| {
            let message = format!("a line is longer than {} bytes", self.limits.line);
            DecodeFault::found(ErrorClass::TooLarge, "line_too_long", message)
        })
    }
}

/// Words a text that should be JSON and is not.
pub(super) fn not_json(what: &str, error: &serde_json::Error) -> DecodeFault {
    let message = format!("{what} is not JSON: {error}");
    DecodeFault::found(ErrorClass::Malformed, "not_json", message)
}

/// Words an answer that this protocol does not have.
pub(super) fn not_a_reply(text: &[u8]) -> DecodeFault {
    let opening = String::from_utf8_lossy(text);
    let opening: Vec<&str> = opening.split_whitespace().collect();
    let opening: String = opening.join(" ").chars().take(100).collect();
    let message = format!("not a valid reply in this protocol; it begins with: {opening}");
    DecodeFault::found(ErrorClass::Malformed, "not_a_reply", message)
}
