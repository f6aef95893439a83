//! What it takes to start a server: its entry, with the values of its variables.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use rmcp::model::Tool;

use super::{
    McpError,
    config::ServerEntry,
    printable, start_of,
    template::{Template, is_secret},
};

/// What a program may see of our environment without being given it: enough to find
/// programs, a home and a language, and no keys.
const INHERITED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The shortest value that is worth hiding; a shorter one would blot out ordinary words.
const SHORTEST_SECRET: usize = 6;

/// The shortest end of one that is worth hiding where a text begins within it.
const SHORTEST_END: usize = 3;
/// The replacement for a secret.
const HIDDEN: &str = "[hidden]";
/// The longest reason to show, in bytes: a server could put anything into it.
const REASON: usize = 600;

/// A server, ready to be started.
#[derive(Debug)]
pub(super) struct Launch {
    /// How.
    pub(super) by: By,
    secrets: Vec<String>,
}

/// How a server is reached.
#[derive(Debug)]
pub(super) enum By {
    /// By running a program.
    Program { program: PathBuf, args: Vec<String>, env: Vec<(String, String)>, cwd: PathBuf },
    /// By requests to an address.
    Address { url: String, headers: HashMap<HeaderName, HeaderValue> },
}

impl Launch {
    /// Looks up what an entry names; paths are relative to the folder of its file.
    pub(super) fn new(
        entry: &ServerEntry,
        folder: &Path,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, McpError> {
        let lookup = &lookup;
        let by = match entry {
            ServerEntry::Program { command, args, env, cwd } => {
                let cwd = match cwd {
                    Some(cwd) => folder.join(cwd.expand(lookup)?),
                    None => folder.into(),
                };
                let program = PathBuf::from(command.expand(lookup)?);
                let inherited = INHERITED.iter().map(|name| (*name, lookup(name)));
                let inherited =
                    inherited.filter_map(|(name, value)| Some(Ok((name.to_owned(), value?))));
                let named =
                    env.iter().map(|(name, value)| Ok((name.clone(), value.expand(lookup)?)));
                By::Program {
                    // A bare name is looked for in PATH, a path where the server runs.
                    program: if program.components().count() > 1 {
                        cwd.join(program)
                    } else {
                        program
                    },
                    args: args.iter().map(|arg| arg.expand(lookup)).collect::<Result<_, _>>()?,
                    env: inherited.chain(named).collect::<Result<_, McpError>>()?,
                    cwd,
                }
            }
            ServerEntry::Address { url, headers } => By::Address {
                url: address(url, &url.expand(lookup)?)?,
                headers: headers
                    .iter()
                    .map(|(name, value)| header(name, value, &value.expand(lookup)?))
                    .collect::<Result<_, _>>()?,
            },
        };
        Ok(Self { secrets: secrets(entry, &by, lookup), by })
    }

    /// Hides the secrets that the server was given, wherever it repeats them.
    pub(super) fn hide(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| text.replace(secret, HIDDEN))
    }

    /// Hides them in the end of a longer text, which may begin within one of them.
    pub(super) fn hide_end(&self, text: &str) -> String {
        let text = self.hide(text.into());
        let begun = self.secrets.iter().flat_map(|secret| {
            let ends = secret.char_indices().skip(1).filter_map(|(at, _)| secret.get(at..));
            ends.filter(|end| end.len() >= SHORTEST_END && text.starts_with(end)).map(str::len)
        });
        match begun.max().and_then(|begun| text.get(begun..)) {
            Some(rest) => format!("{HIDDEN}{rest}"),
            None => text,
        }
    }

    /// Returns a reason without secrets, cut to its limit. It is cut last, or half a secret could
    /// be left.
    pub(super) fn told(&self, reason: &str) -> String {
        start_of(&self.hide(printable(reason)), REASON).into()
    }

    /// Hides them in what a server says of a tool.
    pub(super) fn hide_in(&self, tool: &mut Tool) {
        tool.description = tool.description.take().map(|it| self.hide(it.into_owned()).into());
        tool.title = tool.title.take().map(|it| self.hide(it));
        let Ok(schema) = serde_json::to_string(&*tool.input_schema) else { return };
        let hidden = self.hide(schema.clone());
        if hidden != schema {
            // A schema that is invalid without its secrets is not offered.
            tool.input_schema = Arc::new(serde_json::from_str(&hidden).unwrap_or_default());
        }
    }
}

/// Returns the secrets, longest first: values of secret-looking variables, all header values, and
/// the secret parts of an address.
fn secrets(entry: &ServerEntry, by: &By, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let variables = entry.templates().into_iter().flat_map(Template::variables);
    let mut secrets: Vec<String> =
        variables.filter(|name| is_secret(name)).filter_map(lookup).collect();
    match by {
        By::Program { env, .. } => {
            let named = env.iter().filter(|(name, _)| is_secret(name));
            secrets.extend(named.map(|(_, value)| value.clone()));
        }
        By::Address { url, headers } => {
            for value in headers.values().filter_map(|value| value.to_str().ok()) {
                // Without the word before it too, as in `Bearer KEY`.
                secrets.extend(value.split_whitespace().last().map(str::to_owned));
                secrets.push(value.into());
            }
            if let Ok(url) = Url::parse(url) {
                secrets.extend(url.password().map(str::to_owned));
                let pairs = url.query().unwrap_or_default().split('&');
                let pairs = pairs.filter_map(|pair| pair.split_once('='));
                let named = pairs.filter(|(name, _)| is_secret(name));
                secrets.extend(named.map(|(_, value)| value.to_owned()));
            }
        }
    }
    secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    secrets
}

fn address(template: &Template, url: &str) -> Result<String, McpError> {
    let refuse = |why: String| McpError::Entry { place: template.place().clone(), why };
    let parsed =
        Url::parse(url).map_err(|error| refuse(format!("not a valid address: {error}")))?;
    match parsed.scheme() {
        "http" | "https" => Ok(url.into()),
        other => Err(refuse(format!("`{other}:` is not supported: use `https:` or `http:`"))),
    }
}

fn header(
    name: &str,
    template: &Template,
    value: &str,
) -> Result<(HeaderName, HeaderValue), McpError> {
    let refuse = |why: &str| McpError::Entry { place: template.place().clone(), why: why.into() };
    let name = name.parse().map_err(|_| refuse("not a valid header name"))?;
    let mut value: HeaderValue = value.parse().map_err(|_| refuse("not a valid header value"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::{super::McpServerList, *};

    /// Launches the only server of a list, in a world with two variables.
    fn launch(server: &str) -> Result<Launch, McpError> {
        let text = format!(r#"{{"mcpServers": {{"s": {server}}}}}"#);
        let config = McpServerList::parse(Path::new("/p/.mcp.json"), &text)?;
        let entry = config.servers().get("s").unwrap();
        Launch::new(entry, Path::new("/p"), |name| match name {
            "PATH" => Some("/bin".into()),
            "OPENAI_API_KEY" => Some("sk-12345".into()),
            _ => None,
        })
    }

    fn wrong(server: &str) -> String {
        launch(server).map_or_else(|error| error.to_string(), |launch| format!("{launch:?}"))
    }

    #[test]
    fn program_gets_only_the_variables_of_its_entry() {
        let plain = launch(r#"{"command": "x"}"#).unwrap();
        let By::Program { program, env, cwd, .. } = &plain.by else { panic!("{plain:?}") };
        assert_eq!((program.as_path(), cwd.as_path()), (Path::new("x"), Path::new("/p")));
        assert_eq!(env, &[("PATH".to_owned(), "/bin".to_owned())]);

        let named = r#"{"command": "./x", "cwd": "sub", "env": {"KEY": "${OPENAI_API_KEY}"}}"#;
        let named = launch(named).unwrap();
        let By::Program { program, env, .. } = &named.by else { panic!("{named:?}") };
        assert_eq!(program.as_path(), Path::new("/p/sub/./x"));
        assert_eq!(env.last().unwrap(), &("KEY".to_owned(), "sk-12345".to_owned()));
        assert_eq!(named.hide("my key is sk-12345!".into()), "my key is [hidden]!");
        assert_eq!(plain.hide("my key is sk-12345!".into()), "my key is sk-12345!");
    }

    #[test]
    fn literal_values_of_an_entry_are_hidden_too() {
        let program = r#"{"command": "x", "env": {"API_TOKEN": "literal-1", "LOG": "verbose-1"}}"#;
        let program = launch(program).unwrap();
        assert_eq!(program.hide("literal-1 verbose-1".into()), "[hidden] verbose-1");
        let web = r#"{"url": "http://u:word-123@x/?api_key=query-1&page=seventeen",
                      "headers": {"Authorization": "Bearer head-1", "X-Team": "team-12"}}"#;
        let web = launch(web).unwrap();
        let said = "head-1, Bearer head-1, team-12, word-123, query-1, seventeen";
        let hidden = "[hidden], [hidden], [hidden], [hidden], [hidden], seventeen";
        assert_eq!(web.hide(said.into()), hidden);
    }

    #[test]
    fn no_partial_secret_is_shown() {
        let server = r#"{"command": "x", "env": {"KEY": "abcdef-123456"}}"#;
        let launch = launch(server).unwrap();
        assert_eq!(launch.hide_end("f-123456 is wrong"), "[hidden] is wrong");
        assert_eq!(launch.hide_end("56 is wrong"), "56 is wrong");
        let long = format!("{}abcdef-123456", "x".repeat(REASON - 8));
        let told = launch.told(&long);
        assert!(told.ends_with("x[hidden]"), "{told}");
        assert_eq!(launch.told("abc\u{1b}def-123456"), "[hidden]");
        let mut tool: Tool = serde_json::from_value(serde_json::json!({
            "name": "t", "title": "abcdef-123456", "description": "say abcdef-123456",
            "inputSchema": {"type": "object", "description": "abcdef-123456"}
        }))
        .unwrap();
        launch.hide_in(&mut tool);
        assert!(!serde_json::to_string(&tool).unwrap().contains("abcdef"), "{tool:?}");
    }

    #[test]
    fn an_address_that_cannot_be_asked_is_refused_at_its_place() {
        let place = "/p/.mcp.json:1:";
        let cases = [
            (
                r#"{"url": "ftp://x/"}"#,
                "30: `mcpServers.s.url`: `ftp:` is not supported: use `https:` or `http:`",
            ),
            (
                r#"{"url": "nowhere"}"#,
                "30: `mcpServers.s.url`: not a valid address: relative URL without a base",
            ),
            (r#"{"url": "${GONE}"}"#, "30: `mcpServers.s.url`: the variable `GONE` is not set"),
            (
                r#"{"url": "http://x", "headers": {"a b": ""}}"#,
                "61: `mcpServers.s.headers.a b`: not a valid header name",
            ),
            (
                r#"{"url": "http://x", "headers": {"a": "\n"}}"#,
                "59: `mcpServers.s.headers.a`: not a valid header value",
            ),
        ];
        for (server, said) in cases {
            assert_eq!(wrong(server), format!("{place}{said}"), "{server}");
        }
    }
}
