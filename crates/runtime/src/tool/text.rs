//! Text files and their encodings.
//!
//! Everything that is read can be written back byte for byte, so changing one line leaves all
//! others unchanged.

use super::files::is_binary;

/// The bytes before the text of a file in UTF-8, and in UTF-16 of either order.
const UTF8_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const LITTLE_MARK: &[u8] = &[0xff, 0xfe];
const BIG_MARK: &[u8] = &[0xfe, 0xff];

/// How a file's characters are stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Encoding {
    Utf8,
    Utf8Marked,
    Utf16 { big: bool },
    Latin1,
}

/// A file's text, without its byte order mark.
#[derive(Debug)]
pub(super) struct TextFile {
    pub(super) text: String,
    encoding: Encoding,
}

impl TextFile {
    /// Reads bytes as text; nothing if they are none.
    pub(super) fn decode(bytes: Vec<u8>) -> Option<Self> {
        if let Some(rest) = bytes.strip_prefix(LITTLE_MARK) {
            return Self::wide(rest, false);
        }
        if let Some(rest) = bytes.strip_prefix(BIG_MARK) {
            return Self::wide(rest, true);
        }
        if is_binary(&bytes) {
            return None;
        }
        match String::from_utf8(bytes) {
            Ok(text) => match text.strip_prefix('\u{feff}') {
                Some(rest) => Some(Self { text: rest.into(), encoding: Encoding::Utf8Marked }),
                None => Some(Self { text, encoding: Encoding::Utf8 }),
            },
            Err(error) => Self::narrow(error.as_bytes()),
        }
    }

    /// Returns how it is stored, for people.
    pub(super) const fn encoding(&self) -> &'static str {
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Marked => "UTF-8",
            Encoding::Utf16 { .. } => "UTF-16",
            Encoding::Latin1 => "Latin-1",
        }
    }

    /// Returns another text in the same encoding, or the first character that it lacks.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u8>, char> {
        match self.encoding {
            Encoding::Utf8 => Ok(text.into()),
            Encoding::Utf8Marked => Ok([UTF8_MARK, text.as_bytes()].concat()),
            Encoding::Utf16 { big } => {
                let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                let mark = if big { BIG_MARK } else { LITTLE_MARK };
                Ok(mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect())
            }
            Encoding::Latin1 => {
                text.chars().map(|letter| u8::try_from(letter).map_err(|_| letter)).collect()
            }
        }
    }

    fn wide(bytes: &[u8], big: bool) -> Option<Self> {
        let (units, rest) = bytes.as_chunks::<2>();
        let unit = |pair: &[u8; 2]| {
            if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }
        };
        let units: Vec<u16> = units.iter().map(unit).collect();
        // A NUL means UTF-32, or binary data.
        let text = String::from_utf16(&units).ok().filter(|text| !text.contains('\0'))?;
        rest.is_empty().then_some(Self { text, encoding: Encoding::Utf16 { big } })
    }

    /// Every byte is a character in Latin-1; control characters that text never has reveal binary
    /// data.
    fn narrow(bytes: &[u8]) -> Option<Self> {
        let odd = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127);
        let text = bytes.iter().copied().map(char::from).collect();
        (!bytes.iter().any(odd)).then_some(Self { text, encoding: Encoding::Latin1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_can_be_written_back() {
        let wide: Vec<u8> = "aé😀\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, text, encoding) in [
            ("aé\n".as_bytes().to_vec(), "aé\n", "UTF-8"),
            (b"\xef\xbb\xbfaa".to_vec(), "aa", "UTF-8"),
            ([b"\xff\xfe".as_slice(), &wide].concat(), "aé😀\r\n", "UTF-16"),
            (b"\xfe\xff\0a\0\n".to_vec(), "a\n", "UTF-16"),
            (b"caf\xe9 \x93x\x94\n".to_vec(), "café \u{93}x\u{94}\n", "Latin-1"),
            (Vec::new(), "", "UTF-8"),
        ] {
            let read = TextFile::decode(bytes.clone()).expect("the bytes are text");
            assert_eq!((read.text.as_str(), read.encoding()), (text, encoding));
            assert_eq!(read.encode(&read.text), Ok(bytes));
        }
    }

    #[test]
    fn binary_file_is_reported() {
        for bytes in [
            b"a\0b".as_slice(),
            b"\x89PNG\x0d\x0a\x1a\x0a",
            b"\xff\xfea",
            b"\xff\xfe\0\xd8",
            b"\xff\xfe\0\0a\0\0\0",
        ] {
            assert!(TextFile::decode(bytes.to_vec()).is_none(), "{bytes:?}");
        }
        let latin = TextFile::decode(b"caf\xe9".to_vec()).expect("the bytes are text");
        assert_eq!(latin.encode("café → tea"), Err('→'));
    }
}
