//! JSON as it came: a value whose parts are looked up in the text itself.
//!
//! Nothing is converted until it is asked for, so numbers in tool arguments keep
//! every digit, a field of an unexpected type reads as absent, and nesting of any
//! depth costs no stack.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// One value of a JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonNode<'a>(&'a RawValue);

impl<'a> JsonNode<'a> {
    /// Reads a whole text, which must hold one value and nothing else.
    pub(super) fn read(text: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(text).map(Self)
    }

    /// Returns the text of this value.
    pub(super) fn raw(self) -> &'a str {
        self.0.get()
    }

    /// Returns the text of this value without the spaces between its parts.
    pub(super) fn compact(self) -> String {
        let mut quoted = false;
        let mut escaped = false;
        let kept = |c: &char| {
            if quoted {
                quoted = escaped || *c != '"';
                escaped = !escaped && *c == '\\';
                return true;
            }
            quoted = *c == '"';
            !c.is_ascii_whitespace()
        };
        self.raw().chars().filter(kept).collect()
    }

    pub(super) fn is_object(self) -> bool {
        self.raw().starts_with('{')
    }

    /// Returns a field of an object, unless it is missing or null.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        // Most requested fields are missing, and finding a word is cheaper than parsing an object.
        // Escapes can spell a name differently.
        let raw = self.raw();
        if !self.is_object() || !(raw.contains(name) || raw.contains("\\u00")) {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(self.raw());
        let found = deserializer.deserialize_map(Wanted(name)).ok().flatten()?;
        (found.get() != "null").then_some(Self(found))
    }

    /// Returns a field that is a text.
    pub(super) fn text_of(self, name: &str) -> Option<String> {
        self.field(name)?.text()
    }

    /// Returns a field that is a text with something in it.
    pub(super) fn word_of(self, name: &str) -> Option<String> {
        self.text_of(name).filter(|text| !text.is_empty())
    }

    /// Returns a field that is a whole number.
    pub(super) fn number_of(self, name: &str) -> Option<u64> {
        self.field(name)?.number()
    }

    /// Returns the elements of a field that is a list, or none.
    pub(super) fn items_of(self, name: &str) -> Vec<Self> {
        self.field(name).map(Self::items).unwrap_or_default()
    }

    /// Returns the elements of a list, or none.
    pub(super) fn items(self) -> Vec<Self> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.raw()).unwrap_or_default();
        items.into_iter().map(Self).collect()
    }

    /// Returns the content of a text.
    pub(super) fn text(self) -> Option<String> {
        let is_text = self.raw().starts_with('"');
        is_text.then(|| serde_json::from_str(self.raw()).ok()).flatten().map(|Lossy(text)| text)
    }

    /// Returns a whole number; a fraction is cut off.
    pub(super) fn number(self) -> Option<u64> {
        let raw = self.raw();
        raw.split_once('.').map_or(raw, |(whole, _)| whole).parse().ok()
    }
}

/// A text in which half a surrogate pair becomes the replacement character. Servers that count
/// UTF-16 units cut pairs in two, and the rest is still usable.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Lossy, E> {
                Ok(Lossy(text.to_owned()))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// Finds one field of an object. Of several with one name the last counts.
struct Wanted<'n>(&'n str);

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Lossy(name)) = map.next_key()? {
            if name == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> JsonNode<'_> {
        JsonNode::read(text.as_bytes()).expect("the text is valid JSON")
    }

    #[test]
    fn parts_are_found() {
        let node = read(r#"{"a": 1, "t": "x\n\"", "n": null, "l": [1, {"b": 2.5}], "a": 3}"#);
        assert_eq!(node.number_of("a"), Some(3));
        assert_eq!(node.text_of("t").as_deref(), Some("x\n\""));
        assert!(node.field("n").is_none() && node.field("z").is_none());
        assert_eq!(node.items_of("l").len(), 2);
        assert_eq!(node.items_of("l").last().and_then(|node| node.number_of("b")), Some(2));
        assert_eq!(node.text_of("a"), None);
        assert!(node.items_of("a").is_empty());
    }

    #[test]
    fn names_may_be_escaped() {
        assert_eq!(read(r#"{"\u0061b": 1}"#).number_of("ab"), Some(1));
    }

    #[test]
    fn no_digit_is_lost() {
        let node = read("{ \"x\" : 12345678901234567890123 , \"s\\\" \" : \" a \\\\\" }");
        assert_eq!(node.compact(), "{\"x\":12345678901234567890123,\"s\\\" \":\" a \\\\\"}");
    }

    #[test]
    fn half_a_pair_is_replaced() {
        let node = read(r#"{"\ud83d": 1, "t": "a\ud83db"}"#);
        let text = node.text_of("t").expect("it is a text");
        assert!(text.starts_with('a') && text.ends_with('b') && text.contains('\u{fffd}'));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(read(&deep).field("a").is_some());
        assert!(JsonNode::read("[".repeat(200_000).as_bytes()).is_err());
    }

    #[test]
    fn only_one_whole_value_is_read() {
        for text in ["", "{", "{} {}", "[DONE]", "\"\u{0}"] {
            assert!(JsonNode::read(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(JsonNode::read(b"\"\xff\"").is_err());
    }
}
