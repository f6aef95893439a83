//! The list of servers that a project has: its `.mcp.json`.
//!
//! Reading it starts nothing and looks no variable up. Keys that other programs keep in
//! the same file are passed over.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use pointsman_kernel::{id::Digest, json::canonical_body};
use serde_json::value::RawValue;

use super::{ConfigLocation, McpError, source::JsonSource, template::Template};

/// Digits of the digest in a key.
const KEY: usize = 32;

/// The servers that a file lists.
#[derive(Clone, Debug)]
pub struct McpServerList {
    file: PathBuf,
    servers: BTreeMap<String, ServerEntry>,
    /// What cannot be used of the file, by the servers' names; the file itself has none.
    wrong: BTreeMap<String, (ConfigLocation, String)>,
    /// By what a person approves each of them.
    keys: BTreeMap<String, String>,
    believed: BTreeSet<String>,
}

/// A server that a person configured in another program, such as an editor. Its values are
/// literal, without variables.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NamedServer {
    /// A program that speaks over its standard input and output.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What it sees besides the little that every server does.
        env: Vec<(String, String)>,
    },
    /// An address that speaks streamable HTTP.
    Address {
        /// The address.
        url: String,
        /// What goes with every request.
        headers: Vec<(String, String)>,
    },
}

/// One server, as listed.
#[derive(Clone, Debug)]
pub(super) enum ServerEntry {
    /// A program that speaks over its standard input and output.
    Program {
        command: Template,
        args: Vec<Template>,
        env: BTreeMap<String, Template>,
        cwd: Option<Template>,
    },
    /// An address that speaks streamable HTTP.
    Address { url: Template, headers: BTreeMap<String, Template> },
}

impl McpServerList {
    /// Returns the file that lists a workspace's servers, if it has one.
    pub fn find(workspace: &Path) -> Option<PathBuf> {
        let file = workspace.join(".mcp.json");
        file.is_file().then_some(file)
    }

    /// Reads a list of servers. An unusable one is skipped, and [`wrong`](Self::wrong) says why:
    /// the reader may not be able to correct a repository's list.
    pub fn read(path: &Path) -> Result<Self, McpError> {
        let text = fs::read_to_string(path)
            .map_err(|source| McpError::Read { path: path.into(), source })?;
        Self::parse(path, &text)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, McpError> {
        let source = JsonSource { file: path, text };
        let whole = source.whole()?;
        let top = source.object(whole, "")?;
        let mut wrong = BTreeMap::new();
        let listed = if let Some(listed) = top.get("mcpServers") {
            source.object(listed, "mcpServers")?
        } else {
            let why = "it has no `mcpServers` object".to_owned();
            wrong.insert(String::new(), (source.place(whole, ""), why));
            BTreeMap::new()
        };
        let keys = listed.iter().map(|(name, raw)| (name.clone(), key(path, name, raw))).collect();
        let mut servers = BTreeMap::new();
        for (name, raw) in listed {
            let read = if name.is_empty() || name.contains(char::is_control) {
                let why = "a server's name must be printable".into();
                Err(source.error(raw, &format!("mcpServers.{}", name.escape_debug()), why))
            } else {
                server(&source, raw, &format!("mcpServers.{name}"))
            };
            match read {
                Ok(entry) => drop(servers.insert(name, entry)),
                Err(McpError::Entry { place, why }) => drop(wrong.insert(name, (place, why))),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { file: path.into(), servers, wrong, keys, believed: BTreeSet::new() })
    }

    /// Returns a list for a workspace that has none.
    pub fn empty(workspace: &Path) -> Self {
        let file = workspace.join(".mcp.json");
        let (servers, keys) = (BTreeMap::new(), BTreeMap::new());
        Self { file, servers, wrong: BTreeMap::new(), keys, believed: BTreeSet::new() }
    }

    /// Adds a server; one of the same name gives way to it.
    #[must_use]
    pub fn with(mut self, name: &str, server: NamedServer) -> Self {
        let text = |key: &str, text: String| {
            let key = format!("mcpServers.{name}.{key}");
            // It is in no file; the keys identify the value.
            Template::literal(
                text,
                ConfigLocation { file: self.file.clone(), line: 1, column: 1, key },
            )
        };
        let texts = |key: &str, list: Vec<(String, String)>| {
            list.into_iter().map(|(name, value)| (name, text(key, value))).collect()
        };
        let entry = match server {
            NamedServer::Program { command, args, env } => ServerEntry::Program {
                command: text("command", command),
                args: args.into_iter().map(|arg| text("args", arg)).collect(),
                env: texts("env", env),
                cwd: None,
            },
            NamedServer::Address { url, headers } => {
                ServerEntry::Address { url: text("url", url), headers: texts("headers", headers) }
            }
        };
        // What holds for the list's own server of that name says nothing about this one.
        self.believed.remove(name);
        self.keys.remove(name);
        self.wrong.remove(name);
        self.servers.insert(name.into(), entry);
        self
    }

    /// Believes what servers say of their own tools: which only look, and which may be
    /// called twice. They are named by their keys; a setting of the person's, never read
    /// from the list itself.
    #[must_use]
    pub fn believing(mut self, keys: &[String]) -> Self {
        self.believed.extend(self.approved(keys));
        self
    }

    /// Returns the servers that a person has approved by their keys.
    ///
    /// A name alone approves nothing: any repository can call a server by a name that
    /// its reader trusts elsewhere.
    pub fn approved(&self, keys: &[String]) -> Vec<String> {
        let approved = self.keys.iter().filter(|(_, key)| keys.contains(key));
        approved.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the key for a permanent approval: the server's name, and a digest of the file's
    /// path and the server's entry.
    pub fn key(&self, name: &str) -> Option<&str> {
        self.keys.get(name).map(String::as_str)
    }

    /// Returns the unusable entries of the file and the reasons, by server name; mistakes of the
    /// file itself have an empty name.
    pub fn wrong(&self) -> impl Iterator<Item = (&str, McpError)> {
        self.wrong.iter().map(|(name, (place, why))| {
            (name.as_str(), McpError::Entry { place: place.clone(), why: why.clone() })
        })
    }

    /// Returns the error for naming a server that the file does not list.
    pub fn unlisted(&self, name: &str) -> Option<McpError> {
        let listed = self.servers.contains_key(name) || self.wrong.contains_key(name);
        let (file, known) = (self.file.clone(), list(self.names()));
        (!listed).then(|| McpError::Unlisted { name: name.into(), file, known })
    }

    /// Returns the names of the servers that can be used.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Returns the file that was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns what approving a server would do, its variables as written.
    pub fn summary(&self, name: &str) -> Option<String> {
        self.servers.get(name).map(ServerEntry::summary)
    }

    pub(super) const fn servers(&self) -> &BTreeMap<String, ServerEntry> {
        &self.servers
    }

    pub(super) fn believes(&self, name: &str) -> bool {
        self.believed.contains(name)
    }
}

impl ServerEntry {
    /// Says what starting it does, and which variables it would be given.
    pub(super) fn summary(&self) -> String {
        let mut summary = match self {
            Self::Program { command, args, .. } => {
                let words = [command].into_iter().chain(args).map(|word| shown(word.written()));
                format!("run `{}`", words.collect::<Vec<_>>().join(" "))
            }
            Self::Address { url, .. } => format!("talk to `{}`", shown(url.written())),
        };
        let given: BTreeSet<&str> =
            self.templates().into_iter().flat_map(Template::variables).collect();
        if !given.is_empty() {
            let given: Vec<&str> = given.into_iter().collect();
            summary.push_str(" with the variables ");
            summary.push_str(&given.join(", "));
        }
        summary
    }

    /// Returns every text of it.
    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Program { command, args, env, cwd } => {
                [command].into_iter().chain(args).chain(env.values()).chain(cwd).collect()
            }
            Self::Address { url, headers } => [url].into_iter().chain(headers.values()).collect(),
        }
    }
}

/// Returns the key of an entry. Its spaces and the order of its keys do not count.
fn key(file: &Path, name: &str, entry: &RawValue) -> String {
    let file = file.canonicalize().unwrap_or_else(|_| file.into());
    let said = canonical_body(entry).map_or_else(|_| entry.get().into(), |it| it.get().to_owned());
    let parts = [file.as_os_str().as_encoded_bytes(), name.as_bytes(), said.as_bytes()];
    let digest: String = Digest::of(&parts.join(&0)).to_string().chars().take(KEY).collect();
    format!("{name}@{digest}")
}

/// Shows a word so that nothing in it can pass for something else.
fn shown(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_graphic() && !matches!(char, '"' | '`');
    if word.chars().all(is_plain) { word.into() } else { format!("{word:?}") }
}

fn server(source: &JsonSource<'_>, raw: &RawValue, key: &str) -> Result<ServerEntry, McpError> {
    let object = source.object(raw, key)?;
    let field = |name: &str| object.get(name).map(|raw| (*raw, format!("{key}.{name}")));
    let text = |name: &str| field(name).map(|(raw, key)| source.text(raw, &key)).transpose();
    let kind = text("type")?;
    let transport = match kind.as_ref().map(Template::written) {
        None if field("command").is_some() && field("url").is_some() => {
            let why = "it has both a `command` and a `url`: keep one";
            return Err(source.error(raw, key, why.into()));
        }
        None if field("command").is_some() => Transport::Stdio,
        None if field("url").is_some() => Transport::Http,
        None => {
            let why = format!(
                "it needs a `command` to run or a `url` to talk to; it has {}",
                list(object.keys().map(String::as_str))
            );
            return Err(source.error(raw, key, why));
        }
        Some("stdio") => Transport::Stdio,
        Some("http" | "streamable-http" | "streamableHttp") => Transport::Http,
        Some(other) => {
            let why = format!("the transport `{other}` is not supported: use `stdio` or `http`");
            let (raw, key) = field("type").unwrap_or_else(|| (raw, key.into()));
            return Err(source.error(raw, &key, why));
        }
    };
    let needed = |name: &str, kind: &str| {
        text(name)?.filter(|text| !text.written().is_empty()).ok_or_else(|| {
            source.error(raw, key, format!("a server of type `{kind}` needs a `{name}`"))
        })
    };
    let texts = |name: &str| field(name).map(|(raw, key)| source.texts(raw, &key)).transpose();
    match transport {
        Transport::Stdio => Ok(ServerEntry::Program {
            command: needed("command", "stdio")?,
            args: match field("args") {
                Some((raw, key)) => source.list(raw, &key)?,
                None => Vec::new(),
            },
            env: texts("env")?.unwrap_or_default(),
            cwd: text("cwd")?,
        }),
        Transport::Http => Ok(ServerEntry::Address {
            url: needed("url", "http")?,
            headers: texts("headers")?.unwrap_or_default(),
        }),
    }
}

enum Transport {
    Stdio,
    Http,
}

/// Names things for a person.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
