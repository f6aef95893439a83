//! A JSON list that is still arriving: its objects, one by one.
//!
//! Gemini streams a list if events are not requested, and wraps its errors in one.

/// The text cannot be a list of objects.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct NotAList;

/// Cuts a list into its objects.
#[derive(Debug, Default)]
pub(super) struct Elements {
    element: Vec<u8>,
    depth: usize,
    quoted: bool,
    escaped: bool,
    closed: bool,
}

impl Elements {
    /// Takes the byte after the opening bracket, then the next, and so on; returns the
    /// object that it ended.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<Vec<u8>>, NotAList> {
        if self.depth == 0 {
            return match byte {
                _ if byte.is_ascii_whitespace() => Ok(None),
                _ if self.closed => Err(NotAList),
                b',' => Ok(None),
                b']' => {
                    self.closed = true;
                    Ok(None)
                }
                b'{' => {
                    self.depth = 1;
                    self.element.push(byte);
                    Ok(None)
                }
                _ => Err(NotAList),
            };
        }
        self.element.push(byte);
        if self.quoted {
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return Ok(None);
        }
        match byte {
            b'"' => self.quoted = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok((self.depth == 0).then(|| std::mem::take(&mut self.element)))
    }

    /// Returns whether the list's closing bracket was seen.
    pub(super) const fn closed(&self) -> bool {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> (Vec<String>, bool) {
        let mut elements = Elements::default();
        let pushed = text.bytes().filter_map(|byte| elements.push(byte).expect("it is a list"));
        let found: Vec<Vec<u8>> = pushed.collect();
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        (found.into_iter().map(text).collect(), elements.closed())
    }

    #[test]
    fn objects_come_one_by_one() {
        let (found, closed) = elements(" {\"a\": [\"]}\\\"\", {}]},\n{}\n] ");
        assert_eq!(found, ["{\"a\": [\"]}\\\"\", {}]}", "{}"]);
        assert!(closed);
    }

    #[test]
    fn an_open_list_is_not_closed() {
        assert_eq!(elements("{},{\"a\":"), (vec!["{}".to_owned()], false));
    }

    #[test]
    fn other_things_are_refused() {
        let mut elements = Elements::default();
        assert_eq!(elements.push(b'1'), Err(NotAList));
        assert_eq!(elements.push(b']'), Ok(None));
        assert_eq!(elements.push(b'{'), Err(NotAList));
    }
}
