//! The tools that a run is offered: what the host says about them, and what a model may
//! call them.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::{agent::BadBody, chart::AllowedTools};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The tool that searches the documents.
pub const SEARCH: &str = "context.fts_search";
/// Tools that a run can be offered.
pub const MAX_TOOLS: usize = 64;
/// Bytes of a tool's name.
const MAX_NAME: usize = 128;
/// Bytes of a tool's description: it is one line of every prompt.
const MAX_ABOUT: usize = 200;
/// Arguments of a tool that are named.
const MAX_ARGUMENTS: usize = 12;

/// The tools that a run is offered; none, if tools are off.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ToolList {
    tools: Vec<OfferedTool>,
}

/// A tool in a prompt.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OfferedTool {
    /// Its name, as the host knows it.
    pub name: Box<str>,
    /// What it does, in a line.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// The names of its arguments; optional ones end in `?`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Box<str>>,
}

impl ToolList {
    /// Reads what a configuration says: `true` is the search alone, which is the one
    /// tool that the agent knows by itself; a list is exactly what it names.
    pub(super) fn read(tools: &Value) -> Result<Self, BadBody> {
        match tools {
            Value::Bool(true) => Ok(Self { tools: alloc::vec![OfferedTool::named(SEARCH)?] }),
            Value::Bool(false) => Ok(Self::default()),
            Value::Array(list) if list.len() > MAX_TOOLS => {
                let count = list.len();
                Err(BadBody(format!("`tools` names {count} tools; the limit is {MAX_TOOLS}")))
            }
            Value::Array(list) => {
                let mut tools: Vec<OfferedTool> = Vec::new();
                for entry in list {
                    let tool = OfferedTool::read(entry)?;
                    if tools.iter().any(|known| known.name == tool.name) {
                        return Err(BadBody(format!("`tools` names `{}` twice", tool.name)));
                    }
                    tools.push(tool);
                }
                Ok(Self { tools })
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Object(_) => Err(BadBody(
                "`tools` must be true, false or a list; each item is a name or \
                 {name, about, parameters}"
                    .into(),
            )),
        }
    }

    /// Returns the tools, in the host's order.
    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Returns whether no tool is offered.
    pub const fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns whether the documents can be searched.
    pub fn searches(&self) -> bool {
        self.tools.iter().any(|tool| *tool.name == *SEARCH)
    }

    /// Returns the tools beside the search.
    pub fn others(&self) -> impl Iterator<Item = &OfferedTool> {
        self.tools.iter().filter(|tool| *tool.name != *SEARCH)
    }

    /// Returns what of it a state allows.
    pub(super) fn within(&self, allowed: &AllowedTools) -> Self {
        let tools = self.tools.iter().filter(|tool| allowed.allow(&tool.name));
        Self { tools: tools.cloned().collect() }
    }

    /// Leaves out every tool that searches.
    pub(super) fn without_search(&mut self) {
        self.tools.retain(|tool| !tool.name.to_lowercase().contains("search"));
    }

    /// Returns the tool that a model means: providers and models change the separators
    /// and the case of names. A name that could mean two tools means none.
    pub fn find(&self, name: &str) -> Option<&str> {
        if let Some(tool) = self.tools.iter().find(|tool| *tool.name == *name) {
            return Some(&tool.name);
        }
        let wanted = plain(name);
        let mut alike = self.tools.iter().filter(|tool| plain(&tool.name) == wanted);
        let found = alike.next()?;
        alike.next().is_none().then_some(&*found.name)
    }

    /// Returns the actions that are open, in words.
    pub(super) fn actions(&self) -> String {
        let mut actions: Vec<String> = Vec::new();
        if self.searches() {
            actions.push("search".into());
        }
        let names: Vec<&str> = self.others().map(|tool| &*tool.name).collect();
        if !names.is_empty() {
            actions.push(format!("tool ({})", names.join(", ")));
        }
        actions.push("finish".into());
        actions.join(", ")
    }
}

impl OfferedTool {
    fn named(name: &str) -> Result<Self, BadBody> {
        let fits = |c: char| !c.is_whitespace() && !c.is_control() && c != '`';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
            let start = name.get(..name.floor_char_boundary(MAX_NAME)).unwrap_or_default();
            return Err(BadBody(format!(
                "`{start}` is not a valid tool name: use 1 to {MAX_NAME} characters without spaces"
            )));
        }
        let (about, arguments) = if name == SEARCH {
            ("finds passages in the documents by their words, each with its file and line", "query")
        } else {
            ("", "")
        };
        let arguments = arguments.split_whitespace().map(Into::into).collect();
        Ok(Self { name: name.into(), about: about.into(), arguments })
    }

    fn read(entry: &Value) -> Result<Self, BadBody> {
        if let Some(name) = entry.as_str() {
            return Self::named(name);
        }
        let object = entry
            .as_object()
            .ok_or_else(|| BadBody("a tool is a name or {name, about, parameters}".into()))?;
        if let Some(key) =
            object.keys().find(|key| !["name", "about", "parameters"].contains(&key.as_str()))
        {
            return Err(BadBody(format!("a tool has name, about and parameters, not `{key}`")));
        }
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut tool = Self::named(text("name"))?;
        let about = one_line(text("about"), MAX_ABOUT);
        if !about.is_empty() {
            tool.about = about.into();
        }
        if let Some(parameters) = object.get("parameters").and_then(Value::as_object) {
            tool.arguments = arguments(parameters);
        }
        Ok(tool)
    }

    /// Returns the line that a prompt has for it.
    pub(super) fn line(&self) -> String {
        let about = if self.about.is_empty() { "" } else { ": " };
        format!("- {}({}){about}{}", self.name, self.arguments.join(", "), self.about)
    }
}

/// Returns a text without line breaks, cut to this many bytes.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.len() > limit {
        line.truncate(line.floor_char_boundary(limit.saturating_sub('…'.len_utf8())));
        line.push('…');
    }
    line
}

/// Returns the names of the arguments that a JSON Schema declares.
fn arguments(schema: &Map<String, Value>) -> Vec<Box<str>> {
    let required = |name: &str| {
        let listed = schema.get("required").and_then(Value::as_array);
        listed.is_some_and(|listed| listed.iter().any(|it| it.as_str() == Some(name)))
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut names: Vec<&String> = properties.keys().collect();
    // What must be given comes first, whatever else is cut.
    names.sort_by_key(|name| !required(name));
    let name = |name: &String| {
        let mark = if required(name) { "" } else { "?" };
        format!("{}{mark}", one_line(name, MAX_NAME)).into()
    };
    names.into_iter().take(MAX_ARGUMENTS).map(name).collect()
}

/// Returns a name as letters, digits and single underscores.
fn plain(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}
