//! What it takes to start a server: its entry, with the values of its variables.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};

use super::{
    McpError,
    config::Entry,
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
        entry: &Entry,
        folder: &Path,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, McpError> {
        let lookup = &lookup;
        let by = match entry {
            Entry::Program { command, args, env, cwd } => {
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
            Entry::Address { url, headers } => By::Address {
                url: address(url, &url.expand(lookup)?)?,
                headers: headers
                    .iter()
                    .map(|(name, value)| header(name, value, &value.expand(lookup)?))
                    .collect::<Result<_, _>>()?,
            },
        };
        let names = entry.templates().into_iter().flat_map(Template::variables);
        let looked_up = names.filter(|name| is_secret(name)).filter_map(lookup);
        let secrets = looked_up.chain(by.secrets()).filter(|it| it.len() >= SHORTEST_SECRET);
        Ok(Self { secrets: secrets.collect(), by })
    }

    /// Hides the secrets that the server was given, wherever it repeats them.
    pub(super) fn hide(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| text.replace(secret, "[hidden]"))
    }
}

impl By {
    /// Returns what the server is given under a name that says it is secret.
    fn secrets(&self) -> Vec<String> {
        match self {
            Self::Program { env, .. } => {
                let named = env.iter().filter(|(name, _)| is_secret(name));
                named.map(|(_, value)| value.clone()).collect()
            }
            Self::Address { headers, .. } => {
                let named = headers.iter().filter(|(name, _)| is_secret(name.as_str()));
                named.filter_map(|(_, value)| Some(value.to_str().ok()?.to_owned())).collect()
            }
        }
    }
}

fn address(template: &Template, url: &str) -> Result<String, McpError> {
    let refuse = |why: String| McpError::Entry { place: template.place().clone(), why };
    let parsed = Url::parse(url).map_err(|error| refuse(format!("this is no address: {error}")))?;
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
    let name = name.parse().map_err(|_| refuse("this is no name of a header"))?;
    let mut value: HeaderValue =
        value.parse().map_err(|_| refuse("its value cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::{super::Config, *};

    /// Launches the only server of a list, in a world with two variables.
    fn launch(server: &str) -> Result<Launch, McpError> {
        let text = format!(r#"{{"mcpServers": {{"s": {server}}}}}"#);
        let config = Config::parse(Path::new("/p/.mcp.json"), &text)?;
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
    fn a_program_sees_what_its_entry_names_and_no_key_of_ours() {
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
    fn an_address_that_cannot_be_asked_is_refused_at_its_place() {
        let place = "/p/.mcp.json:1:";
        let cases = [
            (
                r#"{"url": "ftp://x/"}"#,
                "30: `mcpServers.s.url`: `ftp:` is not supported: use `https:` or `http:`",
            ),
            (
                r#"{"url": "nowhere"}"#,
                "30: `mcpServers.s.url`: this is no address: relative URL without a base",
            ),
            (r#"{"url": "${GONE}"}"#, "30: `mcpServers.s.url`: the variable `GONE` is not set"),
            (
                r#"{"url": "http://x", "headers": {"a b": ""}}"#,
                "61: `mcpServers.s.headers.a b`: this is no name of a header",
            ),
            (
                r#"{"url": "http://x", "headers": {"a": "\n"}}"#,
                "59: `mcpServers.s.headers.a`: its value cannot be sent in a header",
            ),
        ];
        for (server, said) in cases {
            assert_eq!(wrong(server), format!("{place}{said}"), "{server}");
        }
    }
}
