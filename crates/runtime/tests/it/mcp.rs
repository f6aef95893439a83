//! MCP servers: approved, started, called, lost and stopped.

mod http;
mod npm;
mod scripted;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use pointsman_kernel::agent::{Answer, FaultClass};
use pointsman_runtime::{
    effect::Completion,
    mcp::{McpConnections, McpLimits, McpServerList, Servers},
};
use serde_json::{Value, json, value::RawValue};

use crate::store::TempFolder;

/// A folder with a list of servers in it.
struct Project {
    folder: TempFolder,
}

impl Project {
    fn new(name: &str, servers: Value) -> Self {
        let folder = TempFolder::new(&format!("mcp-{name}"));
        let list = json!({ "mcpServers": servers }).to_string();
        fs::write(folder.0.join(".mcp.json"), list).expect("the list can be written");
        Self { folder }
    }

    fn path(&self) -> &Path {
        &self.folder.0
    }

    fn config(&self) -> McpServerList {
        let file = McpServerList::find(self.path()).expect("there is a list");
        McpServerList::read(&file).expect("it can be read")
    }

    async fn connect(&self, trusted: &[&str], limits: &McpLimits) -> McpConnections {
        let trusted: Vec<String> = trusted.iter().map(|name| (*name).to_owned()).collect();
        Servers::connect(&self.config(), &trusted, limits).await
    }

    /// Connects to servers that must all start.
    async fn servers(&self, trusted: &[&str], limits: &McpLimits) -> Servers {
        let connected = self.connect(trusted, limits).await;
        assert!(connected.refused.is_empty(), "{:?}", connected.refused);
        connected.servers
    }

    /// Returns a number that a server wrote down.
    fn number(&self, file: &str) -> u32 {
        let text =
            fs::read_to_string(self.path().join(file)).expect("the file exists and is UTF-8");
        text.trim().parse().expect("it is a number")
    }
}

async fn call(servers: &Servers, name: &str, arguments: Value) -> Completion {
    let arguments = RawValue::from_string(arguments.to_string()).expect("the text is valid JSON");
    servers.call(name, &arguments).await
}

/// Returns whether a tool succeeded, and its text.
fn said(done: &Completion) -> (bool, &str) {
    let Answer::Tool(tool) = &done.answer else { panic!("no result: {done:?}") };
    (tool.ok, &tool.output)
}

/// Returns whether a tool may have changed something.
fn mutated(done: &Completion) -> bool {
    matches!(&done.answer, Answer::Tool(result) if result.mutated)
}

/// Returns a fault's class, whether to try again, and what it says.
fn fault(done: &Completion) -> (FaultClass, bool, &str) {
    let Answer::Fault(fault) = &done.answer else { panic!("no fault: {done:?}") };
    (fault.class, fault.repeatable, &fault.message)
}

/// Waits until something holds; fails when it never does.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

/// Returns whether a process has ended; one that only waits to be collected has.
fn has_ended(pid: u32) -> bool {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z "))
}
