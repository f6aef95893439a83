//! Server-sent events: bytes to named pieces of data, as the standard has it.
//!
//! One byte at a time, so that chunks cannot matter. Lines end with CR, LF or CRLF;
//! comments and unknown fields are skipped; several `data` lines are joined.

const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];

/// One event of a stream.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Frame {
    /// The `event` field, empty where there was none.
    pub(super) name: String,
    /// The `data` lines, joined with line feeds.
    pub(super) data: Vec<u8>,
}

/// A line had more bytes than allowed.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct TooLong;

/// Splits a stream into its events.
#[derive(Debug)]
pub(super) struct Frames {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    name: String,
    data: Vec<u8>,
    /// Whether a `data` line was seen since the last event.
    has_data: bool,
    /// Whether any line so far was one of an event stream.
    recognised: bool,
}

impl Frames {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            recognised: false,
        }
    }

    /// Takes one byte and returns the event that it ended.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<Frame>, TooLong> {
        let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
        match byte {
            b'\n' if after_cr => Ok(None),
            b'\n' | b'\r' => Ok(self.line_ended()),
            _ if self.line.len() >= self.limit => Err(TooLong),
            _ => {
                self.line.push(byte);
                Ok(None)
            }
        }
    }

    /// Returns what the body's end left open. It may be a whole event whose last line
    /// feeds were lost, or half of one: only its content can tell.
    pub(super) fn rest(&mut self) -> Option<Frame> {
        if !self.line.is_empty() {
            // A body may be cut inside the name of its first field.
            self.recognised |= FIELDS.iter().any(|field| field.starts_with(&self.line));
            self.line_ended();
        }
        self.dispatch()
    }

    /// Returns whether the body looked like an event stream at all.
    pub(super) const fn recognised(&self) -> bool {
        self.recognised
    }

    fn line_ended(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((&line, &[]));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.data_line(value),
            // Some servers report errors in a separate field.
            b"error" => {
                "error".clone_into(&mut self.name);
                self.data_line(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"" | b"id" | b"retry" => {}
            _ => return None,
        }
        self.recognised = true;
        None
    }

    fn data_line(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    fn dispatch(&mut self) -> Option<Frame> {
        self.has_data = false;
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        // An event without data is none: keep-alives are sent that way.
        (!data.trim_ascii().is_empty()).then_some(Frame { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<(String, String)> {
        let mut frames = Frames::new(64);
        let mut found: Vec<Frame> =
            bytes.iter().filter_map(|byte| frames.push(*byte).expect("it is short")).collect();
        found.extend(frames.rest());
        let text = |frame: Frame| {
            (frame.name, String::from_utf8(frame.data).expect("the output is UTF-8"))
        };
        found.into_iter().map(text).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn all_three_line_ends_mean_the_same() {
        for end in ["\n", "\r", "\r\n"] {
            let lines = [": hello", "event: a", "data: 1", "data:2", "", "data: 3", ""];
            let text = lines.join(end);
            assert_eq!(frames(text.as_bytes()), pairs(&[("a", "1\n2"), ("", "3")]), "{end:?}");
        }
    }

    #[test]
    fn lines_without_data_are_skipped() {
        assert_eq!(frames(b"event: ping\n\ndata:\n\nid: 3\nretry: 5\nwhat: x\n\n"), pairs(&[]));
        assert_eq!(frames(b"event: a\n\ndata: x\n\n"), pairs(&[("", "x")]));
    }

    #[test]
    fn one_space_goes_and_the_next_one_stays() {
        assert_eq!(frames(b"data:  x \n\n"), pairs(&[("", " x ")]));
        assert_eq!(frames(b"error: {}\n\n"), pairs(&[("error", "{}")]));
    }

    #[test]
    fn an_open_end_is_handed_over() {
        assert_eq!(frames(b"event: a\ndata: x"), pairs(&[("a", "x")]));
        assert_eq!(frames(b"event: a\nda"), pairs(&[]));
    }

    #[test]
    fn a_long_line_is_refused() {
        let mut frames = Frames::new(4);
        let taken: Vec<_> = b"abcde".iter().map(|byte| frames.push(*byte)).collect();
        assert_eq!(taken, [Ok(None), Ok(None), Ok(None), Ok(None), Err(TooLong)]);
    }
}
