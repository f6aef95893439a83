//! What can be wrong with a list of servers, or with a server.

use std::{fmt, io, path::PathBuf, time::Duration};

use thiserror::Error;

/// A value in a file that lists servers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigLocation {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The keys that lead there, such as `mcpServers.files.args[1]`.
    pub key: String,
}

impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if self.key.is_empty() { Ok(()) } else { write!(f, "`{}`: ", self.key) }
    }
}

/// Why a list of servers cannot be used, or why a server or a tool is left out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum McpError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something in the file is not as it should be.
    #[error("{place}{why}")]
    Entry {
        /// Where.
        place: ConfigLocation,
        /// The reason.
        why: String,
    },
    /// A variable that an entry needs has no value.
    #[error("{place}the variable `{variable}` is not set")]
    Unset {
        /// Where it is named.
        place: ConfigLocation,
        /// The variable.
        variable: String,
    },
    /// The server is not approved and was not started.
    #[error("not approved, so not started. It would {summary}")]
    Unapproved {
        /// The server.
        name: String,
        /// Its key, for a permanent approval.
        key: String,
        /// What approving it would do.
        summary: String,
    },
    /// A server was approved that the file does not list.
    #[error("{} lists no server `{name}`; it lists {known}", file.display())]
    Unlisted {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// The names in the file.
        known: String,
    },
    /// The program cannot be started.
    #[error("`{program}` cannot be started")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server does not speak the protocol as it should.
    #[error("{why}{}", said(stderr))]
    Broken {
        /// What happened.
        why: String,
        /// Its last words on stderr.
        stderr: String,
    },
    /// The server took too long to start.
    #[error("not ready after {} s{}", after.as_secs_f64(), said(stderr))]
    Slow {
        /// How long it was waited for.
        after: Duration,
        /// Its last words on stderr.
        stderr: String,
    },
    /// A tool is left out because of its schema.
    #[error("left out, because its schema cannot be used: {why}")]
    Schema {
        /// The reason.
        why: String,
    },
    /// Tools are left out because there are too many.
    #[error("it lists more than {kept} tools; the rest are left out")]
    TooMany {
        /// How many are kept.
        kept: usize,
    },
}

impl McpError {
    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unset { variable, .. } => {
                Some(format!("set it, or give a default in the file: `${{{variable}:-value}}`"))
            }
            Self::Unapproved { name, key, .. } => Some(format!(
                "if you trust it, approve it for one run with `--mcp {name}`, or permanently in your own settings: `[mcp]` with `approve = [{key:?}]`"
            )),
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("install it, or give its full path in `command`".into())
            }
            Self::Slow { .. } => {
                Some("raise `start_timeout` of `[mcp]` if the server needs more time".into())
            }
            Self::TooMany { .. } => Some("raise `tools` of `[mcp]` if you need them".into()),
            _ => None,
        }
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; its last output was:\n{stderr}") }
}
