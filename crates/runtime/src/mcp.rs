//! MCP servers: tools that other programs offer, taken in at arm's length.
//!
//! A client of the Model Context Protocol. A server is started only when a person has named it and
//! sees only the environment that its entry names; its descriptions of its own tools are claims.
//! Which calls may run is decided elsewhere.

mod config;
mod connection;
mod error;
mod launch;
mod output;
mod process;
mod servers;
mod source;
mod template;
mod tools;

use std::time::Duration;

pub use config::{McpServerList, NamedServer};
pub use error::{ConfigLocation, McpError};
pub use servers::{McpConnections, Servers};

/// Timeouts of servers, and size limits of their output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct McpLimits {
    /// How long a server may take to be greeted, and again to list its tools.
    pub start: Duration,
    /// How long a connection to an address may take.
    pub connect: Duration,
    /// How long a call may take.
    pub call: Duration,
    /// How long a server may take to stop on its own before it is killed.
    pub stop: Duration,
    /// Bytes of a result that are kept.
    pub output: usize,
    /// Bytes of a server's last words on stderr that are kept.
    pub stderr: usize,
    /// Bytes of one message; a longer one is dropped.
    pub message: usize,
    /// Tools of one server.
    pub tools: usize,
    /// Pages of one server's list of tools.
    pub pages: usize,
    /// Bytes of a tool's description that are kept.
    pub about: usize,
    /// Bytes of a tool's schema; a tool with a longer one is left out.
    pub schema: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            call: Duration::from_mins(1),
            stop: Duration::from_secs(2),
            output: 64 * 1024,
            stderr: 4 * 1024,
            message: 16 * 1024 * 1024,
            tools: 256,
            pages: 64,
            about: 4 * 1024,
            schema: 64 * 1024,
        }
    }
}

/// Returns a server's words without what could move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t')).collect()
}

/// Returns as much of a text as fits into this many bytes, whole characters only.
fn start_of(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}
