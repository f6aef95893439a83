//! JSON whose values know their position, so that mistakes can be located.

use std::{collections::BTreeMap, fmt, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{ConfigLocation, McpError, template::Template};

/// A file and its text. Every value that is handed out is a piece of that text.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonSource<'a> {
    /// The file.
    pub(super) file: &'a Path,
    /// Its text.
    pub(super) text: &'a str,
}

impl<'a> JsonSource<'a> {
    /// Returns the whole document, or where it is not JSON.
    pub(super) fn whole(&self) -> Result<&'a RawValue, McpError> {
        serde_json::from_str(self.text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let place = ConfigLocation { file: self.file.into(), line, column, key: String::new() };
            // The place is said once, before the reason.
            let why = error.to_string();
            let why = why.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&why);
            McpError::Entry { place, why: format!("not valid JSON: {why}") }
        })
    }

    /// Returns an object's values; no key may come twice, for one would be lost unseen.
    pub(super) fn object(
        &self,
        raw: &'a RawValue,
        key: &str,
    ) -> Result<BTreeMap<String, &'a RawValue>, McpError> {
        let Pairs(pairs) =
            serde_json::from_str(raw.get()).map_err(|_| self.unexpected(raw, key, "an object"))?;
        let mut object = BTreeMap::new();
        for (name, value) in pairs {
            let twice = format!("`{}` is listed twice: keep one", name.escape_debug());
            if object.insert(name, value).is_some() {
                return Err(self.error(value, key, twice));
            }
        }
        Ok(object)
    }

    /// Returns a text.
    pub(super) fn text(&self, raw: &RawValue, key: &str) -> Result<Template, McpError> {
        let text =
            serde_json::from_str(raw.get()).map_err(|_| self.unexpected(raw, key, "a string"))?;
        Template::new(text, self.place(raw, key))
    }

    /// Returns a list of texts.
    pub(super) fn list(&self, raw: &'a RawValue, key: &str) -> Result<Vec<Template>, McpError> {
        let list: Vec<&RawValue> =
            serde_json::from_str(raw.get()).map_err(|_| self.unexpected(raw, key, "a list"))?;
        let texts = list.into_iter().enumerate();
        texts.map(|(at, raw)| self.text(raw, &format!("{key}[{at}]"))).collect()
    }

    /// Returns an object of texts.
    pub(super) fn texts(
        &self,
        raw: &'a RawValue,
        key: &str,
    ) -> Result<BTreeMap<String, Template>, McpError> {
        let texts = self.object(raw, key)?.into_iter();
        texts
            .map(|(name, raw)| {
                let text = self.text(raw, &format!("{key}.{name}"))?;
                Ok((name, text))
            })
            .collect()
    }

    /// Returns an error about a value.
    pub(super) fn error(&self, raw: &RawValue, key: &str, why: String) -> McpError {
        McpError::Entry { place: self.place(raw, key), why }
    }

    fn unexpected(&self, raw: &RawValue, key: &str, wanted: &str) -> McpError {
        let found = match raw.get().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "true or false",
            Some(b'n') => "null",
            _ => "a number",
        };
        self.error(raw, key, format!("expected {wanted}, found {found}"))
    }

    /// Returns where a value stands. A borrowed value is a piece of the file's text, so
    /// its address says how much of the text comes before it.
    pub(super) fn place(&self, raw: &RawValue, key: &str) -> ConfigLocation {
        let before = raw.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let before = super::start_of(self.text, before);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|char| *char != '\n').count() + 1;
        ConfigLocation { file: self.file.into(), line, column, key: key.into() }
    }
}

/// An object as it is written: every pair, in order.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
