//! Text with variables in it, as a list of servers may hold: `${NAME}`, `${NAME:-default}`.

use super::{ConfigLocation, McpError};

/// A text from the file, its variables not yet looked up. It is shown as written: what
/// the variables hold may be secret.
#[derive(Clone, Debug)]
pub(super) struct Template {
    text: String,
    place: ConfigLocation,
    /// Whether what looks like a variable is meant as it stands.
    literal: bool,
}

/// A piece of a template.
#[derive(Debug, Eq, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

impl Template {
    /// Takes a text, and refuses one whose variables cannot be read.
    pub(super) fn new(text: String, place: ConfigLocation) -> Result<Self, McpError> {
        match pieces(&text) {
            Ok(_) => Ok(Self { text, place, literal: false }),
            Err(why) => Err(McpError::Entry { place, why }),
        }
    }

    /// Takes a text without variables.
    pub(super) const fn literal(text: String, place: ConfigLocation) -> Self {
        Self { text, place, literal: true }
    }

    /// Returns the text as written.
    pub(super) fn written(&self) -> &str {
        &self.text
    }

    /// Returns where it stands.
    pub(super) const fn place(&self) -> &ConfigLocation {
        &self.place
    }

    /// Returns the variables that it names.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.pieces().unwrap_or_default().into_iter().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name),
            Piece::Text(_) => None,
        })
    }

    /// Returns the text with its variables' values, as a shell would: an empty variable
    /// takes its default too. A value is not read for variables again.
    pub(super) fn expand(
        &self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<String, McpError> {
        let entry = |why| McpError::Entry { place: self.place.clone(), why };
        let mut out = String::with_capacity(self.text.len());
        for piece in self.pieces().map_err(entry)? {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable { name, default } => match (lookup(name), default) {
                    (Some(value), None) => out.push_str(&value),
                    (Some(value), Some(_)) if !value.is_empty() => out.push_str(&value),
                    (_, Some(default)) => out.push_str(default),
                    (None, None) => {
                        let (place, variable) = (self.place.clone(), name.to_owned());
                        return Err(McpError::Unset { place, variable });
                    }
                },
            }
        }
        Ok(out)
    }

    fn pieces(&self) -> Result<Vec<Piece<'_>>, String> {
        if self.literal { Ok(vec![Piece::Text(&self.text)]) } else { pieces(&self.text) }
    }
}

/// Returns whether a variable of this name is likely to hold a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL"].iter().any(|word| name.contains(word))
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else {
            return Err("a `${` has no `}`".into());
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !plain || name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!("`${{{inside}}}` names no variable: use `${{NAME}}`"));
        }
        pieces.push(Piece::Text(before));
        pieces.push(Piece::Variable { name, default });
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn template(text: &str) -> Result<Template, McpError> {
        let place =
            ConfigLocation { file: PathBuf::from("f"), line: 2, column: 3, key: "k".into() };
        Template::new(text.into(), place)
    }

    fn expanded(text: &str) -> String {
        let lookup = |name: &str| match name {
            "A" => Some("${B}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        match template(text).and_then(|template| template.expand(lookup)) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn variables_take_their_values_once() {
        assert_eq!(expanded("plain $A {A} 5$"), "plain $A {A} 5$");
        assert_eq!(expanded("<${A}|${EMPTY}>"), "<${B}|>");
        assert_eq!(expanded("${GONE:-a:-b}${EMPTY:-c}${GONE:-}"), "a:-bc");
    }

    #[test]
    fn expansion_error_has_its_position() {
        assert_eq!(expanded("x${GONE}"), "f:2:3: `k`: the variable `GONE` is not set");
        assert_eq!(expanded("x${A"), "f:2:3: `k`: a `${` has no `}`");
        assert_eq!(expanded("${1}"), "f:2:3: `k`: `${1}` names no variable: use `${NAME}`");
        assert_eq!(expanded("${}"), "f:2:3: `k`: `${}` names no variable: use `${NAME}`");
    }

    #[test]
    fn a_literal_text_has_no_variables() {
        let place =
            ConfigLocation { file: PathBuf::from("f"), line: 2, column: 3, key: "k".into() };
        let template = Template::literal("${A} ${".into(), place);
        assert_eq!(template.variables().count(), 0);
        assert_eq!(template.expand(|_| None).unwrap(), "${A} ${");
    }

    #[test]
    fn the_variables_of_a_text_are_known_before_it_is_used() {
        let template = template("${A}${HOME:-x}").unwrap();
        assert_eq!(template.variables().collect::<Vec<_>>(), ["A", "HOME"]);
        assert!(is_secret("my_api_key") && is_secret("GITHUB_TOKEN") && !is_secret("HOME"));
    }
}
